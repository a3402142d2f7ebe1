/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Kolmogorov's and Smirnov's tests: how far two distributions are apart, anywhere.
 *
 * What: the tests of distributions that "MPI Benchmarking Revisited" (section 6.2) tries beside
 * Shapiro and Wilk's. As R's ks.test computes them, two-sided.
 * Not: a verdict. With mean and deviation taken from the sample itself the probability is too
 * large (R warns of nothing either); Shapiro and Wilk's test is the one for normality then.
 * Units: those of the values. Pure, allocates what it needs and frees it; thread-safe.
 */
#ifndef CLV_BENCH_SMIRNOV_H
#define CLV_BENCH_SMIRNOV_H

#include "apps/bench/measure/bench_stats.h"

/* Is it a sample of the normal distribution with that mean and deviation? statistic is the largest
 * distance of the distribution functions. Exact below 100 values without ties (Marsaglia, Tsang and
 * Wang), else Kolmogorov's limit. CLV_INVALID without values or a deviation. */
clv_status_t clv_stats_kolmogorov(const double *values, size_t n_values, double mean,
                                  double deviation, clv_stats_test_t *test_p) CLV_MUST_CHECK;

/* Do both samples come from one distribution? Exact, given the ties, where n_x * n_y is below
 * 10,000, else the limit. CLV_INVALID for an empty sample. */
clv_status_t clv_stats_smirnov(const double *x, size_t n_x, const double *y, size_t n_y,
                               clv_stats_test_t *test_p) CLV_MUST_CHECK;

#endif
