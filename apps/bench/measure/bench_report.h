/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The output of clv-bench: a table for people, and JSON lines with every factor and every value.
 *
 * One JSON object per line, configuration and algorithm; flat, numbers in ns, the measured calls as
 * arrays in order (docs/guide/json.md). clv-bench-compare reads these lines. Rank 0 only; makes no
 * collective MPI calls.
 */
#ifndef CLV_BENCH_REPORT_H
#define CLV_BENCH_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "apps/bench/measure/bench_loop.h"
#include "apps/bench/measure/bench_measure.h"
#include "apps/bench/measure/bench_options.h"
#include "apps/cli/cli_json.h"

/* A configuration's results and the factors that the setup lacks. balanced may be NULL. */
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
    bool is_interrupted; /* fewer rounds than requested */
} clv_bench_results_t;

/* The verdict on a configuration, for the exit status. */
typedef struct clv_bench_verdict {
    int64_t n_wrong; /* calls with a wrong result */
    int64_t n_calls;
    int64_t n_unusable;   /* of these, calls whose start a rank missed */
    double longest_ns;    /* longest time of a call from the first arrival to the last exit */
    double cpu_wait_part; /* share of the run time that ranks waited for a processor */
    bool is_cpu_bound;
} clv_bench_verdict_t;

/* Ranks that wait longer than this share of the time for a processor measure the machine, not the
 * network. */
#define CLV_CPU_WAIT_LIMIT 0.10

void clv_bench_report_table(FILE *out, const clv_bench_results_t *results);
void clv_bench_report_json(FILE *out, const clv_bench_results_t *results);
clv_bench_verdict_t clv_bench_verdict(const clv_bench_results_t *results);

/* Parts shared with other reports: collective, ranks, size, pattern, clock and so on as JSON keys;
 * the lines on whether to trust the figures. */
void clv_bench_report_factors(clv_json_t *json, const clv_bench_results_t *results);
void clv_bench_report_algorithm(clv_json_t *json, const clv_algorithm_t *algorithm);
void clv_bench_report_verdict(FILE *out, const clv_bench_verdict_t *verdict,
                              const clv_bench_clock_t *clock);

/* ---- bench_loop_report.c
 *
 * The output of clv-bench --loop: a table for people, and JSON lines with every factor and every
 * block.
 *
 * Ratios are to the first algorithm, by turn, with limits: the median of the Walsh averages of
 * their logarithms and the 95 % interval of the signed rank test (bench_stats.h), converted back to
 * ratios. The interval is two-sided: by chance, each limit is exceeded once in 40. Below six turns
 * there are no limits. Rank 0 only; allocates scratch and frees it. */

typedef struct clv_loop_report {
    const clv_bench_results_t *factors; /* options, setup, pattern, size; no metrics */
    const clv_loop_t *loop;
    const clv_loop_results_t *results;
} clv_loop_report_t;

void clv_loop_report_table(FILE *out, const clv_loop_report_t *report);
void clv_loop_report_json(FILE *out, const clv_loop_report_t *report);
/* Compares clv with the strongest of the others, in words: two lines. */
void clv_loop_report_check(FILE *out, const clv_loop_report_t *report);
clv_bench_verdict_t clv_loop_verdict(const clv_loop_report_t *report);

/* ---- bench_xdr.c
 *
 * The measurements of clv-bench as XDR (RFC 4506): start and end of each process in every call, as
 * doubles of global seconds (Entering Time, section III-C).
 *
 * Uses the system's XDR; writes nothing if the build found none. docs/guide/ json.md has the
 * format. Rank 0 only.
 * Units: as above. Errors: the stream's. Memory: none is kept. Threads: one. */

bool clv_bench_xdr_is_built(void);

/* Writes one series per algorithm; requires the setup's visits. Errors show in the stream. */
void clv_bench_report_xdr(FILE *out, const clv_bench_results_t *results);

#endif
