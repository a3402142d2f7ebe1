/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bytes of the exchange's messages; see pap_wire.h for the layout.
 */
#include "pap_predict/agree/pap_wire.h"

#include "pap_predict/agree/pap_agree.h"

#define COUNT_BYTES 8

/* ---- little-endian numbers -------------------------------------------------------------- */

static unsigned char *put_u32(unsigned char *out, uint32_t number)
{
    for (int i = 0; i < 4; i++) {
        out[i] = (unsigned char) (number >> (8 * i));
    }
    return out + 4;
}

static unsigned char *put_i64(unsigned char *out, int64_t number)
{
    uint64_t bits = (uint64_t) number;
    put_u32(out, (uint32_t) bits);
    return put_u32(out + 4, (uint32_t) (bits >> 32));
}

static uint32_t get_u32(const unsigned char *in)
{
    return (uint32_t) in[0] | (uint32_t) in[1] << 8 | (uint32_t) in[2] << 16 |
           (uint32_t) in[3] << 24;
}

static int64_t get_i64(const unsigned char *in)
{
    return (int64_t) ((uint64_t) get_u32(in) | (uint64_t) get_u32(in + 4) << 32);
}

/* ---- encode --------------------------------------------------------------------------------- */

size_t clv_pap_wire_max_bytes(int32_t n_ranks)
{
    size_t records = (size_t) n_ranks * CLV_PAP_WIRE_RECORD_BYTES;
    size_t counts = (size_t) CLV_PAP_MAX_STREAMS * COUNT_BYTES;
    return CLV_PAP_WIRE_HEADER_BYTES + (records > counts ? records : counts);
}

static unsigned char *put_header(unsigned char *out, const clv_pap_message_t *message,
                                 size_t item_bytes)
{
    size_t total = CLV_PAP_WIRE_HEADER_BYTES + (size_t) message->n_items * item_bytes;
    out = put_u32(out, (uint32_t) total);
    *out++ = (unsigned char) message->kind;
    *out++ = (unsigned char) message->slot;
    *out++ = (unsigned char) message->reason;
    *out++ = (unsigned char) (message->reason >> 8);
    out = put_u32(out, message->generation);
    out = put_u32(out, (uint32_t) message->n_items);
    return put_i64(out, message->sequence);
}

static unsigned char *put_record(unsigned char *out, const clv_pap_record_t *record)
{
    out = put_i64(out, record->arrival_ns);
    out = put_i64(out, record->previous_arrival_ns);
    out = put_i64(out, record->previous_exit_ns);
    out = put_u32(out, record->clock_error_ns);
    out = put_u32(out, record->latency_ns);
    out = put_u32(out, (uint32_t) record->previous_choice);
    out = put_u32(out, record->previous_hash);
    out = put_u32(out, record->flags);
    return put_u32(out, record->lead_ns);
}

size_t clv_pap_wire_put_records(void *out, clv_pap_wire_kind_t kind, int32_t slot,
                                uint32_t generation, int64_t sequence,
                                const clv_pap_record_t *records, int32_t n_records)
{
    clv_pap_message_t message = {.kind = kind,
                                 .slot = slot,
                                 .n_items = n_records,
                                 .generation = generation,
                                 .sequence = sequence};
    unsigned char *next = put_header(out, &message, CLV_PAP_WIRE_RECORD_BYTES);
    for (int32_t i = 0; i < n_records; i++) {
        next = put_record(next, &records[i]);
    }
    return (size_t) (next - (unsigned char *) out);
}

size_t clv_pap_wire_put_counts(void *out, clv_pap_wire_kind_t kind, int32_t reason,
                               const int64_t *counts)
{
    clv_pap_message_t message = {.kind = kind, .reason = reason, .n_items = CLV_PAP_MAX_STREAMS};
    unsigned char *next = put_header(out, &message, COUNT_BYTES);
    for (int32_t slot = 0; slot < CLV_PAP_MAX_STREAMS; slot++) {
        next = put_i64(next, counts[slot]);
    }
    return (size_t) (next - (unsigned char *) out);
}

size_t clv_pap_wire_put_bare(void *out, clv_pap_wire_kind_t kind, int32_t reason)
{
    clv_pap_message_t message = {.kind = kind, .reason = reason};
    unsigned char *next = put_header(out, &message, 0);
    return (size_t) (next - (unsigned char *) out);
}

size_t clv_pap_wire_put_slot(void *out, clv_pap_wire_kind_t kind, int32_t slot, int64_t sequence)
{
    clv_pap_message_t message = {.kind = kind, .slot = slot, .sequence = sequence};
    unsigned char *next = put_header(out, &message, 0);
    return (size_t) (next - (unsigned char *) out);
}

/* ---- decode --------------------------------------------------------------------------------- */

void clv_pap_wire_get_record(const clv_pap_message_t *message, int32_t index,
                             clv_pap_record_t *record)
{
    const unsigned char *in = message->items + (size_t) index * CLV_PAP_WIRE_RECORD_BYTES;
    record->arrival_ns = get_i64(in);
    record->previous_arrival_ns = get_i64(in + 8);
    record->previous_exit_ns = get_i64(in + 16);
    record->clock_error_ns = get_u32(in + 24);
    record->latency_ns = get_u32(in + 28);
    record->previous_choice = (int32_t) get_u32(in + 32);
    record->previous_hash = get_u32(in + 36);
    record->flags = get_u32(in + 40);
    record->lead_ns = get_u32(in + 44);
}

int64_t clv_pap_wire_get_count(const clv_pap_message_t *message, int32_t slot)
{
    return get_i64(message->items + (size_t) slot * COUNT_BYTES);
}

static bool in_sequence_range(int64_t sequence)
{
    return sequence >= 0 && sequence < CLV_PAP_MAX_SEQUENCE;
}

static bool valid_records(const clv_pap_message_t *message, int32_t n_ranks)
{
    if (message->n_items < 1 || message->n_items > n_ranks || message->reason != 0 ||
        message->slot >= CLV_PAP_MAX_STREAMS || !in_sequence_range(message->sequence)) {
        return false;
    }
    for (int32_t i = 0; i < message->n_items; i++) {
        clv_pap_record_t record;
        clv_pap_wire_get_record(message, i, &record);
        if (clv_pap_record_problem(&record) != NULL) {
            return false;
        }
    }
    return true;
}

static bool valid_counts(const clv_pap_message_t *message)
{
    if (message->n_items != CLV_PAP_MAX_STREAMS || message->slot != 0) {
        return false;
    }
    for (int32_t slot = 0; slot < CLV_PAP_MAX_STREAMS; slot++) {
        if (!in_sequence_range(clv_pap_wire_get_count(message, slot))) {
            return false;
        }
    }
    return true;
}

static bool valid_reason(const clv_pap_message_t *message)
{
    return message->reason >= 1 && message->reason <= CLV_PAP_LOST_LAST;
}

static bool valid_slot(const clv_pap_message_t *message)
{
    return message->reason == 0 && message->n_items == 0 && message->slot < CLV_PAP_MAX_STREAMS &&
           in_sequence_range(message->sequence);
}

/* One row per kind: the size of an item, and conditions beyond the header's arithmetic. */
static bool valid_message(const clv_pap_message_t *message, int32_t n_ranks)
{
    switch (message->kind) {
    case CLV_PAP_WIRE_UP:
        return valid_records(message, n_ranks);
    case CLV_PAP_WIRE_DOWN:
        return message->n_items == n_ranks && valid_records(message, n_ranks);
    case CLV_PAP_WIRE_HELLO:
        return message->reason == 0 && valid_counts(message);
    case CLV_PAP_WIRE_LOST:
        return valid_reason(message) && valid_counts(message);
    case CLV_PAP_WIRE_GIVE_UP:
        return valid_reason(message) && message->n_items == 0;
    case CLV_PAP_WIRE_BYE:
        return message->reason == 0 && message->n_items == 0;
    case CLV_PAP_WIRE_VOID:
    case CLV_PAP_WIRE_ASK:
        return valid_slot(message);
    }
    return false;
}

static size_t item_bytes(clv_pap_wire_kind_t kind)
{
    return kind == CLV_PAP_WIRE_UP || kind == CLV_PAP_WIRE_DOWN ? CLV_PAP_WIRE_RECORD_BYTES
                                                                : COUNT_BYTES;
}

clv_status_t clv_pap_wire_decode(const void *bytes, size_t n_bytes, int32_t n_ranks,
                                 clv_pap_message_t *message)
{
    const unsigned char *in = bytes;
    if (n_bytes < CLV_PAP_WIRE_HEADER_BYTES || get_u32(in) != n_bytes ||
        n_bytes > clv_pap_wire_max_bytes(n_ranks)) {
        return CLV_PROTOCOL;
    }
    clv_pap_message_t found = {.kind = (clv_pap_wire_kind_t) in[4],
                               .slot = in[5],
                               .reason = in[6] | in[7] << 8,
                               .generation = get_u32(in + 8),
                               .sequence = get_i64(in + 16),
                               .items = in + CLV_PAP_WIRE_HEADER_BYTES};
    uint64_t n_items = get_u32(in + 12);
    if (n_items * item_bytes(found.kind) != n_bytes - CLV_PAP_WIRE_HEADER_BYTES) {
        return CLV_PROTOCOL;
    }
    found.n_items = (int32_t) n_items;
    if (!valid_message(&found, n_ranks)) {
        return CLV_PROTOCOL;
    }
    *message = found;
    return CLV_OK;
}
