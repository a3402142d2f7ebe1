/* SPDX-License-Identifier: BSD-3-Clause
 * See pap_record.h.
 */
#include "pap_predict/agree/pap_record.h"

#include <string.h>

#include "util/util_hot.h"

#define COLLECTIVE_SHIFT 56
#define SEGMENTS_SHIFT   43

/* The words; times are local. */
typedef struct fields {
    int64_t arrival_ns;
    int64_t previous_arrival_ns;
    int64_t previous_exit_ns;
    int64_t what; /* collective above max_segments above total_bytes */
    int32_t root;
    uint32_t generation;
    int32_t previous_choice;
    uint32_t previous_hash;
    uint32_t flags;
    uint32_t lead_ns;
} fields_t;

typedef union packed {
    fields_t fields;
    uint64_t words[CLV_PAP_RECORD_WORDS];
} packed_t;

_Static_assert(sizeof(packed_t) == sizeof(fields_t), "a record fits, and leaves nothing unset");

CLV_HOT int clv_pap_record_give(clv_pap_table_t *table, int32_t local_rank, int32_t n_local,
                                const clv_pap_local_record_t *given, const clv_pap_stream_key_t *key)
{
    const packed_t packed = {
        .fields = {.arrival_ns = given->arrival_ns,
                   .previous_arrival_ns = given->previous_arrival_ns,
                   .previous_exit_ns = given->previous_exit_ns,
                   .what = (int64_t) key->collective << COLLECTIVE_SHIFT |
                           (int64_t) key->max_segments << SEGMENTS_SHIFT | key->total_bytes,
                   .root = key->root,
                   .generation = given->generation,
                   .previous_choice = given->previous_choice,
                   .previous_hash = given->previous_hash,
                   .flags = given->flags,
                   .lead_ns = given->lead_ns}};
    return clv_pap_table_give(table, local_rank, n_local, given->lane, given->sequence + 1,
                              packed.words);
}

clv_status_t clv_pap_record_take(const clv_pap_table_t *table, int32_t local_rank, int32_t lane,
                                 int64_t version, clv_pap_local_record_t *given_p)
{
    packed_t packed;
    clv_status_t status = clv_pap_table_take(table, local_rank, lane, version, packed.words);
    if (status == CLV_OK) {
        *given_p = (clv_pap_local_record_t){.lane = lane,
                                     .generation = packed.fields.generation,
                                     .sequence = version - 1,
                                     .arrival_ns = packed.fields.arrival_ns,
                                     .previous_arrival_ns = packed.fields.previous_arrival_ns,
                                     .previous_exit_ns = packed.fields.previous_exit_ns,
                                     .previous_choice = packed.fields.previous_choice,
                                     .previous_hash = packed.fields.previous_hash,
                                     .flags = packed.fields.flags,
                                     .lead_ns = packed.fields.lead_ns};
    }
    return status;
}

clv_pap_stream_key_t clv_pap_record_key(const clv_pap_table_t *table, int32_t lane, int64_t version)
{
    packed_t packed;
    clv_pap_stream_key_t key = {0};
    if (clv_pap_table_take(table, 0, lane, version, packed.words) == CLV_OK) {
        key.root = packed.fields.root;
        key.collective = (int16_t) (packed.fields.what >> COLLECTIVE_SHIFT);
        key.max_segments =
            (int16_t) (packed.fields.what >> SEGMENTS_SHIFT & CLV_PAP_MAX_SEGMENTS);
        key.total_bytes = packed.fields.what & CLV_PAP_MAX_TOTAL_BYTES;
    }
    return key;
}
