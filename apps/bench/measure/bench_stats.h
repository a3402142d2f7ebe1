/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The statistics of measuring, on plain arrays of doubles: order statistics, Tukey's filter,
 * Wilcoxon's rank sum and signed rank tests, and the shift that belongs to them.
 *
 * What: the method of "MPI Benchmarking Revisited" (sections 5 and 6): medians per run after the
 * outlier filter, compared over runs by a test that assumes no distribution.
 * Not: normal theory, or a verdict; callers choose their level.
 * Units: those of the values.
 * Errors: CLV_INVALID for samples that are too small, CLV_NO_MEMORY.
 * Memory: what is allocated is freed again.
 * Threads: safe.
 */
#ifndef CLV_BENCH_STATS_H
#define CLV_BENCH_STATS_H

#include <stddef.h>

#include "util/util_status.h"

/* Sorts ascending, in place. NaN is not allowed anywhere in this file. */
void clv_stats_sort(double *values, size_t n_values);

/* The quantile of a sorted array, 0 <= fraction <= 1, by linear interpolation between order
 * statistics (R's type 7). n_values >= 1. */
double clv_stats_quantile(const double *sorted, size_t n_values, double fraction);

/* Median of an unsorted array, which gets sorted. 0 when it is empty. */
double clv_stats_median(double *values, size_t n_values);

/* Tukey's filter: keeps what lies within 1.5 interquartile ranges of the quartiles. Sorts, moves
 * the kept ones to the front, returns how many. */
size_t clv_stats_tukey(double *values, size_t n_values);

/* The sum of squares of what the values are off from their mean. */
double clv_stats_squares(const double *values, size_t n_values, double mean);
/* Standard deviation of a sample (over n - 1), R's sd; 0 for fewer than two values. */
double clv_stats_deviation(const double *values, size_t n_values);

/* 0 when it is empty. */
double clv_stats_mean(const double *values, size_t n_values);

typedef enum clv_stats_tail {
    CLV_STATS_TWO_SIDED,
    CLV_STATS_LESS,   /* the alternative: x tends to be smaller than y */
    CLV_STATS_GREATER /* x tends to be larger than y */
} clv_stats_tail_t;

typedef struct clv_stats_test {
    double statistic; /* W as R prints it: rank sum of x minus its smallest value */
    double p_value;
    int is_exact; /* 0: normal approximation with tie and continuity correction */
} clv_stats_test_t;

/* Wilcoxon rank sum (Mann-Whitney) of two independent samples. Exact when both have fewer than 50
 * values and no value occurs twice, as R's wilcox.test. CLV_INVALID for an empty sample. */
clv_status_t clv_stats_rank_sum(const double *x, size_t n_x, const double *y, size_t n_y,
                                clv_stats_tail_t tail, clv_stats_test_t *test_p) CLV_MUST_CHECK;

/* Wilcoxon signed rank of paired differences x - y. Zero differences are dropped; exact below 50
 * pairs without ties or zeros. CLV_INVALID when nothing is left. */
clv_status_t clv_stats_signed_rank(const double *x, const double *y, size_t n_pairs,
                                   clv_stats_tail_t tail, clv_stats_test_t *test_p) CLV_MUST_CHECK;

/* Hodges-Lehmann shift (median of all x - y) with the confidence interval that belongs to the exact
 * rank sum test (R's conf.int), level in (0, 1). CLV_LIMIT when the samples are too small for the
 * level: the interval would be unbounded. */
typedef struct clv_stats_shift {
    double estimate;
    double low;
    double high;
} clv_stats_shift_t;

clv_status_t clv_stats_shift(const double *x, size_t n_x, const double *y, size_t n_y, double level,
                             clv_stats_shift_t *shift_p) CLV_MUST_CHECK;

/* The same of paired differences: the median of their Walsh averages (the pseudomedian), with the
 * interval that belongs to the exact signed rank test (R's wilcox.test with conf.int and exact). It
 * assumes differences that scatter symmetrically, as logarithms of ratios do when neither side is
 * preferred. Six pairs are the least for 95 %: CLV_LIMIT below. O(n^2 log n) for n pairs. */
clv_status_t clv_stats_pair_shift(const double *differences, size_t n_pairs, double level,
                                  clv_stats_shift_t *shift_p) CLV_MUST_CHECK;

/* Probability that a random x is smaller than a random y, ties counting half: 0.5 means no
 * difference, 1 that every x beats every y (the "common language" effect size). */
double clv_stats_superiority(const double *x, size_t n_x, const double *y, size_t n_y);

#endif
