/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The event-driven replay (see sched_replay.h).
 *
 * Two kinds of events in one heap: the next send of a rank could start, and a segment has arrived.
 * A start is checked again when it comes up: if its link was taken meanwhile, it goes back into the
 * heap with the time at which the link is free. Links only become free later, so the first valid
 * start in the heap is the earliest. A rank's sends inside its place, and those elsewhere, arrive
 * in the order in which they left: the heap holds only the first of each under way, so at most
 * three events per rank.
 *
 * Most ranks of a plan for hosts need no events: a rank that uses no link, receives from one rank
 * that needs none either, and is the only sender to its receiver finds everything free by plan
 * order alone. These ranks are replayed first, in plan order; their sends to the others become
 * arrivals. The result is the same.
 *
 * A plan in which no rank waits for a link that another rank holds, such as a chain of hosts, needs
 * no events at all: rank after rank, the arrivals from its two sources are merged by time.
 */
#include "schedule/sched_replay.h"

#include "schedule/sched_pending_sends.h"
#include "util/util_alloc.h"

enum { MAX_SENDS = 1 << 30 };

/* How a rank is replayed. ASKED: while its chain of sources is followed. */
enum { WAY_UNKNOWN, WAY_ASKED, WAY_AHEAD, WAY_EVENTS };

/* who < n_ranks: this rank's next send could start. Otherwise send who - n_ranks has arrived. */
typedef struct event {
    int64_t at_ns;
    int32_t who;
} event_t;

typedef struct world {
    clv_pending_sends_t all;
    event_t *heap; /* at most three events per rank */
    int32_t n_events;
} world_t;

/* ---- the heap -------------------------------------------------------------------------------- */

/* At the same time, arrivals come before starts, and among themselves in plan order. Of starts, the
 * rank that was ready first comes first. */
static bool is_sooner(const world_t *world, int32_t a, int32_t b)
{
    const int32_t n_ranks = world->all.plan->n_ranks;

    if (a < n_ranks && b < n_ranks) {
        const int64_t ready_a = world->all.ranks[a].head_ready_ns;
        const int64_t ready_b = world->all.ranks[b].head_ready_ns;
        return ready_a != ready_b ? ready_a < ready_b : a < b;
    }
    if (a < n_ranks || b < n_ranks) {
        return a >= n_ranks;
    }
    return world->all.pending[a - n_ranks].number < world->all.pending[b - n_ranks].number;
}

static bool is_before(const world_t *world, const event_t *a, const event_t *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : is_sooner(world, a->who, b->who);
}

static void push(world_t *world, int64_t at_ns, int32_t who)
{
    const event_t event = {at_ns, who};
    int32_t at = world->n_events++;
    while (at > 0 && is_before(world, &event, &world->heap[(at - 1) / 2])) {
        world->heap[at] = world->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    world->heap[at] = event;
}

/* Replaces the first event. */
static void replace(world_t *world, int64_t at_ns, int32_t who)
{
    const event_t event = {at_ns, who};
    int32_t at = 0;
    for (int32_t child = 1; child < world->n_events; child = 2 * at + 1) {
        if (child + 1 < world->n_events &&
            is_before(world, &world->heap[child + 1], &world->heap[child])) {
            child++;
        }
        if (!is_before(world, &world->heap[child], &event)) {
            break;
        }
        world->heap[at] = world->heap[child];
        at = child;
    }
    world->heap[at] = event;
}

static void drop(world_t *world)
{
    const event_t last = world->heap[--world->n_events];

    if (world->n_events > 0) {
        replace(world, last.at_ns, last.who);
    }
}

/* Puts the rank's next send into the heap as soon as its copy is complete for that send. */
static void offer(world_t *world, int32_t p)
{
    clv_replay_rank_t *rank = &world->all.ranks[p];
    if (rank->offered || rank->next == rank->end) {
        return;
    }
    const clv_pending_send_t *pending = &world->all.pending[rank->next];
    const clv_copy_t *copy = clv_copy_of(&world->all, p, pending->segment);
    if (copy->n_done < pending->out_number) {
        return;
    }
    rank->offered = true;
    rank->head_ready_ns = clv_larger(clv_larger(rank->out_free_ns, copy->ready_ns),
                                     world->all.arrival_ns[pending->receiver]);
    push(world, clv_larger(rank->head_ready_ns, clv_links_free_ns(&world->all, pending)), p);
}

/* ---- what is under way ----------------------------------------------------------------------- */

/* A send has left. */
static void fly(world_t *world, int32_t at)
{
    const clv_pending_send_t *pending = &world->all.pending[at];
    int32_t *first = &world->all.ranks[pending->sender].under_way[pending->is_near];

    if (*first == CLV_NO_SEND) {
        *first = at;
        push(world, pending->here_ns, world->all.plan->n_ranks + at);
    }
}

/* The first event, a send, has arrived: the next send under way from the same rank replaces it in
 * the heap. */
static void land(world_t *world, int32_t at)
{
    const bool is_near = world->all.pending[at].is_near;
    clv_replay_rank_t *rank = &world->all.ranks[world->all.pending[at].sender];

    do {
        at++;
    } while (at < rank->next && world->all.pending[at].is_near != is_near);
    if (at < rank->next) {
        rank->under_way[is_near] = at;
        replace(world, world->all.pending[at].here_ns, world->all.plan->n_ranks + at);
    } else {
        rank->under_way[is_near] = CLV_NO_SEND;
        drop(world);
    }
}

/* The next send of the rank starts now. */
static void start(world_t *world, int32_t p, int64_t now_ns)
{
    const int32_t at = world->all.ranks[p].next;

    clv_pending_send_leave(&world->all, &world->all.ranks[p], now_ns);
    fly(world, at);
    clv_copy_unpark(&world->all, clv_copy_of(&world->all, p, world->all.pending[at].segment),
                    now_ns);
    offer(world, p);
}

/* ---- ahead, without events ------------------------------------------------------------------- */

/* Finds ranks that need events: both ranks of a send that crosses a link or whose receiver has
 * another source, and a receiver that has already used the segment. */
static void judge_send(world_t *world, const clv_pending_send_t *pending)
{
    clv_replay_rank_t *sender = &world->all.ranks[pending->sender],
                      *receiver = &world->all.ranks[pending->receiver];
    const int32_t source = receiver->source[1];

    if (!pending->is_near) {
        sender->way = receiver->way = WAY_EVENTS;
        return;
    }
    if (source != CLV_NO_SEND && source != pending->sender) {
        world->all.ranks[source].way = sender->way = receiver->way = WAY_EVENTS;
    }
    if (pending->in_number > 0) {
        receiver->way = WAY_EVENTS;
    }
    receiver->source[1] = pending->sender;
}

/* A rank that receives from a rank that needs events needs them, too. */
static void follow_sources(world_t *world, int32_t p)
{
    clv_replay_rank_t *ranks = world->all.ranks;
    int32_t q = p;
    while (ranks[q].way == WAY_UNKNOWN && ranks[q].source[1] != CLV_NO_SEND) {
        ranks[q].way = WAY_ASKED;
        q = ranks[q].source[1];
    }
    const int32_t way =
        ranks[q].way == WAY_ASKED || ranks[q].way == WAY_EVENTS ? WAY_EVENTS : WAY_AHEAD;
    ranks[q].way = way;
    for (q = p; ranks[q].way == WAY_ASKED; q = ranks[q].source[1]) {
        ranks[q].way = way;
    }
}

/* Sources are found again, because clv_pending_sends_in_order may have set some before it gave
 * up. */
static void find_ways(world_t *world)
{
    for (int32_t p = 0; p < world->all.plan->n_ranks; p++) {
        world->all.ranks[p].source[1] = CLV_NO_SEND;
    }
    for (int32_t at = 0; at < world->all.plan->n_sends; at++) {
        judge_send(world, &world->all.pending[at]);
    }
    for (int32_t p = 0; p < world->all.plan->n_ranks; p++) {
        follow_sources(world, p);
    }
}

static void replay_ahead(world_t *world)
{
    for (int32_t k = 0; k < world->all.plan->n_sends; k++) {
        clv_replay_rank_t *sender = &world->all.ranks[world->all.plan->sends[k].sender];
        if (sender->way != WAY_AHEAD) {
            continue;
        }
        const int32_t at = sender->next;
        clv_pending_send_leave(&world->all, sender, clv_next_start_ns(&world->all, sender));
        if (world->all.ranks[world->all.pending[at].receiver].way == WAY_AHEAD) {
            clv_pending_send_combine(&world->all, &world->all.pending[at],
                                     world->all.pending[at].here_ns);
        } else {
            fly(world, at);
        }
    }
}

static void run(world_t *world)
{
    const int32_t n_ranks = world->all.plan->n_ranks;
    for (int32_t p = 0; p < n_ranks; p++) {
        offer(world, p);
    }
    while (world->n_events > 0) {
        const event_t event = world->heap[0];
        if (event.who >= n_ranks) {
            const int32_t at = event.who - n_ranks;
            land(world, at);
            clv_pending_send_arrive(&world->all, at, event.at_ns);
            offer(world, world->all.pending[at].receiver);
            continue;
        }
        const int64_t free_ns =
            clv_links_free_ns(&world->all, &world->all.pending[world->all.ranks[event.who].next]);
        if (free_ns > event.at_ns) {
            replace(world, free_ns, event.who);
        } else {
            drop(world);
            start(world, event.who, event.at_ns);
        }
    }
}

static void replay_by_events(world_t *world, int events_only)
{
    clv_pending_sends_begin(&world->all);
    if (!events_only) {
        find_ways(world);
        replay_ahead(world);
    }
    run(world);
}

static clv_status_t read_result(const clv_pending_sends_t *all, clv_estimate_t *estimate_p,
                                int64_t *exit_ns)
{
    const int32_t n_ranks = all->plan->n_ranks;
    int64_t last_arrival = 0, end = 0, in_mpi_sum = 0;

    for (int32_t p = 0; p < n_ranks; p++) {
        const clv_replay_rank_t *rank = &all->ranks[p];
        if (rank->next < rank->end) {
            return CLV_INVALID;
        }
        last_arrival = clv_larger(last_arrival, all->arrival_ns[p]);
        end = clv_larger(end, rank->exit_ns);
        in_mpi_sum += (rank->exit_ns - all->arrival_ns[p]) / n_ranks;
        if (exit_ns != NULL) {
            exit_ns[p] = rank->exit_ns;
        }
    }
    *estimate_p = (clv_estimate_t){end, end - last_arrival, in_mpi_sum};
    return CLV_OK;
}

clv_status_t clv_sched_replay(const clv_plan_t *plan, const int64_t *arrival_ns,
                              const int32_t *place, const clv_replay_lengths_t *lengths,
                              int events_only, clv_estimate_t *estimate_p, int64_t *exit_ns)
{
    world_t world = {
        .all = {.plan = plan, .arrival_ns = arrival_ns, .place = place, .lengths = lengths}};
    clv_status_t status = CLV_NO_MEMORY;

    if (plan->n_sends > MAX_SENDS) {
        return CLV_LIMIT;
    }
    world.heap = clv_alloc_unset(3 * (size_t) plan->n_ranks, sizeof *world.heap);
    if (world.heap != NULL && clv_pending_sends_open(&world.all)) {
        if (events_only || !clv_pending_sends_in_order(&world.all)) {
            replay_by_events(&world, events_only);
        }
        status = read_result(&world.all, estimate_p, exit_ns);
    }
    clv_pending_sends_close(&world.all);
    clv_free(world.heap);
    return status;
}
