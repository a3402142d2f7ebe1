/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Table and JSON lines of clv-bench; see bench_report.h.
 */
#include "apps/bench/measure/bench_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apps/bench/measure/bench_stats.h"
#include "util/util_alloc.h"
#include "util/util_text.h"

#define MS          1e6
#define LEAST_DELAY 0.05 /* of the balanced run time: below it, there is hardly any overlap */
#define LATE_PART   0.1  /* of the calls: above it, the report explains late starts */

typedef double (*metric_t)(const clv_bench_metrics_t *metrics);

#define CLV_METRIC_GET(field, name)                                                                \
    static double get_##field(const clv_bench_metrics_t *metrics)                                  \
    {                                                                                              \
        return metrics->field;                                                                     \
    }
CLV_METRICS(CLV_METRIC_GET)

static const struct {
    const char *name;
    metric_t get;
} metric_rows[] = {
#define CLV_METRIC_ROW(field, name) {name, get_##field},
    CLV_METRICS(CLV_METRIC_ROW)};
#define N_METRICS (sizeof metric_rows / sizeof metric_rows[0])

/* ---- values of an algorithm over the rounds ---- */

typedef struct spread {
    size_t n;
    double least;
    double q1;
    double median;
    double q3;
    double largest;
    double deviation; /* over all calls */
    double mean;      /* over the calls that Tukey's filter keeps */
} spread_t;

static const clv_bench_metrics_t *cell(const clv_bench_results_t *results, int64_t round, int a)
{
    return &results->metrics[round * results->setup->n_algorithms + a];
}

static spread_t spread_of(double *values, size_t n_values)
{
    spread_t spread = {n_values, NAN, NAN, NAN, NAN, NAN, NAN, NAN};

    if (n_values) {
        clv_stats_sort(values, n_values);
        spread.largest = values[n_values - 1];
        spread.deviation = clv_stats_deviation(values, n_values);
        spread.least = values[0];
        spread.q1 = clv_stats_quantile(values, n_values, 0.25);
        spread.median = clv_stats_quantile(values, n_values, 0.5);
        spread.q3 = clv_stats_quantile(values, n_values, 0.75);
        spread.mean = clv_stats_mean(values, clv_stats_tukey(values, n_values));
    }
    return spread;
}

static spread_t spread_of_metric(const clv_bench_results_t *results, int a, metric_t get,
                                 double *scratch)
{
    size_t n = 0;

    for (int64_t i = 0; i < results->n_rounds; i++) {
        if (cell(results, i, a)->is_usable) {
            scratch[n++] = get(cell(results, i, a));
        }
    }
    return spread_of(scratch, n);
}

/* Correlation of each call with the previous one: correlated calls count for fewer. */
static double correlation(const clv_bench_results_t *results, int a, metric_t get, double *scratch)
{
    size_t n = 0;

    for (int64_t i = 0; i < results->n_rounds; i++) {
        if (cell(results, i, a)->is_usable) {
            scratch[n++] = get(cell(results, i, a));
        }
    }
    return n > 2 ? clv_stats_autocorrelation(scratch, n, 1) : NAN;
}

/* Ratio to another algorithm, by round: the pairing removes the pattern's influence. */
static spread_t spread_of_ratio(const clv_bench_results_t *results, int a, int against,
                                metric_t get, double *scratch)
{
    size_t n = 0;

    for (int64_t i = 0; against >= 0 && i < results->n_rounds; i++) {
        const clv_bench_metrics_t *mine = cell(results, i, a);
        const clv_bench_metrics_t *other = cell(results, i, against);
        if (mine->is_usable && other->is_usable && get(other) > 0.0) {
            scratch[n++] = get(mine) / get(other);
        }
    }
    return spread_of(scratch, n);
}

/* Median run time of the balanced calls: t0 of the overlap benefit. NaN without them. */
static double balanced_run(const clv_bench_results_t *results, int a)
{
    double values[64];
    size_t n = 0;

    for (int64_t i = 0; i < results->n_balanced && n < 64; i++) {
        values[n++] = results->balanced[i * results->setup->n_algorithms + a].run_ns;
    }
    return spread_of(values, n).median;
}

/* Without a delay, the divisor would be only the noise of the arrivals. */
static bool has_delay(const clv_pattern_t *pattern)
{
    return strcmp(pattern->name, "balanced") &&
           (pattern->amount_ns > 0 || !strcmp(pattern->name, "trace"));
}

typedef enum overlap { OVER_RUN, OVER_SMALLER, IN_NS } overlap_t;

/* t0 + delta - t, the time that an algorithm absorbs: in ns, over t, or over min(t0, delta), which
 * gives 1 if the delay is hidden completely. */
static spread_t overlap_benefit(const clv_bench_results_t *results, int a, overlap_t kind,
                                double *scratch)
{
    const double t0 = has_delay(results->pattern) ? balanced_run(results, a) : NAN;
    size_t n = 0;

    for (int64_t i = 0; !isnan(t0) && i < results->n_rounds; i++) {
        const clv_bench_metrics_t *m = cell(results, i, a);
        const double delta = m->run_ns - m->after_ns;
        const double over = kind == IN_NS          ? 1.0
                            : kind == OVER_SMALLER ? fmin(t0, delta)
                                                   : m->run_ns;
        if (m->is_usable && delta > LEAST_DELAY * t0) {
            scratch[n++] = (t0 + delta - m->run_ns) / over;
        }
    }
    return spread_of(scratch, n);
}

/* Time from the first arrival to the last, in units of the time of a one-vector message (Faraj and
 * others: a pattern is imbalanced above 1). */
static spread_t imbalance_factor(const clv_bench_results_t *results, int a, double *scratch)
{
    const double message_ns = (double) results->setup->message_ns;
    size_t n = 0;

    for (int64_t i = 0; message_ns > 0.0 && i < results->n_rounds; i++) {
        const clv_bench_metrics_t *m = cell(results, i, a);
        if (m->is_usable) {
            scratch[n++] = (m->run_ns - m->after_ns) / message_ns;
        }
    }
    return spread_of(scratch, n);
}

static int bound_index(const clv_bench_setup_t *setup)
{
    for (int a = 0; a < setup->n_algorithms; a++) {
        if (setup->algorithms[a].is_bound) {
            return a;
        }
    }
    return -1;
}

clv_bench_verdict_t clv_bench_verdict(const clv_bench_results_t *results)
{
    clv_bench_verdict_t verdict = {0};
    double waited = 0.0;
    double ran = 0.0;

    for (int64_t i = 0; i < results->n_rounds * results->setup->n_algorithms; i++) {
        const clv_bench_metrics_t *m = &results->metrics[i];
        verdict.n_wrong += !m->is_valid;
        verdict.n_calls++;
        verdict.n_unusable += !m->is_usable;
        verdict.longest_ns = fmax(verdict.longest_ns, m->run_ns);
        waited += m->cpu_wait_ns;
        ran += m->run_ns;
    }
    verdict.cpu_wait_part = ran > 0.0 ? waited / ran : 0.0;
    verdict.is_cpu_bound = verdict.cpu_wait_part > CLV_CPU_WAIT_LIMIT;
    return verdict;
}

/* ---- the table ---- */

typedef bool (*flag_t)(const clv_bench_metrics_t *metrics);

static bool get_is_valid(const clv_bench_metrics_t *metrics)
{
    return metrics->is_valid;
}

static bool get_is_hinted(const clv_bench_metrics_t *metrics)
{
    return metrics->is_hinted;
}

static int64_t count_flag(const clv_bench_results_t *results, int a, flag_t get)
{
    int64_t n = 0;

    for (int64_t i = 0; i < results->n_rounds; i++) {
        n += get(cell(results, i, a));
    }
    return n;
}

static void print_ratio(FILE *out, spread_t ratio)
{
    if (ratio.n) {
        fprintf(out, "  %6.3f", ratio.median);
    } else {
        fprintf(out, "  %6s", "-");
    }
}

/* Prints ms, or a dash if no call is usable. */
static void print_ms(FILE *out, int width, double ns)
{
    if (isnan(ns)) {
        fprintf(out, " %*s", width, "-");
    } else {
        fprintf(out, " %*.3f", width, ns / MS);
    }
}

static void print_median(FILE *out, const clv_bench_results_t *results, int a, metric_t get,
                         double *scratch)
{
    print_ms(out, 9, spread_of_metric(results, a, get, scratch).median);
}

static void print_row(FILE *out, const clv_bench_results_t *results, int a, double *scratch)
{
    const clv_bench_setup_t *setup = results->setup;
    const spread_t after = spread_of_metric(results, a, get_after_ns, scratch);
    const spread_t error = spread_of_metric(results, a, get_arrival_error_ns, scratch);

    fprintf(out, "%-22s", setup->algorithms[a].name);
    print_ms(out, 9, after.median);
    print_ms(out, 8, after.q1);
    print_ms(out, 8, after.q3);
    print_ratio(out, spread_of_ratio(results, a, 0, get_after_ns, scratch));
    print_ratio(out, spread_of_ratio(results, a, bound_index(setup), get_after_ns, scratch));
    print_median(out, results, a, get_run_ns, scratch);
    print_median(out, results, a, get_mpi_mean_ns, scratch);
    print_ratio(out, spread_of_ratio(results, a, 0, get_mpi_mean_ns, scratch));
    print_median(out, results, a, get_mpi_max_ns, scratch);
    print_median(out, results, a, get_mpi_late_ns, scratch);
    print_median(out, results, a, get_mpi_root_ns, scratch);
    print_ratio(out, overlap_benefit(results, a, OVER_RUN, scratch));
    print_ratio(out, overlap_benefit(results, a, OVER_SMALLER, scratch));
    print_ms(out, 8, error.median);
    fprintf(out, "  %lld/%lld\n", (long long) after.n,
            (long long) count_flag(results, a, get_is_valid));
    if (setup->algorithms[a].is_hinted) {
        fprintf(out, "  announced in %lld call%s of %lld\n",
                (long long) count_flag(results, a, get_is_hinted),
                clv_text_s(count_flag(results, a, get_is_hinted)), (long long) results->n_rounds);
    }
}

static void print_heading(FILE *out, const clv_bench_results_t *results)
{
    const clv_bench_setup_t *setup = results->setup;
    const char *emulated = getenv("CLV_CLUSTER");

    fprintf(out, "\n%s%s, %d ranks%s%s, %zu bytes, pattern %s", setup->nonblocking ? "i" : "",
            setup->collective->name, setup->call.n_ranks, emulated ? ", emulated hosts:rate " : "",
            emulated ? emulated : "", results->n_bytes, results->pattern_text);
    fprintf(out, ", delay %.3f ms, %lld rounds", (double) results->pattern->amount_ns / MS,
            (long long) results->n_rounds);
    if (results->is_interrupted) {
        fprintf(out, " of %lld, INTERRUPTED", (long long) results->options->iterations);
    }
    fprintf(out, "; times in ms\n");
    fprintf(out, "%-22s %9s %8s %8s  %6s  %6s %9s %9s  %6s %9s %9s %9s  %6s  %6s %8s  %s\n",
            "algorithm", "after", "q1", "q3", "/first", "/bound", "run", "in MPI", "/first", "max",
            "late", "root", "overl.", "hidden", "arr.err", "used/right");
}

static void print_window(FILE *out, const clv_bench_setup_t *setup)
{
    const clv_window_t *window = &setup->window;

    if (window->rule->judge != NULL) {
        fprintf(out,
                "window by %s: %.1f us, found in %lld batches; %lld calls of %lld did not fit; "
                "relative "
                "standard error %.3f\n",
                window->rule->name, (double) setup->sync->window_ns / 1e3,
                (long long) window->n_batches, (long long) window->n_invalid,
                (long long) window->n_calls, window->standard_error);
    }
}

/* Prints the quality of the synchronised starts. */
static void print_starts(FILE *out, const clv_bench_results_t *results, double *scratch)
{
    const clv_bench_setup_t *setup = results->setup;
    const int64_t n_calls = results->n_rounds * setup->n_algorithms;
    size_t n = 0;

    for (int64_t i = 0; i < n_calls; i++) {
        if (results->metrics[i].is_usable) {
            scratch[n++] = results->metrics[i].start_spread_ns;
        }
    }
    const spread_t spread = spread_of(scratch, n);
    if (n > 0) {
        fprintf(out, "starts by %s%s%s: %.1f us apart, %.1f at most\n", results->options->sync,
                *setup->sync->multicast.network ? " on " : "", setup->sync->multicast.network,
                spread.median / 1e3, spread.largest / 1e3);
    }
}

/* A processor's counter is valid on that processor only. */
static void print_timer(FILE *out, const clv_bench_setup_t *setup)
{
    const clv_bench_place_t *place = &setup->place;

    if (!setup->sync->clock.is_realtime && clv_cs_clock_is_counter(&setup->sync->clock.timer) &&
        (place->n_bound < place->n_ranks || place->n_cpus_most > 1)) {
        fprintf(out, "timer %s: ranks are not bound to one processor each\n",
                setup->sync->clock.timer.name);
    }
}

/* A window shorter than the call makes every later start late. */
static void print_late_starts(FILE *out, const clv_bench_results_t *results,
                              const clv_bench_verdict_t *verdict)
{
    if ((double) verdict->n_unusable <= LATE_PART * (double) verdict->n_calls) {
        return;
    }
    fprintf(out, "%lld call%s of %lld %s started late by some rank and %s not count",
            (long long) verdict->n_unusable, clv_text_s(verdict->n_unusable),
            (long long) verdict->n_calls, verdict->n_unusable == 1 ? "was" : "were",
            verdict->n_unusable == 1 ? "does" : "do");
    if (!strcmp(results->options->sync, "window") && results->setup->window.rule->judge == NULL) {
        fprintf(out, ": --window %lld is too small, calls took up to %.0f us",
                (long long) results->options->window_us, verdict->longest_ns / 1e3);
    }
    fprintf(out, "\n");
}

void clv_bench_report_verdict(FILE *out, const clv_bench_verdict_t *verdict,
                              const clv_bench_clock_t *clock)
{
    fprintf(out, "ranks waited for a processor %.1f %% of the time: %s\n",
            100.0 * verdict->cpu_wait_part,
            verdict->is_cpu_bound ? "NOT network-bound, do not trust these figures"
                                  : "network-bound");
    if (!clock->is_checked) {
        fprintf(out, "clock: not measured at the end\n");
        fflush(out);
        return;
    }
    fprintf(out,
            "clock: no rank off by more than %.1f us; measured at the end: %.1f us, give or take "
            "%.1f%s\n",
            (double) clock->bound_ns / 1e3, (double) clock->found_ns / 1e3,
            (double) clock->found_error_ns / 1e3,
            clock->is_off ? ": NOT one clock, do not trust these figures" : "");
    fflush(out);
}

void clv_bench_report_table(FILE *out, const clv_bench_results_t *results)
{
    const size_t n_calls = (size_t) (results->n_rounds * results->setup->n_algorithms);
    double *scratch = clv_alloc(n_calls + 1, sizeof *scratch);
    const clv_bench_verdict_t verdict = clv_bench_verdict(results);

    if (!scratch) {
        return;
    }
    print_heading(out, results);
    for (int a = 0; a < results->setup->n_algorithms; a++) {
        print_row(out, results, a, scratch);
    }
    print_starts(out, results, scratch);
    print_late_starts(out, results, &verdict);
    print_window(out, results->setup);
    print_timer(out, results->setup);
    clv_bench_report_verdict(out, &verdict, &results->setup->sync->clock);
    clv_free(scratch);
}

/* ---- JSON lines ---- */

/* For a searched window: its rule, batches, and calls that did not count. */
static void json_window(clv_json_t *json, const clv_window_t *window)
{
    clv_json_text(json, "window_rule", window->rule->name);
    if (window->rule->judge != NULL) {
        clv_json_whole(json, "window_batches", window->n_batches);
        clv_json_whole(json, "window_calls", window->n_calls);
        clv_json_whole(json, "window_invalid", window->n_invalid);
        clv_json_number(json, "standard_error", window->standard_error);
    }
}

/* Null if interrupted before the second measurement of the clock. */
static void json_clock(clv_json_t *json, const clv_bench_clock_t *clock)
{
    const double unknown = clock->is_checked ? 0.0 : NAN;

    clv_json_number(json, "clock_error_ns", (double) clock->bound_ns + unknown);
    clv_json_number(json, "clock_found_ns", (double) clock->found_ns + unknown);
    clv_json_number(json, "clock_found_error_ns", (double) clock->found_error_ns + unknown);
    if (clock->is_checked) {
        clv_json_flag(json, "clock_holds", !clock->is_off);
    } else {
        clv_json_number(json, "clock_holds", NAN);
    }
}

void clv_bench_report_factors(clv_json_t *json, const clv_bench_results_t *results)
{
    const clv_bench_setup_t *setup = results->setup;
    const clv_bench_options_t *options = results->options;

    clv_json_text(json, "collective", setup->collective->name);
    clv_json_number(json, "nonblocking", setup->nonblocking);
    clv_json_number(json, "bytes", (double) results->n_bytes);
    clv_json_text(json, "type", options->element);
    clv_json_text(json, "op", options->operation);
    clv_json_number(json, "root", setup->call.root);
    clv_json_text(json, "pattern", results->pattern_text);
    clv_json_text(json, "delay", results->delay_text);
    clv_json_number(json, "delay_ns", (double) results->pattern->amount_ns);
    clv_json_number(json, "jitter", options->jitter);
    clv_json_number(json, "seed", (double) options->seed);
    clv_json_text(json, "sync", options->sync);
    clv_json_number(json, "slack_ns", (double) setup->sync->slack_ns);
    clv_json_number(json, "window_ns", (double) setup->sync->window_ns);
    json_window(json, &setup->window);
    clv_json_text(json, "scheme", setup->scheme->name);
    clv_json_whole(json, "in_row", setup->scheme->is_row ? setup->in_row : 1);
    clv_json_text(json, "cache", options->cache);
    clv_json_flag(json, "shuffled", options->shuffles);
    clv_json_number(json, "message_ns", (double) setup->message_ns);
    clv_json_text(json, "clock", setup->sync->clock.is_realtime ? "realtime" : options->clock);
    clv_json_text(json, "timer",
                  setup->sync->clock.is_realtime ? "realtime"
                  : options->timer               ? options->timer
                                                 : "monotonic");
    json_clock(json, &setup->sync->clock);
    clv_json_number(json, "warmup", (double) options->warmup);
    clv_json_flag(json, "interrupted", results->is_interrupted);
}

/* By call, and in each call by rank. */
static void json_visits(clv_json_t *json, const clv_bench_results_t *results, int a, bool is_exit)
{
    const clv_bench_setup_t *setup = results->setup;
    const int64_t n_ranks = setup->call.n_ranks;

    clv_json_list_begin(json, is_exit ? "rank_exit_ns" : "rank_arrival_ns");
    for (int64_t i = 0; i < results->n_rounds; i++) {
        const clv_bench_visit_t *call = &setup->visits[(i * setup->n_algorithms + a) * n_ranks];
        for (int64_t r = 0; r < n_ranks; r++) {
            clv_json_item(json, (double) (is_exit ? call[r].exit_ns : call[r].arrival_ns), 0);
        }
    }
    clv_json_list_end(json);
}

/* What other benchmarks would report. */
static void json_processed(clv_json_t *json, const clv_bench_results_t *results, int a)
{
    const clv_bench_setup_t *setup = results->setup;
    const size_t n_ranks = (size_t) setup->call.n_ranks;
    double *times = clv_alloc((size_t) results->n_rounds * n_ranks + 1, sizeof *times);
    size_t n = 0;

    for (int64_t i = 0; times && i < results->n_rounds; i++) {
        const clv_bench_visit_t *call =
            &setup->visits[(size_t) (i * setup->n_algorithms + a) * n_ranks];
        for (size_t r = 0; cell(results, i, a)->is_usable && r < n_ranks; r++) {
            times[n++] = (double) (call[r].exit_ns - call[r].arrival_ns);
        }
    }
    const clv_bench_processed_t ps = clv_bench_process(times, n / n_ranks, n_ranks);
    clv_json_number(json, "ps5_least_ns", ps.ps5_least);
    clv_json_number(json, "ps5_mean_ns", ps.ps5_mean);
    clv_json_number(json, "ps5_largest_ns", ps.ps5_largest);
    clv_json_number(json, "ps6_least_ns", ps.ps6_least);
    clv_json_number(json, "ps6_mean_ns", ps.ps6_mean);
    clv_json_number(json, "ps6_median_ns", ps.ps6_median);
    clv_json_number(json, "ps6_largest_ns", ps.ps6_largest);
    clv_json_number(json, "ps7_least_ns", ps.ps7_least);
    clv_json_number(json, "ps7_mean_ns", ps.ps7_mean);
    clv_json_number(json, "ps7_largest_ns", ps.ps7_largest);
    clv_json_number(json, "ps8_mean_ns", ps.ps8_mean);
    clv_free(times);
}

static void json_values(clv_json_t *json, const clv_bench_results_t *results, int a)
{
    char key[64];

    for (size_t m = 0; m < N_METRICS; m++) {
        snprintf(key, sizeof key, "%s_ns", metric_rows[m].name);
        clv_json_list_begin(json, key);
        for (int64_t i = 0; i < results->n_rounds; i++) {
            clv_json_item(json, metric_rows[m].get(cell(results, i, a)), 0);
        }
        clv_json_list_end(json);
    }
    clv_json_list_begin(json, "late_mean_ns");
    for (int r = 0; r < results->setup->call.n_ranks; r++) {
        clv_json_item(json, results->setup->late_ns[r], 0);
    }
    clv_json_list_end(json);
    clv_json_list_begin(json, "usable");
    for (int64_t i = 0; i < results->n_rounds; i++) {
        clv_json_item(json, cell(results, i, a)->is_usable, 0);
    }
    clv_json_list_end(json);
    if (results->options->per_rank && results->setup->visits) {
        json_visits(json, results, a, false);
        json_visits(json, results, a, true);
        json_processed(json, results, a);
    }
}

/* Writes name, components, and all settings. */
void clv_bench_report_algorithm(clv_json_t *json, const clv_algorithm_t *algorithm)
{
    clv_json_text(json, "algorithm", algorithm->name);
    clv_json_text(json, "components", algorithm->components);
    for (int s = 0; s < algorithm->n_settings; s++) {
        clv_json_text(json, algorithm->settings[s].name, algorithm->settings[s].value);
    }
}

static void json_summary(clv_json_t *json, const clv_bench_results_t *results, int a,
                         double *scratch)
{
    char key[64];

    for (size_t m = 0; m < N_METRICS; m++) {
        const spread_t spread = spread_of_metric(results, a, metric_rows[m].get, scratch);
        snprintf(key, sizeof key, "%s_median_ns", metric_rows[m].name);
        clv_json_number(json, key, spread.median);
        snprintf(key, sizeof key, "%s_mean_ns", metric_rows[m].name);
        clv_json_number(json, key, spread.mean);
        snprintf(key, sizeof key, "%s_least_ns", metric_rows[m].name);
        clv_json_number(json, key, spread.least);
        snprintf(key, sizeof key, "%s_largest_ns", metric_rows[m].name);
        clv_json_number(json, key, spread.largest);
        snprintf(key, sizeof key, "%s_deviation_ns", metric_rows[m].name);
        clv_json_number(json, key, spread.deviation);
    }
    clv_json_number(json, "run_lag1", correlation(results, a, get_run_ns, scratch));
    clv_json_number(json, "ratio_first",
                    spread_of_ratio(results, a, 0, get_after_ns, scratch).median);
    clv_json_number(
        json, "ratio_bound",
        spread_of_ratio(results, a, bound_index(results->setup), get_after_ns, scratch).median);
    clv_json_number(json, "balanced_run_ns", balanced_run(results, a));
    clv_json_number(json, "imbalance_factor", imbalance_factor(results, a, scratch).median);
    clv_json_number(json, "absorbed_ns", overlap_benefit(results, a, IN_NS, scratch).median);
    clv_json_number(json, "overlap_benefit", overlap_benefit(results, a, OVER_RUN, scratch).median);
    clv_json_number(json, "hidden_part", overlap_benefit(results, a, OVER_SMALLER, scratch).median);
    clv_json_number(json, "calls", (double) results->n_rounds);
    clv_json_number(json, "right", (double) count_flag(results, a, get_is_valid));
    clv_json_number(json, "announced", (double) count_flag(results, a, get_is_hinted));
}

void clv_bench_report_json(FILE *out, const clv_bench_results_t *results)
{
    double *scratch = clv_alloc((size_t) results->n_rounds + 1, sizeof *scratch);
    const clv_bench_verdict_t verdict = clv_bench_verdict(results);

    for (int a = 0; scratch && a < results->setup->n_algorithms; a++) {
        clv_json_t json = clv_json_begin(out, "clv-bench", "calls");
        clv_bench_place_json(&json, &results->setup->place);
        clv_bench_report_factors(&json, results);
        clv_bench_report_algorithm(&json, &results->setup->algorithms[a]);
        json_summary(&json, results, a, scratch);
        json_values(&json, results, a);
        clv_json_flag(&json, "network_bound", !verdict.is_cpu_bound);
        clv_json_end(&json);
    }
    fflush(out);
    clv_free(scratch);
}
