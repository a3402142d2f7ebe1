/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-sim: one algorithm of a reduce or allreduce under one arrival pattern, on a machine that
 * SimGrid simulates.
 *
 * What: a clv plan run by clv's executor, or a reduce without a plan (sim_direct.c). Rank 0 prints
 * one line of JSON per call; apps/bench/sim/run makes tables of many. Every result is checked.
 * Not: the component, its clocks, its predictors. Any MPI whose MPI_Wtime is one clock for all
 * ranks can run it. In the simulation, computing takes no time, for us and for the library; only
 * combining takes --combine-ps.
 * Units: ns; seconds where MPI_Wtime is read.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "apps/bench/sim/sim.h"
#include "apps/cli/cli_json.h"
#include "apps/trace/trace_patterns.h"
#include "util/util_alloc.h"

#define START_MS 10 /* for the broadcast of the common start to reach all ranks */

typedef struct job {
    clv_sim_options_t options;
    clv_pattern_t pattern;
    const clv_sim_direct_t *direct; /* NULL: a plan */
    clv_sim_chooser_t chooser;
    int rank;
    int n_ranks;
    float *vector;
    float *sum;            /* result without a plan */
    int64_t *true_ns;      /* delays of the call, by rank */
    int64_t *predicted_ns; /* arrivals that the plan's order assumes */
} job_t;

/* One line for any number of ranks: _exit ends the simulation with all its ranks, while SimGrid's
 * MPI_Abort and exit end one rank and leave the others waiting. */
_Noreturn static void fail(const char *what)
{
    fprintf(stderr, "clv-sim: %s\n", what);
    _exit(2);
}

static void *need(size_t n_items, size_t item_bytes)
{
    void *memory = clv_alloc(n_items, item_bytes);
    if (memory == NULL) {
        fail("out of memory");
    }
    return memory;
}

/* ---- the times of one call, as a line of clv-bench's JSON --------------------------------------
 *
 * The script run makes tables of such lines; clv-bench-compare plots and compares them. A line is a
 * call, not an mpirun: calls of a simulation are independent draws, without warm-up.
 * --------------------------------------------------------------------------------------------- */

typedef struct timing {
    double after_ns;    /* last exit - last arrival */
    double run_ns;      /* last exit - first arrival */
    double in_mpi_ns;   /* mean over ranks of exit - arrival */
    int32_t n_segments; /* 0: no plan */
} timing_t;

static void write_factors(clv_json_t *json, const job_t *job)
{
    const clv_sim_options_t *options = &job->options;

    clv_json_text(json, "collective", options->collective);
    clv_json_whole(json, "ranks", job->n_ranks);
    clv_json_whole(json, "bytes", (int64_t) options->n_floats * 4);
    clv_json_text(json, "type", "float");
    clv_json_text(json, "op", "sum");
    clv_json_whole(json, "root", 0);
    clv_json_text(json, "pattern", options->pattern);
    clv_json_number(json, "delay_ns", options->delay_ms * 1e6);
    clv_json_whole(json, "seed", options->seed);
    clv_json_text(json, "algorithm", options->algorithm);
    clv_json_text(json, "error", options->error);
    clv_json_number(json, "clip", options->clip);
    clv_json_number(json, "round_factor", options->round_factor);
    clv_json_whole(json, "recv_window", options->limits.recv_window);
    clv_json_whole(json, "source_window", options->limits.source_window);
    clv_json_whole(json, "send_window", options->limits.send_window);
    clv_json_flag(json, "rounds", options->in_rounds);
    clv_json_number(json, "combine_ps", options->combine_ps);
    clv_json_whole(json, "early_bytes", job->chooser.config.cost.early_bytes);
    clv_json_whole(json, "near_early_bytes", job->chooser.config.cost.near_early_bytes);
}

static void write_call(clv_json_t *json, const char *key, double ns)
{
    clv_json_list_begin(json, key);
    clv_json_item(json, ns, 0);
    clv_json_list_end(json);
}

static void report(FILE *out, const job_t *job, int call, const timing_t *timing)
{
    clv_json_t json = clv_json_begin(out, "clv-sim", "calls");

    write_factors(&json, job);
    clv_json_whole(&json, "call", call);
    clv_json_whole(&json, "segments", timing->n_segments);
    write_call(&json, "usable", 1);
    write_call(&json, "after_ns", timing->after_ns);
    write_call(&json, "run_ns", timing->run_ns);
    write_call(&json, "in_mpi_mean_ns", timing->in_mpi_ns);
    clv_json_end(&json);
}

/* ---- one call ------------------------------------------------------------------------------- */

/* All ranks start at one time of the common clock and arrive after their delay. */
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

static clv_status_t prepare(job_t *job, int64_t call, clv_sim_steps_t *steps_p)
{
    const clv_sim_options_t *options = &job->options;

    clv_pattern_fill(&job->pattern, call, job->true_ns);
    if (job->direct != NULL) {
        return CLV_OK;
    }
    clv_sim_predict(options, &job->pattern, call, job->true_ns, job->predicted_ns);
    return clv_sim_deal_plan(
        options, &job->chooser, job->predicted_ns,
        clv_sim_sigma(options->clip, job->n_ranks, job->true_ns, job->predicted_ns), steps_p);
}

static clv_status_t reduce(const job_t *job, const clv_sim_steps_t *steps)
{
    const clv_sim_options_t *options = &job->options;
    const clv_sim_call_t call = {.rank = job->rank,
                                 .n_ranks = job->n_ranks,
                                 .n_floats = options->n_floats,
                                 .is_allreduce = clv_sim_is_allreduce(options),
                                 .combine_ps = options->combine_ps,
                                 .arrival_ns = job->true_ns,
                                 .vector = job->vector,
                                 .sum = job->sum};

    return job->direct != NULL ? job->direct->run(&call)
                               : clv_sim_execute(steps, options, job->vector);
}

/* Small integers that differ by rank and position: their sum is exact in any order. */
static float value_at(int rank, int i)
{
    return (float) ((rank + 1) * (1 + (i & 3)));
}

/* Overwrites the previous result; otherwise a reduce that does nothing would seem correct. */
static void fill_vectors(const job_t *job)
{
    for (int i = 0; i < job->options.n_floats; i++) {
        job->vector[i] = value_at(job->rank, i);
        if (job->sum != NULL) {
            job->sum[i] = 0;
        }
    }
}

static bool sum_right(const job_t *job)
{
    const float *sum = job->direct == NULL ? job->vector : job->sum;
    int64_t ranks = (int64_t) job->n_ranks * (job->n_ranks + 1) / 2;

    for (int i = 0; i < job->options.n_floats; i++) {
        if ((int64_t) sum[i] != ranks * (1 + (i & 3))) {
            return false;
        }
    }
    return true;
}

static bool has_sum(const job_t *job)
{
    return (job->rank == 0 || clv_sim_is_allreduce(&job->options)) &&
           (job->direct == NULL || job->direct->sums);
}

static timing_t gather_timing(double arrival, double end, int n_ranks)
{
    double mine[3] = {arrival, end, -arrival}, last[3], spent = end - arrival, spent_sum;

    MPI_Allreduce(mine, last, 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&spent, &spent_sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return (timing_t){.after_ns = (last[1] - last[0]) * 1e9,
                      .run_ns = (last[1] + last[2]) * 1e9,
                      .in_mpi_ns = spent_sum / n_ranks * 1e9};
}

static timing_t one_call(job_t *job, int64_t call)
{
    clv_sim_steps_t steps = {0};
    timing_t timing;
    double arrival;

    if (prepare(job, call, &steps) != CLV_OK) {
        fail("no plan for these arrivals");
    }
    fill_vectors(job);
    arrival = arrive(job->true_ns[job->rank]);
    if (reduce(job, &steps) != CLV_OK) {
        fail("the reduce failed");
    }
    timing = gather_timing(arrival, MPI_Wtime(), job->n_ranks);
    if (has_sum(job) && !sum_right(job)) {
        fail("wrong sum");
    }
    timing.n_segments = steps.n_segments;
    clv_free(steps.steps);
    return timing;
}

/* ---- all calls ------------------------------------------------------------------------------ */

static void run_calls(job_t *job)
{
    if (job->direct != NULL && job->direct->prepares) {
        (void) one_call(job, 0);
    }
    for (int call = 0; call < job->options.n_calls; call++) {
        timing_t timing = one_call(job, call);
        if (job->rank == 0) {
            report(stdout, job, call, &timing);
        }
    }
}

static void job_init(job_t *job, int argc, char **argv)
{
    char reason[512];

    MPI_Comm_rank(MPI_COMM_WORLD, &job->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job->n_ranks);
    if (clv_options_parse(&clv_sim_program, argc, argv, &job->options, NULL, reason,
                          sizeof reason) != CLV_ASKED_RUN ||
        clv_sim_options_check(&job->options, reason, sizeof reason) != CLV_OK) {
        fail(reason);
    }
    job->options.limits.policy = job->options.in_rounds ? CLV_EXEC_ROUNDS : CLV_EXEC_AHEAD;
    job->direct = clv_sim_direct_find(job->options.algorithm);
    job->pattern = (clv_pattern_t){.n_ranks = job->n_ranks,
                                   .late_rank = job->n_ranks - 1,
                                   .amount_ns = (int64_t) (job->options.delay_ms * 1e6),
                                   .jitter = 0.01,
                                   .change_at = job->options.n_calls / 2,
                                   .seed = (uint64_t) job->options.seed};
    if (clv_pattern_parse(job->options.pattern, &job->pattern, reason, sizeof reason) != CLV_OK) {
        fail(reason);
    }
}

static void job_reserve(job_t *job)
{
    size_t n_floats = (size_t) job->options.n_floats;

    job->vector = need(n_floats, sizeof *job->vector);
    job->sum = job->direct == NULL ? NULL : need(n_floats, sizeof *job->sum);
    job->true_ns = need((size_t) job->n_ranks, sizeof *job->true_ns);
    job->predicted_ns = need((size_t) job->n_ranks, sizeof *job->predicted_ns);
}

static void job_free(job_t *job)
{
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
    if (job.direct == NULL && clv_sim_chooser_open(&job.options, &job.chooser) != CLV_OK) {
        fail("out of memory");
    }
    run_calls(&job);
    clv_sim_chooser_close(&job.chooser);
    job_free(&job);
    MPI_Finalize();
    return 0;
}
