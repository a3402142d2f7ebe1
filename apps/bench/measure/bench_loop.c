/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Blocks of iterations of each algorithm in turn; see bench_loop.h.
 */
#include "apps/bench/measure/bench_loop.h"

#include <string.h>

#include "apps/bench/measure/bench_process.h"
#include "util/util_alloc.h"
#include "util/util_time.h"

#define TIMES_NUMBERS ((int) (sizeof(clv_iteration_times_t) / sizeof(int64_t)))

/* ---- couplings ---- */

static int couple_none(MPI_Comm comm, int root)
{
    (void) comm;
    (void) root;
    return MPI_SUCCESS;
}

static int couple_bcast(MPI_Comm comm, int root)
{
    int64_t number = 0;

    return MPI_Bcast(&number, 1, MPI_INT64_T, root, comm);
}

static int couple_barrier(MPI_Comm comm, int root)
{
    (void) root;
    return MPI_Barrier(comm);
}

static int couple_allreduce(MPI_Comm comm, int root)
{
    int64_t number = 1;

    (void) root;
    return MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT64_T, MPI_SUM, comm);
}

const clv_loop_couple_t clv_loop_couples[] = {
    {"none", "nothing: ranks run free", couple_none},
    {"bcast", "a number from the root, as of a result that all wait for", couple_bcast},
    {"barrier", "MPI_Barrier", couple_barrier},
    {"allreduce", "a number from everybody to everybody, as of a residual", couple_allreduce},
    {NULL, NULL, NULL},
};

const clv_loop_couple_t *clv_loop_couple_find(const char *name)
{
    for (const clv_loop_couple_t *row = clv_loop_couples; row->name; row++) {
        if (!strcmp(row->name, name)) {
            return row;
        }
    }
    return NULL;
}

/* ---- one measurement: what all functions below share ---- */

typedef struct measuring {
    clv_bench_setup_t *setup;
    const clv_loop_t *loop;
    const clv_pattern_t *pattern;
    clv_loop_results_t *results;
    clv_iteration_times_t *own; /* of this rank in the current block */
    clv_iteration_times_t *all; /* rank 0: of all ranks in a block */
    double *rank_iteration_ns;  /* rank 0: of the block */
    int64_t *delay_ns;
    int *order;
    int64_t block_start_ns;
    int64_t begun_ns;
    int64_t shown_ns;
    int64_t n_done; /* calls */
    int64_t n_planned;
} measuring_t;

/* A rank's report on a block besides its times; summed over ranks. */
typedef struct reported {
    int64_t n_wrong;
    int64_t cpu_wait_ns;
    int64_t n_failed;
} reported_t;
#define REPORTED_NUMBERS ((int) (sizeof(reported_t) / sizeof(int64_t)))

static void compute_until(const measuring_t *m, int64_t until_ns)
{
    const clv_bench_clock_t *clock = &m->setup->sync->clock;

    while (m->loop->is_spinning && clv_bench_clock_now(clock) < until_ns) {
    }
    clv_bench_clock_wait(clock, until_ns);
}

/* One iteration: computes from begun_ns on, calls, synchronises. */
static int iterate(measuring_t *m, int a, int64_t begun_ns, clv_iteration_times_t *times)
{
    clv_bench_setup_t *setup = m->setup;
    clv_bench_call_t *call = &setup->call;
    const clv_bench_clock_t *clock = &setup->sync->clock;
    const int64_t until_ns = begun_ns + m->loop->compute_ns + m->delay_ns[call->rank];

    (void) clv_bench_announce(setup, a, until_ns);
    clv_bench_fill(setup->collective, call);
    compute_until(m, until_ns);
    times->arrival_ns = clv_bench_clock_now(clock);
    int status = clv_bench_perform(setup, a, call);
    times->exit_ns = clv_bench_clock_now(clock);
    if (status == MPI_SUCCESS) {
        status = m->loop->couple->run(setup->sync->comm, call->root);
    }
    times->end_ns = clv_bench_clock_now(clock);
    return status;
}

/* Runs n_calls iterations from number first_iteration of the pattern on; ranks begin together. */
static reported_t run_block(measuring_t *m, int a, int64_t first_iteration, int64_t n_calls)
{
    clv_bench_setup_t *setup = m->setup;
    clv_bench_call_t *call = &setup->call;
    reported_t reported = {0};

    call->comm = setup->comms[a];
    MPI_Barrier(setup->sync->comm);
    m->block_start_ns = clv_bench_sync_start(setup->sync);
    clv_bench_clock_wait(&setup->sync->clock, m->block_start_ns);
    const int64_t waited_ns = clv_bench_cpu_wait_ns();
    int64_t begun_ns = m->block_start_ns;
    for (int64_t i = 0; i < n_calls && !reported.n_failed; i++) {
        if (call->rank == 0 && clv_bench_interrupted()) {
            m->loop->leave(m->loop->context, m->results);
        }
        call->iteration = first_iteration + i;
        clv_pattern_fill(m->pattern, call->iteration, m->delay_ns);
        reported.n_failed = iterate(m, a, begun_ns, &m->own[i]) != MPI_SUCCESS;
        begun_ns = m->own[i].end_ns;
        reported.n_wrong += !setup->algorithms[a].is_bound && !setup->collective->is_valid(call);
    }
    reported.cpu_wait_ns = clv_bench_cpu_wait_ns() - waited_ns;
    m->n_done += n_calls;
    clv_bench_show_progress(setup, m->n_done, m->n_planned, "iterations", &m->shown_ns);
    return reported;
}

/* Computes the figures of the block's first n_calls, without its lead calls, on rank 0. */
static clv_status_t conclude_block(measuring_t *m, reported_t reported, int64_t n_calls,
                                   int64_t lead_calls, clv_loop_block_t *block)
{
    const MPI_Comm comm = m->setup->sync->comm;
    const int n_ranks = m->setup->call.n_ranks;
    const int n_numbers = (int) n_calls * TIMES_NUMBERS;

    MPI_Allreduce(MPI_IN_PLACE, &reported, REPORTED_NUMBERS, MPI_INT64_T, MPI_SUM, comm);
    if (reported.n_failed) {
        return CLV_SYSTEM;
    }
    MPI_Gather(m->own, n_numbers, MPI_INT64_T, m->all, n_numbers, MPI_INT64_T, 0, comm);
    if (!block) {
        return CLV_OK;
    }
    const clv_status_t status =
        clv_iteration_derive(m->all, n_ranks, n_calls, lead_calls, m->block_start_ns,
                             &block->figures, m->rank_iteration_ns);
    const double lasted_ns = block->figures.iteration_ns * (double) (n_calls * n_ranks);
    block->n_wrong = reported.n_wrong;
    block->cpu_wait_part = lasted_ns > 0.0 ? (double) reported.cpu_wait_ns / lasted_ns : 0.0;
    return status;
}

/* ---- starts and blocks ---- */

static clv_loop_block_t *cell(const measuring_t *m, clv_loop_block_t *rows, int64_t row, int a)
{
    return rows ? &rows[row * m->setup->n_algorithms + a] : NULL;
}

/* Algorithms that do not learn need only the calls that are reported. */
static int64_t opening_calls(const measuring_t *m, int a)
{
    return m->setup->warm_learners && strncmp(m->setup->algorithms[a].components, "clv", 3) != 0
               ? CLV_LOOP_FIRST
               : m->loop->opening_calls;
}

static clv_status_t open_once(measuring_t *m, int64_t start)
{
    clv_status_t status = CLV_OK;

    clv_bench_shuffle(m->setup, -1 - start, m->order);
    for (int k = 0; k < m->setup->n_algorithms && status == CLV_OK; k++) {
        const int a = m->order[k];
        const reported_t reported = run_block(m, a, 0, opening_calls(m, a));
        status =
            conclude_block(m, reported, CLV_LOOP_FIRST, 0, cell(m, m->results->starts, start, a));
    }
    m->results->n_starts = start + 1;
    return status;
}

static void keep_rank_iterations(measuring_t *m, int64_t turn, int a)
{
    const size_t n_ranks = (size_t) m->setup->call.n_ranks;
    const size_t row = (size_t) turn * (size_t) m->setup->n_algorithms + (size_t) a;

    if (m->results->rank_iteration_ns) {
        memcpy(m->results->rank_iteration_ns + row * n_ranks, m->rank_iteration_ns,
               n_ranks * sizeof *m->rank_iteration_ns);
    }
}

static clv_status_t take_turns(measuring_t *m, int64_t turn)
{
    const int64_t n_calls = m->loop->block_calls;
    clv_status_t status = CLV_OK;

    clv_bench_shuffle(m->setup, turn, m->order);
    for (int k = 0; k < m->setup->n_algorithms && status == CLV_OK; k++) {
        const int a = m->order[k];
        const reported_t reported =
            run_block(m, a, m->loop->opening_calls + turn * n_calls, n_calls);
        status = conclude_block(m, reported, n_calls, m->loop->lead_calls,
                                cell(m, m->results->blocks, turn, a));
        keep_rank_iterations(m, turn, a);
    }
    m->results->n_blocks = turn + 1;
    return status;
}

static clv_status_t open_all(measuring_t *m, char *reason, size_t reason_bytes)
{
    clv_bench_setup_t *setup = m->setup;
    clv_status_t status = CLV_OK;

    for (int64_t start = 0; start < m->loop->n_starts && status == CLV_OK; start++) {
        clv_algorithm_free_communicators(setup->comms, setup->n_algorithms);
        status = clv_algorithm_communicators(setup->algorithms, setup->n_algorithms,
                                             setup->sync->comm, setup->comms, reason, reason_bytes);
        if (status == CLV_OK) {
            status = open_once(m, start);
        }
    }
    return status;
}

static int64_t planned_calls(const measuring_t *m)
{
    int64_t n = 0;

    for (int a = 0; a < m->setup->n_algorithms; a++) {
        n += m->loop->n_starts * opening_calls(m, a) + m->loop->n_blocks * m->loop->block_calls;
    }
    return n;
}

static clv_status_t run_all(measuring_t *m, char *reason, size_t reason_bytes)
{
    m->setup->call.delay_ns = m->delay_ns;
    m->setup->sync->next_ns = 0;
    m->n_planned = planned_calls(m);
    m->begun_ns = m->shown_ns = clv_local_now_ns();
    clv_status_t status = open_all(m, reason, reason_bytes);
    for (int64_t turn = 0; turn < m->loop->n_blocks && status == CLV_OK &&
                           !clv_bench_is_time_up(m->setup, m->begun_ns);
         turn++) {
        status = take_turns(m, turn);
    }
    clv_algorithm_free_communicators(m->setup->comms, m->setup->n_algorithms);
    m->setup->call.delay_ns = NULL;
    return status;
}

/* ---- memory ---- */

static int64_t most_calls(const clv_loop_t *loop)
{
    return loop->opening_calls > loop->block_calls ? loop->opening_calls : loop->block_calls;
}

/* Allocates the data of all ranks, on rank 0. */
static bool allocate_all(measuring_t *m)
{
    const size_t n_ranks = (size_t) m->setup->call.n_ranks;
    const size_t n_algorithms = (size_t) m->setup->n_algorithms;
    const size_t n_blocks = (size_t) m->loop->n_blocks;
    clv_loop_results_t *results = m->results;

    m->all = clv_alloc(n_ranks * (size_t) most_calls(m->loop), sizeof *m->all);
    m->rank_iteration_ns = clv_alloc(n_ranks, sizeof *m->rank_iteration_ns);
    results->starts = clv_alloc((size_t) m->loop->n_starts * n_algorithms, sizeof *results->starts);
    results->blocks = clv_alloc(n_blocks * n_algorithms, sizeof *results->blocks);
    results->rank_iteration_ns = clv_alloc(n_blocks * n_algorithms * n_ranks, sizeof(double));
    return m->all && m->rank_iteration_ns && results->starts && results->blocks &&
           results->rank_iteration_ns;
}

static clv_status_t allocate(measuring_t *m)
{
    const clv_bench_call_t *call = &m->setup->call;

    m->own = clv_alloc((size_t) most_calls(m->loop), sizeof *m->own);
    m->delay_ns = clv_alloc((size_t) call->n_ranks, sizeof *m->delay_ns);
    m->order = clv_alloc((size_t) m->setup->n_algorithms, sizeof *m->order);
    int failed = !m->own || !m->delay_ns || !m->order || (call->rank == 0 && !allocate_all(m));
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, m->setup->sync->comm);
    return failed ? CLV_NO_MEMORY : CLV_OK;
}

void clv_loop_results_free(clv_loop_results_t *results)
{
    clv_free(results->starts);
    clv_free(results->blocks);
    clv_free(results->rank_iteration_ns);
    *results = (clv_loop_results_t){0};
}

clv_status_t clv_loop_measure(clv_bench_setup_t *setup, const clv_loop_t *loop,
                              const clv_pattern_t *pattern, clv_loop_results_t *results_p,
                              char *reason, size_t reason_bytes)
{
    clv_loop_results_t results = {0};
    measuring_t m = {.setup = setup, .loop = loop, .pattern = pattern, .results = &results};
    clv_status_t status = allocate(&m);

    if (status == CLV_OK) {
        status = run_all(&m, reason, reason_bytes);
    }
    clv_free(m.order);
    clv_free(m.delay_ns);
    clv_free(m.rank_iteration_ns);
    clv_free(m.all);
    clv_free(m.own);
    if (status == CLV_OK) {
        *results_p = results;
    } else {
        clv_loop_results_free(&results);
    }
    return status;
}
