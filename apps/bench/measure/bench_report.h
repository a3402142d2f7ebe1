/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What clv-bench prints: a table to read, and JSON lines with every factor and every value.
 *
 * One JSON object per line, configuration and algorithm; flat, numbers in ns, the measured calls as
 * arrays in order (docs/guide/json.md). clv-bench-compare reads these lines. Rank 0 only; no MPI
 * calls that others join.
 */
#ifndef CLV_BENCH_REPORT_H
#define CLV_BENCH_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "apps/bench/measure/bench_loop.h"
#include "apps/bench/measure/bench_measure.h"
#include "apps/bench/measure/bench_options.h"
#include "apps/cli/cli_json.h"

/* The parts of a configuration that the setup does not hold. balanced may be NULL. */
typedef struct clv_bench_results {
    const clv_bench_options_t *options;
    const clv_bench_setup_t *setup;
    const clv_pattern_t *pattern;
    const char *pattern_text;
    const char *delay_text;
    size_t n_bytes;
    const clv_bench_metrics_t *metrics; /* [n_rounds][n_algorithms] */
    int64_t n_rounds;
    const clv_bench_metrics_t *balanced; /* [n_balanced][n_algorithms] */
    int64_t n_balanced;
    bool is_interrupted; /* so there is less than was asked for */
} clv_bench_results_t;

/* The verdict on a configuration, for the exit status. */
typedef struct clv_bench_verdict {
    int64_t n_wrong; /* calls with a wrong result */
    int64_t n_calls;
    int64_t n_unusable;   /* of them: whose start was missed by a rank */
    double longest_ns;    /* of all calls, from the first arrival to the last exit */
    double cpu_wait_part; /* of the run time that ranks waited for a processor */
    bool is_cpu_bound;
} clv_bench_verdict_t;

/* Ranks that wait longer than this part of the time for a processor measure the machine, no
 * network. */
#define CLV_CPU_WAIT_LIMIT 0.10

void clv_bench_report_table(FILE *out, const clv_bench_results_t *results);
void clv_bench_report_json(FILE *out, const clv_bench_results_t *results);
clv_bench_verdict_t clv_bench_verdict(const clv_bench_results_t *results);

/* Parts that other reports share: collective, ranks, size, pattern, clock and so on as JSON keys;
 * the lines that say whether to trust the figures. */
void clv_bench_report_factors(clv_json_t *json, const clv_bench_results_t *results);
void clv_bench_report_algorithm(clv_json_t *json, const clv_algorithm_t *algorithm);
void clv_bench_report_verdict(FILE *out, const clv_bench_verdict_t *verdict,
                              const clv_bench_clock_t *clock);

/* ---- bench_loop_report.c
 *
 * What clv-bench --loop prints: a table to read, and JSON lines with every factor and every block.
 *
 * Ratios are to the first algorithm, turn by turn, and come with limits: the median of the Walsh
 * averages of their logarithms and the 95 % interval of the signed rank test (bench_stats.h), given
 * back as ratios. The limits are those of the two-sided interval: each is passed by chance once in
 * 40.
 * Fewer than six turns have none. Rank 0 only; allocates scratch, frees it.
 */

typedef struct clv_loop_report {
    const clv_bench_results_t *factors; /* options, setup, pattern, size; no metrics */
    const clv_loop_t *loop;
    const clv_loop_results_t *results;
} clv_loop_report_t;

void clv_loop_report_table(FILE *out, const clv_loop_report_t *report);
void clv_loop_report_json(FILE *out, const clv_loop_report_t *report);
/* Of clv against the strongest of the others, in words: two lines. */
void clv_loop_report_check(FILE *out, const clv_loop_report_t *report);
clv_bench_verdict_t clv_loop_verdict(const clv_loop_report_t *report);

/* ---- bench_xdr.c
 *
 * What clv-bench measured as XDR (RFC 4506): of every call each process with its start and end, as
 * doubles of global seconds (Entering Time, section III-C).
 *
 * By the system's XDR; where there was none when this was built, nothing is written. docs/guide/
 * json.md has the format. Rank 0 only.
 * Units: as told above. Errors: the stream's. Memory: none that stays. Threads: one.
 */

bool clv_bench_xdr_is_built(void);

/* A series for each algorithm; the setup's visits are there. What does not arrive shows in the
 * stream. */
void clv_bench_report_xdr(FILE *out, const clv_bench_results_t *results);

#endif
