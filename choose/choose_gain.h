/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The program's gain from the choice, by measurements, never by estimates.
 *
 *     incumbent: a plan      |= iteration =| trial of the previous function |= iteration =|
 *                                           the time of those calls, against as many of the
 *                                           iteration time before them
 *     incumbent: previous    |= iteration =| trial of a plan ... it wins: incumbent
 *
 * In both cases the two ran in the same program, side by side. The same ratio is applied to the
 * plan's other intervals; the gain of a plan that was never compared is unknown. The intervals
 * include the losses of trials.
 *
 * Not: the consequences of a trial (choose_try.h), and the wording (choose_verdict.h).
 * PURE. Units ns; a call's time is that which coll_clv_objective names. Errors: none. Memory: none.
 * Thread-safe on distinct states. Cost: a few numbers per forecast.
 */
#ifndef CLV_CHOOSE_GAIN_H
#define CLV_CHOOSE_GAIN_H

#include "choose/choose_iterations.h"

/* Takes in an interval before it is judged. */
void clv_choose_gain_look(clv_choose_iterations_t *iterations,
                          const clv_choose_interval_t *interval);

/* A stream's gain so far. */
clv_choose_gains_t clv_choose_gain_sum(const clv_choose_iterations_t *iterations);

#endif
