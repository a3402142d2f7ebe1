/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls whose order looks at no arrivals: the previous function, and the forced pipeline. Private
 * to what_if/.
 *
 * The previous reduce is a binomial tree of whole vectors and replayed as a plan; of the previous
 * allreduce the component's own estimate is taken (choose_previous.h), from the last arrival on for
 * all ranks; the previous broadcast is a binomial tree whose ranks wait for the one above and send
 * to all below at once. Pipelines are a chain by rank, and for an allreduce a ring by rank.
 *
 * Units: ns, bytes. Errors: those of clv_plan_make, clv_plan_exits, clv_choose_previous.
 * Memory: the cache's. Threads: as the cache.
 */
#ifndef CLV_WHAT_IF_FIXED_H
#define CLV_WHAT_IF_FIXED_H

#include "apps/what_if/what_if.h"

typedef struct clv_what_if_fixed {
    const clv_what_if_run_t *run;
    const clv_cost_t *cost;
    int is_pipeline;
    const int64_t *zeros; /* as many as the job has ranks */
    clv_plan_cache_t *plans;
} clv_what_if_fixed_t;

/* When ranks leave the call. exits: as of clv_plan_exits. */
clv_status_t clv_what_if_fixed_exits(const clv_what_if_fixed_t *fixed,
                                     const clv_what_if_call_t *call, const int64_t *arrival_ns,
                                     clv_exits_t *exits, int64_t *exit_ns) CLV_MUST_CHECK;

#endif
