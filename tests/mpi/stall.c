/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rank 2 comes SECONDS late to the second of two reduces. What the performance variables say
 * meanwhile is read by a second thread of rank 0, the root, which lacks what comes through rank 2:
 * "stall: for=2 receive_rank=2 ns_ok=1", and after the call "stall: after for=0".
 *
 *   stall SECONDS
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/mpi/pvar_look.h"

enum { N_NUMBERS = 16384 };

typedef struct looks {
    pvar_look_t what, whom, ns;
    double seconds;
} looks_t;

/* In the middle of the wait. */
static void *look(void *argument)
{
    const looks_t *looks = argument;

    usleep((useconds_t) (looks->seconds * 500000));
    printf("stall: for=%lld receive_rank=%lld ns_ok=%d\n", pvar_look_read(&looks->what, -1),
           pvar_look_read(&looks->whom, -1),
           pvar_look_read(&looks->ns, -1) > (long long) (looks->seconds * 250000000));
    return NULL;
}

static void reduce(void)
{
    static double own[N_NUMBERS], sum[N_NUMBERS];

    MPI_Reduce(own, sum, N_NUMBERS, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    looks_t looks = {.seconds = argc > 1 ? atof(argv[1]) : 2};
    pthread_t thread;
    int rank, provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pvar_look_open(&looks.what, "coll_clv_wait_for_what");
    pvar_look_open(&looks.whom, "coll_clv_wait_receive_rank");
    pvar_look_open(&looks.ns, "coll_clv_wait_ns");
    reduce(); /* sets the communicator up */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        pthread_create(&thread, NULL, look, &looks);
    }
    if (rank == 2) {
        usleep((useconds_t) (looks.seconds * 1000000));
    }
    reduce();
    if (rank == 0) {
        pthread_join(thread, NULL);
        printf("stall: after for=%lld\n", pvar_look_read(&looks.what, -1));
    }
    pvar_look_close(&looks.ns);
    pvar_look_close(&looks.whom);
    pvar_look_close(&looks.what);
    MPI_Finalize();
    return 0;
}
