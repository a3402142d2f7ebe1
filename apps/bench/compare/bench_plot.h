/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Plots result groups with gnuplot: one line per algorithm and configuration, with bars, as PNG,
 * SVG or PDF by the file's name.
 *
 * Points are medians of the mpiruns, bars reach from quartile to quartile (below four mpiruns from
 * the least to the largest). An algorithm has the same colour everywhere. Up to four patterns get a
 * panel each; other factors, such as sizes, differ in mark and dash.
 * Not: a plotting library; without gnuplot the script is kept and its name printed.
 * Units: as the axes say.
 * Errors: CLV_INVALID, CLV_UNSUPPORTED, with one line in reason.
 * Memory: all is freed on return.
 * Threads: one.
 */
#ifndef CLV_BENCH_PLOT_H
#define CLV_BENCH_PLOT_H

#include <stdbool.h>
#include <stdio.h>

#include "apps/bench/compare/bench_results.h"

/* A figure of the papers or of clv, by its axes. */
typedef struct clv_figure {
    const char *name;
    const char *meaning;
    const char *metric;
    const char *x; /* "delay", "ranks", "bytes", "pattern"; "duration" for clv-clock */
    const char *title;
    bool log_x;
} clv_figure_t;

/* Ends with a NULL name. */
extern const clv_figure_t clv_figures[];
const clv_figure_t *clv_figure_find(const char *name);

typedef struct clv_plot {
    const clv_figure_t *figure;
    const char *metric; /* the metric read */
    bool is_log;        /* of the values */
} clv_plot_t;

/* Whether the name ends in .png, .svg or .pdf, and is safe in a script. */
bool clv_plot_is_name(const char *path);

/* Writes <path> (.png, .svg, .pdf). CLV_INVALID for another ending or an unwritable file,
 * CLV_UNSUPPORTED without gnuplot. The set has a group. */
clv_status_t clv_plot(const clv_result_set_t *set, const clv_plot_t *plot, const char *path,
                      char *reason, size_t reason_bytes) CLV_MUST_CHECK;

/* ---- bench_plot_lines.c
 *
 * Determines which results form a line of a figure, its name, and its look.
 *
 * Common factors of all lines are in the title, the others in the key. Units: as the axes say. No
 * I/O except to an open script. */

#define CLV_PLOT_LINES 64

typedef struct clv_plot_line {
    const clv_result_group_t *first;
    int algorithm; /* number of the algorithm: the colour */
    int variant;   /* number among that algorithm's lines: mark and dash */
} clv_plot_line_t;

typedef struct clv_plot_lines {
    clv_plot_line_t line[CLV_PLOT_LINES];
    int n;
    const clv_result_set_t *set;
    const char *x;   /* the axis: the factor that does not separate lines */
    bool has_panels; /* one per pattern, with the same colours, marks and dashes */
} clv_plot_lines_t;

/* False: more lines than a figure can show. */
bool clv_plot_lines_find(const clv_result_set_t *set, const char *x, bool has_panels,
                         clv_plot_lines_t *lines);
bool clv_plot_lines_has(const clv_plot_lines_t *lines, int line, const clv_result_group_t *group);

/* "reduce, 8 processes, 2048 KiB"; "clv, repeated". */
void clv_plot_lines_common(const clv_plot_lines_t *lines, FILE *script);
void clv_plot_lines_name(const clv_plot_lines_t *lines, int line, FILE *script);

/* "lc rgb '#0072b2' dt 2 pt 7": 40 lines of a panel all look different. */
void clv_plot_lines_look(const clv_plot_lines_t *lines, int line, FILE *script);
const char *clv_plot_lines_colour(const clv_plot_lines_t *lines, int line);

#endif
