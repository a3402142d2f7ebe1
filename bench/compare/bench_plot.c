/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pictures by gnuplot; see bench_plot.h.
 */
#include "bench/compare/bench_plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/clock/bench_clock_results.h"
#include "bench/measure/bench_stats.h"

#define MAX_PATH 512

const clv_figure_t clv_figures[] = {
    {"delay", "time after the last arrival against the delay", "after", "delay",
     "Time after the last arrival", 0},
    {"ranks", "time after the last arrival against the number of ranks", "after", "ranks",
     "Time after the last arrival", 0},
    {"bytes", "time after the last arrival against the size", "after", "bytes",
     "Time after the last arrival", 1},
    {"fig10", "run time against the maximal delay (Clairvoyant paper, Fig. 10)", "run", "delay",
     "Run time against the maximal delay", 0},
    {"fig11", "run time against the number of ranks (Clairvoyant paper, Fig. 11)", "run", "ranks",
     "Run time against the number of processes", 0},
    {"overlap", "delay overlap benefit against the number of processes (late arrivals paper)",
     "overlap_benefit", "ranks", "Delay overlap benefit", 1},
    {"overlap-delay", "delay overlap benefit against the delay (late arrivals paper)",
     "overlap_benefit", "delay", "Delay overlap benefit", 0},
    {"mpi-time", "mean time in MPI against the delay", "in_mpi_mean", "delay", "Mean time in MPI",
     0},
    {"clock-accuracy",
     "largest error of a global clock against the duration of the synchronisation (of clv-clock)",
     CLV_CLOCK_METRIC, "duration", "Accuracy of global clocks", 0},
    {NULL, NULL, NULL, NULL, NULL, 0},
};

const clv_figure_t *clv_figure_find(const char *name)
{
    for (const clv_figure_t *figure = clv_figures; figure->name; figure++) {
        if (!strcmp(figure->name, name)) {
            return figure;
        }
    }
    return NULL;
}

static int is_time(const clv_figure_t *figure)
{
    return strcmp(figure->metric, "overlap_benefit") && strcmp(figure->metric, "hidden_part");
}

int clv_figure_is_of_clocks(const clv_figure_t *figure)
{
    return figure && !strcmp(figure->x, "duration");
}

static double duration_of(const clv_result_group_t *group)
{
    double sorted[CLV_RESULTS_RUNS];

    memcpy(sorted, group->duration_s, group->n_runs * sizeof *sorted);
    return clv_stats_median(sorted, group->n_runs);
}

static double x_of(const clv_result_group_t *group, const clv_figure_t *figure)
{
    return clv_figure_is_of_clocks(figure) ? duration_of(group)
           : !strcmp(figure->x, "delay")   ? group->delay_ns / 1e6
           : !strcmp(figure->x, "ranks")   ? group->n_ranks
                                           : group->n_bytes;
}

static void write_point(FILE *script, const clv_result_group_t *group, const clv_figure_t *figure)
{
    double sorted[CLV_RESULTS_RUNS];
    const double unit = clv_figure_is_of_clocks(figure) ? 1e3 : is_time(figure) ? 1e6 : 1.0;

    memcpy(sorted, group->value, group->n_runs * sizeof *sorted);
    const double median = clv_stats_median(sorted, group->n_runs);
    fprintf(script, "%.9g %.9g %.9g %.9g\n", x_of(group, figure), median / unit, sorted[0] / unit,
            sorted[group->n_runs - 1] / unit);
}

/* ---- what a line is: what all have in common stands under the title, the rest in the key ---- */

typedef void (*describe_t)(const clv_result_group_t *group, char *text, size_t n_bytes);

static void describe_collective(const clv_result_group_t *group, char *text, size_t n_bytes)
{
    snprintf(text, n_bytes, "%s", group->collective);
}

static void describe_pattern(const clv_result_group_t *group, char *text, size_t n_bytes)
{
    snprintf(text, n_bytes, "%s", group->pattern);
}

static void describe_ranks(const clv_result_group_t *group, char *text, size_t n_bytes)
{
    snprintf(text, n_bytes, "%.0f processes", group->n_ranks);
}

static void describe_bytes(const clv_result_group_t *group, char *text, size_t n_bytes)
{
    const int is_large = group->n_bytes >= 1024.0;

    *text = '\0';
    if (group->n_bytes > 0.0) {
        snprintf(text, n_bytes, "%.6g %s", is_large ? group->n_bytes / 1024.0 : group->n_bytes,
                 is_large ? "KiB" : "bytes");
    }
}

static void describe_delay(const clv_result_group_t *group, char *text, size_t n_bytes)
{
    *text = '\0';
    if (group->delay_ns > 0.0) {
        snprintf(text, n_bytes, "delay %.6g ms", group->delay_ns / 1e6);
    }
}

static const struct {
    const char *x; /* the axis on which it is no part of the line */
    describe_t describe;
} factors[] = {{"", describe_collective},
               {"", describe_pattern},
               {"ranks", describe_ranks},
               {"bytes", describe_bytes},
               {"delay", describe_delay}};
#define N_FACTORS (sizeof factors / sizeof factors[0])

static int is_same_factor(size_t f, const clv_result_group_t *a, const clv_result_group_t *b)
{
    char one[CLV_RESULTS_TEXT];
    char other[CLV_RESULTS_TEXT];

    factors[f].describe(a, one, sizeof one);
    factors[f].describe(b, other, sizeof other);
    return !strcmp(one, other);
}

static int is_same_line(const clv_figure_t *figure, const clv_result_group_t *a,
                        const clv_result_group_t *b)
{
    int is_same = !strcmp(a->algorithm, b->algorithm) && !strcmp(a->label, b->label);

    for (size_t f = 0; f < N_FACTORS; f++) {
        is_same &= !strcmp(factors[f].x, figure->x) || is_same_factor(f, a, b);
    }
    return is_same;
}

static int is_common(const clv_result_set_t *set, size_t f)
{
    for (size_t i = 1; i < set->n_groups; i++) {
        if (!is_same_factor(f, &set->groups[0], &set->groups[i])) {
            return 0;
        }
    }
    return 1;
}

/* Those that all lines have in common, or those that tell them apart. */
static void write_factors(FILE *script, const clv_result_set_t *set, const clv_figure_t *figure,
                          const clv_result_group_t *group, int common, const char *separator)
{
    char text[CLV_RESULTS_TEXT];

    for (size_t f = 0; f < N_FACTORS; f++) {
        factors[f].describe(group, text, sizeof text);
        if (strcmp(factors[f].x, figure->x) && is_common(set, f) == common && *text) {
            fprintf(script, "%s%s", separator, text);
            separator = ", ";
        }
    }
}

static int is_first_of_line(const clv_result_set_t *set, const clv_figure_t *figure, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (is_same_line(figure, &set->groups[k], &set->groups[i])) {
            return 0;
        }
    }
    return 1;
}

/* ---- the script ---- */

/* gnuplot takes data blocks by name; lines of the plot command follow. */
static void write_data(FILE *script, const clv_result_set_t *set, const clv_figure_t *figure)
{
    for (size_t i = 0; i < set->n_groups; i++) {
        if (is_first_of_line(set, figure, i)) {
            fprintf(script, "$line%zu << END\n", i);
            for (size_t k = i; k < set->n_groups; k++) {
                if (is_same_line(figure, &set->groups[k], &set->groups[i])) {
                    write_point(script, &set->groups[k], figure);
                }
            }
            fprintf(script, "END\n");
        }
    }
}

typedef struct x_axis {
    double low;
    double high;
    int is_log;
} x_axis_t;

static x_axis_t x_axis_of(const clv_result_set_t *set, const clv_figure_t *figure)
{
    const double first = x_of(&set->groups[0], figure);
    x_axis_t axis = {.low = first, .high = first};

    for (size_t i = 1; i < set->n_groups; i++) {
        const double x = x_of(&set->groups[i], figure);
        axis.low = x < axis.low ? x : axis.low;
        axis.high = x > axis.high ? x : axis.high;
    }
    axis.is_log = figure->log_x && axis.low > 0.0;
    return axis;
}

/* Each line a hair to the right of the one before: error bars must not cover each other. */
static void write_x(FILE *script, const x_axis_t *axis, const clv_figure_t *figure, int line)
{
    const double part = clv_figure_is_of_clocks(figure) ? 0.0 : 0.006 * line;

    if (axis->is_log) {
        fprintf(script, "using ($1*%g)", pow(axis->high / axis->low, part));
    } else {
        fprintf(script, "using ($1+%g)", part * (axis->high - axis->low));
    }
}

static void write_lines(FILE *script, const clv_result_set_t *set, const clv_figure_t *figure,
                        const x_axis_t *axis)
{
    const char *separator = "plot";
    int n_lines = 0;

    for (size_t i = 0; i < set->n_groups; i++) {
        if (is_first_of_line(set, figure, i)) {
            const clv_result_group_t *group = &set->groups[i];
            fprintf(script, "%s $line%zu ", separator, i);
            write_x(script, axis, figure, n_lines);
            fprintf(script, ":2 smooth unique with lines lt %d notitle, $line%zu ", n_lines + 1, i);
            write_x(script, axis, figure, n_lines);
            fprintf(script, ":2:3:4 with yerrorbars lt %d title \"%s%s%s", n_lines + 1,
                    group->label, *group->label ? ": " : "", group->algorithm);
            n_lines++;
            write_factors(script, set, figure, group, 0, ", ");
            fprintf(script, "\"");
            separator = ",";
        }
    }
    fprintf(script, "\n");
}

/* Colours that the colour-blind tell apart, and points that a printer does. */
static void write_styles(FILE *script)
{
    static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                          "#e69f00", "#56b4e9", "#000000", "#999999"};
    static const int points[] = {7, 5, 9, 11, 13, 6, 4, 8};

    for (int i = 0; i < 8; i++) {
        fprintf(script, "set linetype %d lc rgb '%s' lw 2 pt %d ps 1.1\n", i + 1, colours[i],
                points[i]);
    }
    fprintf(script, "set linetype cycle 8\nset errorbars 1.5\nset border 3\nset tics nomirror\n"
                    "set grid lt 1 lw 0.5 lc rgb '#cccccc'\nset key outside right top Left reverse "
                    "noenhanced\n");
}

/* A margin at both ends, so that no point lies on the frame. */
static void write_x_axis(FILE *script, const x_axis_t *axis, const clv_figure_t *figure)
{
    const double span = axis->high - axis->low;
    const double margin = span > 0.0 ? 0.05 * span : 0.1 * axis->high + 1e-9;

    if (axis->is_log) {
        fprintf(script, "set logscale x 2\nset xrange [%g:%g]\n", axis->low / 1.15,
                axis->high * 1.15);
    } else if (clv_figure_is_of_clocks(figure)) {
        fprintf(script, "set xrange [0:%g]\n", axis->high * 1.1);
    } else {
        fprintf(script, "set xrange [%g:%g]\n", axis->low - margin, axis->high + margin);
    }
    fprintf(script, "set xlabel '%s'\n",
            !strcmp(figure->x, "delay")       ? "maximal delay [ms]"
            : !strcmp(figure->x, "ranks")     ? "processes"
            : clv_figure_is_of_clocks(figure) ? "duration of the synchronisation [s]"
                                              : "bytes");
}

static void write_script(FILE *script, const clv_result_set_t *set, const clv_figure_t *figure,
                         const char *path, int is_png)
{
    const x_axis_t axis = x_axis_of(set, figure);

    fprintf(script, "set terminal %s size 900,560\nset output '%s'\n", is_png ? "pngcairo" : "svg",
            path);
    write_styles(script);
    fprintf(script, "set title \"%s", figure->title);
    write_factors(script, set, figure, &set->groups[0], 1, "\\n");
    fprintf(script, "\" noenhanced\n");
    write_x_axis(script, &axis, figure);
    fprintf(script, "set ylabel '%s'\nset yrange [%s:*]\n",
            clv_figure_is_of_clocks(figure) ? "largest error [us]"
            : is_time(figure)               ? "time [ms]"
                                            : "benefit",
            is_time(figure) ? "0" : "*");
    write_data(script, set, figure);
    write_lines(script, set, figure, &axis);
}

/* No shell: a file's name is never a command. */
static int run_gnuplot(const char *script_path)
{
    int status = 0;
    const pid_t child = fork();

    if (child == 0) {
        execlp("gnuplot", "gnuplot", script_path, (char *) NULL);
        _exit(127);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : 1;
}

clv_status_t clv_plot(const clv_result_set_t *set, const clv_figure_t *figure, const char *path,
                      char *reason, size_t reason_bytes)
{
    char script_path[MAX_PATH];
    const size_t length = strlen(path);
    const char *ending = length > 4 ? path + length - 4 : "";
    const int is_png = !strcmp(ending, ".png");

    if ((!is_png && strcmp(ending, ".svg")) || strchr(path, '\'') || length > MAX_PATH - 16) {
        snprintf(reason, reason_bytes, "'%s' is not the name of a .png or .svg file", path);
        return CLV_INVALID;
    }
    snprintf(script_path, sizeof script_path, "%s.gnuplot", path);
    FILE *script = fopen(script_path, "w");
    if (!script) {
        snprintf(reason, reason_bytes, "cannot write %s", script_path);
        return CLV_INVALID;
    }
    write_script(script, set, figure, path, is_png);
    fclose(script);
    const int code = run_gnuplot(script_path);
    if (code) {
        snprintf(reason, reason_bytes, "%s; the script is kept as %s",
                 code == 127 ? "gnuplot is missing" : "gnuplot failed", script_path);
        return CLV_UNSUPPORTED;
    }
    unlink(script_path);
    return CLV_OK;
}
