/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Evaluates the times of a call (see trace_numbers.h).
 */
#include "apps/trace/trace_numbers.h"

#include <string.h>

#include "util/util_min_max.h"

static bool is_there(const clv_numbers_times_t *times, int32_t rank)
{
    return times->arrival_ns[rank] != CLV_NUMBERS_NO_TIME;
}

/* Finds first, last and end. last_rank is preliminary, as if the clocks were exact. */
static void find_ends(const clv_numbers_times_t *times, clv_numbers_call_t *call)
{
    for (int32_t i = 0; i < times->n_ranks; i++) {
        if (!is_there(times, i)) {
            continue;
        }
        const int64_t arrival_ns = times->arrival_ns[i];
        const bool is_first = call->n_present++ == 0;
        if (is_first || arrival_ns > call->last_ns) {
            call->last_ns = arrival_ns;
            call->last_rank = i;
        }
        call->first_ns = is_first ? arrival_ns : clv_smaller(call->first_ns, arrival_ns);
        call->end_ns = is_first ? times->exit_ns[i] : clv_larger(call->end_ns, times->exit_ns[i]);
        call->bound_ns = clv_larger(call->bound_ns, 2 * times->bound_ns[i]);
    }
}

/* Keeps last_rank only if it is later than every other rank by more than both clocks' errors. */
static void doubt_last(const clv_numbers_times_t *times, clv_numbers_call_t *call)
{
    const int32_t last = call->last_rank;

    for (int32_t i = 0; i < times->n_ranks && call->last_rank >= 0; i++) {
        if (i != last && is_there(times, i) &&
            times->arrival_ns[last] - times->arrival_ns[i] <=
                times->bound_ns[last] + times->bound_ns[i]) {
            call->last_rank = -1;
        }
    }
}

static void split_lateness(const clv_numbers_times_t *times, clv_numbers_rank_t *ranks,
                           clv_numbers_call_t *call)
{
    int64_t least_own_ns = INT64_MAX, least_before_ns = INT64_MAX;

    call->has_parts = true;
    for (int32_t i = 0; i < times->n_ranks; i++) {
        if (is_there(times, i)) {
            const int64_t before_ns = times->before_ns[i];
            call->has_parts &= before_ns != CLV_NUMBERS_NO_TIME;
            least_before_ns = clv_smaller(least_before_ns, before_ns);
            least_own_ns = call->has_parts
                               ? clv_smaller(least_own_ns, times->arrival_ns[i] - before_ns)
                               : least_own_ns;
        }
    }
    for (int32_t i = 0; i < times->n_ranks && call->has_parts; i++) {
        if (is_there(times, i)) {
            ranks[i].own_ns = times->arrival_ns[i] - times->before_ns[i] - least_own_ns;
            ranks[i].inherited_ns = times->before_ns[i] - least_before_ns;
        }
    }
}

static void sum_waits(const clv_numbers_times_t *times, clv_numbers_rank_t *ranks,
                      clv_numbers_call_t *call)
{
    for (int32_t i = 0; i < times->n_ranks; i++) {
        if (is_there(times, i)) {
            const int64_t arrival_ns = times->arrival_ns[i], exit_ns = times->exit_ns[i];
            ranks[i].lateness_ns = arrival_ns - call->first_ns;
            ranks[i].wait_ns = clv_larger(0, clv_smaller(exit_ns, call->last_ns) - arrival_ns);
            ranks[i].in_mpi_ns = exit_ns - arrival_ns;
            call->wait_ns += ranks[i].wait_ns;
            call->in_mpi_ns += ranks[i].in_mpi_ns;
        }
    }
}

/* Over the ranks that have both times; -1: none. One rank suffices, as a forecast covers all
 * ranks. */
static int64_t prediction_error(const clv_numbers_times_t *times, int64_t first_ns)
{
    int64_t sum_ns = 0, error_ns = 0, n = 0;

    for (int pass = 0; pass < 2; pass++) {
        const int64_t mean_ns = n == 0 ? 0 : sum_ns / n;
        for (int32_t i = 0; i < times->n_ranks && times->predicted_ns != NULL; i++) {
            if (!is_there(times, i) || times->predicted_ns[i] == CLV_NUMBERS_NO_TIME) {
                continue;
            }
            const int64_t miss_ns = times->arrival_ns[i] - first_ns - times->predicted_ns[i];
            sum_ns += pass == 0 ? miss_ns : 0;
            n += pass == 0;
            error_ns += pass == 0 ? 0 : miss_ns > mean_ns ? miss_ns - mean_ns : mean_ns - miss_ns;
        }
    }
    return n == 0 ? -1 : error_ns / n;
}

void clv_numbers_of_call(const clv_numbers_times_t *times, clv_numbers_rank_t *ranks,
                         clv_numbers_call_t *call)
{
    *call = (clv_numbers_call_t){.last_rank = -1, .error_ns = -1};
    memset(ranks, 0, (size_t) times->n_ranks * sizeof *ranks);
    find_ends(times, call);
    if (call->n_present < 2) {
        call->last_rank = -1;
        return;
    }
    doubt_last(times, call);
    call->spread_ns = call->last_ns - call->first_ns;
    call->after_ns = call->end_ns - call->last_ns;
    split_lateness(times, ranks, call);
    sum_waits(times, ranks, call);
    call->error_ns = prediction_error(times, call->first_ns);
}

int64_t clv_numbers_bound(const clv_numbers_call_t *call, int32_t root, int64_t bytes,
                          int64_t latency_ns, int64_t ps_per_byte)
{
    return root >= 0 && call->last_rank == root
               ? 0
               : latency_ns + (int64_t) ((double) bytes * (double) ps_per_byte / 1000);
}
