/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Clairvoyant by pairing heaps, as its first authors describe it: one heap of free holders per
 * segment. Tests and benchmarks only; about 40 bytes per (rank, segment).
 */
#ifndef CLV_TESTS_PAIRING_HEAP_PLAN_H
#define CLV_TESTS_PAIRING_HEAP_PLAN_H

#include "schedule/schedule.h"

clv_status_t clv_pairing_heap_generate(const clv_instance_t *instance, clv_plan_t **plan_p);

#endif
