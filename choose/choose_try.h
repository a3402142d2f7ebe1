/* SPDX-License-Identifier: BSD-3-Clause
 *
 * When the previous function is tried: at a bounded rate, so that nobody pays much for finding out
 * that he would not have wanted it.
 *
 * Half a percent of a stream's time may be lost to trying. A trial begins, after the first calls
 * and never in them, when that budget covers what its first measured calls are expected to lose,
 * goes on for a block of calls, and ends early when the budget is used up. What its calls took
 * longer than the plan they replaced is counted: the stream's regret.
 *
 * Not: what is taken after it (choose.c, by the records that the trial left).
 * PURE and private to the decider. Units ns. Cost: a few numbers per forecast.
 */
#ifndef CLV_CHOOSE_TRY_H
#define CLV_CHOOSE_TRY_H

#include "choose/choose_score.h"

#define CLV_CHOOSE_TRY_BUDGET_PERMILLE 5
#define CLV_CHOOSE_TRY_FIRST_CALLS     20 /* nothing is tried in them */
#define CLV_CHOOSE_TRY_BLOCK_CALLS     10 /* of a trial */

/* Takes in a new forecast's time and what it says about a call of a trial; before clv_choose_learn.
 */
void clv_choose_try_account(clv_choose_state_t *state, const clv_pap_forecast_t *forecast);

/* Whether the previous function runs next only to be measured: a trial that is under way, or one
 * that begins now. best_ns: what is expected of the plan that would run instead; previous_ns: of
 * the previous function; both as clv_choose_score has them. */
int clv_choose_try_previous(clv_choose_state_t *state, const clv_pap_forecast_t *forecast,
                            int64_t best_ns, int64_t previous_ns);

/* Whether the previous function's record is young enough to be chosen by. */
int clv_choose_try_knows(const clv_choose_state_t *state);

#endif
