/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the files of what_if/: a replayed program's calls with clv, and with algorithms that
 * ignore arrivals.
 */
#ifndef CLV_WHAT_IF_INTERNAL_H
#define CLV_WHAT_IF_INTERNAL_H

#include <stdbool.h>

#include "apps/what_if/what_if.h"

/* ---- what_if_clv.c
 *
 * Decides what clv would run in a call of a replayed program, with the component's predictor,
 * decider and plan cache, fed with simulated arrivals.
 *
 * A learner belongs to one communicator. Its streams share the plan cache; each has a history, the
 * decider's memory and the active forecast. As in the component, a sampled call activates the
 * forecast of the previous sampled call, and a rank that arrives before that forecast is known
 * waits for it, at most PATIENCE_NS. If arrivals are known, each call is sampled and announced.
 *
 * Not: the network; the caller that replays the plan reports when ranks left.
 * Units: ns. Errors: CLV_NO_MEMORY and those of the decider. Memory: the learner's, freed with it.
 * Threads: safe on distinct learners. */

typedef struct clv_what_if_learner clv_what_if_learner_t;

/* comm must outlive the learner. */
clv_status_t clv_what_if_learner_create(const clv_what_if_comm_t *comm,
                                        const clv_what_if_setting_t *setting, bool knows,
                                        clv_what_if_learner_t **learner_p) CLV_MUST_CHECK;
void clv_what_if_learner_free(clv_what_if_learner_t *learner);

/* Ranks arrive at a call; from start_ns on, each knows what to run. NULL in *plan_p: the previous
 * function. The plan is valid until the next call. */
clv_status_t clv_what_if_learner_begin(clv_what_if_learner_t *learner,
                                       const clv_pap_stream_key_t *key, const int64_t *arrival_ns,
                                       int64_t *start_ns, const clv_plan_t **plan_p) CLV_MUST_CHECK;

/* Ranks leave the call. */
void clv_what_if_learner_end(clv_what_if_learner_t *learner, const int64_t *arrival_ns,
                             const int64_t *exit_ns);

/* ---- what_if_fixed.c
 *
 * Calls whose order ignores arrivals: the previous function, and the forced pipeline.
 *
 * The previous reduce is a binomial tree of whole vectors, replayed as a plan. The previous
 * allreduce takes the component's own estimate (choose_previous.h), from the last arrival on for
 * all ranks. The previous broadcast is a binomial tree in which a rank waits for its parent, then
 * sends to its children one after the other; a late child delays no other. Pipelines are a chain by
 * rank, and for an allreduce a ring by rank.
 *
 * Units: ns, bytes. Errors: those of clv_plan_make, clv_plan_exits, clv_choose_previous.
 * Memory: the cache's. Threads: as the cache. */

typedef struct clv_what_if_fixed {
    const clv_what_if_run_t *run;
    const clv_cost_t *cost;
    bool is_pipeline;
    const int64_t *zeros; /* one per rank of the job */
    clv_plan_cache_t *plans;
} clv_what_if_fixed_t;

/* Computes when ranks leave the call. exits: as in clv_plan_exits. */
clv_status_t clv_what_if_fixed_exits(const clv_what_if_fixed_t *fixed,
                                     const clv_what_if_call_t *call, const int64_t *arrival_ns,
                                     clv_exits_t *exits, int64_t *exit_ns) CLV_MUST_CHECK;

#endif
