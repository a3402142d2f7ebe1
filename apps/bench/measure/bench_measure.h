/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Measuring one configuration (collective, size, pattern): several algorithms in turn on the same
 * arrivals, and the metrics of each call from global times.
 *
 * Per call: after = last exit - last arrival; run = last exit - first arrival; time in MPI (exit -
 * arrival) of the mean, the slowest, the last arriving rank and the root; the largest deviation of
 * an arrival from the pattern; how far apart ranks started, without their delays; and how long
 * ranks waited for a processor. A row of calls timed together counts as one call of their mean
 * time.
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

/* The metrics of a call: field, and name in the report. */
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
    int is_usable;    /* every rank heard the start in time */
    int is_valid;     /* every result was correct */
    int is_hinted;    /* every rank's announcement was accepted */
} clv_bench_metrics_t;

/* A rank's times in a call, from the call's first arrival on. */
typedef struct clv_bench_visit {
    int64_t arrival_ns;
    int64_t exit_ns;
} clv_bench_visit_t;

/* What one measurement times: the schemes of "MPI Benchmarking Revisited", Table III. */
typedef struct clv_bench_scheme {
    const char *name;
    const char *meaning;
    bool is_row;      /* several calls timed together, for their mean */
    bool has_barrier; /* after each call of a row */
} clv_bench_scheme_t;

/* Ends with a NULL name. */
extern const clv_bench_scheme_t clv_bench_schemes[];

typedef struct clv_bench_setup {
    const clv_collective_t *collective;
    const clv_algorithm_t *algorithms;
    int n_algorithms;
    MPI_Comm *comms; /* one per algorithm */
    clv_bench_sync_t *sync;
    clv_bench_call_t call; /* buffers and shape; comm, delays and iteration are set per call */
    bool nonblocking;
    bool warm_learners;
    bool keep_order;
    uint64_t seed;
    int64_t seconds;
    const clv_bench_scheme_t *scheme;
    int64_t in_row; /* calls per row, for schemes with rows */
    clv_window_t window;
    clv_bench_cache_t cache;
    clv_bench_place_t place;
    int64_t message_ns; /* time of a vector from the first rank to the last; 0: one rank */
    double *late_ns;    /* on rank 0: mean lateness of each rank after a call's first arrival */
    int interrupted;    /* the signal that ended the measurement, known to all; 0: none */
    bool wants_visits;
    clv_bench_visit_t
        *visits;       /* on rank 0, if wanted: [n_rounds][n_algorithms][n_ranks] of the last
                                * measurement; the caller's to free */
    const char *label; /* for the progress line */
} clv_bench_setup_t;

/* Runs warmup + iterations rounds of the pattern, or as many as the window's rule decides. After an
 * interrupt, only complete rounds count. On rank 0, *metrics_p is an array of
 * [*n_rounds_p][n_algorithms] (measured rounds only), which the caller frees with clv_free. NULL on
 * other ranks, and after an interrupt before the first complete round. CLV_NO_MEMORY, or CLV_SYSTEM
 * when an MPI call failed. */
clv_status_t clv_bench_measure(clv_bench_setup_t *setup, const clv_pattern_t *pattern,
                               int64_t warmup, int64_t iterations, int64_t *n_rounds_p,
                               clv_bench_metrics_t **metrics_p) CLV_MUST_CHECK;

/* How long a message of n_bytes takes between the first rank and the last: half the shortest of
 * several round trips, known to all. 0 for one rank. Collective; the buffer has n_bytes. */
int64_t clv_bench_message_ns(MPI_Comm comm, void *buffer, int n_bytes);

/* ---- bench_call.c
 *
 * One call of an algorithm, shared by all ways to measure: its announcement, the order of the
 * algorithms, and the progress line. */

/* Announces this rank's arrival (global ns) before it waits. Returns whether the component accepted
 * the announcement; algorithms without hints make none. */
bool clv_bench_announce(const clv_bench_setup_t *setup, int algorithm, int64_t arrival_ns);

/* Makes the call with the algorithm: its own function or the library's collective, nonblocking with
 * a wait if the setup says so. Returns an MPI error code. */
int clv_bench_perform(const clv_bench_setup_t *setup, int algorithm, const clv_bench_call_t *call);

/* The order of the algorithms in a turn: the same shuffle on every rank. */
void clv_bench_shuffle(const clv_bench_setup_t *setup, int64_t turn, int *order);

/* Rank 0 prints a line on standard error every two seconds; *shown_ns is the time of the last
 * one. */
void clv_bench_show_progress(const clv_bench_setup_t *setup, int64_t done, int64_t total,
                             const char *what, int64_t *shown_ns);

/* Whether the setup's seconds have passed since begun_ns (local); rank 0's clock decides for all.
 * Collective. */
int clv_bench_is_time_up(const clv_bench_setup_t *setup, int64_t begun_ns);

#endif
