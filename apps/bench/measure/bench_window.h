/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The size of windows, and when a benchmark has measured enough: the rules of "MPI Benchmarking
 * Revisited" (appendix B, Algorithms 10 and 14).
 *
 * Calls are made in batches. A call is invalid, and does not count, if a rank started it late or
 * ended it after its window. After a batch, the rule decides whether there is another one, its
 * window and its number of rounds.
 *
 *   fixed      one batch with the given window
 *   skampi     a quarter invalid: the window doubles, or becomes 1.5 times what a round took; until
 *              the relative standard error is small, with --least rounds at least
 *   nbcbench   an estimated window; a quarter invalid: 1.5 times that, and start again
 *
 * Not: the measuring; no MPI, no clock. Every rank decides the same from the same numbers.
 * Units: int64 ns; fractions as doubles.
 * Errors: none.
 * Memory: none.
 * Threads: none of its own.
 */
#ifndef CLV_BENCH_WINDOW_H
#define CLV_BENCH_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#define CLV_WINDOW_MOST_BAD 100 /* batches without a kept round, after which it gives up */

/* The outcome of a batch. */
typedef struct clv_window_batch {
    int64_t n_calls;   /* of all algorithms */
    int64_t n_invalid; /* of these, invalid ones */
    int64_t n_rounds;
    int64_t longest_invalid; /* longest run of rounds with an invalid call */
    int64_t total_ns;        /* duration of the batch */
    int64_t n_kept;          /* valid rounds, of this batch and of earlier ones that count */
    double standard_error;   /* relative, of the worst algorithm, over the kept rounds */
} clv_window_batch_t;

typedef struct clv_window clv_window_t;

typedef struct clv_window_rule {
    const char *name;
    const char *meaning;
    bool wants_estimate; /* needs a call's time before the first batch */
    void (*judge)(clv_window_t *window, const clv_window_batch_t *batch); /* NULL: fixed */
} clv_window_rule_t;

/* Ends with a NULL name; the first is the default. */
extern const clv_window_rule_t clv_window_rules[];
const clv_window_rule_t *clv_window_rule_find(const char *name); /* NULL: no such name */

struct clv_window {
    const clv_window_rule_t *rule;
    int64_t window_ns;
    int64_t most;     /* rounds wanted; --iterations */
    int64_t least;    /* before precision may end it */
    double precision; /* sufficient relative standard error */
    int64_t n_rounds; /* of the next batch */
    int64_t n_batches;
    int64_t n_bad;   /* batches without a kept round */
    int64_t n_kept;  /* rounds, after the last batch */
    int64_t n_calls; /* of all batches, as is the next */
    int64_t n_invalid;
    double standard_error; /* after the last batch */
    bool is_done;
    bool starts_anew; /* discard the rounds so far */
};

/* Called before the first batch. window_ns: the first window. */
void clv_window_start(clv_window_t *window, int64_t window_ns, int64_t most);
/* For rules that need it: the minimum time of a call on the slowest rank. */
void clv_window_estimate(clv_window_t *window, int64_t call_ns);
/* Called after a batch. */
void clv_window_judge(clv_window_t *window, const clv_window_batch_t *batch);

#endif
