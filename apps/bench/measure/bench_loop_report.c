/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Table and JSON lines of a loop; see bench_report.h.
 */
#include "apps/bench/measure/bench_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apps/bench/measure/bench_stats.h"
#include "util/util_alloc.h"

#define MS    1e6
#define MIB   1048576.0
#define LEVEL 0.95

typedef double (*figure_t)(const clv_iteration_t *figures);

#define CLV_ITERATION_GET(field, name)                                                             \
    static double get_##field(const clv_iteration_t *figures)                                      \
    {                                                                                              \
        return figures->field;                                                                     \
    }
CLV_ITERATION_FIGURES(CLV_ITERATION_GET)

static const struct {
    const char *name;
    figure_t get;
} figure_rows[] = {
#define CLV_ITERATION_ROW(field, name) {name, get_##field},
    CLV_ITERATION_FIGURES(CLV_ITERATION_ROW)};
#define N_FIGURES (sizeof figure_rows / sizeof figure_rows[0])

/* ---- one algorithm's values over starts or blocks ---- */

typedef struct rows {
    const clv_loop_block_t *blocks; /* [n][n_algorithms] */
    int64_t n;
    int n_algorithms;
} rows_t;

static rows_t blocks_of(const clv_loop_report_t *report)
{
    return (rows_t){report->results->blocks, report->results->n_blocks,
                    report->factors->setup->n_algorithms};
}

static rows_t starts_of(const clv_loop_report_t *report)
{
    return (rows_t){report->results->starts, report->results->n_starts,
                    report->factors->setup->n_algorithms};
}

static double value(const rows_t *rows, int64_t row, int a, figure_t get)
{
    return get(&rows->blocks[row * rows->n_algorithms + a].figures);
}

/* Fills scratch with the sorted values; returns their number. */
static size_t sorted_values(const rows_t *rows, int a, figure_t get, double *scratch)
{
    for (int64_t i = 0; i < rows->n; i++) {
        scratch[i] = value(rows, i, a, get);
    }
    clv_stats_sort(scratch, (size_t) rows->n);
    return (size_t) rows->n;
}

static double quantile(const rows_t *rows, int a, figure_t get, double part, double *scratch)
{
    const size_t n = sorted_values(rows, a, get, scratch);

    return n ? clv_stats_quantile(scratch, n, part) : NAN;
}

static double median(const rows_t *rows, int a, figure_t get, double *scratch)
{
    return quantile(rows, a, get, 0.5, scratch);
}

static double largest(const rows_t *rows, int a, figure_t get, double *scratch)
{
    return quantile(rows, a, get, 1.0, scratch);
}

/* Ratio of the figure to another algorithm's, by row; limits are NaN if there are too few rows. */
static clv_stats_shift_t ratio_to(const rows_t *rows, int a, int other, figure_t get,
                                  double *scratch)
{
    clv_stats_shift_t shift = {NAN, NAN, NAN};

    for (int64_t i = 0; i < rows->n; i++) {
        scratch[i] = log(value(rows, i, a, get) / value(rows, i, other, get));
    }
    if (clv_stats_pair_shift(scratch, (size_t) rows->n, LEVEL, &shift) == CLV_OK) {
        return (clv_stats_shift_t){exp(shift.estimate), exp(shift.low), exp(shift.high)};
    }
    return (clv_stats_shift_t){rows->n ? exp(clv_stats_median(scratch, (size_t) rows->n)) : NAN,
                               NAN, NAN};
}

static clv_stats_shift_t ratio_to_first(const rows_t *rows, int a, figure_t get, double *scratch)
{
    return ratio_to(rows, a, 0, get, scratch);
}

static int64_t n_wrong(const clv_loop_report_t *report, int a)
{
    const rows_t both[] = {starts_of(report), blocks_of(report)};
    int64_t n = 0;

    for (int k = 0; k < 2; k++) {
        for (int64_t i = 0; i < both[k].n; i++) {
            n += both[k].blocks[i * both[k].n_algorithms + a].n_wrong;
        }
    }
    return n;
}

clv_bench_verdict_t clv_loop_verdict(const clv_loop_report_t *report)
{
    const rows_t blocks = blocks_of(report);
    const int64_t n = blocks.n * blocks.n_algorithms;
    clv_bench_verdict_t verdict = {0};

    for (int64_t i = 0; i < n; i++) {
        verdict.cpu_wait_part += blocks.blocks[i].cpu_wait_part / (double) n;
    }
    for (int a = 0; a < blocks.n_algorithms; a++) {
        verdict.n_wrong += n_wrong(report, a);
    }
    verdict.is_cpu_bound = verdict.cpu_wait_part > CLV_CPU_WAIT_LIMIT;
    return verdict;
}

/* ---- the table ---- */

static void print_number(FILE *out, int width, int digits, double number)
{
    if (isnan(number)) {
        fprintf(out, " %*s", width, "-");
    } else {
        fprintf(out, " %*.*f", width, digits, number);
    }
}

static void print_heading(FILE *out, const clv_loop_report_t *report)
{
    const clv_bench_results_t *factors = report->factors;
    const clv_bench_setup_t *setup = factors->setup;
    const clv_loop_t *loop = report->loop;
    const char *emulated = getenv("CLV_CLUSTER");

    fprintf(out, "\nloop of %s%s, %d ranks%s%s, %zu bytes, computing %.3f ms + %s up to %.3f ms",
            setup->nonblocking ? "i" : "", setup->collective->name, setup->call.n_ranks,
            emulated ? ", emulated hosts:rate " : "", emulated ? emulated : "", factors->n_bytes,
            (double) loop->compute_ns / MS, factors->pattern_text,
            (double) factors->pattern->amount_ns / MS);
    fprintf(
        out, ", coupled by %s; %lld blocks of %lld calls, %lld of them to settle%s; times in ms\n",
        loop->couple->name, (long long) report->results->n_blocks, (long long) loop->block_calls,
        (long long) loop->lead_calls, factors->is_interrupted ? ", INTERRUPTED" : "");
    fprintf(out, "%-22s %9s %8s %8s %7s %7s %7s %9s %7s %8s %8s %8s %8s %6s %7s %8s %8s %6s\n",
            "algorithm", "iteration", "q1", "q3", "/first", "low", "high", "first 20", "/first",
            "in call", "couple", "fastest", "slowest", "ahead", "MiB", "worst", "worst20", "wrong");
}

static void print_row(FILE *out, const clv_loop_report_t *report, int a, double *scratch)
{
    const rows_t blocks = blocks_of(report);
    const rows_t starts = starts_of(report);
    const clv_stats_shift_t ratio = ratio_to_first(&blocks, a, get_iteration_ns, scratch);
    const double ahead = median(&blocks, a, get_ahead_calls, scratch);

    fprintf(out, "%-22s", report->factors->setup->algorithms[a].name);
    print_number(out, 9, 3, median(&blocks, a, get_iteration_ns, scratch) / MS);
    print_number(out, 8, 3, quantile(&blocks, a, get_iteration_ns, 0.25, scratch) / MS);
    print_number(out, 8, 3, quantile(&blocks, a, get_iteration_ns, 0.75, scratch) / MS);
    print_number(out, 7, 3, ratio.estimate);
    print_number(out, 7, 3, ratio.low);
    print_number(out, 7, 3, ratio.high);
    print_number(out, 9, 3, median(&starts, a, get_iteration_ns, scratch) / MS);
    print_number(out, 7, 3, ratio_to_first(&starts, a, get_iteration_ns, scratch).estimate);
    print_number(out, 8, 3, median(&blocks, a, get_in_call_ns, scratch) / MS);
    print_number(out, 8, 3, median(&blocks, a, get_in_couple_ns, scratch) / MS);
    print_number(out, 8, 3, median(&blocks, a, get_fastest_ns, scratch) / MS);
    print_number(out, 8, 3, median(&blocks, a, get_slowest_ns, scratch) / MS);
    print_number(out, 6, 1, ahead);
    print_number(out, 7, 2, ahead * (double) report->factors->n_bytes / MIB);
    print_number(out, 8, 1, largest(&blocks, a, get_worst_ns, scratch) / MS);
    print_number(out, 8, 1, largest(&starts, a, get_worst_ns, scratch) / MS);
    fprintf(out, " %6lld\n", (long long) n_wrong(report, a));
}

/* Room for the largest number of rows that a function above sorts. */
static double *scratch_for(const clv_loop_report_t *report)
{
    const int64_t n = report->results->n_blocks + report->results->n_starts + 1;

    return clv_alloc((size_t) n, sizeof(double));
}

void clv_loop_report_table(FILE *out, const clv_loop_report_t *report)
{
    const clv_bench_verdict_t verdict = clv_loop_verdict(report);
    double *scratch = scratch_for(report);

    if (!scratch) {
        return;
    }
    print_heading(out, report);
    for (int a = 0; a < report->factors->setup->n_algorithms; a++) {
        print_row(out, report, a, scratch);
    }
    clv_bench_report_verdict(out, &verdict, &report->factors->setup->sync->clock);
    clv_free(scratch);
}

/* ---- does clv help here ---- */

/* The algorithm with the shortest iterations, among clv's or among the others; -1: none. */
static int strongest(const clv_loop_report_t *report, bool of_clv, double *scratch)
{
    const rows_t blocks = blocks_of(report);
    int best = -1;

    for (int a = 0; a < blocks.n_algorithms; a++) {
        const char *name = report->factors->setup->algorithms[a].name;
        if ((strncmp(name, "clv", 3) == 0) == of_clv &&
            (best < 0 || median(&blocks, a, get_iteration_ns, scratch) <
                             median(&blocks, best, get_iteration_ns, scratch))) {
            best = a;
        }
    }
    return best;
}

static const char *check_words(const clv_bench_verdict_t *verdict, const clv_stats_shift_t *ratio)
{
    if (verdict->n_wrong > 0) {
        return "WRONG RESULTS: please report it";
    }
    if (verdict->is_cpu_bound) {
        return "cannot be told: the ranks waited for processors; give each one of its own";
    }
    if (isnan(ratio->low)) {
        return "cannot be told from so few blocks; --blocks 6 or more";
    }
    return ratio->high < 1   ? "clv is faster here than the strongest setting"
           : ratio->low <= 1 ? "clv is as fast here as the strongest setting"
                             : "clv is slower here than the strongest setting, which needs no clv";
}

void clv_loop_report_check(FILE *out, const clv_loop_report_t *report)
{
    const clv_bench_verdict_t verdict = clv_loop_verdict(report);
    const clv_algorithm_t *algorithms = report->factors->setup->algorithms;
    const rows_t blocks = blocks_of(report);
    double *scratch = scratch_for(report);
    const int clv = scratch ? strongest(report, true, scratch) : -1;
    const int other = scratch ? strongest(report, false, scratch) : -1;

    if (clv >= 0 && other >= 0) {
        const clv_stats_shift_t ratio = ratio_to(&blocks, clv, other, get_iteration_ns, scratch);
        fprintf(out,
                "check: an iteration takes %.3f ms with clv, %.3f with %s (the strongest of the "
                "others), %.3f with %s; clv / %s %.3f (%.3f to %.3f), clv / %s %.3f\n"
                "verdict: %s\n",
                median(&blocks, clv, get_iteration_ns, scratch) / MS,
                median(&blocks, other, get_iteration_ns, scratch) / MS, algorithms[other].name,
                median(&blocks, 0, get_iteration_ns, scratch) / MS, algorithms[0].name,
                algorithms[other].name, ratio.estimate, ratio.low, ratio.high, algorithms[0].name,
                ratio_to_first(&blocks, clv, get_iteration_ns, scratch).estimate,
                check_words(&verdict, &ratio));
    }
    clv_free(scratch);
}

/* ---- JSON lines ---- */

static void json_loop(clv_json_t *json, const clv_loop_report_t *report)
{
    const clv_loop_t *loop = report->loop;

    clv_json_text(json, "couple", loop->couple->name);
    clv_json_text(json, "compute", report->factors->options->compute);
    clv_json_number(json, "compute_ns", (double) loop->compute_ns);
    clv_json_number(json, "starts", (double) report->results->n_starts);
    clv_json_number(json, "opening_calls", (double) loop->opening_calls);
    clv_json_number(json, "blocks", (double) report->results->n_blocks);
    clv_json_number(json, "block_calls", (double) loop->block_calls);
    clv_json_number(json, "lead_calls", (double) loop->lead_calls);
    clv_json_number(json, "spin", loop->is_spinning);
}

static void json_rows(clv_json_t *json, const char *prefix, const rows_t *rows, int a)
{
    char key[64];

    for (size_t f = 0; f < N_FIGURES; f++) {
        snprintf(key, sizeof key, "%s%s", prefix, figure_rows[f].name);
        clv_json_list_begin(json, key);
        for (int64_t i = 0; i < rows->n; i++) {
            clv_json_item(json, value(rows, i, a, figure_rows[f].get), 1);
        }
        clv_json_list_end(json);
    }
}

static void json_ratio(clv_json_t *json, const char *name, clv_stats_shift_t ratio)
{
    char key[64];

    snprintf(key, sizeof key, "%s", name);
    clv_json_number(json, key, ratio.estimate);
    snprintf(key, sizeof key, "%s_low", name);
    clv_json_number(json, key, ratio.low);
    snprintf(key, sizeof key, "%s_high", name);
    clv_json_number(json, key, ratio.high);
}

static void json_summary(clv_json_t *json, const clv_loop_report_t *report, int a, double *scratch)
{
    const rows_t blocks = blocks_of(report);
    const rows_t starts = starts_of(report);

    clv_json_number(json, "iteration_median_ns", median(&blocks, a, get_iteration_ns, scratch));
    clv_json_number(json, "iteration_q1_ns", quantile(&blocks, a, get_iteration_ns, 0.25, scratch));
    clv_json_number(json, "iteration_q3_ns", quantile(&blocks, a, get_iteration_ns, 0.75, scratch));
    json_ratio(json, "iteration_ratio", ratio_to_first(&blocks, a, get_iteration_ns, scratch));
    clv_json_number(json, "first_median_ns", median(&starts, a, get_iteration_ns, scratch));
    json_ratio(json, "first_ratio", ratio_to_first(&starts, a, get_iteration_ns, scratch));
    clv_json_number(json, "ahead_bytes",
                    median(&blocks, a, get_ahead_calls, scratch) *
                        (double) report->factors->n_bytes);
    clv_json_number(json, "wrong", (double) n_wrong(report, a));
}

/* Median iteration time of each rank. */
static void json_rank_iterations(clv_json_t *json, const clv_loop_report_t *report, int a,
                                 double *scratch)
{
    const clv_bench_setup_t *setup = report->factors->setup;
    const clv_loop_results_t *results = report->results;

    clv_json_list_begin(json, "rank_pace_ns");
    for (int r = 0; r < setup->call.n_ranks; r++) {
        for (int64_t i = 0; i < results->n_blocks; i++) {
            const int64_t row = i * setup->n_algorithms + a;
            scratch[i] = results->rank_iteration_ns[row * setup->call.n_ranks + r];
        }
        clv_json_item(json, clv_stats_median(scratch, (size_t) results->n_blocks), 0);
    }
    clv_json_list_end(json);
}

void clv_loop_report_json(FILE *out, const clv_loop_report_t *report)
{
    const clv_bench_setup_t *setup = report->factors->setup;
    const clv_bench_verdict_t verdict = clv_loop_verdict(report);
    const rows_t blocks = blocks_of(report);
    const rows_t starts = starts_of(report);
    double *scratch = scratch_for(report);

    for (int a = 0; scratch && a < setup->n_algorithms; a++) {
        clv_json_t json = clv_json_begin(out, "clv-bench", "loop");
        clv_json_text(&json, "mode", "loop");
        clv_bench_place_json(&json, &setup->place);
        clv_bench_report_factors(&json, report->factors);
        json_loop(&json, report);
        clv_bench_report_algorithm(&json, &setup->algorithms[a]);
        json_summary(&json, report, a, scratch);
        json_rows(&json, "", &blocks, a);
        json_rows(&json, "first_", &starts, a);
        json_rank_iterations(&json, report, a, scratch);
        clv_json_number(&json, "cpu_wait_part", verdict.cpu_wait_part);
        clv_json_flag(&json, "network_bound", !verdict.is_cpu_bound);
        clv_json_end(&json);
    }
    fflush(out);
    clv_free(scratch);
}
