/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How large a window is, and when a benchmark has measured enough: the rules of "MPI Benchmarking
 * Revisited" (appendix B, Algorithms 10 and 14).
 *
 * Calls are made in batches. A call is invalid when some rank started it late or ended it after its
 * window; it does not count. After a batch the rule says how large the window of the next is, how
 * many rounds it has, and whether there is a next one.
 *
 *   fixed      one batch in the window that was given
 *   skampi     a quarter invalid: the window doubles, or becomes 1.5 times what a round took; until
 *              the relative standard error is small, with --least rounds at least
 *   nbcbench   the window of an estimate; a quarter invalid: 1.5 times that, and all anew
 *
 * Not: the measuring; no MPI, no clock. Every rank decides the same from the same numbers.
 * Units: int64 ns; parts as doubles.
 * Errors: none.
 * Memory: none.
 * Threads: none of its own.
 */
#ifndef CLV_BENCH_WINDOW_H
#define CLV_BENCH_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#define CLV_WINDOW_MOST_BAD 100 /* batches that bring nothing: a network that never fits must end */

/* What a batch was like. */
typedef struct clv_window_batch {
    int64_t n_calls;   /* of all algorithms */
    int64_t n_invalid; /* of them */
    int64_t n_rounds;
    int64_t longest_invalid; /* rounds one behind the other with an invalid call */
    int64_t total_ns;        /* that the batch took */
    int64_t n_kept;          /* valid rounds, of this batch and those before that count */
    double standard_error;   /* relative, of the worst algorithm, over what was kept */
} clv_window_batch_t;

typedef struct clv_window clv_window_t;

typedef struct clv_window_rule {
    const char *name;
    const char *meaning;
    bool wants_estimate; /* of a call's time before the first batch */
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
    double precision; /* relative standard error that is small enough */
    int64_t n_rounds; /* of the next batch */
    int64_t n_batches;
    int64_t n_bad;   /* batches that kept nothing */
    int64_t n_kept;  /* rounds, after the last batch */
    int64_t n_calls; /* of all batches, as the next */
    int64_t n_invalid;
    double standard_error; /* after the last batch */
    bool is_done;
    bool starts_anew; /* what was measured so far does not count */
};

/* Before the first batch. window_ns: where it starts from. */
void clv_window_start(clv_window_t *window, int64_t window_ns, int64_t most);
/* For rules that want one: what a call takes at least, on the slowest rank. */
void clv_window_estimate(clv_window_t *window, int64_t call_ns);
/* After a batch. */
void clv_window_judge(clv_window_t *window, const clv_window_batch_t *batch);

#endif
