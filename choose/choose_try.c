/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Trying the previous function at a bounded rate (see choose_try.h).
 */
#include "choose/choose_try.h"

/* Run before the first of them is measured: a forecast tells of the one before last. */
#define PROBE_CALLS     3
#define STALE_FORECASTS 64 /* a record that old is tried again */

void clv_choose_try_account(clv_choose_state_t *state, const clv_pap_forecast_t *forecast)
{
    clv_choose_trial_t *trial = &state->trial;
    const clv_choose_decision_t *measured = clv_choose_measured(state, forecast);
    const int64_t n_calls = clv_larger(forecast->sample_every, 1);
    const int64_t interval_ns =
        clv_smaller(clv_larger(forecast->interval_ns, 0), CLV_CHOOSE_SCORE_CEILING_NS);
    int64_t loss_ns;

    trial->budget_ns =
        clv_smaller(trial->budget_ns + interval_ns / 1000 * CLV_CHOOSE_TRY_BUDGET_PERMILLE,
                    CLV_CHOOSE_SCORE_CEILING_NS);
    if (measured == NULL || measured->reason != CLV_REASON_TRYING) {
        return;
    }
    loss_ns = clv_choose_cost(forecast->previous_after_ns, forecast->previous_in_mpi_ns) -
              trial->instead_ns;
    loss_ns = clv_smaller(clv_larger(loss_ns, 0), CLV_CHOOSE_SCORE_CEILING_NS / n_calls) * n_calls;
    trial->budget_ns -= loss_ns;
    trial->regret_ns = clv_smaller(trial->regret_ns, INT64_MAX - loss_ns) + loss_ns;
}

static int may_begin(const clv_choose_state_t *state, const clv_pap_forecast_t *forecast,
                     int64_t best_ns, int64_t previous_ns)
{
    const int64_t n_calls = clv_larger(PROBE_CALLS, PROBE_CALLS * (int64_t) forecast->sample_every);
    const int64_t loss_ns =
        clv_smaller(clv_larger(previous_ns - best_ns, 0), CLV_CHOOSE_SCORE_CEILING_NS / n_calls);

    return forecast->version > CLV_CHOOSE_TRY_FIRST_CALLS && state->trial.budget_ns > 0 &&
           loss_ns * n_calls <= state->trial.budget_ns && !clv_choose_try_knows(state);
}

int clv_choose_try_previous(clv_choose_state_t *state, const clv_pap_forecast_t *forecast,
                            int64_t best_ns, int64_t previous_ns)
{
    clv_choose_trial_t *trial = &state->trial;
    const int32_t every = forecast->sample_every > 1 ? forecast->sample_every : 1;

    if (trial->forecasts_left == 0 && may_begin(state, forecast, best_ns, previous_ns)) {
        trial->forecasts_left =
            (int32_t) clv_larger((CLV_CHOOSE_TRY_BLOCK_CALLS + every - 1) / every, PROBE_CALLS);
        trial->instead_ns = best_ns;
        state->score[CLV_ALGORITHM_PREVIOUS].idle_forecasts = 0;
    }
    if (trial->forecasts_left == 0 || trial->budget_ns < 0) {
        trial->forecasts_left = 0;
        return 0;
    }
    trial->forecasts_left--;
    return 1;
}

int clv_choose_try_knows(const clv_choose_state_t *state)
{
    const clv_choose_score_t *score = &state->score[CLV_ALGORITHM_PREVIOUS];
    return score->n_measured > 0 && score->idle_forecasts < STALE_FORECASTS;
}
