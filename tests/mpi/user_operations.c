/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reduces with operations of a user that a plan cannot cut as it likes.
 *
 *   user_operations long CALLS        few but long elements
 *   user_operations whole [element]   an operation that wants whole vectors; element: the vector is
 *                                     one element
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/mpi/pvar_look.h"

/* ---- 4 elements of 512 KiB each, which no plan may cut into more than 4 segments. Rank 0 prints
 * whether the sums are right, and how many calls ran a chain. */

enum { N_ELEMENTS = 4, ELEMENT_INTS = 131072 };

static int elements[N_ELEMENTS * ELEMENT_INTS], added[N_ELEMENTS * ELEMENT_INTS];

static void add_elements(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const int *from = in;
    int *to = inout;

    (void) type;
    for (int i = 0; i < *count * ELEMENT_INTS; i++) {
        to[i] += from[i];
    }
}

static int is_right(int n_ranks)
{
    for (int i = 0; i < N_ELEMENTS * ELEMENT_INTS; i++) {
        if (added[i] != n_ranks * (n_ranks - 1) / 2 + n_ranks * (i % 7)) {
            return 0;
        }
    }
    return 1;
}

static void run_long(int rank, int n_ranks, int n_calls)
{
    int n_right = 0;
    MPI_Datatype element;
    MPI_Op add;
    pvar_look_t chains;

    pvar_look_open(&chains, "coll_clv_ran_chain");
    MPI_Type_contiguous(ELEMENT_INTS, MPI_INT, &element);
    MPI_Type_commit(&element);
    MPI_Op_create(add_elements, 1, &add);
    for (int call = 0; call < n_calls; call++) {
        for (int i = 0; i < N_ELEMENTS * ELEMENT_INTS; i++) {
            elements[i] = rank + i % 7;
            added[i] = 0;
        }
        MPI_Reduce(elements, added, N_ELEMENTS, element, add, 0, MPI_COMM_WORLD);
        n_right += rank != 0 || is_right(n_ranks);
    }
    if (rank == 0) {
        printf("sums %s, chains %lld of %d calls\n", n_right == n_calls ? "right" : "WRONG",
               pvar_look_read(&chains, -1), n_calls);
    }
    pvar_look_close(&chains);
    MPI_Op_free(&add);
    MPI_Type_free(&element);
}

/* ---- an operation that takes its length for that of the whole vector, which MPI does not promise:
 * a sum that keeps a count in its first element. Says how many calls of the operation got a part,
 * and how many results are not what it meant. */

enum { N = 100000, N_CALLS = 8 };

static int n_used, n_parts, is_element;

/* Adds, and counts in the first element how often that happened. */
static void add_and_count(void *in, void *inout, int *count, MPI_Datatype *type)
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

static void run_whole(int rank, int n_ranks)
{
    double *own = malloc(N * sizeof *own), *sum = malloc(N * sizeof *sum);
    int all[3] = {0};
    MPI_Datatype vector;
    MPI_Op op;

    MPI_Type_contiguous(N, MPI_DOUBLE, &vector);
    MPI_Type_commit(&vector);
    MPI_Op_create(add_and_count, 1, &op);
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
}

int main(int argc, char **argv)
{
    int rank, n_ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (argc > 2 && strcmp(argv[1], "long") == 0) {
        run_long(rank, n_ranks, atoi(argv[2]));
    } else {
        is_element = argc > 2;
        run_whole(rank, n_ranks);
    }
    MPI_Finalize();
    return 0;
}
