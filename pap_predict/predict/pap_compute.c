/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Compute time: a rank arrives when it left the last call plus its computing time between calls.
 *
 * The exit of the newest call is not known when its record set is made, so it is predicted too,
 * from the steadier of two values in the window: the rank's own time in the call (it leaves when
 * its part is done), or its exit after the last arrival (the others release it). Follows ranks that
 * drift apart because a reduce does not hold them together; the averages lag behind those.
 * Cost: three passes over the window.
 */
#include "pap_predict/predict/pap_predictors.h"

typedef struct stat {
    int64_t mean;
    int64_t deviation; /* mean absolute */
} stat_t;

static bool is_known(const clv_pap_history_t *history, int32_t age)
{
    return clv_pap_history_row(history, CLV_PAP_COMPUTE, age)[0] != INT64_MIN;
}

static stat_t column_stat(const clv_pap_history_t *history, clv_pap_column_t column, int32_t rank)
{
    stat_t stat = {0, 0};
    int32_t n_rows = clv_pap_history_n_rows(history);
    int32_t n_known = 0;
    for (int32_t age = 0; age < n_rows; age++) {
        if (is_known(history, age)) {
            stat.mean += clv_pap_history_row(history, column, age)[rank];
            n_known++;
        }
    }
    stat.mean /= n_known;
    for (int32_t age = 0; age < n_rows; age++) {
        if (is_known(history, age)) {
            int64_t off = clv_pap_history_row(history, column, age)[rank] - stat.mean;
            stat.deviation += off < 0 ? -off : off;
        }
    }
    stat.deviation /= n_known;
    return stat;
}

static int32_t count_known(const clv_pap_history_t *history)
{
    int32_t n_known = 0;
    for (int32_t age = 0; age < clv_pap_history_n_rows(history); age++) {
        n_known += is_known(history, age);
    }
    return n_known;
}

static int64_t last_arrival(const clv_pap_history_t *history)
{
    const int64_t *arrival = clv_pap_history_row(history, CLV_PAP_ARRIVAL, 0);
    int64_t last_ns = 0;
    for (int32_t rank = 0; rank < clv_pap_history_n_ranks(history); rank++) {
        last_ns = arrival[rank] > last_ns ? arrival[rank] : last_ns;
    }
    return last_ns;
}

/* The time from one call to the next, mean over the ranks. Needed only if calls are not sampled. */
static int64_t mean_cycle(const clv_pap_history_t *history)
{
    int32_t n_ranks = clv_pap_history_n_ranks(history);
    int64_t sum = 0;
    for (int32_t rank = 0; rank < n_ranks; rank++) {
        sum += column_stat(history, CLV_PAP_COMPUTE, rank).mean +
               column_stat(history, CLV_PAP_IN_MPI, rank).mean;
    }
    return sum / n_ranks;
}

/* Predicts n_calls ahead: a rank that does not wait drifts by its own cycle in each call; one that
 * is held up moves with all others. */
static int64_t predict_rank(const clv_pap_history_t *history, int32_t rank, int64_t last_ns,
                            int64_t cycle_ns)
{
    int64_t arrival_ns = clv_pap_history_row(history, CLV_PAP_ARRIVAL, 0)[rank];
    int64_t n_calls = clv_pap_history_next_call(history) - clv_pap_history_call(history, 0);
    stat_t compute = column_stat(history, CLV_PAP_COMPUTE, rank);
    stat_t in_mpi = column_stat(history, CLV_PAP_IN_MPI, rank);
    stat_t exit = column_stat(history, CLV_PAP_EXIT, rank);
    if (in_mpi.deviation <= exit.deviation) {
        return arrival_ns + n_calls * (in_mpi.mean + compute.mean);
    }
    return last_ns + exit.mean + compute.mean + (n_calls - 1) * cycle_ns;
}

void clv_pap_compute_predict(const clv_pap_history_t *history, int64_t *predicted_ns)
{
    if (count_known(history) < 2) {
        clv_pap_sma_predict(history, predicted_ns);
        return;
    }
    int64_t last_ns = last_arrival(history);
    int64_t n_calls = clv_pap_history_next_call(history) - clv_pap_history_call(history, 0);
    int64_t cycle_ns = n_calls > 1 ? mean_cycle(history) : 0;
    for (int32_t rank = 0; rank < clv_pap_history_n_ranks(history); rank++) {
        predicted_ns[rank] = predict_rank(history, rank, last_ns, cycle_ns);
    }
}
