/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random plans of any goal for tests: valid by construction, with relays that no generator uses:
 * parts that move on and come back, copies forwarded by any holder, moves of complete segments.
 * Also an oracle that follows every single contribution, without weights.
 *
 * Sizes: at most 64 ranks. Reproducible from the state. Thread-safe on distinct arguments.
 */
#ifndef CLV_TESTS_RANDOM_PLAN_H
#define CLV_TESTS_RANDOM_PLAN_H

#include <stdint.h>

#include "schedule/schedule.h"

/* Returns a plan, to be freed with clv_plan_free; reduce_scatter has n_segments blocks of n_ranks
 * segments. First draws n_rounds of random sends, then completes the plan, one send per round. Ends
 * the process if memory is short. */
clv_plan_t *clv_random_plan(uint64_t *state, clv_goal_t goal, int32_t n_ranks, int32_t n_segments,
                            int32_t n_rounds);

/* Whether the plan reaches its goal, by the definitions alone. Each copy is a bag of contributions.
 * In a round every rank sends at most once and receives at most once, all at the same time, and no
 * rank sends and receives the same segment. A MOVE adds the whole bag to the receiver's; a COPY
 * gives an equal bag to a rank with an empty one; an empty bag is never sent. At the end, the bags
 * that the goal requires have every contribution once (for a broadcast: the root's). O(sends *
 * ranks). */
int clv_plan_is_right(const clv_plan_t *plan);

#endif
