/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A reduce that loses one count: linked before MPI it shows that the example's self-check can fail.
 * Wrong from the fourth call on, on the last item of a vector of doubles, at the root only.
 */
#include <mpi.h>

int MPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
               int root, MPI_Comm comm)
{
    static int n_calls = 0;
    int rank = 0;
    const int status = PMPI_Reduce(sendbuf, recvbuf, count, datatype, op, root, comm);
    PMPI_Comm_rank(comm, &rank);
    n_calls++;
    if (n_calls == 4 && rank == root && datatype == MPI_DOUBLE) {
        ((double *) recvbuf)[count - 1] -= 1.0;
    }
    return status;
}
