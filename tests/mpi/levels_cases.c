/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Communicators that are run as two levels: made, used with every root and freed, many times; and
 * with one rank on which the levels cannot be made. Checks every result. Rank 0 prints
 *
 *   levels_cases: all right, two_levels=N grown=BYTES
 *
 * N: calls that ran as two levels; grown: the heap's growth over the second half, the most of all
 * ranks.
 *
 * usage: levels_cases LIVES [RANK]    the rank's splits inside a reduction fail
 */
#include <mpi.h>
#include <dlfcn.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/mpi/pvar_look.h"

enum { N_NUMBERS = 9000, FEW = 2 };

static long long own[N_NUMBERS], sum[N_NUMBERS];
static int world_rank, n_wrong;
static bool fails, is_inside;

/* Open MPI's, which the component calls; it takes part in the split all the same. */
int ompi_comm_split(void *comm, int color, int key, void **made, bool pass_on_topo);
int ompi_comm_split(void *comm, int color, int key, void **made, bool pass_on_topo)
{
    int (*real)(void *, int, int, void **, bool);
    int status;

    *(void **) &real = dlsym(RTLD_NEXT, "ompi_comm_split");
    status = real(comm, color, key, made, pass_on_topo);
    return fails && is_inside ? MPI_ERR_OTHER : status;
}

static void fill(int rank)
{
    for (int i = 0; i < N_NUMBERS; i++) {
        own[i] = rank + (long long) i;
        sum[i] = -1;
    }
}

static void check(const long long *found, int n_ranks, const char *what)
{
    const long long ranks = (long long) n_ranks * (n_ranks - 1) / 2;

    for (int i = 0; i < N_NUMBERS; i++) {
        if (found[i] != ranks + n_ranks * (long long) i) {
            printf("levels_cases: rank %d: %s is wrong at %d\n", world_rank, what, i);
            n_wrong++;
            return;
        }
    }
}

static void use(MPI_Comm comm)
{
    int rank, n_ranks;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n_ranks);
    is_inside = true;
    for (int root = 0; root < n_ranks; root++) {
        fill(rank);
        MPI_Reduce(own, sum, N_NUMBERS, MPI_LONG_LONG, MPI_SUM, root, comm);
        if (rank == root) {
            check(sum, n_ranks, "a reduce");
        }
        fill(rank);
        MPI_Reduce(rank == root ? MPI_IN_PLACE : own, own, N_NUMBERS, MPI_LONG_LONG, MPI_SUM, root,
                   comm);
        MPI_Bcast(own, N_NUMBERS, MPI_LONG_LONG, root, comm);
        check(own, n_ranks, "a reduce in place, broadcast");
    }
    fill(rank);
    MPI_Allreduce(own, sum, N_NUMBERS, MPI_LONG_LONG, MPI_SUM, comm);
    check(sum, n_ranks, "an allreduce");
    is_inside = false;
}

/* A duplicate of all; the ranks but the last, in reverse. */
static void live(void)
{
    MPI_Comm all, some;
    int n_ranks;

    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank == n_ranks - 1 ? MPI_UNDEFINED : 0, -world_rank,
                   &some);
    use(all);
    if (some != MPI_COMM_NULL) {
        use(some);
        MPI_Comm_free(&some);
    }

    MPI_Comm_free(&all);
}

int main(int argc, char **argv)
{
    const int n_lives = argc > 1 ? atoi(argv[1]) : FEW;
    pvar_look_t ran;
    long long grown = 0, n_ran;
    int provided;

    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    fails = argc > 2 && world_rank == atoi(argv[2]);
    (void) pvar_look_open(&ran, "coll_clv_ran_two_levels");
    use(MPI_COMM_WORLD);
    for (int i = 0; i < n_lives; i++) {
        grown = i == n_lives / 2 ? (long long) mallinfo2().uordblks : grown;
        live();
    }
    grown = (long long) mallinfo2().uordblks - grown;
    n_ran = pvar_look_read(&ran, -1);
    MPI_Allreduce(MPI_IN_PLACE, &grown, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &n_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (world_rank == 0 && n_wrong == 0) {
        printf("levels_cases: all right, two_levels=%lld grown=%lld\n", n_ran, grown);
    }
    pvar_look_close(&ran);
    MPI_T_finalize();
    MPI_Finalize();
    return n_wrong > 0;
}
