/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A call that waits, and what the performance variables say of it meanwhile, read by a second
 * thread of the rank that waits, as a tool would:
 *   stall: for=2 receives=8 receive_rank=2 receive_segment=0 sends=0 ... ns_ok=1
 * and after the call "stall: after for=0".
 *
 *   stall SECONDS receive    rank 2 comes late to a reduce; rank 0, the root, looks
 *   stall SECONDS send       rank 1 comes late to a broadcast; rank 0, the root, looks
 *   stall SECONDS forecast   rank 0 is stopped while others broadcast on; rank 2, the root, looks
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/mpi/pvar_look.h"

enum { N_NUMBERS = 16384, N_FEW = 1024, N_LEARNT = 100, N_MORE = 400 };

static const char *const names[] = {"for_what",        "receives", "receive_rank",
                                    "receive_segment", "sends",    "send_rank",
                                    "send_segment",    "forecast", "steps"};
#define N_NAMES (sizeof names / sizeof *names)

typedef struct looks {
    pvar_look_t at[N_NAMES], ns;
    double seconds;
} looks_t;

static int rank;

static void sleep_for(double seconds)
{
    usleep((useconds_t) (seconds * 1e6));
}

/* In the middle of the wait; later where the rank itself came late to it. */
static void *look(void *argument)
{
    const looks_t *looks = argument;
    const long long least_ns = (long long) (looks->seconds * 250000000);
    char line[400];
    int used = 0;

    sleep_for(looks->seconds / 2);
    for (int i = 0; i < 8 && pvar_look_read(&looks->ns, -1) <= least_ns; i++) {
        sleep_for(looks->seconds / 20);
    }
    for (size_t i = 0; i < N_NAMES; i++) {
        used += snprintf(line + used, sizeof line - (size_t) used, " %s=%lld",
                         strcmp(names[i], "for_what") == 0 ? "for" : names[i],
                         pvar_look_read(&looks->at[i], -1));
    }
    printf("stall:%s ns_ok=%d\n", line, pvar_look_read(&looks->ns, -1) > least_ns);
    return NULL;
}

static void reduce(int root)
{
    static double own[N_NUMBERS], sum[N_NUMBERS];
    MPI_Reduce(own, sum, N_NUMBERS, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
}

static void bcast(int root)
{
    static double numbers[N_NUMBERS];
    MPI_Bcast(numbers, N_NUMBERS, MPI_DOUBLE, root, MPI_COMM_WORLD);
}

/* So few that its root may be many calls ahead. */
static void short_bcast(int root)
{
    static double numbers[N_FEW];
    MPI_Bcast(numbers, N_FEW, MPI_DOUBLE, root, MPI_COMM_WORLD);
}

/* All of the process, as under a debugger; a child lets it go on. */
static void be_stopped(double seconds)
{
    const pid_t me = getpid();

    if (fork() == 0) {
        sleep_for(seconds);
        kill(me, SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
}

static void wait_in_receive(double seconds)
{
    sleep_for(rank == 2 ? seconds : 0);
    reduce(0);
}

static void wait_in_send(double seconds)
{
    sleep_for(rank == 1 ? seconds : 0);
    bcast(0);
}

static void wait_in_forecast(double seconds)
{
    if (rank == 0) {
        be_stopped(seconds);
    }
    for (int i = 0; i < N_MORE; i++) {
        short_bcast(2);
    }
}

static const struct {
    const char *word;
    int looker;
    void (*call)(int root);
    int n_before; /* calls that set the communicator up */
    void (*wait)(double seconds);
} kinds[] = {{"receive", 0, reduce, 1, wait_in_receive},
             {"send", 0, bcast, 1, wait_in_send},
             {"forecast", 2, short_bcast, N_LEARNT, wait_in_forecast}};

static void open_all(looks_t *looks)
{
    char name[64];

    for (size_t i = 0; i < N_NAMES; i++) {
        snprintf(name, sizeof name, "coll_clv_wait_%s", names[i]);
        pvar_look_open(&looks->at[i], name);
    }
    pvar_look_open(&looks->ns, "coll_clv_wait_ns");
}

static void close_all(looks_t *looks)
{
    pvar_look_close(&looks->ns);
    for (size_t i = 0; i < N_NAMES; i++) {
        pvar_look_close(&looks->at[i]);
    }
}

static void run(looks_t *looks, size_t kind)
{
    pthread_t thread;
    const int root = strcmp(kinds[kind].word, "forecast") == 0 ? 2 : 0;
    const int looks_on = rank == kinds[kind].looker;

    for (int i = 0; i < kinds[kind].n_before; i++) {
        kinds[kind].call(root);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (looks_on) {
        pthread_create(&thread, NULL, look, looks);
    }
    kinds[kind].wait(looks->seconds);
    if (looks_on) {
        pthread_join(thread, NULL);
        printf("stall: after for=%lld\n", pvar_look_read(&looks->at[0], -1));
    }
}

int main(int argc, char **argv)
{
    looks_t looks = {.seconds = argc > 1 ? atof(argv[1]) : 2};
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    open_all(&looks);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (argc > 2 && strcmp(argv[2], kinds[i].word) == 0) {
            run(&looks, i);
        }
    }
    close_all(&looks);
    MPI_Finalize();
    return 0;
}
