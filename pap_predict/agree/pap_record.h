/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Records as words of the table: how a rank stores one and its leader loads it. A rank writes its
 * own local times and one cache line. The leader's thread, which has the host's clock and exchange
 * latency, makes the record from these (clv_pap_local_to_record). All ranks of a host have the same
 * local clock. Private to the pap_predict module. No threads of its own; see pap_table.h.
 */
#ifndef CLV_PAP_RECORD_H
#define CLV_PAP_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "pap_predict/pap_predict.h"
#include "pap_predict/agree/pap_stream.h"
#include "pap_predict/agree/pap_table.h"

/* Gives a record for version given->sequence + 1. Non-zero: wake the leader, see
 * clv_pap_table_give. */
bool clv_pap_record_give(clv_pap_table_t *table, int32_t local_rank, int32_t n_local,
                         const clv_pap_local_record_t *given, const clv_pap_stream_key_t *key);

clv_status_t clv_pap_record_take(const clv_pap_table_t *table, int32_t local_rank, int32_t slot,
                                 int64_t version, clv_pap_local_record_t *given_p) CLV_MUST_CHECK;

/* The stream key that the host's first rank gave with its record of version. */
clv_pap_stream_key_t clv_pap_record_key(const clv_pap_table_t *table, int32_t slot,
                                        int64_t version);

#endif
