/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One rank's view of its streams; see pap_stream.h and docs/design/protocol.md.
 */
#include "pap_predict/agree/pap_stream.h"

#include <string.h>

#include "util/util_hash.h"
#include "util/util_hot.h"
#include "util/util_time.h"

void clv_pap_streams_init(clv_pap_streams_t *streams)
{
    memset(streams, 0, sizeof *streams);
    streams->last_slot = -1;
}

/* ---- which slot ------------------------------------------------------------------------------ */

static bool same_key(const clv_pap_stream_key_t *a, const clv_pap_stream_key_t *b)
{
    return a->root == b->root && a->collective == b->collective &&
           a->max_segments == b->max_segments && a->total_bytes == b->total_bytes;
}

static bool is_stream(const clv_pap_streams_t *streams, int32_t slot,
                      const clv_pap_stream_key_t *key)
{
    return streams->slot[slot].in_use && same_key(&streams->slot[slot].key, key);
}

static CLV_HOT int32_t find_slot(const clv_pap_streams_t *streams, const clv_pap_stream_key_t *key)
{
    if (streams->last_slot >= 0 && is_stream(streams, streams->last_slot, key)) {
        return streams->last_slot;
    }
    for (int32_t slot = 0; slot < CLV_PAP_MAX_STREAMS; slot++) {
        if (is_stream(streams, slot, key)) {
            return slot;
        }
    }
    return -1;
}

/* The first unused slot, else the one whose last call is longest ago. The rule uses only call
 * numbers of the communicator, so all ranks choose the same slot. */
static int32_t oldest_slot(const clv_pap_streams_t *streams)
{
    int32_t oldest = 0;
    for (int32_t slot = 0; slot < CLV_PAP_MAX_STREAMS; slot++) {
        if (!streams->slot[slot].in_use) {
            return slot;
        }
        if (streams->slot[slot].last_use < streams->slot[oldest].last_use) {
            oldest = slot;
        }
    }
    return oldest;
}

/* The new stream inherits the slot's sequence and the holders of its forecasts. A stream that
 * replaced another one is sampled only from its second call on, so a program with more streams than
 * slots pays nothing for streams that never repeat. */
static void take_slot(clv_pap_stream_t *stream, const clv_pap_stream_key_t *key)
{
    const clv_pap_stream_t before = *stream;
    *stream = (clv_pap_stream_t){.key = *key,
                                 .in_use = 1,
                                 .fresh = 1,
                                 .generation = before.generation + before.in_use,
                                 .given = before.given, /* by a hint; counts for the new one */
                                 .next_sample = before.in_use,
                                 .every = 1,
                                 .reported_call = -1,
                                 .previous_number = -1,
                                 .n_holders = {before.n_holders[0], before.n_holders[1]},
                                 .sequence = before.sequence};
}

static CLV_COLD int32_t new_slot(clv_pap_streams_t *streams, const clv_pap_stream_key_t *key)
{
    const int32_t slot = oldest_slot(streams);
    take_slot(&streams->slot[slot], key);
    return slot;
}

static int32_t slot_of(clv_pap_streams_t *streams, const clv_pap_stream_key_t *key)
{
    const int32_t slot = find_slot(streams, key);
    return slot >= 0 ? slot : new_slot(streams, key);
}

/* ---- calls ---------------------------------------------------------------------------------- */

/* follows: the call before had ended when this call arrived. */
static void fill_given(const clv_pap_stream_t *stream, int32_t slot, int64_t arrival_ns,
                       uint32_t flags, bool follows, clv_pap_local_record_t *given)
{
    *given = (clv_pap_local_record_t){.slot = slot,
                                      .generation = stream->generation,
                                      .sequence = stream->sequence,
                                      .arrival_ns = arrival_ns,
                                      .previous_arrival_ns = arrival_ns,
                                      .previous_exit_ns = arrival_ns,
                                      .previous_choice = -1,
                                      .flags = flags};
    if (stream->n_open > 0 || !follows) {
        given->flags |= CLV_PAP_RECORD_OPEN;
    } else if (stream->previous_number >= 0) {
        given->previous_arrival_ns = stream->previous_arrival_ns;
        given->previous_exit_ns = stream->previous_exit_ns;
        given->previous_choice = stream->previous_choice;
        given->previous_hash = stream->previous_hash;
        given->flags |= CLV_PAP_RECORD_PREVIOUS;
    }
}

static uint32_t saturate_u32(int64_t number)
{
    return number < 0 ? 0 : number > (int64_t) UINT32_MAX ? UINT32_MAX : (uint32_t) number;
}

/* How long ago a hint was noted for this call; 0: there was none. */
static uint32_t noted_lead(const clv_pap_stream_t *stream, int64_t arrival_ns)
{
    if (stream->reported_call != stream->calls) {
        return 0;
    }
    return saturate_u32(arrival_ns > stream->reported_ns ? arrival_ns - stream->reported_ns : 1);
}

static bool gives_record(const clv_pap_stream_t *stream)
{
    return stream->calls == stream->next_sample;
}

/* The record set of `sequence` produces a forecast that overwrites an older one: no open call may
 * still use that. */
static bool may_give(const clv_pap_stream_t *stream)
{
    return stream->n_holders[(stream->sequence + 1) & 1] == 0;
}

static CLV_HOT bool has_turn(const clv_pap_streams_t *streams, const clv_pap_call_t *call)
{
    const int32_t slot = call->turn == streams->turn ? find_slot(streams, &call->key) : -1;
    return call->turn == streams->turn &&
           (slot < 0 || !gives_record(&streams->slot[slot]) || may_give(&streams->slot[slot]));
}

static void hold(clv_pap_stream_t *stream, clv_pap_call_t *call, int64_t version)
{
    call->held_version = version;
    stream->n_holders[version & 1] += version > 0;
}

static void pass_turn(clv_pap_streams_t *streams, clv_pap_call_t *call)
{
    call->is_answered = true;
    streams->turn++;
}

/* late: the call entered after it began, so calls that were open at its arrival may have ended
 * since. */
static CLV_HOT bool come_in(clv_pap_streams_t *streams, clv_pap_call_t *call, bool late,
                            clv_pap_local_record_t *given)
{
    const int32_t slot = slot_of(streams, &call->key);
    clv_pap_stream_t *stream = &streams->slot[slot];
    const bool sampled = gives_record(stream);
    const bool give = sampled && !stream->given;
    const bool follows = !late || stream->previous_exit_ns <= call->arrival_ns;
    if (give) {
        fill_given(stream, slot, call->arrival_ns, 0, follows, given);
        given->lead_ns = noted_lead(stream, call->arrival_ns);
    }
    if (sampled) {
        stream->version = stream->sequence; /* the record given is `sequence`; wait for the forecast
                                               before it */
        stream->sequence++;
        stream->given = 0;
        stream->next_sample = INT64_MAX; /* set when the forecast is there */
    }
    call->stream = slot;
    call->sampled = sampled;
    call->number = stream->calls++;
    call->forecast_version = stream->version;
    call->generation = stream->generation;
    call->is_open = true;
    stream->n_open++;
    stream->last_use = call->turn;
    streams->last_slot = slot;
    if (!sampled) {
        hold(stream, call, stream->version);
        pass_turn(streams, call);
    }
    return give;
}

CLV_HOT bool clv_pap_streams_begin(clv_pap_streams_t *streams, const clv_pap_stream_key_t *key,
                                   int64_t local_ns, clv_pap_call_t *call,
                                   clv_pap_local_record_t *given)
{
    *call = (clv_pap_call_t){
        .key = *key, .turn = streams->calls++, .arrival_ns = local_ns, .stream = -1};
    return has_turn(streams, call) && come_in(streams, call, false, given);
}

CLV_COLD bool clv_pap_streams_enter(clv_pap_streams_t *streams, clv_pap_call_t *call,
                                    clv_pap_local_record_t *given)
{
    return call->stream < 0 && has_turn(streams, call) && come_in(streams, call, true, given);
}

/* No call waits for its turn, and the stream used last has no hint for its next call yet. */
bool clv_pap_streams_can_hear(const clv_pap_streams_t *streams, int64_t *begun_ns)
{
    if (streams->last_slot < 0 || streams->turn != streams->calls) {
        return false;
    }
    const clv_pap_stream_t *stream = &streams->slot[streams->last_slot];
    *begun_ns = stream->previous_number >= 0 ? stream->previous_exit_ns : -1;
    return gives_record(stream) && !stream->given && stream->reported_call != stream->calls;
}

/* A hint further ahead than the longest predictable spread is ignored. */
clv_pap_heard_t clv_pap_streams_hint(clv_pap_streams_t *streams, int64_t local_ns,
                                     int64_t ns_from_now, clv_pap_local_record_t *given)
{
    int64_t begun_ns;
    if (ns_from_now < 0 || ns_from_now > CLV_PAP_FURTHEST_NS ||
        !clv_pap_streams_can_hear(streams, &begun_ns)) {
        return CLV_PAP_HEARD_NOT;
    }
    clv_pap_stream_t *stream = &streams->slot[streams->last_slot];
    if (stream->hints_ignored || !may_give(stream)) {
        stream->reported_call = stream->calls;
        stream->reported_ns = local_ns;
        return CLV_PAP_HEARD_NOTED;
    }
    fill_given(stream, streams->last_slot, local_ns + ns_from_now, CLV_PAP_RECORD_ANNOUNCED, true,
               given);
    given->lead_ns = saturate_u32(ns_from_now > 0 ? ns_from_now : 1);
    stream->given = 1;
    return CLV_PAP_HEARD_GIVEN;
}

/* The hash of one call. Calls end in any order, so their hashes are summed. */
static uint32_t hash_of(const clv_pap_call_t *call, int32_t choice)
{
    uint64_t hash = clv_fnv1a64_u32(CLV_FNV1A64_BASIS, (uint32_t) call->number);
    hash = clv_fnv1a64_u32(hash, call->forecast_hash);
    hash = clv_fnv1a64_u32(hash, (uint32_t) choice);
    return (uint32_t) (hash ^ (hash >> 32));
}

static void let_go(clv_pap_stream_t *stream, clv_pap_call_t *call)
{
    stream->n_holders[call->held_version & 1] -= call->held_version > 0;
    stream->n_open -= call->generation == stream->generation;
    call->is_open = false;
}

CLV_HOT void clv_pap_streams_end(clv_pap_streams_t *streams, clv_pap_call_t *call, int32_t choice,
                                 int64_t local_ns)
{
    if (call->stream < 0) {
        return; /* never answered: the caller gave up, so all ranks must */
    }
    clv_pap_stream_t *stream = &streams->slot[call->stream];
    if (call->is_open) {
        let_go(stream, call);
    }
    if (call->generation != stream->generation) {
        return;
    }
    stream->previous_hash += hash_of(call, choice);
    if (call->number >= stream->previous_number) {
        stream->previous_number = call->number;
        stream->previous_choice = choice;
        stream->previous_arrival_ns = call->arrival_ns;
        stream->previous_exit_ns = local_ns;
    }
}

/* ---- forecasts ------------------------------------------------------------------------------- */

static CLV_COLD clv_status_t no_forecast(const clv_pap_store_ops_t *store, void *context,
                                         int32_t slot, int64_t version)
{
    if (version <= store->n_versions(context, slot)) {
        return CLV_AGAIN;
    }
    return store->is_unsure != NULL && store->is_unsure(context) ? CLV_LOST : CLV_NONE;
}

static CLV_HOT clv_status_t find_forecast(const clv_pap_store_ops_t *store, void *context,
                                          int32_t slot, int64_t version,
                                          const clv_pap_forecast_t **forecast_p)
{
    const clv_pap_forecast_t *forecast = store->find(context, slot, version);
    *forecast_p = forecast;
    return forecast != NULL ? CLV_OK : no_forecast(store, context, slot, version);
}

/* Waits for a version. CLV_OK with *forecast_p NULL: it is void. */
static CLV_HOT clv_status_t await_forecast(clv_pap_call_t *call, int64_t version,
                                           const clv_pap_store_ops_t *store, void *context,
                                           const clv_pap_forecast_t **forecast_p)
{
    clv_status_t status = find_forecast(store, context, call->stream, version, forecast_p);
    call->awaited_version = status == CLV_AGAIN ? version : 0;
    if (status == CLV_AGAIN && store->is_void != NULL &&
        store->is_void(context, call->stream, version)) {
        call->awaited_version = 0;
        return CLV_OK;
    }
    return status;
}

/* The first sampled call of a stream has no forecast of its own. In a recycled slot it still waits
 * for the last record set of the stream before, which bounds how far ranks run ahead of each other.
 */
static CLV_COLD clv_status_t first_forecast(clv_pap_stream_t *stream, clv_pap_call_t *call,
                                            const clv_pap_store_ops_t *store, void *context)
{
    const clv_pap_forecast_t *before;
    if (call->forecast_version > 0) {
        clv_status_t status = await_forecast(call, call->forecast_version, store, context, &before);
        if (status != CLV_OK) {
            return status;
        }
    }
    stream->fresh = 0;
    stream->version = 0;
    stream->next_sample = call->number + 1;
    return CLV_NONE;
}

/* A forecast made for the slot's previous stream (a hint was given, its call never came) is
 * ignored. */
static int32_t sample_every(const clv_pap_stream_t *stream, const clv_pap_forecast_t *forecast)
{
    if (forecast == NULL) {
        return clv_pap_sample_every_void(stream->every);
    }
    return forecast->generation == stream->generation ? forecast->sample_every : 1;
}

/* Answers a sampled call that has its turn: waits, learns when to sample next, and takes the
 * following forecast if all ranks announced their arrivals. */
static clv_status_t sampled_forecast(clv_pap_stream_t *stream, clv_pap_call_t *call,
                                     const clv_pap_store_ops_t *store, void *context)
{
    const clv_pap_forecast_t *forecast;
    int64_t version = call->forecast_version;
    clv_status_t status = await_forecast(call, version, store, context, &forecast);
    const int32_t every = sample_every(stream, forecast);
    if (status == CLV_OK && forecast != NULL && forecast->announced &&
        forecast->generation == stream->generation) {
        status = await_forecast(call, ++version, store, context, &forecast);
    }
    if (status == CLV_AGAIN) {
        return status;
    }
    /* A version that never comes, for whatever reason, is the same for all; after CLV_LOST the call
     * asks on. */
    stream->version = status == CLV_NONE || (status == CLV_OK && forecast == NULL) ? 0 : version;
    if (status != CLV_OK) {
        return status;
    }
    stream->hints_ignored = forecast == NULL ? stream->hints_ignored : forecast->hints_ignored != 0;
    stream->every = every;
    stream->next_sample = call->number + every;
    return CLV_OK;
}

/* Any answer passes the turn. If there will be no forecast, no later call of the stream is sampled,
 * and all get the same answer. */
static CLV_HOT clv_status_t take_answer(clv_pap_streams_t *streams, clv_pap_call_t *call,
                                        const clv_pap_store_ops_t *store, void *context)
{
    clv_pap_stream_t *stream = &streams->slot[call->stream];
    clv_status_t status = stream->fresh ? first_forecast(stream, call, store, context)
                                        : sampled_forecast(stream, call, store, context);
    if (status != CLV_AGAIN) {
        hold(stream, call, stream->version);
        pass_turn(streams, call);
    }
    return status;
}

CLV_HOT clv_status_t clv_pap_streams_forecast(clv_pap_streams_t *streams, clv_pap_call_t *call,
                                              const clv_pap_store_ops_t *store, void *context,
                                              const clv_pap_forecast_t **forecast_p)
{
    const clv_pap_forecast_t *forecast = NULL;
    if (call->stream < 0 ||
        (!call->is_answered && take_answer(streams, call, store, context) == CLV_AGAIN)) {
        return CLV_AGAIN;
    }
    if (call->held_version == 0) {
        return CLV_NONE;
    }
    clv_status_t status =
        find_forecast(store, context, call->stream, call->held_version, &forecast);
    call->forecast_hash = status == CLV_OK ? forecast->hash : 0;
    if (status == CLV_OK &&
        (forecast->n_record_sets == 0 || forecast->generation != call->generation)) {
        return CLV_NONE;
    }
    *forecast_p = status == CLV_OK ? forecast : *forecast_p;
    return status;
}

/* ---- records -------------------------------------------------------------------------------- */

void clv_pap_local_to_record(const clv_pap_local_record_t *given, const clv_cs_model_t *model,
                             uint32_t latency_ns, clv_pap_record_t *record)
{
    *record = (clv_pap_record_t){.latency_ns = latency_ns,
                                 .previous_choice = given->previous_choice,
                                 .previous_hash = given->previous_hash,
                                 .flags = given->flags | CLV_PAP_RECORD_INVALID,
                                 .lead_ns = given->lead_ns};
    if (model == NULL) {
        return;
    }
    record->arrival_ns = clv_cs_model_global(model, given->arrival_ns);
    record->previous_arrival_ns = clv_cs_model_global(model, given->previous_arrival_ns);
    record->previous_exit_ns = clv_cs_model_global(model, given->previous_exit_ns);
    record->clock_error_ns = saturate_u32(clv_cs_model_error(model, given->arrival_ns));
    record->flags = given->flags;
    if (clv_pap_record_problem(record) != NULL) {
        clv_pap_local_to_record(given, NULL, latency_ns, record);
    }
}
