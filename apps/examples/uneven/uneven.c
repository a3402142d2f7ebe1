/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Uneven work, drawn anew on each rank before each reduce, so that no history predicts arrivals: a
 * number of tiles of different sizes. The program reports its progress (clv_hint_progress), and clv
 * plans for the time at which each rank will be done.
 *
 *     uneven [--silent] [--sleep] [--calls N]
 *
 * --silent: reports no progress. --sleep: tiles sleep instead of computing, for emulated hosts,
 * which have no processor of their own. After each reduce, the root broadcasts its decision, as in
 * a solver that tests for convergence. Rank 0 prints the time of an iteration, the time in
 * MPI_Reduce (mean over ranks), how many of its calls were announced, and whether all results were
 * correct.
 */
#include "clv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N_DOUBLES   262144 /* 2 MiB */
#define MIN_TILES   40
#define MAX_TILES   160
#define MIN_TILE_US 100
#define MAX_TILE_US 700

static double mine[N_DOUBLES], sums[N_DOUBLES];

typedef struct options {
    int is_silent, sleeps, n_calls;
} options_t;

static int draw(int low, int high)
{
    return low + rand() % (high - low + 1);
}

static double compute(double seconds)
{
    const double until = MPI_Wtime() + seconds;
    double sum = 0;

    while (MPI_Wtime() < until) {
        for (int i = 1; i < 100; i++) {
            sum += 1.0 / (double) i;
        }
    }
    return sum;
}

static void tile(const options_t *options)
{
    static volatile double result;
    const int us = draw(MIN_TILE_US, MAX_TILE_US);
    struct timespec nap = {.tv_nsec = 1000L * us};

    if (options->sleeps) {
        (void) nanosleep(&nap, NULL);
    } else {
        result = compute(us / 1e6);
        (void) result;
    }
}

/* Returns whether the arrival was announced. */
static int work(const options_t *options)
{
    const int n_tiles = draw(MIN_TILES, MAX_TILES);
    int is_announced = 0;

    for (int i = 0; i < n_tiles; i++) {
        is_announced += options->is_silent ? 0 : clv_hint_progress(MPI_COMM_WORLD, i, n_tiles);
        tile(options);
    }
    return is_announced;
}

static int is_right(int call, int n_ranks)
{
    for (int i = 0; i < N_DOUBLES; i++) {
        if (sums[i] != n_ranks * (n_ranks - 1) / 2.0 + (double) n_ranks * (i + call)) {
            return 0;
        }
    }
    return 1;
}

static int parse(int argc, char **argv, options_t *options)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--silent") == 0) {
            options->is_silent = 1;
        } else if (strcmp(argv[i], "--sleep") == 0) {
            options->sleeps = 1;
        } else if (strcmp(argv[i], "--calls") == 0 && i + 1 < argc) {
            options->n_calls = atoi(argv[++i]);
        } else {
            return 0;
        }
    }
    return options->n_calls > 0;
}

/* How many calls were announced; *in_reduce: seconds. */
static int iterate(const options_t *options, int rank, int n_ranks, double *in_reduce, int *right)
{
    int n_reported = 0;

    for (int call = 0; call < options->n_calls; call++) {
        for (int i = 0; i < N_DOUBLES; i++) {
            mine[i] = rank + i + call;
        }
        n_reported += work(options);
        const double entered = MPI_Wtime();
        MPI_Reduce(mine, sums, N_DOUBLES, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        *in_reduce += MPI_Wtime() - entered;
        *right &= rank != 0 || is_right(call, n_ranks);
        MPI_Bcast(right, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    return n_reported;
}

int main(int argc, char **argv)
{
    options_t options = {.n_calls = 60};
    double in_reduce = 0, mean = 0;
    int rank, n_ranks, right = 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (!parse(argc, argv, &options)) {
        if (rank == 0) {
            fprintf(stderr, "usage: uneven [--silent] [--sleep] [--calls N]\n");
        }
        MPI_Finalize();
        return 4;
    }
    srand((unsigned) (7 + 31 * rank));
    const double started = MPI_Wtime();
    const int n_reported = iterate(&options, rank, n_ranks, &in_reduce, &right);
    const double took = MPI_Wtime() - started;
    MPI_Reduce(&in_reduce, &mean, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("uneven-result iteration_ms=%.2f in_reduce_ms=%.2f announced=%d calls=%d check=%s\n",
               1e3 * took / options.n_calls, 1e3 * mean / n_ranks / options.n_calls, n_reported,
               options.n_calls, right ? "ok" : "failed");
    }
    MPI_Finalize();
    return right ? 0 : 1;
}
