/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Corrects estimates by measured calls (see choose_score.h).
 */
#include "choose/choose_score.h"

int64_t clv_choose_cost(const clv_choose_config_t *config, int64_t after_ns, int64_t in_mpi_ns)
{
    int64_t cost_ns;

    after_ns = clv_larger(after_ns, 0);
    in_mpi_ns = clv_larger(in_mpi_ns, 0);
    cost_ns = config->objective == CLV_OBJECTIVE_AFTER ? after_ns
              : config->objective == CLV_OBJECTIVE_MPI_TIME
                  ? in_mpi_ns
                  : after_ns + in_mpi_ns / CLV_POLICY_IN_MPI_WEIGHT;
    return clv_smaller(cost_ns, CLV_CHOOSE_SCORE_CEILING_NS);
}

/* The factor for plans that were never measured: that of the running plan, else the lowest of those
 * measured. If only one was measured, it did badly and does not run any more: half of its deviation
 * counts, since its order may not suit these arrivals. */
static int64_t ratio_of_plans(const clv_choose_state_t *state)
{
    int64_t least = 1000;
    int n_known = 0;

    if (state->running != CLV_ALGORITHM_PREVIOUS && state->score[state->running].n_measured > 0) {
        return state->score[state->running].ratio_permille;
    }
    for (int32_t a = 0; a < CLV_N_ALGORITHMS; a++) {
        const clv_choose_score_t *score = &state->score[a];
        if (a != CLV_ALGORITHM_PREVIOUS && score->n_measured > 0) {
            least =
                n_known == 0 ? score->ratio_permille : clv_smaller(least, score->ratio_permille);
            n_known++;
        }
    }
    return n_known == 1 ? (least + 1000) / 2 : least;
}

/* Measured / estimated time. An algorithm without a measurement is presumed to do no better than
 * the measured plans: a model that flatters all plans, or a first call that had to connect, is no
 * reason to try the others. The previous function uses the same links, so it also gains where they
 * are faster than calibrated; but slow plans do not make it slow. */
static int64_t ratio_of(const clv_choose_state_t *state, int32_t algorithm)
{
    const clv_choose_score_t *score = &state->score[algorithm];

    if (score->n_measured > 0) {
        return score->ratio_permille;
    }
    return clv_larger(algorithm == CLV_ALGORITHM_PREVIOUS ? clv_smaller(ratio_of_plans(state), 1000)
                                                          : ratio_of_plans(state),
                      CLV_POLICY_PRESUMED_PERMILLE);
}

int64_t clv_choose_score(const clv_choose_config_t *config, const clv_choose_state_t *state,
                         int32_t algorithm, int64_t after_ns, int64_t in_mpi_ns)
{
    return clv_choose_cost(config, after_ns, in_mpi_ns) / 1000 *
           (state == NULL ? 1000 : ratio_of(state, algorithm));
}

/* The newest record set measures the call before it. That call ran by the forecast two versions
 * earlier or, if that one announced a change, by the next. */
static const clv_choose_decision_t *measured_decision(const clv_choose_state_t *state,
                                                      const clv_pap_forecast_t *forecast)
{
    const clv_choose_decision_t *waited_for =
        &state->made[(forecast->version - 2) % CLV_CHOOSE_RING];

    return waited_for->announced ? &state->made[(forecast->version - 1) % CLV_CHOOSE_RING]
                                 : waited_for;
}

/* A moving average. A plan's first call had to connect, so a faster second one replaces it. Later,
 * a slower call counts only up to the ratio of the call before: a single disturbed call must not
 * decide. */
static int64_t new_ratio(const clv_choose_score_t *score, int64_t ratio)
{
    if (score->n_measured == 0 || (score->n_measured == 1 && ratio < score->ratio_permille)) {
        return ratio;
    }
    ratio = clv_smaller(ratio, clv_larger(score->newest_permille, score->ratio_permille));
    return (3 * score->ratio_permille + ratio) / 4;
}

const clv_choose_decision_t *clv_choose_measured(const clv_choose_state_t *state,
                                                 const clv_pap_forecast_t *forecast)
{
    const clv_choose_decision_t *made;

    if (forecast->version <= 2 || forecast->previous_after_ns < 0) {
        return NULL; /* the first call set up connections and says nothing about later ones */
    }
    made = measured_decision(state, forecast);
    return made->algorithm == forecast->previous_choice ? made : NULL;
}

/* For a call without a forecast, the time in MPI was predicted for equal arrivals, so it is not
 * compared. */
static int64_t comparable_cost(const clv_choose_config_t *config, const clv_choose_decision_t *made,
                               int64_t after_ns, int64_t in_mpi_ns)
{
    return clv_choose_cost(config, after_ns, made->is_blind ? 0 : in_mpi_ns);
}

static void learn_from(const clv_choose_config_t *config, clv_choose_state_t *state,
                       const clv_pap_forecast_t *forecast)
{
    const clv_choose_decision_t *made = clv_choose_measured(state, forecast);
    const int64_t in_mpi_ns =
        clv_smaller(forecast->previous_in_mpi_ns, CLV_CHOOSE_SCORE_CEILING_NS);
    clv_choose_score_t *score;
    int64_t predicted;
    int64_t ratio;

    if (made == NULL || (made->is_blind && config->objective == CLV_OBJECTIVE_MPI_TIME)) {
        return;
    }
    score = &state->score[made->algorithm];
    predicted = comparable_cost(config, made, made->predicted_after_ns, made->predicted_in_mpi_ns);
    predicted = clv_larger(predicted / 1000, 1);
    ratio =
        comparable_cost(config, made, forecast->previous_after_ns, forecast->previous_in_mpi_ns) /
        predicted;
    ratio = clv_larger(clv_smaller(ratio, CLV_CHOOSE_RATIO_MAX_PERMILLE), 1);
    score->ratio_permille = new_ratio(score, ratio);
    score->newest_permille = ratio;
    score->in_mpi_ns = score->n_measured == 0
                           ? in_mpi_ns
                           : score->in_mpi_ns - score->in_mpi_ns / 4 + in_mpi_ns / 4;
    score->n_measured++;
    score->idle_forecasts = 0;
}

/* A single bad measurement may be bad luck: after a while the plan counts as unknown again. */
static void forget_single_calls(clv_choose_state_t *state)
{
    for (int c = 0; c < CLV_N_ALGORITHMS; c++) {
        clv_choose_score_t *score = &state->score[c];
        score->idle_forecasts++;
        if (c != CLV_ALGORITHM_PREVIOUS && score->n_measured == 1 &&
            score->idle_forecasts >= CLV_POLICY_AGAIN_FORECASTS) {
            score->n_measured = 0;
        }
    }
}

/* How long after all other ranks the last one is predicted to arrive; 0 in a forecast without
 * ranks. */
static int64_t gap_of(const clv_pap_forecast_t *forecast)
{
    int64_t last = 0, before = 0;

    for (int32_t p = 0; p < forecast->n_ranks; p++) {
        const int64_t ns = forecast->predicted_ns[p];
        before = clv_larger(before, clv_smaller(ns, last));
        last = clv_larger(last, ns);
    }
    return last - before;
}

/* Right if twice the worst error is below the predicted gap: then no other rank can have been
 * last. */
static void judge_last(clv_choose_state_t *state, const clv_pap_forecast_t *forecast)
{
    if (forecast->mean_error_ns >= 0) {
        const bool is_right = forecast->worst_error_ns < (state->last_gap_ns + 1) / 2;
        state->last_right = is_right ? state->last_right + (state->last_right < INT32_MAX) : 0;
    }
    state->last_gap_ns = gap_of(forecast);
}

void clv_choose_learn(const clv_choose_config_t *config, clv_choose_state_t *state,
                      const clv_pap_forecast_t *forecast, bool judges)
{
    if (judges) {
        learn_from(config, state, forecast);
        forget_single_calls(state);
    }
    judge_last(state, forecast);
}
