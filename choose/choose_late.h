/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One rank that surely arrives long after all others, in a collective that no rank leaves before
 * it.
 *
 *     others     |work|== wait ====================|==|work|== wait ...
 *     late rank  |----------- work -----------------|==|--------- work
 *                                                   own time
 *
 * The end of the call does not matter to such a program, because the others have the whole gap to
 * finish. What matters is the late rank's own time in the call: the others' result is ready when it
 * arrives, and its messages leave without it. So plans are compared by that time, with messages
 * that travel early, or by the time at which the others leave if the gap is too short for them.
 * Then a plan with few messages beats a shorter call with many.
 *
 * Not: whether the plan may run at all (choose_guard.h). PURE and private to the decider. Units ns.
 */
#ifndef CLV_CHOOSE_LATE_H
#define CLV_CHOOSE_LATE_H

#include <stdbool.h>

#include "choose/choose_search.h"

/* Finds the late rank, if this forecast has one (NULL: it has not): sets search->late_rank, -1 if
 * not. */
void clv_choose_late_find(clv_choose_search_t *search, const clv_pap_forecast_t *forecast);

/* Whether one rank is far late for the algorithm's form for that: in an allreduce the late rank; in
 * a reduce the root, if all others can nearly be done without it: it is later than they by half of
 * what the best plan takes for equal arrivals. */
bool clv_choose_late_is_far(const clv_choose_search_t *search, int32_t algorithm);

/* *cost_p: what a call of this plan, whose estimate is after_ns, costs the program if there is a
 * late rank. CLV_NO_MEMORY, or a limit that is equal on all ranks. Cost: a replay, and 8 bytes per
 * pair of ranks. */
clv_status_t clv_choose_late_cost(const clv_choose_search_t *search, const clv_plan_t *plan,
                                  int64_t after_ns, int64_t *cost_p) CLV_MUST_CHECK;

#endif
