/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What other benchmarks would have reported of the same calls: the ways to process measured times
 * of "MPI Benchmarking Revisited", Table IV, from every rank's own time in every call.
 *
 *   ps5   MPIBench: all times of all ranks, without those above twice their 99th percentile
 *   ps6   NBCBench: of each rank one value (least, mean, median, largest), of which the largest
 *   ps7   Intel, Phloem: of each rank the mean, of which the least, the mean, the largest
 *   ps8   mpptest: the mean of rank 0; clv-bench-compare has the least of several mpiruns
 *
 * Units: ns. Errors: none; NaN without usable calls. Memory: two arrays while it runs; NaN when
 * there are none. Threads: one.
 */
#ifndef CLV_BENCH_PROCESSING_H
#define CLV_BENCH_PROCESSING_H

#include <stddef.h>

typedef struct clv_bench_processed {
    double ps5_least, ps5_mean, ps5_largest;
    double ps6_least, ps6_mean, ps6_median, ps6_largest;
    double ps7_least, ps7_mean, ps7_largest;
    double ps8_mean;
} clv_bench_processed_t;

/* times[call * n_ranks + rank]: ns in the call, of usable calls only. */
clv_bench_processed_t clv_bench_process(const double *times, size_t n_calls, size_t n_ranks);

#endif
