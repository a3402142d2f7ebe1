/* SPDX-License-Identifier: BSD-3-Clause
 *
 * transport: Monte Carlo particle transport with a replicated geometry, as production codes do it.
 * Every rank follows its particles of a batch and scores into its own copy of the tally grid; at
 * the end of the batch one MPI_Reduce adds the grids on the root, which decides whether to continue
 * and broadcasts that (MPI_Bcast of one number).
 *
 *     rank 0  |== particles ==|~~~ waits in MPI_Reduce ~~~|
 *     rank 1  |============ particles ============|~ wait ~|     the source is uneven: the same
 *     rank 2  |====== particles ======|~~~ waits ~~~~~~~~~~|     ranks are late in every batch
 *
 * --free: the number of batches is fixed, so no rank waits for the root's decision. Only the reduce
 * synchronises the ranks, and a rank may run ahead of the others as far as it permits.
 *
 * Plain public MPI, independent of the reduce in use. Exit status 0: the physics is right and the
 * tally equals a serial run's; 1: one is wrong, or --trace cannot be written; 2: bad options.
 *
 * --pace: with fewer cores than ranks, ranks cannot compute in parallel. Every rank then follows
 * few particles and sleeps in proportion to its share, which leaves the cores to MPI as on real
 * cluster hosts; the output says so.
 *
 * Memory per rank: two tallies. Single-threaded.
 */
#include <mpi.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "apps/examples/transport/transport.h"

typedef struct run {
    transport_options_t options;
    transport_box_t box;
    int n_ranks;
    int rank;
    int root;
    size_t n_items;
    double *batch_tally;      /* this batch, this rank; on the root also the reduced one */
    double *total_tally;      /* root: all batches so far */
    int64_t *first;           /* see transport_shares() */
    transport_times_t *times; /* per batch, this rank */
    transport_times_t *all_times;
    transport_fates_t fates;
    FILE *trace; /* root: for --trace, else NULL */
} run_t;

static double now_s(const run_t *run)
{
    struct timespec now;
    if (!run->options.common_clock) {
        return MPI_Wtime();
    }
    (void) clock_gettime(CLOCK_REALTIME, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

static void *must_have(size_t n_items, size_t item_bytes)
{
    void *memory = calloc(n_items, item_bytes);
    if (memory == NULL) {
        (void) fprintf(stderr, "transport: no memory for %zu x %zu bytes\n", n_items, item_bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

static void run_begin(run_t *run)
{
    const transport_options_t *options = &run->options;
    const size_t n_batches = (size_t) options->batches;
    const size_t n_ranks = (size_t) run->n_ranks;
    run->box = (transport_box_t){options->thickness,
                                 options->scatter,
                                 {options->cells_x, options->cells_y, options->cells_z}};
    run->root = (int) options->root;
    run->n_items = transport_tally_items(&run->box);
    run->batch_tally = must_have(run->n_items, sizeof *run->batch_tally);
    run->total_tally = must_have(run->n_items, sizeof *run->total_tally);
    run->first = must_have(n_ranks + 1, sizeof *run->first);
    run->times = must_have(n_batches, sizeof *run->times);
    run->all_times =
        must_have(run->rank == run->root ? n_ranks * n_batches : 1, sizeof *run->all_times);
}

static void run_end(run_t *run)
{
    free(run->all_times);
    free(run->times);
    free(run->first);
    free(run->total_tally);
    free(run->batch_tally);
}

/* Sleeps until this rank's share of the pace has passed since start_s. */
static void keep_pace(const run_t *run, double start_s, int64_t share)
{
    const double largest = (double) transport_shares_largest(run->n_ranks, run->first);
    const double until_s = start_s + 1e-3 * run->options.pace * (double) share / largest;
    const double left_s = until_s - now_s(run);
    if (left_s > 0.0) {
        const struct timespec rest = {(time_t) left_s,
                                      (long) (1e9 * (left_s - (double) (time_t) left_s))};
        (void) nanosleep(&rest, NULL);
    }
}

static void follow_my_share(run_t *run, int64_t batch, double start_s)
{
    const transport_options_t *options = &run->options;
    transport_shares(run->n_ranks, options->particles, options->uneven, (uint64_t) options->seed,
                     options->fresh ? (uint64_t) batch : 0, run->first);
    const int64_t first = run->first[run->rank];
    const int64_t share = run->first[run->rank + 1] - first;
    memset(run->batch_tally, 0, run->n_items * sizeof *run->batch_tally);
    transport_follow(&run->box, (uint64_t) options->seed, batch * options->particles + first, share,
                     run->batch_tally, &run->fates);
    if (options->pace > 0.0) {
        keep_pace(run, start_s, share);
    }
}

static void reduce_tally(run_t *run)
{
    const int is_root = run->rank == run->root;
    MPI_Reduce(is_root ? MPI_IN_PLACE : run->batch_tally, is_root ? run->batch_tally : NULL,
               (int) run->n_items, MPI_DOUBLE, MPI_SUM, run->root, MPI_COMM_WORLD);
}

static void add_to_total(run_t *run)
{
    for (size_t i = 0; run->rank == run->root && i < run->n_items; i++) {
        run->total_tally[i] += run->batch_tally[i];
    }
}

/* The root decides; here it only counts batches, which with --free every rank does itself. */
static int goes_on(run_t *run, int64_t batch)
{
    int more = batch + 1 < run->options.batches;
    add_to_total(run);
    if (!run->options.free) {
        MPI_Bcast(&more, 1, MPI_INT, run->root, MPI_COMM_WORLD);
    }
    return more;
}

static void run_batches(run_t *run)
{
    int more = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int64_t batch = 0; more; batch++) {
        const double start_s = now_s(run);
        follow_my_share(run, batch, start_s);
        run->times[batch].enter = now_s(run);
        reduce_tally(run);
        run->times[batch].leave = now_s(run);
        more = goes_on(run, batch);
        run->times[batch].batch = now_s(run) - start_s;
    }
}

static void collect(run_t *run)
{
    transport_fates_t sum = {0, 0, 0, 0};
    const int n_doubles = (int) run->options.batches * TRANSPORT_TIMES_DOUBLES;
    MPI_Gather(run->times, n_doubles, MPI_DOUBLE, run->all_times, n_doubles, MPI_DOUBLE, run->root,
               MPI_COMM_WORLD);
    MPI_Reduce(&run->fates, &sum, (int) (sizeof sum / sizeof(int64_t)), MPI_INT64_T, MPI_SUM,
               run->root, MPI_COMM_WORLD);
    run->fates = sum;
}

static int64_t count_differing(const double *left, const double *right, size_t n)
{
    int64_t n_differing = 0;
    for (size_t i = 0; i < n; i++) {
        n_differing += left[i] < right[i] || left[i] > right[i];
    }
    return n_differing;
}

/* Follows all particles again, on the root alone; the batch tally is free by now. */
static int64_t compare_with_serial(run_t *run)
{
    const transport_options_t *options = &run->options;
    transport_fates_t fates = {0, 0, 0, 0};
    if (options->no_serial) {
        return -1;
    }
    memset(run->batch_tally, 0, run->n_items * sizeof *run->batch_tally);
    transport_follow(&run->box, (uint64_t) options->seed, 0, options->batches * options->particles,
                     run->batch_tally, &fates);
    return count_differing(run->total_tally, run->batch_tally, run->n_items);
}

static transport_verdict_t judge(run_t *run)
{
    const transport_fates_t *fates = &run->fates;
    return (transport_verdict_t){
        .transmission_deviation = transport_transmission_deviation(&run->box, fates),
        .profile_deviation =
            transport_profile_deviation(&run->box, run->total_tally, fates->started),
        .n_unbalanced =
            run->options.batches * run->options.particles - fates->leaked - fates->absorbed,
        .n_differing = compare_with_serial(run),
    };
}

static void say_what_runs(const run_t *run)
{
    const transport_options_t *options = &run->options;
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(library, &length);
    (void) printf("transport: %d ranks, %lld batches of %lld particles, tally of %.2f MiB, "
                  "strongest source %.3g x the weakest%s%s; %.*s\n",
                  run->n_ranks, (long long) options->batches, (long long) options->particles,
                  (double) run->n_items * sizeof(double) / 1048576.0, 1.0 + options->uneven,
                  options->fresh ? ", shuffled every batch" : "",
                  options->free ? ", nobody waits for the root" : "", (int) strcspn(library, ","),
                  library);
    if (options->pace > 0.0) {
        (void) printf("transport: --pace: sleeping stands in for computing, %g ms per batch on the "
                      "strongest rank\n",
                      options->pace);
    }
    (void) fflush(stdout);
}

/* ---- --trace: opened before the work, so that a wrong name does not cost a run --------------- */

static int complain_of_trace(const run_t *run)
{
    (void) fprintf(stderr, "transport: --trace %s: %s\n", run->options.trace, strerror(errno));
    return 1;
}

/* All ranks learn whether the root opened it. */
static int open_trace(run_t *run)
{
    int status = 0;
    if (run->options.trace == NULL) {
        return 0;
    }
    if (run->rank == run->root) {
        run->trace = fopen(run->options.trace, "w");
        status = run->trace == NULL ? complain_of_trace(run) : 0;
    }
    MPI_Bcast(&status, 1, MPI_INT, run->root, MPI_COMM_WORLD);
    return status;
}

static int close_trace(run_t *run)
{
    if (run->trace == NULL) {
        return 0;
    }
    const int is_written =
        transport_trace_write(run->trace, &run->options, run->n_ranks, run->all_times);
    const int is_closed = fclose(run->trace) == 0;
    return is_written && is_closed ? 0 : complain_of_trace(run);
}

/* Root: the report, the trace, the exit status. */
static int conclude(run_t *run)
{
    const transport_verdict_t verdict = judge(run);
    const char *problem = transport_verdict_problem(&verdict);
    const int status = close_trace(run);
    transport_report(&run->options, run->n_ranks, run->all_times, &run->fates, &verdict);
    if (problem != NULL) {
        (void) fprintf(stderr, "transport: %s\n", problem);
        return 1;
    }
    return status;
}

static int run_and_judge(run_t *run)
{
    int status = 0;
    if (run->rank == run->root) {
        say_what_runs(run);
    }
    run_batches(run);
    collect(run);
    if (run->rank == run->root) {
        status = conclude(run);
    }
    MPI_Bcast(&status, 1, MPI_INT, run->root, MPI_COMM_WORLD);
    return status;
}

static int run_all(run_t *run)
{
    run_begin(run);
    int status = open_trace(run);
    if (status == 0) {
        status = run_and_judge(run);
    }
    run_end(run);
    return status;
}

/* What the table cannot check alone; NULL or the problem. */
static const char *check_together(const run_t *run)
{
    const transport_options_t *options = &run->options;
    const double n_items = (double) TRANSPORT_N_SCORES * (double) options->cells_x *
                           (double) options->cells_y * (double) options->cells_z;
    if (options->root >= run->n_ranks) {
        return "--root is not one of the ranks";
    }
    if (options->trace != NULL && !options->common_clock) {
        return "--trace needs --common-clock: arrivals of ranks are compared on one clock";
    }
    return n_items > 2147483647.0 ? "the tally has more items than an MPI count can say" : NULL;
}

int main(int argc, char **argv)
{
    run_t run = {.rank = 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &run.n_ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
    const char *wrong = transport_options_parse(argc, argv, &run.options);
    wrong = wrong == NULL ? check_together(&run) : wrong;
    if (wrong != NULL && run.rank == 0) {
        (void) fprintf(stderr, "transport: %s\noptions:\n", wrong);
        transport_options_help(stderr);
    }
    const int status = wrong == NULL ? run_all(&run) : 2;
    MPI_Finalize();
    return status;
}
