/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plan of a call: made once, on rank 0, dealt out to the ranks as their steps.
 *
 * The component has every rank make the plan; it is the same plan, and in a simulation that would
 * be the same work n_ranks times on one processor. All of it happens outside the measured time.
 */
#ifndef CLV_SIM_PLAN_H
#define CLV_SIM_PLAN_H

#include "bench/sim/sim_options.h"
#include "schedule/sched_cost.h"

/* Numbers of segments a plan may have, and what a message of each costs here. */
#define CLV_SIM_MAX_CUTS 7

typedef struct clv_sim_cuts {
    int32_t n_cuts;
    int32_t n_segments[CLV_SIM_MAX_CUTS];
    clv_cost_t cost[CLV_SIM_MAX_CUTS];
} clv_sim_cuts_t;

/* Collective: the one number that was asked for, or all of the table that fit; measured. */
clv_status_t clv_sim_measure_cuts(const clv_sim_options_t *options,
                                  clv_sim_cuts_t *cuts_p) CLV_MUST_CHECK;

typedef struct clv_sim_steps {
    clv_step_t *steps; /* this rank's part; clv_free */
    int64_t n_steps;
    int32_t n_segments;
} clv_sim_steps_t;

/* Collective. Of the cuts, the one whose plan ends first by its own estimate. arrival_ns and
 * order_ns (or NULL) as in clv_instance_t; root 0. */
clv_status_t clv_sim_deal_plan(const clv_sim_options_t *options, const clv_sim_cuts_t *cuts,
                               const int64_t *arrival_ns, const int64_t *order_ns,
                               clv_sim_steps_t *steps_p) CLV_MUST_CHECK;

#endif
