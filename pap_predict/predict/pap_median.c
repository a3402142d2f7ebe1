/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Median of the window, rank by rank: single calls disturbed by the system do not move it.
 * Cost: an insertion sort of the window per rank.
 */
#include "pap_predict/pap_predict.h"
#include "pap_predict/predict/pap_predictors.h"
#include "util/util_min_max.h"

void clv_pap_median_predict(const clv_pap_history_t *history, int64_t *predicted_ns)
{
    int64_t sorted[CLV_PAP_MAX_WINDOW];
    int32_t n_rows = clv_pap_history_n_rows(history);
    for (int32_t rank = 0; rank < clv_pap_history_n_ranks(history); rank++) {
        for (int32_t age = 0; age < n_rows; age++) {
            int64_t value = clv_pap_history_row(history, CLV_PAP_ARRIVAL, age)[rank];
            clv_insert_sorted(sorted, age, value);
        }
        int64_t below = sorted[(n_rows - 1) / 2];
        predicted_ns[rank] = below + (sorted[n_rows / 2] - below) / 2;
    }
}
