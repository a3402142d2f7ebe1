/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether an allreduce gives the same bits in each call and on each rank: the same random numbers
 * of two magnitudes are summed CALLS times, with other ranks late each time, and one far later for
 * a quarter of the calls, then another: that is what predictions follow on a busy machine, too.
 * Usage: allreduce_bits [CALLS [SEED [integers]]]. SEED: who is late; integers: after each of them
 * one of integers, whose order is free. Rank 0 prints the hash of the first result, how many
 * different ones there were, and how many communicators lost the channel.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/mpi/pvar_look.h"

enum { N_NUMBERS = 65536, MAX_CALLS = 1000 };

static uint64_t draw(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t hash_of(const void *bytes, size_t n_bytes)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < n_bytes; i++) {
        hash = (hash ^ ((const unsigned char *) bytes)[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static void draw_numbers(float *numbers, uint64_t state)
{
    for (int i = 0; i < N_NUMBERS; i++) {
        const float part = (float) (draw(&state) % 1000003) / 1000003.0F;
        numbers[i] = draw(&state) % 2 == 0 ? part : 1e5F * part;
    }
}

static void be_late(uint64_t *state, int rank, int size, int straggler)
{
    long late_ns = rank == straggler ? 15000000 : 0;

    for (int p = 0; p < size; p++) {
        const long some_ns = (long) (draw(state) % 3000000);
        if (draw(state) % 2 == 0 && p == rank) {
            late_ns += some_ns;
        }
    }
    const struct timespec time = {.tv_nsec = late_ns};
    nanosleep(&time, NULL);
}

static void add_integers(void)
{
    static int own[N_NUMBERS], sum[N_NUMBERS];
    MPI_Allreduce(own, sum, N_NUMBERS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* 1 when all ranks have the same. */
static int is_equal(uint64_t hash)
{
    uint64_t least = 0, most = 0;
    MPI_Reduce(&hash, &least, 1, MPI_UINT64_T, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(&hash, &most, 1, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    return least == most;
}

int main(int argc, char **argv)
{
    static float own[N_NUMBERS], sum[N_NUMBERS];
    static uint64_t seen[MAX_CALLS];
    const int n_calls = argc > 1 ? atoi(argv[1]) : 60;
    uint64_t lateness = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    int rank, size, n_seen = 0, n_unequal = 0;
    pvar_look_t lost;

    MPI_Init(&argc, &argv);
    pvar_look_open(&lost, "coll_clv_exchange_lost_groups");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    draw_numbers(own, 1000 + (uint64_t) rank);
    for (int k = 0; k < n_calls && k < MAX_CALLS; k++) {
        be_late(&lateness, rank, size, (4 * k / n_calls + 1) % size);
        MPI_Allreduce(own, sum, N_NUMBERS, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        const uint64_t hash = hash_of(sum, sizeof sum);
        int known = 0;
        for (int i = 0; i < n_seen; i++) {
            known |= seen[i] == hash;
        }
        if (!known) {
            seen[n_seen++] = hash;
        }
        n_unequal += !is_equal(hash) && rank == 0;
        if (k == n_calls / 10 && rank == 0) {
            printf("# under way\n");
            fflush(stdout);
        }
        if (argc > 3) {
            add_integers();
        }
    }
    if (rank == 0) {
        printf("# first %016llx, different %d, unequal on ranks %d, lost %lld\n",
               (unsigned long long) seen[0], n_seen, n_unequal, pvar_look_read(&lost, 0));
    }
    pvar_look_close(&lost);
    MPI_Finalize();
    return 0;
}
