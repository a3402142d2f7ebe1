/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Soak: collectives of all kinds mixed with reduces over random sub-communicators, for a time, each
 * result checked; and a watchdog that tells where everybody is when nothing moves.
 *
 * usage: soak SECONDS SEED [THREADS [STALL_SECONDS [MAX_COUNT]]]
 *
 * What: each thread of each rank (all ranks the same number of them) has communicators of its own:
 * its duplicate of MPI_COMM_WORLD and parts of it, now and then made anew. From a seed that all
 * ranks share it draws the operation, communicator, root and count; from one of its own how late it
 * comes. Vectors hold whole numbers, so every sum is exact.
 * The watchdog prints, for a rank whose operations do not move for STALL_SECONDS (120), what its
 * threads are in and what the component says of its wait, then ends the job with status 3; the
 * script adds the stacks.
 *
 * Exit: 0 with a line "soak: ... 0 wrong", 1 a wrong result, 3 a stall.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/mpi/pvar_look.h"

#define MAX_THREADS 8
#define N_PARTS     4 /* communicators of a thread beside its world */

typedef struct soak {
    MPI_Comm world; /* of this thread */
    MPI_Comm part[N_PARTS];
    unsigned long long shared; /* the state of the draws that all ranks make alike */
    unsigned long long own;
    long long *in, *out;
    long long n_done, n_wrong;
    long long step; /* written by this thread, read by the watchdog */
    const char *doing;
    int doing_count, doing_ranks, doing_root;
} soak_t;

static int max_count = 1 << 18, stall_seconds = 120;
static double end_s;
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
    return (unsigned) (*state >> 33) % below;
}

/* What rank contributes at index i in step `step`. */
static long long term(long long step, int rank, int i)
{
    return (step * 31 + (long long) rank * 7 + i) % 1009;
}

static long long sum_of_terms(long long step, int n_ranks, int i)
{
    long long sum = 0;

    for (int rank = 0; rank < n_ranks; rank++) {
        sum += term(step, rank, i);
    }
    return sum;
}

static void fill(soak_t *soak, int rank, int count)
{
    for (int i = 0; i < count; i++) {
        soak->in[i] = term(soak->step, rank, i);
        soak->out[i] = -1;
    }
}

/* Whether out[0 .. count) are the sums over the first n_ranks ranks; some are looked at. */
static int are_sums(const soak_t *soak, const long long *out, int n_ranks, int first, int count)
{
    for (int i = 0; i < count; i += 1 + count / 97) {
        if (out[i] != sum_of_terms(soak->step, n_ranks, first + i)) {
            return 0;
        }
    }
    return 1;
}

/* ---- the operations: all ranks of comm call the same one; 1: right --------------------------- */

typedef struct call {
    MPI_Comm comm;
    int rank, n_ranks, root, count;
} call_t;

static int do_reduce(soak_t *soak, const call_t *call)
{
    MPI_Reduce(soak->in, soak->out, call->count, MPI_LONG_LONG, MPI_SUM, call->root, call->comm);
    return call->rank != call->root || are_sums(soak, soak->out, call->n_ranks, 0, call->count);
}

static int do_reduce_in_place(soak_t *soak, const call_t *call)
{
    const int is_root = call->rank == call->root;

    MPI_Reduce(is_root ? MPI_IN_PLACE : soak->in, soak->in, call->count, MPI_LONG_LONG, MPI_SUM,
               call->root, call->comm);
    return !is_root || are_sums(soak, soak->in, call->n_ranks, 0, call->count);
}

/* An MPI_Allreduce of old: what found the stall that this program looks for. */
static int do_reduces_and_bcast(soak_t *soak, const call_t *call)
{
    for (int again = 0; again < 3; again++) {
        MPI_Reduce(soak->in, soak->out, call->count, MPI_LONG_LONG, MPI_SUM, call->root,
                   call->comm);
    }
    MPI_Bcast(soak->out, call->count, MPI_LONG_LONG, call->root, call->comm);
    return are_sums(soak, soak->out, call->n_ranks, 0, call->count);
}

static int do_allreduce(soak_t *soak, const call_t *call)
{
    MPI_Allreduce(soak->in, soak->out, call->count, MPI_LONG_LONG, MPI_SUM, call->comm);
    return are_sums(soak, soak->out, call->n_ranks, 0, call->count);
}

static int do_bcast(soak_t *soak, const call_t *call)
{
    MPI_Bcast(soak->in, call->count, MPI_LONG_LONG, call->root, call->comm);
    return call->count == 0 ||
           soak->in[call->count - 1] == term(soak->step, call->root, call->count - 1);
}

static int do_barrier(soak_t *soak, const call_t *call)
{
    (void) soak;
    MPI_Barrier(call->comm);
    return 1;
}

static int do_scan(soak_t *soak, const call_t *call)
{
    MPI_Scan(soak->in, soak->out, call->count, MPI_LONG_LONG, MPI_SUM, call->comm);
    return are_sums(soak, soak->out, call->rank + 1, 0, call->count);
}

static int do_exscan(soak_t *soak, const call_t *call)
{
    MPI_Exscan(soak->in, soak->out, call->count, MPI_LONG_LONG, MPI_SUM, call->comm);
    return call->rank == 0 || are_sums(soak, soak->out, call->rank, 0, call->count);
}

/* Of those that move a block for each rank: its items. */
static int block_of(const call_t *call)
{
    return call->count / call->n_ranks;
}

static int do_reduce_scatter(soak_t *soak, const call_t *call)
{
    const int block = block_of(call);

    MPI_Reduce_scatter_block(soak->in, soak->out, block, MPI_LONG_LONG, MPI_SUM, call->comm);
    return are_sums(soak, soak->out, call->n_ranks, call->rank * block, block);
}

static int do_alltoall(soak_t *soak, const call_t *call)
{
    const int block = block_of(call);

    MPI_Alltoall(soak->in, block, MPI_LONG_LONG, soak->out, block, MPI_LONG_LONG, call->comm);
    for (int rank = 0; block > 0 && rank < call->n_ranks; rank++) {
        if (soak->out[rank * block] != term(soak->step, rank, call->rank * block)) {
            return 0;
        }
    }
    return 1;
}

/* out has a block from each rank: the beginning of what it contributes. */
static int are_gathered(const soak_t *soak, const call_t *call, int block)
{
    for (int rank = 0; block > 0 && rank < call->n_ranks; rank++) {
        if (soak->out[rank * block] != term(soak->step, rank, 0)) {
            return 0;
        }
    }
    return 1;
}

static int do_allgather(soak_t *soak, const call_t *call)
{
    const int block = block_of(call);

    MPI_Allgather(soak->in, block, MPI_LONG_LONG, soak->out, block, MPI_LONG_LONG, call->comm);
    return are_gathered(soak, call, block);
}

static int do_gather(soak_t *soak, const call_t *call)
{
    const int block = block_of(call);

    MPI_Gather(soak->in, block, MPI_LONG_LONG, soak->out, block, MPI_LONG_LONG, call->root,
               call->comm);
    return call->rank != call->root || are_gathered(soak, call, block);
}

static int do_scatter(soak_t *soak, const call_t *call)
{
    const int block = block_of(call);

    MPI_Scatter(soak->in, block, MPI_LONG_LONG, soak->out, block, MPI_LONG_LONG, call->root,
                call->comm);
    return block == 0 || soak->out[0] == term(soak->step, call->root, call->rank * block);
}

/* Reduces are half of it. */
static const struct {
    const char *name;
    int (*run)(soak_t *soak, const call_t *call);
} operations[] = {
    {"MPI_Reduce", do_reduce},
    {"MPI_Reduce", do_reduce},
    {"MPI_Reduce", do_reduce},
    {"MPI_Reduce", do_reduce},
    {"MPI_Reduce", do_reduce},
    {"MPI_Reduce", do_reduce},
    {"MPI_Reduce in place", do_reduce_in_place},
    {"MPI_Reduce in place", do_reduce_in_place},
    {"three MPI_Reduces and MPI_Bcast", do_reduces_and_bcast},
    {"three MPI_Reduces and MPI_Bcast", do_reduces_and_bcast},
    {"MPI_Allreduce", do_allreduce},
    {"MPI_Allreduce", do_allreduce},
    {"MPI_Bcast", do_bcast},
    {"MPI_Barrier", do_barrier},
    {"MPI_Scan", do_scan},
    {"MPI_Exscan", do_exscan},
    {"MPI_Reduce_scatter_block", do_reduce_scatter},
    {"MPI_Alltoall", do_alltoall},
    {"MPI_Allgather", do_allgather},
    {"MPI_Gather", do_gather},
    {"MPI_Scatter", do_scatter},
};
#define N_OPERATIONS ((unsigned) (sizeof operations / sizeof operations[0]))

/* ---- a thread -------------------------------------------------------------------------------- */

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
        MPI_Comm_free(&soak->part[which]);
    }
    MPI_Comm_split(soak->world, colour, draw(&soak->shared, 2) ? rank : -rank, &soak->part[which]);
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

/* The same call ten to forty times, as an iterative program does it, so that plans are made. */
static void run_calls(soak_t *soak)
{
    const unsigned which = draw(&soak->shared, N_PARTS + 2);
    const unsigned operation = draw(&soak->shared, N_OPERATIONS);
    const int n_calls = 10 + (int) draw(&soak->shared, 31);
    const unsigned root = draw(&soak->shared, 1 << 20);
    call_t call = {.comm = which < N_PARTS ? soak->part[which] : soak->world};

    call.count = draw_count(soak);
    MPI_Comm_rank(call.comm, &call.rank);
    MPI_Comm_size(call.comm, &call.n_ranks);
    call.root = (int) (root % (unsigned) call.n_ranks);
    soak->doing = operations[operation].name;
    soak->doing_count = call.count;
    soak->doing_ranks = call.n_ranks;
    soak->doing_root = call.root;
    for (int i = 0; i < n_calls; i++) {
        nap(soak);
        fill(soak, call.rank, call.count);
        if (!operations[operation].run(soak, &call)) {
            soak->n_wrong++;
            printf("soak: WRONG %s, %d items, %d ranks, root %d\n", soak->doing, call.count,
                   call.n_ranks, call.root);
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

    for (int which = 0; which < N_PARTS; which++) {
        make_part(soak, which);
    }
    while (goes_on(soak)) {
        if (draw(&soak->shared, 8) == 0) {
            soak->doing = "MPI_Comm_split";
            make_part(soak, (int) draw(&soak->shared, N_PARTS));
        }
        run_calls(soak);
    }
    for (int which = 0; which < N_PARTS; which++) {
        MPI_Comm_free(&soak->part[which]);
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

static void tell_where(int rank)
{
    static const char *const waits[] = {"coll_clv_wait_for_what", "coll_clv_wait_receive_rank",
                                        "coll_clv_wait_receive_segment", "coll_clv_wait_send_rank",
                                        "coll_clv_wait_ns"};
    pvar_look_t look;

    for (int i = 0; i < n_threads; i++) {
        fprintf(stderr,
                "soak: STALL rank %d thread %d: step %lld, %s, %d items, %d ranks, root %d\n", rank,
                i, soaks[i].step, soaks[i].doing, soaks[i].doing_count, soaks[i].doing_ranks,
                soaks[i].doing_root);
    }
    for (unsigned i = 0; i < sizeof waits / sizeof waits[0]; i++) {
        (void) pvar_look_open(&look, waits[i]);
        fprintf(stderr, "soak: STALL rank %d %s=%lld\n", rank, waits[i], pvar_look_read(&look, -1));
        pvar_look_close(&look);
    }
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
            (void) sleep(20); /* the script takes the stacks */
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

static void prepare(soak_t *soak, unsigned long long seed, int thread, int rank)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &soak->world);
    for (int which = 0; which < N_PARTS; which++) {
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
    MPI_Comm_free(&soak->world);
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

int main(int argc, char **argv)
{
    const unsigned long long seed = (unsigned long long) number(argc, argv, 2, 1);
    long long counts[2] = {0, 0};
    int rank, n_ranks, level;

    n_threads = (int) number(argc, argv, 3, n_threads);
    stall_seconds = (int) number(argc, argv, 4, stall_seconds);
    max_count = (int) number(argc, argv, 5, max_count);
    if (n_threads < 1 || n_threads > MAX_THREADS || max_count < 1 || stall_seconds < 1) {
        return 2;
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    n_threads = level == MPI_THREAD_MULTIPLE ? n_threads : 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (int i = 0; i < n_threads; i++) {
        prepare(&soaks[i], seed, i, rank);
    }
    end_s = now_s() + (double) number(argc, argv, 1, 10);
    run_all(rank);
    for (int i = 0; i < n_threads; i++) {
        counts[0] += soaks[i].n_done;
        counts[1] += soaks[i].n_wrong;
        finish(&soaks[i]);
    }
    MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("soak: %d ranks, %d threads, seed %llu: %lld calls, %lld wrong\n", n_ranks,
               n_threads, seed, counts[0], counts[1]);
    }
    MPI_Finalize();
    return counts[1] > 0;
}
