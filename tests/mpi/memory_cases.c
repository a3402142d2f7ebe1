/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How much a process grows while a collective runs: what clv takes for it, and what lies in a rank
 * that is late because others have sent ahead.
 *
 *   memory_cases reduce|allreduce|bcast BYTES CALLS [LATE_SECONDS]
 *
 * The rank that waits for others' data, the root of a reduce, else the last one, comes so late to
 * the first call; meanwhile it takes in what the network brings. Buffers were touched before. Rank
 * 0 prints "memory: grown_kib=MOST late_kib=OF THE LATE ONE wrong=W".
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static int rank, size;

static void call(const char *collective, double *numbers, int count)
{
    if (strcmp(collective, "reduce") == 0) {
        MPI_Reduce(rank == 0 ? MPI_IN_PLACE : numbers, numbers, count, MPI_DOUBLE, MPI_MAX, 0,
                   MPI_COMM_WORLD);
    } else if (strcmp(collective, "allreduce") == 0) {
        MPI_Allreduce(MPI_IN_PLACE, numbers, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    } else {
        MPI_Bcast(numbers, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
}

static long most_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static void be_late(double seconds)
{
    const double end = MPI_Wtime() + seconds;
    int found;

    while (MPI_Wtime() < end) {
        MPI_Iprobe(0, 1, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
    }
}

/* Every call has the same result: the largest number of all, or the root's. */
static int is_wrong(const char *collective, const double *numbers, int count, int calls)
{
    const double expected = strcmp(collective, "bcast") == 0 ? 1 : size;

    for (int i = 0; i < count; i++) {
        if (calls > 0 && numbers[i] != expected) {
            return strcmp(collective, "reduce") != 0 || rank == 0;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 4) {
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 2;
    }
    const int count = atoi(argv[2]) / (int) sizeof(double), calls = atoi(argv[3]);
    const int late = strcmp(argv[1], "reduce") == 0 ? 0 : size - 1;
    double *numbers = malloc((size_t) count * sizeof *numbers), small[8192] = {0};
    long grown[3];

    for (int i = 0; i < count; i++) {
        numbers[i] = rank + 1;
    }
    call(argv[1], small, 8192); /* sets the communicator up */
    MPI_Barrier(MPI_COMM_WORLD);
    grown[0] = -most_kib();
    if (rank == late && argc > 4) {
        be_late(atof(argv[4]));
    }
    for (int k = 0; k < calls; k++) {
        call(argv[1], numbers, count);
    }
    grown[0] += most_kib();
    grown[1] = rank == late ? grown[0] : 0;
    grown[2] = is_wrong(argv[1], numbers, count, calls);
    MPI_Allreduce(MPI_IN_PLACE, grown, 3, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("memory: grown_kib=%ld late_kib=%ld wrong=%ld\n", grown[0], grown[1], grown[2]);
    }
    free(numbers);
    MPI_Finalize();
    return grown[2] != 0;
}
