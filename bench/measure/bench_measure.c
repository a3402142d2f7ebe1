/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The measuring loop; see bench_measure.h. One round is Algorithm 5 of the HCA3 paper with a delay
 * per rank between the common start and the call.
 */
#include "bench/measure/bench_measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure/bench_call.h"
#include "util/util_alloc.h"
#include "util/util_time.h"

#define WARM_CALLS 2 /* of what does not learn: connections, buffers */
#define MAX_TRIES  3 /* of a call whose start some rank missed */

/* What a rank knows of one call; gathered as numbers after the last round. */
typedef struct record {
    int64_t start_ns; /* the planned arrival */
    int64_t arrival_ns;
    int64_t exit_ns;
    int64_t cpu_wait_ns;
    int64_t is_on_time;
    int64_t is_valid;
    int64_t is_hinted; /* the component took this rank's announcement */
} record_t;
#define RECORD_NUMBERS ((int) (sizeof(record_t) / sizeof(int64_t)))

/* ---- one call ---- */

static int timed_call(const clv_bench_setup_t *setup, int a, const clv_bench_call_t *call,
                      record_t *record)
{
    clv_bench_sync_t *sync = setup->sync;
    const int64_t waited_ns = clv_bench_cpu_wait_ns();

    record->start_ns = clv_bench_sync_start(sync) + call->delay_ns[call->rank];
    record->is_hinted = clv_bench_announce(setup, a, record->start_ns);
    record->is_on_time =
        clv_bench_clock_now(&sync->clock) <= record->start_ns || sync->slack_ns == 0;
    clv_bench_clock_wait(&sync->clock, record->start_ns);
    record->arrival_ns = clv_bench_clock_now(&sync->clock);
    const int status = clv_bench_perform(setup, a, call);
    record->exit_ns = clv_bench_clock_now(&sync->clock);
    record->cpu_wait_ns = clv_bench_cpu_wait_ns() - waited_ns;
    return status;
}

/* Repeats a call whose start was missed; what it computed counts all the same. Returns an MPI
 * error, the same on all ranks or fatal. */
static int round_of(const clv_bench_setup_t *setup, int a, clv_bench_call_t *call, record_t *record)
{
    int flags[2];
    int status = MPI_SUCCESS;

    call->comm = setup->comms[a];
    for (int attempt = 0; attempt < MAX_TRIES && status == MPI_SUCCESS; attempt++) {
        clv_bench_fill(setup->collective, call);
        MPI_Barrier(setup->sync->comm); /* filling must not eat the time between notice and start */
        status = timed_call(setup, a, call, record);
        record->is_valid &= setup->algorithms[a].is_bound || setup->collective->is_valid(call);
        flags[0] = !record->is_on_time;
        flags[1] = status != MPI_SUCCESS;
        MPI_Allreduce(MPI_IN_PLACE, flags, 2, MPI_INT, MPI_MAX, setup->sync->comm);
        if (flags[1]) {
            return MPI_ERR_OTHER;
        }
        record->is_on_time = !flags[0];
        if (!flags[0]) {
            break;
        }
    }
    return status;
}

/* ---- metrics from the records of all ranks ---- */

static clv_bench_metrics_t derive(const record_t *all, int64_t stride, int n_ranks, int root)
{
    clv_bench_metrics_t m = {.is_usable = 1, .is_valid = 1, .is_hinted = 1};
    int64_t first_ns = INT64_MAX;
    int64_t last_ns = INT64_MIN;
    int64_t exit_ns = INT64_MIN;

    for (int r = 0; r < n_ranks; r++) {
        const record_t *one = &all[(int64_t) r * stride];
        const double in_mpi = (double) (one->exit_ns - one->arrival_ns);
        const double error = (double) llabs(one->arrival_ns - one->start_ns);
        m.mpi_mean_ns += in_mpi / n_ranks;
        m.mpi_max_ns = in_mpi > m.mpi_max_ns ? in_mpi : m.mpi_max_ns;
        m.mpi_root_ns = r == root ? in_mpi : m.mpi_root_ns;
        m.mpi_late_ns = one->arrival_ns > last_ns ? in_mpi : m.mpi_late_ns;
        m.arrival_error_ns = error > m.arrival_error_ns ? error : m.arrival_error_ns;
        m.cpu_wait_ns += (double) one->cpu_wait_ns / n_ranks;
        m.is_usable &= (int) one->is_on_time;
        m.is_valid &= (int) one->is_valid;
        m.is_hinted &= (int) one->is_hinted;
        first_ns = one->arrival_ns < first_ns ? one->arrival_ns : first_ns;
        last_ns = one->arrival_ns > last_ns ? one->arrival_ns : last_ns;
        exit_ns = one->exit_ns > exit_ns ? one->exit_ns : exit_ns;
    }
    m.after_ns = (double) (exit_ns - last_ns);
    m.run_ns = (double) (exit_ns - first_ns);
    return m;
}

/* Of the calls that every rank started in time. */
static void find_lateness(const clv_bench_setup_t *setup, const record_t *all, int64_t n_calls,
                          const clv_bench_metrics_t *metrics)
{
    const int n_ranks = setup->call.n_ranks;
    int64_t n = 0;

    for (int64_t i = 0; i < n_calls; i++) {
        n += metrics[i].is_usable;
    }
    for (int r = 0; r < n_ranks; r++) {
        setup->late_ns[r] = 0.0;
    }
    for (int64_t i = 0; i < n_calls; i++) {
        int64_t first_ns = INT64_MAX;
        for (int r = 0; r < n_ranks; r++) {
            const int64_t arrival_ns = all[r * n_calls + i].arrival_ns;
            first_ns = arrival_ns < first_ns ? arrival_ns : first_ns;
        }
        for (int r = 0; metrics[i].is_usable && r < n_ranks; r++) {
            setup->late_ns[r] += (double) (all[r * n_calls + i].arrival_ns - first_ns) / (double) n;
        }
    }
}

/* All ranks' visits of a call. */
static void find_visits(const record_t *all, int64_t stride, int n_ranks, clv_bench_visit_t *visits)
{
    int64_t first_ns = INT64_MAX;

    for (int r = 0; r < n_ranks; r++) {
        const int64_t arrival_ns = all[r * stride].arrival_ns;
        first_ns = arrival_ns < first_ns ? arrival_ns : first_ns;
    }
    for (int r = 0; r < n_ranks; r++) {
        visits[r].arrival_ns = all[r * stride].arrival_ns - first_ns;
        visits[r].exit_ns = all[r * stride].exit_ns - first_ns;
    }
}

/* On rank 0, where everything of all ranks is: metrics, lateness, visits. */
static void derive_all(const clv_bench_setup_t *setup, const record_t *all, int64_t n_calls,
                       clv_bench_metrics_t *metrics)
{
    const int n_ranks = setup->call.n_ranks;

    for (int64_t i = 0; i < n_calls; i++) {
        metrics[i] = derive(all + i, n_calls, n_ranks, setup->call.root);
        if (setup->visits) {
            find_visits(all + i, n_calls, n_ranks, setup->visits + i * n_ranks);
        }
    }
    find_lateness(setup, all, n_calls, metrics);
}

static clv_status_t collect(clv_bench_setup_t *setup, const record_t *own, int64_t n_calls,
                            clv_bench_metrics_t **metrics_p)
{
    const clv_bench_call_t *call = &setup->call;
    const int is_reporter = call->rank == 0;
    const size_t n_all = (size_t) n_calls * (size_t) call->n_ranks;
    record_t *all = is_reporter ? clv_alloc(n_all, sizeof *all) : NULL;
    clv_bench_metrics_t *metrics =
        is_reporter ? clv_alloc((size_t) n_calls, sizeof *metrics) : NULL;
    clv_free(setup->visits);
    setup->visits =
        is_reporter && setup->wants_visits ? clv_alloc(n_all, sizeof *setup->visits) : NULL;
    int failed = is_reporter && (!all || !metrics || (setup->wants_visits && !setup->visits));

    MPI_Bcast(&failed, 1, MPI_INT, 0, setup->sync->comm);
    if (!failed) {
        MPI_Gather(own, (int) n_calls * RECORD_NUMBERS, MPI_INT64_T, all,
                   (int) n_calls * RECORD_NUMBERS, MPI_INT64_T, 0, setup->sync->comm);
        if (all && metrics) {
            derive_all(setup, all, n_calls, metrics);
        }
        *metrics_p = metrics;
        metrics = NULL;
    }
    clv_free(metrics);
    clv_free(all);
    return failed ? CLV_NO_MEMORY : CLV_OK;
}

/* ---- the loop ---- */

/* Calls before the measured ones that change nothing need not be made. */
static int is_idle(const clv_bench_setup_t *setup, int a, int64_t left)
{
    return setup->warm_learners && left > WARM_CALLS &&
           strncmp(setup->algorithms[a].components, "clv", 3) != 0;
}

static clv_status_t run_rounds(clv_bench_setup_t *setup, const clv_pattern_t *pattern,
                               int64_t warmup, int64_t iterations, record_t *records, int *order,
                               int64_t *delay_ns, int64_t *n_rounds_p)
{
    const int64_t begun_ns = clv_local_now_ns();
    int64_t shown_ns = begun_ns;
    int64_t n_rounds = 0;

    /* The calls before the measured ones share the first row: a wrong result there shows in it. */
    for (int64_t i = 0; i < iterations * setup->n_algorithms; i++) {
        records[i].is_valid = 1;
    }
    setup->call.delay_ns = delay_ns;
    setup->sync->next_ns = 0;
    for (int64_t i = 0; i < warmup + iterations && !clv_bench_is_time_up(setup, begun_ns); i++) {
        record_t *row = records + (i < warmup ? 0 : i - warmup) * setup->n_algorithms;
        clv_pattern_fill(pattern, i, delay_ns);
        clv_bench_shuffle(setup, i, order);
        setup->call.iteration = i;
        for (int k = 0; k < setup->n_algorithms; k++) {
            if (!is_idle(setup, order[k], warmup - i) &&
                round_of(setup, order[k], &setup->call, &row[order[k]]) != MPI_SUCCESS) {
                return CLV_SYSTEM;
            }
        }
        n_rounds = i < warmup ? 0 : i - warmup + 1;
        clv_bench_show_progress(setup, i + 1, warmup + iterations, "rounds", &shown_ns);
    }
    *n_rounds_p = n_rounds;
    return CLV_OK;
}

clv_status_t clv_bench_measure(clv_bench_setup_t *setup, const clv_pattern_t *pattern,
                               int64_t warmup, int64_t iterations, int64_t *n_rounds_p,
                               clv_bench_metrics_t **metrics_p)
{
    record_t *records =
        clv_alloc((size_t) iterations * (size_t) setup->n_algorithms, sizeof *records);
    int *order = clv_alloc((size_t) setup->n_algorithms, sizeof *order);
    int64_t *delay_ns = clv_alloc((size_t) setup->call.n_ranks, sizeof *delay_ns);
    clv_status_t status = CLV_NO_MEMORY;

    *metrics_p = NULL;
    if (records && order && delay_ns) {
        status =
            run_rounds(setup, pattern, warmup, iterations, records, order, delay_ns, n_rounds_p);
        if (status == CLV_OK) {
            status = collect(setup, records, *n_rounds_p * setup->n_algorithms, metrics_p);
        }
    }
    setup->call.delay_ns = NULL;
    clv_free(delay_ns);
    clv_free(order);
    clv_free(records);
    return status;
}
