/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Watches the component's global clock while a program runs, and judges it by CLOCK_REALTIME, which
 * the hosts of the emulated cluster have in common (their CLOCK_MONOTONIC differ by an hour each).
 *
 * usage: clock_watch SECONDS [DRIFT_PPM [ROW_SECONDS [quiet]]]
 *
 * The program: each rank sleeps 100 ms, then all reduce 256 KiB to rank 0; "quiet": 8 bytes after
 * the first seconds, which is no business of ours, so that only the clock keeps the thread awake.
 * Once a second every rank says what its global clock shows beyond CLOCK_REALTIME; what differs
 * from rank 0's is its true error. Rank 0 prints a row a minute (ROW_SECONDS) and one for all: the
 * largest true error, the largest bound, how many bounds covered the truth, how many ranks had no
 * time, and the share of a core that the background threads took (the busiest rank's, and the
 * mean).
 *
 * Drift: tests/support/clock_drift.h.
 *
 * Exit status 1: fewer than 99 % of the bounds covered the truth, or a rank had no time for more
 * than 2 % of the run (the first seconds aside), or there is no such clock.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/mpi/pvar_look.h"
#include "tests/support/clock_drift.h"

#define N_ELEMENTS    32768 /* doubles: 256 KiB */
#define REDUCES_PER_S 10
#define START_S       3 /* until every clock must be there */
#define NS_PER_S      CLV_DRIFT_NS_PER_S

static int64_t read_clock(clockid_t clock)
{
    struct timespec now;

    (void) clock_gettime(clock, &now);
    return clv_drift_ns(&now);
}

/* ---- what a rank says once a second ---------------------------------------------------------- */

typedef struct saying {
    int64_t beyond_ns; /* global time - CLOCK_REALTIME */
    int64_t bound_ns;  /* -1: no global time */
    int64_t cpu_ns;    /* of the background thread so far */
    int64_t wall_ns;   /* since the beginning */
} saying_t;

typedef struct looks {
    pvar_look_t offset, error, cpu;
    int64_t start_ns;
} looks_t;

/* CLOCK_REALTIME - CLOCK_MONOTONIC, by the narrowest of some reads. */
static int64_t true_offset(void)
{
    int64_t best_ns = INT64_MAX, offset_ns = 0;

    for (int i = 0; i < 9; i++) {
        const int64_t before_ns = read_clock(CLOCK_MONOTONIC);
        const int64_t real_ns = read_clock(CLOCK_REALTIME);
        const int64_t after_ns = read_clock(CLOCK_MONOTONIC);
        if (after_ns - before_ns < best_ns) {
            best_ns = after_ns - before_ns;
            offset_ns = real_ns - (before_ns + best_ns / 2);
        }
    }
    return offset_ns;
}

static saying_t say(const looks_t *looks)
{
    saying_t saying = {.bound_ns = pvar_look_read(&looks->error, -1)};

    saying.beyond_ns = pvar_look_read(&looks->offset, 0) - true_offset();
    saying.cpu_ns = pvar_look_read(&looks->cpu, 0);
    saying.wall_ns = read_clock(CLOCK_MONOTONIC) - looks->start_ns;
    return saying;
}

/* ---- rank 0's account ---------------------------------------------------------------------- */

typedef struct row {
    int64_t max_error_ns;
    int64_t max_bound_ns;
    int64_t n_checks;
    int64_t n_covered;
    int64_t n_without;
} row_t;

static void account(row_t *row, const saying_t *sayings, int n_ranks)
{
    for (int i = 1; i < n_ranks; i++) {
        const int64_t error_ns = llabs(sayings[i].beyond_ns - sayings[0].beyond_ns);

        if (sayings[i].bound_ns < 0) {
            row->n_without++;
            continue;
        }
        row->n_checks++;
        row->n_covered += error_ns <= sayings[i].bound_ns;
        row->max_error_ns = error_ns > row->max_error_ns ? error_ns : row->max_error_ns;
        row->max_bound_ns =
            sayings[i].bound_ns > row->max_bound_ns ? sayings[i].bound_ns : row->max_bound_ns;
    }
}

static void print_row(const char *name, const row_t *row, const saying_t *from, const saying_t *to,
                      int n_ranks)
{
    double busiest = 0, mean = 0;

    for (int i = 0; i < n_ranks; i++) {
        const double share = 100. * (double) (to[i].cpu_ns - from[i].cpu_ns) /
                             (double) (to[i].wall_ns - from[i].wall_ns);
        busiest = share > busiest ? share : busiest;
        mean += share / n_ranks;
    }
    printf("%6s  %13.2f  %13.2f  %6lld of %6lld  %7lld  %12.4f  %9.4f\n", name,
           (double) row->max_error_ns / 1e3, (double) row->max_bound_ns / 1e3,
           (long long) row->n_covered, (long long) row->n_checks, (long long) row->n_without,
           busiest, mean);
    fflush(stdout);
}

static void add(row_t *all, const row_t *row)
{
    all->max_error_ns =
        row->max_error_ns > all->max_error_ns ? row->max_error_ns : all->max_error_ns;
    all->max_bound_ns =
        row->max_bound_ns > all->max_bound_ns ? row->max_bound_ns : all->max_bound_ns;
    all->n_checks += row->n_checks;
    all->n_covered += row->n_covered;
    all->n_without += row->n_without;
}

/* ---- the program ----------------------------------------------------------------------------- */

static void compute_for_a_second(double *mine, double *sums, int n_elements)
{
    const struct timespec nap = {.tv_nsec = NS_PER_S / REDUCES_PER_S};

    for (int i = 0; i < REDUCES_PER_S; i++) {
        (void) nanosleep(&nap, NULL);
        MPI_Reduce(mine, sums, n_elements, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    }
}

/* Prints the row, adds it to all, and begins the next. */
static void end_row(row_t *row, row_t *all, saying_t *row_start, const saying_t *now, int n_ranks,
                    int second)
{
    char name[16];

    snprintf(name, sizeof name, "%.1f", second / 60.);
    print_row(name, row, row_start, now, n_ranks);
    add(all, row);
    *row = (row_t){0};
    memcpy(row_start, now, (size_t) n_ranks * sizeof *now);
}

static row_t watch(const looks_t *looks, int seconds, int row_seconds, int is_quiet, int rank,
                   int n_ranks)
{
    static double mine[N_ELEMENTS], sums[N_ELEMENTS];
    saying_t *now = calloc((size_t) n_ranks * 3, sizeof *now), *row_start, *start;
    row_t all = {0}, row = {0};

    if (now == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 2);
        return all;
    }
    row_start = now + n_ranks;
    start = row_start + n_ranks;
    for (int second = 1 - START_S; second <= seconds; second++) {
        compute_for_a_second(mine, sums, is_quiet && second > 0 ? 1 : N_ELEMENTS);
        MPI_Barrier(MPI_COMM_WORLD);
        const saying_t saying = say(looks);
        MPI_Gather(&saying, sizeof saying, MPI_BYTE, now, sizeof saying, MPI_BYTE, 0,
                   MPI_COMM_WORLD);
        if (rank != 0) {
            continue;
        }
        if (second == 0) {
            memcpy(row_start, now, (size_t) n_ranks * sizeof *now);
            memcpy(start, now, (size_t) n_ranks * sizeof *now);
        } else if (second > 0) {
            account(&row, now, n_ranks);
        }
        if (second > 0 && (second % row_seconds == 0 || second == seconds)) {
            end_row(&row, &all, row_start, now, n_ranks, second);
        }
    }
    if (rank == 0) {
        print_row("all", &all, start, now, n_ranks);
    }
    free(now);
    return all;
}

static int judge(const row_t *all)
{
    const int is_covered = all->n_covered * 100 >= all->n_checks * 99;
    const int is_there = all->n_checks > 0 && all->n_without * 50 <= all->n_checks;

    printf("clock_watch: %s, %s\n", is_covered ? "bounds hold" : "BOUNDS DO NOT HOLD",
           is_there ? "clocks are there" : "CLOCKS ARE MISSING");
    return is_covered && is_there ? 0 : 1;
}

int main(int argc, char **argv)
{
    const int seconds = argc > 1 ? atoi(argv[1]) : 10;
    const double drift_ppm = argc > 2 ? atof(argv[2]) : 0;
    const int row_seconds = argc > 3 ? atoi(argv[3]) : 60;
    const int is_quiet = argc > 4 && strcmp(argv[4], "quiet") == 0;
    int rank, n_ranks, verdict = 0;
    looks_t looks;

    clv_drift_set(drift_ppm);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    looks.start_ns = read_clock(CLOCK_MONOTONIC);
    (void) pvar_look_open(&looks.offset, "coll_clv_exchange_clock_offset_ns");
    (void) pvar_look_open(&looks.error, "coll_clv_exchange_clock_error_ns");
    (void) pvar_look_open(&looks.cpu, "coll_clv_exchange_thread_cpu_ns");
    if (rank == 0) {
        printf("%d ranks, drift up to %.0f ppm either way, %d reduces of %s a second\n", n_ranks,
               drift_ppm, REDUCES_PER_S, is_quiet ? "8 bytes" : "256 KiB");
        printf("minute  true error us       bound us  bound held        no time  busiest CPU %%  "
               "mean CPU %%\n");
    }
    const row_t all = watch(&looks, seconds, row_seconds, is_quiet, rank, n_ranks);
    if (rank == 0) {
        verdict = judge(&all);
    }
    MPI_Bcast(&verdict, 1, MPI_INT, 0, MPI_COMM_WORLD);
    pvar_look_close(&looks.cpu);
    pvar_look_close(&looks.error);
    pvar_look_close(&looks.offset);
    MPI_Finalize();
    return verdict;
}
