/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Useful work while waiting: each rank in turn has more to do before an MPI_Allreduce, so all
 * others wait there. Each rank also has side work in every iteration (statistics, output, ...).
 * While the main thread waits, a helper thread does as many pieces of it as fit into the wait given
 * by clv_expected_wait_ns. The main thread does the rest afterwards, before its own work.
 *
 *      main    own work | allreduce ........ waits ......... | own work
 *      helper           |  piece piece piece piece           |
 *
 * usage: lend ITERATIONS MORE_MS SIDE_MS [alone]     alone: without the helper
 *
 * Written as by a user: MPI, threads and clv.h. Work is a sleep, as if each rank had its own core.
 * Rank 0 prints "iteration_ms=N lent=N check=ok": the mean iteration of the second half, and how
 * many of a hundred pieces the helper did.
 */
#include "clv.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PIECE_NS 200000

typedef struct side_work {
    pthread_mutex_t lock; /* held while a piece is processed */
    pthread_cond_t begins;
    int n_left, n_lent, n_done; /* pieces */
    int is_waiting;             /* the main thread, in the allreduce */
    int ends;
} side_work_t;

static side_work_t side = {.lock = PTHREAD_MUTEX_INITIALIZER, .begins = PTHREAD_COND_INITIALIZER};

static void work_ns(long ns)
{
    const struct timespec time = {ns / 1000000000, ns % 1000000000};
    (void) nanosleep(&time, NULL);
}

static void do_piece(void)
{
    work_ns(PIECE_NS);
    side.n_left--;
    side.n_done++;
}

/* Holds the lock except for moments without work. */
static void *help(void *nothing)
{
    pthread_mutex_lock(&side.lock);
    while (!side.ends) {
        if (!side.is_waiting || side.n_left == 0) {
            pthread_cond_wait(&side.begins, &side.lock);
        } else if (clv_expected_wait_ns(MPI_COMM_WORLD) > PIECE_NS) {
            do_piece();
            side.n_lent++;
            pthread_mutex_unlock(&side.lock); /* the main thread may want to continue */
            pthread_mutex_lock(&side.lock);
        } else {
            pthread_mutex_unlock(&side.lock);
            work_ns(PIECE_NS);
            pthread_mutex_lock(&side.lock);
        }
    }
    pthread_mutex_unlock(&side.lock);
    return nothing;
}

static void set_waiting(int is_waiting)
{
    pthread_mutex_lock(&side.lock);
    side.is_waiting = is_waiting;
    pthread_cond_signal(&side.begins);
    pthread_mutex_unlock(&side.lock);
}

/* Does the remaining pieces. */
static void finish_side_work(void)
{
    pthread_mutex_lock(&side.lock);
    while (side.n_left > 0) {
        do_piece();
    }
    pthread_mutex_unlock(&side.lock);
}

static int iterate(int iteration, int rank, int size, long more_ns, int n_pieces)
{
    int sum = 0;

    if (rank == iteration % size) {
        work_ns(more_ns);
    }
    pthread_mutex_lock(&side.lock);
    side.n_left = n_pieces;
    pthread_mutex_unlock(&side.lock);
    set_waiting(1);
    MPI_Allreduce(&iteration, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    set_waiting(0);
    finish_side_work();
    return sum == iteration * size;
}

static double run(int iterations, long more_ns, int n_pieces, int *is_right)
{
    int rank, size;
    const int n_before = iterations / 2, n_counted = iterations - n_before;
    double begun = 0;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < iterations; i++) {
        begun = i == n_before ? MPI_Wtime() : begun;
        *is_right &= iterate(i, rank, size, more_ns, n_pieces);
    }
    return (MPI_Wtime() - begun) / n_counted * 1e3;
}

static void tell(int iterations, int n_pieces, double iteration_ms, int is_right)
{
    const int mine[2] = {side.n_lent, is_right && side.n_done == iterations * n_pieces};
    int lent = 0, all_right = 0, rank, size;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Reduce(&mine[0], &lent, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&mine[1], &all_right, 1, MPI_INT, MPI_LAND, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("iteration_ms=%.3f lent=%d check=%s\n", iteration_ms,
               n_pieces == 0 ? 0
                             : (int) (100LL * lent / ((long long) size * iterations * n_pieces)),
               all_right ? "ok" : "failed");
    }
}

int main(int n_arguments, char **arguments)
{
    const int iterations = n_arguments > 1 ? atoi(arguments[1]) : 100;
    const long more_ns = 1000000L * (n_arguments > 2 ? atoi(arguments[2]) : 10);
    const int n_pieces = 1000000 * (n_arguments > 3 ? atoi(arguments[3]) : 5) / PIECE_NS;
    const int is_alone = n_arguments > 4 && strcmp(arguments[4], "alone") == 0;
    int level, is_right = 1;
    pthread_t helper;
    double iteration_ms;

    MPI_Init_thread(&n_arguments, &arguments, MPI_THREAD_FUNNELED, &level);
    if (!is_alone && pthread_create(&helper, NULL, help, NULL) != 0) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    iteration_ms = run(iterations, more_ns, n_pieces, &is_right);
    if (!is_alone) {
        pthread_mutex_lock(&side.lock);
        side.ends = 1;
        pthread_cond_signal(&side.begins);
        pthread_mutex_unlock(&side.lock);
        (void) pthread_join(helper, NULL);
    }
    tell(iterations, n_pieces, iteration_ms, is_right);
    MPI_Finalize();
    return 0;
}
