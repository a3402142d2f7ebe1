/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The errors of predictions made before their calls, and sigma; see pap_history.h.
 */
#include "pap_predict/predict/pap_history_parts.h"

#include <string.h>

/* The rms error relative to the call's mean; errors by rank are left in scratch_ns. */
static int64_t error_of(clv_pap_history_t *history, const int64_t *predicted_ns,
                        const int64_t *arrival_ns)
{
    int64_t *error_ns = history->scratch_ns;
    for (int32_t rank = 0; rank < history->n_ranks; rank++) {
        error_ns[rank] = arrival_ns[rank] - predicted_ns[rank];
    }
    clv_pap_subtract_mean(error_ns, history->n_ranks);
    return clv_pap_rms(error_ns, history->n_ranks);
}

/* Judges all predictors by the same call: the one with the least error makes the next
 * prediction. */
static void judge_rivals(clv_pap_history_t *history, const int64_t *arrival_ns)
{
    int64_t error_ns[CLV_PAP_N_PREDICTORS] = {0};
    for (int i = 0; i < CLV_PAP_N_PREDICTORS; i++) {
        if (i != clv_pap_predictor_best) {
            const int64_t *predicted_ns = clv_pap_history_said(history, (clv_pap_predictor_t) i);
            error_ns[i] = error_of(history, predicted_ns, arrival_ns);
        }
    }
    clv_pap_follow_judge(&history->best, error_ns);
}

/* Judges the predictor, even if hints were used instead. */
static void judge_own(clv_pap_history_t *history, const int64_t *arrival_ns)
{
    if (!history->has_own) {
        return;
    }
    if (history->predictor == clv_pap_predictor_best) {
        judge_rivals(history, arrival_ns);
    }
    history->blind_error_ns = clv_pap_moving_average(
        history->blind_error_ns, error_of(history, history->own_ns, arrival_ns));
}

void clv_pap_history_judge(clv_pap_history_t *history, const int64_t *arrival_ns)
{
    const int64_t *error_ns = history->scratch_ns;
    judge_own(history, arrival_ns);
    if (!history->has_prediction) {
        return;
    }
    history->newest_error_ns = error_of(history, history->prediction_ns, arrival_ns);
    history->worst_error_ns = clv_pap_largest_magnitude(error_ns, history->n_ranks);
    history->mean_error_ns = clv_pap_mean_magnitude(error_ns, history->n_ranks);
    history->error_ns[history->next_error] = history->newest_error_ns;
    history->next_error = (history->next_error + 1) % history->window;
    history->n_errors += history->n_errors < history->window;
}

/* The rms over the window, raised by 1/n since n is small, and at least the newest error: trusting
 * a prediction too much costs far more than trusting it too little. */
static int64_t judged_sigma(const clv_pap_history_t *history)
{
    int64_t mean_ns = clv_pap_rms(history->error_ns, history->n_errors);
    int64_t sigma_ns = mean_ns + mean_ns / history->n_errors;
    return sigma_ns > history->newest_error_ns ? sigma_ns : history->newest_error_ns;
}

/* Before anything was judged, a prediction is as uncertain as the spread that it predicts. */
static int64_t unjudged_sigma(clv_pap_history_t *history)
{
    int64_t *deviation_ns = history->scratch_ns;
    memcpy(deviation_ns, history->prediction_ns, (size_t) history->n_ranks * sizeof *deviation_ns);
    clv_pap_subtract_mean(deviation_ns, history->n_ranks);
    history->worst_error_ns = clv_pap_largest_magnitude(deviation_ns, history->n_ranks);
    return 2 * clv_pap_rms(deviation_ns, history->n_ranks);
}

int64_t clv_pap_history_sigma(clv_pap_history_t *history, int64_t clock_error_ns)
{
    int64_t sigma_ns = history->n_errors > 0 ? judged_sigma(history) : unjudged_sigma(history);
    return sigma_ns > clock_error_ns ? sigma_ns : clock_error_ns;
}
