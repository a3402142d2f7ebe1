/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Arrival patterns as a table of pure functions; see trace_patterns.h.
 */
#include "trace/trace_patterns.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/util_alloc.h"

#define DRIFT_LENGTH      20      /* iterations from one drawn pattern to the next */
#define EXPONENTIAL_LIMIT 8.0     /* in means: nobody waits forever for one draw */
#define MAX_DELAY_MS      1.0e9   /* of a trace file */
#define MAX_LINE          1048576

/* splitmix64: each step is a bijection, so different inputs stay different. */
static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

double clv_pattern_random(uint64_t seed, uint64_t a, uint64_t b)
{
    return (double) (mix(mix(mix(seed) ^ a) ^ b) >> 11) * 0x1p-53;
}

static int64_t scaled(const clv_pattern_t *pattern, double part)
{
    return (int64_t) (part * (double) pattern->amount_ns);
}

static int is_late_half(const clv_pattern_t *pattern, int rank)
{
    return rank >= (pattern->n_ranks + 1) / 2;
}

/* One lasting draw, number `draw`, with fresh jitter; never negative. */
static double lasting(const clv_pattern_t *pattern, uint64_t draw, int64_t iteration, int rank)
{
    const double base = clv_pattern_random(pattern->seed, draw, (uint64_t) rank);
    const double noise = clv_pattern_random(~pattern->seed, (uint64_t) iteration, (uint64_t) rank);
    const double value = base + pattern->jitter * (2.0 * noise - 1.0);

    return value > 0.0 ? value : 0.0;
}

#define FOR_EACH_RANK(r) for (int r = 0; r < pattern->n_ranks; r++)
#define UNUSED(x)        (void) (x)

static void fill_balanced(const clv_pattern_t *pattern, int64_t iteration, int64_t *delay_ns)
{
    UNUSED(iteration);
    FOR_EACH_RANK(r)
    {
        delay_ns[r] = 0;
    }
}

static void fill_one_late(const clv_pattern_t *pattern, int64_t iteration, int64_t *delay_ns)
{
    UNUSED(iteration);
    FOR_EACH_RANK(r)
    {
        delay_ns[r] = r == pattern->late_rank ? pattern->amount_ns : 0;
    }
}

static void fill_root_late(const clv_pattern_t *pattern, int64_t iteration, int64_t *delay_ns)
{
    UNUSED(iteration);
    FOR_EACH_RANK(r)
    {
        delay_ns[r] = r == pattern->root ? pattern->amount_ns : 0;
    }
}

static void fill_half_late(const clv_pattern_t *pattern, int64_t iteration, int64_t *delay_ns)
{
    UNUSED(iteration);
    FOR_EACH_RANK(r)
    {
        delay_ns[r] = is_late_half(pattern, r) ? pattern->amount_ns : 0;
    }
}

static void fill_ascending(const clv_pattern_t *pattern, int64_t iteration, int64_t *delay_ns)
{
    const int last = pattern->n_ranks > 1 ? pattern->n_ranks - 1 : 1;

    UNUSED(iteration);
    FOR_EACH_RANK(r)
    {
        delay_ns[r] = scaled(pattern, (double) r / last);
    }
}

static void fill_descending(const clv_pattern_t *pattern, int64_t iteration, int64_t *delay_ns)
{
    const int last = pattern->n_ranks > 1 ? pattern->n_ranks - 1 : 1;

    UNUSED(iteration);
    FOR_EACH_RANK(r)
    {
        delay_ns[r] = scaled(pattern, (double) (last - r) / last);
    }
}

static void fill_uniform(const clv_pattern_t *pattern, int64_t iteration, int64_t *delay_ns)
{
    FOR_EACH_RANK(r)
    {
        delay_ns[r] = scaled(pattern, clv_pattern_random(pattern->seed, (uint64_t) iteration + 1000,
                                                         (uint64_t) r));
    }
}

static void fill_exponential(const clv_pattern_t *pattern, int64_t iteration, int64_t *delay_ns)
{
    FOR_EACH_RANK(r)
    {
        const double u =
            clv_pattern_random(pattern->seed, (uint64_t) iteration + 1000, (uint64_t) r);
        const double means = -log1p(-u);
        delay_ns[r] = scaled(pattern, 0.5 * fmin(means, EXPONENTIAL_LIMIT));
    }
}

static void fill_repeated(const clv_pattern_t *pattern, int64_t iteration, int64_t *delay_ns)
{
    FOR_EACH_RANK(r)
    {
        delay_ns[r] = scaled(pattern, lasting(pattern, 0, iteration, r));
    }
}

static void fill_alternating(const clv_pattern_t *pattern, int64_t iteration, int64_t *delay_ns)
{
    FOR_EACH_RANK(r)
    {
        delay_ns[r] = scaled(pattern, lasting(pattern, (uint64_t) (iteration & 1), iteration, r));
    }
}

static void fill_sudden(const clv_pattern_t *pattern, int64_t iteration, int64_t *delay_ns)
{
    FOR_EACH_RANK(r)
    {
        delay_ns[r] = scaled(pattern, lasting(pattern, iteration >= pattern->change_at, iteration, r));
    }
}

static void fill_drifting(const clv_pattern_t *pattern, int64_t iteration, int64_t *delay_ns)
{
    const uint64_t draw = (uint64_t) (iteration / DRIFT_LENGTH);
    const double part = (double) (iteration % DRIFT_LENGTH) / DRIFT_LENGTH;

    FOR_EACH_RANK(r)
    {
        delay_ns[r] = scaled(pattern, (1.0 - part) * lasting(pattern, draw, iteration, r) +
                                          part * lasting(pattern, draw + 1, iteration, r));
    }
}

static void fill_trace(const clv_pattern_t *pattern, int64_t iteration, int64_t *delay_ns)
{
    const size_t row = (size_t) iteration % pattern->n_trace;

    memcpy(delay_ns, pattern->trace_ns + row * (size_t) pattern->n_ranks,
           (size_t) pattern->n_ranks * sizeof *delay_ns);
}

const clv_pattern_kind_t clv_pattern_kinds[] = {
    {"balanced", "all ranks at once", fill_balanced},
    {"one-late", "one rank late: one-late:<rank>, the last rank if none is given", fill_one_late},
    {"half-late", "the upper half of the ranks late", fill_half_late},
    {"root-late", "the root late", fill_root_late},
    {"ascending", "rank r late by r / (n - 1)", fill_ascending},
    {"descending", "rank r late by 1 - r / (n - 1)", fill_descending},
    {"uniform", "uniform, drawn afresh each call", fill_uniform},
    {"exponential", "exponential with mean amount / 2, drawn afresh each call", fill_exponential},
    {"repeated", "uniform, drawn once, with jitter", fill_repeated},
    {"alternating", "two lasting patterns in turn, with jitter", fill_alternating},
    {"drifting", "moves from one uniform pattern to the next in 20 calls", fill_drifting},
    {"sudden", "a lasting pattern that changes once, half way", fill_sudden},
    {"trace", "trace:<file>: a line per call, a delay in ms per rank", fill_trace},
    {NULL, NULL, NULL},
};

static int64_t count_rows(FILE *file)
{
    int64_t n_rows = 0;
    int byte;
    int at_start = 1;

    while ((byte = getc(file)) != EOF) {
        n_rows += at_start && byte != '\n' && byte != '#';
        at_start = byte == '\n';
    }
    rewind(file);
    return n_rows;
}

/* One line of numbers. Returns how many there are, -1 if something is not a delay. */
static int parse_row(char *line, int n_ranks, int64_t *row)
{
    int n = 0;

    for (char *word = strtok(line, " \t\r\n,"); word; word = strtok(NULL, " \t\r\n,")) {
        char *end;
        const double ms = strtod(word, &end);
        if (*end || !(ms >= 0.0 && ms <= MAX_DELAY_MS)) {
            return -1;
        }
        if (n < n_ranks) {
            row[n] = (int64_t) (ms * 1e6);
        }
        n++;
    }
    return n;
}

static clv_status_t read_rows(FILE *file, const char *path, clv_pattern_t *pattern, char *line,
                              char *reason, size_t reason_bytes)
{
    int64_t *row = pattern->trace_ns;

    for (int number = 1; fgets(line, MAX_LINE, file); number++) {
        if (line[0] == '\n' || line[0] == '#') {
            continue;
        }
        const int n = parse_row(line, pattern->n_ranks, row);
        if (n != pattern->n_ranks) {
            snprintf(reason, reason_bytes,
                     n < 0 ? "delay file %s, line %d: not a delay in ms"
                           : "delay file %s, line %d: %d delays, but there are %d ranks",
                     path, number, n, pattern->n_ranks);
            return CLV_INVALID;
        }
        row += pattern->n_ranks;
    }
    return CLV_OK;
}

static clv_status_t read_trace(const char *path, clv_pattern_t *pattern, char *reason,
                               size_t reason_bytes)
{
    clv_status_t status = CLV_INVALID;
    FILE *file = fopen(path, "r");
    char *line = NULL;

    if (!file) {
        snprintf(reason, reason_bytes, "delay file %s: %s", path, strerror(errno));
        return CLV_INVALID;
    }
    pattern->n_trace = (size_t) count_rows(file);
    pattern->trace_ns = clv_alloc(pattern->n_trace * (size_t) pattern->n_ranks, sizeof(int64_t));
    line = clv_alloc(MAX_LINE, 1);
    if (!pattern->trace_ns || !line) {
        snprintf(reason, reason_bytes, "delay file %s: %s", path,
                 pattern->n_trace ? "out of memory" : "no delays in it");
    } else {
        status = read_rows(file, path, pattern, line, reason, reason_bytes);
    }
    clv_free(line);
    fclose(file);
    if (status != CLV_OK) {
        clv_pattern_free(pattern);
    }
    return status;
}

static const clv_pattern_kind_t *find_kind(const char *text, size_t length)
{
    for (const clv_pattern_kind_t *kind = clv_pattern_kinds; kind->name; kind++) {
        if (strlen(kind->name) == length && !strncmp(kind->name, text, length)) {
            return kind;
        }
    }
    return NULL;
}

static clv_status_t parse_late_rank(const char *text, clv_pattern_t *pattern, char *reason,
                                    size_t reason_bytes)
{
    char *end;
    const long rank = strtol(text, &end, 10);

    if (end == text || *end || rank < 0 || rank >= pattern->n_ranks) {
        snprintf(reason, reason_bytes, "one-late:%s: the rank must be 0 to %d", text,
                 pattern->n_ranks - 1);
        return CLV_INVALID;
    }
    pattern->late_rank = (int) rank;
    return CLV_OK;
}

clv_status_t clv_pattern_parse(const char *text, clv_pattern_t *pattern, char *reason,
                               size_t reason_bytes)
{
    const size_t length = strcspn(text, ":");
    const char *argument = text[length] ? text + length + 1 : NULL;
    const clv_pattern_kind_t *kind = find_kind(text, length);
    const int is_trace = kind && kind->fill == fill_trace;

    pattern->late_rank = pattern->n_ranks - 1;
    pattern->trace_ns = NULL;
    pattern->n_trace = 0;
    if (!kind || (is_trace && !argument) ||
        (argument && !is_trace && kind->fill != fill_one_late)) {
        snprintf(reason, reason_bytes, "unknown pattern '%s' (--help lists them)", text);
        return CLV_INVALID;
    }
    pattern->name = kind->name;
    pattern->fill = kind->fill;
    if (is_trace) {
        return read_trace(argument, pattern, reason, reason_bytes);
    }
    return argument ? parse_late_rank(argument, pattern, reason, reason_bytes) : CLV_OK;
}

void clv_pattern_fill(const clv_pattern_t *pattern, int64_t iteration, int64_t *delay_ns)
{
    pattern->fill(pattern, iteration, delay_ns);
}

void clv_pattern_free(clv_pattern_t *pattern)
{
    clv_free(pattern->trace_ns);
    pattern->trace_ns = NULL;
    pattern->n_trace = 0;
}
