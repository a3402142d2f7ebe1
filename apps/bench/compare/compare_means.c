/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See compare.h.
 */
#include "apps/bench/compare/compare.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/bench/measure/bench_stats.h"
#include "apps/cli/cli_json.h"
#include "apps/cli/cli_file.h"
#include "apps/trace/trace_patterns.h"
#include "util/util_alloc.h"

#define MOST_CALLS 100000

/* The means of one group and size. */
typedef struct drawn {
    const clv_result_group_t *group;
    int32_t n_calls;
    double mean[CLV_MEANS_DRAWN];
    double w, normal_p; /* NaN if all values are equal */
} drawn_t;

const char *clv_means_read(clv_means_t *means, const char *text)
{
    static const char wanted[] = "up to 16 whole numbers from 1 to 100000, with commas";

    for (means->n_sizes = 0; *text; means->n_sizes++) {
        char *end;
        const long n = strtol(text, &end, 10);

        if (end == text || n < 1 || n > MOST_CALLS || means->n_sizes == CLV_MEANS_SIZES ||
            (*end != '\0' && (*end != ',' || end[1] == '\0'))) {
            return wanted;
        }
        means->calls[means->n_sizes] = (int32_t) n;
        text = *end == ',' ? end + 1 : end;
    }
    return means->n_sizes > 0 ? NULL : wanted;
}

static size_t usable_calls(const clv_result_group_t *group, double *calls)
{
    size_t n = 0;

    for (size_t i = 0; i < group->n_kept; i++) {
        if (!isnan(group->calls[i])) {
            calls[n++] = group->calls[i];
        }
    }
    return n;
}

static double draw_mean(const double *calls, size_t n_all, int32_t n_calls, uint64_t seed,
                        uint64_t sample)
{
    double sum = 0.0;

    for (int32_t i = 0; i < n_calls; i++) {
        const double at = clv_pattern_random(seed, sample, (uint64_t) i);
        sum += calls[(size_t) (at * (double) n_all)];
    }
    return sum / n_calls;
}

static void draw_means(const clv_means_t *means, const double *calls, size_t n_all, drawn_t *drawn)
{
    for (uint64_t i = 0; i < CLV_MEANS_DRAWN; i++) {
        const uint64_t sample = i + CLV_MEANS_DRAWN * (uint64_t) drawn->n_calls;
        drawn->mean[i] = draw_mean(calls, n_all, drawn->n_calls, means->seed, sample);
    }
    if (clv_stats_shapiro_wilk(drawn->mean, CLV_MEANS_DRAWN, &drawn->w, &drawn->normal_p) !=
        CLV_OK) {
        drawn->w = drawn->normal_p = NAN;
    }
}

static void print_line(const clv_compare_t *compare, const drawn_t *drawn)
{
    const double unit = clv_compare_unit(compare);
    const clv_result_group_t *group = drawn->group;

    printf("%-12s %8.0f %-20s %7d %9.4f %9.4f %8.4f %9.2g  %s\n", group->collective, group->n_bytes,
           group->algorithm, (int) drawn->n_calls,
           clv_stats_mean(drawn->mean, CLV_MEANS_DRAWN) / unit,
           clv_stats_deviation(drawn->mean, CLV_MEANS_DRAWN) / unit, drawn->w, drawn->normal_p,
           drawn->normal_p >= 0.05 ? "may be normal" : "not normal");
}

static void write_line(FILE *out, const clv_compare_t *compare, const drawn_t *drawn)
{
    const clv_result_group_t *group = drawn->group;
    const bool is_time = clv_compare_unit(compare) > 1.0;
    clv_json_t json = clv_json_begin(out, "clv-bench-compare", "means");

    clv_json_text(&json, "metric", compare->metric);
    clv_json_text(&json, "collective", group->collective);
    clv_json_whole(&json, "ranks", (int64_t) group->n_ranks);
    clv_json_whole(&json, "bytes", (int64_t) group->n_bytes);
    clv_json_text(&json, "pattern", group->pattern);
    clv_json_text(&json, "label", group->label);
    clv_json_text(&json, "algorithm", group->algorithm);
    clv_json_whole(&json, "calls_in_mean", drawn->n_calls);
    clv_json_number(&json, "shapiro_w", drawn->w);
    clv_json_number(&json, "normal_p", drawn->normal_p);
    clv_json_list_begin(&json, is_time ? "sample_means_ns" : "sample_means");
    for (int32_t i = 0; i < CLV_MEANS_DRAWN; i++) {
        clv_json_item(&json, drawn->mean[i], is_time ? 0 : 6);
    }
    clv_json_list_end(&json);
    clv_json_end(&json);
}

static void tell_group(const clv_means_t *means, const clv_compare_t *compare, FILE *out,
                       const double *calls, size_t n_calls, drawn_t *drawn)
{
    for (int32_t i = 0; i < means->n_sizes && n_calls > 0; i++) {
        drawn->n_calls = means->calls[i];
        draw_means(means, calls, n_calls, drawn);
        if (out) {
            write_line(out, compare, drawn);
        }
        if (out != stdout) {
            print_line(compare, drawn);
        }
    }
}

static clv_status_t tell_groups(const clv_means_t *means, const clv_compare_t *compare, FILE *out)
{
    clv_status_t status = CLV_OK;
    drawn_t *drawn = clv_alloc(1, sizeof *drawn);

    if (out != stdout) {
        printf("%-12s %8s %-20s %7s %9s %9s %8s %9s\n", "collective", "bytes", "algorithm", "calls",
               "mean", "deviation", "W", "normal:p");
    }
    for (size_t i = 0; i < compare->set->n_groups && drawn && status == CLV_OK; i++) {
        const clv_result_group_t *group = &compare->set->groups[i];
        double *calls = clv_alloc(group->n_kept + 1, sizeof *calls);

        drawn->group = group;
        status = calls ? CLV_OK : CLV_NO_MEMORY;
        if (calls) {
            tell_group(means, compare, out, calls, usable_calls(group, calls), drawn);
        }
        clv_free(calls);
    }
    status = drawn ? status : CLV_NO_MEMORY;
    clv_free(drawn);
    return status;
}

clv_status_t clv_means_tell(const clv_means_t *means, const clv_compare_t *compare,
                            const char *path, char *reason, size_t reason_bytes)
{
    FILE *out = NULL;
    clv_status_t status;

    if (path) {
        out = clv_output_open(path);
        if (!out) {
            snprintf(reason, reason_bytes, "%s: %s", path, strerror(errno));
            return CLV_INVALID;
        }
    }
    status = tell_groups(means, compare, out);
    if (out && clv_output_close(out, path, reason, reason_bytes) != CLV_OK) {
        status = CLV_INVALID;
    }
    return status;
}
