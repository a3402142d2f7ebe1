/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Arrival patterns, as one table: how late each rank enters the call of each iteration. clv-bench
 * and the simulations wait that long; trace_make.h makes traces of them.
 *
 * What: a pattern is a pure function of (seed, iteration); every rank computes the delays of all
 * ranks, with equal results on every machine, so no communication is needed. Delays are >= 0 ns and
 * relative to the common start of the iteration; `amount` scales them, except those of a recorded
 * trace.
 * Not: the waiting itself, nor what a program does between its calls (trace_make.h).
 * Cost: O(ranks) per iteration.
 *
 * Units: ns; iterations count from 0.
 * Errors: CLV_INVALID with one line of text.
 * Memory: a recorded trace belongs to its pattern until clv_pattern_free.
 * Threads: safe on distinct objects.
 */
#ifndef CLV_TRACE_PATTERNS_H
#define CLV_TRACE_PATTERNS_H

#include <stddef.h>
#include <stdint.h>

#include "apps/trace/trace.h"
#include "util/util_status.h"

typedef struct clv_pattern {
    const char *name; /* row of the table, for reports */
    int n_ranks;
    int root;
    int late_rank;     /* one-late:<rank>; the last rank by default */
    int64_t amount_ns; /* the largest delay (exponential: twice the mean) */
    double jitter;     /* relative to the amount; of repeated and the other lasting patterns */
    int64_t change_at; /* sudden: first iteration of the second pattern */
    uint64_t seed;
    clv_trace_t recorded; /* trace:<file>: its calls in order, repeated */
    void (*fill)(const struct clv_pattern *pattern, int64_t iteration, int64_t *delay_ns);
} clv_pattern_t;

/* Names and meanings, ending with a NULL name. */
typedef struct clv_pattern_kind {
    const char *name;
    const char *meaning;
    void (*fill)(const clv_pattern_t *pattern, int64_t iteration, int64_t *delay_ns);
} clv_pattern_kind_t;
extern const clv_pattern_kind_t clv_pattern_kinds[];

/* Sets name, late_rank, recorded and fill from text: a name, "one-late:3" or "trace:file". The
 * caller sets the other fields before. On failure CLV_INVALID and one line in reason; otherwise
 * clv_pattern_free frees what was read. */
clv_status_t clv_pattern_parse(const char *text, clv_pattern_t *pattern, char *reason,
                               size_t reason_bytes) CLV_MUST_CHECK;

/* Writes n_ranks delays. */
void clv_pattern_fill(const clv_pattern_t *pattern, int64_t iteration, int64_t *delay_ns);

void clv_pattern_free(clv_pattern_t *pattern);

/* A uniform number in [0, 1), a function of its arguments alone. */
double clv_pattern_random(uint64_t seed, uint64_t a, uint64_t b);

#endif
