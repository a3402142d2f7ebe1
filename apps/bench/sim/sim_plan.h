/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plan of a call: chosen on rank 0 by the module choose, as the component would, and dealt out
 * to the ranks as their steps.
 *
 * The component's leaders all choose the same; in a simulation that would be the same work many
 * times on one processor. All of it happens outside the measured time.
 * What the component does not choose for, such as a double tree, is made as asked.
 */
#ifndef CLV_SIM_PLAN_H
#define CLV_SIM_PLAN_H

#include "apps/bench/sim/sim_options.h"
#include "choose/choose.h"

/* What rank 0 chooses with; the state goes on from call to call. */
typedef struct clv_sim_chooser {
    clv_choose_config_t config;
    clv_choose_state_t state;
    int64_t version; /* of the newest forecast */
    int32_t *place;  /* of each rank, NULL: no two share a host */
} clv_sim_chooser_t;

/* The algorithm of the component that has this word or makes its plans with this generator, else
 * CLV_ALGORITHM_AUTO. */
int32_t clv_sim_chosen(const char *name);

/* Collective: finds out who shares a host, and measures the network. */
clv_status_t clv_sim_chooser_open(const clv_sim_options_t *options,
                                  clv_sim_chooser_t *chooser) CLV_MUST_CHECK;
void clv_sim_chooser_close(clv_sim_chooser_t *chooser);

typedef struct clv_sim_steps {
    clv_step_t *steps; /* this rank's part; clv_free */
    int64_t n_steps;
    int32_t n_segments;
} clv_sim_steps_t;

/* Collective. The plan for arrivals predicted_ns with a deviation of sigma_ns, root 0. */
clv_status_t clv_sim_deal_plan(const clv_sim_options_t *options, clv_sim_chooser_t *chooser,
                               const int64_t *predicted_ns, int64_t sigma_ns,
                               clv_sim_steps_t *steps_p) CLV_MUST_CHECK;

#endif
