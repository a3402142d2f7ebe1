/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-sim: one reduce algorithm under one arrival pattern, on a machine that SimGrid simulates.
 *
 * What: a plan of ours run by our executor, or the library's MPI_Reduce (smpirun chooses which), or
 * the bound: only the last arriver sends its vector. Rank 0 prints one line of tab-separated
 * medians over the calls; bench/sim/run makes tables of many. Every result is checked.
 * Not: the component, its clocks, its predictors. Any MPI whose MPI_Wtime is one clock for all
 * ranks can run it. Computing costs nothing in the simulation, for us and for the library.
 * Units: ms printed, seconds of MPI_Wtime inside.
 */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench_patterns.h"
#include "bench/sim/sim_execute.h"
#include "bench/sim/sim_options.h"
#include "bench/sim/sim_plan.h"
#include "bench/sim/sim_predict.h"
#include "util/util_alloc.h"

#define TAG      19
#define START_MS 10 /* for the news of the common start to reach everyone */

typedef struct job {
    clv_sim_options_t options;
    clv_pattern_t pattern;
    clv_sim_cuts_t cuts;
    int rank;
    int n_ranks;
    float *vector;
    float *sum;       /* what the library reduces into: some of SimGrid's write it on all ranks */
    int64_t *true_ns; /* delays of the call, by rank */
    int64_t *predicted_ns; /* what the plan's order is made for */
    int64_t *clipped_ns;   /* and its arrivals under the clip rule */
} job_t;

typedef struct timing {
    double after_ms;   /* last exit - last arrival */
    double in_call_ms; /* mean over ranks of exit - arrival */
    int n_segments;    /* 0: not a plan */
} timing_t;

/* One line whatever the number of ranks: _exit ends the simulation with all its ranks, while
 * SimGrid's MPI_Abort and exit end one rank and leave the others waiting. */
_Noreturn static void fail(const char *what)
{
    fprintf(stderr, "clv-sim: %s\n", what);
    _exit(2);
}

static void *need(size_t n_items, size_t item_bytes)
{
    void *memory = clv_alloc(n_items, item_bytes);
    if (NULL == memory) {
        fail("out of memory");
    }
    return memory;
}

/* ---- one call ------------------------------------------------------------------------------- */

/* All ranks start from one point of the common clock and arrive when their delay is over. */
static double arrive(int64_t delay_ns)
{
    double now = MPI_Wtime(), start = 0;

    MPI_Allreduce(&now, &start, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    start += START_MS / 1e3 + (double) delay_ns / 1e9;
    now = MPI_Wtime();
    if (start > now) {
        (void) usleep((useconds_t) ((start - now) * 1e6));
    }
    return MPI_Wtime();
}

/* Nobody can be faster than the vector of the last arriver on its way to the root; if that is the
 * root, any other vector on its way to it. */
static void run_bound(const job_t *job)
{
    int sender = 1 % job->n_ranks;

    for (int p = 1; p < job->n_ranks; p++) {
        sender = job->true_ns[p] > job->true_ns[sender] ? p : sender;
    }
    if (0 == job->rank && sender > 0) {
        MPI_Recv(job->sum, job->options.n_floats, MPI_FLOAT, sender, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    } else if (sender == job->rank && sender > 0) {
        MPI_Send(job->vector, job->options.n_floats, MPI_FLOAT, 0, TAG, MPI_COMM_WORLD);
    }
}

static clv_status_t prepare(const job_t *job, int64_t call, clv_sim_steps_t *steps_p)
{
    const clv_sim_options_t *options = &job->options;

    clv_pattern_fill(&job->pattern, call, job->true_ns);
    if (!clv_sim_is_plan(options)) {
        return CLV_OK;
    }
    clv_sim_predict(options, &job->pattern, call, job->true_ns, job->predicted_ns);
    if (!options->clip) {
        return clv_sim_deal_plan(options, &job->cuts, job->predicted_ns, NULL, steps_p);
    }
    clv_sim_clip(job->n_ranks, job->true_ns, job->predicted_ns, job->clipped_ns);
    return clv_sim_deal_plan(options, &job->cuts, job->clipped_ns, job->predicted_ns, steps_p);
}

static clv_status_t reduce(const job_t *job, const clv_sim_steps_t *steps)
{
    if (clv_sim_is_plan(&job->options)) {
        return clv_sim_execute(steps, &job->options.limits, job->options.n_floats, job->vector);
    }
    if (0 == strcmp(job->options.algorithm, "bound")) {
        run_bound(job);
        return CLV_OK;
    }
    return MPI_SUCCESS == MPI_Reduce(job->vector, job->sum, job->options.n_floats, MPI_FLOAT,
                                     MPI_SUM, 0, MPI_COMM_WORLD)
               ? CLV_OK
               : CLV_LOST;
}

/* Small integers, different by rank and place: their sum is exact in any order. */
static float value_at(int rank, int i)
{
    return (float) ((rank + 1) * (1 + i % 3));
}

static void fill_vector(const job_t *job)
{
    for (int i = 0; i < job->options.n_floats; i++) {
        job->vector[i] = value_at(job->rank, i);
    }
}

static int sum_right(const job_t *job)
{
    const float *sum = clv_sim_is_plan(&job->options) ? job->vector : job->sum;
    int64_t ranks = (int64_t) job->n_ranks * (job->n_ranks + 1) / 2;

    for (int i = 0; i < job->options.n_floats; i++) {
        if ((int64_t) sum[i] != ranks * (1 + i % 3)) {
            return 0;
        }
    }
    return 1;
}

static timing_t gather_timing(double arrival, double end, int n_ranks)
{
    double mine[2] = {arrival, end}, last[2], spent = end - arrival, spent_sum;

    MPI_Allreduce(mine, last, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&spent, &spent_sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return (timing_t){.after_ms = (last[1] - last[0]) * 1e3,
                      .in_call_ms = spent_sum / n_ranks * 1e3};
}

static timing_t one_call(const job_t *job, int64_t call)
{
    clv_sim_steps_t steps = {0};
    timing_t timing;
    double arrival;

    if (CLV_OK != prepare(job, call, &steps)) {
        fail("no plan for these arrivals");
    }
    fill_vector(job);
    arrival = arrive(job->true_ns[job->rank]);
    if (CLV_OK != reduce(job, &steps)) {
        fail("the reduce failed");
    }
    timing = gather_timing(arrival, MPI_Wtime(), job->n_ranks);
    if (0 == job->rank && 0 != strcmp(job->options.algorithm, "bound") && !sum_right(job)) {
        fail("wrong sum");
    }
    timing.n_segments = steps.n_segments;
    clv_free(steps.steps);
    return timing;
}

/* ---- all calls ------------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, (size_t) n, sizeof *values, by_value);
    return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/* Columns: algorithm, pattern, delay, error, clip, ranks, floats, segments, after, mean in call. */
static void run_calls(const job_t *job)
{
    const clv_sim_options_t *options = &job->options;
    double *after_ms = need((size_t) options->n_calls, sizeof *after_ms);
    double *in_call_ms = need((size_t) options->n_calls, sizeof *in_call_ms);
    timing_t timing = {0};

    for (int call = 0; call < options->n_calls; call++) {
        timing = one_call(job, call);
        after_ms[call] = timing.after_ms;
        in_call_ms[call] = timing.in_call_ms;
    }
    if (0 == job->rank) {
        printf("%s\t%s\t%g\t%s\t%d\t%d\t%d\t%d\t%.3f\t%.3f\n", options->algorithm, options->pattern,
               options->delay_ms, options->error, options->clip, job->n_ranks, options->n_floats,
               timing.n_segments, median(after_ms, options->n_calls),
               median(in_call_ms, options->n_calls));
    }
    clv_free(in_call_ms);
    clv_free(after_ms);
}

static void job_init(job_t *job, int argc, char **argv)
{
    char reason[200];

    MPI_Comm_rank(MPI_COMM_WORLD, &job->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job->n_ranks);
    if (CLV_OK != clv_sim_options_parse(argc, argv, &job->options, reason, sizeof reason)) {
        fail(reason);
    }
    job->pattern = (clv_pattern_t){.n_ranks = job->n_ranks,
                                   .late_rank = job->n_ranks - 1,
                                   .amount_ns = (int64_t) (job->options.delay_ms * 1e6),
                                   .jitter = 0.01,
                                   .change_at = job->options.n_calls / 2,
                                   .seed = job->options.seed};
    if (CLV_OK != clv_pattern_parse(job->options.pattern, &job->pattern, reason, sizeof reason)) {
        fail(reason);
    }
}

static void job_reserve(job_t *job)
{
    size_t n_floats = (size_t) job->options.n_floats;

    job->vector = need(n_floats, sizeof *job->vector);
    job->sum = clv_sim_is_plan(&job->options) ? NULL : need(n_floats, sizeof *job->sum);
    job->true_ns = need((size_t) job->n_ranks, sizeof *job->true_ns);
    job->predicted_ns = need((size_t) job->n_ranks, sizeof *job->predicted_ns);
    job->clipped_ns = need((size_t) job->n_ranks, sizeof *job->clipped_ns);
}

static void job_free(job_t *job)
{
    clv_free(job->clipped_ns);
    clv_free(job->predicted_ns);
    clv_free(job->true_ns);
    clv_free(job->sum);
    clv_free(job->vector);
    clv_pattern_free(&job->pattern);
}

int main(int argc, char **argv)
{
    job_t job = {0};

    MPI_Init(&argc, &argv);
    job_init(&job, argc, argv);
    job_reserve(&job);
    if (clv_sim_is_plan(&job.options) && CLV_OK != clv_sim_measure_cuts(&job.options, &job.cuts)) {
        fail("out of memory");
    }
    run_calls(&job);
    job_free(&job);
    MPI_Finalize();
    return 0;
}
