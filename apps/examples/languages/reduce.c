/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An iterative program in C: each rank computes (here it sleeps 5 to 40 ms, the same ranks always
 * longest), then rank 0 gets the sum of all vectors, of 2 MiB. It uses nothing of clv. Its argument
 * is the number of calls, 60 by default. reduce.f90 and reduce.py are the same program.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { DOUBLES = 262144 };

/* Neighbouring ranks differ much in time. */
static void compute(int rank, int n_ranks)
{
    const int place = 5 * rank % n_ranks;
    const double ms = 5.0 + 35.0 * place / (n_ranks > 1 ? n_ranks - 1 : 1);
    const struct timespec work = {0, (long) (ms * 1e6)};

    nanosleep(&work, NULL);
}

int main(int argc, char **argv)
{
    double *mine = calloc(DOUBLES, sizeof *mine), *sum = calloc(DOUBLES, sizeof *sum);
    double in_reduce = 0.0, mean;
    const int n_calls = argc > 1 ? atoi(argv[1]) : 60;
    int rank, n_ranks, is_right = 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    const double started = MPI_Wtime();
    for (int call = 0; call < n_calls; call++) {
        compute(rank, n_ranks);
        mine[call] = rank + call;
        const double entered = MPI_Wtime();
        MPI_Reduce(mine, sum, DOUBLES, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        in_reduce += MPI_Wtime() - entered;
        const double expected = n_ranks * (n_ranks - 1) / 2.0 + n_ranks * call;
        is_right &= rank > 0 || (sum[call] > expected - 0.5 && sum[call] < expected + 0.5);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double took = MPI_Wtime() - started;
    MPI_Reduce(&in_reduce, &mean, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("reduce-result run_s=%.3f in_reduce_ms=%.1f check=%s\n", took,
               1e3 * mean / n_ranks / n_calls, is_right ? "ok" : "failed");
    }
    free(mine);
    free(sum);
    MPI_Finalize();
    return !is_right;
}
