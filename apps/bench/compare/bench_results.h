/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads the output of clv-bench and clv-clock: JSON lines to groups of per-mpirun medians.
 *
 * What: one file is one mpirun. A line is a configuration and an algorithm; its usable calls go
 * through Tukey's filter and become one median. Lines of different files with equal factors form a
 * group; tests compare its values, one per mpirun. The calls themselves (of a loop: its blocks) are
 * kept too, unfiltered: those of two algorithms in one file belong together in pairs.
 * Not: a JSON library: flat objects as clv-bench writes them, with unique keys, one per line.
 * Units: ns. The set owns all memory; no MPI.
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

/* For output of clv-clock: the collective of its groups, and the largest error, the true one if
 * known. */
#define CLV_RESULTS_CLOCK        "clock"
#define CLV_RESULTS_CLOCK_METRIC "clock_error"

typedef struct clv_result_group {
    char label[CLV_RESULTS_TEXT]; /* of its command; "" if there is only one */
    char collective[CLV_RESULTS_TEXT];
    char pattern[CLV_RESULTS_TEXT];
    char algorithm[CLV_RESULTS_TEXT];
    double n_ranks;
    double n_bytes;
    double delay_ns;
    char delay[CLV_RESULTS_TEXT];  /* as given; "1x" is not the same ns twice */
    char couple[CLV_RESULTS_TEXT]; /* loops only, as is the next field */
    char compute[CLV_RESULTS_TEXT];
    size_t n_runs;
    double value[CLV_RESULTS_RUNS];      /* median of each mpirun */
    double duration_s[CLV_RESULTS_RUNS]; /* clocks only: duration of each synchronisation */
    size_t n_calls;                      /* usable calls of all mpiruns */
    size_t n_filtered;                   /* of these, dropped by the filter */
    double *calls;                       /* of all mpiruns, concatenated; NaN: not usable */
    size_t n_kept;
    size_t n_room;
    size_t run_end[CLV_RESULTS_RUNS]; /* where the calls of each mpirun end */
    unsigned caveats;                 /* of any mpirun; bits of clv_results_caveats */
} clv_result_group_t;

/* Reasons why a file's figures may mislead, by the keys of its lines; ends with a NULL line. */
typedef struct clv_result_caveat {
    unsigned bit;
    const char *line;    /* the text in the line that shows it */
    const char *meaning; /* followed by names of algorithms */
} clv_result_caveat_t;

enum { CLV_CAVEAT_CPU_BOUND = 1, CLV_CAVEAT_CLOCK = 2, CLV_CAVEAT_INTERRUPTED = 4 };
extern const clv_result_caveat_t clv_results_caveats[];

typedef struct clv_result_set {
    clv_result_group_t *groups;
    size_t n_groups;
    size_t n_allocated;
    int64_t n_sample; /* calls drawn at random per mpirun; 0: all */
    uint64_t seed;    /* of the random choice */
} clv_result_set_t;

/* Adds one file, as one mpirun of the command `label`. metric is an array's key ("ahead_calls"),
 * also without "_ns" ("after", "run", "in_mpi_mean"; of loops "iteration", "first_iteration",
 * "in_call"), or a plain number's ("overlap_benefit", "hidden_part").
 * On failure one line in reason; the set stays valid. */
clv_status_t clv_results_read(const char *path, const char *label, const char *metric,
                              clv_result_set_t *set, char *reason,
                              size_t reason_bytes) CLV_MUST_CHECK;
/* Returns the group with the factors of `like`, added if new; NULL if memory is short. */
clv_result_group_t *clv_results_group(clv_result_set_t *set, const clv_result_group_t *like);
void clv_results_free(clv_result_set_t *set);

/* The default metric for files like this one: after; for loops iteration, for clocks
 * clock_error. */
const char *clv_results_default_metric(const char *path);

/* Drops the groups that is_wanted rejects. */
void clv_results_keep(clv_result_set_t *set, bool (*is_wanted)(void *, const clv_result_group_t *),
                      void *context);

/* Calls of two groups that were measured side by side, as logarithms of a's over b's, without
 * unusable ones. `ratios` has room for a->n_kept values. Returns their number: 0 if the files do
 * not contain both, or not equally many calls. */
size_t clv_results_pairs(const clv_result_group_t *a, const clv_result_group_t *b, double *ratios);

/* Writes "NOT network-bound, ...: ring, LABEL: chain" for the groups with the caveat that, unless
 * like is NULL, are comparable with it; each name once. Returns whether there were any. */
bool clv_results_put_caveat(FILE *out, const clv_result_set_t *set, const clv_result_group_t *like,
                            const clv_result_caveat_t *caveat);

/* Whether only the algorithm (and label) differs between two groups. */
bool clv_results_comparable(const clv_result_group_t *a, const clv_result_group_t *b);

#endif
