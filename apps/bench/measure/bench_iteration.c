/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Last ends, iteration times and run-ahead of a block of iterations; see bench_iteration.h.
 */
#include "apps/bench/measure/bench_iteration.h"

#include <math.h>

#include "apps/bench/measure/bench_stats.h"
#include "util/util_alloc.h"

/* The times of all ranks in a block. */
typedef struct block {
    const clv_iteration_times_t *times;
    int n_ranks;
    int64_t n_calls;
    int64_t lead;
    int64_t start_ns;
} block_t;

static const clv_iteration_times_t *at(const block_t *block, int rank, int64_t call)
{
    return &block->times[rank * block->n_calls + call];
}

/* When the last rank ended that iteration; -1 is the start of the block. */
static int64_t last_end_of(const block_t *block, int64_t call)
{
    int64_t last_ns = block->start_ns;

    for (int r = 0; call >= 0 && r < block->n_ranks; r++) {
        const int64_t end_ns = at(block, r, call)->end_ns;
        last_ns = r == 0 || end_ns > last_ns ? end_ns : last_ns;
    }
    return last_ns;
}

/* Mean time between two arrivals of a rank, from the last call that does not count, if any, to the
 * last call. */
static double iteration_of_rank(const block_t *block, int rank)
{
    const int64_t first = block->lead > 0 ? block->lead - 1 : 0;
    const int64_t last = block->n_calls - 1;

    return (double) (at(block, rank, last)->arrival_ns - at(block, rank, first)->arrival_ns) /
           (double) (last - first);
}

static void add_ranks(const block_t *block, clv_iteration_t *figures, double *rank_iteration_ns)
{
    for (int r = 0; r < block->n_ranks; r++) {
        const double own = iteration_of_rank(block, r);
        figures->fastest_ns = r == 0 ? own : fmin(figures->fastest_ns, own);
        figures->slowest_ns = r == 0 ? own : fmax(figures->slowest_ns, own);
        if (rank_iteration_ns) {
            rank_iteration_ns[r] = own;
        }
    }
}

static void add_call(const block_t *block, int64_t call, clv_iteration_t *figures)
{
    const double n = (double) block->n_ranks * (double) (block->n_calls - block->lead);
    const int64_t last_end_ns = last_end_of(block, call);

    for (int r = 0; r < block->n_ranks; r++) {
        const clv_iteration_times_t *one = at(block, r, call);
        const double inside = (double) (one->exit_ns - one->arrival_ns);
        figures->in_call_ns += inside / n;
        figures->in_couple_ns += (double) (one->end_ns - one->exit_ns) / n;
        figures->worst_ns = fmax(figures->worst_ns, inside);
        figures->ahead_ns = fmax(figures->ahead_ns, (double) (last_end_ns - one->end_ns));
    }
}

/* Adds the 99th percentile of the times in the call, over all ranks. */
static clv_status_t add_p99(const block_t *block, clv_iteration_t *figures)
{
    const size_t n = (size_t) block->n_ranks * (size_t) (block->n_calls - block->lead);
    double *inside_ns = clv_alloc(n, sizeof *inside_ns);
    size_t i = 0;

    if (!inside_ns) {
        return CLV_NO_MEMORY;
    }
    for (int r = 0; r < block->n_ranks; r++) {
        for (int64_t call = block->lead; call < block->n_calls; call++) {
            const clv_iteration_times_t *one = at(block, r, call);
            inside_ns[i++] = (double) (one->exit_ns - one->arrival_ns);
        }
    }
    clv_stats_sort(inside_ns, n);
    figures->p99_ns = clv_stats_quantile(inside_ns, n, 0.99);
    clv_free(inside_ns);
    return CLV_OK;
}

/* Both sequences ascend, so one walk through the other rank's exits serves all of this rank's
 * arrivals. */
static int64_t most_ahead_of(const block_t *block, int rank, int other)
{
    int64_t n_left = 0; /* calls the other has left */
    int64_t most = 0;

    for (int64_t call = block->lead; call < block->n_calls; call++) {
        const int64_t now_ns = at(block, rank, call)->arrival_ns;
        while (n_left < block->n_calls && at(block, other, n_left)->exit_ns <= now_ns) {
            n_left++;
        }
        most = call - n_left > most ? call - n_left : most;
    }
    return most;
}

static int64_t most_ahead(const block_t *block)
{
    int64_t most = 0;

    for (int r = 0; r < block->n_ranks; r++) {
        for (int other = 0; other < block->n_ranks; other++) {
            const int64_t ahead = most_ahead_of(block, r, other);
            most = ahead > most ? ahead : most;
        }
    }
    return most;
}

clv_status_t clv_iteration_derive(const clv_iteration_times_t *times, int n_ranks, int64_t n_calls,
                                  int64_t lead, int64_t start_ns, clv_iteration_t *figures_p,
                                  double *rank_iteration_ns)
{
    const block_t block = {times, n_ranks, n_calls, lead, start_ns};
    clv_iteration_t figures = {0};

    if (n_ranks < 1 || lead < 0 || n_calls - lead < 2) {
        return CLV_INVALID;
    }
    figures.iteration_ns =
        (double) (last_end_of(&block, n_calls - 1) - last_end_of(&block, lead - 1)) /
        (double) (n_calls - lead);
    add_ranks(&block, &figures, rank_iteration_ns);
    for (int64_t call = lead; call < n_calls; call++) {
        add_call(&block, call, &figures);
    }
    figures.ahead_calls = (double) most_ahead(&block);
    if (add_p99(&block, &figures) != CLV_OK) {
        return CLV_NO_MEMORY;
    }
    *figures_p = figures;
    return CLV_OK;
}
