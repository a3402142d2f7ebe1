/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a run of clv-sim measured, as one line of clv-bench's JSON: bench/sim/run makes tables of it
 * and clv-bench-compare draws and compares it.
 *
 * Units: ns of simulated time. No MPI here.
 */
#ifndef CLV_SIM_REPORT_H
#define CLV_SIM_REPORT_H

#include <stdio.h>

#include "bench/sim/sim_options.h"

enum { CLV_SIM_AFTER, CLV_SIM_RUN, CLV_SIM_IN_MPI, CLV_SIM_N_METRICS };

typedef struct clv_sim_timing {
    double ns[CLV_SIM_N_METRICS]; /* last exit - last arrival; - first arrival; mean time inside */
    int32_t n_segments;           /* 0: not a plan */
} clv_sim_timing_t;

/* timings[options->n_calls]; the medians' numbers are those of all calls, nothing is filtered.
 * CLV_NO_MEMORY. */
clv_status_t clv_sim_report(FILE *out, const clv_sim_options_t *options, int n_ranks,
                            const clv_sim_timing_t *timings) CLV_MUST_CHECK;

#endif
