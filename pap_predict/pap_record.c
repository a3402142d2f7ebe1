/* SPDX-License-Identifier: BSD-3-Clause
 * See pap_record.h.
 */
#include "pap_predict/pap_record.h"
#include "util/util_hot.h"

#include <string.h>

/* The words: the record's bytes, generation, key. */
typedef struct words {
    clv_pap_record_t record;
    uint32_t generation;
    int32_t root;
    int64_t total_bytes; /* not negative; its complement when the operation is not commutative */
} words_t;

typedef union packed {
    words_t fields;
    uint64_t words[CLV_PAP_RECORD_WORDS];
} packed_t;

_Static_assert(sizeof(words_t) <= CLV_PAP_RECORD_WORDS * sizeof(uint64_t), "a record fits");

CLV_HOT int clv_pap_record_give(clv_pap_table_t *table, int32_t local_rank, int32_t n_local,
                                int32_t lane, int64_t version, uint32_t generation,
                                const clv_pap_stream_key_t *key, const clv_pap_record_t *record)
{
    packed_t packed;
    memset(&packed, 0, sizeof packed);
    packed.fields.record = *record;
    packed.fields.generation = generation;
    packed.fields.root = key->root;
    packed.fields.total_bytes = key->commutative ? key->total_bytes : ~key->total_bytes;
    return clv_pap_table_give(table, local_rank, n_local, lane, version, packed.words);
}

clv_status_t clv_pap_record_take(const clv_pap_table_t *table, int32_t local_rank, int32_t lane,
                                 int64_t version, uint32_t *generation_p,
                                 clv_pap_record_t *record_p)
{
    packed_t packed;
    clv_status_t status = clv_pap_table_take(table, local_rank, lane, version, packed.words);
    if (status == CLV_OK) {
        *record_p = packed.fields.record;
        *generation_p = packed.fields.generation;
    }
    return status;
}

clv_pap_stream_key_t clv_pap_record_key(const clv_pap_table_t *table, int32_t lane, int64_t version)
{
    packed_t packed;
    clv_pap_stream_key_t key = {0, 1, 0};
    if (clv_pap_table_take(table, 0, lane, version, packed.words) == CLV_OK) {
        key.root = packed.fields.root;
        key.commutative = packed.fields.total_bytes >= 0;
        key.total_bytes = key.commutative ? packed.fields.total_bytes : ~packed.fields.total_bytes;
    }
    return key;
}
