/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Replays a plan with segments that travel early (see sched_exits.h). Sends are taken in plan
 * order, as in sched_cost.c.
 *
 * The buffer of a pair is a ring of slots of equal size; a segment fills slots by its length, and a
 * slot is free again when the receiver takes its segment. So a sender that is ahead waits until the
 * receiver takes the segment sent pair_bytes earlier, in whichever call that was.
 */
#include "schedule/sched_exits.h"

#include "util/util_alloc.h"
#include "util/util_min_max.h"

enum { SLOTS = 64 };

typedef struct pair {
    int64_t free_ns[SLOTS];
    int64_t n_filled; /* since the first call */
} pair_t;

/* A rank of the network; its state is kept between calls. */
typedef struct host {
    int64_t out_free_ns;
    int64_t in_since_ns, in_free_ns; /* when its way in was last used */
    int64_t left_ns;                 /* the end of its last call */
} host_t;

struct clv_exits {
    int32_t n_ranks;
    clv_early_t early;
    host_t *hosts;
    pair_t **pairs; /* [sender * n_ranks + receiver]; NULL: nothing sent yet */
};

clv_status_t clv_exits_create(int32_t n_ranks, const clv_early_t *early, clv_exits_t **exits_p)
{
    const size_t n = (size_t) n_ranks;
    clv_exits_t *exits;

    if (n_ranks < 1 || n_ranks > CLV_EXITS_MAX_RANKS || early->eager_bytes < 0 ||
        early->pair_bytes < 0 || early->take_ps < 0 || early->in_flight_bytes < 0) {
        return CLV_INVALID;
    }
    exits = clv_alloc(1, sizeof *exits);
    if (exits == NULL) {
        return CLV_NO_MEMORY;
    }
    *exits = (clv_exits_t){.n_ranks = n_ranks,
                           .early = *early,
                           .hosts = clv_alloc(n, sizeof *exits->hosts),
                           .pairs = clv_alloc(n * n, sizeof(pair_t *))};
    if (exits->hosts == NULL || exits->pairs == NULL) {
        clv_exits_free(exits);
        return CLV_NO_MEMORY;
    }
    for (size_t i = 0; i < n; i++) {
        exits->hosts[i] = (host_t){INT64_MIN / 4, INT64_MIN / 4, INT64_MIN / 4, INT64_MIN / 4};
    }
    *exits_p = exits;
    return CLV_OK;
}

void clv_exits_free(clv_exits_t *exits)
{
    if (exits == NULL) {
        return;
    }
    const size_t n = (size_t) exits->n_ranks;
    for (size_t i = 0; exits->pairs != NULL && i < n * n; i++) {
        clv_free(exits->pairs[i]);
    }
    clv_free(exits->pairs);
    clv_free(exits->hosts);
    clv_free(exits);
}

void clv_exits_leave(clv_exits_t *exits, int32_t rank, int64_t exit_ns)
{
    exits->hosts[rank].left_ns = clv_larger(exits->hosts[rank].left_ns, exit_ns);
}

/* ---- one send -------------------------------------------------------------------------------- */

typedef struct replay {
    const clv_plan_t *plan;
    clv_exits_t *exits;
    const int32_t *members;
    const int64_t *arrival_ns;
    int64_t *exit_ns;
    int64_t *core_free_ns;    /* by rank of the plan */
    int64_t *ready_ns;        /* [rank * n_segments + segment]: when that copy can be sent */
    int64_t wire_ns, busy_ns; /* busy_ns includes the gap */
    int64_t latency_ns, take_ns, in_flight_ns;
    int32_t n_slots; /* of a segment; 0: it does not travel early */
} replay_t;

static int32_t member_of(const replay_t *replay, int32_t rank)
{
    return replay->members == NULL ? rank : replay->members[rank];
}

static host_t *host_of(const replay_t *replay, int32_t rank)
{
    return &replay->exits->hosts[member_of(replay, rank)];
}

static int64_t *ready_of(const replay_t *replay, int32_t rank, int32_t segment)
{
    return &replay->ready_ns[(size_t) rank * (size_t) replay->plan->n_segments + (size_t) segment];
}

/* NULL: no memory. */
static pair_t *pair_of(const replay_t *replay, const clv_send_t *send)
{
    pair_t **pair =
        &replay->exits
             ->pairs[(size_t) member_of(replay, send->sender) * (size_t) replay->exits->n_ranks +
                     (size_t) member_of(replay, send->receiver)];
    if (*pair == NULL) {
        *pair = clv_alloc(1, sizeof **pair);
    }
    return *pair;
}

/* The segment has left its sender's way out; returns when it has crossed the way in. A segment that
 * left before the last use of the way in began does not wait for that, whatever the plan's
 * order. */
static int64_t cross(host_t *in, int64_t gone_ns, int64_t wire_ns, int64_t busy_ns)
{
    if (gone_ns <= in->in_since_ns) {
        return gone_ns;
    }
    const int64_t there_ns = clv_larger(gone_ns, in->in_free_ns + wire_ns);
    in->in_since_ns = there_ns - wire_ns;
    in->in_free_ns = there_ns - wire_ns + busy_ns;
    return there_ns;
}

static void leave_after(const replay_t *replay, int32_t rank, int64_t ns)
{
    replay->exit_ns[rank] = clv_larger(replay->exit_ns[rank], ns);
}

static void combine(const replay_t *replay, const clv_send_t *send, int64_t taken_ns)
{
    int64_t *core_ns = &replay->core_free_ns[send->receiver];
    int64_t *ready_ns = ready_of(replay, send->receiver, send->segment);

    *core_ns = clv_larger(taken_ns + replay->latency_ns, *core_ns + replay->take_ns);
    *ready_ns = clv_larger(*ready_ns, *core_ns);
    leave_after(replay, send->receiver, *core_ns);
}

static void send_early(const replay_t *replay, const clv_send_t *send, pair_t *pair)
{
    host_t *sender = host_of(replay, send->sender), *receiver = host_of(replay, send->receiver);
    const int64_t last_slot = pair->n_filled + replay->n_slots - 1;
    const int64_t handed_ns = clv_larger(*ready_of(replay, send->sender, send->segment),
                                         pair->free_ns[last_slot % SLOTS]);
    const int64_t start_ns = clv_larger(sender->out_free_ns, handed_ns);
    const int64_t there_ns =
        cross(receiver, start_ns + replay->wire_ns, replay->wire_ns, replay->busy_ns);
    const int64_t taken_ns = there_ns <= receiver->left_ns
                                 ? there_ns
                                 : clv_larger(there_ns, replay->arrival_ns[send->receiver]);

    sender->out_free_ns = start_ns + replay->busy_ns;
    for (int32_t i = 0; i < replay->n_slots; i++) {
        pair->free_ns[pair->n_filled++ % SLOTS] = taken_ns;
    }
    leave_after(replay, send->sender, handed_ns);
    combine(replay, send, taken_ns);
}

/* Both ranks have arrived. The last bytes in flight travel without the sender. */
static void send_together(const replay_t *replay, const clv_send_t *send)
{
    host_t *sender = host_of(replay, send->sender), *receiver = host_of(replay, send->receiver);
    const int64_t start_ns =
        clv_larger(clv_larger(sender->out_free_ns, *ready_of(replay, send->sender, send->segment)),
                   clv_larger(receiver->in_free_ns, replay->arrival_ns[send->receiver]));
    const int64_t sent_ns = start_ns + replay->wire_ns;

    sender->out_free_ns = start_ns + replay->busy_ns;
    receiver->in_since_ns = start_ns;
    receiver->in_free_ns = start_ns + replay->busy_ns;
    leave_after(replay, send->sender, clv_larger(start_ns, sent_ns - replay->in_flight_ns));
    combine(replay, send, sent_ns);
}

static clv_status_t replay_all(const replay_t *replay)
{
    for (int64_t i = 0; i < replay->plan->n_sends; i++) {
        const clv_send_t *send = &replay->plan->sends[i];
        pair_t *pair = replay->n_slots > 0 ? pair_of(replay, send) : NULL;

        if (replay->n_slots == 0) {
            send_together(replay, send);
        } else if (pair == NULL) {
            return CLV_NO_MEMORY;
        } else {
            send_early(replay, send, pair);
        }
    }
    return CLV_OK;
}

/* ---- a plan ---------------------------------------------------------------------------------- */

static void start(const replay_t *replay)
{
    for (int32_t p = 0; p < replay->plan->n_ranks; p++) {
        replay->exit_ns[p] = replay->core_free_ns[p] = replay->arrival_ns[p];
        for (int32_t s = 0; s < replay->plan->n_segments; s++) {
            *ready_of(replay, p, s) = replay->arrival_ns[p];
        }
    }
}

static int64_t times(int64_t n_bytes, int64_t byte_ps)
{
    return clv_cost_round_ns(&(clv_cost_t){.byte_ps = byte_ps}, n_bytes);
}

static void measure_segment(replay_t *replay, int64_t n_bytes, const clv_cost_t *cost)
{
    const clv_early_t *early = &replay->exits->early;

    replay->wire_ns = times(n_bytes, cost->byte_ps);
    replay->busy_ns = clv_larger(replay->wire_ns, cost->gap_ns);
    replay->latency_ns = cost->latency_ns;
    replay->take_ns = times(n_bytes, early->take_ps);
    replay->in_flight_ns = times(early->in_flight_bytes, cost->byte_ps);
    if (n_bytes <= early->eager_bytes && n_bytes <= early->pair_bytes && n_bytes > 0) {
        replay->n_slots = (int32_t) ((n_bytes * SLOTS + early->pair_bytes - 1) / early->pair_bytes);
    }
}

static clv_status_t replay_early(const clv_plan_t *plan, const int64_t *arrival_ns,
                                 int64_t vector_bytes, const clv_cost_t *cost, clv_exits_t *exits,
                                 const int32_t *members, int64_t *exit_ns)
{
    const size_t n_ranks = (size_t) plan->n_ranks;
    replay_t replay = {.plan = plan,
                       .exits = exits,
                       .members = members,
                       .arrival_ns = arrival_ns,
                       .exit_ns = exit_ns,
                       .core_free_ns = clv_alloc(n_ranks, sizeof(int64_t)),
                       .ready_ns = clv_alloc(n_ranks * (size_t) plan->n_segments, sizeof(int64_t))};
    clv_status_t status = CLV_NO_MEMORY;

    if (replay.core_free_ns != NULL && replay.ready_ns != NULL) {
        measure_segment(&replay, clv_segment_bytes(vector_bytes, plan->n_segments), cost);
        start(&replay);
        status = replay_all(&replay);
    }
    for (int32_t p = 0; p < plan->n_ranks && status == CLV_OK; p++) {
        host_of(&replay, p)->left_ns = exit_ns[p];
    }
    clv_free(replay.ready_ns);
    clv_free(replay.core_free_ns);
    return status;
}

clv_status_t clv_plan_exits(const clv_plan_t *plan, const int64_t *arrival_ns, const int32_t *place,
                            int64_t vector_bytes, const clv_cost_t *cost, clv_exits_t *exits,
                            const int32_t *members, int64_t *exit_ns)
{
    clv_estimate_t estimate;
    /* Also checks that the times fit. */
    const clv_status_t status = clv_plan_estimate_exits(
        plan, arrival_ns, exits == NULL ? place : NULL, vector_bytes, cost, &estimate, exit_ns);

    return status != CLV_OK || exits == NULL
               ? status
               : replay_early(plan, arrival_ns, vector_bytes, cost, exits, members, exit_ns);
}
