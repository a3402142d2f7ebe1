/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Private to schedule/: the generators behind the table clv_generators, one row each.
 *
 * XX(name, function stem, meaning). The first row is the default. The instance has passed
 * clv_instance_check when a generator is called through clv_plan_make.
 */
#ifndef CLV_SCHED_GENERATORS_H
#define CLV_SCHED_GENERATORS_H

#include "schedule/schedule.h"

#define CLV_GENERATOR_MAP(XX)                                                                      \
    XX("bitset", linear, "Clairvoyant (linear search until the bit sets land)")                    \
    XX("latest-first", latest_linear, "latest arrival first, by linear search")                    \
    XX("latest-first-rns", latest_rns_linear, "latest-first whose root never sends once arrived")  \
    XX("chain", chain, "one pipelined chain sorted by arrival, latest nearest the root")

#define CLV_GENERATOR_DECLARE(name, stem, meaning)                                                 \
    clv_status_t clv_sched_##stem##_generate(const clv_instance_t *instance, clv_plan_t **plan_p);
CLV_GENERATOR_MAP(CLV_GENERATOR_DECLARE)
#undef CLV_GENERATOR_DECLARE

#endif
