/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading back what clv-bench and clv-clock wrote: JSON lines to groups of per-mpirun medians.
 *
 * What: one file is one mpirun. A line is a configuration and an algorithm; its usable calls go
 * through Tukey's filter and become one median. Lines of different files with equal factors form a
 * group; its values, one per mpirun, are what tests compare. The calls themselves (of a loop: its
 * blocks) are kept too, unfiltered: those of two algorithms in one file belong together in pairs.
 * Not: a JSON library: flat objects as clv-bench writes them, keys unique, one a line.
 * Units: ns. Everything is owned by the set; no MPI.
 */
#ifndef CLV_BENCH_RESULTS_H
#define CLV_BENCH_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "util/util_status.h"

#define CLV_RESULTS_TEXT 96
#define CLV_RESULTS_RUNS 128

/* What clv-clock wrote: the collective of its groups, and the largest error, true where known. */
#define CLV_RESULTS_CLOCK        "clock"
#define CLV_RESULTS_CLOCK_METRIC "clock_error"

typedef struct clv_result_group {
    char label[CLV_RESULTS_TEXT]; /* of the command that ran it, "" if there is one only */
    char collective[CLV_RESULTS_TEXT];
    char pattern[CLV_RESULTS_TEXT];
    char algorithm[CLV_RESULTS_TEXT];
    double n_ranks;
    double n_bytes;
    double delay_ns;
    char delay[CLV_RESULTS_TEXT];  /* as it was given; "1x" is not the same ns twice */
    char couple[CLV_RESULTS_TEXT]; /* loops only, as the next one */
    char compute[CLV_RESULTS_TEXT];
    size_t n_runs;
    double value[CLV_RESULTS_RUNS];      /* median of each mpirun */
    double duration_s[CLV_RESULTS_RUNS]; /* clocks only: of each synchronisation */
    size_t n_calls;                      /* usable, of all mpiruns */
    size_t n_filtered;                   /* of them dropped by the filter */
    double *calls;                       /* of all mpiruns one behind the other; NaN: not usable */
    size_t n_kept;
    size_t n_room;
    size_t run_end[CLV_RESULTS_RUNS]; /* where the calls of each mpirun end */
    unsigned caveats;                 /* of some mpirun; bits of clv_results_caveats */
} clv_result_group_t;

/* Why figures of a file may not be what they seem, as its lines say; ends with a NULL line. */
typedef struct clv_result_caveat {
    unsigned bit;
    const char *line;    /* what stands in the line then */
    const char *meaning; /* names of algorithms follow */
} clv_result_caveat_t;

enum { CLV_CAVEAT_CPU_BOUND = 1, CLV_CAVEAT_CLOCK = 2, CLV_CAVEAT_INTERRUPTED = 4 };
extern const clv_result_caveat_t clv_results_caveats[];

typedef struct clv_result_set {
    clv_result_group_t *groups;
    size_t n_groups;
    size_t n_allocated;
    int64_t n_sample; /* of each mpirun's calls so many, drawn at random; 0: all */
    uint64_t seed;    /* of what is drawn */
} clv_result_set_t;

/* Adds one file, as one mpirun of the command `label`. metric is an array's key ("ahead_calls"),
 * also without "_ns" ("after", "run", "in_mpi_mean"; of loops "iteration", "first_iteration",
 * "in_call"), or a plain number's ("overlap_benefit", "hidden_part").
 * On failure one line in reason; the set stays valid. */
clv_status_t clv_results_read(const char *path, const char *label, const char *metric,
                              clv_result_set_t *set, char *reason,
                              size_t reason_bytes) CLV_MUST_CHECK;
/* The group with the factors of `like`, added if it is new; NULL when memory is short. */
clv_result_group_t *clv_results_group(clv_result_set_t *set, const clv_result_group_t *like);
void clv_results_free(clv_result_set_t *set);

/* What files like this one are compared by: after, of loops iteration, of clocks clock_error. */
const char *clv_results_default_metric(const char *path);

/* Drops the groups that are not wanted. */
void clv_results_keep(clv_result_set_t *set, bool (*is_wanted)(void *, const clv_result_group_t *),
                      void *context);

/* Calls of two groups that were measured side by side, as logarithms of a's over b's; drops what
 * was not usable. `ratios` holds a->n_kept values. Returns how many there are: 0 when the files do
 * not hold both, or not equally many. */
size_t clv_results_pairs(const clv_result_group_t *a, const clv_result_group_t *b, double *ratios);

/* "NOT network-bound, ...: ring, LABEL: chain", of the groups that have the caveat and, unless like
 * is NULL, are comparable with it; each name once. Returns whether there are any. */
bool clv_results_put_caveat(FILE *out, const clv_result_set_t *set, const clv_result_group_t *like,
                            const clv_result_caveat_t *caveat);

/* The same configuration with another algorithm: everything equal but algorithm (and label). */
bool clv_results_comparable(const clv_result_group_t *a, const clv_result_group_t *b);

#endif
