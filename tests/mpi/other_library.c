/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that takes itself for Open MPI: the version comes from CLV_TEST_LIBRARY, so that the
 * component is loaded by a library other than the one it was built for, as far as it can tell.
 * Prints whether a sum is right, and whether the component is there.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/mpi/pvar_look.h"

/* Open MPI's: found before that of the library, also by what is loaded later. */
char ompi_version_string[64] = "none";

int main(int argc, char **argv)
{
    const char *said = getenv("CLV_TEST_LIBRARY");
    int rank, n_ranks, sum = 0;
    pvar_look_t calls;

    if (said != NULL) {
        (void) snprintf(ompi_version_string, sizeof ompi_version_string, "%s", said);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    pvar_look_open(&calls, "coll_clv_calls");
    MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("sum %s, component %s\n", n_ranks * (n_ranks - 1) / 2 == sum ? "right" : "WRONG",
               pvar_look_read(&calls, 0) > 0 ? "used" : "not used");
    }
    pvar_look_close(&calls);
    MPI_Finalize();
    return 0;
}
