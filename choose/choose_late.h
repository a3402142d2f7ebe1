/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One rank that surely comes long after all others, in a collective that nobody leaves before it.
 *
 *     others     |work|== wait ====================|==|work|== wait ...
 *     late rank  |----------- work -----------------|==|--------- work
 *                                                   own time
 *
 * What such a program feels of a call is not when it is over, as the others have all the gap for
 * that, but how long the late rank itself is in it: what the others combined lies there when it
 * comes, and what it sends leaves without it. So its own time, with messages that travel early, is
 * what plans are compared by; or when the others leave after that, if the gap is too short for
 * them. Few messages are better then than a short call of many.
 *
 * Not: whether the plan may run at all (choose_guard.h). PURE and private to the decider. Units ns.
 */
#ifndef CLV_CHOOSE_LATE_H
#define CLV_CHOOSE_LATE_H

#include "choose/choose_search.h"

/* Whether there is such a rank, by this forecast (NULL: no): sets search->late_rank, -1 if not. */
void clv_choose_late_find(clv_choose_search_t *search, const clv_pap_forecast_t *forecast);

/* Whether the root of a reduce is predicted to come when all others can nearly be done without it,
 * by half of what the best plan takes when all come at once. */
int clv_choose_late_root(const clv_choose_search_t *search);

/* *cost_p: what the program feels of a call of this plan, whose estimate is after_ns, where there
 * is such a rank. CLV_NO_MEMORY, or a limit that is equal on all ranks. Cost: a replay, 8 bytes per
 * pair of ranks. */
clv_status_t clv_choose_late_cost(const clv_choose_search_t *search, const clv_plan_t *plan,
                                  int64_t after_ns, int64_t *cost_p) CLV_MUST_CHECK;

#endif
