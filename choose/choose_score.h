/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A candidate's score: its estimate times the correction from measured calls of its kind.
 * PURE and private to the decider; units ns.
 *
 * Not: estimates (sched_cost.h), nor the choice between scores (choose.c).
 */
#ifndef CLV_CHOOSE_SCORE_H
#define CLV_CHOOSE_SCORE_H

#include <stdbool.h>

#include "choose/choose.h"

#include "util/util_min_max.h"

#define CLV_CHOOSE_RATIO_MAX_PERMILLE 100000
#define CLV_CHOOSE_SCORE_CEILING_NS                                                                \
    (INT64_MAX / CLV_CHOOSE_RATIO_MAX_PERMILLE) /* of an estimate \
                                                                                   */

/* The score of a choice that is estimated to end after_ns after the last arrival, with in_mpi_ns in
 * MPI on average. state NULL: no experience. */
int64_t clv_choose_score(const clv_choose_config_t *config, const clv_choose_state_t *state,
                         int32_t algorithm, int64_t after_ns, int64_t in_mpi_ns);

/* after_ns and in_mpi_ns, weighted by the objective. */
int64_t clv_choose_cost(const clv_choose_config_t *config, int64_t after_ns, int64_t in_mpi_ns);

/* The decision of the call that this forecast measures; NULL: it measures none. */
const clv_choose_decision_t *clv_choose_measured(const clv_choose_state_t *state,
                                                 const clv_pap_forecast_t *forecast);

/* Learns from a new forecast about the calls before it, before deciding for it: measured times if
 * it judges a call of this state's key, and whether the last rank was the predicted one. */
void clv_choose_learn(const clv_choose_config_t *config, clv_choose_state_t *state,
                      const clv_pap_forecast_t *forecast, bool judges);

#endif
