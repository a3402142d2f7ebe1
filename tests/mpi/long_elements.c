/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reduces of few but long elements: 4 of 512 KiB each, which no plan may cut into more than 4
 * segments. Rank 0 prints whether the sums are right, and how many calls ran a chain.
 *
 * usage: long_elements CALLS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/mpi/pvar_look.h"

enum { N_ELEMENTS = 4, ELEMENT_INTS = 131072 };

static int own[N_ELEMENTS * ELEMENT_INTS], sum[N_ELEMENTS * ELEMENT_INTS];

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
        if (sum[i] != n_ranks * (n_ranks - 1) / 2 + n_ranks * (i % 7)) {
            return 0;
        }
    }
    return 1;
}

int main(int argc, char **argv)
{
    const int n_calls = argc > 1 ? atoi(argv[1]) : 10;
    int rank, n_ranks, n_right = 0;
    MPI_Datatype element;
    MPI_Op add;
    pvar_look_t chains;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    pvar_look_open(&chains, "coll_clv_ran_chain");
    MPI_Type_contiguous(ELEMENT_INTS, MPI_INT, &element);
    MPI_Type_commit(&element);
    MPI_Op_create(add_elements, 1, &add);
    for (int call = 0; call < n_calls; call++) {
        for (int i = 0; i < N_ELEMENTS * ELEMENT_INTS; i++) {
            own[i] = rank + i % 7;
            sum[i] = 0;
        }
        MPI_Reduce(own, sum, N_ELEMENTS, element, add, 0, MPI_COMM_WORLD);
        n_right += rank != 0 || is_right(n_ranks);
    }
    if (rank == 0) {
        printf("sums %s, chains %lld of %d calls\n", n_right == n_calls ? "right" : "WRONG",
               pvar_look_read(&chains, -1), n_calls);
    }
    pvar_look_close(&chains);
    MPI_Op_free(&add);
    MPI_Type_free(&element);
    MPI_Finalize();
    return 0;
}
