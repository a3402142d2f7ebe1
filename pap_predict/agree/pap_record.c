/* SPDX-License-Identifier: BSD-3-Clause
 * See pap_record.h.
 */
#include "pap_predict/agree/pap_record.h"

#include <stddef.h>
#include <string.h>

#include "util/util_hot.h"

#define COLLECTIVE_SHIFT 56
#define SEGMENTS_SHIFT   43

#define RECORD_BYTES (CLV_PAP_RECORD_WORDS * sizeof(uint64_t))

_Static_assert(offsetof(clv_pap_local_record_t, slot) == RECORD_BYTES,
               "what lies in the table fits, and leaves nothing unset");

CLV_HOT bool clv_pap_record_give(clv_pap_table_t *table, int32_t local_rank, int32_t n_local,
                                 const clv_pap_local_record_t *given,
                                 const clv_pap_stream_key_t *key)
{
    clv_pap_local_record_t record = *given;
    uint64_t words[CLV_PAP_RECORD_WORDS];
    record.packed_key = (int64_t) key->collective << COLLECTIVE_SHIFT |
                        (int64_t) key->max_segments << SEGMENTS_SHIFT | key->total_bytes;
    record.root = key->root;
    memcpy(words, &record, RECORD_BYTES);
    return clv_pap_table_give(table, local_rank, n_local, given->slot, given->sequence + 1, words);
}

clv_status_t clv_pap_record_take(const clv_pap_table_t *table, int32_t local_rank, int32_t slot,
                                 int64_t version, clv_pap_local_record_t *given_p)
{
    uint64_t words[CLV_PAP_RECORD_WORDS];
    clv_status_t status = clv_pap_table_take(table, local_rank, slot, version, words);
    if (status == CLV_OK) {
        memcpy(given_p, words, RECORD_BYTES);
        given_p->slot = slot;
        given_p->sequence = version - 1;
    }
    return status;
}

clv_pap_stream_key_t clv_pap_record_key(const clv_pap_table_t *table, int32_t slot, int64_t version)
{
    clv_pap_local_record_t record;
    clv_pap_stream_key_t key = {0};
    if (clv_pap_record_take(table, 0, slot, version, &record) == CLV_OK) {
        key.root = record.root;
        key.collective = (int16_t) (record.packed_key >> COLLECTIVE_SHIFT);
        key.max_segments = (int16_t) (record.packed_key >> SEGMENTS_SHIFT & CLV_PAP_MAX_SEGMENTS);
        key.total_bytes = record.packed_key & CLV_PAP_MAX_TOTAL_BYTES;
    }
    return key;
}
