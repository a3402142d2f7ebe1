/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From a complete record set to the host's table: the forecast, the caller's node plans for it, and
 * how long these took; see pap_leader_parts.h.
 */
#include "pap_predict/pap_leader_parts.h"

#include <string.h>

#include "pap_predict/agree/pap_record.h"
#include "util/util_alloc.h"
#include "util/util_time.h"

static bool has_invalid_record(const clv_pap_record_set_t *set)
{
    for (int32_t i = 0; i < set->n_ranks; i++) {
        if (set->records[i].flags & CLV_PAP_RECORD_INVALID) {
            return true;
        }
    }
    return false;
}

static void measure_latency(clv_pap_leader_t *leader, const clv_pap_record_set_t *set)
{
    if (!leader->clock.is_ready) {
        return;
    }
    leader->measured_ns = clv_local_now_ns();
    const int64_t now_ns = clv_cs_model_global(&leader->clock.model, leader->measured_ns);
    leader->older_latency_ns = leader->latency_ns;
    leader->latency_ns =
        clv_pap_latency_update(leader->latency_ns, now_ns - clv_pap_record_set_last_given(set));
}

static void *memory_of(clv_pap_leader_t *leader, int32_t slot, uint32_t generation)
{
    const size_t n_bytes = leader->hooks.memory_bytes;
    if (n_bytes == 0) {
        return NULL;
    }
    unsigned char *memory = leader->memories + (size_t) slot * n_bytes;
    if (leader->generations[slot] != generation) {
        leader->generations[slot] = generation;
        memset(memory, 0, n_bytes);
    }
    return memory;
}

/* One rank gives it for all: valid only if all ranks had ended the call that it is about. */
static const void *key_table_of(const clv_pap_leader_t *leader, const clv_pap_record_set_t *set)
{
    static const unsigned char none[CLV_PAP_KEY_TABLE_BYTES];
    const bool is_known = (clv_pap_record_set_common_flags(set) & CLV_PAP_RECORD_PREVIOUS) != 0;
    const void *key_table = clv_pap_table_keys(leader->table, set->slot, set->sequence + 1);
    return key_table == NULL || is_known ? key_table : none;
}

static size_t make_node_plans(clv_pap_leader_t *leader, const clv_pap_record_set_t *set,
                              const clv_pap_forecast_t *forecast)
{
    const clv_pap_hooks_t *hooks = &leader->hooks;
    void *node_plans = clv_pap_table_node_plans(leader->table, set->slot, forecast->version);
    /* Without a valid record set the forecast is never shown. Only then may records name different
     * streams (a hint was given, then the slot was recycled), and nothing may be built on those. */
    if (hooks->make == NULL || forecast->n_record_sets == 0) {
        return 0;
    }
    const clv_pap_stream_key_t key =
        clv_pap_record_key(leader->table, set->slot, forecast->version);
    const size_t used = hooks->make(
        hooks->context, &key, forecast, clv_pap_history_progress(leader->histories[set->slot]),
        key_table_of(leader, set), memory_of(leader, set->slot, set->generation), node_plans,
        hooks->node_plans_bytes);
    return used < hooks->node_plans_bytes ? used : hooks->node_plans_bytes;
}

void clv_pap_publish(void *context, const clv_pap_record_set_t *set)
{
    clv_pap_leader_t *leader = context;
    clv_pap_forecast_t forecast;
    if (leader->has_left) {
        return; /* all ranks of this host have the forecasts they need */
    }
    clv_pap_history_feed(leader->histories[set->slot], set, &forecast, leader->predicted_ns);
    const size_t used = make_node_plans(leader, set, &forecast);
    clv_pap_table_publish(leader->table, set->slot, &forecast, used);
    measure_latency(leader, set); /* includes the time to decide */
    leader->must_give_up |= forecast.disagree;
    if (has_invalid_record(set)) {
        clv_pap_count(leader->pap, CLV_PAP_COUNT_invalid_record_sets, 1);
    }
}

void clv_pap_publish_void(void *context, int32_t slot, int64_t first, int64_t end)
{
    clv_pap_leader_t *leader = context;
    if (leader->has_left) {
        return;
    }
    clv_pap_history_feed_void(leader->histories[slot], end - first);
    clv_pap_table_set_decided(leader->table, slot, end);
    clv_pap_count(leader->pap, CLV_PAP_COUNT_void_record_sets, end - first);
}

/* ---- memory ---------------------------------------------------------------------------------- */

clv_status_t clv_pap_publish_create(clv_pap_leader_t *leader)
{
    const clv_pap_options_t *options = &leader->pap->options;
    const size_t n_ranks = (size_t) leader->layout.n_ranks;
    clv_status_t status = CLV_OK;
    for (int32_t slot = 0; slot < CLV_PAP_MAX_STREAMS && status == CLV_OK; slot++) {
        status = clv_pap_history_create(leader->layout.n_ranks, options->sma_window,
                                        (clv_pap_predictor_t) options->predictor,
                                        &leader->histories[slot]);
    }
    leader->predicted_ns = clv_alloc(n_ranks, sizeof *leader->predicted_ns);
    if (leader->hooks.memory_bytes > 0) {
        leader->memories = clv_alloc(CLV_PAP_MAX_STREAMS, leader->hooks.memory_bytes);
    }
    if (leader->predicted_ns == NULL || (leader->hooks.memory_bytes > 0 && !leader->memories)) {
        return CLV_NO_MEMORY;
    }
    return status;
}

void clv_pap_publish_free(clv_pap_leader_t *leader)
{
    for (int32_t slot = 0; slot < CLV_PAP_MAX_STREAMS; slot++) {
        clv_pap_history_free(leader->histories[slot]);
    }
    clv_free(leader->predicted_ns);
    clv_free(leader->memories);
}
