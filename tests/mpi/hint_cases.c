/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Delays drawn afresh before each reduce, announced by clv_hint_arrival, by reports of progress
 * from several threads (--progress), or (with --silent) not. Checks every result; rank 0 prints how
 * many of its hints were taken, and what a report of progress costs. The shell test reads from
 * coll_clv_print=forecast how good the predictions were.
 */
#include "clv.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N_CALLS    16
#define N_ELEMENTS 16384
#define MAX_MS     60

static void work(long long ns)
{
    struct timespec nap = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    (void) nanosleep(&nap, NULL);
}

/* ---- progress: the work is a row of steps, which threads take by turns ---- */

#define N_STEPS   120
#define N_THREADS 3

typedef struct row {
    pthread_mutex_t lock;
    int next, n_reported;
    long long ns; /* of the whole */
} row_t;

/* Uneven: a step takes between a half and one and a half of the mean. */
static void *take_steps(void *context)
{
    row_t *row = context;

    for (;;) {
        pthread_mutex_lock(&row->lock);
        const int step = row->next++;
        pthread_mutex_unlock(&row->lock);
        if (step >= N_STEPS) {
            return NULL;
        }
        const int is_reported = clv_hint_progress(MPI_COMM_WORLD, step, N_STEPS);
        __atomic_add_fetch(&row->n_reported, is_reported, __ATOMIC_RELAXED);
        work(row->ns * N_THREADS / N_STEPS * (5 + 10 * (step % 2)) / 10);
    }
}

static int work_in_steps(long long ns)
{
    row_t row = {.lock = PTHREAD_MUTEX_INITIALIZER, .ns = ns};
    pthread_t threads[N_THREADS];

    for (int i = 0; i < N_THREADS; i++) {
        if (pthread_create(&threads[i], NULL, take_steps, &row) != 0) {
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    for (int i = 0; i < N_THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    return row.n_reported;
}

#define N_REPORTS 1000000

static void print_cost(void)
{
    const double started = MPI_Wtime();
    int n_reported = 0;

    for (int i = 0; i < N_REPORTS; i++) {
        n_reported += clv_hint_progress(MPI_COMM_WORLD, i, N_REPORTS);
    }
    printf("hint_cases: a report takes %.1f ns, %d told\n",
           1e9 * (MPI_Wtime() - started) / N_REPORTS, n_reported);
}

static int wrong(const double *sums, int n_ranks)
{
    for (int i = 0; i < N_ELEMENTS; i++) {
        if (sums[i] != n_ranks * (n_ranks - 1) / 2.0 + (double) n_ranks * i) {
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    static double mine[N_ELEMENTS], sums[N_ELEMENTS];
    const int silent = argc > 1 && strcmp(argv[1], "--silent") == 0;
    const int in_steps = argc > 1 && strcmp(argv[1], "--progress") == 0;
    int rank, n_ranks, n_taken = 0, n_wrong = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    srand((unsigned) (7 + 31 * rank));
    for (int i = 0; i < N_ELEMENTS; i++) {
        mine[i] = rank + i;
    }
    for (int call = 0; call < N_CALLS; call++) {
        long long ns = (long long) (rand() % MAX_MS + 20) * 1000000;
        n_taken += silent || in_steps ? 0 : clv_hint_arrival(MPI_COMM_WORLD, ns);
        if (in_steps) {
            n_taken += work_in_steps(ns);
        } else {
            work(ns);
        }
        MPI_Reduce(mine, sums, N_ELEMENTS, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        n_wrong += rank == 0 && wrong(sums, n_ranks);
    }
    if (rank == 0) {
        print_cost();
        printf("hint_cases: %d of %d hints taken, %d wrong results\n", n_taken, N_CALLS, n_wrong);
    }
    MPI_Finalize();
    return n_wrong;
}
