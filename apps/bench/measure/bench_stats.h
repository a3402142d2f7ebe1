/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Statistics for measurements, on plain arrays of doubles: order statistics, Tukey's filter,
 * Wilcoxon's rank sum and signed rank tests, and the corresponding shift.
 *
 * What: the method of "MPI Benchmarking Revisited" (sections 5 and 6): medians per run after the
 * outlier filter, compared over runs by a test that assumes no distribution.
 * Not: a verdict; callers choose their level.
 * Units: those of the values.
 * Errors: CLV_INVALID for samples that are too small, CLV_NO_MEMORY.
 * Memory: all is freed on return.
 * Threads: safe.
 */
#ifndef CLV_BENCH_STATS_H
#define CLV_BENCH_STATS_H

#include <stdbool.h>
#include <stddef.h>

#include "util/util_status.h"

/* Sorts ascending, in place. NaN is not allowed anywhere in this file. */
void clv_stats_sort(double *values, size_t n_values);

/* The quantile of a sorted array, 0 <= fraction <= 1, by linear interpolation between order
 * statistics (R's type 7). n_values >= 1. */
double clv_stats_quantile(const double *sorted, size_t n_values, double fraction);

/* Median of an unsorted array, which is sorted. 0 if it is empty. */
double clv_stats_median(double *values, size_t n_values);

/* Tukey's filter: keeps values within 1.5 interquartile ranges of the quartiles. Sorts, moves the
 * kept values to the front, returns their number. */
size_t clv_stats_tukey(double *values, size_t n_values);

/* The sum of squared deviations from the mean. */
double clv_stats_squares(const double *values, size_t n_values, double mean);
/* Standard deviation of a sample (over n - 1), R's sd; 0 for fewer than two values. */
double clv_stats_deviation(const double *values, size_t n_values);

/* 0 if it is empty. */
double clv_stats_mean(const double *values, size_t n_values);

typedef enum clv_stats_tail {
    CLV_STATS_TWO_SIDED,
    CLV_STATS_LESS,   /* the alternative: x tends to be smaller than y */
    CLV_STATS_GREATER /* x tends to be larger than y */
} clv_stats_tail_t;

typedef struct clv_stats_test {
    double statistic; /* W as in R: rank sum of x minus its minimum */
    double p_value;
    bool is_exact; /* false: normal approximation with tie and continuity correction */
} clv_stats_test_t;

/* Wilcoxon rank sum (Mann-Whitney) of two independent samples. Exact when both have fewer than 50
 * values and no value occurs twice, as in R's wilcox.test. CLV_INVALID for an empty sample. */
clv_status_t clv_stats_rank_sum(const double *x, size_t n_x, const double *y, size_t n_y,
                                clv_stats_tail_t tail, clv_stats_test_t *test_p) CLV_MUST_CHECK;

/* Wilcoxon signed rank of paired differences x - y. Zero differences are dropped; exact below 50
 * pairs without ties or zeros. CLV_INVALID if no pair is left. */
clv_status_t clv_stats_signed_rank(const double *x, const double *y, size_t n_pairs,
                                   clv_stats_tail_t tail, clv_stats_test_t *test_p) CLV_MUST_CHECK;

/* Hodges-Lehmann shift (median of all x - y) with the confidence interval of the exact rank sum
 * test (R's conf.int), level in (0, 1). CLV_LIMIT when the samples are too small for the level: the
 * interval would be unbounded. */
typedef struct clv_stats_shift {
    double estimate;
    double low;
    double high;
} clv_stats_shift_t;

clv_status_t clv_stats_shift(const double *x, size_t n_x, const double *y, size_t n_y, double level,
                             clv_stats_shift_t *shift_p) CLV_MUST_CHECK;

/* The same for paired differences: the median of their Walsh averages (the pseudomedian), with the
 * interval of the exact signed rank test (R's wilcox.test with conf.int and exact). It assumes
 * symmetric differences, as of logarithms of ratios when neither side is preferred. 95 % needs at
 * least six pairs: CLV_LIMIT below. O(n^2 log n) for n pairs. */
clv_status_t clv_stats_pair_shift(const double *differences, size_t n_pairs, double level,
                                  clv_stats_shift_t *shift_p) CLV_MUST_CHECK;

/* Probability that a random x is smaller than a random y, ties counting half: 0.5 means no
 * difference, 1 that every x beats every y (the "common language" effect size). */
double clv_stats_superiority(const double *x, size_t n_x, const double *y, size_t n_y);

/* ---- bench_normal.c
 *
 * Normal theory, and tests of whether it applies: Student's and Welch's t, Shapiro and Wilk's W,
 * autocorrelation.
 *
 * What: the tests that "MPI Benchmarking Revisited" (section 6.2) tries before it decides for rank
 * tests, and the correlation of successive calls (its Fig. 16). As R computes them.
 * Not: a verdict. Times of collectives are seldom normal; the tests above do not assume it. */

typedef struct clv_stats_t_test {
    double t;
    double freedom;
    double p_value;
} clv_stats_t_test_t;

/* Tests whether the means are equal, with at least two values each. is_pooled: equal variances
 * (Student); else Welch, R's t.test. CLV_INVALID for fewer values, or if all are equal. */
clv_status_t clv_stats_t_test(const double *x, size_t n_x, const double *y, size_t n_y,
                              clv_stats_tail_t tail, bool is_pooled,
                              clv_stats_t_test_t *test_p) CLV_MUST_CHECK;

/* Tests whether a sample is from a normal distribution. W and the probability of a W as small, by
 * Royston's approximation (Applied Statistics 44, 1995, algorithm R94), R's shapiro.test. 3 to 5000
 * values that are not all equal, else CLV_INVALID. */
clv_status_t clv_stats_shapiro_wilk(const double *values, size_t n_values, double *w_p,
                                    double *p_value_p) CLV_MUST_CHECK;

/* Correlation of a series, in the order of the calls, with itself `lag` later, R's acf. 0 if all
 * values are equal or the series is not longer than the lag. */
double clv_stats_autocorrelation(const double *values, size_t n_values, size_t lag);

/* Quantile of the standard normal distribution, 0 < p < 1: R's qnorm, to 1e-9. */
double clv_stats_normal_quantile(double p);

/* ---- bench_smirnov.c
 *
 * Kolmogorov's and Smirnov's tests: the largest distance between two distributions.
 *
 * What: the tests of distributions that "MPI Benchmarking Revisited" (section 6.2) tries beside
 * Shapiro and Wilk's. As R's ks.test computes them, two-sided.
 * Not: a verdict. With mean and deviation from the sample itself, the probability is too large (R
 * gives no warning either); for normality use Shapiro and Wilk's test. */

/* Tests whether a sample is from the normal distribution with that mean and deviation. statistic is
 * the largest distance of the distribution functions. Exact below 100 values without ties
 * (Marsaglia, Tsang and Wang), else Kolmogorov's limit. CLV_INVALID without values or a
 * deviation. */
clv_status_t clv_stats_kolmogorov(const double *values, size_t n_values, double mean,
                                  double deviation, clv_stats_test_t *test_p) CLV_MUST_CHECK;

/* Tests whether both samples are from one distribution. Exact, given the ties, if n_x * n_y is
 * below 10,000, else the limit. CLV_INVALID for an empty sample. */
clv_status_t clv_stats_smirnov(const double *x, size_t n_x, const double *y, size_t n_y,
                               clv_stats_test_t *test_p) CLV_MUST_CHECK;

/* ---- bench_processing.c
 *
 * What other benchmarks would report of the same calls: the ways to process measured times of "MPI
 * Benchmarking Revisited", Table IV, from every rank's own time in every call.
 *
 *   ps5   MPIBench: all times of all ranks, without those above twice their 99th percentile
 *   ps6   NBCBench: per rank one value (least, mean, median, largest), and the largest of these
 *   ps7   Intel, Phloem: per rank the mean; of these the least, the mean, the largest
 *   ps8   mpptest: the mean of rank 0; clv-bench-compare has the least of several mpiruns
 *
 * Units: ns. Errors: none; NaN without usable calls. Memory: two arrays while it runs; NaN without
 * memory. Threads: one. */

typedef struct clv_bench_processed {
    double ps5_least, ps5_mean, ps5_largest;
    double ps6_least, ps6_mean, ps6_median, ps6_largest;
    double ps7_least, ps7_mean, ps7_largest;
    double ps8_mean;
} clv_bench_processed_t;

/* times[call * n_ranks + rank]: ns in the call, of usable calls only. */
clv_bench_processed_t clv_bench_process(const double *times, size_t n_calls, size_t n_ranks);

#endif
