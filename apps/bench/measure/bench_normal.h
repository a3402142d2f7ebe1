/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Normal theory, and whether it may be used: Student's and Welch's t, Shapiro and Wilk's W,
 * autocorrelation.
 *
 * What: the tests that "MPI Benchmarking Revisited" (section 6.2) tries before it settles on rank
 * tests, and the correlation of calls one behind the other (its Fig. 16). As R computes them.
 * Not: a verdict. Times of collectives are seldom normal: bench_stats.h has tests that need not be.
 * Units: those of the values. Pure, allocates what it needs and frees it; thread-safe.
 */
#ifndef CLV_BENCH_NORMAL_H
#define CLV_BENCH_NORMAL_H

#include "apps/bench/measure/bench_stats.h"

typedef struct clv_stats_t_test {
    double t;
    double freedom;
    double p_value;
} clv_stats_t_test_t;

/* Are the means equal? Two values of each at least. is_pooled: both samples scatter alike
 * (Student); else Welch, R's t.test. CLV_INVALID for less, or when nothing scatters. */
clv_status_t clv_stats_t_test(const double *x, size_t n_x, const double *y, size_t n_y,
                              clv_stats_tail_t tail, int is_pooled,
                              clv_stats_t_test_t *test_p) CLV_MUST_CHECK;

/* Is it a sample of a normal distribution? W and the probability of a W as small, by Royston's
 * approximation (Applied Statistics 44, 1995, algorithm R94), R's shapiro.test. 3 to 5000 values
 * that are not all equal, else CLV_INVALID. */
clv_status_t clv_stats_shapiro_wilk(const double *values, size_t n_values, double *w_p,
                                    double *p_value_p) CLV_MUST_CHECK;

/* Correlation of a series with itself `lag` later, R's acf. 0 when nothing scatters or the series
 * is not longer than the lag. Not sorted, in the order of the calls. */
double clv_stats_autocorrelation(const double *values, size_t n_values, size_t lag);

/* Quantile of the standard normal distribution, 0 < p < 1: R's qnorm, to 1e-9. */
double clv_stats_normal_quantile(double p);

#endif
