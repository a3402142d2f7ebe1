/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether hints are worth waiting for; see pap_history.h.
 *
 * A forecast from hints is there one exchange after the last hint. A rank that arrives earlier
 * waits, which costs its time and, beyond the last arrival, that of all ranks. Without hints no
 * rank waits, but plans are wrong by the predictor's error, which costs about its own size.
 */
#include "pap_predict/predict/pap_history_parts.h"

#define AFTER_WEIGHT  8 /* all ranks wait for the last one; the chooser uses the same weight */
#define SLOW_EXCHANGE 4 /* a wait for hints counts as at most this many predictor errors */

bool clv_pap_record_set_is_reported(const clv_pap_record_set_t *set)
{
    for (int32_t rank = 0; rank < set->n_ranks; rank++) {
        if (set->records[rank].lead_ns == 0) {
            return false;
        }
    }
    return true;
}

static int64_t hint_wait(const clv_pap_record_set_t *set)
{
    int64_t there_ns = clv_pap_record_set_last_reported(set) + clv_pap_record_set_latency(set);
    int64_t last_ns = INT64_MIN;
    int64_t sum_ns = 0;
    for (int32_t rank = 0; rank < set->n_ranks; rank++) {
        int64_t arrival_ns = set->records[rank].arrival_ns;
        last_ns = arrival_ns > last_ns ? arrival_ns : last_ns;
        sum_ns += arrival_ns < there_ns ? clv_pap_clamp_spread(there_ns - arrival_ns) : 0;
    }
    int64_t after_ns = last_ns < there_ns ? clv_pap_clamp_spread(there_ns - last_ns) : 0;
    return sum_ns / set->n_ranks + AFTER_WEIGHT * after_ns;
}

/* Hints are ignored when waiting for them costs more than they save, and used again when it costs
 * less than half. One slow exchange, however slow, is not enough; two in a row are. */
void clv_pap_history_weigh_hints(clv_pap_history_t *history, const clv_pap_record_set_t *set)
{
    const int64_t saved_ns = history->blind_error_ns;
    if (!clv_pap_record_set_is_reported(set) || saved_ns < 0) {
        return;
    }
    int64_t wait_ns = hint_wait(set);
    if (wait_ns > SLOW_EXCHANGE * saved_ns) {
        wait_ns = SLOW_EXCHANGE * saved_ns;
    }
    history->hint_wait_ns = clv_pap_moving_average(history->hint_wait_ns, wait_ns);
    history->hints_ignored =
        history->hint_wait_ns > (history->hints_ignored ? saved_ns / 2 : saved_ns);
}
