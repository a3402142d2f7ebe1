/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which predictor `best` follows: the one with the least error over the last calls, each judged by
 * its prediction before the call. Private to the pap_predict module and its tests.
 *
 * Integers and table order only, so every host follows the same one. It switches only for an error
 * clearly smaller than that of the predictor it follows. Otherwise two equally good ones would take
 * turns, and each turn makes new plans.
 *
 * Not: the error of what was announced. That is the forecast's sigma, which is independent of this.
 * Memory: the struct, no pointers. Cost: predictors x CLV_PAP_FOLLOW_JUDGED per call.
 */
#ifndef CLV_PAP_FOLLOW_H
#define CLV_PAP_FOLLOW_H

#include <stdint.h>

#include "pap_predict/predict/pap_predictors.h"

#define CLV_PAP_FOLLOW_JUDGED 16 /* newest calls that are compared */

typedef struct clv_pap_follow {
    clv_pap_predictor_t followed; /* never clv_pap_predictor_best itself */
    int32_t n_judged;             /* at most CLV_PAP_FOLLOW_JUDGED */
    int32_t next;
    int64_t error_ns[CLV_PAP_N_PREDICTORS][CLV_PAP_FOLLOW_JUDGED]; /* row of `best`: unused */
} clv_pap_follow_t;

void clv_pap_follow_begin(clv_pap_follow_t *best);

/* error_ns[predictor]: rms over the ranks of the newest call, 0 .. 2^43. */
void clv_pap_follow_judge(clv_pap_follow_t *best, const int64_t *error_ns);

#endif
