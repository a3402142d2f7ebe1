/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From complete record sets to forecasts: the deterministic integer function. Private to the
 * pap_predict module and to the tools.
 *
 * A history is what one slot remembers: up to `window` calls, the errors of past predictions, the
 * outstanding prediction. Fed with every record set in order, it is equal on every host. A record
 * set of a new generation clears it.
 *
 * Cost per record set: a few passes over window * ranks; for `best`, the sum of all predictors.
 *
 * Units: int64 ns.
 * Errors: CLV_INVALID, CLV_NO_MEMORY at create; feeding cannot fail.
 * Memory: at create, (columns * window + predictions + 2) * 8 bytes per rank; columns 1, or 4 for
 *   a predictor with all_columns; predictions 1, or one per predictor for `best`. predicted_ns is
 *   the caller's.
 * Threads: one at a time per history.
 */
#ifndef CLV_PAP_HISTORY_H
#define CLV_PAP_HISTORY_H

#include <stdint.h>

#include "pap_predict/pap_predict.h"
#include "pap_predict/predict/pap_numbers.h"
#include "pap_predict/predict/pap_predictors.h"
#include "pap_predict/agree/pap_record_set.h"
#include "util/util_status.h"

#define CLV_PAP_LATENCIES_PER_SAMPLE 3 /* K calls take at least so many exchange latencies ... */
#define CLV_PAP_SAMPLE_NS            500000 /* ... and at least so long */

clv_status_t clv_pap_history_create(int32_t n_ranks, int32_t window, clv_pap_predictor_t predictor,
                                    clv_pap_history_t **history_p) CLV_MUST_CHECK;
void clv_pap_history_free(clv_pap_history_t *history);

/* For whoever feeds every call, whatever the forecasts say of sampling: they will say 1. */
void clv_pap_history_take_all_calls(clv_pap_history_t *history);

/* Takes the slot's next record set and writes the forecast that follows it; forecast->predicted_ns
 * points to predicted_ns, the caller's array of n_ranks items, filled here. forecast->version is
 * set->sequence + 1. */
void clv_pap_history_feed(clv_pap_history_t *history, const clv_pap_record_set_t *set,
                          clv_pap_forecast_t *forecast, int64_t *predicted_ns);

/* The slot's next n record sets never come. */
void clv_pap_history_feed_void(clv_pap_history_t *history, int64_t n);

/* How far the program has come by the newest set fed; valid until the next. */
const clv_pap_progress_t *clv_pap_history_progress(const clv_pap_history_t *history);

#endif
