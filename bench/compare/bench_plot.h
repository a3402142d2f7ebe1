/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pictures of result groups by gnuplot: one line per algorithm with error bars (median of the
 * mpirun medians, from the least to the largest of them), as PNG or SVG by the file's name.
 * Not: a plotting library; without gnuplot the script is kept and its name told.
 */
#ifndef CLV_BENCH_PLOT_H
#define CLV_BENCH_PLOT_H

#include "bench/compare/bench_results.h"

/* A figure of the papers, or one of our own: what is on the axes. */
typedef struct clv_figure {
    const char *name;
    const char *meaning;
    const char *metric;
    const char *x; /* "delay", "ranks", "bytes"; "duration" is for results of clv-clock */
    const char *title;
    int log_x;
} clv_figure_t;

/* Ends with a NULL name. */
extern const clv_figure_t clv_figures[];
const clv_figure_t *clv_figure_find(const char *name);
int clv_figure_is_of_clocks(const clv_figure_t *figure); /* NULL: no */

/* Writes <path> (.png or .svg). CLV_INVALID for another ending or an unwritable file,
 * CLV_UNSUPPORTED without gnuplot; both with one line in reason. */
clv_status_t clv_plot(const clv_result_set_t *set, const clv_figure_t *figure, const char *path,
                      char *reason, size_t reason_bytes) CLV_MUST_CHECK;

#endif
