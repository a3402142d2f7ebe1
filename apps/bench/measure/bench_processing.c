/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See bench_stats.h.
 */

#include <math.h>
#include <string.h>

#include "apps/bench/measure/bench_stats.h"
#include "util/util_alloc.h"

#define FAR_PART  0.99 /* MPIBench: outliers are judged by this quantile */
#define FAR_TIMES 2.0  /* outliers exceed this multiple of it */

static void process_all(const double *times, size_t n, double *scratch, clv_bench_processed_t *ps)
{
    size_t n_kept = 0;

    memcpy(scratch, times, n * sizeof *scratch);
    clv_stats_sort(scratch, n);
    const double limit = FAR_TIMES * clv_stats_quantile(scratch, n, FAR_PART);
    while (n_kept < n && scratch[n_kept] <= limit) {
        n_kept++;
    }
    ps->ps5_least = scratch[0];
    ps->ps5_mean = clv_stats_mean(scratch, n_kept);
    ps->ps5_largest = scratch[n_kept > 0 ? n_kept - 1 : 0];
}

/* scratch holds the calls of one rank. */
static void process_rank(double *scratch, size_t n_calls, size_t n_ranks, int rank,
                         clv_bench_processed_t *ps)
{
    const double mean = clv_stats_mean(scratch, n_calls);
    const double median = clv_stats_median(scratch, n_calls);

    ps->ps6_least = fmax(ps->ps6_least, scratch[0]); /* sorted by now; fmax ignores NaN */
    ps->ps6_mean = fmax(ps->ps6_mean, mean);
    ps->ps6_median = fmax(ps->ps6_median, median);
    ps->ps6_largest = fmax(ps->ps6_largest, scratch[n_calls - 1]);
    ps->ps7_least = fmin(ps->ps7_least, mean);
    ps->ps7_largest = fmax(ps->ps7_largest, mean);
    ps->ps7_mean = (rank == 0 ? 0.0 : ps->ps7_mean) + mean / (double) n_ranks;
    ps->ps8_mean = rank == 0 ? mean : ps->ps8_mean;
}

clv_bench_processed_t clv_bench_process(const double *times, size_t n_calls, size_t n_ranks)
{
    clv_bench_processed_t ps = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    const size_t n = n_calls * n_ranks;
    double *scratch = n > 0 ? clv_alloc(n, sizeof *scratch) : NULL;

    if (scratch == NULL) {
        return ps;
    }
    process_all(times, n, scratch, &ps);
    for (size_t r = 0; r < n_ranks; r++) {
        for (size_t i = 0; i < n_calls; i++) {
            scratch[i] = times[i * n_ranks + r];
        }
        process_rank(scratch, n_calls, n_ranks, (int) r, &ps);
    }
    clv_free(scratch);
    return ps;
}
