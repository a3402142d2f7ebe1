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
    streams->last_lane = -1;
}

/* ---- which lane ------------------------------------------------------------------------------ */

static int same_key(const clv_pap_stream_key_t *a, const clv_pap_stream_key_t *b)
{
    return a->root == b->root && a->commutative == b->commutative &&
           a->total_bytes == b->total_bytes;
}

static int is_stream(const clv_pap_streams_t *streams, int32_t lane,
                     const clv_pap_stream_key_t *key)
{
    return streams->lane[lane].in_use && same_key(&streams->lane[lane].key, key);
}

static int32_t find_lane(const clv_pap_streams_t *streams, const clv_pap_stream_key_t *key)
{
    if (streams->last_lane >= 0 && is_stream(streams, streams->last_lane, key)) {
        return streams->last_lane;
    }
    for (int32_t lane = 0; lane < CLV_PAP_MAX_STREAMS; lane++) {
        if (is_stream(streams, lane, key)) {
            return lane;
        }
    }
    return -1;
}

/* Unused lanes first, then the one whose last call is longest ago: a rule on call numbers of the
 * communicator, so equal on all ranks. */
static int32_t oldest_lane(const clv_pap_streams_t *streams)
{
    int32_t oldest = 0;
    for (int32_t lane = 0; lane < CLV_PAP_MAX_STREAMS; lane++) {
        if (!streams->lane[lane].in_use) {
            return lane;
        }
        if (streams->lane[lane].last_use < streams->lane[oldest].last_use) {
            oldest = lane;
        }
    }
    return oldest;
}

/* The lane's sequence goes on. A stream that pushed another one out is sampled from its second call
 * on only, so that a program with more streams than lanes pays nothing for the useless ones. */
static void take_lane(clv_pap_stream_t *stream, const clv_pap_stream_key_t *key)
{
    int recycled = stream->in_use;
    int64_t sequence = stream->sequence;
    uint32_t generation = stream->generation + (recycled ? 1u : 0u);
    int32_t given = stream->given; /* by a hint for the stream before: counts for this one */
    *stream = (clv_pap_stream_t){.key = *key,
                                 .in_use = 1,
                                 .fresh = 1,
                                 .generation = generation,
                                 .given = given,
                                 .next_sample = recycled ? 1 : 0,
                                 .told_call = -1,
                                 .sequence = sequence};
}

static CLV_COLD int32_t new_lane(clv_pap_streams_t *streams, const clv_pap_stream_key_t *key)
{
    const int32_t lane = oldest_lane(streams);
    take_lane(&streams->lane[lane], key);
    return lane;
}

static int32_t lane_of(clv_pap_streams_t *streams, const clv_pap_stream_key_t *key)
{
    const int32_t lane = find_lane(streams, key);
    return lane >= 0 ? lane : new_lane(streams, key);
}

/* ---- calls ---------------------------------------------------------------------------------- */

static void fill_given(const clv_pap_stream_t *stream, int32_t lane, int64_t arrival_ns,
                       uint32_t flags, clv_pap_given_t *given)
{
    *given = (clv_pap_given_t){.lane = lane,
                               .generation = stream->generation,
                               .sequence = stream->sequence,
                               .arrival_ns = arrival_ns,
                               .previous_arrival_ns = arrival_ns,
                               .previous_exit_ns = arrival_ns,
                               .previous_choice = -1,
                               .flags = flags};
    if (stream->has_previous) {
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

/* Of a hint that was only noted. */
static uint32_t noted_lead(const clv_pap_stream_t *stream, int64_t arrival_ns)
{
    if (stream->told_call != stream->calls) {
        return 0;
    }
    return saturate_u32(arrival_ns > stream->told_ns ? arrival_ns - stream->told_ns : 1);
}

CLV_HOT int clv_pap_streams_begin(clv_pap_streams_t *streams, const clv_pap_stream_key_t *key,
                                  int64_t local_ns, clv_pap_call_t *call, clv_pap_given_t *given)
{
    int32_t lane = lane_of(streams, key);
    clv_pap_stream_t *stream = &streams->lane[lane];
    int sampled = stream->calls == stream->next_sample;
    int give = sampled && !stream->given;
    if (give) {
        fill_given(stream, lane, local_ns, 0, given);
        given->lead_ns = noted_lead(stream, local_ns);
    }
    if (sampled) {
        stream->version = stream->sequence; /* the record given is `sequence`; wait for the board
                                               before it */
        stream->sequence++;
        stream->given = 0;
        stream->next_sample = INT64_MAX; /* until the board says */
    }
    *call = (clv_pap_call_t){.stream = lane,
                             .sampled = sampled,
                             .number = stream->calls++,
                             .board_version = stream->version,
                             .arrival_ns = local_ns};
    stream->last_use = streams->calls++;
    streams->last_lane = lane;
    return give;
}

/* A hint further off than the longest spread predicted is not one. */
clv_pap_heard_t clv_pap_streams_hint(clv_pap_streams_t *streams, int64_t local_ns,
                                     int64_t ns_from_now, clv_pap_given_t *given)
{
    if (streams->last_lane < 0 || ns_from_now < 0 || ns_from_now > CLV_NS_PER_S * 3600) {
        return CLV_PAP_HEARD_NOT;
    }
    clv_pap_stream_t *stream = &streams->lane[streams->last_lane];
    if (stream->calls != stream->next_sample || stream->given ||
        stream->told_call == stream->calls) {
        return CLV_PAP_HEARD_NOT;
    }
    if (stream->is_deaf) {
        stream->told_call = stream->calls;
        stream->told_ns = local_ns;
        return CLV_PAP_HEARD_NOTED;
    }
    fill_given(stream, streams->last_lane, local_ns + ns_from_now, CLV_PAP_RECORD_ANNOUNCED, given);
    given->lead_ns = saturate_u32(ns_from_now > 0 ? ns_from_now : 1);
    stream->given = 1;
    return CLV_PAP_HEARD_GIVEN;
}

CLV_HOT void clv_pap_streams_end(clv_pap_streams_t *streams, const clv_pap_call_t *call,
                                 int32_t choice, int64_t local_ns)
{
    clv_pap_stream_t *stream = &streams->lane[call->stream];
    stream->has_previous = 1;
    stream->previous_choice = choice;
    uint64_t hash = clv_fnv1a64_u32(CLV_FNV1A64_BASIS, stream->previous_hash);
    hash = clv_fnv1a64_u32(hash, stream->board_hash);
    hash = clv_fnv1a64_u32(hash, (uint32_t) choice);
    stream->previous_hash = (uint32_t) (hash ^ (hash >> 32));
    stream->previous_arrival_ns = call->arrival_ns;
    stream->previous_exit_ns = local_ns;
}

/* ---- boards --------------------------------------------------------------------------------- */

static CLV_COLD clv_status_t no_board(const clv_pap_shelf_ops_t *shelf, void *context,
                                      int32_t lane, int64_t version)
{
    if (version <= shelf->n_versions(context, lane)) {
        return CLV_AGAIN;
    }
    return shelf->is_unsure != NULL && shelf->is_unsure(context) ? CLV_LOST : CLV_NONE;
}

static CLV_HOT clv_status_t find_board(const clv_pap_shelf_ops_t *shelf, void *context,
                                       int32_t lane, int64_t version,
                                       const clv_pap_board_t **board_p)
{
    const clv_pap_board_t *board = shelf->find(context, lane, version);
    *board_p = board;
    return board != NULL ? CLV_OK : no_board(shelf, context, lane, version);
}

/* The first sampled call of a stream has no board of its own. In a recycled lane it still waits for
 * the last vector of the stream before, which bounds how far ranks run ahead of each other. */
static CLV_COLD clv_status_t first_board(clv_pap_stream_t *stream, const clv_pap_call_t *call,
                                         const clv_pap_shelf_ops_t *shelf, void *context)
{
    const clv_pap_board_t *before;
    if (call->board_version > 0) {
        clv_status_t status =
            find_board(shelf, context, call->stream, call->board_version, &before);
        if (status != CLV_OK) {
            return status;
        }
    }
    stream->fresh = 0;
    stream->version = 0;
    stream->board_hash = 0;
    stream->next_sample = call->number + 1;
    return CLV_NONE;
}

/* A board of the stream before (a hint was given for it, the call never came) says nothing. */
static int32_t sample_every(const clv_pap_stream_t *stream, const clv_pap_board_t *board)
{
    return board->generation == stream->generation ? board->sample_every : 1;
}

/* The first question for a sampled call: waits, learns when to sample next, and goes one board
 * further when all ranks announced their arrivals. */
static clv_status_t sampled_board(clv_pap_stream_t *stream, const clv_pap_call_t *call,
                                  const clv_pap_shelf_ops_t *shelf, void *context,
                                  const clv_pap_board_t **board_p)
{
    const clv_pap_board_t *board;
    clv_status_t status = find_board(shelf, context, call->stream, call->board_version, &board);
    if (status != CLV_OK) {
        return status;
    }
    int64_t next_sample = call->number + sample_every(stream, board);
    if (board->announced && board->generation == stream->generation) {
        status = find_board(shelf, context, call->stream, call->board_version + 1, &board);
        if (status != CLV_OK) {
            return status;
        }
    }
    stream->version = board->version;
    stream->board_hash = board->hash;
    stream->is_deaf = board->is_deaf;
    stream->next_sample = next_sample;
    *board_p = board;
    return CLV_OK;
}

static int is_decided(const clv_pap_stream_t *stream, const clv_pap_call_t *call)
{
    return !call->sampled || stream->next_sample != INT64_MAX;
}

CLV_HOT clv_status_t clv_pap_streams_board(clv_pap_streams_t *streams, const clv_pap_call_t *call,
                                           const clv_pap_shelf_ops_t *shelf, void *context,
                                           const clv_pap_board_t **board_p)
{
    clv_pap_stream_t *stream = &streams->lane[call->stream];
    const clv_pap_board_t *board = NULL;
    clv_status_t status;
    if (!is_decided(stream, call)) {
        status = stream->fresh ? first_board(stream, call, shelf, context)
                               : sampled_board(stream, call, shelf, context, &board);
    } else if (stream->version == 0) {
        status = CLV_NONE;
    } else {
        status = find_board(shelf, context, call->stream, stream->version, &board);
    }
    if (status != CLV_OK) {
        stream->board_hash = 0;
        return status;
    }
    if (board->n_vectors == 0 || board->generation != stream->generation) {
        return CLV_NONE;
    }
    *board_p = board;
    return CLV_OK;
}

/* ---- records -------------------------------------------------------------------------------- */

void clv_pap_given_to_record(const clv_pap_given_t *given, const clv_cs_model_t *model,
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
        clv_pap_given_to_record(given, NULL, latency_ns, record);
    }
}
