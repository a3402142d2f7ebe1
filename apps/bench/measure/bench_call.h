/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One call of an algorithm, and what belongs to it wherever calls are measured: its announcement,
 * the order in which algorithms take turns, and how far we are.
 * Threads: one per process. Units: ns.
 */
#ifndef CLV_BENCH_CALL_H
#define CLV_BENCH_CALL_H

#include "apps/bench/measure/bench_measure.h"

/* This rank knows when it will arrive (global ns), and says so before it waits. Returns whether the
 * component took the announcement; algorithms that are not hinted make none. */
int clv_bench_announce(const clv_bench_setup_t *setup, int algorithm, int64_t arrival_ns);

/* Makes the call with the algorithm: its own function or the library's collective, nonblocking with
 * a wait if the setup says so. Returns an MPI error code. */
int clv_bench_perform(const clv_bench_setup_t *setup, int algorithm, const clv_bench_call_t *call);

/* The order of the algorithms in that turn: the same shuffle on every rank. */
void clv_bench_shuffle(const clv_bench_setup_t *setup, int64_t turn, int *order);

/* A line on standard error every two seconds, from rank 0; *shown_ns is when the last one came. */
void clv_bench_show_progress(const clv_bench_setup_t *setup, int64_t done, int64_t total,
                             const char *what, int64_t *shown_ns);

/* Whether the setup's seconds have passed since begun_ns (local); rank 0's watch decides for all.
 * Collective. */
int clv_bench_is_time_up(const clv_bench_setup_t *setup, int64_t begun_ns);

#endif
