/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a plan would cost: a replay of its sends against arrival times and a linear cost model.
 *
 * Model: a segment of n bytes occupies the sender's way out and the receiver's way in for
 * n * byte_ps, and is combined latency_ns after that; each rank sends and combines in plan order
 * and nothing moves before both ends have arrived. That is the executor without its look-ahead.
 * Not: a network simulation; contention between pairs is outside the model.
 *
 * Integers only: every rank computes the same estimate. Thread-safe.
 */
#ifndef CLV_SCHED_COST_H
#define CLV_SCHED_COST_H

#include "schedule/schedule.h"

typedef struct clv_cost {
    int64_t latency_ns; /* per segment: message latency, its handling, and the combination */
    int64_t byte_ps;    /* picoseconds per byte on the slowest link of a pair */
} clv_cost_t;

typedef struct clv_estimate {
    int64_t end_ns;    /* the last exit, on the clock of arrival_ns */
    int64_t after_ns;  /* last exit - last arrival */
    int64_t in_mpi_ns; /* mean over ranks of exit - arrival */
} clv_estimate_t;

/* One model from what n_costs (> 0) ranks measured, which it sorts: the upper quartile of each number.
 * Not the largest: one of many ranks has always lost its core for some milliseconds while it
 * measured, and a latency of that size makes the wrong plans look good for the rest of the run. A
 * link that truly is slow is so in every plan, since each rank sends its vector in each. */
clv_cost_t clv_cost_agree(clv_cost_t *costs, int32_t n_costs);

/* Time of one message of n_bytes: the paper's d. Saturates at INT64_MAX / 4. */
int64_t clv_cost_round_ns(const clv_cost_t *cost, int64_t n_bytes);

/* Bytes of the largest segment when vector_bytes are cut into n_segments. */
int64_t clv_segment_bytes(int64_t vector_bytes, int32_t n_segments);

/* Replays the plan. O(sends) time, ranks * segments * 8 bytes. CLV_NO_MEMORY. */
clv_status_t clv_plan_estimate(const clv_plan_t *plan, const int64_t *arrival_ns,
                               int64_t vector_bytes, const clv_cost_t *cost,
                               clv_estimate_t *estimate_p) CLV_MUST_CHECK;

#endif
