/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Simple moving average (the papers' predictor), one pass over the window; and last, which repeats
 * the newest call: the baseline that any other predictor must beat. It follows every change at
 * once, and mistakes all of the newest call's noise for a change.
 */
#include <string.h>

#include "pap_predict/predict/pap_predictors.h"

void clv_pap_last_predict(const clv_pap_history_t *history, int64_t *predicted_ns)
{
    memcpy(predicted_ns, clv_pap_history_row(history, CLV_PAP_ARRIVAL, 0),
           (size_t) clv_pap_history_n_ranks(history) * sizeof *predicted_ns);
}

/* At most 64 rows of at most 2^42: the sum fits. */
void clv_pap_sma_predict(const clv_pap_history_t *history, int64_t *predicted_ns)
{
    int32_t n_rows = clv_pap_history_n_rows(history);
    for (int32_t rank = 0; rank < clv_pap_history_n_ranks(history); rank++) {
        int64_t sum = 0;
        for (int32_t age = 0; age < n_rows; age++) {
            sum += clv_pap_history_row(history, CLV_PAP_ARRIVAL, age)[rank];
        }
        predicted_ns[rank] = sum / n_rows;
    }
}
