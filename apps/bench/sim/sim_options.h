/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What one run of clv-sim is asked for: one algorithm, one pattern, one quality of prediction.
 *
 * Units as the names say. No MPI here.
 */
#ifndef CLV_SIM_OPTIONS_H
#define CLV_SIM_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "apps/cli/cli_options.h"
#include "schedule/sched_exec.h"
#include "util/util_status.h"

typedef struct clv_sim_options {
    const char *collective; /* reduce or allreduce */
    const char *algorithm;  /* of sim_direct.h, or a generator of the schedule module */
    const char *pattern;    /* as clv_pattern_parse takes it */
    const char *error;      /* of the prediction: a percentage, random, reversed or equal */
    double delay_ms;
    double round_factor; /* the plan's round length, in measured rounds */
    int32_t n_floats;
    int32_t n_segments; /* 0: chosen, for algorithms of the component only */
    int32_t n_calls;
    double clip; /* the deviation the clip rule believes, in honest ones; 0: no rule */
    int64_t seed;
    clv_exec_limits_t limits;
    double combine_ps; /* of a byte */
} clv_sim_options_t;

extern const clv_program_t clv_sim_program;

/* Every rank gets the sum. */
int clv_sim_is_allreduce(const clv_sim_options_t *options);

/* What the table cannot check: CLV_INVALID and one line in reason. */
clv_status_t clv_sim_options_check(const clv_sim_options_t *options, char *reason,
                                   size_t reason_bytes) CLV_MUST_CHECK;

#endif
