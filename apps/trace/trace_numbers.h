/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the times of a call say: who was late, by how much, whose fault it was, what it cost. The
 * one place where these words are defined (docs/guide/arrivals.md has them for readers). PURE.
 *
 * Of call c and rank r: a arrival, x exit, p the exit of this rank's recorded call before; first is
 * the least a, last the greatest.
 *
 *      lateness   a - first
 *      own        (a - p) - the least of these: what it computed longer than the fastest
 *      inherited  p - the least p: what it left the call before later than the first
 *      wait       from its arrival to the last one's, or to its own exit if that is sooner
 *      after      greatest x - last
 *      in MPI     x - a
 *
 * Not: where times come from; what another algorithm would have made of them.
 *
 * Units: ns on one clock, with a bound of its error for each time.
 * Errors: none; ranks without times are left out.
 * Memory: the caller's.
 * Threads: safe.
 */
#ifndef CLV_TRACE_NUMBERS_H
#define CLV_TRACE_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#define CLV_NUMBERS_NO_TIME INT64_MIN /* an arrival that was not recorded; p: there was none */

/* The times of a call; arrays of n_ranks. */
typedef struct clv_numbers_times {
    int32_t n_ranks;
    const int64_t *arrival_ns;
    const int64_t *exit_ns;
    const int64_t *before_ns;    /* p */
    const int64_t *bound_ns;     /* of the arrival's error */
    const int64_t *predicted_ns; /* relative arrivals, or NO_TIME; NULL: none */
} clv_numbers_times_t;

/* Of one rank; all 0 where it has no times. */
typedef struct clv_numbers_rank {
    int64_t lateness_ns;
    int64_t own_ns, inherited_ns; /* 0 where some rank has no p */
    int64_t wait_ns;
    int64_t in_mpi_ns;
} clv_numbers_rank_t;

typedef struct clv_numbers_call {
    int32_t n_present; /* ranks with times; below 2 the rest says nothing */
    int32_t last_rank; /* -1: cannot tell, the second was no further away than the clocks' errors */
    int64_t first_ns, last_ns, end_ns; /* least a, greatest a, greatest x */
    int64_t spread_ns;                 /* last - first */
    int64_t after_ns;
    int64_t bound_ns; /* the largest error of a lateness: two times the largest bound, at most */
    int64_t wait_ns, in_mpi_ns; /* sums over ranks */
    int64_t error_ns;           /* mean of |a - predicted| relative to both means; -1: none */
    bool has_parts;             /* own and inherited are known */
} clv_numbers_call_t;

/* ranks: n_ranks of them. O(n_ranks). */
void clv_numbers_of_call(const clv_numbers_times_t *times, clv_numbers_rank_t *ranks,
                         clv_numbers_call_t *call);

/* Time of one vector from the last arriver to where its result is needed, the root (-1: all ranks):
 * no call ends much sooner after its last arrival. latency_ns, ps_per_byte of a message. */
int64_t clv_numbers_bound(const clv_numbers_call_t *call, int32_t root, int64_t bytes,
                          int64_t latency_ns, int64_t ps_per_byte);

#endif
