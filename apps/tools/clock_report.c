/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See clock_report.h.
 */
#include "apps/tools/clock_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apps/bench/compare/bench_plot.h"
#include "apps/bench/measure/bench_stats.h"
#include "apps/cli/cli_json.h"
#include "util/util_text.h"

static void print_setting(FILE *file, const clock_setting_t *s)
{
    fprintf(file, "# %d rank%s on %d host%s, reference %d, clock %s", s->n_ranks,
            clv_text_s(s->n_ranks), s->n_hosts, clv_text_s(s->n_hosts), s->reference, s->clock);
    if (s->pretend_s != 0 || s->drift_ppm != 0) {
        fprintf(file, ", made wrong by up to %g s and %g ppm", s->pretend_s, s->drift_ppm);
    }
    fprintf(file, "\n# %s\n", s->mpi);
    fprintf(file,
            "# after: seconds since the synchronisation; max, mean: |offset| against the "
            "reference as measured [us]%s\n",
            s->has_truth ? "; true: the same by the common clock; covered: ranks whose bound held"
                         : "");
}

static void print_row(FILE *file, const clock_result_t *r, const clock_accuracy_t *a,
                      bool has_truth)
{
    fprintf(file, "%-34s %3d %8.3f %6d %9.4f %8.2f %7.3g %9.2f %9.2f %9.2f", r->label, r->run,
            r->duration_s, r->n_rounds, r->r_squared_min, r->rms_max_us, a->wait_s, a->max_us,
            a->mean_us, a->bound_max_us);
    if (has_truth) {
        fprintf(file, " %9.2f %9.2f %4d/%d", a->true_max_us, a->true_mean_us, a->n_covered,
                a->n_checked);
    }
    fprintf(file, "%s\n", r->n_failed > 0 ? "  FAILED RANKS" : "");
}

void clock_print_table(FILE *file, const clock_setting_t *setting, const clock_result_t *results,
                       int n_results)
{
    print_setting(file, setting);
    fprintf(file, "%-34s %3s %8s %6s %9s %8s %7s %9s %9s %9s%s\n", "method", "run", "took[s]",
            "rounds", "min R2", "rms[us]", "after", "max", "mean", "bound",
            setting->has_truth ? "  true max true mean covered" : "");
    for (int i = 0; i < n_results; i++) {
        for (int w = 0; w < results[i].n_waits; w++) {
            print_row(file, &results[i], &results[i].accuracy[w], setting->has_truth);
        }
    }
}

static int close_file(FILE *file)
{
    const bool had_error = ferror(file);
    return fclose(file) != 0 || had_error ? -1 : 0;
}

static void put_setting(clv_json_t *json, const clock_setting_t *setting)
{
    clv_bench_place_json(json, setting->place);
    clv_json_whole(json, "reference", setting->reference);
    clv_json_text(json, "clock", setting->clock);
    clv_json_number(json, "drift_ppm", setting->drift_ppm);
    clv_json_number(json, "pretend_ns", 1e9 * setting->pretend_s);
    clv_json_number(json, "sample_percent", setting->sample_percent);
    clv_json_flag(json, "has_truth", setting->has_truth);
}

/* By rank; null if a rank could not be measured. */
static void put_ranks(clv_json_t *json, const clv_cs_point_t *points, int n_ranks)
{
    clv_json_list_begin(json, "rank_offset_ns");
    for (int r = 0; r < n_ranks; r++) {
        const bool is_measured = points[r].error_ns != INT64_MAX;
        clv_json_item(json, is_measured ? (double) points[r].offset_ns : NAN, 0);
    }
    clv_json_list_end(json);
    clv_json_list_begin(json, "rank_offset_error_ns");
    for (int r = 0; r < n_ranks; r++) {
        const bool is_measured = points[r].error_ns != INT64_MAX;
        clv_json_item(json, is_measured ? (double) points[r].error_ns : NAN, 0);
    }
    clv_json_list_end(json);
}

static void put_check(clv_json_t *json, const clock_result_t *r, const clock_accuracy_t *a)
{
    clv_json_text(json, "algorithm", r->label);
    clv_json_whole(json, "run", r->run);
    clv_json_whole(json, "failed_ranks", r->n_failed);
    clv_json_whole(json, "rounds", r->n_rounds);
    clv_json_whole(json, "pings", r->n_pings);
    clv_json_number(json, "duration_ns", 1e9 * r->duration_s);
    clv_json_number(json, "r_squared_min", r->r_squared_min);
    clv_json_number(json, "rms_max_ns", 1e3 * r->rms_max_us);
    clv_json_number(json, "wait_ns", 1e9 * a->wait_s);
    clv_json_number(json, "max_ns", 1e3 * a->max_us);
    clv_json_number(json, "mean_ns", 1e3 * a->mean_us);
    clv_json_number(json, "true_max_ns", 1e3 * a->true_max_us);
    clv_json_number(json, "true_mean_ns", 1e3 * a->true_mean_us);
    clv_json_number(json, "bound_max_ns", 1e3 * a->bound_max_us);
    clv_json_whole(json, "checked", a->n_checked);
    clv_json_whole(json, "covered", a->n_covered);
}

int clock_write_json(const char *path, const clock_setting_t *setting,
                     const clock_result_t *results, int n_results)
{
    const bool is_stdout = strcmp(path, "-") == 0;
    FILE *file = is_stdout ? stdout : fopen(path, "a");
    if (file == NULL) {
        return -1;
    }
    for (int i = 0; i < n_results; i++) {
        for (int w = 0; w < results[i].n_waits; w++) {
            clv_json_t json = clv_json_begin(file, "clv-clock", "clock");
            put_setting(&json, setting);
            put_check(&json, &results[i], &results[i].accuracy[w]);
            put_ranks(&json, results[i].points + (size_t) w * (size_t) setting->n_ranks,
                      setting->n_ranks);
            clv_json_end(&json);
        }
    }
    return is_stdout ? fflush(file) : close_file(file);
}

/* A list as measured, for programs; its least, median and largest for people. */
typedef struct reported {
    const char *record, *clock;
    const char *key, *what; /* of the list */
    double unit;            /* of the printed values */
} reported_t;

static int tell_list(const char *path, FILE *out, const reported_t *reported,
                     const clv_bench_place_t *place, double *values, int n)
{
    FILE *file = path == NULL ? NULL : strcmp(path, "-") == 0 ? stdout : fopen(path, "a");
    if (path != NULL && file == NULL) {
        return -1;
    }
    if (file != NULL) {
        clv_json_t json = clv_json_begin(file, "clv-clock", reported->record);
        clv_bench_place_json(&json, place);
        clv_json_text(&json, "clock", reported->clock);
        clv_json_list_begin(&json, reported->key);
        for (int i = 0; i < n; i++) {
            clv_json_item(&json, values[i], 1);
        }
        clv_json_list_end(&json);
        clv_json_end(&json);
    }
    clv_stats_sort(values, (size_t) n);
    if (out != NULL) {
        fprintf(out, "# %d %s: least %.6f, median %.6f, largest %.6f\n", n, reported->what,
                values[0] / reported->unit,
                clv_stats_quantile(values, (size_t) n, 0.5) / reported->unit,
                values[n - 1] / reported->unit);
    }
    return file == NULL || file == stdout ? 0 : close_file(file);
}

int clock_tell_calibrations(const char *path, FILE *out, const char *clock,
                            const clv_bench_place_t *place, double *hz, int n)
{
    const reported_t reported = {"calibration", clock, "frequency_hz", "calibrations [MHz]", 1e6};
    return tell_list(path, out, &reported, place, hz, n);
}

int clock_tell_round_trips(const char *path, FILE *out, const clv_bench_place_t *place,
                           double *trips_ns, int n)
{
    const reported_t reported = {"round-trips", "monotonic", "round_trip_ns", "round trips [us]",
                                 1e3};
    return tell_list(path, out, &reported, place, trips_ns, n);
}

/* ---- the plot: one line per method and check ---- */

static clv_status_t add_check(const clock_setting_t *setting, const clock_result_t *result,
                              const clock_accuracy_t *accuracy, clv_result_set_t *set)
{
    clv_result_group_t like = {.collective = CLV_RESULTS_CLOCK, .n_ranks = setting->n_ranks};
    const double error_us = setting->has_truth ? accuracy->true_max_us : accuracy->max_us;

    snprintf(like.pattern, sizeof like.pattern, "%g s after", accuracy->wait_s);
    snprintf(like.algorithm, sizeof like.algorithm, "%.95s", result->label);
    clv_result_group_t *group = clv_results_group(set, &like);
    if (group == NULL) {
        return CLV_NO_MEMORY;
    }
    if (group->n_runs < CLV_RESULTS_RUNS && isfinite(error_us)) {
        group->duration_s[group->n_runs] = result->duration_s;
        group->value[group->n_runs++] = 1e3 * error_us;
    }
    return CLV_OK;
}

static bool has_runs(void *context, const clv_result_group_t *group)
{
    (void) context;
    return group->n_runs > 0;
}

clv_status_t clock_draw(const char *path, const clock_setting_t *setting,
                        const clock_result_t *results, int n_results, char *reason,
                        size_t reason_bytes)
{
    const clv_plot_t plot = {clv_figure_find("clock-accuracy"), CLV_RESULTS_CLOCK_METRIC, true};
    clv_result_set_t set = {0};
    clv_status_t status = CLV_OK;

    for (int i = 0; i < n_results; i++) {
        for (int w = 0; w < results[i].n_waits && status == CLV_OK; w++) {
            status = add_check(setting, &results[i], &results[i].accuracy[w], &set);
        }
    }
    clv_results_keep(&set, has_runs, NULL);
    if (status == CLV_OK && set.n_groups > 0) {
        status = clv_plot(&set, &plot, path, reason, reason_bytes);
    }
    clv_results_free(&set);
    return status;
}
