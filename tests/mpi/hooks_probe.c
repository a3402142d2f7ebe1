/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether MPI_Init rewrites munmap, as memory hooks do: prints "munmap: as it was" or "munmap:
 * rewritten".
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
    unsigned char before[16];
    int rank, is_same;

    memcpy(before, (const void *) (size_t) munmap, sizeof before);
    MPI_Init(&argc, &argv);
    is_same = memcmp(before, (const void *) (size_t) munmap, sizeof before) == 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        printf("munmap: %s\n", is_same ? "as it was" : "rewritten");
    }
    MPI_Finalize();
    return 0;
}
