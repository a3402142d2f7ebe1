/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The guard: a bound on how late a plan may end if every prediction is wrong.
 *
 * A plan runs its steps in a fixed order, so each of its completion times is a maximum of sums of
 * arrivals and durations: if every rank arrives when the last one does, nothing ends earlier. So
 * after(plan, any arrivals) <= after(plan, equal arrivals), one number known before the plan runs.
 * `auto` takes only plans for which that number is within (1 + coll_clv_guard_permille / 1000)
 * times that of the best plan that needs no forecast.
 *
 * Plans whose loss is bounded by their shape (needs times 2) may take more, as long as the rank
 * predicted to come last did so in each of the last CLV_POLICY_SURE_SETS judged calls: half the
 * share for each of these calls and for two more.
 *
 * Not: the choice among the plans that pass. The proof is about the model of sched_cost.h.
 * PURE and private to the decider. Units ns. Cost: one search over equal arrivals per stream and
 * length, one replay per candidate that would become the best.
 */
#ifndef CLV_CHOOSE_GUARD_H
#define CLV_CHOOSE_GUARD_H

#include <stdbool.h>

#include "choose/choose_search.h"

/* Sets search->limit_ns: how long after the last arrival any of its plans may end in the worst
 * case; 0: no limit, because the algorithm is forced or nothing is being decided. The state keeps
 * the plan that the limit is derived from. CLV_NO_MEMORY. */
clv_status_t clv_choose_guard_limit(clv_choose_search_t *search) CLV_MUST_CHECK;

/* *passes_p: whether the algorithm's plan stays within the limit for any arrivals.
 * CLV_NO_MEMORY. */
clv_status_t clv_choose_guard_check(const clv_choose_search_t *search, int32_t algorithm,
                                    const clv_choose_subject_t *subject,
                                    bool *passes_p) CLV_MUST_CHECK;

#endif
