/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Decides what clv would run (see what_if_internal.h).
 */
#include "apps/what_if/what_if_internal.h"

#include <string.h>

#include "choose/choose_node_plan.h"
#include "pap_predict/predict/pap_history.h"
#include "util/util_alloc.h"
#include "util/util_min_max.h"

#define PATIENCE_NS    4000000 /* longest wait of a call for its forecast; then it runs without */
#define CLOCK_ERROR_NS 2000

/* A forecast and the decisions made for it. */
typedef struct reported {
    clv_pap_forecast_t forecast; /* version 0: no forecast */
    int64_t *predicted_ns;
    clv_node_plans_t *plans; /* decisions only */
} reported_t;

typedef struct stream {
    clv_pap_stream_key_t arrivals_key;
    clv_pap_history_t *history;
    clv_choose_memory_t *memory;
    clv_choose_keys_t keys; /* as the ranks store them */
    reported_t newest, in_use;
    clv_pap_record_t *records;
    int64_t *ended_ns; /* arrivals at the previous call, then exits */
    int64_t n_calls, next_sample, n_samples;
    int64_t known_ns; /* when all ranks have the newest forecast */
    int32_t ran;      /* in the previous call */
    struct stream *next;
} stream_t;

struct clv_what_if_learner {
    const clv_what_if_comm_t *comm;
    clv_chooser_t chooser;
    int64_t exchange_ns;
    bool knows;
    stream_t *streams;
    stream_t *current;
    size_t plans_bytes;
};

/* ---- memory ---------------------------------------------------------------------------------- */

static void free_stream(stream_t *stream)
{
    clv_pap_history_free(stream->history);
    clv_free(stream->memory);
    clv_free(stream->newest.predicted_ns);
    clv_free(stream->in_use.predicted_ns);
    clv_free(stream->newest.plans);
    clv_free(stream->in_use.plans);
    clv_free(stream->records);
    clv_free(stream->ended_ns);
    clv_free(stream);
}

static bool allocate_reported(const clv_what_if_learner_t *learner, reported_t *reported)
{
    reported->predicted_ns =
        clv_alloc((size_t) learner->comm->n_ranks, sizeof *reported->predicted_ns);
    reported->plans = clv_alloc(1, learner->plans_bytes);
    return reported->predicted_ns != NULL && reported->plans != NULL;
}

/* NULL without memory. */
static stream_t *add_stream(clv_what_if_learner_t *learner, const clv_pap_stream_key_t *key)
{
    const clv_choose_config_t *config = &learner->chooser.config;
    stream_t *stream = clv_alloc(1, sizeof *stream);

    if (stream == NULL) {
        return NULL;
    }
    stream->arrivals_key = *key;
    stream->records = clv_alloc((size_t) config->n_ranks, sizeof *stream->records);
    stream->ended_ns = clv_alloc(2 * (size_t) config->n_ranks, sizeof *stream->ended_ns);
    stream->memory = clv_alloc(1, sizeof *stream->memory);
    if (stream->records == NULL || stream->ended_ns == NULL || stream->memory == NULL ||
        !allocate_reported(learner, &stream->newest) ||
        !allocate_reported(learner, &stream->in_use) ||
        clv_pap_history_create(config->n_ranks, config->sma_window,
                               (clv_pap_predictor_t) config->predictor,
                               &stream->history) != CLV_OK) {
        free_stream(stream);
        return NULL;
    }
    if (learner->knows) {
        clv_pap_history_take_all_calls(stream->history);
    }
    stream->next = learner->streams;
    learner->streams = stream;
    return stream;
}

static stream_t *stream_of(clv_what_if_learner_t *learner, const clv_pap_stream_key_t *key)
{
    const clv_pap_stream_key_t arrivals_key = clv_choose_arrivals_key(key);
    stream_t *stream = learner->streams;

    while (stream != NULL && !clv_choose_same_key(&stream->arrivals_key, &arrivals_key)) {
        stream = stream->next;
    }
    return stream == NULL ? add_stream(learner, &arrivals_key) : stream;
}

clv_status_t clv_what_if_learner_create(const clv_what_if_comm_t *comm,
                                        const clv_what_if_setting_t *setting, bool knows,
                                        clv_what_if_learner_t **learner_p)
{
    clv_what_if_learner_t *learner = clv_alloc(1, sizeof *learner);

    if (learner == NULL) {
        return CLV_NO_MEMORY;
    }
    learner->comm = comm;
    learner->knows = knows;
    learner->exchange_ns = setting->exchange_ns;
    learner->plans_bytes = clv_host_places_bytes(CLV_CHOOSE_MAX_KEYS) +
                           CLV_CHOOSE_MAX_KEYS * clv_node_plan_bytes(0, 0);
    learner->chooser.config = clv_what_if_config();
    learner->chooser.config.n_ranks = comm->n_ranks;
    learner->chooser.config.place = comm->place;
    learner->chooser.config.cost = setting->cost;
    if (clv_plan_cache_create(CLV_CHOOSE_CACHE_PLANS, CLV_CHOOSE_CACHE_BYTES,
                              &learner->chooser.plans) != CLV_OK) {
        clv_free(learner);
        return CLV_NO_MEMORY;
    }
    *learner_p = learner;
    return CLV_OK;
}

void clv_what_if_learner_free(clv_what_if_learner_t *learner)
{
    if (learner == NULL) {
        return;
    }
    while (learner->streams != NULL) {
        stream_t *stream = learner->streams;
        learner->streams = stream->next;
        free_stream(stream);
    }
    clv_plan_cache_free(learner->chooser.plans);
    clv_free(learner);
}

/* ---- the exchange ---------------------------------------------------------------------------- */

/* Records of the call that ranks are entering, and of the previous one. */
static void give_records(const clv_what_if_learner_t *learner, stream_t *stream,
                         const int64_t *arrival_ns)
{
    const int32_t n_ranks = learner->comm->n_ranks;
    const bool is_first = stream->n_calls == 0;

    for (int32_t p = 0; p < n_ranks; p++) {
        stream->records[p] = (clv_pap_record_t){
            .arrival_ns = arrival_ns[p],
            .previous_arrival_ns = is_first ? arrival_ns[p] : stream->ended_ns[p],
            .previous_exit_ns = is_first ? arrival_ns[p] : stream->ended_ns[n_ranks + p],
            .clock_error_ns = CLOCK_ERROR_NS,
            .latency_ns = (uint32_t) clv_smaller(learner->exchange_ns, UINT32_MAX),
            .previous_choice = is_first ? -1 : stream->ran,
            .flags = is_first ? 0 : CLV_PAP_RECORD_PREVIOUS};
    }
}

/* Computes the newest forecast from the records. */
static void feed(clv_what_if_learner_t *learner, stream_t *stream)
{
    const clv_pap_record_set_t set = {.n_ranks = learner->comm->n_ranks,
                                      .sequence = stream->n_samples++,
                                      .records = stream->records};

    clv_pap_history_feed(stream->history, &set, &stream->newest.forecast,
                         stream->newest.predicted_ns);
}

static void decide(clv_what_if_learner_t *learner, stream_t *stream)
{
    (void) clv_choose_node_plan(&learner->chooser, &stream->arrivals_key, &stream->newest.forecast,
                                clv_pap_history_progress(stream->history), &stream->keys,
                                stream->memory, stream->newest.plans, learner->plans_bytes);
}

static void use_newest(const clv_what_if_learner_t *learner, stream_t *stream)
{
    reported_t *in_use = &stream->in_use;
    const size_t n_ranks = (size_t) learner->comm->n_ranks;

    memcpy(in_use->predicted_ns, stream->newest.predicted_ns, n_ranks * sizeof(int64_t));
    memcpy(in_use->plans, stream->newest.plans, learner->plans_bytes);
    in_use->forecast = stream->newest.forecast;
    in_use->forecast.predicted_ns = in_use->predicted_ns;
}

static int64_t last_of(const int64_t *ns, int32_t n)
{
    int64_t last_ns = ns[0];

    for (int32_t i = 1; i < n; i++) {
        last_ns = clv_larger(last_ns, ns[i]);
    }
    return last_ns;
}

/* Activates the forecast of the previous sample; this sample's records make the next one. */
static void sample(clv_what_if_learner_t *learner, stream_t *stream, const int64_t *arrival_ns,
                   int64_t *start_ns)
{
    const int32_t n_ranks = learner->comm->n_ranks;
    int32_t every = 1;

    if (stream->n_samples > 0) {
        use_newest(learner, stream);
        every = stream->in_use.forecast.sample_every;
        for (int32_t p = 0; p < n_ranks; p++) {
            start_ns[p] = clv_larger(arrival_ns[p],
                                     clv_smaller(stream->known_ns, arrival_ns[p] + PATIENCE_NS));
        }
    }
    stream->next_sample = stream->n_calls + every;
    give_records(learner, stream, arrival_ns);
    feed(learner, stream);
    decide(learner, stream);
    stream->known_ns = last_of(arrival_ns, n_ranks) + learner->exchange_ns;
}

/* As if each rank had announced its arrival. The records of the previous call are fed only now,
 * because the resulting forecast is used at once. */
static void know(clv_what_if_learner_t *learner, stream_t *stream, const int64_t *arrival_ns)
{
    const int32_t n_ranks = learner->comm->n_ranks;
    int64_t first_ns = arrival_ns[0];

    if (stream->n_calls > 0) {
        clv_pap_forecast_t *forecast = &stream->newest.forecast;
        feed(learner, stream);
        for (int32_t p = 1; p < n_ranks; p++) {
            first_ns = clv_smaller(first_ns, arrival_ns[p]);
        }
        for (int32_t p = 0; p < n_ranks; p++) {
            stream->newest.predicted_ns[p] = arrival_ns[p] - first_ns;
        }
        forecast->announced = 1;
        forecast->n_record_sets = learner->chooser.config.sma_window;
        forecast->sigma_ns = forecast->worst_error_ns = forecast->mean_error_ns = 0;
        decide(learner, stream);
        use_newest(learner, stream);
    }
    give_records(learner, stream, arrival_ns);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The decision of the active forecast for the key; without one, what runs without a forecast. */
static clv_status_t decision_of(const clv_what_if_learner_t *learner, const stream_t *stream,
                                const clv_pap_stream_key_t *key,
                                const clv_pap_forecast_t **forecast_p,
                                clv_choose_decision_t *decision)
{
    const clv_node_plan_t *found =
        stream->in_use.forecast.version > 0 ? clv_node_plans_find(stream->in_use.plans, key) : NULL;

    *forecast_p = found == NULL ? NULL : &stream->in_use.forecast;
    if (found == NULL) {
        return clv_choose_without_forecast(&learner->chooser.config, key, decision);
    }
    *decision = found->decision;
    return found->status == CLV_OK ? CLV_OK : CLV_NO_MEMORY;
}

clv_status_t clv_what_if_learner_begin(clv_what_if_learner_t *learner,
                                       const clv_pap_stream_key_t *key, const int64_t *arrival_ns,
                                       int64_t *start_ns, const clv_plan_t **plan_p)
{
    const clv_pap_forecast_t *forecast = NULL;
    clv_choose_decision_t decision = {0};
    stream_t *stream = stream_of(learner, key);
    clv_status_t status;

    if (stream == NULL) {
        return CLV_NO_MEMORY;
    }
    memcpy(start_ns, arrival_ns, (size_t) learner->comm->n_ranks * sizeof *start_ns);
    learner->current = stream;
    if (learner->knows) {
        know(learner, stream, arrival_ns);
    } else if (stream->n_calls == stream->next_sample) {
        sample(learner, stream, arrival_ns, start_ns);
    }
    *plan_p = NULL;
    status = decision_of(learner, stream, key, &forecast, &decision);
    if (status == CLV_LIMIT) { /* no plan is possible */
        decision.algorithm = CLV_ALGORITHM_PREVIOUS;
        status = CLV_OK;
    }
    stream->ran = decision.algorithm;
    clv_choose_keys_use(&stream->keys, key);
    if (status == CLV_OK && decision.algorithm != CLV_ALGORITHM_PREVIOUS) {
        status = clv_choose_cached_plan(&learner->chooser.config, key, forecast, &decision,
                                        learner->chooser.plans, plan_p);
    }
    return status;
}

void clv_what_if_learner_end(clv_what_if_learner_t *learner, const int64_t *arrival_ns,
                             const int64_t *exit_ns)
{
    stream_t *stream = learner->current;
    const size_t n_ranks = (size_t) learner->comm->n_ranks;

    memcpy(stream->ended_ns, arrival_ns, n_ranks * sizeof *arrival_ns);
    memcpy(stream->ended_ns + n_ranks, exit_ns, n_ranks * sizeof *exit_ns);
    stream->n_calls++;
}
