/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What reduce_cases tests: MPI_Reduce, by whatever component was chosen.
 */
#include "tests/mpi/reduce_check.h"

const int rc_bears_odd_types = 0;

int rc_reduce(const void *sbuf, void *rbuf, int count, MPI_Datatype type, MPI_Op op, int root,
              MPI_Comm comm)
{
    return MPI_Reduce(sbuf, rbuf, count, type, op, root, comm);
}

void rc_end_thread(void) {}
