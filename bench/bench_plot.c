/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pictures by gnuplot; see bench_plot.h.
 */
#include "bench/bench_plot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench_clock_results.h"
#include "bench/bench_stats.h"

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
    {"mpi-time", "mean time in MPI against the delay", "in_mpi_mean", "delay",
     "Mean time in MPI", 0},
    {"clock-accuracy", "largest error of a global clock against the duration of the synchronisation (of clv-clock)",
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
    return clv_figure_is_of_clocks(figure)  ? duration_of(group) :
           !strcmp(figure->x, "delay")   ? group->delay_ns / 1e6
           : !strcmp(figure->x, "ranks") ? group->n_ranks
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

static int is_same_line(const clv_result_group_t *a, const clv_result_group_t *b)
{
    return !strcmp(a->algorithm, b->algorithm) && !strcmp(a->pattern, b->pattern) &&
           !strcmp(a->label, b->label) && !strcmp(a->collective, b->collective);
}

static int is_first_of_line(const clv_result_set_t *set, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (is_same_line(&set->groups[k], &set->groups[i])) {
            return 0;
        }
    }
    return 1;
}

/* gnuplot takes data blocks by name; lines of the plot command follow. */
static void write_lines(FILE *script, const clv_result_set_t *set, const clv_figure_t *figure)
{
    for (size_t i = 0; i < set->n_groups; i++) {
        if (is_first_of_line(set, i)) {
            fprintf(script, "$line%zu << END\n", i);
            for (size_t k = i; k < set->n_groups; k++) {
                if (is_same_line(&set->groups[k], &set->groups[i])) {
                    write_point(script, &set->groups[k], figure);
                }
            }
            fprintf(script, "END\n");
        }
    }
    const char *separator = "plot";
    size_t color = 0; /* by line, not by group: gnuplot has eight before it repeats them */
    for (size_t i = 0; i < set->n_groups; i++) {
        if (is_first_of_line(set, i)) {
            color++;
            fprintf(script, "%s $line%zu using 1:2 smooth unique with lines lt %zu notitle, "
                            "$line%zu using 1:2:3:4 with yerrorbars lt %zu pt 7 ps 0.7 title \"%s%s%s, %s\"",
                    separator, i, color, i, color, set->groups[i].label,
                    *set->groups[i].label ? ": " : "", set->groups[i].algorithm,
                    set->groups[i].pattern);
            separator = ",";
        }
    }
    fprintf(script, "\n");
}

static void write_script(FILE *script, const clv_result_set_t *set, const clv_figure_t *figure,
                         const char *path, int is_png)
{
    fprintf(script, "set terminal %s size 900,600\nset output '%s'\n", is_png ? "pngcairo" : "svg",
            path);
    fprintf(script, "set title '%s'\nset key outside right noenhanced\nset grid\nset yrange [0:*]\n%s",
            figure->title, clv_figure_is_of_clocks(figure) ? "set xrange [0:*]\n" : "");
    fprintf(script, "set xlabel '%s'\n",
            !strcmp(figure->x, "delay")   ? "maximal delay [ms]"
            : !strcmp(figure->x, "ranks") ? "processes"
            : clv_figure_is_of_clocks(figure) ? "duration of the synchronisation [s]"
                                          : "bytes");
    fprintf(script, "set ylabel '%s'\n", clv_figure_is_of_clocks(figure) ? "largest error [us]" : is_time(figure) ? "time [ms]" : "benefit");
    if (!is_time(figure)) {
        fprintf(script, "set yrange [*:*]\n");
    }
    if (figure->log_x) {
        fprintf(script, "set logscale x 2\n");
    }
    write_lines(script, set, figure);
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
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status)
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
