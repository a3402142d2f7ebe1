/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Clairvoyant by pairing heaps, as its first authors describe it: one heap of free holders per
 * segment. Tests and benchmarks only; about 40 bytes per (rank, segment).
 */
#ifndef CLV_TESTS_PAIRING_HEAP_PLAN_H
#define CLV_TESTS_PAIRING_HEAP_PLAN_H

#include "schedule/schedule.h"

/* Insertions into and erasures from heaps since the last reset, and the other cost of forming the
 * groups: rounds, ranks that joined, time. One thread. */
typedef struct clv_heap_counts {
    int64_t inserts;
    int64_t erasures;
    int64_t group_rounds;
    int64_t group_joins;
    int64_t group_ns;
} clv_heap_counts_t;
extern clv_heap_counts_t clv_pairing_heap_counts;

clv_status_t clv_pairing_heap_generate(const clv_instance_t *instance, clv_plan_t **plan_p);

#endif
