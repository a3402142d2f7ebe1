/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The goals of plans: which ranks have which segments at the start, and which must have them at the
 * end.
 *
 *                     at the start                    at the end complete at
 *   reduce            every rank its contribution     the root
 *   allreduce         every rank its contribution     every rank
 *   bcast             the root, complete              every rank
 *   reduce_scatter    every rank its contribution     the owner of the segment
 *
 * Not: how to get there.
 *
 * Units: ranks, segments.
 * Errors: CLV_INVALID for an unknown name; else arguments are in range.
 * Memory: none; names are static.
 * Threads: safe; every function is pure and O(1).
 */
#ifndef CLV_SCHED_GOAL_H
#define CLV_SCHED_GOAL_H

#include <stdbool.h>

#include "schedule/schedule.h"

/* "reduce", ...; "unknown" for a number that is no goal. */
const char *clv_goal_name(clv_goal_t goal);

/* The goal of that name in *goal_p; CLV_INVALID, and nothing set, when there is none. */
clv_status_t clv_goal_find(const char *name, clv_goal_t *goal_p) CLV_MUST_CHECK;

/* Whether there can be plans for this goal and size: reduce_scatter wants every rank to own equally
 * many segments, so n_segments must be a multiple of n_ranks. 0 also for a number that is no goal.
 */
bool clv_goal_fits(clv_goal_t goal, int32_t n_ranks, int32_t n_segments);

/* Whether the rank has a copy of its segments before the first step. */
static inline bool clv_goal_has_at_start(clv_goal_t goal, int32_t root, int32_t rank)
{
    return goal != CLV_GOAL_BCAST || rank == root;
}

/* The rank that a segment of a reduce_scatter belongs to: blocks of n_segments / n_ranks. */
static inline int32_t clv_goal_owner(int32_t n_ranks, int32_t n_segments, int32_t segment)
{
    return segment / (n_segments / n_ranks);
}

/* Whether the rank must have the segment, complete, after the last step of the plan. */
bool clv_goal_wants(const clv_plan_t *plan, int32_t rank, int32_t segment);

#endif
