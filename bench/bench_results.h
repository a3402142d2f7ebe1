/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading back what clv-bench wrote: JSON lines to groups of per-mpirun medians.
 *
 * What: one file is one mpirun. A line is a configuration and an algorithm; its usable calls go
 * through Tukey's filter and become one median. Lines of different files with equal factors form a
 * group; its values, one per mpirun, are what tests compare.
 * Not: a JSON library: flat objects as clv-bench writes them, keys unique, one a line.
 * Units: ns. Everything is owned by the set; no MPI.
 */
#ifndef CLV_BENCH_RESULTS_H
#define CLV_BENCH_RESULTS_H

#include <stddef.h>

#include "util/util_status.h"

#define CLV_RESULTS_TEXT 96
#define CLV_RESULTS_RUNS 128

typedef struct clv_result_group {
    char label[CLV_RESULTS_TEXT]; /* of the command that ran it, "" if there is one only */
    char collective[CLV_RESULTS_TEXT];
    char pattern[CLV_RESULTS_TEXT];
    char algorithm[CLV_RESULTS_TEXT];
    double n_ranks;
    double n_bytes;
    double delay_ns;
    size_t n_runs;
    double value[CLV_RESULTS_RUNS]; /* median of each mpirun */
    double duration_s[CLV_RESULTS_RUNS]; /* clocks only: of each synchronisation */
    size_t n_calls;                 /* usable, of all mpiruns */
    size_t n_filtered;              /* of them dropped by the filter */
    int is_cpu_bound;               /* some mpirun was not network-bound */
} clv_result_group_t;

typedef struct clv_result_set {
    clv_result_group_t *groups;
    size_t n_groups;
    size_t n_allocated;
} clv_result_set_t;

/* Adds one file, as one mpirun of the command `label`. metric is an array key without "_ns"
 * ("after", "run", "in_mpi_mean") or a plain number's key ("overlap_benefit", "hidden_part").
 * On failure one line in reason; the set stays valid. */
clv_status_t clv_results_read(const char *path, const char *label, const char *metric,
                              clv_result_set_t *set, char *reason,
                              size_t reason_bytes) CLV_MUST_CHECK;
/* The group with the factors of `like`, added if it is new; NULL when memory is short. */
clv_result_group_t *clv_results_group(clv_result_set_t *set, const clv_result_group_t *like);
void clv_results_free(clv_result_set_t *set);

/* The same configuration with another algorithm: everything equal but algorithm (and label). */
int clv_results_comparable(const clv_result_group_t *a, const clv_result_group_t *b);

#endif
