/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Private to schedule/: the state of a replay where ranks share hosts: copies of segments, ranks
 * with their ways and cores, links, and pending sends, which have left and not yet arrived; and the
 * changes to it when a send leaves and when it arrives.
 *
 *     sender's copy --leave--> pending, here at here_ns --arrive--> combined into receiver's copy
 *
 * Each copy (rank, segment) counts the sends and receives done to it. One takes effect when the
 * count has reached its own number in plan order: so a segment that comes back to a rank is
 * combined after it left, and one that arrives out of order is parked.
 *
 * Not: which of them is next (sched_replay.c: by events; sched_replay_order.c: rank after rank).
 *
 * Units: int64 ns. Errors: none but lack of memory. Threads: one at a time.
 * Memory: 32 bytes per send, 16 per rank and segment, 108 per rank; freed by
 * clv_pending_sends_close.
 */
#ifndef CLV_SCHED_PENDING_SENDS_H
#define CLV_SCHED_PENDING_SENDS_H

#include <stdbool.h>

#include "schedule/sched_replay.h"
#include "util/util_min_max.h"

enum { CLV_NO_SEND = -1 };

typedef struct clv_copy {
    int64_t ready_ns; /* its last send is out and its last receive combined */
    int32_t n_done;   /* sends started and receives combined */
    int32_t parked;   /* first of the sends that arrived too early, or CLV_NO_SEND */
} clv_copy_t;

typedef struct clv_replay_rank {
    int64_t out_free_ns; /* its own way out, near and far */
    int64_t in_free_ns;  /* its own way in, near only */
    int64_t core_free_ns;
    int64_t exit_ns;
    int32_t first, next, end; /* its sends, of which those before next have left */
    int32_t source[2];        /* who sends to it, elsewhere and inside, or CLV_NO_SEND */
    int64_t head_ready_ns;    /* by events: when its next send could start if links were free ... */
    bool offered;             /* ... which is in the heap ... */
    int32_t
        under_way[2]; /* ... and the first one under way, elsewhere and inside, or CLV_NO_SEND */
    int32_t way;      /* how it is replayed */
} clv_replay_rank_t;

typedef struct clv_link {
    int64_t out_free_ns;
    int64_t in_free_ns;
} clv_link_t;

/* A send, and what becomes of it; 32 bytes. */
typedef struct clv_pending_send {
    int64_t here_ns;    /* when it arrives, once it has left */
    int32_t number;     /* in the plan */
    int32_t out_number; /* of the sender's copy: how much comes before it */
    int32_t in_number;  /* of the receiver's copy */
    int32_t next_parked;
    uint16_t sender, receiver, segment;
    bool is_near, is_move;
} clv_pending_send_t;

/* What a replay is about. */
typedef struct clv_pending_sends {
    const clv_plan_t *plan;
    const int64_t *arrival_ns;
    const int32_t *place;
    const clv_replay_lengths_t *lengths;
    clv_replay_rank_t *ranks;
    clv_link_t *links; /* by place */
    clv_copy_t *copies;
    clv_pending_send_t *pending; /* rank after rank, of each in plan order */
    int32_t *scratch;            /* three numbers for each rank */
} clv_pending_sends_t;

/* All copies as the ranks arrive, all sends numbered, nothing done. plan, arrival_ns, place
 * and lengths are set, the rest is zero. 1, or 0 without memory; to be closed in any case. */
bool clv_pending_sends_open(clv_pending_sends_t *all);
void clv_pending_sends_close(clv_pending_sends_t *all);

/* Until then a copy's n_done is the number of all that will be done to it. */
void clv_pending_sends_begin(clv_pending_sends_t *all);

/* Instead of that: replays all, if nobody ever waits for a way or a link that another rank holds;
 * 0: somebody does, and nothing was replayed; only the ranks' sources may be set. */
bool clv_pending_sends_in_order(clv_pending_sends_t *all);

static inline clv_copy_t *clv_copy_of(const clv_pending_sends_t *all, int32_t rank, int32_t segment)
{
    return &all->copies[(size_t) rank * (size_t) all->plan->n_segments + (size_t) segment];
}

/* When what the send needs beside its sender is free. */
static inline int64_t clv_links_free_ns(const clv_pending_sends_t *all,
                                        const clv_pending_send_t *pending)
{
    if (pending->is_near) {
        return all->ranks[pending->receiver].in_free_ns;
    }
    return clv_larger(all->links[all->place[pending->sender]].out_free_ns,
                      all->links[all->place[pending->receiver]].in_free_ns);
}

static inline void clv_pending_send_combine(clv_pending_sends_t *all,
                                            const clv_pending_send_t *pending, int64_t now_ns)
{
    clv_replay_rank_t *receiver = &all->ranks[pending->receiver];
    clv_copy_t *copy = clv_copy_of(all, pending->receiver, pending->segment);
    int64_t done_ns = clv_larger(clv_larger(now_ns, receiver->core_free_ns), copy->ready_ns) +
                      (pending->is_move ? all->lengths->combine_ns : 0);
    receiver->core_free_ns = done_ns;
    receiver->exit_ns = clv_larger(receiver->exit_ns, done_ns);
    copy->ready_ns = done_ns;
    copy->n_done++;
}

/* Combines what waited for the copy to come so far. */
static inline void clv_copy_unpark(clv_pending_sends_t *all, clv_copy_t *copy, int64_t now_ns)
{
    for (int32_t *at = &copy->parked; *at != CLV_NO_SEND;) {
        clv_pending_send_t *pending = &all->pending[*at];
        if (pending->in_number == copy->n_done) {
            *at = pending->next_parked;
            clv_pending_send_combine(all, pending, now_ns);
            at = &copy->parked;
        } else {
            at = &pending->next_parked;
        }
    }
}

/* It is combined, or parked until that is its turn. */
static inline void clv_pending_send_arrive(clv_pending_sends_t *all, int32_t at, int64_t now_ns)
{
    clv_pending_send_t *pending = &all->pending[at];
    clv_copy_t *copy = clv_copy_of(all, pending->receiver, pending->segment);

    pending->next_parked = copy->parked;
    copy->parked = at;
    clv_copy_unpark(all, copy, now_ns);
}

static inline void clv_links_occupy(clv_pending_sends_t *all, const clv_pending_send_t *pending,
                                    int64_t busy_ns, int64_t until_ns)
{
    if (pending->is_near) {
        all->ranks[pending->receiver].in_free_ns = busy_ns;
    } else {
        all->links[all->place[pending->sender]].out_free_ns = until_ns;
        all->links[all->place[pending->receiver]].in_free_ns = until_ns;
    }
}

/* The rank's next send leaves now. */
static inline void clv_pending_send_leave(clv_pending_sends_t *all, clv_replay_rank_t *rank,
                                          int64_t now_ns)
{
    clv_pending_send_t *pending = &all->pending[rank->next++];
    const clv_replay_lengths_t *lengths = all->lengths;
    const bool near = pending->is_near;
    const int64_t out_ns = now_ns + (near ? lengths->near_wire_ns : lengths->far_wire_ns);
    const int64_t busy_ns = clv_larger(out_ns, now_ns + lengths->gap_ns);
    clv_copy_t *copy = clv_copy_of(all, pending->sender, pending->segment);

    clv_links_occupy(all, pending, busy_ns, out_ns);
    rank->out_free_ns = busy_ns;
    rank->exit_ns = clv_larger(rank->exit_ns, out_ns);
    rank->offered = false;
    copy->ready_ns = clv_larger(copy->ready_ns, out_ns);
    copy->n_done++;
    pending->here_ns = out_ns + (near ? lengths->near_latency_ns : lengths->far_latency_ns);
}

/* When the rank's next send can start, if all that it waits for is known. */
static inline int64_t clv_next_start_ns(const clv_pending_sends_t *all,
                                        const clv_replay_rank_t *rank)
{
    const clv_pending_send_t *pending = &all->pending[rank->next];

    return clv_larger(clv_larger(rank->out_free_ns, all->arrival_ns[pending->receiver]),
                      clv_larger(clv_copy_of(all, pending->sender, pending->segment)->ready_ns,
                                 clv_links_free_ns(all, pending)));
}

#endif
