/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The costs of links on which communicators of this process have agreed: a communicator over the
 * same processes in the same order need not measure again. Programs and libraries duplicate
 * communicators, and some make a new one for each step; a calibration would take most of the time
 * of a short-lived one (docs/decisions/0006).
 *
 * Each process keeps the newest COLL_CLV_KNOWN_MAX. Ranks may hold different ones: they compare
 * their entries and use one only if all have the same (coll_clv_setup.c).
 *
 * Threads: any function by any thread at any time. Cost: no system call.
 */
#ifndef COLL_CLV_KNOWN_H
#define COLL_CLV_KNOWN_H

#include <stdint.h>

#include "schedule/sched_cost.h"

#define COLL_CLV_KNOWN_MAX 8

/* Without padding, since ranks compare it bytewise. */
typedef struct coll_clv_known {
    uint64_t processes; /* a hash of their names, in rank order */
    int32_t n_messages; /* of the stream that measured it; 0: nothing is known */
    int32_t has_places; /* 1: some ranks share links, and the near values were measured */
    clv_cost_t cost;
} coll_clv_known_t;

/* What is known about these processes. */
coll_clv_known_t coll_clv_known_find(uint64_t processes);

/* Replaces what is known of the same processes, else the oldest entry. */
void coll_clv_known_put(const coll_clv_known_t *known);

#endif
