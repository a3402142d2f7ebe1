/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which results make a line of a figure, what it is called, and how it looks.
 *
 * What all lines have in common stands in the title, what tells them apart in the key. Units: as
 * the axes say. No I/O but into an open script.
 */
#ifndef CLV_BENCH_PLOT_LINES_H
#define CLV_BENCH_PLOT_LINES_H

#include <stdio.h>

#include "apps/bench/compare/bench_results.h"

#define CLV_PLOT_LINES 64

typedef struct clv_plot_line {
    const clv_result_group_t *first;
    int algorithm; /* its number among the algorithms: the colour */
    int variant;   /* its number among the lines of that algorithm: mark and dash */
} clv_plot_line_t;

typedef struct clv_plot_lines {
    clv_plot_line_t line[CLV_PLOT_LINES];
    int n;
    const clv_result_set_t *set;
    const char *x;  /* the axis: the factor that does not tell lines apart */
    int has_panels; /* one for each pattern, with the same colours, marks and dashes */
} clv_plot_lines_t;

/* 0: more lines than a figure can show. */
int clv_plot_lines_find(const clv_result_set_t *set, const char *x, int has_panels,
                        clv_plot_lines_t *lines);
int clv_plot_lines_has(const clv_plot_lines_t *lines, int line, const clv_result_group_t *group);

/* "reduce, 8 processes, 2048 KiB"; "clv, repeated". */
void clv_plot_lines_common(const clv_plot_lines_t *lines, FILE *script);
void clv_plot_lines_name(const clv_plot_lines_t *lines, int line, FILE *script);

/* "lc rgb '#0072b2' dt 2 pt 7": no two of 40 lines of a panel look the same. */
void clv_plot_lines_look(const clv_plot_lines_t *lines, int line, FILE *script);
const char *clv_plot_lines_colour(const clv_plot_lines_t *lines, int line);

#endif
