/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Exponentially weighted average over the window: each older call weighs 3/4 of the next.
 * Follows a change faster than the moving average and is noisier. Cost: one pass over the window.
 */
#include "pap_predict/predict/pap_predictors.h"

#define FRACTION_BITS 8 /* 2^42 << 8 and differences of such numbers fit */
#define NEWEST_PART   4 /* the newest call weighs 1 / NEWEST_PART */

void clv_pap_ewma_predict(const clv_pap_history_t *history, int64_t *predicted_ns)
{
    int32_t oldest = clv_pap_history_n_rows(history) - 1;
    for (int32_t rank = 0; rank < clv_pap_history_n_ranks(history); rank++) {
        int64_t scale = INT64_C(1) << FRACTION_BITS;
        int64_t mean = clv_pap_history_row(history, CLV_PAP_ARRIVAL, oldest)[rank] * scale;
        for (int32_t age = oldest - 1; age >= 0; age--) {
            int64_t value = clv_pap_history_row(history, CLV_PAP_ARRIVAL, age)[rank] * scale;
            mean += (value - mean) / NEWEST_PART;
        }
        predicted_ns[rank] = mean / scale;
    }
}
