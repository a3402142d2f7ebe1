/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A wrong program: in one collective a rank passes another count than the others.
 *
 *   wrong_count bcast|reduce|allreduce COUNT RANK ITS-COUNT [RIGHT-CALLS-BEFORE]
 *
 * Root is rank 0. Errors are returned; a rank that has one ends the job. Others go on, and wait in
 * MPI_Barrier for those that do not.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void call(const char *collective, int count)
{
    double *own = calloc((size_t) count, sizeof *own), *sum = calloc((size_t) count, sizeof *sum);
    char text[MPI_MAX_ERROR_STRING];
    int length, rc;

    if (strcmp(collective, "bcast") == 0) {
        rc = MPI_Bcast(own, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    } else if (strcmp(collective, "reduce") == 0) {
        rc = MPI_Reduce(own, sum, count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    } else {
        rc = MPI_Allreduce(own, sum, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rc != MPI_SUCCESS) {
        MPI_Error_string(rc, text, &length);
        fprintf(stderr, "wrong_count: %s\n", text);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    free(own);
    free(sum);
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (argc < 5) {
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 2;
    }
    for (int i = argc > 5 ? atoi(argv[5]) : 0; i > 0; i--) {
        call(argv[1], atoi(argv[2]));
    }
    call(argv[1], atoi(argv[rank == atoi(argv[3]) ? 4 : 2]));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("wrong_count: it passes\n");
    }
    MPI_Finalize();
    return 0;
}
