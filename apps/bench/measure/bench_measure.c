/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The measuring loop; see bench_measure.h. One round is Algorithm 5 of the HCA3 paper with a delay
 * per rank between the common start and the call.
 */
#include "apps/bench/measure/bench_measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/bench/measure/bench_process.h"
#include "apps/bench/measure/bench_stats.h"
#include "util/util_alloc.h"
#include "util/util_time.h"

#define WARM_CALLS 2 /* for algorithms that do not learn: connections, buffers */
#define MAX_TRIES  3 /* of a call whose start any rank missed */

/* A rank's record of one call; gathered as numbers after the last round. */
typedef struct record {
    int64_t start_ns; /* the planned arrival */
    int64_t delay_ns; /* delay of that arrival after this rank's start */
    int64_t arrival_ns;
    int64_t exit_ns;
    int64_t cpu_wait_ns;
    int64_t is_on_time;
    int64_t is_valid;
    int64_t is_hinted;  /* the component accepted this rank's announcement */
    int64_t longest_ns; /* longest time in the call on any rank; known to all */
} record_t;
#define RECORD_NUMBERS ((int) (sizeof(record_t) / sizeof(int64_t)))

const clv_bench_scheme_t clv_bench_schemes[] = {
    {"each", "each call: MS1 with sync barrier, MS4 with window", false, false},
    {"ms2", "--in-row calls together, the mean of them", true, false},
    {"ms3", "the same with an MPI_Barrier behind each", true, true},
    {NULL, NULL, false, false},
};

/* ---- one call ---- */

/* Makes one call, or a row of calls. */
static int perform_all(const clv_bench_setup_t *setup, int a, const clv_bench_call_t *call)
{
    const int64_t n = setup->scheme->is_row ? setup->in_row : 1;
    int status = MPI_SUCCESS;

    for (int64_t i = 0; i < n && status == MPI_SUCCESS; i++) {
        status = clv_bench_perform(setup, a, call);
        if (setup->scheme->has_barrier) {
            MPI_Barrier(setup->sync->comm);
        }
    }
    return status;
}

/* The exit of one call of a row, if it took the mean time of the row. */
static int64_t mean_exit(const clv_bench_setup_t *setup, int64_t arrival_ns, int64_t exit_ns)
{
    return setup->scheme->is_row ? arrival_ns + (exit_ns - arrival_ns) / setup->in_row : exit_ns;
}

static int timed_call(const clv_bench_setup_t *setup, int a, const clv_bench_call_t *call,
                      record_t *record)
{
    clv_bench_sync_t *sync = setup->sync;
    const int64_t waited_ns = clv_bench_cpu_wait_ns();

    record->delay_ns = call->delay_ns[call->rank];
    record->start_ns = clv_bench_sync_start(sync) + record->delay_ns;
    record->is_hinted = clv_bench_announce(setup, a, record->start_ns);
    record->is_on_time =
        !sync->has_missed &&
        (sync->slack_ns == 0 || clv_bench_clock_now(&sync->clock) <= record->start_ns);
    clv_bench_clock_wait(&sync->clock, record->start_ns);
    record->arrival_ns = clv_bench_clock_now(&sync->clock);
    const int status = perform_all(setup, a, call);
    const int64_t end_ns = clv_bench_clock_now(&sync->clock);
    record->exit_ns = mean_exit(setup, record->arrival_ns, end_ns);
    record->cpu_wait_ns = clv_bench_cpu_wait_ns() - waited_ns;
    /* A searched window must contain the call; a short fixed one delays the next start. */
    const int64_t window_end_ns = record->start_ns - record->delay_ns + sync->window_ns;
    record->is_on_time &= setup->window.rule->judge == NULL || end_ns <= window_end_ns;
    return status;
}

/* Exchanges what all ranks must know of a call: whether every rank heard the start in time, the
 * longest time in it, whether a rank was interrupted. Returns whether it failed on any rank. */
static bool agree(clv_bench_setup_t *setup, int status, record_t *record)
{
    int64_t facts[] = {!record->is_on_time, status != MPI_SUCCESS,
                       record->exit_ns - record->arrival_ns, clv_bench_interrupted()};

    MPI_Allreduce(MPI_IN_PLACE, facts, 4, MPI_INT64_T, MPI_MAX, setup->sync->comm);
    record->is_on_time = !facts[0];
    record->longest_ns = facts[2];
    setup->interrupted = (int) facts[3];
    return facts[1] != 0;
}

/* Prepares the next call, whichever it is; each call has its own input. Called before the ranks
 * agree on the previous call, so that no rank fills a buffer between the broadcast of a start and
 * the start itself. */
static void prepare(clv_bench_setup_t *setup, clv_bench_call_t *call)
{
    call->iteration++;
    clv_bench_fill(setup->collective, call);
    clv_bench_cache_cool(&setup->cache);
}

/* Repeats a call whose start was missed. Wrong results count even so. Returns an MPI error, equal
 * on all ranks or fatal. */
static int round_of(clv_bench_setup_t *setup, int a, clv_bench_call_t *call, record_t *record)
{
    const int n_tries = setup->window.rule->judge == NULL ? MAX_TRIES : 1;

    call->comm = setup->comms[a];
    for (int attempt = 0; attempt < n_tries; attempt++) {
        if (setup->sync->has_barrier) {
            MPI_Barrier(setup->sync->comm); /* a double barrier, with that of the start */
        }
        const int status = timed_call(setup, a, call, record);
        record->is_valid &= setup->algorithms[a].is_bound || setup->collective->is_valid(call);
        prepare(setup, call);
        if (agree(setup, status, record)) {
            return MPI_ERR_OTHER;
        }
        if (record->is_on_time || setup->interrupted) {
            break;
        }
    }
    return MPI_SUCCESS;
}

/* ---- metrics from the records of all ranks ---- */

/* How far apart ranks would have arrived without their delays. */
static double start_spread(const record_t *all, int64_t stride, int n_ranks)
{
    int64_t first_ns = INT64_MAX;
    int64_t last_ns = INT64_MIN;

    for (int r = 0; r < n_ranks; r++) {
        const record_t *one = &all[(int64_t) r * stride];
        const int64_t start_ns = one->arrival_ns - one->delay_ns;
        first_ns = start_ns < first_ns ? start_ns : first_ns;
        last_ns = start_ns > last_ns ? start_ns : last_ns;
    }
    return (double) (last_ns - first_ns);
}

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
    m.first_ns = first_ns;
    m.start_spread_ns = start_spread(all, stride, n_ranks);
    return m;
}

/* Over the calls that every rank started in time. */
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

/* Copies all ranks' visits of a call. */
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

/* Runs on rank 0, which has the data of all ranks: metrics, lateness, visits. */
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
    const bool is_reporter = call->rank == 0;
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

/* Whether a call before the measured ones has no effect and can be skipped. */
static bool is_idle(const clv_bench_setup_t *setup, int a, int64_t left)
{
    return setup->warm_learners && left > WARM_CALLS &&
           strncmp(setup->algorithms[a].components, "clv", 3) != 0;
}

/* A measurement under way. Rounds are numbered across batches; the number selects the pattern's
 * iteration. */
typedef struct rounds {
    const clv_pattern_t *pattern;
    record_t *records; /* [iterations][n_algorithms] */
    int *order;
    int64_t *delay_ns;
    double *scratch; /* [iterations] */
    int64_t warmup;
    int64_t iterations; /* capacity of records */
    int64_t n_done;     /* rounds of all kinds */
    int64_t n_kept;     /* rounds in the records */
    uint64_t wrong;     /* bit per algorithm with a wrong result, in any round */
    int64_t begun_ns;   /* local clock, as the next */
    int64_t shown_ns;
} rounds_t;

static clv_status_t one_round(clv_bench_setup_t *setup, rounds_t *rounds, record_t *row)
{
    clv_pattern_fill(rounds->pattern, rounds->n_done, rounds->delay_ns);
    clv_bench_shuffle(setup, rounds->n_done, rounds->order);
    for (int k = 0; k < setup->n_algorithms && !setup->interrupted; k++) {
        const int a = rounds->order[k];
        if (!is_idle(setup, a, rounds->warmup - rounds->n_done) &&
            round_of(setup, a, &setup->call, &row[a]) != MPI_SUCCESS) {
            return CLV_SYSTEM;
        }
    }
    rounds->n_done++;
    clv_bench_show_progress(setup, rounds->n_done, rounds->warmup + rounds->iterations, "rounds",
                            &rounds->shown_ns);
    return CLV_OK;
}

/* Warm-up calls all use the first row; wrong results are recorded there. */
static clv_status_t warm_up(clv_bench_setup_t *setup, rounds_t *rounds)
{
    clv_status_t status = CLV_OK;

    setup->sync->next_ns = 0;
    while (status == CLV_OK && rounds->n_done < rounds->warmup && !setup->interrupted &&
           !clv_bench_is_time_up(setup, rounds->begun_ns)) {
        status = one_round(setup, rounds, rounds->records);
    }
    return status;
}

/* Runs n rounds into the records from `at` on. *n_made_p: rounds completed in time, without an
 * interrupted one. */
static clv_status_t run_batch(clv_bench_setup_t *setup, rounds_t *rounds, int64_t at, int64_t n,
                              int64_t *n_made_p)
{
    record_t *row = rounds->records + at * setup->n_algorithms;
    clv_status_t status = CLV_OK;
    int64_t n_made = 0;

    setup->sync->next_ns = 0;
    while (status == CLV_OK && n_made < n && !setup->interrupted &&
           !clv_bench_is_time_up(setup, rounds->begun_ns)) {
        status = one_round(setup, rounds, row);
        row += setup->n_algorithms;
        n_made += !setup->interrupted;
    }
    *n_made_p = n_made;
    return status;
}

static int is_round_valid(const clv_bench_setup_t *setup, const record_t *row)
{
    int is_valid = 1;

    for (int a = 0; a < setup->n_algorithms; a++) {
        is_valid &= (int) row[a].is_on_time;
    }
    return is_valid;
}

/* Moves the valid rounds of a batch behind those kept so far, and counts them. */
static void keep_valid(const clv_bench_setup_t *setup, rounds_t *rounds, int64_t n_made,
                       clv_window_batch_t *batch)
{
    const size_t n = (size_t) setup->n_algorithms;
    record_t *first = rounds->records + (size_t) rounds->n_kept * n;
    int64_t in_row = 0;

    batch->n_rounds = n_made;
    batch->n_calls = n_made * setup->n_algorithms;
    for (int64_t i = 0; i < n_made; i++) {
        const record_t *row = first + (size_t) i * n;
        in_row = is_round_valid(setup, row) ? 0 : in_row + 1;
        batch->longest_invalid = in_row > batch->longest_invalid ? in_row : batch->longest_invalid;
        for (size_t a = 0; a < n; a++) {
            batch->n_invalid += !row[a].is_on_time;
            rounds->wrong |= (uint64_t) !row[a].is_valid << a;
        }
        if (in_row == 0) {
            memmove(rounds->records + (size_t) rounds->n_kept++ * n, row, n * sizeof *row);
        }
    }
    batch->n_kept = rounds->n_kept;
}

/* Relative standard error of the longest times in the calls, of the algorithm with the largest. */
static double standard_error(const clv_bench_setup_t *setup, const rounds_t *rounds)
{
    const size_t n = (size_t) rounds->n_kept;
    double worst = 0.0;

    for (int a = 0; a < setup->n_algorithms && n > 1; a++) {
        for (size_t i = 0; i < n; i++) {
            const record_t *row = rounds->records + i * (size_t) setup->n_algorithms;
            rounds->scratch[i] = (double) row[a].longest_ns;
        }
        const double error = clv_stats_deviation(rounds->scratch, n) / sqrt((double) n);
        worst = fmax(worst, error / clv_stats_mean(rounds->scratch, n));
    }
    return n > 1 ? worst : INFINITY;
}

/* Estimates the minimum time of a call, on the slowest rank, with the slowest algorithm, from a
 * tenth of the rounds (NBCBench). They are not kept. */
static clv_status_t estimate(clv_bench_setup_t *setup, rounds_t *rounds)
{
    const int64_t n = rounds->iterations / 10 > 0 ? rounds->iterations / 10 : 1;
    int64_t longest_ns = 1;
    int64_t n_made;

    const clv_status_t status = run_batch(setup, rounds, 0, n, &n_made);
    for (int a = 0; a < setup->n_algorithms && status == CLV_OK && n_made > 0; a++) {
        int64_t least_ns = INT64_MAX;
        for (int64_t i = 0; i < n_made; i++) {
            const record_t *record = &rounds->records[i * setup->n_algorithms + a];
            const int64_t took_ns = record->exit_ns - record->arrival_ns;
            least_ns = took_ns < least_ns ? took_ns : least_ns;
        }
        longest_ns = least_ns > longest_ns ? least_ns : longest_ns;
    }
    MPI_Allreduce(MPI_IN_PLACE, &longest_ns, 1, MPI_INT64_T, MPI_MAX, setup->sync->comm);
    clv_window_estimate(&setup->window, longest_ns);
    return status;
}

/* Calls before the first window start after barriers. */
static clv_status_t prepare_window(clv_bench_setup_t *setup, rounds_t *rounds)
{
    const clv_bench_sync_t kept = *setup->sync;

    clv_window_start(&setup->window, 0, rounds->iterations);
    clv_bench_sync_behind_barriers(setup->sync);
    clv_status_t status = warm_up(setup, rounds);
    if (status == CLV_OK && setup->window.rule->wants_estimate) {
        status = estimate(setup, rounds);
    }
    *setup->sync = kept;
    return status;
}

/* Runs batches until the window's rule has enough. */
static clv_status_t run_batches(clv_bench_setup_t *setup, rounds_t *rounds)
{
    clv_window_t *window = &setup->window;
    clv_status_t status = prepare_window(setup, rounds);

    while (status == CLV_OK && !window->is_done && !setup->interrupted) {
        clv_window_batch_t batch = {0};
        int64_t n_made = 0;
        rounds->n_kept = window->starts_anew ? 0 : rounds->n_kept;
        setup->sync->window_ns = window->window_ns;
        batch.total_ns = -clv_local_now_ns();
        status = run_batch(setup, rounds, rounds->n_kept, window->n_rounds, &n_made);
        batch.total_ns += clv_local_now_ns();
        MPI_Bcast(&batch.total_ns, 1, MPI_INT64_T, 0, setup->sync->comm);
        if (n_made == 0) {
            break; /* time is up, or interrupted */
        }
        keep_valid(setup, rounds, n_made, &batch);
        batch.standard_error = standard_error(setup, rounds);
        clv_window_judge(window, &batch);
    }
    return status;
}

static clv_status_t run_all(clv_bench_setup_t *setup, rounds_t *rounds)
{
    rounds->begun_ns = rounds->shown_ns = clv_local_now_ns();
    setup->call.delay_ns = rounds->delay_ns;
    for (int64_t i = 0; i < rounds->iterations * setup->n_algorithms; i++) {
        rounds->records[i].is_valid = 1;
    }
    prepare(setup, &setup->call);
    MPI_Barrier(setup->sync->comm); /* the only one: in later rounds ranks meet when they agree */
    if (setup->window.rule->judge != NULL) {
        return run_batches(setup, rounds);
    }
    const clv_status_t status = warm_up(setup, rounds);
    return status == CLV_OK ? run_batch(setup, rounds, 0, rounds->iterations, &rounds->n_kept)
                            : status;
}

clv_status_t clv_bench_measure(clv_bench_setup_t *setup, const clv_pattern_t *pattern,
                               int64_t warmup, int64_t iterations, int64_t *n_rounds_p,
                               clv_bench_metrics_t **metrics_p)
{
    const size_t n_algorithms = (size_t) setup->n_algorithms;
    rounds_t rounds = {.pattern = pattern,
                       .records = clv_alloc((size_t) iterations * n_algorithms, sizeof(record_t)),
                       .order = clv_alloc(n_algorithms, sizeof(int)),
                       .delay_ns = clv_alloc((size_t) setup->call.n_ranks, sizeof(int64_t)),
                       .scratch = clv_alloc((size_t) iterations, sizeof(double)),
                       .warmup = warmup,
                       .iterations = iterations};
    clv_status_t status = CLV_NO_MEMORY;

    *metrics_p = NULL;
    if (rounds.records && rounds.order && rounds.delay_ns && rounds.scratch) {
        status = run_all(setup, &rounds);
        *n_rounds_p = rounds.n_kept;
        for (size_t a = 0; a < n_algorithms; a++) {
            rounds.records[a].is_valid &= !(rounds.wrong >> a & 1);
        }
        if (status == CLV_OK && (rounds.n_kept > 0 || !setup->interrupted)) {
            status = collect(setup, rounds.records, rounds.n_kept * setup->n_algorithms, metrics_p);
        }
    }
    setup->call.delay_ns = NULL;
    clv_free(rounds.scratch);
    clv_free(rounds.delay_ns);
    clv_free(rounds.order);
    clv_free(rounds.records);
    return status;
}
