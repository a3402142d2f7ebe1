/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Arrival patterns as a table of pure functions; see trace_patterns.h.
 */
#include "apps/trace/trace_patterns.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DRIFT_LENGTH      20  /* iterations between drawn patterns */
#define EXPONENTIAL_LIMIT 8.0 /* in means: bounds the wait for one draw */
#define LUCK_SALT         UINT64_C(0x6c75636b)

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

static bool is_late_half(const clv_pattern_t *pattern, int rank)
{
    return rank >= (pattern->n_ranks + 1) / 2;
}

/* One lasting delay from draw number `draw`, with fresh jitter; never negative. */
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

/* The late ranks are at one quarter and five eighths of the ranks: not neighbours from 8 ranks
 * on. */
static void fill_two_late(const clv_pattern_t *pattern, int64_t iteration, int64_t *delay_ns)
{
    const int first = pattern->n_ranks / 4, second = pattern->n_ranks * 5 / 8;

    UNUSED(iteration);
    FOR_EACH_RANK(r)
    {
        delay_ns[r] = r == first || r == second ? pattern->amount_ns : 0;
    }
}

static void fill_rotating_late(const clv_pattern_t *pattern, int64_t iteration, int64_t *delay_ns)
{
    FOR_EACH_RANK(r)
    {
        delay_ns[r] = r == iteration % pattern->n_ranks ? pattern->amount_ns : 0;
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
        delay_ns[r] = scaled(
            pattern, clv_pattern_random(pattern->seed, (uint64_t) iteration + 1000, (uint64_t) r));
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
        delay_ns[r] =
            scaled(pattern, lasting(pattern, iteration >= pattern->change_at, iteration, r));
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

static void fill_periodic(const clv_pattern_t *pattern, int64_t iteration, int64_t *delay_ns)
{
    FOR_EACH_RANK(r)
    {
        delay_ns[r] = scaled(pattern, lasting(pattern, (uint64_t) (iteration % 3), iteration, r));
    }
}

static void fill_disturbed(const clv_pattern_t *pattern, int64_t iteration, int64_t *delay_ns)
{
    FOR_EACH_RANK(r)
    {
        const double luck =
            clv_pattern_random(pattern->seed ^ LUCK_SALT, (uint64_t) iteration, (uint64_t) r);
        const double held_up = luck * 10.0 * pattern->n_ranks < 1.0 ? 1.0 : 0.0;
        delay_ns[r] = scaled(pattern, held_up + lasting(pattern, 0, iteration, r));
    }
}

static void fill_trace(const clv_pattern_t *pattern, int64_t iteration, int64_t *delay_ns)
{
    const int32_t call = (int32_t) (iteration % pattern->recorded.n_calls);
    const int64_t *arrival_ns = clv_trace_arrivals(&pattern->recorded, call);
    int64_t first_ns = arrival_ns[0];

    FOR_EACH_RANK(r)
    {
        first_ns = arrival_ns[r] < first_ns ? arrival_ns[r] : first_ns;
    }
    FOR_EACH_RANK(r)
    {
        delay_ns[r] = arrival_ns[r] - first_ns;
    }
}

const clv_pattern_kind_t clv_pattern_kinds[] = {
    {"balanced", "all ranks at once", fill_balanced},
    {"one-late", "one rank late: one-late:<rank>, the last rank if none is given", fill_one_late},
    {"two-late", "two ranks late, a quarter and five eighths of the way", fill_two_late},
    {"rotating-late", "one rank late, the next one in each call", fill_rotating_late},
    {"half-late", "the upper half of the ranks late", fill_half_late},
    {"root-late", "the root late", fill_root_late},
    {"ascending", "rank r late by r / (n - 1)", fill_ascending},
    {"descending", "rank r late by 1 - r / (n - 1)", fill_descending},
    {"uniform", "uniform, drawn afresh each call", fill_uniform},
    {"exponential", "exponential with mean amount / 2, drawn afresh each call", fill_exponential},
    {"repeated", "uniform, drawn once, with jitter", fill_repeated},
    {"alternating", "two lasting patterns in turn, with jitter", fill_alternating},
    {"periodic", "three lasting patterns in turn, with jitter", fill_periodic},
    {"drifting", "moves from one uniform pattern to the next in 20 calls", fill_drifting},
    {"sudden", "a lasting pattern that changes once, half way", fill_sudden},
    {"disturbed", "repeated, and one rank is late by the amount in one call of ten",
     fill_disturbed},
    {"trace", "trace:<file>: the calls of a recorded trace in turn (clv-trace 1)", fill_trace},
    {NULL, NULL, NULL},
};

/* ---- from text ------------------------------------------------------------------------------- */

static clv_status_t read_recorded(const char *path, clv_pattern_t *pattern, char *reason,
                                  size_t reason_bytes)
{
    const char *problem = NULL;
    FILE *file = clv_trace_open(path, &problem);
    int line = 0;

    if (!file) {
        snprintf(reason, reason_bytes, "trace %s: %s", path, problem);
        return CLV_INVALID;
    }
    const clv_status_t status = clv_trace_read(file, &pattern->recorded, &line, &problem);
    const int system_error = errno;
    fclose(file);
    if (problem) {
        snprintf(reason, reason_bytes, "trace %s, line %d: %s", path, line, problem);
        return CLV_INVALID;
    }
    if (status != CLV_OK) {
        snprintf(reason, reason_bytes, "trace %s: %s", path,
                 status == CLV_SYSTEM ? strerror(system_error) : clv_status_text(status));
        return CLV_INVALID;
    }
    if (pattern->recorded.n_ranks != pattern->n_ranks) {
        snprintf(reason, reason_bytes, "trace %s has %d ranks, but there are %d ranks", path,
                 pattern->recorded.n_ranks, pattern->n_ranks);
        clv_pattern_free(pattern);
        return CLV_INVALID;
    }
    return CLV_OK;
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
    const bool is_trace = kind && kind->fill == fill_trace;

    pattern->late_rank = pattern->n_ranks - 1;
    pattern->recorded = (clv_trace_t){0};
    if (!kind || (is_trace && !argument) ||
        (argument && !is_trace && kind->fill != fill_one_late)) {
        snprintf(reason, reason_bytes, "unknown pattern '%s' (--help lists them)", text);
        return CLV_INVALID;
    }
    pattern->name = kind->name;
    pattern->fill = kind->fill;
    if (is_trace) {
        return read_recorded(argument, pattern, reason, reason_bytes);
    }
    return argument ? parse_late_rank(argument, pattern, reason, reason_bytes) : CLV_OK;
}

void clv_pattern_fill(const clv_pattern_t *pattern, int64_t iteration, int64_t *delay_ns)
{
    pattern->fill(pattern, iteration, delay_ns);
}

void clv_pattern_free(clv_pattern_t *pattern)
{
    clv_trace_clear(&pattern->recorded);
}
