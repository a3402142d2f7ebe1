/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The fast estimate of a plan for ranks that share hosts: it computes when the plan ends without a
 * list of every rank's sends.
 *
 *     place 0: r -> r -> r -> r -> S --.          r: a chain, in closed form
 *     place 1: r -> r -> r -> r -> S --+--> root  S: the inter-host part (sched_interhost.h)
 *
 * Most ranks of such a plan receive from one neighbour and send to the next, and the time at which
 * a segment leaves the end of their chain is a sum and a maximum: O(ranks). Only the inter-host
 * part, the ranks that use links, is replayed. The estimate equals that of the whole plan to the
 * nanosecond (tests/schedule/test_sched_fast_estimate), at a small part of its cost. So many
 * candidates can be compared and only one of them made.
 *
 * Not: plans that run (schedule.h), nor estimates of single ranks' exits (sched_cost.h).
 * PURE.
 *
 * Units: int64 ns.
 * Errors: those of clv_plan_make and clv_plan_estimate; outputs are set only on CLV_OK.
 * Memory: a fast estimate is its caller's to free; 16 bytes per rank, and its inter-host part.
 * Threads: safe on distinct fast estimates.
 */
#ifndef CLV_SCHED_FAST_ESTIMATE_H
#define CLV_SCHED_FAST_ESTIMATE_H

#include "schedule/sched_interhost.h"
#include "schedule/sched_cost.h"
#include "schedule/schedule.h"

/* Of the plan that clv_plan_make would make. CLV_UNSUPPORTED where the generator has none, or no
 * place is shared: the plan does as well then. */
clv_status_t clv_fast_estimate_make(const clv_generator_t *generator,
                                    const clv_instance_t *instance,
                                    clv_fast_estimate_t **fast_p) CLV_MUST_CHECK;
void clv_fast_estimate_free(clv_fast_estimate_t *fast);

/* What clv_plan_estimate says of that plan, with the places it was made for. */
clv_status_t clv_fast_estimate_run(const clv_fast_estimate_t *fast, const int64_t *arrival_ns,
                                   int64_t vector_bytes, const clv_cost_t *cost,
                                   clv_estimate_t *estimate_p) CLV_MUST_CHECK;

/* ---- for generators -------------------------------------------------------------------------- */

/* Ranks of whom each hands all segments on to the next: ranks[first] .. ranks[last]. */
typedef struct clv_chain {
    int32_t first;
    int32_t last;
    int32_t
        representative; /* which rank of the inter-host part the last one is, or -1 if it is over */
} clv_chain_t;

struct clv_fast_estimate {
    int32_t n_ranks;
    int32_t n_segments;
    int64_t n_sends; /* of the whole plan */
    int32_t n_chains;
    clv_chain_t *chains; /* room for one a rank */
    int32_t *ranks;      /* one chain after the other */
    int32_t *place;      /* of each rank, if a chain leaves places; NULL: all its ways are near */
    clv_interhost_t interhost;
};

/* A fast estimate without chains, places and inter-host part. NULL without memory. */
clv_fast_estimate_t *clv_fast_estimate_new(const clv_instance_t *instance);

/* What clv_fast_estimate_make does with an instance that has passed clv_instance_check. */
clv_status_t clv_fast_estimate_make_checked(const clv_generator_t *generator,
                                            const clv_instance_t *instance,
                                            clv_fast_estimate_t **fast_p) CLV_MUST_CHECK;

#endif
