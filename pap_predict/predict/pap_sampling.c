/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How often to sample: K; see pap_history.h.
 */
#include "pap_predict/predict/pap_history_parts.h"
#include "util/util_min_max.h"

/* While the clock is not ready: waits are rare, but its start is noticed soon. */
#define INVALID_SAMPLE_EVERY 8
#define SAMPLE_EVERY_GROWTH  4 /* per set: one short interval must not let predictions get old */
#define AHEAD_MARGIN         4 /* 1 / part of the ranks' distance, added as a margin */

int64_t clv_pap_history_interval(const clv_pap_history_t *history)
{
    int32_t oldest = history->n_rows - 1;
    int64_t span_ns = history->row_start_ns[history->newest] -
                      history->row_start_ns[clv_pap_history_row_index(history, oldest)];
    return oldest < 1 || span_ns < 0 ? 0 : span_ns / oldest;
}

static int64_t call_interval(const clv_pap_history_t *history)
{
    int64_t n_calls = clv_pap_history_call(history, 0) - history->before_call;
    int64_t span_ns = history->row_start_ns[history->newest] - history->before_start_ns;
    int64_t interval_ns = span_ns / (n_calls > 0 ? n_calls : 1);
    return interval_ns > 0 ? interval_ns : 1;
}

/* Several exchange latencies, so that no rank waits for a forecast; and if the exchange takes only
 * a few microseconds, long enough that the records cost nothing compared with the calls. */
static int64_t sampling_distance(uint32_t latency_ns)
{
    int64_t latencies_ns = (int64_t) CLV_PAP_LATENCIES_PER_SAMPLE * latency_ns;
    return latencies_ns > CLV_PAP_SAMPLE_NS ? latencies_ns : CLV_PAP_SAMPLE_NS;
}

/* Whether the first rank arrived at the newest sampled call before the last one had arrived at the
 * sampled call before. Then it had to wait for the forecast. */
static bool came_too_early(const clv_pap_history_t *history)
{
    return history->row_start_ns[history->newest] < history->before_last_ns;
}

/* How many calls ranks may be apart before the first of them waits for a forecast. If it waits
 * twice in a row, it would be further ahead: the distance doubles. Otherwise the distance follows
 * how far ranks are apart, but at most halves. If no rank ever waits, it stays at each call. */
static int64_t ahead_distance(clv_pap_history_t *history, uint32_t latency_ns, int64_t interval_ns,
                              int32_t now_every)
{
    const int64_t spread_ns = history->last_ns - history->row_start_ns[history->newest];
    const int64_t apart_ns = spread_ns + spread_ns / AHEAD_MARGIN + latency_ns;
    history->n_early = came_too_early(history) ? history->n_early + 1 : 0;
    if (history->n_early > 0) {
        return history->n_early > 1 ? 2 * (int64_t) now_every : now_every;
    }
    return now_every == 1 ? 1
                          : clv_larger((apart_ns + interval_ns - 1) / interval_ns, now_every / 2);
}

int32_t clv_pap_history_sample_every(clv_pap_history_t *history, uint32_t latency_ns,
                                     int32_t now_every)
{
    if (history->before_call < 0 || history->takes_all_calls) {
        return 1;
    }
    int64_t interval_ns = call_interval(history);
    int64_t every = (sampling_distance(latency_ns) + interval_ns - 1) / interval_ns;
    every = clv_larger(every, ahead_distance(history, latency_ns, interval_ns, now_every));
    int64_t limit = (int64_t) SAMPLE_EVERY_GROWTH * now_every;
    if (limit > CLV_PAP_MAX_SAMPLE_EVERY) {
        limit = CLV_PAP_MAX_SAMPLE_EVERY;
    }
    every = every > limit ? limit : every;
    return every < 1 ? 1 : (int32_t) every;
}

int32_t clv_pap_sample_every_invalid(int32_t now_every)
{
    return 2 * now_every > INVALID_SAMPLE_EVERY ? INVALID_SAMPLE_EVERY : 2 * now_every;
}
