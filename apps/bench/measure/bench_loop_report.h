/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What clv-bench --loop prints: a table to read, and JSON lines with every factor and every block.
 *
 * Ratios are to the first algorithm, turn by turn, and come with limits: the median of the Walsh
 * averages of their logarithms and the 95 % interval of the signed rank test (bench_stats.h), given
 * back as ratios. The limits are those of the two-sided interval: each is passed by chance once in
 * 40.
 * Fewer than six turns have none. Rank 0 only; allocates scratch, frees it.
 */
#ifndef CLV_BENCH_LOOP_REPORT_H
#define CLV_BENCH_LOOP_REPORT_H

#include <stdio.h>

#include "apps/bench/measure/bench_loop.h"
#include "apps/bench/measure/bench_report.h"

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

#endif
