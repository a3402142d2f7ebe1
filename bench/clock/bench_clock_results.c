/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Results of clv-clock to groups; see bench_clock_results.h.
 */
#include "bench/clock/bench_clock_results.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/util_alloc.h"

#define MAX_FILE  16777216
#define NS_PER_US 1e3

/* ---- a span of text: one synchronisation, or one check of it ---- */

typedef struct span {
    const char *from;
    const char *end;
} span_t;

/* "key": within the span, or NULL. */
static const char *find_key(span_t span, const char *key)
{
    char quoted[CLV_RESULTS_TEXT];

    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(span.from, quoted);
    return at && at < span.end ? at : NULL;
}

/* What follows it, or NULL. */
static const char *find_value(span_t span, const char *key)
{
    const char *at = find_key(span, key);

    if (at) {
        at += strlen(key) + strlen("\"\":");
        at += strspn(at, " \n");
    }
    return at;
}

static int read_number(span_t span, const char *key, double *number_p)
{
    const char *from = find_value(span, key);
    char *end;

    if (!from) {
        return 0;
    }
    const double number = strtod(from, &end);
    if (end == from || !isfinite(number)) {
        return 0;
    }
    *number_p = number;
    return 1;
}

static int read_text(span_t span, const char *key, char *text, size_t text_bytes)
{
    const char *from = find_value(span, key);
    const size_t length = from && *from == '"' ? strcspn(from + 1, "\"") : text_bytes;

    if (length >= text_bytes || from[1 + length] != '"') {
        return 0;
    }
    memcpy(text, from + 1, length);
    text[length] = '\0';
    return 1;
}

/* The part of `whole` from the first "key": at or behind `at` to the one after it. 0: there is
 * none. */
static int next_span(span_t whole, const char *at, const char *key, span_t *part_p)
{
    const char *from = find_key((span_t){at, whole.end}, key);

    if (!from) {
        return 0;
    }
    const char *next = find_key((span_t){from + 1, whole.end}, key);
    *part_p = (span_t){from, next ? next : whole.end};
    return 1;
}

/* ---- groups ---- */

static int read_error(span_t check, const char *metric, double *error_us_p)
{
    if (strcmp(metric, CLV_CLOCK_METRIC)) {
        return read_number(check, metric, error_us_p);
    }
    return read_number(check, "true_max_us", error_us_p) ||
           read_number(check, "max_us", error_us_p);
}

static clv_status_t add_check(span_t check, const clv_result_group_t *of_run, double duration_s,
                              const char *metric, clv_result_set_t *set)
{
    clv_result_group_t like = *of_run;
    double wait_s;
    double error_us;

    if (!read_number(check, "wait_s", &wait_s) || !read_error(check, metric, &error_us)) {
        return CLV_INVALID;
    }
    snprintf(like.pattern, sizeof like.pattern, "%g s after", wait_s);
    clv_result_group_t *group = clv_results_group(set, &like);
    if (!group) {
        return CLV_NO_MEMORY;
    }
    if (group->n_runs == CLV_RESULTS_RUNS) {
        return CLV_LIMIT;
    }
    group->duration_s[group->n_runs] = duration_s;
    group->value[group->n_runs++] = error_us * NS_PER_US;
    group->n_calls++;
    return CLV_OK;
}

static clv_status_t add_run(span_t run, clv_result_group_t *like, const char *metric,
                            clv_result_set_t *set)
{
    clv_status_t status = CLV_OK;
    double duration_s;
    double n_failed;
    span_t check = run;

    if (!read_text(run, "method", like->algorithm, sizeof like->algorithm) ||
        !read_number(run, "duration_s", &duration_s) || !read_number(run, "n_failed", &n_failed)) {
        return CLV_PROTOCOL;
    }
    if (n_failed > 0.0) {
        return CLV_OK;
    }
    for (const char *at = run.from; status == CLV_OK && next_span(run, at, "wait_s", &check);
         at = check.end) {
        status = add_check(check, like, duration_s, metric, set);
    }
    return status;
}

static clv_status_t add_file(const char *text, const char *label, const char *metric,
                             clv_result_set_t *set)
{
    const span_t whole = {text, text + strlen(text)};
    clv_result_group_t like = {.collective = "clock"};
    clv_status_t status = CLV_OK;
    span_t run = whole;
    int n_runs = 0;

    snprintf(like.label, sizeof like.label, "%s", label);
    if (!read_number(whole, "n_ranks", &like.n_ranks)) {
        return CLV_PROTOCOL;
    }
    for (const char *at = text; status == CLV_OK && next_span(whole, at, "method", &run);
         at = run.end) {
        status = add_run(run, &like, metric, set);
        n_runs++;
    }
    return status == CLV_OK && !n_runs ? CLV_PROTOCOL : status;
}

/* The whole file as text, freed by clv_free; NULL with errno 0 when memory is short. */
static char *read_whole(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    long n = -1;

    if (!file) {
        return NULL;
    }
    if (!fseek(file, 0, SEEK_END) && (n = ftell(file)) >= 0 && n < MAX_FILE &&
        !fseek(file, 0, SEEK_SET)) {
        text = clv_alloc((size_t) n + 1, 1);
    }
    if (text) {
        text[fread(text, 1, (size_t) n, file)] = '\0';
    }
    fclose(file);
    errno = 0;
    return text;
}

static const char *explain(clv_status_t status)
{
    return status == CLV_PROTOCOL  ? "not a file of clv-clock --json"
           : status == CLV_INVALID ? "no such metric"
           : status == CLV_LIMIT   ? "more than 128 synchronisations"
                                   : clv_status_text(status);
}

clv_status_t clv_clock_results_read(const char *path, const char *label, const char *metric,
                                    clv_result_set_t *set, char *reason, size_t reason_bytes)
{
    char *text = read_whole(path);

    if (!text) {
        snprintf(reason, reason_bytes, "%s: %s", path, errno ? strerror(errno) : "too large");
        return CLV_INVALID;
    }
    const clv_status_t status = add_file(text, label, metric, set);
    clv_free(text);
    if (status != CLV_OK) {
        snprintf(reason, reason_bytes, "%s: %s", path, explain(status));
    }
    return status;
}
