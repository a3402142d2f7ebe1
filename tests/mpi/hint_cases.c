/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Delays drawn afresh before each reduce, announced by clv_hint_arrival or (with --silent) not.
 * Checks every result; rank 0 prints how many of its hints were taken. The shell test reads
 * from coll_clv_print=forecast how good the predictions were.
 */
#include "clv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N_CALLS    16
#define N_ELEMENTS 16384
#define MAX_MS     60

static void work(long long ns)
{
    struct timespec nap = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    (void) nanosleep(&nap, NULL);
}

static int wrong(const double *sums, int n_ranks)
{
    for (int i = 0; i < N_ELEMENTS; i++) {
        if (sums[i] != n_ranks * (n_ranks - 1) / 2.0 + (double) n_ranks * i) {
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    static double mine[N_ELEMENTS], sums[N_ELEMENTS];
    int silent = argc > 1 && strcmp(argv[1], "--silent") == 0;
    int rank, n_ranks, n_taken = 0, n_wrong = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    srand((unsigned) (7 + 31 * rank));
    for (int i = 0; i < N_ELEMENTS; i++) {
        mine[i] = rank + i;
    }
    for (int call = 0; call < N_CALLS; call++) {
        long long ns = (long long) (rand() % MAX_MS + 20) * 1000000;
        n_taken += silent ? 0 : clv_hint_arrival(MPI_COMM_WORLD, ns);
        work(ns);
        MPI_Reduce(mine, sums, N_ELEMENTS, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        n_wrong += rank == 0 && wrong(sums, n_ranks);
    }
    if (rank == 0) {
        printf("hint_cases: %d of %d hints taken, %d wrong results\n", n_taken, N_CALLS, n_wrong);
    }
    MPI_Finalize();
    return n_wrong;
}
