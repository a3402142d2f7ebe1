/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pictures of result groups by gnuplot: one line per algorithm and configuration, with bars, as
 * PNG, SVG or PDF by the file's name.
 *
 * Points are medians of the mpiruns, bars reach from quartile to quartile (below four mpiruns from
 * the least to the largest). An algorithm has its colour everywhere, up to four patterns a panel
 * each; sizes and so on differ in mark and dash.
 * Not: a plotting library; without gnuplot the script is kept and its name told.
 * Units: as the axes say.
 * Errors: CLV_INVALID, CLV_UNSUPPORTED, with one line in reason.
 * Memory: what it allocates it frees.
 * Threads: one.
 */
#ifndef CLV_BENCH_PLOT_H
#define CLV_BENCH_PLOT_H

#include "apps/bench/compare/bench_results.h"

/* A figure of the papers, or one of our own: what is on the axes. */
typedef struct clv_figure {
    const char *name;
    const char *meaning;
    const char *metric;
    const char *x; /* "delay", "ranks", "bytes", "pattern"; "duration" is of clv-clock */
    const char *title;
    int log_x;
} clv_figure_t;

/* Ends with a NULL name. */
extern const clv_figure_t clv_figures[];
const clv_figure_t *clv_figure_find(const char *name);

typedef struct clv_plot {
    const clv_figure_t *figure;
    const char *metric; /* that was read */
    int is_log;         /* values */
} clv_plot_t;

/* Whether the name ends in .png, .svg or .pdf, and can stand in a script. */
int clv_plot_is_name(const char *path);

/* Writes <path> (.png, .svg, .pdf). CLV_INVALID for another ending or an unwritable file,
 * CLV_UNSUPPORTED without gnuplot. The set has a group. */
clv_status_t clv_plot(const clv_result_set_t *set, const clv_plot_t *plot, const char *path,
                      char *reason, size_t reason_bytes) CLV_MUST_CHECK;

#endif
