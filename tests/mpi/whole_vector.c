/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A user's operation that takes its length for that of the whole vector, which MPI does not
 * promise: a sum that keeps a count in its first element. Says how many calls of the operation got
 * a part, and how many results are not what it meant.
 *
 *   whole_vector [element]      element: the vector is one element
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 100000, N_CALLS = 8 };

static int n_used, n_parts, is_element;

/* Adds, and counts in the first element how often that happened. */
static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const double *a = in;
    double *b = inout;
    const int length = is_element ? *count * N : *count;

    (void) type;
    n_used++;
    n_parts += length != N;
    b[0] += a[0] + 1; /* once per vector, it thinks */
    for (int i = 1; i < length; i++) {
        b[i] += a[i];
    }
}

static int is_wrong(const double *sum, int n_ranks)
{
    int wrong = sum[0] != n_ranks - 1;

    for (int i = 1; i < N; i++) {
        wrong |= sum[i] != n_ranks;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    double *own = malloc(N * sizeof *own), *sum = malloc(N * sizeof *sum);
    int rank, n_ranks, all[3] = {0};
    MPI_Datatype vector;
    MPI_Op op;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    is_element = argc > 1;
    MPI_Type_contiguous(N, MPI_DOUBLE, &vector);
    MPI_Type_commit(&vector);
    MPI_Op_create(add, 1, &op);
    for (int i = 0; i < N; i++) {
        own[i] = i > 0;
    }
    for (int k = 0; k < N_CALLS; k++) {
        MPI_Reduce(own, sum, is_element ? 1 : N, is_element ? vector : MPI_DOUBLE, op, k % n_ranks,
                   MPI_COMM_WORLD);
        all[2] += rank == k % n_ranks && is_wrong(sum, n_ranks);
    }
    all[0] = n_used;
    all[1] = n_parts;
    MPI_Allreduce(MPI_IN_PLACE, all, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("whole: %d of %d calls of the operation got a part, %d of %d results wrong\n",
               all[1], all[0], all[2], N_CALLS);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&vector);
    free(own);
    free(sum);
    MPI_Finalize();
    return 0;
}
