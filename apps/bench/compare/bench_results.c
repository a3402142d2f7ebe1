/* SPDX-License-Identifier: BSD-3-Clause
 *
 * JSON lines of clv-bench and clv-clock to groups of medians; see bench_results.h.
 */
#include "apps/bench/compare/bench_results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/bench/measure/bench_stats.h"
#include "apps/cli/cli_file.h"
#include "apps/trace/trace_patterns.h"
#include "util/util_alloc.h"

#define MAX_CALLS 100000

const clv_result_caveat_t clv_results_caveats[] = {
    {CLV_CAVEAT_CPU_BOUND, "\"network_bound\":false",
     "NOT network-bound, so these say nothing about a network"},
    {CLV_CAVEAT_CLOCK, "\"clock_holds\":false", "NOT timed on one clock, so do not trust these"},
    {CLV_CAVEAT_INTERRUPTED, "\"interrupted\":true",
     "INTERRUPTED, so of fewer calls than asked for"},
    {0, NULL, NULL},
};

/* ---- one flat object ---- */

/* The text after "key":, or NULL. No key is empty. */
static const char *find_value(const char *line, const char *key)
{
    const size_t length = strlen(key);

    for (const char *at = length > 0 ? strstr(line, key) : NULL; at; at = strstr(at + 1, key)) {
        if (at > line && at[-1] == '"' && at[length] == '"' && at[length + 1] == ':') {
            return at + length + 2;
        }
    }
    return NULL;
}

static bool read_text(const char *line, const char *key, char *text, size_t text_bytes)
{
    const char *from = find_value(line, key);
    size_t n = 0;

    if (!from || *from++ != '"') {
        return false;
    }
    while (*from && *from != '"' && n + 1 < text_bytes) {
        from += *from == '\\' && from[1];
        text[n++] = *from++;
    }
    text[n] = '\0';
    return *from == '"';
}

static bool read_number(const char *line, const char *key, double *number_p)
{
    const char *from = find_value(line, key);
    char *end;

    if (!from) {
        return false;
    }
    const double number = strtod(from, &end);
    if (end == from || !isfinite(number)) {
        return false;
    }
    *number_p = number;
    return true;
}

/* Returns how many numbers "key":[...] has; -1 if it is absent or malformed. */
static long read_array(const char *line, const char *key, double *numbers, long max)
{
    const char *from = find_value(line, key);
    long n = 0;

    if (!from || *from++ != '[') {
        return -1;
    }
    while (*from != ']') {
        char *end;
        const double number = strtod(from, &end);
        if (end == from || !isfinite(number) || n == max) {
            return -1;
        }
        numbers[n++] = number;
        from = *end == ',' ? end + 1 : end;
    }
    return n;
}

/* ---- groups ---- */

/* An absent key gives the same text for all lines. */
static void read_optional(const char *line, const char *key, char *text)
{
    if (!read_text(line, key, text, CLV_RESULTS_TEXT)) {
        text[0] = '\0';
    }
}

static bool is_of_clocks(const char *line)
{
    char record[CLV_RESULTS_TEXT];

    return read_text(line, "record", record, sizeof record) && !strcmp(record, "clock");
}

/* For a check of a synchronisation, the time since the synchronisation is the pattern. */
static bool read_clock_factors(const char *line, clv_result_group_t *group)
{
    double wait_ns;

    snprintf(group->collective, sizeof group->collective, "%s", CLV_RESULTS_CLOCK);
    if (!read_number(line, "wait_ns", &wait_ns)) {
        return false;
    }
    snprintf(group->pattern, sizeof group->pattern, "%g s after", wait_ns / 1e9);
    return read_text(line, "algorithm", group->algorithm, sizeof group->algorithm) &&
           read_number(line, "ranks", &group->n_ranks);
}

static bool read_factors(const char *line, const char *label, clv_result_group_t *group)
{
    memset(group, 0, sizeof *group);
    snprintf(group->label, sizeof group->label, "%s", label);
    if (is_of_clocks(line)) {
        return read_clock_factors(line, group);
    }
    read_optional(line, "delay", group->delay);
    read_optional(line, "couple", group->couple);
    read_optional(line, "compute", group->compute);
    return read_text(line, "collective", group->collective, sizeof group->collective) &&
           read_text(line, "pattern", group->pattern, sizeof group->pattern) &&
           read_text(line, "algorithm", group->algorithm, sizeof group->algorithm) &&
           read_number(line, "ranks", &group->n_ranks) &&
           read_number(line, "bytes", &group->n_bytes) &&
           read_number(line, "delay_ns", &group->delay_ns);
}

static bool same_number(double a, double b)
{
    return !(a < b) && !(a > b);
}

/* A delay given as a multiple of a measured time differs in ns between mpiruns. */
static bool same_delay(const clv_result_group_t *a, const clv_result_group_t *b)
{
    return *a->delay && *b->delay ? !strcmp(a->delay, b->delay)
                                  : same_number(a->delay_ns, b->delay_ns);
}

bool clv_results_comparable(const clv_result_group_t *a, const clv_result_group_t *b)
{
    return !strcmp(a->collective, b->collective) && !strcmp(a->pattern, b->pattern) &&
           same_number(a->n_ranks, b->n_ranks) && same_number(a->n_bytes, b->n_bytes) &&
           same_delay(a, b) && !strcmp(a->couple, b->couple) && !strcmp(a->compute, b->compute);
}

static bool is_same_group(const clv_result_group_t *a, const clv_result_group_t *b)
{
    return clv_results_comparable(a, b) && !strcmp(a->algorithm, b->algorithm) &&
           !strcmp(a->label, b->label);
}

static bool has_caveat(const clv_result_group_t *group, const clv_result_group_t *like,
                       const clv_result_caveat_t *caveat)
{
    return (group->caveats & caveat->bit) && (!like || clv_results_comparable(group, like));
}

/* Whether an earlier group with the caveat has the same name. */
static bool is_named(const clv_result_set_t *set, size_t index, const clv_result_group_t *like,
                     const clv_result_caveat_t *caveat)
{
    for (size_t i = 0; i < index; i++) {
        const clv_result_group_t *group = &set->groups[i];
        if (has_caveat(group, like, caveat) && !strcmp(group->label, set->groups[index].label) &&
            !strcmp(group->algorithm, set->groups[index].algorithm)) {
            return true;
        }
    }
    return false;
}

bool clv_results_put_caveat(FILE *out, const clv_result_set_t *set, const clv_result_group_t *like,
                            const clv_result_caveat_t *caveat)
{
    const char *separator = ": ";
    int n = 0;

    for (size_t i = 0; i < set->n_groups; i++) {
        const clv_result_group_t *group = &set->groups[i];
        if (has_caveat(group, like, caveat) && !is_named(set, i, like, caveat)) {
            fprintf(out, "%s%s%s%s%s", n++ ? "" : caveat->meaning, separator, group->label,
                    *group->label ? ": " : "", group->algorithm);
            separator = ", ";
        }
    }
    return n > 0;
}

clv_result_group_t *clv_results_group(clv_result_set_t *set, const clv_result_group_t *like)
{
    for (size_t i = 0; i < set->n_groups; i++) {
        if (is_same_group(&set->groups[i], like)) {
            return &set->groups[i];
        }
    }
    if (set->n_groups == set->n_allocated) {
        const size_t n = set->n_allocated ? 2 * set->n_allocated : 16;
        clv_result_group_t *more = clv_alloc(n, sizeof *more);
        if (!more) {
            return NULL;
        }
        if (set->n_groups) {
            memcpy(more, set->groups, set->n_groups * sizeof *more);
        }
        clv_free(set->groups);
        set->groups = more;
        set->n_allocated = n;
    }
    set->groups[set->n_groups] = *like;
    return &set->groups[set->n_groups++];
}

/* Reads a metric's array, by its key or the key without "_ns"; -1 if there is none. */
static long read_metric(const char *line, const char *metric, double *values)
{
    char key[CLV_RESULTS_TEXT];

    snprintf(key, sizeof key, "%s_ns", metric);
    const long n_values = read_array(line, key, values, MAX_CALLS);
    return n_values < 0 ? read_array(line, metric, values, MAX_CALLS) : n_values;
}

/* Marks the unusable calls. All blocks of a loop are usable, and its lines have no such key. */
static void mark_unusable(const char *line, double *values, long n_values, double *usable)
{
    const long n_usable = read_array(line, "usable", usable, MAX_CALLS);

    for (long i = 0; n_usable >= 0 && i < n_values; i++) {
        if (i >= n_usable || usable[i] < 0.5) {
            values[i] = NAN;
        }
    }
}

static clv_status_t keep_calls(clv_result_group_t *group, const double *values, size_t n_values)
{
    const size_t n_needed = group->n_kept + n_values;

    if (n_needed > group->n_room) {
        double *more = clv_alloc(2 * n_needed, sizeof *more);
        if (!more) {
            return CLV_NO_MEMORY;
        }
        if (group->n_kept) {
            memcpy(more, group->calls, group->n_kept * sizeof *more);
        }
        clv_free(group->calls);
        group->calls = more;
        group->n_room = 2 * n_needed;
    }
    if (n_values) {
        memcpy(group->calls + group->n_kept, values, n_values * sizeof *values);
    }
    group->n_kept = n_needed;
    group->run_end[group->n_runs] = n_needed;
    return CLV_OK;
}

/* Keeps n_sample values in their order, each choice equally likely (Knuth's algorithm S): calls
 * further apart depend less on each other. Returns how many are left. */
static size_t draw_sample(const clv_result_set_t *set, double *values, size_t n_values,
                          uint64_t run)
{
    const size_t n_wanted = (size_t) set->n_sample;
    size_t n = 0;

    for (size_t i = 0; set->n_sample > 0 && n < n_wanted && i < n_values; i++) {
        const double left = (double) (n_values - i);
        if (clv_pattern_random(set->seed, run, i) * left < (double) (n_wanted - n)) {
            values[n++] = values[i];
        }
    }
    return set->n_sample > 0 ? n : n_values;
}

/* Keeps the calls, and reduces the usable ones to one median after the filter. CLV_INVALID if there
 * are none and the metric is not a plain number either. */
static clv_status_t reduce_calls(const char *line, const char *metric, double *values,
                                 double *usable, const clv_result_set_t *set,
                                 clv_result_group_t *group, double *median_p)
{
    const long n_values = read_metric(line, metric, values);
    size_t n = 0;

    if (n_values < 0) {
        group->run_end[group->n_runs] = group->n_kept;
        return read_number(line, metric, median_p) ? CLV_OK : CLV_INVALID;
    }
    mark_unusable(line, values, n_values, usable);
    if (keep_calls(group, values, (size_t) n_values) != CLV_OK) {
        return CLV_NO_MEMORY;
    }
    for (long i = 0; i < n_values; i++) {
        if (!isnan(values[i])) {
            values[n++] = values[i];
        }
    }
    n = draw_sample(set, values, n, group->n_runs);
    const size_t n_kept = clv_stats_tukey(values, n);
    group->n_calls += n;
    group->n_filtered += n - n_kept;
    *median_p = clv_stats_median(values, n_kept);
    return n_kept > 0 ? CLV_OK : CLV_INVALID;
}

/* The error of a clock: the true one if known. */
static bool read_clock_error(const char *line, const char *metric, double *error_ns_p)
{
    if (strcmp(metric, CLV_RESULTS_CLOCK_METRIC)) {
        char key[CLV_RESULTS_TEXT];
        snprintf(key, sizeof key, "%s_ns", metric);
        return read_number(line, key, error_ns_p) || read_number(line, metric, error_ns_p);
    }
    return read_number(line, "true_max_ns", error_ns_p) || read_number(line, "max_ns", error_ns_p);
}

static clv_status_t add_check(const char *line, const char *metric, clv_result_group_t *group)
{
    double duration_ns;
    double error_ns;

    if (!read_clock_error(line, metric, &error_ns)) {
        return CLV_INVALID;
    }
    if (!read_number(line, "duration_ns", &duration_ns)) {
        return CLV_PROTOCOL;
    }
    group->duration_s[group->n_runs] = duration_ns / 1e9;
    group->value[group->n_runs++] = error_ns;
    group->n_calls++;
    return CLV_OK;
}

/* A synchronisation that left a rank without a clock gives no error. */
static bool is_failed(const char *line)
{
    double n_failed;

    return read_number(line, "failed_ranks", &n_failed) && n_failed > 0.0;
}

/* "metric":null: not defined for this configuration, such as overlap without a delay. */
static bool is_null(const char *line, const char *metric)
{
    const char *value = find_value(line, metric);

    return value && !strncmp(value, "null", 4);
}

static clv_status_t add_line(const char *line, const char *label, const char *metric,
                             double *scratch, clv_result_set_t *set)
{
    clv_result_group_t factors;
    double median = 0.0;

    if (*line != '{' || !read_factors(line, label, &factors)) {
        return CLV_PROTOCOL;
    }
    if (is_null(line, metric) || is_failed(line)) {
        return CLV_OK;
    }
    clv_result_group_t *group = clv_results_group(set, &factors);
    if (!group) {
        return CLV_NO_MEMORY;
    }
    if (group->n_runs == CLV_RESULTS_RUNS) {
        return CLV_LIMIT;
    }
    if (is_of_clocks(line)) {
        return add_check(line, metric, group);
    }
    const clv_status_t status =
        reduce_calls(line, metric, scratch, scratch + MAX_CALLS, set, group, &median);
    if (status != CLV_OK) {
        return status;
    }
    for (const clv_result_caveat_t *caveat = clv_results_caveats; caveat->line; caveat++) {
        group->caveats |= strstr(line, caveat->line) ? caveat->bit : 0;
    }
    group->value[group->n_runs++] = median;
    return CLV_OK;
}

static const char *explain(clv_status_t status)
{
    return status == CLV_PROTOCOL  ? "not a line of clv-bench or clv-clock"
           : status == CLV_INVALID ? "no usable calls, or no such metric"
           : status == CLV_LIMIT   ? "more than 128 mpiruns"
                                   : clv_status_text(status);
}

clv_status_t clv_results_read(const char *path, const char *label, const char *metric,
                              clv_result_set_t *set, char *reason, size_t reason_bytes)
{
    double *scratch = clv_alloc(2 * MAX_CALLS, sizeof *scratch);
    clv_status_t status = scratch ? CLV_OK : CLV_NO_MEMORY;
    const char *cause = "";
    FILE *file = clv_file_open(path, &cause);
    char *line = NULL;
    size_t n_line = 0;
    int number = 0;

    if (!file) {
        snprintf(reason, reason_bytes, "%s: %s", path, cause);
        clv_free(scratch);
        return CLV_INVALID;
    }
    while (status == CLV_OK && getline(&line, &n_line, file) > 0) {
        number++;
        status = add_line(line, label, metric, scratch, set);
    }
    if (status == CLV_OK && (!number || !set->n_groups)) {
        status = CLV_INVALID;
    }
    if (status != CLV_OK && !number) {
        snprintf(reason, reason_bytes, "%s: %s", path,
                 status == CLV_INVALID ? "the file is empty" : explain(status));
    } else if (status != CLV_OK) {
        snprintf(reason, reason_bytes, "%s, line %d: %s", path, number, explain(status));
    }
    free(line); /* allocated by getline */
    fclose(file);
    clv_free(scratch);
    return status;
}

const char *clv_results_default_metric(const char *path)
{
    const char *cause = "";
    FILE *file = clv_file_open(path, &cause);
    const char *metric = "after";
    char *line = NULL;
    char mode[CLV_RESULTS_TEXT];
    size_t n_line = 0;

    if (!file) {
        return metric;
    }
    if (getline(&line, &n_line, file) > 0) {
        metric = is_of_clocks(line) ? CLV_RESULTS_CLOCK_METRIC
                 : read_text(line, "mode", mode, sizeof mode) && !strcmp(mode, "loop") ? "iteration"
                                                                                       : metric;
    }
    free(line); /* allocated by getline */
    fclose(file);
    return metric;
}

void clv_results_keep(clv_result_set_t *set, bool (*is_wanted)(void *, const clv_result_group_t *),
                      void *context)
{
    size_t n = 0;

    for (size_t i = 0; i < set->n_groups; i++) {
        if (is_wanted(context, &set->groups[i])) {
            set->groups[n++] = set->groups[i];
        } else {
            clv_free(set->groups[i].calls);
        }
    }
    set->n_groups = n;
}

size_t clv_results_pairs(const clv_result_group_t *a, const clv_result_group_t *b, double *ratios)
{
    size_t n = 0;

    if (a->n_runs != b->n_runs || memcmp(a->run_end, b->run_end, a->n_runs * sizeof *a->run_end)) {
        return 0;
    }
    for (size_t i = 0; i < a->n_kept; i++) {
        if (a->calls[i] > 0.0 && b->calls[i] > 0.0) { /* false also for NaN */
            ratios[n++] = log(a->calls[i] / b->calls[i]);
        }
    }
    return n;
}

void clv_results_free(clv_result_set_t *set)
{
    for (size_t i = 0; i < set->n_groups; i++) {
        clv_free(set->groups[i].calls);
    }
    clv_free(set->groups);
    set->groups = NULL;
    set->n_groups = set->n_allocated = 0;
}
