/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random plans of any goal for tests: valid by construction, with relays no generator would take:
 * parts that wander and come back, copies passed on by whoever has one, moves of complete segments.
 * And an oracle that knows nothing of weights: it follows every single contribution.
 *
 * Sizes: at most 64 ranks. Reproducible from the state. Thread-safe on distinct arguments.
 */
#ifndef CLV_TESTS_RANDOM_PLAN_H
#define CLV_TESTS_RANDOM_PLAN_H

#include <stdint.h>

#include "schedule/schedule.h"

/* A plan to be freed with clv_plan_free; reduce_scatter has n_segments blocks of n_ranks segments.
 * n_rounds of the wandering part are drawn first, then what is missing is sent, one send a round.
 * The process ends when there is no memory. */
clv_plan_t *clv_random_plan(uint64_t *state, clv_goal_t goal, int32_t n_ranks, int32_t n_segments,
                            int32_t n_rounds);

/* Whether the plan does what its goal says, by the meaning of the words alone: each copy is a bag
 * of contributions; in a round everyone sends at most once and receives at most once, all at the
 * same time, and no segment is sent and received by one rank; a MOVE puts the whole bag into the
 * receiver's, a COPY gives a bag like it to who has an empty one; nobody sends an empty bag. At the
 * end the bags the goal wants have every contribution once (of a broadcast: the root's). O(sends *
 * ranks). */
int clv_plan_is_right(const clv_plan_t *plan);

#endif
