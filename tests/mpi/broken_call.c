/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A call that fails on one rank, under MPI_ERRORS_RETURN: after 200 right ones, rank 3 passes a few
 * numbers more than the others, which one of them finds too long to receive: for sure where
 * coll_clv_segment_bytes is more than the vector. What each rank has of it, or that it waits for
 * ever:
 *
 *   broken_call: rank 2: error class 15 after 1.0 s
 *   broken_call: rank 0 waits on
 *
 * Then one more call there, which must fail at once, and reduces of another communicator, whose
 * sums must be right: "broken_call: the others go on", from rank 0.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { N_NUMBERS = 16384, N_MORE = 16, N_RIGHT = 200, N_OTHER = 20, LIMIT_S = 15, ROOT = 0 };

static int rank, n_ranks;
static double own[N_NUMBERS + N_MORE], sum[N_NUMBERS + N_MORE];

static void give_up(int signal)
{
    static char line[] = "broken_call: rank 0 waits on\n";

    (void) signal;
    line[sizeof "broken_call: rank " - 1] = (char) ('0' + rank);
    _exit(write(STDOUT_FILENO, line, sizeof line - 1) < 0 ? 2 : 1);
}

static int reduce(MPI_Comm comm, int count)
{
    int class = MPI_SUCCESS;
    const int error = MPI_Reduce(own, sum, count, MPI_DOUBLE, MPI_SUM, ROOT, comm);

    MPI_Error_class(error, &class);
    return class;
}

/* How many of the sums are wrong. */
static int try_others(void)
{
    int n_wrong = 0;

    for (int call = 0; call < N_OTHER; call++) {
        n_wrong += reduce(MPI_COMM_WORLD, N_NUMBERS) != MPI_SUCCESS;
        for (int i = 0; rank == ROOT && i < N_NUMBERS; i++) {
            n_wrong += sum[i] != 0.5 * n_ranks * (n_ranks + 1);
        }
    }
    return n_wrong;
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    int class = MPI_SUCCESS, n_wrong = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < N_NUMBERS + N_MORE; i++) {
        own[i] = rank + 1;
    }
    for (int call = 0; call < N_RIGHT; call++) {
        n_wrong += reduce(comm, N_NUMBERS) != MPI_SUCCESS;
    }
    MPI_Barrier(comm);
    signal(SIGALRM, give_up);
    alarm(LIMIT_S);
    const double begin_s = MPI_Wtime();
    for (int call = 0; class == MPI_SUCCESS; call++) {
        class = reduce(comm, N_NUMBERS + (rank == 3 && call == 0 ? N_MORE : 0));
    }
    printf("broken_call: rank %d: error class %d after %.1f s\n", rank, class,
           MPI_Wtime() - begin_s);
    fflush(stdout);
    n_wrong += reduce(comm, N_NUMBERS) == MPI_SUCCESS;
    n_wrong += try_others();
    MPI_Comm_free(&comm);
    MPI_Allreduce(MPI_IN_PLACE, &n_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && n_wrong == 0) {
        printf("broken_call: the others go on\n");
    }
    MPI_Finalize();
    return n_wrong > 0;
}
