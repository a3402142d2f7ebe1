/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The figures of a block of iterations as a program sees them, from the times of all ranks.
 *
 * An iteration is: compute, make the measured call, then any further synchronisation. Every rank
 * records when it arrived at the call, left it, and ended the iteration.
 *
 *     rank 0 (root)  ==|....+++|          ==|...+++|           =  computing
 *     rank 1         ======|++|======|++|======|++|            +  in the call
 *                             ^ end 0       ^ end 1            .  waiting in it
 *
 * The time of an iteration is how far the LAST END moves, where end(i) is when the last rank has
 * ended iteration i: (end(last) - end(lead - 1)) / (calls - lead). These add up to the program's
 * wall time whatever the ranks do in between, and a rank that runs ahead does not reduce them. The
 * iteration time of one rank is the time between its own successive arrivals; for a fast rank that
 * never waits, its computing time. The first `lead` calls of a block do not count: ranks begin a
 * block together, and their distance builds up over the calls.
 * Not: the measuring (bench_loop.h), statistics over blocks (bench_stats.h). Pure, no MPI.
 * Units: ns on one clock. Thread-safe. Cost: ranks^2 x calls.
 */
#ifndef CLV_BENCH_ITERATION_H
#define CLV_BENCH_ITERATION_H

#include <stdint.h>

#include "util/util_status.h"

typedef struct clv_iteration_times {
    int64_t arrival_ns; /* at the measured call */
    int64_t exit_ns;    /* leaving it */
    int64_t end_ns;     /* end of the iteration, after any further synchronisation */
} clv_iteration_times_t;

/* The figures of a block, over the calls that count; per row a field and its name in reports.
 * ahead_calls: the most calls that a rank had entered beyond those that the slowest rank had left
 * at that time. At one vector per call, at most that many vectors lie between two ranks. */
#define CLV_ITERATION_FIGURES(XX)                                                                  \
    XX(iteration_ns, "iteration_ns")  /* how far the last end moves per iteration */               \
    XX(in_call_ns, "in_call_ns")      /* mean over ranks and calls of exit - arrival */            \
    XX(in_couple_ns, "in_couple_ns")  /* mean of end - exit */                                     \
    XX(worst_ns, "worst_ns")          /* the longest exit - arrival */                             \
    XX(p99_ns, "p99_ns")              /* 99th percentile over all ranks */                         \
    XX(fastest_ns, "fastest_pace_ns") /* least and largest iteration time of a rank */             \
    XX(slowest_ns, "slowest_pace_ns")                                                              \
    XX(ahead_calls, "ahead_calls")                                                                 \
    XX(ahead_ns, "ahead_ns") /* the largest distance of an iteration's end from the last one */

typedef struct clv_iteration {
#define CLV_ITERATION_FIELD(field, name) double field;
    CLV_ITERATION_FIGURES(CLV_ITERATION_FIELD)
#undef CLV_ITERATION_FIELD
} clv_iteration_t;

/* Derives the figures from times[n_ranks][n_calls] of a block that began at start_ns, leaving out
 * its first `lead` calls. rank_iteration_ns: n_ranks values, or NULL.
 * CLV_INVALID: no rank, or fewer than two calls that count. CLV_NO_MEMORY. */
clv_status_t clv_iteration_derive(const clv_iteration_times_t *times, int n_ranks, int64_t n_calls,
                                  int64_t lead, int64_t start_ns, clv_iteration_t *figures_p,
                                  double *rank_iteration_ns) CLV_MUST_CHECK;

#endif
