/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How much travels from one rank to another that has not come yet: the parameter --early-kib of
 * clv-view. Rank 0 sends 64 MiB in eager messages of 32 KiB to rank 1, which sleeps for two seconds
 * and then receives; and a vector of 2 MiB to a receiver that is there.
 *
 *      released  what rank 0 had handed over when rank 1 woke up
 *      flight    of the vector, what was on its way when its sender left, at the rate of the wire
 *      take      what rank 1 took of the first of what lay there, per byte
 *
 * usage: mpirun -n 2 early_probe [ROUNDS [MBIT]]     5, 400; prints a line per round, then medians
 *
 * Times are CLOCK_REALTIME, which both ranks must have in common.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MESSAGE 32768
#define N       2048
#define VECTOR  (2 << 20)
#define WARM    256
#define TAKEN   32 /* messages that surely lay there */
#define MOST    101
#define SLEEP_S 2

static char bytes[VECTOR];

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (double) time.tv_sec + (double) time.tv_nsec / 1e9;
}

static void stream(int rank, int n, double *at)
{
    for (int i = 0; i < n; i++) {
        if (rank == 0) {
            MPI_Send(bytes, MESSAGE, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        } else {
            MPI_Recv(bytes, MESSAGE, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        at[i] = now();
    }
}

/* What the other rank measured. */
static void exchange(int rank, double *mine, double *others, int n)
{
    MPI_Sendrecv(mine, n, MPI_DOUBLE, 1 - rank, 2, others, n, MPI_DOUBLE, 1 - rank, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *) a, y = *(const double *) b;
    return x < y ? -1 : x > y;
}

static double median(double *numbers, int n)
{
    qsort(numbers, (size_t) n, sizeof *numbers, compare);
    return numbers[n / 2];
}

static void measure_early(int rank, double *released_kib, double *take_ps)
{
    static double mine[N + 1], others[N + 1];
    int n = 0;

    stream(rank, WARM, mine);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        nanosleep(&(struct timespec){.tv_sec = SLEEP_S}, NULL);
    }
    mine[N] = now(); /* rank 1 woke up */
    stream(rank, N, mine);
    exchange(rank, mine, others, N + 1);
    const double *sent = rank == 0 ? mine : others, *received = rank == 0 ? others : mine;
    while (n < N && sent[n] < received[N]) {
        n++;
    }
    *released_kib = (double) n * MESSAGE / 1024;
    *take_ps = (received[TAKEN] - received[0]) / TAKEN / MESSAGE * 1e12;
}

static double measure_in_flight_kib(int rank, double mbit)
{
    double mine, other;

    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL); /* the receiver is there */
        MPI_Send(bytes, VECTOR, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
    } else {
        MPI_Recv(bytes, VECTOR, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    mine = now();
    exchange(rank, &mine, &other, 1);
    return (rank == 0 ? other - mine : mine - other) * mbit * 1e6 / 8 / 1024;
}

int main(int argc, char **argv)
{
    const int n_rounds = argc > 1 ? atoi(argv[1]) : 5;
    const double mbit = argc > 2 ? atof(argv[2]) : 400;
    double released[MOST], in_flight[MOST], take[MOST];
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2 || n_rounds < 1 || n_rounds > MOST) {
        if (rank == 0) {
            fprintf(stderr, "early_probe: two ranks, 1 to %d rounds\n", MOST);
        }
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int i = 0; i < n_rounds; i++) {
        measure_early(rank, &released[i], &take[i]);
        in_flight[i] = measure_in_flight_kib(rank, mbit);
        if (rank == 0) {
            printf("# round %d: released %.0f KiB, flight %.0f KiB, taken at %.0f ps a byte\n", i,
                   released[i], in_flight[i], take[i]);
        }
    }
    if (rank == 0) {
        printf("released_kib %.0f flight_kib %.0f take_ps %.0f\n", median(released, n_rounds),
               median(in_flight, n_rounds), median(take, n_rounds));
    }
    MPI_Finalize();
    return 0;
}
