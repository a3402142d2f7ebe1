/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of clv-bench-compare share: mpiruns to measure, factors to vary, what is printed
 * of the results. Results themselves: bench_results.h; pictures of them: bench_plot.h.
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
 * Several mpiruns of several commands in one random order, each with a file of results of its own.
 *
 * What: DIR/[LABEL-]run-N.json is what an mpirun wrote; it gets that name when the command has
 * ended well. What a failed one left becomes run-N.json.failed-1, -2, ...; nothing is ever removed
 * or overwritten. DIR/[LABEL-]command is the command, so that no other goes on with its files.
 * Not: reading results.
 * Units: mpiruns count from 0, in names from 1. Threads: one; SIGINT is caught meanwhile.
 */

#define CLV_RUNS_COMMANDS 32
#define CLV_RUNS_PATH     512

typedef struct clv_command {
    const char *label; /* "" where there is one only */
    const char *text;  /* the user's own shell line */
} clv_command_t;

typedef struct clv_runs {
    clv_command_t commands[CLV_RUNS_COMMANDS];
    int n_commands;
    int n_runs; /* of each command */
    const char *folder;
    uint64_t seed;
    bool resumes; /* files that are there are not measured again */
    int n_done;   /* filled in, as the next */
    int n_failed;
} clv_runs_t;

/* Takes "LABEL: COMMAND" or "COMMAND", which may begin with VARIABLE=VALUE as in a shell; cuts the
 * text. NULL, or what it must be. */
const char *clv_runs_add(clv_runs_t *runs, char *text);

/* The file of an mpirun. 0: the path is too long. */
bool clv_runs_path(const clv_runs_t *runs, int command, int run, char path[CLV_RUNS_PATH]);

/* Runs what is not there. CLV_OK also when some failed (n_failed); CLV_INVALID: nothing was run,
 * since files are there, or cannot be; CLV_SYSTEM: stopped by SIGINT; with one line in reason. */
clv_status_t clv_runs_all(clv_runs_t *runs, char *reason, size_t reason_bytes) CLV_MUST_CHECK;

/* ---- bench_factors.c
 *
 * Factors that a comparison varies: each command once for every combination of their values
 * ("MPI Benchmarking Revisited", section 5, and its full factorial designs of section 6).
 *
 * Units: none.
 * Errors: what a text must be; CLV_LIMIT for more combinations than there is room for.
 * Memory: the texts that are made are the factors', freed by clv_factors_free.
 * Threads: one.
 */

#define CLV_FACTORS 8

typedef struct clv_factors {
    const char *text[CLV_FACTORS]; /* "cache=warm,cold" */
    int n_factors;
    char *made[2 * CLV_RUNS_COMMANDS]; /* labels and commands of the last crossing */
    int n_made;
} clv_factors_t;

/* Takes "NAME=VALUE,VALUE[,...]". NULL, or what it must be. */
const char *clv_factors_add(clv_factors_t *factors, const char *text);

/* Replaces each command by one for every combination. %NAME% in a command stands for the value;
 * where it does not occur, "--NAME VALUE" is put behind the command. Labels get NAME.VALUE.
 * CLV_LIMIT, CLV_NO_MEMORY, with one line in reason. */
clv_status_t clv_factors_cross(clv_factors_t *factors, clv_runs_t *runs, char *reason,
                               size_t reason_bytes) CLV_MUST_CHECK;
void clv_factors_free(clv_factors_t *factors);

/* ---- compare_table.c
 *
 * What clv-bench-compare prints: the table of medians with tests and intervals, ratios in pairs,
 * and the medians as JSON lines (docs/guide/json.md).
 *
 * Units: in JSON ns, in tables ms, of clocks us. One thread.
 */

/* How p is found. */
typedef struct clv_compare_test {
    const char *name; /* of --test */
    const char *meaning;
    /* NaN where there are too few values. */
    double (*p_value)(const clv_result_group_t *group, const clv_result_group_t *base,
                      clv_stats_tail_t tail);
    bool is_two_sided; /* there is no other form of it */
} clv_compare_test_t;

/* Ends with a NULL name; the first is what is used by default. */
extern const clv_compare_test_t clv_compare_tests[];
const clv_compare_test_t *clv_compare_test_find(const char *name);

typedef struct clv_compare {
    const clv_result_set_t *set;
    const char *metric;
    const char *baseline; /* algorithm, or label where there are several; NULL: the first */
    const char *paired;   /* NULL, "table" or "csv" */
    double level;         /* of the intervals */
    const clv_compare_test_t *test; /* NULL: the first */
    bool is_two_sided;              /* "differs" instead of "is better" */
    bool has_labels; /* the same algorithm under two labels is compared with itself */
} clv_compare_t;

/* What values are divided by for tables: ms, clocks in us. */
double clv_compare_unit(const clv_compare_t *compare);

/* On standard output. CLV_NO_MEMORY. */
clv_status_t clv_compare_print(const clv_compare_t *compare) CLV_MUST_CHECK;

/* Appends to the file, "-" is standard output. CLV_INVALID, and one line in reason. */
clv_status_t clv_compare_json(const clv_compare_t *compare, const char *path, char *reason,
                              size_t reason_bytes) CLV_MUST_CHECK;

/* ---- compare_means.c
 *
 * How many calls a mean must be made of until it is normally distributed: means of samples of
 * measured calls, and Shapiro and Wilk's test of them ("MPI Benchmarking Revisited", section 5.1
 * and Fig. 13).
 *
 * What: of all usable calls of a group, unfiltered, samples are drawn with replacement, as many for
 * each asked number of calls. Not: a rule for other machines: the number is that of these calls.
 *
 * Units: in JSON ns, in tables ms, of clocks us; the fraction of normal samples that such a test
 * calls normal is 95 %.
 * Errors: CLV_INVALID with one line in reason, CLV_NO_MEMORY.
 * Memory: none is kept.
 * Threads: one.
 */

#define CLV_MEANS_SIZES 16
#define CLV_MEANS_DRAWN 500 /* of each size, as in the paper */

/* What is asked for: numbers of calls, each a mean's. */
typedef struct clv_means {
    int32_t n_sizes; /* 0: nothing is asked for */
    int32_t calls[CLV_MEANS_SIZES];
    uint64_t seed;
} clv_means_t;

/* "10,30,500": NULL, or what it should have been. */
const char *clv_means_read(clv_means_t *means, const char *text);

/* A table on standard output, and, unless path is NULL, lines appended to that file ("-": standard
 * output in place of the table). */
clv_status_t clv_means_tell(const clv_means_t *means, const clv_compare_t *compare,
                            const char *path, char *reason, size_t reason_bytes) CLV_MUST_CHECK;

#endif
