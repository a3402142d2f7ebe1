/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Evaluates the times of a call: which rank was late, by how much, because of whom, and at what
 * cost. Defines these words (docs/guide/arrivals.md explains them to users). PURE.
 *
 * For call c and rank r: a arrival, x exit, p the exit of the rank's previous recorded call; first
 * is the least a, last the greatest.
 *
 *      lateness   a - first
 *      own        (a - p) - the least of these: how much longer than the fastest it computed
 *      inherited  p - the least p: how much later than the first it left the previous call
 *      wait       from its arrival to the last arrival, or to its own exit if that is sooner
 *      after      greatest x - last
 *      in MPI     x - a
 *
 * Not: where times come from; how another algorithm would have performed.
 *
 * Units: ns on one clock, with an error bound for each time.
 * Errors: none; ranks without times are left out.
 * Memory: the caller's.
 * Threads: safe.
 */
#ifndef CLV_TRACE_NUMBERS_H
#define CLV_TRACE_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#define CLV_NUMBERS_NO_TIME INT64_MIN /* the arrival was not recorded; for p: no previous call */

/* The times of a call; arrays of n_ranks elements. */
typedef struct clv_numbers_times {
    int32_t n_ranks;
    const int64_t *arrival_ns;
    const int64_t *exit_ns;
    const int64_t *before_ns;    /* p, exits of the previous call */
    const int64_t *bound_ns;     /* error bound of the arrival */
    const int64_t *predicted_ns; /* relative arrivals, or NO_TIME; NULL: no forecast */
} clv_numbers_times_t;

/* Per rank; all 0 if it has no times. */
typedef struct clv_numbers_rank {
    int64_t lateness_ns;
    int64_t own_ns, inherited_ns; /* 0 if any rank has no p */
    int64_t wait_ns;
    int64_t in_mpi_ns;
} clv_numbers_rank_t;

typedef struct clv_numbers_call {
    int32_t n_present; /* ranks with times; below 2, the other fields have no meaning */
    int32_t last_rank; /* -1: unknown, the second to last is within the clocks' errors */
    int64_t first_ns, last_ns, end_ns; /* least a, greatest a, greatest x */
    int64_t spread_ns;                 /* last - first */
    int64_t after_ns;
    int64_t bound_ns;           /* largest error of a lateness: at most twice the largest bound */
    int64_t wait_ns, in_mpi_ns; /* sums over ranks */
    int64_t error_ns;           /* mean of |a - predicted| relative to both means; -1: none */
    bool has_parts;             /* own and inherited are known */
} clv_numbers_call_t;

/* ranks: n_ranks of them. O(n_ranks). */
void clv_numbers_of_call(const clv_numbers_times_t *times, clv_numbers_rank_t *ranks,
                         clv_numbers_call_t *call);

/* Time to move one vector from the last rank to the root (-1: to all ranks), where its result is
 * needed: hardly any call ends sooner after its last arrival. latency_ns and ps_per_byte are those
 * of a message. */
int64_t clv_numbers_bound(const clv_numbers_call_t *call, int32_t root, int64_t bytes,
                          int64_t latency_ns, int64_t ps_per_byte);

#endif
