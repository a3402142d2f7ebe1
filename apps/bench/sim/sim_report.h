/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What one call took, as a line of clv-bench's JSON.
 *
 * The script run makes tables of such lines, clv-bench-compare draws and compares them. A line is a
 * call, not a run: calls of a simulation are independent draws, nothing is warm or cold.
 * Units: ns of simulated time. No MPI here.
 */
#ifndef CLV_SIM_REPORT_H
#define CLV_SIM_REPORT_H

#include <stdio.h>

#include "apps/bench/sim/sim_options.h"

typedef struct clv_sim_timing {
    double after_ns;    /* last exit - last arrival */
    double run_ns;      /* last exit - first arrival */
    double in_mpi_ns;   /* mean over ranks of exit - arrival */
    int32_t n_segments; /* 0: not a plan */
} clv_sim_timing_t;

void clv_sim_report(FILE *out, const clv_sim_options_t *options, int n_ranks, int call,
                    const clv_sim_timing_t *timing);

#endif
