/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Private to schedule/: the inter-host part of a fast estimate: the host representatives, and when
 * each of them leaves.
 *
 *     from inside (a stream) ----+
 *                                +--> combined, in the order of time --> sent, in plan order
 *     over the link -------------+
 *
 * The model and the times are those of the event-driven replay (sched_replay.h), to the nanosecond.
 * It is cheaper for three reasons. One rank per host uses links, so representatives compete only
 * for the links into hosts. The segments from inside have known times. And arrivals are not events:
 * a representative handles its arrivals when it has something to send.
 *
 * Not: ranks that only pass segments on within their host (sched_fast_estimate.c).
 *
 * Units: int64 ns; slots are rounds of the whole plan.
 * Errors: CLV_NO_MEMORY; CLV_INVALID: the sends come to no end.
 * Memory: 16 bytes per send, 8 per rank and segment; while it is made or run 20 per send and 16 per
 *   rank and segment more. For a chain 4 per rank and segment.
 * Threads: safe on distinct inter-host parts.
 */
#ifndef CLV_SCHED_INTERHOST_H
#define CLV_SCHED_INTERHOST_H

#include <stdbool.h>

#include "schedule/sched_replay.h"

/* Numbers: what is done to that copy before it. */
typedef struct clv_interhost_send {
    int32_t slot;
    int32_t out_number; /* at the sender */
    int32_t in_number;  /* at the receiver */
    uint32_t receiver : 15;
    uint32_t segment : 15;
    uint32_t is_last : 1; /* nothing is done to the sender's copy behind it */
    uint32_t is_back : 1; /* the receiver's copy has been sent before */
} clv_interhost_send_t;

typedef struct clv_interhost {
    int32_t n_ranks; /* 0: there is none */
    int32_t n_segments;
    bool hands_over;    /* 1: the last rank is handed all inside its place */
    int32_t *rank;      /* what each of them is in the whole */
    int32_t *near_slot; /* [rank * n_segments + segment]: the slot after it has come from inside */
    int32_t *far_slot;  /* a chain, in its order: the slot of segment 0 to this rank, the others
                           follow in steps of slots_per_round; NULL: no chain, but these: */
    int32_t slots_per_round;
    clv_interhost_send_t *sends; /* rank after rank, of each in plan order */
    int32_t *first_out;          /* of the sends of each; n_ranks + 1 numbers */
    int32_t *first_in;           /* how many sends go to the ranks before this one */
    int32_t *near_number;        /* as near_slot: what is done to that copy before it */
} clv_interhost_t;

/* Whether this rank is handed all by one inside its place, not over a link. */
static inline bool clv_interhost_is_handed(const clv_interhost_t *interhost, int32_t p)
{
    return interhost->hands_over && p == interhost->n_ranks - 1;
}

#define CLV_INTERHOST_NOTHING INT32_MAX /* near_slot where nothing comes from inside */

/* What comes from inside: segment s is there at the later of two lines. first_ns[0] < 0: nothing
 * comes. */
typedef struct clv_interhost_stream {
    int64_t first_ns[2];
    int64_t step_ns[2];
} clv_interhost_stream_t;

/* Room for the ranks; near_slot says that nothing comes. CLV_NO_MEMORY; to be dropped in any case.
 * An inter-host part of zeros is none. */
clv_status_t clv_interhost_init(clv_interhost_t *interhost, int32_t n_ranks,
                                int32_t n_segments) CLV_MUST_CHECK;
void clv_interhost_drop(clv_interhost_t *interhost);

/* The sends, in plan order, of ranks of the inter-host part; near_slot is set. CLV_NO_MEMORY. */
clv_status_t clv_interhost_set_sends(clv_interhost_t *interhost, const clv_send_t *sends,
                                     int64_t n_sends) CLV_MUST_CHECK;

/* When each rank of the inter-host part leaves, as the streams come and the ranks arrive. */
clv_status_t clv_interhost_run(const clv_interhost_t *interhost,
                               const clv_interhost_stream_t *streams, const int64_t *arrival_ns,
                               const clv_replay_lengths_t *lengths,
                               int64_t *exit_ns) CLV_MUST_CHECK;

/* The same of a chain, without events. */
clv_status_t clv_interhost_run_chain(const clv_interhost_t *interhost,
                                     const clv_interhost_stream_t *streams,
                                     const int64_t *arrival_ns, const clv_replay_lengths_t *lengths,
                                     int64_t *exit_ns) CLV_MUST_CHECK;

#endif
