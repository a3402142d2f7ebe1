/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a recorder must see. record_cases ROUNDS: every collective it knows, on MPI_COMM_WORLD, on
 * its odd or even ranks, and on a copy of those. record_cases ROUNDS RANK MS BYTES [die]: RANK is
 * MS late to an allreduce of BYTES; "die": then rank 0 kills itself, in place of MPI_Finalize.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_RANKS 64

static double in[1 << 20], out[1 << 20];

static void all_of(MPI_Comm comm)
{
    int counts[MAX_RANKS], places[MAX_RANKS], rank, n;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n);
    for (int i = 0; i < n; i++) {
        counts[i] = i + 1;
        places[i] = i * MAX_RANKS;
    }
    MPI_Allreduce(in, out, 2, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Bcast(in, 3, MPI_DOUBLE, 1, comm);
    MPI_Reduce(in, out, 4, MPI_DOUBLE, MPI_SUM, 0, comm);
    MPI_Barrier(comm);
    MPI_Alltoall(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, comm);
    for (int i = 0; i < n; i++) {
        counts[i] = 1;
    }
    MPI_Alltoallv(in, counts, places, MPI_DOUBLE, out, counts, places, MPI_DOUBLE, comm);
    for (int i = 0; i < n; i++) {
        counts[i] = i + 1;
    }
    MPI_Allgather(in, 5, MPI_INT, out, 5, MPI_INT, comm);
    MPI_Allgatherv(in, rank + 1, MPI_DOUBLE, out, counts, places, MPI_DOUBLE, comm);
    MPI_Gather(rank == n - 1 ? MPI_IN_PLACE : in, rank == n - 1 ? 0 : 6, MPI_DOUBLE, out, 6,
               rank == n - 1 ? MPI_DOUBLE : MPI_DATATYPE_NULL, n - 1, comm);
    MPI_Gatherv(in, rank + 1, MPI_DOUBLE, out, counts, places, MPI_DOUBLE, 0, comm);
    MPI_Scatter(in, 7, MPI_DOUBLE, out, 7, MPI_DOUBLE, 0, comm);
    MPI_Scatterv(in, counts, places, MPI_DOUBLE, out, rank + 1, MPI_DOUBLE, 0, comm);
    MPI_Reduce_scatter(in, out, counts, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Reduce_scatter_block(in, out, 8, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Scan(in, out, 9, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Exscan(in, out, 10, MPI_DOUBLE, MPI_SUM, comm);
}

static void compute_ms(double ms)
{
    const struct timespec time = {(time_t) (ms / 1e3), (long) (ms * 1e6) % 1000000000};

    (void) nanosleep(&time, NULL);
}

int main(int argc, char **argv)
{
    const int n_rounds = argc > 1 ? atoi(argv[1]) : 1;
    const int late_rank = argc > 2 ? atoi(argv[2]) : -1;
    const double late_ms = argc > 3 ? atof(argv[3]) : 0;
    const int n_bytes = argc > 4 ? atoi(argv[4]) : 0;
    MPI_Comm half, copy;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_dup(half, &copy);
    for (int i = 0; i < n_rounds; i++) {
        if (late_rank < 0) {
            all_of(MPI_COMM_WORLD);
            all_of(half);
            all_of(copy);
        } else {
            compute_ms(rank == late_rank ? 2 + late_ms : 2);
            MPI_Allreduce(in, out, n_bytes / (int) sizeof in[0], MPI_DOUBLE, MPI_SUM,
                          MPI_COMM_WORLD);
        }
    }
    if (argc > 5 && strcmp(argv[5], "die") == 0 && rank == 0) {
        compute_ms(700); /* longer than from one of the thread's rounds to the next */
        (void) raise(SIGKILL);
    }
    MPI_Finalize();
    return 0;
}
