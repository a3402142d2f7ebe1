/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Private to schedule/: replays a plan where ranks share hosts, event by event.
 *
 * The model is that of sched_cost.h ("where ranks share a host"). A segment between hosts takes the
 * link out of its sender's host and the link into its receiver's at once, or waits for both; of the
 * segments that could start at the same time, the one that was ready first starts.
 * Not: the choice between this and the closed form for one rank per place (clv_plan_estimate).
 *
 * Units: int64 ns. Deterministic. Thread-safe. Cost: O(sends * log ranks); a send that waits for a
 * link costs another log ranks for each send that takes the link before it; O(sends) where no rank
 * waits for a link that another rank holds.
 */
#ifndef CLV_SCHED_REPLAY_H
#define CLV_SCHED_REPLAY_H

#include <stdbool.h>

#include "schedule/sched_cost.h"

/* Of one segment; all >= 0. */
typedef struct clv_replay_lengths {
    int64_t far_wire_ns; /* between places: occupies both links */
    int64_t far_latency_ns;
    int64_t near_wire_ns; /* inside a place: occupies both ranks' own ways */
    int64_t near_latency_ns;
    int64_t combine_ns; /* of a MOVE, at the receiver's core */
    int64_t gap_ns;     /* a rank's own way is free no sooner after a segment's start */
} clv_replay_lengths_t;

clv_replay_lengths_t clv_replay_lengths_of(const clv_cost_t *cost, int64_t segment_bytes);

/* The last arrival, 0 at least. */
int64_t clv_replay_last_ns(const int64_t *arrival_ns, int32_t n_ranks);

/* Whether every time of a replay fits its type: it is at most the last arrival and all lengths of
 * all sends one after the other. */
bool clv_replay_fits(const clv_replay_lengths_t *lengths, int64_t n_sends, int64_t last_ns);

/* place[rank] in 0 .. n_ranks - 1. All lengths of all sends one after the other, counted from the
 * last arrival, fit int64. CLV_NO_MEMORY; CLV_LIMIT for more than 2^30 sends; CLV_INVALID when the
 * plan comes to no end, as none that passes clv_plan_validate does. events_only: also of ranks that
 * need none; for tests: the same result where messages inside a place take time. exit_ns: of each
 * rank, or NULL. */
clv_status_t clv_sched_replay(const clv_plan_t *plan, const int64_t *arrival_ns,
                              const int32_t *place, const clv_replay_lengths_t *lengths,
                              int events_only, clv_estimate_t *estimate_p,
                              int64_t *exit_ns) CLV_MUST_CHECK;

#endif
