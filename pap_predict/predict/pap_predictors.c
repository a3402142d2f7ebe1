/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of predictors; see pap_predictors.h.
 */
#include "pap_predict/predict/pap_predictors.h"

const clv_pap_predictor_ops_t clv_pap_predictors[CLV_PAP_N_PREDICTORS] = {
#define PREDICTOR_ROW(stem, columns, text) {#stem, text, columns, clv_pap_##stem##_predict},
    CLV_PAP_PREDICTOR_MAP(PREDICTOR_ROW)
#undef PREDICTOR_ROW
};
