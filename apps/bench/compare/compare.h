/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the files of clv-bench-compare: mpiruns to measure, factors to vary, printing of
 * results. Results themselves: bench_results.h; pictures of them: bench_plot.h.
 *
 * Threads: one.
 */
#ifndef CLV_COMPARE_H
#define CLV_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apps/bench/compare/bench_results.h"
#include "apps/bench/measure/bench_stats.h"
#include "util/util_status.h"

/* ---- bench_runs.c
 *
 * Several mpiruns of several commands in one random order, each with its own result file.
 *
 * What: DIR/[LABEL-]run-N.json is the output of an mpirun; it gets that name once the command has
 * succeeded. Output of a failed one becomes run-N.json.failed-1, -2, ...; no file is ever removed
 * or overwritten. DIR/[LABEL-]command holds the command, so that no other command continues with
 * its files.
 * Not: reading results.
 * Units: mpiruns count from 0, in file names from 1. Threads: one; SIGINT is caught meanwhile. */

#define CLV_RUNS_COMMANDS 32
#define CLV_RUNS_PATH     512

typedef struct clv_command {
    const char *label; /* "" if there is only one */
    const char *text;  /* a shell line of the user */
} clv_command_t;

typedef struct clv_runs {
    clv_command_t commands[CLV_RUNS_COMMANDS];
    int n_commands;
    int n_runs; /* per command */
    const char *folder;
    uint64_t seed;
    bool resumes; /* keep the files that exist */
    int n_done;   /* results, as is the next */
    int n_failed;
} clv_runs_t;

/* Parses "LABEL: COMMAND" or "COMMAND", which may begin with VARIABLE=VALUE as in a shell; cuts the
 * text. Returns NULL, or the permitted form. */
const char *clv_runs_add(clv_runs_t *runs, char *text);

/* The result file of an mpirun. False: the path is too long. */
bool clv_runs_path(const clv_runs_t *runs, int command, int run, char path[CLV_RUNS_PATH]);

/* Runs the missing mpiruns. CLV_OK even if some failed (n_failed); CLV_INVALID: nothing was run,
 * because files exist or cannot be written; CLV_SYSTEM: stopped by SIGINT. One line in reason. */
clv_status_t clv_runs_all(clv_runs_t *runs, char *reason, size_t reason_bytes) CLV_MUST_CHECK;

/* ---- bench_factors.c
 *
 * Factors that a comparison varies: each command runs once for every combination of their values
 * ("MPI Benchmarking Revisited", section 5, and its full factorial designs of section 6).
 *
 * Units: none.
 * Errors: the permitted form of a text; CLV_LIMIT for too many combinations.
 * Memory: the factors own the new texts, freed by clv_factors_free.
 * Threads: one. */

#define CLV_FACTORS 8

typedef struct clv_factors {
    const char *text[CLV_FACTORS]; /* "cache=warm,cold" */
    int n_factors;
    char *made[2 * CLV_RUNS_COMMANDS]; /* labels and commands of the last crossing */
    int n_made;
} clv_factors_t;

/* Parses "NAME=VALUE,VALUE[,...]". Returns NULL, or the permitted form. */
const char *clv_factors_add(clv_factors_t *factors, const char *text);

/* Replaces each command by one per combination. %NAME% in a command stands for the value; without
 * it, "--NAME VALUE" is appended to the command. Labels get NAME.VALUE. CLV_LIMIT, CLV_NO_MEMORY,
 * with one line in reason. */
clv_status_t clv_factors_cross(clv_factors_t *factors, clv_runs_t *runs, char *reason,
                               size_t reason_bytes) CLV_MUST_CHECK;
void clv_factors_free(clv_factors_t *factors);

/* ---- compare_table.c
 *
 * The output of clv-bench-compare: the table of medians with tests and intervals, paired ratios,
 * and the medians as JSON lines (docs/guide/json.md).
 *
 * Units: ns in JSON, ms in tables, us for clocks. One thread. */

/* A test that gives p. */
typedef struct clv_compare_test {
    const char *name; /* the value of --test */
    const char *meaning;
    /* NaN if there are too few values. */
    double (*p_value)(const clv_result_group_t *group, const clv_result_group_t *base,
                      clv_stats_tail_t tail);
    bool is_two_sided; /* it has no one-sided form */
} clv_compare_test_t;

/* Ends with a NULL name; the first is the default. */
extern const clv_compare_test_t clv_compare_tests[];
const clv_compare_test_t *clv_compare_test_find(const char *name);

typedef struct clv_compare {
    const clv_result_set_t *set;
    const char *metric;
    const char *baseline;           /* algorithm, or label if there are several; NULL: the first */
    const char *paired;             /* NULL, "table" or "csv" */
    double level;                   /* of the intervals */
    const clv_compare_test_t *test; /* NULL: the first */
    bool is_two_sided;              /* "differs" instead of "is better" */
    bool has_labels;                /* compares an algorithm with itself under another label */
} clv_compare_t;

/* The divisor of values in tables: ms, for clocks us. */
double clv_compare_unit(const clv_compare_t *compare);

/* Whether the baseline, if one is given, is an algorithm or a label of the set. */
bool clv_compare_has_baseline(const clv_compare_t *compare);

/* Prints to standard output. CLV_NO_MEMORY. */
clv_status_t clv_compare_print(const clv_compare_t *compare) CLV_MUST_CHECK;

/* Appends to the file; "-" is standard output. CLV_INVALID, with one line in reason. */
clv_status_t clv_compare_json(const clv_compare_t *compare, const char *path, char *reason,
                              size_t reason_bytes) CLV_MUST_CHECK;

/* ---- compare_means.c
 *
 * How many calls a mean needs to be normally distributed: means of samples of measured calls, and
 * Shapiro and Wilk's test of them ("MPI Benchmarking Revisited", section 5.1 and Fig. 13).
 *
 * What: draws samples with replacement from all usable calls of a group, unfiltered;
 * CLV_MEANS_DRAWN for each requested number of calls. Not: a rule for other machines: the result
 * holds for these calls.
 *
 * Units: ns in JSON, ms in tables, us for clocks. The test accepts 95 % of normal samples as
 * normal.
 * Errors: CLV_INVALID with one line in reason, CLV_NO_MEMORY.
 * Memory: none is kept.
 * Threads: one. */

#define CLV_MEANS_SIZES 16
#define CLV_MEANS_DRAWN 500 /* per size, as in the paper */

/* The requested numbers of calls per mean. */
typedef struct clv_means {
    int32_t n_sizes; /* 0: none requested */
    int32_t calls[CLV_MEANS_SIZES];
    uint64_t seed;
} clv_means_t;

/* Parses "10,30,500". Returns NULL, or the permitted form. */
const char *clv_means_read(clv_means_t *means, const char *text);

/* Prints a table to standard output and, unless path is NULL, appends JSON lines to that file ("-":
 * standard output instead of the table). */
clv_status_t clv_means_tell(const clv_means_t *means, const clv_compare_t *compare,
                            const char *path, char *reason, size_t reason_bytes) CLV_MUST_CHECK;

#endif
