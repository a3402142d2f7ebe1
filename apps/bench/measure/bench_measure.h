/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Measuring one configuration (collective, size, pattern): several algorithms in turn on the same
 * arrivals, and the metrics of each call from global times.
 *
 * What is measured, per call: after = last exit - last arrival; run = last exit - first arrival;
 * time in MPI (exit - arrival) of the mean, the slowest, the last arriving rank and the root; the
 * largest deviation of an arrival from the pattern; how far apart ranks started, delays aside; and
 * how long ranks waited for a processor. Of a
 * row of calls that are timed together: the same of their mean, as if the first one took so long.
 * Units: ns. Threads: one per process. Everything here is collective.
 */
#ifndef CLV_BENCH_MEASURE_H
#define CLV_BENCH_MEASURE_H

#include <mpi.h>
#include <stdbool.h>

#include "apps/bench/measure/bench_algorithms.h"
#include "apps/bench/measure/bench_machine.h"
#include "apps/bench/measure/bench_collectives.h"
#include "apps/bench/measure/bench_place.h"
#include "apps/trace/trace_patterns.h"
#include "apps/bench/measure/bench_sync.h"
#include "apps/bench/measure/bench_window.h"

/* The metrics of a call; one row each: field, and what the report calls it. */
#define CLV_METRICS(XX)                                                                            \
    XX(after_ns, "after")                                                                          \
    XX(run_ns, "run")                                                                              \
    XX(mpi_mean_ns, "in_mpi_mean")                                                                 \
    XX(mpi_max_ns, "in_mpi_max")                                                                   \
    XX(mpi_late_ns, "in_mpi_late_rank")                                                            \
    XX(mpi_root_ns, "in_mpi_root")                                                                 \
    XX(arrival_error_ns, "arrival_error")                                                          \
    XX(start_spread_ns, "start_spread")                                                            \
    XX(cpu_wait_ns, "cpu_wait")

typedef struct clv_bench_metrics {
#define CLV_METRIC_FIELD(field, name) double field;
    CLV_METRICS(CLV_METRIC_FIELD)
#undef CLV_METRIC_FIELD
    int64_t first_ns; /* the first arrival, global */
    int is_usable;    /* every rank heard of the start in time */
    int is_valid;     /* every result was right */
    int is_hinted;    /* every rank's announcement was taken */
} clv_bench_metrics_t;

/* A rank in a call, from the call's first arrival on. */
typedef struct clv_bench_visit {
    int64_t arrival_ns;
    int64_t exit_ns;
} clv_bench_visit_t;

/* What one measurement times: the schemes of "MPI Benchmarking Revisited", Table III. */
typedef struct clv_bench_scheme {
    const char *name;
    const char *meaning;
    bool is_row;      /* several calls together, the mean of them */
    bool has_barrier; /* behind each call of a row */
} clv_bench_scheme_t;

/* Ends with a NULL name. */
extern const clv_bench_scheme_t clv_bench_schemes[];

typedef struct clv_bench_setup {
    const clv_collective_t *collective;
    const clv_algorithm_t *algorithms;
    int n_algorithms;
    MPI_Comm *comms; /* one per algorithm */
    clv_bench_sync_t *sync;
    clv_bench_call_t call; /* buffers and shape; comm, delays and iteration are filled in */
    bool nonblocking;
    bool warm_learners;
    bool keep_order;
    uint64_t seed;
    int64_t seconds;
    const clv_bench_scheme_t *scheme;
    int64_t in_row; /* calls, of schemes that are rows */
    clv_window_t window;
    clv_bench_cache_t cache;
    clv_bench_place_t place;
    int64_t message_ns; /* that one vector takes from the first rank to the last; 0: one rank */
    double *late_ns;    /* on rank 0: each rank's mean lateness behind a call's first arrival */
    int interrupted;    /* by this signal, known to all: nothing more is measured; 0: by none */
    bool wants_visits;
    clv_bench_visit_t
        *visits;       /* on rank 0, if wanted: [n_rounds][n_algorithms][n_ranks] of the last
                                * measurement; the caller's to free */
    const char *label; /* for the progress line */
} clv_bench_setup_t;

/* Runs warmup + iterations rounds of the pattern, or what the rule of the window makes of them, or
 * as many as are whole when a rank is interrupted.
 * On rank 0, *metrics_p is an array of [*n_rounds_p][n_algorithms] (measured rounds only), which
 * the caller frees with clv_free; NULL elsewhere, and where it was interrupted before the first
 * round was whole. CLV_NO_MEMORY, or CLV_SYSTEM when an MPI call
 * failed. */
clv_status_t clv_bench_measure(clv_bench_setup_t *setup, const clv_pattern_t *pattern,
                               int64_t warmup, int64_t iterations, int64_t *n_rounds_p,
                               clv_bench_metrics_t **metrics_p) CLV_MUST_CHECK;

/* How long a message of so many bytes takes between the first rank and the last: half the shortest
 * of some round trips, known to all. 0 for one rank. Collective; the buffer holds it. */
int64_t clv_bench_message_ns(MPI_Comm comm, void *buffer, int n_bytes);

/* ---- bench_call.c
 *
 * One call of an algorithm, and what belongs to it wherever calls are measured: its announcement,
 * the order in which algorithms take turns, and how far we are.
 */

/* This rank knows when it will arrive (global ns), and says so before it waits. Returns whether the
 * component took the announcement; algorithms that are not hinted make none. */
bool clv_bench_announce(const clv_bench_setup_t *setup, int algorithm, int64_t arrival_ns);

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
