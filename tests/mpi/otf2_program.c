/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program for the OTF2 recorder: messages of all kinds, completions by all calls, requests that
 * complete in another order than they were posted, every collective, communicators made and freed.
 */
#include <mpi.h>
#include <stdlib.h>

#define N 8

static int rank, n_ranks;

static void messages(MPI_Comm comm, int me, int n)
{
    int in[N] = {0}, out[N] = {0}, flag = 0, index, n_done, indices[N];
    MPI_Request requests[2 * N];
    const int next = (me + 1) % n, before = (me + n - 1) % n;
    for (int i = 0; i < N; i++) {
        MPI_Irecv(&in[i], 1, MPI_INT, i % 2 ? before : MPI_ANY_SOURCE, i, comm, &requests[i]);
    }
    for (int i = N - 1; i >= 0; i--) {
        MPI_Isend(&out[i], 1, MPI_INT, next, i, comm, &requests[N + i]);
    }
    MPI_Wait(&requests[3], MPI_STATUS_IGNORE);
    MPI_Waitany(N, requests, &index, MPI_STATUS_IGNORE);
    MPI_Waitsome(N, requests, &n_done, indices, MPI_STATUSES_IGNORE);
    MPI_Testany(N, requests, &index, &flag, MPI_STATUS_IGNORE);
    MPI_Testsome(N, requests, &n_done, indices, MPI_STATUSES_IGNORE);
    while (!flag) {
        MPI_Testall(2 * N, requests, &flag, MPI_STATUSES_IGNORE);
    }
    MPI_Waitall(2 * N, requests, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(out, 2, MPI_INT, next, 99, in, N, MPI_INT, before, 99, comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(out, 1, MPI_INT, MPI_PROC_NULL, 9, in, N, MPI_INT, MPI_PROC_NULL, 9, comm,
                 MPI_STATUS_IGNORE);
    if (me % 2 == 0) {
        MPI_Ssend(out, 3, MPI_INT, next, 5, comm);
    }
    if (before % 2 == 0) {
        MPI_Recv(in, N, MPI_INT, before, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
    }
}

static void collectives(MPI_Comm comm, int n)
{
    int *in = calloc((size_t) (n * n), sizeof *in), *out = calloc((size_t) (n * n), sizeof *out);
    int *ones = malloc((size_t) n * sizeof *ones), *at = malloc((size_t) n * sizeof *at);
    if (!in || !out || !ones || !at) {
        MPI_Abort(MPI_COMM_WORLD, 1);
        abort(); /* never reached, which only MPI knows */
    }
    for (int i = 0; i < n; i++) {
        ones[i] = i > 0;
        at[i] = i;
    }
    MPI_Barrier(comm);
    MPI_Bcast(in, 2, MPI_INT, n - 1, comm);
    MPI_Reduce(in, out, 2, MPI_INT, MPI_SUM, 0, comm);
    MPI_Allreduce(in, out, 2, MPI_INT, MPI_SUM, comm);
    MPI_Scan(in, out, 2, MPI_INT, MPI_SUM, comm);
    MPI_Exscan(in, out, 2, MPI_INT, MPI_SUM, comm);
    MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, 0, comm);
    MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, 0, comm);
    MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, comm);
    MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, comm);
    MPI_Reduce_scatter_block(in, out, 1, MPI_INT, MPI_SUM, comm);
    int me;
    MPI_Comm_rank(comm, &me);
    MPI_Gatherv(in, ones[me], MPI_INT, out, ones, at, MPI_INT, 0, comm);
    MPI_Scatterv(in, ones, at, MPI_INT, out, ones[me], MPI_INT, 0, comm);
    MPI_Allgatherv(in, ones[me], MPI_INT, out, ones, at, MPI_INT, comm);
    free(in);
    free(out);
    free(ones);
    free(at);
}

int main(int argc, char **argv)
{
    MPI_Comm half, again;
    int me, n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_dup(half, &again);
    MPI_Comm_rank(again, &me);
    MPI_Comm_size(again, &n);
    for (int i = 0; i < 20; i++) {
        messages(MPI_COMM_WORLD, rank, n_ranks);
        collectives(MPI_COMM_WORLD, n_ranks);
        messages(again, me, n);
        collectives(half, n);
    }
    MPI_Comm_free(&again);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
