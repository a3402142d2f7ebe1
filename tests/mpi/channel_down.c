/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reduces for SECONDS, counted from its 300th call, while somebody takes the network of the
 * background channel away. Every sum is checked. Of each call: how long the longest rank was in it
 * after the last had entered; the worst of that, and of the calls in the last fifth how many had a
 * forecast on rank 0; the longest MPI_Comm_free at the end:
 *
 *   channel_down: calls=9123 wrong=0 worst_ms=12 away=0 forecasts=8100 late_forecasts=0 free_ms=0
 *
 *   channel_down SECONDS [coupled|free|split|root3]
 *
 * After 300 calls it says "under way", and which process rank 0 is. A rank that is sent SIGUSR1
 * stays away for 3 s before its next call, busy with something else (away: how many did).
 *
 * coupled: all ranks leave a call before one enters the next. free: they run ahead of each other;
 * then a call counts from its rank's own entry. split: free, on a communicator that is freed and
 * made anew each 20 calls. root3: free, and rank 3 is the root of all calls, else each in turn,
 * with vectors of 1 KiB instead of 64, so that what others send ahead to it finds room in the
 * sockets. The ranks' CLOCK_REALTIME is one clock here.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/mpi/pvar_look.h"

enum { N_NUMBERS = 16384, N_FEW = 256, UNDER_WAY = 300, AWAY_S = 3 };

static volatile sig_atomic_t is_called_away;

static void call_away(int signal)
{
    (void) signal;
    is_called_away = 1;
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

typedef struct job {
    MPI_Comm comm;
    int rank, n_ranks, is_coupled, does_split, has_one_root, away;
    unsigned seed;
    long long calls, wrong;
    double worst_s, begin_s; /* begin_s: when it was under way */
} job_t;

static void work(job_t *job)
{
    const double end_s = now_s() + (is_called_away ? AWAY_S : 0);
    while (now_s() < end_s) {
        usleep(10000);
    }
    job->away += is_called_away;
    is_called_away = 0;
    usleep((useconds_t) (1500 + rand_r(&job->seed) % 4000));
}

static void tell_under_way(job_t *job)
{
    job->begin_s = now_s();
    if (job->rank == 0) {
        printf("under way, rank 0 is process %d\n", (int) getpid());
        fflush(stdout);
    }
}

static void reduce(job_t *job)
{
    static int own[N_NUMBERS], sum[N_NUMBERS];
    const int root = job->has_one_root ? 3 : (int) (job->calls % job->n_ranks);
    const int n_numbers = job->has_one_root ? N_FEW : N_NUMBERS;
    for (int i = 0; i < n_numbers; i++) {
        own[i] = i + job->rank + (int) job->calls;
    }
    work(job);
    double enter_s = now_s();
    MPI_Reduce(own, sum, n_numbers, MPI_INT, MPI_SUM, root, job->comm);
    const double leave_s = now_s();
    for (int i = 0; job->rank == root && i < n_numbers; i++) {
        const int rest = job->n_ranks * (job->n_ranks - 1) / 2;
        job->wrong += sum[i] != job->n_ranks * (i + (int) job->calls) + rest;
    }
    job->calls++;
    if (job->calls == UNDER_WAY) {
        tell_under_way(job);
    }
    if (job->is_coupled) {
        MPI_Allreduce(MPI_IN_PLACE, &enter_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    job->worst_s = leave_s - enter_s > job->worst_s ? leave_s - enter_s : job->worst_s;
    if (job->does_split && job->calls % 20 == 0) {
        MPI_Comm_free(&job->comm);
        MPI_Comm_dup(MPI_COMM_WORLD, &job->comm);
    }
}

/* As rank 0 says, looked at each 50 calls so that it couples nobody more. */
static int goes_on(const job_t *job, double seconds)
{
    int goes = now_s() < job->begin_s + seconds;
    if (job->calls >= UNDER_WAY && job->calls % 50 == 0) {
        MPI_Bcast(&goes, 1, MPI_INT, 0, MPI_COMM_WORLD);
        return goes;
    }
    return 1;
}

static double longest_free(job_t *job)
{
    const double begin_s = now_s();
    MPI_Comm_free(&job->comm);
    const double took_s = now_s() - begin_s;
    double longest_s = took_s;
    MPI_Reduce(&took_s, &longest_s, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return longest_s;
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? atof(argv[1]) : 5;
    const char *how = argc > 2 ? argv[2] : "coupled";
    job_t job = {.is_coupled = strcmp(how, "coupled") == 0,
                 .does_split = strcmp(how, "split") == 0,
                 .has_one_root = strcmp(how, "root3") == 0};
    pvar_look_t forecasts;
    long long before_last = 0;
    signal(SIGUSR1, call_away);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.n_ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &job.comm);
    job.seed = (unsigned) job.rank;
    pvar_look_open(&forecasts, "coll_clv_exchange_forecasts");
    for (int fifths = 4; fifths <= 5; fifths++) {
        while (goes_on(&job, 0.2 * fifths * seconds)) {
            reduce(&job);
        }
        before_last = fifths == 4 ? pvar_look_read(&forecasts, 0) : before_last;
        reduce(&job); /* so that the next part asks at another call */
    }
    const long long all = pvar_look_read(&forecasts, 0);
    const double freed_s = longest_free(&job);
    MPI_Reduce(job.rank == 0 ? MPI_IN_PLACE : &job.worst_s, &job.worst_s, 1, MPI_DOUBLE, MPI_MAX, 0,
               MPI_COMM_WORLD);
    MPI_Reduce(job.rank == 0 ? MPI_IN_PLACE : &job.wrong, &job.wrong, 1, MPI_LONG_LONG, MPI_SUM, 0,
               MPI_COMM_WORLD);
    MPI_Reduce(job.rank == 0 ? MPI_IN_PLACE : &job.away, &job.away, 1, MPI_INT, MPI_SUM, 0,
               MPI_COMM_WORLD);
    if (job.rank == 0) {
        printf("channel_down: calls=%lld wrong=%lld worst_ms=%.0f away=%d forecasts=%lld "
               "late_forecasts=%lld free_ms=%.0f\n",
               job.calls, job.wrong, 1e3 * job.worst_s, job.away, all, all - before_last,
               1e3 * freed_s);
    }
    pvar_look_close(&forecasts);
    MPI_Finalize();
    return job.wrong != 0;
}
