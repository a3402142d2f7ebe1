/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of predictors; see pap_predictors.h.
 */
#include "pap_predict/predict/pap_predictors.h"

#include <stddef.h>

const clv_pap_predictor_ops_t clv_pap_predictors[CLV_PAP_N_PREDICTORS] = {
#define CHOOSER_ROW(stem, columns, text)   {#stem, text, columns, NULL},
#define PREDICTOR_ROW(stem, columns, text) {#stem, text, columns, clv_pap_##stem##_predict},
    CLV_PAP_CHOOSER_MAP(CHOOSER_ROW) CLV_PAP_PURE_PREDICTOR_MAP(PREDICTOR_ROW)
#undef CHOOSER_ROW
#undef PREDICTOR_ROW
};
