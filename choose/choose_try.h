/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The incumbent, and trials of other choices. Estimates say which trials are worth their cost. The
 * iteration time of a trial's own blocks, compared with those before, says whether it paid.
 *
 *      no incumbent     ... runs ...    | trial: 1 block, 2 more if it is good | runs ...
 *      by estimates      its time       |   better: it wins    no: waits       |
 *
 * Trials lose less than half a percent of a stream's time, not counting pauses of the program, and
 * nothing in its first calls. A trial begins when that budget covers its first calls' expected
 * loss, and ends early when it is used up. The time by which its calls exceed those before is the
 * stream's regret. After a loss an algorithm waits, each time twice as long, until the program
 * changes.
 *
 * Not: blocks and iteration times (choose_iterations.h), nor estimates (choose_score.h).
 * PURE and private to the decider. Units ns. Errors: none. Memory: none. Thread-safe on distinct
 * states. Cost: a few numbers per forecast.
 */
#ifndef CLV_CHOOSE_TRY_H
#define CLV_CHOOSE_TRY_H

#include <stdbool.h>

#include "choose/choose_iterations.h"
#include "choose/choose_search.h"

/* Calls before the first trial: two blocks of the incumbent. */
#define CLV_CHOOSE_FIRST_CALLS (2 * CLV_POLICY_BLOCK_CALLS)

/* Takes in what a new forecast says about the calls before it; before clv_choose_learn. */
void clv_choose_try_account(const clv_choose_config_t *config, const clv_pap_forecast_t *forecast,
                            const clv_pap_progress_t *progress,
                            clv_choose_iterations_t *iterations);

/* Whether the iteration time decides: there is an incumbent, and it has been measured. */
bool clv_choose_try_has_incumbent(const clv_choose_iterations_t *iterations);

/* Sets the incumbent while nothing has been measured: it runs by its estimate. */
void clv_choose_try_set_incumbent(clv_choose_iterations_t *iterations, int32_t algorithm);

/* Begins a trial if one is due; ends one whose algorithm has no plan any more. */
void clv_choose_try_next(const clv_choose_search_t *search, const clv_pap_forecast_t *forecast);

/* Whether estimates alone may choose it: never a plan that synchronises the ranks, and none that
 * depends on arrivals if ranks are decoupled. */
bool clv_choose_try_may_guess(const clv_choose_config_t *config,
                              const clv_choose_iterations_t *iterations,
                              const clv_pap_forecast_t *forecast, int32_t algorithm);

#endif
