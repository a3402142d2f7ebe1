/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a component must not break: communicators that are made and freed in numbers, an
 * inter-communicator, a communicator of one, and collectives that are somebody else's.
 * Aborts through MPI's error handler, or exits 1 on a wrong result.
 */
#include <mpi.h>
#include <stdio.h>

static int n_wrong;

static void expect(int right, const char *what)
{
    if (!right) {
        n_wrong++;
        fprintf(stderr, "wrong: %s\n", what);
    }
}

static void use_all(MPI_Comm comm)
{
    int rank, n_ranks, sum = 0, prefix = 0, one = 1, from_zero;
    MPI_Request request;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n_ranks);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    expect(n_ranks == sum, "allreduce");
    sum = 0;
    MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, n_ranks - 1, comm);
    expect(rank != n_ranks - 1 || n_ranks == sum, "reduce");
    MPI_Scan(&one, &prefix, 1, MPI_INT, MPI_SUM, comm);
    expect(rank + 1 == prefix, "scan");
    from_zero = rank + 7;
    MPI_Ibcast(&from_zero, 1, MPI_INT, 0, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(from_zero == 7, "ibcast");
    MPI_Barrier(comm);
}

static void use_inter(MPI_Comm world)
{
    MPI_Comm half, inter;
    int rank, mine, one = 1, sum = 0, remote;

    MPI_Comm_rank(world, &rank);
    mine = rank % 2;
    MPI_Comm_split(world, mine, rank, &half);
    MPI_Intercomm_create(half, 0, world, 1 - mine, 5, &inter);
    MPI_Comm_remote_size(inter, &remote);
    MPI_Comm_rank(half, &rank);
    MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM,
               mine == 1   ? 0
               : rank == 0 ? MPI_ROOT
                           : MPI_PROC_NULL,
               inter);
    expect(mine == 1 || rank != 0 || remote == sum, "reduce between two groups");
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    int n_ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    use_all(MPI_COMM_WORLD);
    use_all(MPI_COMM_SELF);
    for (int i = 0; i < 50; i++) {
        MPI_Comm copy;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        use_all(copy);
        MPI_Comm_free(&copy);
    }
    if (n_ranks > 1) {
        use_inter(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return n_wrong == 0 ? 0 : 1;
}
