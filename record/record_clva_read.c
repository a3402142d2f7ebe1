/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The .clva file: decodes head and records and checks every length (see record_clva.h).
 */
#include "record/record_clva.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "util/util_bytes.h"

#define MAX_PPB  INT64_C(1000000000)
#define MAX_COST (INT64_C(1) << 40) /* ns of a message, ps of a byte */

/* ---- head: one flat object of strings and whole numbers -------------------------------------- */

typedef struct cursor {
    const char *at, *end;
} cursor_t;

static bool take(cursor_t *cursor, char one)
{
    const bool is_there = cursor->at < cursor->end && *cursor->at == one;

    cursor->at += is_there;
    return is_there;
}

/* Reads a string into text, cut to size; size 0 only skips it. Of an escape the backslash is
 * dropped and the next character taken as it is. */
static bool take_string(cursor_t *cursor, char *text, size_t size)
{
    size_t used = 0;

    if (!take(cursor, '"')) {
        return false;
    }
    while (cursor->at < cursor->end && *cursor->at != '"') {
        cursor->at += *cursor->at == '\\';
        if (cursor->at == cursor->end || (unsigned char) *cursor->at < ' ') {
            return false;
        }
        if (used + 1 < size) {
            text[used++] = *cursor->at;
        }
        cursor->at++;
    }
    if (size > 0) {
        text[used] = '\0';
    }
    return take(cursor, '"');
}

static bool take_number(cursor_t *cursor, int64_t *number_p)
{
    const bool is_negative = take(cursor, '-');
    const char *first = cursor->at;
    int64_t number = 0;

    while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9') {
        if (number > CLV_CLVA_MAX_NS / 10) {
            return false;
        }
        number = 10 * number + (*cursor->at++ - '0');
    }
    *number_p = is_negative ? -number : number;
    return cursor->at > first;
}

/* Reads the value of a known key into its field; skips the value of any other key. */
static bool take_value(cursor_t *cursor, const char *key, clv_clva_head_t *head)
{
    int64_t ignored = 0;

#define TAKE_TEXT(name, n_bytes)                                                                   \
    if (strcmp(key, #name) == 0) {                                                                 \
        return take_string(cursor, head->name, sizeof head->name);                                 \
    }
#define TAKE_NUMBER(name)                                                                          \
    if (strcmp(key, #name) == 0) {                                                                 \
        return take_number(cursor, &head->name);                                                   \
    }
    CLV_CLVA_HEAD_MAP(TAKE_TEXT, TAKE_NUMBER)
#undef TAKE_TEXT
#undef TAKE_NUMBER
    return cursor->at < cursor->end && *cursor->at == '"' ? take_string(cursor, NULL, 0)
                                                          : take_number(cursor, &ignored);
}

static bool take_object(cursor_t *cursor, clv_clva_head_t *head)
{
    char key[32];

    if (!take(cursor, '{')) {
        return false;
    }
    do {
        if (!take_string(cursor, key, sizeof key) || !take(cursor, ':') ||
            !take_value(cursor, key, head)) {
            return false;
        }
    } while (take(cursor, ','));
    return take(cursor, '}') && cursor->at == cursor->end;
}

static bool is_head_sound(const clv_clva_head_t *head)
{
    return head->n_ranks >= 1 && head->n_ranks <= CLV_CLVA_MAX_RANKS && head->n_local >= 1 &&
           head->n_local <= head->n_ranks && head->n_nodes >= 1 && head->n_nodes <= head->n_ranks &&
           head->node >= 0 && head->node < head->n_nodes;
}

clv_status_t clv_clva_get_head(const void *bytes, size_t n_bytes, clv_clva_head_t *head_p,
                               size_t *used_p)
{
    static const char start[] = "{\"clva\":";
    const size_t n_looked = n_bytes < CLV_CLVA_HEAD_BYTES ? n_bytes : CLV_CLVA_HEAD_BYTES;
    const size_t n_start = n_bytes < sizeof start - 1 ? n_bytes : sizeof start - 1;
    const char *end = n_looked > 0 ? memchr(bytes, '\n', n_looked) : NULL;
    clv_clva_head_t head = {0};
    cursor_t cursor = {bytes, end};

    if (n_start > 0 && memcmp(bytes, start, n_start) != 0) {
        return CLV_PROTOCOL;
    }
    if (end == NULL) {
        return n_looked < CLV_CLVA_HEAD_BYTES ? CLV_AGAIN : CLV_PROTOCOL;
    }
    if (!take_object(&cursor, &head) || head.clva < 1) {
        return CLV_PROTOCOL;
    }
    *head_p = head;
    if (head.clva > CLV_CLVA_VERSION) {
        return CLV_UNSUPPORTED;
    }
    *used_p = (size_t) (end - (const char *) bytes) + 1;
    return is_head_sound(&head) ? CLV_OK : CLV_PROTOCOL;
}

/* ---- records --------------------------------------------------------------------------------- */

/* A payload, and the number of ranks that its rank numbers must stay below. */
typedef struct payload {
    const unsigned char *bytes;
    size_t n_bytes;
    int64_t n_ranks;
} payload_t;

static bool is_time(int64_t ns)
{
    return ns >= -CLV_CLVA_MAX_NS && ns <= CLV_CLVA_MAX_NS;
}

static int64_t get_i64(const unsigned char *bytes)
{
    return (int64_t) clv_get_u64(bytes);
}

static bool get_rank(const payload_t *payload, clv_clva_record_t *record)
{
    const uint32_t rank = clv_get_u32(payload->bytes);

    record->rank = (int32_t) rank;
    return (int64_t) rank < payload->n_ranks;
}

static bool get_CALLS(const payload_t *payload, clv_clva_record_t *record)
{
    if (payload->n_bytes < 8 || !get_rank(payload, record)) {
        return false;
    }
    const uint32_t n = clv_get_u32(payload->bytes + 4);
    if (payload->n_bytes - 8 != (uint64_t) n * CLV_CLVA_SLOT_BYTES) {
        return false;
    }
    record->n = (int32_t) n;
    record->bytes = payload->bytes + 8;
    return true;
}

static bool get_STREAM(const payload_t *payload, clv_clva_record_t *record)
{
    const unsigned char *at = payload->bytes + 8;
    clv_clva_stream_t *stream = &record->stream;

    if (payload->n_bytes != 8 + CLV_CLVA_SLOT_BYTES || !get_rank(payload, record)) {
        return false;
    }
    *stream =
        (clv_clva_stream_t){.kind = CLV_CLVA_STREAM, .op = at[1], .type = at[2], .how = at[3]};
    stream->stream = (uint16_t) clv_get_u32(at + 4);
    stream->element_bytes = (uint16_t) (clv_get_u32(at + 4) >> 16);
    stream->comm = clv_get_u64(at + 8);
    stream->bytes = get_i64(at + 16);
    stream->root = (int32_t) clv_get_u32(at + 24);
    stream->request = clv_get_u32(at + 28);
    return stream->op < CLV_CLVA_N_OPS && stream->type < CLV_CLVA_N_TYPES &&
           stream->how < CLV_CLVA_N_HOWS && stream->stream < CLV_CLVA_MAX_STREAMS &&
           stream->bytes >= 0 && stream->bytes <= CLV_CLVA_MAX_NS && stream->root >= -1 &&
           stream->root < CLV_CLVA_MAX_RANKS;
}

/* Every member is a rank of the job. */
static bool are_members(const clv_clva_comm_t *comm, int64_t n_ranks)
{
    for (int32_t i = 0; i < comm->n_listed; i++) {
        if (clv_get_u32(comm->members + 4 * (size_t) i) >= (uint64_t) n_ranks) {
            return false;
        }
    }
    return true;
}

static bool get_COMM(const payload_t *payload, clv_clva_record_t *record)
{
    const size_t fixed = 16 + CLV_CLVA_NAME_BYTES;
    clv_clva_comm_t *comm = &record->comm;

    if (payload->n_bytes < fixed) {
        return false;
    }
    const uint32_t n_ranks = clv_get_u32(payload->bytes + 8);
    const uint32_t n_listed = clv_get_u32(payload->bytes + 12);
    if (n_ranks < 1 || n_ranks > payload->n_ranks || (n_listed != 0 && n_listed != n_ranks) ||
        payload->n_bytes - fixed != (4 * (size_t) n_listed + 7) / 8 * 8) {
        return false;
    }
    *comm = (clv_clva_comm_t){.id = clv_get_u64(payload->bytes),
                              .n_ranks = (int32_t) n_ranks,
                              .n_listed = (int32_t) n_listed,
                              .members = payload->bytes + fixed};
    memcpy(comm->name, payload->bytes + 16, CLV_CLVA_NAME_BYTES);
    return comm->name[CLV_CLVA_NAME_BYTES - 1] == '\0' && are_members(comm, payload->n_ranks);
}

static bool get_LOCAL(const payload_t *payload, clv_clva_record_t *record)
{
    if (payload->n_bytes < 8) {
        return false;
    }
    const uint32_t n = clv_get_u32(payload->bytes);
    if (n < 1 || n > payload->n_ranks || payload->n_bytes != (4 + 4 * (size_t) n + 7) / 8 * 8) {
        return false;
    }
    record->n = (int32_t) n;
    record->bytes = payload->bytes + 4;
    for (int32_t i = 0; i < record->n; i++) {
        if (clv_clva_get_local(record, i) < 0 ||
            clv_clva_get_local(record, i) >= payload->n_ranks) {
            return false;
        }
    }
    return true;
}

static bool get_CLOCK(const payload_t *payload, clv_clva_record_t *record)
{
    clv_clva_clock_t *clock = &record->clock;

    if (payload->n_bytes != 48) {
        return false;
    }
    clock->from_ns = get_i64(payload->bytes);
    clock->origin_ns = get_i64(payload->bytes + 8);
    clock->offset_ns = get_i64(payload->bytes + 16);
    memcpy(&clock->slope, &(uint64_t){clv_get_u64(payload->bytes + 24)}, sizeof clock->slope);
    clock->error_ns = get_i64(payload->bytes + 32);
    clock->error_ppb = get_i64(payload->bytes + 40);
    return is_time(clock->from_ns) && is_time(clock->origin_ns) && is_time(clock->offset_ns) &&
           clock->slope > -0.01 && clock->slope < 0.01 && clock->error_ns >= 0 &&
           clock->error_ns <= CLV_CLVA_MAX_NS && clock->error_ppb >= 0 &&
           clock->error_ppb <= MAX_PPB;
}

static bool get_DROPPED(const payload_t *payload, clv_clva_record_t *record)
{
    if (payload->n_bytes != 16 || !get_rank(payload, record)) {
        return false;
    }
    record->number = get_i64(payload->bytes + 8);
    return record->number >= 0;
}

static bool get_EVERY(const payload_t *payload, clv_clva_record_t *record)
{
    if (payload->n_bytes != 8) {
        return false;
    }
    record->number = get_i64(payload->bytes);
    return record->number >= 1;
}

static bool get_END(const payload_t *payload, clv_clva_record_t *record)
{
    if (payload->n_bytes != 16) {
        return false;
    }
    record->number = get_i64(payload->bytes);
    record->thread_ns = get_i64(payload->bytes + 8);
    return record->number >= 0 && record->thread_ns >= 0;
}

static bool is_cost(int64_t number)
{
    return number >= 0 && number <= MAX_COST;
}

/* Reads a limit; 0 for one above INT32_MAX, which the writer never writes. */
static uint32_t get_limit(const unsigned char *bytes)
{
    const int64_t limit = get_i64(bytes);

    return limit >= 0 && limit <= INT32_MAX ? (uint32_t) limit : 0;
}

static bool get_COST(const payload_t *payload, clv_clva_record_t *record)
{
    clv_clva_cost_t *cost = &record->cost;

    const size_t n_bytes = payload->n_bytes;

    if (n_bytes != 40 && n_bytes != 48 && n_bytes != 64) { /* older files have less */
        return false;
    }
    cost->latency_ns = get_i64(payload->bytes);
    cost->byte_ps = get_i64(payload->bytes + 8);
    cost->near_latency_ns = get_i64(payload->bytes + 16);
    cost->near_byte_ps = get_i64(payload->bytes + 24);
    cost->combine_ps = get_i64(payload->bytes + 32);
    cost->gap_ns = n_bytes > 40 ? get_i64(payload->bytes + 40) : 0;
    cost->early_bytes = n_bytes > 48 ? get_limit(payload->bytes + 48) : 0;
    cost->near_early_bytes = n_bytes > 48 ? get_limit(payload->bytes + 56) : 0;
    return is_cost(cost->gap_ns) && is_cost(cost->latency_ns) && is_cost(cost->byte_ps) &&
           is_cost(cost->near_latency_ns) && is_cost(cost->near_byte_ps) &&
           is_cost(cost->combine_ps);
}

static bool get_EARLY(const payload_t *payload, clv_clva_record_t *record)
{
    clv_clva_early_t *early = &record->early;

    if (payload->n_bytes != 32 || !get_rank(payload, record)) {
        return false;
    }
    early->sent_bytes = get_i64(payload->bytes + 8);
    early->window_bytes = get_i64(payload->bytes + 16);
    early->buffer_bytes = get_i64(payload->bytes + 24);
    return early->sent_bytes >= 0 && is_cost(early->window_bytes) && is_cost(early->buffer_bytes);
}

static bool get_WAITS(const payload_t *payload, clv_clva_record_t *record)
{
    clv_clva_waits_t *waits = &record->waits;

    if (payload->n_bytes != 32 || !get_rank(payload, record)) {
        return false;
    }
    waits->waited_ns = get_i64(payload->bytes + 8);
    waits->asleep_ns = get_i64(payload->bytes + 16);
    waits->n_late = get_i64(payload->bytes + 24);
    return waits->waited_ns >= 0 && waits->waited_ns <= CLV_CLVA_MAX_NS && waits->asleep_ns >= 0 &&
           waits->asleep_ns <= CLV_CLVA_MAX_NS && waits->n_late >= 0;
}

clv_status_t clv_clva_get_record(const unsigned char *bytes, size_t n_bytes, int64_t n_ranks,
                                 clv_clva_record_t *record_p, size_t *used_p)
{
    static bool (*const getters[])(const payload_t *,
                                   clv_clva_record_t *) = {NULL,
#define GETTER(code) get_##code,
                                                           CLV_CLVA_KIND_MAP(GETTER)
#undef GETTER
    };
    clv_clva_record_t record = {0};

    if (n_bytes < 8) {
        return CLV_AGAIN;
    }
    const uint32_t kind = clv_get_u32(bytes), length = clv_get_u32(bytes + 4);
    if (kind == 0 || kind > 65535 || length % 8 != 0 || length > CLV_CLVA_RECORD_BYTES - 8) {
        return CLV_PROTOCOL;
    }
    if (length > n_bytes - 8) {
        return CLV_AGAIN;
    }
    const payload_t payload = {bytes + 8, length, n_ranks};
    if (kind < sizeof getters / sizeof getters[0] && !getters[kind](&payload, &record)) {
        return CLV_PROTOCOL;
    }
    record.kind = (clv_clva_kind_t) kind;
    *record_p = record;
    *used_p = 8 + length;
    return CLV_OK;
}

clv_status_t clv_clva_get_call(const clv_clva_record_t *record, int32_t i, clv_clva_call_t *call_p)
{
    const unsigned char *at = record->bytes + (size_t) i * CLV_CLVA_SLOT_BYTES;
    const clv_clva_call_t call = {.kind = CLV_CLVA_CALLS,
                                  .choice = at[1],
                                  .reason = at[2],
                                  .stream = (uint16_t) clv_get_u32(at + 4),
                                  .arrival_ns = get_i64(at + 8),
                                  .exit_ns = get_i64(at + 16),
                                  .number = clv_get_u32(at + 24),
                                  .predicted_ns = clv_get_u32(at + 28)};

    if (!is_time(call.arrival_ns) || !is_time(call.exit_ns) || call.exit_ns < call.arrival_ns ||
        call.stream >= CLV_CLVA_MAX_STREAMS) {
        return CLV_PROTOCOL;
    }
    *call_p = call;
    return CLV_OK;
}

int32_t clv_clva_get_local(const clv_clva_record_t *record, int32_t i)
{
    return (int32_t) clv_get_u32(record->bytes + 4 * (size_t) i);
}

int32_t clv_clva_get_member(const clv_clva_comm_t *comm, int32_t i)
{
    return comm->n_listed == 0 ? i : (int32_t) clv_get_u32(comm->members + 4 * (size_t) i);
}
