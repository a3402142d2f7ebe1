/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Periodic patterns: if calls n and n - k are clearly more alike than neighbours are, the next call
 * is predicted from the calls of the same phase; otherwise by the moving average.
 * Cost: (window^2 / 4) passes over the ranks.
 */
#include "pap_predict/predict/pap_predictors.h"

#define MIN_PAIRS 2 /* one coincidence is no period */

/* Mean absolute difference of two calls, each relative to its mean. */
static int64_t difference(const clv_pap_history_t *history, int32_t age_a, int32_t age_b)
{
    int32_t n_ranks = clv_pap_history_n_ranks(history);
    const int64_t *a = clv_pap_history_row(history, CLV_PAP_ARRIVAL, age_a);
    const int64_t *b = clv_pap_history_row(history, CLV_PAP_ARRIVAL, age_b);
    int64_t sum = 0;
    int64_t mean = 0;
    for (int32_t rank = 0; rank < n_ranks; rank++) {
        mean += a[rank] - b[rank];
    }
    mean /= n_ranks;
    for (int32_t rank = 0; rank < n_ranks; rank++) {
        int64_t deviation = a[rank] - b[rank] - mean;
        sum += deviation < 0 ? -deviation : deviation;
    }
    return sum / n_ranks;
}

/* The next older call at the same phase, -1 for none. */
static int32_t older_in_phase(const clv_pap_history_t *history, int32_t age, int32_t period)
{
    int64_t call = clv_pap_history_call(history, age);
    for (int32_t older = age + 1; older < clv_pap_history_n_rows(history); older++) {
        if ((call - clv_pap_history_call(history, older)) % period == 0) {
            return older;
        }
    }
    return -1;
}

/* How much calls at the same phase differ; INT64_MAX: too few to tell. */
static int64_t misfit(const clv_pap_history_t *history, int32_t period)
{
    int64_t sum = 0;
    int32_t n_pairs = 0;
    for (int32_t age = 0; age < clv_pap_history_n_rows(history); age++) {
        int32_t older = older_in_phase(history, age, period);
        if (older >= 0) {
            sum += difference(history, age, older);
            n_pairs++;
        }
    }
    return n_pairs < MIN_PAIRS ? INT64_MAX : sum / n_pairs;
}

/* A longer period must fit twice as well, so that noise does not look like one. */
static int32_t find_period(const clv_pap_history_t *history)
{
    int32_t best_period = 1;
    int64_t best = misfit(history, 1);
    for (int32_t period = 2; period <= clv_pap_history_n_rows(history) / 2; period++) {
        int64_t candidate = misfit(history, period);
        if (candidate < best / 2) {
            best = candidate;
            best_period = period;
        }
    }
    return best_period;
}

static int64_t phase_mean(const clv_pap_history_t *history, int32_t period, int32_t rank,
                          int32_t *n_p)
{
    int64_t next = clv_pap_history_next_call(history);
    int64_t sum = 0;
    int32_t n = 0;
    for (int32_t age = 0; age < clv_pap_history_n_rows(history); age++) {
        if ((next - clv_pap_history_call(history, age)) % period == 0) {
            sum += clv_pap_history_row(history, CLV_PAP_ARRIVAL, age)[rank];
            n++;
        }
    }
    *n_p = n;
    return n == 0 ? 0 : sum / n;
}

void clv_pap_periodic_predict(const clv_pap_history_t *history, int64_t *predicted_ns)
{
    int32_t period = find_period(history);
    int32_t n = 0;
    for (int32_t rank = 0; rank < clv_pap_history_n_ranks(history) && period > 1; rank++) {
        predicted_ns[rank] = phase_mean(history, period, rank, &n);
    }
    if (n == 0) { /* no period, or no known call at the next phase */
        clv_pap_sma_predict(history, predicted_ns);
    }
}
