/* SPDX-License-Identifier: BSD-3-Clause
 *
 * When communicators are set up (coll_clv_setup_bytes): in which call of each life links were
 * measured, and whether the process has got the background thread until then. Any number of ranks
 * from 3 on; every sum is checked, and all ranks must say the same.
 *
 *   setup_cases: life NAME set up in call N, T threads before and U behind it     N 0: never
 *   setup_cases: right
 *
 * usage: setup_cases NAME:BYTES,BYTES,...[:allreduce] ...     a life each: one call for each BYTES,
 * to another root each time; several lives separated by + instead of a space take turns.
 */
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/mpi/pvar_look.h"

enum { MAX_NUMBERS = 1 << 20, MAX_CALLS = 128, MAX_LIVES = 4, MISSING = -1000 };

typedef struct life {
    char name[32];
    int n_numbers[MAX_CALLS];
    int n_calls;
    int is_allreduce;
    int set_up_in, threads_before, threads_behind;
    MPI_Comm comm;
} life_t;

static double own[MAX_NUMBERS], sum[MAX_NUMBERS];
static pvar_look_t calibrations;
static int n_wrong;

static int count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int n = 0;

    for (struct dirent *entry; tasks != NULL && (entry = readdir(tasks)) != NULL;) {
        n += entry->d_name[0] != '.';
    }
    if (tasks != NULL) {
        closedir(tasks);
    }
    return n;
}

static int read_life(char *text, life_t *life)
{
    char *place = NULL, *calls;
    const char *name = strtok_r(text, ":", &place);

    *life = (life_t){.comm = MPI_COMM_NULL};
    calls = strtok_r(NULL, ":", &place);
    if (name == NULL || calls == NULL) {
        return 0;
    }
    (void) snprintf(life->name, sizeof life->name, "%s", name);
    life->is_allreduce = strtok_r(NULL, ":", &place) != NULL;
    for (char *word = strtok_r(calls, ",", &place); word != NULL && life->n_calls < MAX_CALLS;
         word = strtok_r(NULL, ",", &place)) {
        const int n_numbers = atoi(word) / (int) sizeof *own;
        life->n_numbers[life->n_calls++] = n_numbers < MAX_NUMBERS ? n_numbers : MAX_NUMBERS;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &life->comm);
    return 1;
}

static void reduce(const life_t *life, int call)
{
    const int count = life->n_numbers[call];
    int rank, n_ranks, root;

    MPI_Comm_rank(life->comm, &rank);
    MPI_Comm_size(life->comm, &n_ranks);
    root = call % n_ranks;
    for (int i = 0; i < count; i++) {
        own[i] = rank + i;
    }
    if (life->is_allreduce) {
        MPI_Allreduce(own, sum, count, MPI_DOUBLE, MPI_SUM, life->comm);
    } else {
        MPI_Reduce(own, sum, count, MPI_DOUBLE, MPI_SUM, root, life->comm);
    }
    for (int i = 0; (life->is_allreduce || rank == root) && i < count; i++) {
        const double right = n_ranks * (n_ranks - 1) / 2.0 + (double) n_ranks * i;
        n_wrong += sum[i] < right || sum[i] > right;
    }
}

static void live(life_t *life, int call)
{
    const long long before = pvar_look_read(&calibrations, MISSING);
    const int n_threads = count_threads();

    if (call >= life->n_calls) {
        return;
    }
    reduce(life, call);
    if (pvar_look_read(&calibrations, MISSING) > before) {
        life->set_up_in = call + 1;
        life->threads_before = n_threads;
        life->threads_behind = count_threads();
    }
}

static void tell(const life_t *life)
{
    int rank, least, most;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&life->set_up_in, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&life->set_up_in, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    n_wrong += least != most;
    if (rank == 0) {
        printf("setup_cases: life %s set up in call %d, %d threads before and %d behind it\n",
               life->name, least, life->threads_before, life->threads_behind);
    }
}

/* Lives of one word take turns, and end together. */
static void live_all(char *word)
{
    life_t lives[MAX_LIVES];
    int n_lives = 0;
    char *place = NULL;

    for (char *text = strtok_r(word, "+", &place); text != NULL && n_lives < MAX_LIVES;
         text = strtok_r(NULL, "+", &place)) {
        n_lives += read_life(text, &lives[n_lives]);
    }
    for (int call = 0; call < MAX_CALLS; call++) {
        for (int i = 0; i < n_lives; i++) {
            live(&lives[i], call);
        }
    }
    for (int i = 0; i < n_lives; i++) {
        tell(&lives[i]);
        MPI_Comm_free(&lives[i].comm);
    }
}

int main(int argc, char **argv)
{
    int rank, all_wrong = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!pvar_look_open(&calibrations, "coll_clv_calibrations")) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int i = 1; i < argc; i++) {
        live_all(argv[i]);
    }
    MPI_Allreduce(&n_wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && all_wrong == 0) {
        printf("setup_cases: right\n");
    }
    pvar_look_close(&calibrations);
    MPI_Finalize();
    return all_wrong > 0;
}
