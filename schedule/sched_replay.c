/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The event-driven replay (see sched_replay.h).
 *
 * Two kinds of events in one heap: the next send of a rank could start, and a segment has arrived.
 * A start is looked at again when it comes up: if a link was taken meanwhile, it goes back with the
 * time at which that is free. Links only ever become free later, so the first start in the heap
 * that is still true is the first there is.
 *
 * Each copy (rank, segment) counts what was done to it. A send or receive of it takes effect when
 * the count has reached its own number in plan order: so what comes back to a rank is combined
 * after it left, and what arrives out of order is parked.
 *
 * Most ranks of a plan for nodes need no events: who has nothing to do with links, receives from
 * one rank that needs none either, and is the only one to send to whom it sends, finds all it needs
 * free by plan order alone. These are replayed ahead, in plan order; what they send to the others
 * becomes arrivals. The result is the same.
 */
#include "schedule/sched_replay.h"

#include "util/util_alloc.h"
#include "util/util_min_max.h"

enum { MAX_SENDS = 1 << 30, NONE = -1 };

typedef struct copy {
    int64_t ready_ns; /* its last send is out and its last receive combined */
    int32_t n_done;   /* sends started and receives combined */
    int32_t parked;   /* first of the sends that arrived too early, or NONE */
} copy_t;

/* How a rank is replayed; ASKED while its chain of sources is followed. */
typedef enum way { WAY_UNKNOWN, WAY_ASKED, WAY_AHEAD, WAY_EVENTS } way_t;

typedef struct rank {
    int64_t out_free_ns; /* its own way out, near and far */
    int64_t in_free_ns;  /* its own way in, near only */
    int64_t core_free_ns;
    int64_t exit_ns;
    int64_t head_ready_ns; /* when its next send could start if links were free */
    int32_t next, end;     /* of by_sender */
    int32_t offered;       /* its next send is in the heap */
    int32_t source;        /* who sends to it inside its place, or NONE */
    way_t way;
} rank_t;

typedef struct link {
    int64_t out_free_ns;
    int64_t in_free_ns;
} link_t;

/* who < n_ranks: that rank's next send could start; else send who - n_ranks has arrived. */
typedef struct event {
    int64_t at_ns;
    int32_t who;
} event_t;

/* What is known of a send beside the plan. */
typedef struct note {
    int32_t out_number; /* of the sender's copy: how much comes before it */
    int32_t in_number;  /* of the receiver's copy */
    int32_t next_parked;
} note_t;

typedef struct world {
    const clv_plan_t *plan;
    const int64_t *arrival_ns;
    const int32_t *place;
    const clv_replay_lengths_t *lengths;
    const clv_replay_given_t *given; /* or NULL */
    rank_t *ranks;
    link_t *links; /* by place */
    copy_t *copies;
    note_t *notes;
    int32_t *by_sender; /* sends in plan order, rank after rank */
    event_t *heap;
    int32_t n_events;
} world_t;

static copy_t *copy_of(const world_t *world, int32_t rank, int32_t segment)
{
    return &world->copies[(size_t) rank * (size_t) world->plan->n_segments + (size_t) segment];
}

static int is_near(const world_t *world, const clv_send_t *send)
{
    return world->place[send->sender] == world->place[send->receiver];
}

/* ---- the heap -------------------------------------------------------------------------------- */

/* Arrivals before starts; of starts, who was ready first. */
static int64_t urgency(const world_t *world, const event_t *event)
{
    return event->who < world->plan->n_ranks ? world->ranks[event->who].head_ready_ns : NONE;
}

static int is_before(const world_t *world, const event_t *a, const event_t *b)
{
    if (a->at_ns != b->at_ns) {
        return a->at_ns < b->at_ns;
    }
    int64_t urgency_a = urgency(world, a), urgency_b = urgency(world, b);
    return urgency_a != urgency_b ? urgency_a < urgency_b : a->who < b->who;
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

static event_t pop(world_t *world)
{
    const event_t first = world->heap[0], last = world->heap[--world->n_events];
    int32_t at = 0;
    for (int32_t child = 1; child < world->n_events; child = 2 * at + 1) {
        if (child + 1 < world->n_events &&
            is_before(world, &world->heap[child + 1], &world->heap[child])) {
            child++;
        }
        if (!is_before(world, &world->heap[child], &last)) {
            break;
        }
        world->heap[at] = world->heap[child];
        at = child;
    }
    world->heap[at] = last;
    return first;
}

/* ---- sends start, segments arrive ------------------------------------------------------------ */

static int64_t links_free_ns(const world_t *world, const clv_send_t *send)
{
    if (is_near(world, send)) {
        return world->ranks[send->receiver].in_free_ns;
    }
    return clv_larger(world->links[world->place[send->sender]].out_free_ns,
                      world->links[world->place[send->receiver]].in_free_ns);
}

static const clv_send_t *head_of(const world_t *world, const rank_t *rank)
{
    return &world->plan->sends[world->by_sender[rank->next]];
}

/* Puts the rank's next send into the heap as soon as its copy is what the plan wants to send. */
static void offer(world_t *world, int32_t p)
{
    rank_t *rank = &world->ranks[p];
    if (rank->offered || rank->next == rank->end) {
        return;
    }
    const clv_send_t *send = head_of(world, rank);
    const copy_t *copy = copy_of(world, p, send->segment);
    if (copy->n_done < world->notes[world->by_sender[rank->next]].out_number) {
        return;
    }
    rank->offered = 1;
    rank->head_ready_ns = clv_larger(clv_larger(rank->out_free_ns, copy->ready_ns),
                                     world->arrival_ns[send->receiver]);
    push(world, clv_larger(rank->head_ready_ns, links_free_ns(world, send)), p);
}

static void combine(world_t *world, int32_t k, int64_t now_ns)
{
    const clv_send_t *send = &world->plan->sends[k];
    rank_t *receiver = &world->ranks[send->receiver];
    copy_t *copy = copy_of(world, send->receiver, send->segment);
    int64_t done_ns = clv_larger(clv_larger(now_ns, receiver->core_free_ns), copy->ready_ns) +
                      (send->kind == CLV_MOVE ? world->lengths->combine_ns : 0);
    receiver->core_free_ns = done_ns;
    receiver->exit_ns = clv_larger(receiver->exit_ns, done_ns);
    copy->ready_ns = done_ns;
    copy->n_done++;
}

/* Combines what waited for the copy to come so far. */
static void unpark(world_t *world, copy_t *copy, int64_t now_ns)
{
    for (int32_t *at = &copy->parked; *at != NONE;) {
        const int32_t k = *at;
        if (world->notes[k].in_number == copy->n_done) {
            *at = world->notes[k].next_parked;
            combine(world, k, now_ns);
            at = &copy->parked;
        } else {
            at = &world->notes[k].next_parked;
        }
    }
}

static void arrive(world_t *world, int32_t k, int64_t now_ns)
{
    const clv_send_t *send = &world->plan->sends[k];
    copy_t *copy = copy_of(world, send->receiver, send->segment);
    world->notes[k].next_parked = copy->parked;
    copy->parked = k;
    unpark(world, copy, now_ns);
    offer(world, send->receiver);
}

static void occupy_links(world_t *world, const clv_send_t *send, int64_t busy_ns, int64_t until_ns)
{
    if (is_near(world, send)) {
        world->ranks[send->receiver].in_free_ns = busy_ns;
    } else {
        world->links[world->place[send->sender]].out_free_ns = until_ns;
        world->links[world->place[send->receiver]].in_free_ns = until_ns;
    }
}

/* The rank's next send leaves now; gives when it arrives. */
static int64_t leave(world_t *world, int32_t p, int64_t now_ns)
{
    rank_t *rank = &world->ranks[p];
    const clv_send_t *send = head_of(world, rank);
    const clv_replay_lengths_t *lengths = world->lengths;
    const int near = is_near(world, send);
    const int64_t out_ns = now_ns + (near ? lengths->near_wire_ns : lengths->far_wire_ns);
    const int64_t busy_ns = clv_larger(out_ns, now_ns + lengths->gap_ns);
    copy_t *copy = copy_of(world, p, send->segment);

    occupy_links(world, send, busy_ns, out_ns);
    rank->out_free_ns = busy_ns;
    rank->exit_ns = clv_larger(rank->exit_ns, out_ns);
    rank->next++;
    rank->offered = 0;
    copy->ready_ns = clv_larger(copy->ready_ns, out_ns);
    copy->n_done++;
    return out_ns + (near ? lengths->near_latency_ns : lengths->far_latency_ns);
}

/* The rank's next send starts now. */
static void start(world_t *world, int32_t p, int64_t now_ns)
{
    const int32_t k = world->by_sender[world->ranks[p].next];

    push(world, leave(world, p, now_ns), world->plan->n_ranks + k);
    unpark(world, copy_of(world, p, world->plan->sends[k].segment), now_ns);
    offer(world, p);
}

/* ---- ahead, without events ------------------------------------------------------------------- */

/* What a send says about its two ranks: they need events if it crosses a link, or if the receiver
 * has another source; and the receiver also if it has done something with that segment before. */
static void judge_send(world_t *world, int32_t k)
{
    const clv_send_t *send = &world->plan->sends[k];
    rank_t *sender = &world->ranks[send->sender], *receiver = &world->ranks[send->receiver];

    if (!is_near(world, send)) {
        sender->way = receiver->way = WAY_EVENTS;
        return;
    }
    if (receiver->source != NONE && receiver->source != send->sender) {
        world->ranks[receiver->source].way = sender->way = receiver->way = WAY_EVENTS;
    }
    if (world->notes[k].in_number > 0) {
        receiver->way = WAY_EVENTS;
    }
    receiver->source = send->sender;
}

/* Who receives from a rank that needs events needs them, too. */
static void follow_sources(world_t *world, int32_t p)
{
    rank_t *ranks = world->ranks;
    int32_t q = p;
    while (ranks[q].way == WAY_UNKNOWN && ranks[q].source != NONE) {
        ranks[q].way = WAY_ASKED;
        q = ranks[q].source;
    }
    const way_t way =
        ranks[q].way == WAY_ASKED || ranks[q].way == WAY_EVENTS ? WAY_EVENTS : WAY_AHEAD;
    ranks[q].way = way;
    for (q = p; ranks[q].way == WAY_ASKED; q = ranks[q].source) {
        ranks[q].way = way;
    }
}

static void find_ways(world_t *world)
{
    for (int32_t k = 0; k < world->plan->n_sends; k++) {
        judge_send(world, k);
    }
    for (int32_t p = 0; p < world->plan->n_ranks; p++) {
        follow_sources(world, p);
    }
}

static void replay_ahead(world_t *world)
{
    for (int32_t k = 0; k < world->plan->n_sends; k++) {
        const clv_send_t *send = &world->plan->sends[k];
        const rank_t *sender = &world->ranks[send->sender];
        if (sender->way != WAY_AHEAD) {
            continue;
        }
        const int64_t start_ns =
            clv_larger(clv_larger(sender->out_free_ns, world->arrival_ns[send->receiver]),
                       clv_larger(copy_of(world, send->sender, send->segment)->ready_ns,
                                  links_free_ns(world, send)));
        const int64_t here_ns = leave(world, send->sender, start_ns);
        if (world->ranks[send->receiver].way == WAY_AHEAD) {
            combine(world, k, here_ns);
        } else {
            push(world, here_ns, world->plan->n_ranks + k);
        }
    }
}

/* ---- from the beginning to the end ----------------------------------------------------------- */

/* Numbers what is done to each copy, in plan order. */
static void number_sends(world_t *world)
{
    for (int32_t k = 0; k < world->plan->n_sends; k++) {
        const clv_send_t *send = &world->plan->sends[k];
        world->notes[k].out_number = copy_of(world, send->sender, send->segment)->n_done++;
        world->notes[k].in_number = copy_of(world, send->receiver, send->segment)->n_done++;
        world->ranks[send->sender].end++;
    }
}

/* The copies a rank begins with. */
static void place_copies(world_t *world, int32_t p)
{
    const int64_t arrival = world->arrival_ns[p];
    const clv_replay_given_t given =
        world->given == NULL ? (clv_replay_given_t){0, 0} : world->given[p];
    for (int32_t s = 0; s < world->plan->n_segments; s++) {
        const int64_t ready_ns = clv_larger(arrival, given.first_ns + s * given.step_ns);
        *copy_of(world, p, s) = (copy_t){ready_ns, 0, NONE};
    }
}

/* Ranks as they arrive, each with the part of by_sender that is as long as its sends. */
static void place_ranks(world_t *world)
{
    int32_t first = 0;
    for (int32_t p = 0; p < world->plan->n_ranks; p++) {
        const int64_t arrival = world->arrival_ns[p];
        const int32_t n_sends = world->ranks[p].end;
        world->ranks[p] = (rank_t){.way = WAY_UNKNOWN,
                                   .source = NONE,
                                   .out_free_ns = arrival,
                                   .in_free_ns = arrival,
                                   .core_free_ns = arrival,
                                   .exit_ns = arrival,
                                   .next = first,
                                   .end = first};
        first += n_sends;
        place_copies(world, p);
    }
    for (int32_t k = 0; k < world->plan->n_sends; k++) {
        world->by_sender[world->ranks[world->plan->sends[k].sender].end++] = k;
    }
}

static void run(world_t *world)
{
    const int32_t n_ranks = world->plan->n_ranks;
    for (int32_t p = 0; p < n_ranks; p++) {
        offer(world, p);
    }
    while (world->n_events > 0) {
        const event_t event = pop(world);
        if (event.who >= n_ranks) {
            arrive(world, event.who - n_ranks, event.at_ns);
            continue;
        }
        const rank_t *rank = &world->ranks[event.who];
        const int64_t free_ns = links_free_ns(world, head_of(world, rank));
        if (free_ns > event.at_ns) {
            push(world, free_ns, event.who);
        } else {
            start(world, event.who, event.at_ns);
        }
    }
}

static clv_status_t read_result(const world_t *world, clv_estimate_t *estimate_p, int64_t *exit_ns)
{
    const int32_t n_ranks = world->plan->n_ranks;
    int64_t last_arrival = 0, end = 0, in_mpi_sum = 0;

    for (int32_t p = 0; p < n_ranks; p++) {
        const rank_t *rank = &world->ranks[p];
        if (rank->next < rank->end) {
            return CLV_INVALID;
        }
        last_arrival = clv_larger(last_arrival, world->arrival_ns[p]);
        end = clv_larger(end, rank->exit_ns);
        in_mpi_sum += (rank->exit_ns - world->arrival_ns[p]) / n_ranks;
        if (exit_ns != NULL) {
            exit_ns[p] = rank->exit_ns;
        }
    }
    *estimate_p = (clv_estimate_t){end, end - last_arrival, in_mpi_sum};
    return CLV_OK;
}

/* 1, or 0 without memory. */
static int allocate(world_t *world)
{
    const size_t n_ranks = (size_t) world->plan->n_ranks;
    const size_t n_sends = (size_t) world->plan->n_sends;

    world->ranks = clv_alloc(n_ranks, sizeof *world->ranks);
    world->links = clv_alloc(n_ranks, sizeof *world->links);
    world->copies = clv_alloc(n_ranks * (size_t) world->plan->n_segments, sizeof *world->copies);
    world->notes = clv_alloc_unset(n_sends + 1, sizeof *world->notes);
    world->by_sender = clv_alloc_unset(n_sends + 1, sizeof *world->by_sender);
    world->heap = clv_alloc_unset(n_ranks + n_sends, sizeof *world->heap);
    return world->ranks != NULL && world->links != NULL && world->copies != NULL &&
           world->notes != NULL && world->by_sender != NULL && world->heap != NULL;
}

clv_status_t clv_sched_replay(const clv_plan_t *plan, const int64_t *arrival_ns,
                              const int32_t *place, const clv_replay_lengths_t *lengths,
                              int events_only, const clv_replay_given_t *given,
                              clv_estimate_t *estimate_p, int64_t *exit_ns)
{
    world_t world = {
        .plan = plan, .arrival_ns = arrival_ns, .place = place, .lengths = lengths, .given = given};
    clv_status_t status = CLV_NO_MEMORY;

    if (plan->n_sends > MAX_SENDS) {
        return CLV_LIMIT;
    }
    if (allocate(&world)) {
        number_sends(&world);
        place_ranks(&world);
        if (!events_only) {
            find_ways(&world);
            replay_ahead(&world);
        }
        run(&world);
        status = read_result(&world, estimate_p, exit_ns);
    }
    clv_free(world.heap);
    clv_free(world.by_sender);
    clv_free(world.notes);
    clv_free(world.copies);
    clv_free(world.links);
    clv_free(world.ranks);
    return status;
}
