/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A prediction of arrivals that is wrong by a chosen amount, and how wrong it is said to be.
 *
 * What: x[p], the predicted arrival, from the true one:
 *     a percentage e   true + normal of deviation e % of the largest delay, not below 0
 *     random           another draw of the same pattern
 *     reversed         last true arrival - true
 *     equal            all 0
 * and what the chooser's clip rule believes of it: sigma, a factor times the rms of (true - x)
 * about its mean, of the very call.
 * Factor 1 is honest; far below 1 it is the call on which a pattern that was sure has changed.
 *
 * Not: the predictors of pap_predict. Units: ns. The same on every rank. No MPI here.
 */
#ifndef CLV_SIM_PREDICT_H
#define CLV_SIM_PREDICT_H

#include "apps/trace/trace_patterns.h"
#include "apps/bench/sim/sim_options.h"

/* Writes pattern->n_ranks predictions for the iteration whose true delays are given. */
void clv_sim_predict(const clv_sim_options_t *options, const clv_pattern_t *pattern,
                     int64_t iteration, const int64_t *true_ns, int64_t *predicted_ns);

/* The deviation that the clip rule is told, in ns; factor 0: none. */
int64_t clv_sim_sigma(double factor, int n_ranks, const int64_t *true_ns,
                      const int64_t *predicted_ns);

#endif
