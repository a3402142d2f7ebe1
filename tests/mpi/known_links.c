/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Communicators one after the other over the same processes: how many of them measured what their
 * links cost (coll_clv_calibrations), on all ranks alike. Four ranks; every sum is checked.
 *
 *   known_links: first 1
 *   known_links: duplicate 0                  the same processes in the same order
 *   known_links: longer vector 1              the stream is longer for those
 *   known_links: turned 1                     the last rank first
 *   known_links: turned again 0
 *   known_links: after many others 1          of the first three ranks, who forget; the last knows
 *   known_links: right
 *
 * known_links BYTES CALLS LIVES: how long so many communicators live that are made, used for so
 * many reduces and freed; on any number of ranks, with any components:
 *
 *   known_links: a life of 1 reduces of 65536 bytes: 5.07 ms (4.90 to 5.26)   median and quartiles
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/mpi/pvar_look.h"

enum { N_NUMBERS = 20000, N_LONG = 700000, N_RANKS = 4, ROOT = 0, MAX_LIVES = 1000 };

static double own[N_LONG], sum[N_LONG];
static pvar_look_t calibrations;
static int world_rank, n_wrong;

static void reduce(MPI_Comm comm, int count)
{
    int rank, n_ranks;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n_ranks);
    for (int i = 0; i < count; i++) {
        own[i] = rank + i;
    }
    MPI_Reduce(own, sum, count, MPI_DOUBLE, MPI_SUM, ROOT, comm);
    for (int i = 0; rank == ROOT && i < count; i++) {
        n_wrong += sum[i] != n_ranks * (n_ranks - 1) / 2.0 + (double) n_ranks * i;
    }
}

/* A communicator's life; frees it. */
static void use(MPI_Comm comm, const char *name, int count)
{
    const long long before = pvar_look_read(&calibrations, -1000);
    long long more, least, most;

    reduce(comm, count);
    more = pvar_look_read(&calibrations, -1000) - before;
    MPI_Allreduce(&more, &least, 1, MPI_LONG_LONG, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&more, &most, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    if (world_rank == 0) {
        printf(least == most ? "known_links: %s %lld\n" : "known_links: %s %lld to %lld\n", name,
               least, most);
    }
    MPI_Comm_free(&comm);
}

static MPI_Comm duplicate(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    return comm;
}

static MPI_Comm turned(void)
{
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comm);
    return comm;
}

/* keys: by rank; negative: not in it. */
static void use_others(const int keys[N_RANKS])
{
    MPI_Comm comm;

    MPI_Comm_split(MPI_COMM_WORLD, keys[world_rank] < 0 ? MPI_UNDEFINED : 0, keys[world_rank],
                   &comm);
    if (comm != MPI_COMM_NULL) {
        reduce(comm, N_NUMBERS);
        MPI_Comm_free(&comm);
    }
}

/* Of two and of three of the first ranks, in every order: each is in ten of them. */
static void many_others(void)
{
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            int keys[N_RANKS] = {-1, -1, -1, -1};
            if (a != b) {
                keys[a] = 0;
                keys[b] = 1;
                use_others(keys);
                keys[3 - a - b] = 2;
                use_others(keys);
            }
        }
    }
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

/* On the rank that takes longest. */
static double live_ms(int n_bytes, int n_calls)
{
    double begin_s, mine_ms, most_ms;
    MPI_Comm comm;

    MPI_Barrier(MPI_COMM_WORLD);
    begin_s = MPI_Wtime();
    comm = duplicate();
    for (int call = 0; call < n_calls; call++) {
        MPI_Reduce(own, sum, n_bytes / (int) sizeof *own, MPI_DOUBLE, MPI_SUM, ROOT, comm);
    }
    MPI_Comm_free(&comm);
    mine_ms = 1e3 * (MPI_Wtime() - begin_s);
    MPI_Allreduce(&mine_ms, &most_ms, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most_ms;
}

static void time_lives(int n_bytes, int n_calls, int n_lives)
{
    double lived_ms[MAX_LIVES];

    for (int life = 0; life < n_lives; life++) {
        lived_ms[life] = live_ms(n_bytes, n_calls);
    }
    qsort(lived_ms, (size_t) n_lives, sizeof *lived_ms, by_size);
    if (world_rank == 0) {
        printf("known_links: a life of %d reduces of %d bytes: %.2f ms (%.2f to %.2f)\n", n_calls,
               n_bytes, lived_ms[n_lives / 2], lived_ms[n_lives / 4], lived_ms[3 * n_lives / 4]);
    }
}

static int within(const char *word, int most)
{
    const int number = atoi(word);
    return number < 1 || number > most ? most : number;
}

int main(int argc, char **argv)
{
    int all_wrong = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    if (argc == 4) {
        time_lives(within(argv[1], (int) sizeof own), within(argv[2], 1000),
                   within(argv[3], MAX_LIVES));
        MPI_Finalize();
        return 0;
    }
    if (!pvar_look_open(&calibrations, "coll_clv_calibrations")) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    use(duplicate(), "first", N_NUMBERS);
    use(duplicate(), "duplicate", N_NUMBERS);
    use(duplicate(), "longer vector", N_LONG);
    use(turned(), "turned", N_NUMBERS);
    use(turned(), "turned again", N_NUMBERS);
    many_others();
    use(duplicate(), "after many others", N_NUMBERS);
    MPI_Allreduce(&n_wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (world_rank == 0 && all_wrong == 0) {
        printf("known_links: right\n");
    }
    pvar_look_close(&calibrations);
    MPI_Finalize();
    return all_wrong > 0;
}
