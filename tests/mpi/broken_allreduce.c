/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An MPI_Allreduce that loses a little of one sum of doubles, on all ranks alike: what the k-means
 * example must notice.
 */
#include <mpi.h>

int MPI_Allreduce(const void *sbuf, void *rbuf, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    const int status = PMPI_Allreduce(sbuf, rbuf, count, type, op, comm);

    if (status == MPI_SUCCESS && type == MPI_DOUBLE && op == MPI_SUM && count > 1) {
        ((double *) rbuf)[count / 2] *= 0.75;
    }
    return status;
}
