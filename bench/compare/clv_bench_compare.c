/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-bench-compare: is A faster than B? From several mpiruns of clv-bench, after the method of
 * "MPI Benchmarking Revisited" (sections 5 and 6).
 *
 * What: runs commands several times each in shuffled order (or takes files of earlier runs), makes
 * one filtered median of each mpirun, and compares algorithms, or commands, by Wilcoxon's rank sum
 * test, one-sided; with the size of the effect and its interval. Or, paired, call by call and block
 * by block: the ratio to the baseline with the limits of the signed rank test. Draws pictures.
 * Not: a measurement; that is clv-bench. No MPI here.
 * Exit: 0, 1 a command failed, 2 wrong use or unreadable results.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/clock/bench_clock_results.h"
#include "trace/trace_patterns.h"
#include "bench/compare/bench_plot.h"
#include "bench/compare/bench_results.h"
#include "bench/measure/bench_stats.h"
#include "util/util_alloc.h"
#include "util/util_version.h"

#define MAX_COMMANDS 16
#define MAX_RUNS     CLV_RESULTS_RUNS
#define MAX_PATH     512

enum { EXIT_COMMAND = 1, EXIT_USAGE = 2 };

typedef struct command {
    const char *label;
    const char *text;
} command_t;

typedef struct compare {
    command_t commands[MAX_COMMANDS];
    int n_commands;
    int n_runs;
    const char *folder;
    const char *metric;
    const char *baseline; /* algorithm, or label where there are several */
    const char *plot;
    const char *paired; /* NULL, "table" or "csv" */
    const clv_figure_t *figure;
    double level;
    uint64_t seed;
    char **files;
    int n_files;
    clv_result_set_t set;
    char reason[1024];
} compare_t;

static const char default_metric[] = "after";
static const char loop_metric[] = "iteration"; /* instead, where the files hold loops */

static void help(void)
{
    printf("usage: clv-bench-compare [options] FILE ...          one JSON file of clv-bench (or "
           "clv-clock) per mpirun\n"
           "       clv-bench-compare [options] --run 'COMMAND' [--run 'LABEL=COMMAND' ...]\n"
           "  --runs N          mpiruns of each command, in shuffled order            5\n"
           "  --folder DIR      where their JSON files go (COMMAND gets --json FILE)  clv-compare\n"
           "  --metric NAME     after, run, in_mpi_mean, in_mpi_late_rank, overlap_benefit, ...  "
           "after\n"
           "                    of loops: iteration, first_iteration, in_call, ahead_calls, ...  "
           "iteration\n"
           "  --paired FORM     ratios of what was measured side by side: table or csv\n"
           "  --baseline NAME   algorithm (or label) the others are compared with     the first\n"
           "  --level PART      of the intervals                                      0.95\n"
           "  --seed N          of the order                                          1\n"
           "  --figure NAME     with --plot; names below\n"
           "  --plot FILE       .png or .svg\n"
           "figures:\n");
    for (const clv_figure_t *figure = clv_figures; figure->name; figure++) {
        printf("  %-16s  %s\n", figure->name, figure->meaning);
    }
}

/* ---- command line ---- */

static clv_status_t complain(compare_t *compare, const char *format, const char *text)
{
    snprintf(compare->reason, sizeof compare->reason, format, text);
    return CLV_INVALID;
}

/* "LABEL=COMMAND" if the part before = is a plain word. */
static clv_status_t add_command(compare_t *compare, char *text)
{
    const size_t word =
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.");
    command_t *command = &compare->commands[compare->n_commands];

    if (compare->n_commands == MAX_COMMANDS) {
        return complain(compare, "too many commands%s", "");
    }
    *command = (command_t){.label = "", .text = text};
    if (word && text[word] == '=') {
        text[word] = '\0';
        *command = (command_t){.label = text, .text = text + word + 1};
    }
    compare->n_commands++;
    return CLV_OK;
}

/* Where the text of an option goes that is taken as it is; NULL: it is none of them. */
static const char **plain_text(compare_t *compare, const char *name)
{
    return !strcmp(name, "--folder")     ? &compare->folder
           : !strcmp(name, "--metric")   ? &compare->metric
           : !strcmp(name, "--baseline") ? &compare->baseline
           : !strcmp(name, "--plot")     ? &compare->plot
                                         : NULL;
}

static clv_status_t read_option(compare_t *compare, const char *name, char *value)
{
    char *end = value;

    if (plain_text(compare, name)) {
        *plain_text(compare, name) = value;
    } else if (!strcmp(name, "--run")) {
        return add_command(compare, value);
    } else if (!strcmp(name, "--runs")) {
        const long n = strtol(value, &end, 10);
        compare->n_runs = n >= 1 && n <= MAX_RUNS ? (int) n : 0;
        return *end || !compare->n_runs
                   ? complain(compare, "--runs must be 1 to 128, not '%s'", value)
                   : CLV_OK;
    } else if (!strcmp(name, "--level")) {
        compare->level = strtod(value, &end);
        return *end || !(compare->level > 0.0 && compare->level < 1.0)
                   ? complain(compare, "--level must be between 0 and 1, not '%s'", value)
                   : CLV_OK;
    } else if (!strcmp(name, "--seed")) {
        compare->seed = strtoull(value, &end, 10);
        return *end ? complain(compare, "--seed must be a number, not '%s'", value) : CLV_OK;
    } else if (!strcmp(name, "--paired")) {
        compare->paired = value;
        return strcmp(value, "table") && strcmp(value, "csv")
                   ? complain(compare, "--paired must be table or csv, not '%s'", value)
                   : CLV_OK;
    } else if (!strcmp(name, "--figure")) {
        compare->figure = clv_figure_find(value);
        return compare->figure
                   ? CLV_OK
                   : complain(compare, "unknown figure '%s' (--help lists them)", value);
    } else {
        return complain(compare, "unknown option '%s' (--help lists them)", name);
    }
    return CLV_OK;
}

static clv_status_t read_command_line(compare_t *compare, int argc, char **argv)
{
    clv_status_t status = CLV_OK;
    int i = 1;

    for (; i < argc && !strncmp(argv[i], "--", 2) && status == CLV_OK; i += 2) {
        status = i + 1 < argc ? read_option(compare, argv[i], argv[i + 1])
                              : complain(compare, "%s needs a value", argv[i]);
    }
    compare->files = argv + i;
    compare->n_files = argc - i;
    if (status == CLV_OK && (compare->n_files > 0) == (compare->n_commands > 0)) {
        return complain(compare, "give result files, or commands by --run%s", "");
    }
    if (status == CLV_OK && compare->plot && !compare->figure) {
        compare->figure = clv_figure_find("delay");
    }
    if (compare->metric == default_metric && compare->figure) {
        compare->metric = compare->figure->metric;
    }
    return status;
}

static clv_status_t read_file(compare_t *compare, const char *path, const char *label)
{
    if (compare->metric == default_metric && clv_results_is_loop(path)) {
        compare->metric = loop_metric;
    }
    return (clv_figure_is_of_clocks(compare->figure) ? clv_clock_results_read : clv_results_read)(
        path, label, compare->metric, &compare->set, compare->reason, sizeof compare->reason);
}

/* ---- running ---- */

static int json_path(const compare_t *compare, int command, int run, char *path)
{
    return snprintf(path, MAX_PATH, "%s/%s%srun-%d.json", compare->folder,
                    compare->commands[command].label, *compare->commands[command].label ? "-" : "",
                    run + 1) < MAX_PATH;
}

/* The command is the user's own shell line; ours is only the option at its end. */
static clv_status_t run_once(compare_t *compare, int command, int run)
{
    char path[MAX_PATH];
    char line[8192];

    if (!json_path(compare, command, run, path) || strchr(path, '\'') ||
        snprintf(line, sizeof line, "%s --json '%s' >/dev/null", compare->commands[command].text,
                 path) >= (int) sizeof line) {
        return complain(compare, "too long or quoted: '%s'", compare->commands[command].text);
    }
    unlink(path);
    fprintf(stderr, "clv-bench-compare: mpirun %d of %d, %s\n", run + 1, compare->n_runs,
            *compare->commands[command].label ? compare->commands[command].label
                                              : compare->commands[command].text);
    const int code = system(line);
    if (code == -1 || !WIFEXITED(code) || WEXITSTATUS(code)) {
        (void) complain(compare, "failed: %.900s", line);
        return CLV_SYSTEM;
    }
    return read_file(compare, path, compare->commands[command].label);
}

/* All mpiruns of all commands in one random order: what drifts does not favour a command. */
static clv_status_t run_all(compare_t *compare)
{
    const int n = compare->n_commands * compare->n_runs;
    int *order = clv_alloc((size_t) n, sizeof *order);
    clv_status_t status = CLV_OK;

    if (!order) {
        return CLV_NO_MEMORY;
    }
    if (mkdir(compare->folder, 0777) && errno != EEXIST) {
        clv_free(order);
        return complain(compare, "cannot make the folder %s", compare->folder);
    }
    for (int i = 0; i < n; i++) {
        const int other = (int) (clv_pattern_random(compare->seed, 0, (uint64_t) i) * (i + 1));
        order[i] = order[other];
        order[other] = i;
    }
    for (int i = 0; i < n && status == CLV_OK; i++) {
        status = run_once(compare, order[i] % compare->n_commands, order[i] / compare->n_commands);
    }
    clv_free(order);
    return status;
}

static clv_status_t read_all(compare_t *compare)
{
    clv_status_t status = CLV_OK;

    for (int i = 0; i < compare->n_files && status == CLV_OK; i++) {
        status = read_file(compare, compare->files[i], "");
    }
    return status;
}

/* ---- the table ---- */

static int is_time(const char *metric)
{
    return strcmp(metric, "overlap_benefit") && strcmp(metric, "hidden_part") &&
           strncmp(metric, "ratio", 5) && !strstr(metric, "_ratio") && strncmp(metric, "ahead_", 6);
}

/* What values are divided by for the table: ms, clocks in us. */
static double unit_of(const compare_t *compare)
{
    return clv_figure_is_of_clocks(compare->figure) ? 1e3 : is_time(compare->metric) ? 1e6 : 1.0;
}

static double median_of(const clv_result_group_t *group, double *low, double *high)
{
    double sorted[CLV_RESULTS_RUNS];

    memcpy(sorted, group->value, group->n_runs * sizeof *sorted);
    const double median = clv_stats_median(sorted, group->n_runs);
    *low = sorted[0];
    *high = sorted[group->n_runs - 1];
    return median;
}

static int is_named(const clv_result_group_t *group, const char *name)
{
    return !strcmp(group->algorithm, name) || !strcmp(group->label, name);
}

/* What a group is compared with: the named algorithm, or the same algorithm under the named label,
 * or the first comparable group. */
static const clv_result_group_t *baseline_of(const compare_t *compare,
                                             const clv_result_group_t *group)
{
    const clv_result_group_t *found = NULL;

    for (size_t i = 0; i < compare->set.n_groups; i++) {
        const clv_result_group_t *other = &compare->set.groups[i];
        const int same_kind =
            compare->n_commands < 2 || !strcmp(other->algorithm, group->algorithm);
        if (!clv_results_comparable(group, other) ||
            (compare->baseline && !is_named(other, compare->baseline))) {
            continue;
        }
        if (same_kind && !found) {
            found = other;
        }
    }
    return found;
}

static const char *stars(double p)
{
    return p <= 0.001 ? "***" : p <= 0.01 ? "**" : p <= 0.05 ? "*" : "";
}

static void print_comparison(const compare_t *compare, const clv_result_group_t *group,
                             const clv_result_group_t *base)
{
    clv_stats_test_t test;
    clv_stats_shift_t shift;
    double low, high;

    if (!base || base == group) {
        printf("  (baseline)\n");
        return;
    }
    const double ratio = median_of(group, &low, &high) / median_of(base, &low, &high);
    printf("  %6.3f", ratio);
    /* Times are better when smaller, benefits when larger. */
    const clv_stats_tail_t better = is_time(compare->metric) ? CLV_STATS_LESS : CLV_STATS_GREATER;
    if (clv_stats_rank_sum(group->value, group->n_runs, base->value, base->n_runs, better, &test) ==
        CLV_OK) {
        printf("  %8.2g%-3s", test.p_value, stars(test.p_value));
    }
    const double wins =
        clv_stats_superiority(group->value, group->n_runs, base->value, base->n_runs);
    printf("  %5.2f", is_time(compare->metric) ? wins : 1.0 - wins);
    const double unit = unit_of(compare);
    if (clv_stats_shift(group->value, group->n_runs, base->value, base->n_runs, compare->level,
                        &shift) == CLV_OK) {
        printf("  %9.3f [%.3f, %.3f]\n", shift.estimate / unit, shift.low / unit,
               shift.high / unit);
    } else {
        printf("  too few mpiruns for an interval at that level\n");
    }
}

static void print_heading(const compare_t *compare, const clv_result_group_t *first)
{
    printf("\n%s, %.0f ranks, ", first->collective, first->n_ranks);
    if (clv_figure_is_of_clocks(compare->figure)) {
        printf("%s; %s in us\n", first->pattern, compare->metric);
    } else {
        printf("%.0f bytes, pattern %s, delay %.3f ms; ", first->n_bytes, first->pattern,
               first->delay_ns / 1e6);
        if (*first->couple) {
            printf("loop, computing %s, coupled by %s; ", first->compute, first->couple);
        }
        printf("%s%s\n", compare->metric, is_time(compare->metric) ? " in ms" : "");
    }
}

static void print_configuration(const compare_t *compare, const clv_result_group_t *first)
{
    const double unit = unit_of(compare);

    print_heading(compare, first);
    printf("%-24s %5s %6s %9s %9s %9s  %6s  %8s     %5s  %9s\n", "algorithm", "runs", "calls",
           "median", "least", "largest", "ratio", "better:p", "wins", "shift [interval]");
    for (size_t i = 0; i < compare->set.n_groups; i++) {
        const clv_result_group_t *group = &compare->set.groups[i];
        double low, high;
        if (!clv_results_comparable(group, first)) {
            continue;
        }
        const double median = median_of(group, &low, &high);
        printf("%s%s%-*s %5zu %6zu %9.3f %9.3f %9.3f", group->label, *group->label ? ": " : "",
               (int) (24 - strlen(group->label) - (*group->label ? 2 : 0)), group->algorithm,
               group->n_runs, group->n_calls - group->n_filtered, median / unit, low / unit,
               high / unit);
        print_comparison(compare, group, baseline_of(compare, group));
        if (group->is_cpu_bound) {
            printf("  NOT network-bound: the row above says nothing about a network\n");
        }
    }
}

/* ---- pairs: what was measured side by side in one mpirun ---- */

typedef struct paired {
    const clv_result_group_t *group;
    const clv_result_group_t *base;
    size_t n_pairs;
    double median;           /* of the kept calls, in the metric's own unit */
    clv_stats_shift_t ratio; /* NaN where there is none */
} paired_t;

static double median_of_calls(const clv_result_group_t *group, double *scratch)
{
    size_t n = 0;

    for (size_t i = 0; i < group->n_kept; i++) {
        if (!isnan(group->calls[i])) {
            scratch[n++] = group->calls[i];
        }
    }
    return n ? clv_stats_median(scratch, n) : NAN;
}

static paired_t pair_up(const compare_t *compare, const clv_result_group_t *group, double *scratch)
{
    paired_t paired = {.group = group,
                       .base = baseline_of(compare, group),
                       .median = median_of_calls(group, scratch),
                       .ratio = {NAN, NAN, NAN}};
    clv_stats_shift_t shift;

    paired.n_pairs = paired.base ? clv_results_pairs(group, paired.base, scratch) : 0;
    if (!paired.n_pairs) {
        return paired;
    }
    if (clv_stats_pair_shift(scratch, paired.n_pairs, compare->level, &shift) == CLV_OK) {
        paired.ratio = (clv_stats_shift_t){exp(shift.estimate), exp(shift.low), exp(shift.high)};
    } else {
        paired.ratio.estimate = exp(clv_stats_median(scratch, paired.n_pairs));
    }
    return paired;
}

static void print_paired_row(const compare_t *compare, const paired_t *paired)
{
    const clv_result_group_t *group = paired->group;

    printf("%s%s%-*s %6zu %9.3f", group->label, *group->label ? ": " : "",
           (int) (24 - strlen(group->label) - (*group->label ? 2 : 0)), group->algorithm,
           paired->n_pairs, paired->median / unit_of(compare));
    if (paired->base == group) {
        printf("  (baseline)\n");
    } else if (isnan(paired->ratio.low)) {
        printf("  %6.3f  too few pairs for limits at that level\n", paired->ratio.estimate);
    } else {
        printf("  %6.3f [%.3f, %.3f]\n", paired->ratio.estimate, paired->ratio.low,
               paired->ratio.high);
    }
    if (group->is_cpu_bound) {
        printf("  NOT network-bound: the row above says nothing about a network\n");
    }
}

/* For programs: every factor, then the figures; times in ns. */
static void print_paired_csv(const paired_t *paired)
{
    const clv_result_group_t *group = paired->group;

    printf("%s,%.0f,%.0f,%s,%s,%s,%s,%s,%s,%s,%zu,%.1f,%.5f,%.5f,%.5f,%d\n", group->collective,
           group->n_ranks, group->n_bytes, group->pattern, group->delay, group->compute,
           group->couple, group->label, group->algorithm,
           paired->base ? paired->base->algorithm : "", paired->n_pairs, paired->median,
           paired->ratio.estimate, paired->ratio.low, paired->ratio.high, group->is_cpu_bound);
}

static void print_pairs(const compare_t *compare, const clv_result_group_t *first, double *scratch)
{
    if (*compare->paired == 't') {
        print_heading(compare, first);
        printf("%-24s %6s %9s  %6s [%g %% limits]\n", "algorithm", "pairs", "median", "ratio",
               100.0 * compare->level);
    }
    for (size_t i = 0; i < compare->set.n_groups; i++) {
        if (clv_results_comparable(&compare->set.groups[i], first)) {
            const paired_t paired = pair_up(compare, &compare->set.groups[i], scratch);
            if (*compare->paired == 't') {
                print_paired_row(compare, &paired);
            } else {
                print_paired_csv(&paired);
            }
        }
    }
}

/* ---- all configurations ---- */

static int is_first_of_its_kind(const compare_t *compare, size_t index)
{
    for (size_t k = 0; k < index; k++) {
        if (clv_results_comparable(&compare->set.groups[k], &compare->set.groups[index])) {
            return 0;
        }
    }
    return 1;
}

static clv_status_t print_all_pairs(const compare_t *compare)
{
    size_t n_most = 1;

    for (size_t i = 0; i < compare->set.n_groups; i++) {
        n_most = compare->set.groups[i].n_kept > n_most ? compare->set.groups[i].n_kept : n_most;
    }
    double *scratch = clv_alloc(n_most, sizeof *scratch);
    if (!scratch) {
        return CLV_NO_MEMORY;
    }
    if (*compare->paired == 'c') {
        printf("collective,ranks,bytes,pattern,delay,compute,couple,label,algorithm,baseline,pairs,"
               "median,ratio,low,high,cpu_bound\n");
    }
    for (size_t i = 0; i < compare->set.n_groups; i++) {
        if (is_first_of_its_kind(compare, i)) {
            print_pairs(compare, &compare->set.groups[i], scratch);
        }
    }
    clv_free(scratch);
    return CLV_OK;
}

static void print_all(const compare_t *compare)
{
    for (size_t i = 0; i < compare->set.n_groups; i++) {
        if (is_first_of_its_kind(compare, i)) {
            print_configuration(compare, &compare->set.groups[i]);
        }
    }
    printf("\nbetter:p  Wilcoxon rank sum over mpirun medians, one-sided (* 5 %%, ** 1 %%, *** 0.1 "
           "%%); wins  part of"
           " pairs of\nmpiruns in which it was better; shift  Hodges-Lehmann, interval at %g %%\n",
           100.0 * compare->level);
}

int main(int argc, char **argv)
{
    static compare_t compare = {
        .n_runs = 5, .folder = "clv-compare", .metric = default_metric, .level = 0.95, .seed = 1};

    if (clv_tells_version("clv-bench-compare", argc, argv)) {
        return 0;
    }
    if (argc == 2 && !strcmp(argv[1], "--help")) {
        help();
        return 0;
    }
    clv_status_t status = read_command_line(&compare, argc, argv);
    if (status == CLV_OK) {
        status = compare.n_commands ? run_all(&compare) : read_all(&compare);
    }
    if (status == CLV_OK && compare.paired) {
        status = print_all_pairs(&compare);
    } else if (status == CLV_OK) {
        print_all(&compare);
    }
    if (status == CLV_OK) {
        if (compare.plot) {
            status = clv_plot(&compare.set, compare.figure, compare.plot, compare.reason,
                              sizeof compare.reason);
        }
    }
    clv_results_free(&compare.set);
    if (status != CLV_OK) {
        fprintf(stderr, "clv-bench-compare: %s\n",
                *compare.reason ? compare.reason : clv_status_text(status));
        return status == CLV_SYSTEM ? EXIT_COMMAND : EXIT_USAGE;
    }
    return 0;
}
