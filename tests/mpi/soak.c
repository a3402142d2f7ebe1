/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Soak: collectives of all kinds mixed with reduces over random sub-communicators, for a time, each
 * result checked; and a watchdog that tells where everybody is when nothing moves.
 *
 * usage: soak SECONDS SEED [THREADS [STALL_SECONDS [MAX_COUNT [STAND_SECONDS [BREAK_SECONDS
 *             [PREEMPT_US]]]]]]
 *
 * What: each thread of each rank (all ranks the same number of them) has communicators of its own:
 * its duplicate of MPI_COMM_WORLD and parts of it, now and then made anew. From a seed that all
 * ranks share it draws the operation (soak_calls.c), communicator, root and count, and whether it
 * is nonblocking; from one of its own how late it comes.
 * The watchdog prints, for a rank whose operations do not move for STALL_SECONDS (120), what its
 * threads are in and what the component says of its executor, forecasts and channel, twice, so that
 * one sees what moves; then it ends the job with status 3; the script adds the stacks.
 * STAND_SECONDS: rank 1 stands still from then on, so that the watchdog has something to tell.
 * BREAK_SECONDS: rank 1 breaks a communicator then, so that it crashes. What is told of a crash:
 * soak.h. PREEMPT_US: threads stand still for up to so long, anywhere (soak.h).
 *
 * Exit: 0 with a line "soak: ... 0 wrong", 1 a wrong result, 3 a stall; a signal.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/mpi/pvar_look.h"
#include "tests/mpi/soak.h"

#define MAX_THREADS 8

/* Of a thread's own time, where it may be made to stand still. */
#define PREEMPT_EVERY_US 300

static int max_count = 1 << 18, stall_seconds = 120, stand_seconds, break_seconds;
static double begin_s, end_s;
static int n_threads = 1;
static soak_t soaks[MAX_THREADS];

static double now_s(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

static unsigned draw(unsigned long long *state, unsigned below)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned) (*state >> 33) % (below > 0 ? below : 1);
}

/* ---- a thread -------------------------------------------------------------------------------- */

static void free_comm(soak_t *soak, MPI_Comm *comm)
{
    const MPI_Comm which = *comm;

    soak->doing = "MPI_Comm_free";
    soak_crash_note(soak, SOAK_FREES, which);
    MPI_Comm_free(comm);
    soak_crash_note(soak, SOAK_FREED, which);
}

/* A part of the world: every rank draws every rank's colour, so that all know who is where. */
static void make_part(soak_t *soak, int which)
{
    int rank, n_ranks, colour = 0;
    const unsigned n_colours = 1 + draw(&soak->shared, 3);

    MPI_Comm_rank(soak->world, &rank);
    MPI_Comm_size(soak->world, &n_ranks);
    for (int other = 0; other < n_ranks; other++) {
        const int drawn = (int) draw(&soak->shared, n_colours);
        colour = other == rank ? drawn : colour;
    }
    if (soak->part[which] != MPI_COMM_NULL) {
        free_comm(soak, &soak->part[which]);
    }
    soak->doing = "MPI_Comm_split";
    soak_crash_note(soak, SOAK_MAKES, soak->world);
    MPI_Comm_split(soak->world, colour, draw(&soak->shared, 2) ? rank : -rank, &soak->part[which]);
    soak_crash_note(soak, SOAK_MADE, soak->part[which]);
}

/* Small ones often, some large, none now and then. */
static int draw_count(soak_t *soak)
{
    const unsigned kind = draw(&soak->shared, 10);
    const unsigned most = kind < 4 ? 64 : kind < 8 ? 16384 : (unsigned) max_count;

    return (int) draw(&soak->shared, most);
}

static void nap(soak_t *soak)
{
    struct timespec pause = {0, 0};

    if (draw(&soak->own, 4) == 0) {
        pause.tv_nsec = 1000L * draw(&soak->own, draw(&soak->own, 20) == 0 ? 30000 : 2000);
        (void) nanosleep(&pause, NULL);
    }
}

/* By weight. */
static const soak_operation_t *draw_operation(soak_t *soak)
{
    unsigned weights = 0, drawn;
    int which = 0;

    for (int i = 0; i < soak_n_operations; i++) {
        weights += (unsigned) soak_operations[i].weight;
    }
    drawn = draw(&soak->shared, weights);
    while (drawn >= (unsigned) soak_operations[which].weight) {
        drawn -= (unsigned) soak_operations[which++].weight;
    }
    return &soak_operations[which];
}

static void stand_still(int rank)
{
    while (stand_seconds > 0 && rank == 1 && now_s() - begin_s > stand_seconds) {
        (void) pause();
    }
}

static void break_one(const soak_t *soak, MPI_Comm comm)
{
    if (break_seconds > 0 && soak->rank == 1 && soak == &soaks[0] &&
        now_s() - begin_s > break_seconds) {
        soak_crash_break(comm);
    }
}

static soak_call_t draw_call(soak_t *soak, const soak_operation_t *operation)
{
    const unsigned which = draw(&soak->shared, SOAK_PARTS + 2);
    const unsigned root = draw(&soak->shared, 1 << 20);
    soak_call_t call = {.comm = which < SOAK_PARTS ? soak->part[which] : soak->world,
                        .is_open = draw(&soak->shared, 4) == 0};

    call.comm = operation->on_ring ? soak->ring : call.comm;
    call.count = draw_count(soak);
    MPI_Comm_rank(call.comm, &call.rank);
    MPI_Comm_size(call.comm, &call.n_ranks);
    call.root = (int) (root % (unsigned) call.n_ranks);
    soak->doing = operation->name;
    soak->doing_count = call.count;
    soak->doing_ranks = call.n_ranks;
    soak->doing_root = call.root;
    soak->doing_open = call.is_open;
    return call;
}

/* The same call ten to forty times, as an iterative program does it, so that plans are made. */
static void run_calls(soak_t *soak)
{
    const soak_operation_t *operation = draw_operation(soak);
    const int n_calls = 10 + (int) draw(&soak->shared, 31);
    soak_call_t call = draw_call(soak, operation);

    for (int i = 0; i < n_calls; i++) {
        nap(soak);
        stand_still(soak->rank);
        break_one(soak, call.comm);
        soak_fill(soak, call.rank, call.count);
        if (!operation->run(soak, &call)) {
            soak->n_wrong++;
            printf("soak: WRONG %s%s, %d items, %d ranks, root %d\n", soak->doing,
                   call.is_open ? ", nonblocking" : "", call.count, call.n_ranks, call.root);
        }
        soak->n_done++;
        (void) __atomic_fetch_add(&soak->step, 1, __ATOMIC_RELAXED);
    }
}

/* Rank 0 of the thread's world says whether there is time for another round. */
static int goes_on(soak_t *soak)
{
    int on = now_s() < end_s;

    soak->doing = "the end of a round";
    MPI_Bcast(&on, 1, MPI_INT, 0, soak->world);
    return on;
}

static void *run_thread(void *context)
{
    soak_t *soak = context;

    soak->self = pthread_self();
    soak_preempt_begin(soak->own);
    for (int which = 0; which < SOAK_PARTS; which++) {
        make_part(soak, which);
    }
    while (goes_on(soak)) {
        if (draw(&soak->shared, 8) == 0) {
            make_part(soak, (int) draw(&soak->shared, SOAK_PARTS));
        }
        run_calls(soak);
    }
    for (int which = 0; which < SOAK_PARTS; which++) {
        free_comm(soak, &soak->part[which]);
    }
    return NULL;
}

/* ---- the watchdog ---------------------------------------------------------------------------- */

static long long all_steps(void)
{
    long long steps = 0;

    for (int i = 0; i < n_threads; i++) {
        steps += __atomic_load_n(&soaks[i].step, __ATOMIC_RELAXED);
    }
    return steps;
}

/* Executor, forecasts and channel, as the component tells them; counters count from the start. */
static const char *const states[] = {
    "coll_clv_calls",
    "coll_clv_wait_for_what",
    "coll_clv_wait_ns",
    "coll_clv_wait_steps",
    "coll_clv_wait_receives",
    "coll_clv_wait_receive_rank",
    "coll_clv_wait_receive_segment",
    "coll_clv_wait_sends",
    "coll_clv_wait_send_rank",
    "coll_clv_wait_send_segment",
    "coll_clv_wait_forecast",
    "coll_clv_exchange_sampled",
    "coll_clv_exchange_forecasts",
    "coll_clv_exchange_calls",
    "coll_clv_exchange_void_record_sets",
    "coll_clv_exchange_lost_groups",
    "coll_clv_exchange_rejected",
    "coll_clv_exchange_sent_bytes",
    "coll_clv_exchange_received_bytes",
    "coll_clv_exchange_thread_cpu_ns",
    "coll_clv_exchange_clock_error_ns",
};
#define N_STATES ((int) (sizeof states / sizeof states[0]))
static pvar_look_t looks[N_STATES];

static void open_looks(void)
{
    for (int i = 0; i < N_STATES; i++) {
        (void) pvar_look_open(&looks[i], states[i]);
    }
}

static void tell_where(int rank)
{
    char line[2048] = "";
    size_t used = 0;

    for (int i = 0; i < n_threads; i++) {
        fprintf(stderr,
                "soak: STALL rank %d thread %d: step %lld, %s%s, %d items, %d ranks, root %d\n",
                rank, i, soaks[i].step, soaks[i].doing, soaks[i].doing_open ? ", nonblocking" : "",
                soaks[i].doing_count, soaks[i].doing_ranks, soaks[i].doing_root);
    }
    for (int i = 0; i < N_STATES && used < sizeof line; i++) {
        used += (size_t) snprintf(line + used, sizeof line - used, " %s=%lld",
                                  states[i] + strlen("coll_clv_"), pvar_look_read(&looks[i], -1));
    }
    fprintf(stderr, "soak: STALL rank %d:%s\n", rank, line);
}

/* By the clock, not by its own naps: on a starved machine those are long. */
static void *watch(void *context)
{
    long long seen = -1;
    double moved_s = now_s();

    for (;;) {
        (void) sleep(1);
        if (all_steps() != seen) {
            seen = all_steps();
            moved_s = now_s();
        } else if (now_s() - moved_s >= stall_seconds) {
            tell_where(*(const int *) context);
            fprintf(stderr, "soak: STALL pid %d\n", (int) getpid());
            (void) sleep(60); /* the script takes the stacks */
            tell_where(*(const int *) context);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
    }
    return NULL;
}

static void *room(size_t n_items)
{
    void *memory = calloc(n_items, sizeof(long long));

    if (memory == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return memory;
}

static void make_ring(soak_t *soak)
{
    int n_ranks;

    MPI_Comm_size(soak->world, &n_ranks);
    const int left = (soak->rank + n_ranks - 1) % n_ranks, right = (soak->rank + 1) % n_ranks;
    const int weight = 1;
    MPI_Dist_graph_create_adjacent(soak->world, 1, &left, &weight, 1, &right, &weight,
                                   MPI_INFO_NULL, 0, &soak->ring);
}

static void prepare(soak_t *soak, unsigned long long seed, int thread, int rank)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &soak->world);
    soak->rank = rank;
    make_ring(soak);
    for (int which = 0; which < SOAK_PARTS; which++) {
        soak->part[which] = MPI_COMM_NULL;
    }
    soak->shared = seed * 1000003 + (unsigned long long) thread;
    soak->own = soak->shared * 31 + (unsigned long long) rank + 1;
    soak->in = room((size_t) max_count + 1);
    soak->out = room((size_t) max_count + 1);
    soak->doing = "the beginning";
}

static void finish(soak_t *soak)
{
    free_comm(soak, &soak->ring);
    free_comm(soak, &soak->world);
    free(soak->in);
    free(soak->out);
}

/* All threads run to the end; the watchdog with them. */
static void run_all(int rank)
{
    pthread_t threads[MAX_THREADS], dog;

    (void) pthread_create(&dog, NULL, watch, &rank);
    for (int i = 1; i < n_threads; i++) {
        (void) pthread_create(&threads[i], NULL, run_thread, &soaks[i]);
    }
    run_thread(&soaks[0]);
    for (int i = 1; i < n_threads; i++) {
        (void) pthread_join(threads[i], NULL);
    }
    (void) pthread_cancel(dog);
    (void) pthread_join(dog, NULL);
}

static long long number(int argc, char **argv, int which, long long otherwise)
{
    return argc > which ? strtoll(argv[which], NULL, 10) : otherwise;
}

/* Whether they make sense. */
static int read_numbers(int argc, char **argv)
{
    n_threads = (int) number(argc, argv, 3, n_threads);
    stall_seconds = (int) number(argc, argv, 4, stall_seconds);
    max_count = (int) number(argc, argv, 5, max_count);
    stand_seconds = (int) number(argc, argv, 6, 0);
    break_seconds = (int) number(argc, argv, 7, 0);
    soak_preempt_open(PREEMPT_EVERY_US, (int) number(argc, argv, 8, 0));
    return n_threads >= 1 && n_threads <= MAX_THREADS && max_count >= 1 && stall_seconds >= 1;
}

int main(int argc, char **argv)
{
    const unsigned long long seed = (unsigned long long) number(argc, argv, 2, 1);
    long long counts[2] = {0, 0};
    int rank, n_ranks, level;

    if (!read_numbers(argc, argv)) {
        return 2;
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    n_threads = level == MPI_THREAD_MULTIPLE ? n_threads : 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (n_ranks > SOAK_MAX_RANKS) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int i = 0; i < n_threads; i++) {
        prepare(&soaks[i], seed, i, rank);
    }
    open_looks();
    soak_crash_watch(soaks, n_threads, rank);
    begin_s = now_s();
    end_s = begin_s + (double) number(argc, argv, 1, 10);
    run_all(rank);
    for (int i = 0; i < n_threads; i++) {
        counts[0] += soaks[i].n_done;
        counts[1] += soaks[i].n_wrong;
        finish(&soaks[i]);
    }
    MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("soak: clv saw %lld calls\n", pvar_look_read(&looks[0], 0));
        printf("soak: %d ranks, %d threads, seed %llu: %lld calls, %lld wrong\n", n_ranks,
               n_threads, seed, counts[0], counts[1]);
    }
    MPI_Finalize();
    return counts[1] > 0;
}
