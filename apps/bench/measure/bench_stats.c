/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Order statistics and rank tests; see bench_stats.h.
 */
#include "apps/bench/measure/bench_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/util_alloc.h"

#define EXACT_BELOW 50 /* values per sample, as in R */

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *) a;
    const double y = *(const double *) b;

    return (x > y) - (x < y);
}

void clv_stats_sort(double *values, size_t n_values)
{
    if (n_values > 1) {
        qsort(values, n_values, sizeof *values, compare_doubles);
    }
}

double clv_stats_quantile(const double *sorted, size_t n_values, double fraction)
{
    const double position = fraction * (double) (n_values - 1);
    const size_t below = (size_t) position;
    const double part = position - (double) below;

    return below + 1 < n_values ? sorted[below] + part * (sorted[below + 1] - sorted[below])
                                : sorted[n_values - 1];
}

double clv_stats_median(double *values, size_t n_values)
{
    clv_stats_sort(values, n_values);
    return n_values ? clv_stats_quantile(values, n_values, 0.5) : 0.0;
}

size_t clv_stats_tukey(double *values, size_t n_values)
{
    size_t n_kept = 0;

    if (!n_values) {
        return 0;
    }
    clv_stats_sort(values, n_values);
    const double q1 = clv_stats_quantile(values, n_values, 0.25);
    const double q3 = clv_stats_quantile(values, n_values, 0.75);
    const double reach = 1.5 * (q3 - q1);
    for (size_t i = 0; i < n_values; i++) {
        if (values[i] >= q1 - reach && values[i] <= q3 + reach) {
            values[n_kept++] = values[i];
        }
    }
    return n_kept;
}

double clv_stats_mean(const double *values, size_t n_values)
{
    double total = 0.0;

    for (size_t i = 0; i < n_values; i++) {
        total += values[i];
    }
    return n_values ? total / (double) n_values : 0.0;
}

double clv_stats_squares(const double *values, size_t n_values, double mean)
{
    double squares = 0.0;

    for (size_t i = 0; i < n_values; i++) {
        squares += (values[i] - mean) * (values[i] - mean);
    }
    return squares;
}

double clv_stats_deviation(const double *values, size_t n_values)
{
    const double squares = clv_stats_squares(values, n_values, clv_stats_mean(values, n_values));

    return n_values > 1 ? sqrt(squares / ((double) n_values - 1.0)) : 0.0;
}

/* ---- ranks ---- */

typedef struct ranked {
    double value;
    double rank; /* from 1; ties share the mean */
    bool is_x;
} ranked_t;

static int compare_ranked(const void *a, const void *b)
{
    return compare_doubles(&((const ranked_t *) a)->value, &((const ranked_t *) b)->value);
}

/* Sorts and fills rank. Returns the sum of t^3 - t over groups of t equal values. */
static double assign_ranks(ranked_t *items, size_t n_items)
{
    double ties = 0.0;

    qsort(items, n_items, sizeof *items, compare_ranked);
    for (size_t i = 0; i < n_items;) {
        size_t end = i + 1;
        while (end < n_items && !(items[end].value > items[i].value)) {
            end++;
        }
        const double t = (double) (end - i);
        const double rank = 0.5 * (double) (i + 1 + end);
        ties += t * t * t - t;
        for (; i < end; i++) {
            items[i].rank = rank;
        }
    }
    return ties;
}

/* ---- the exact distributions: number of ways to reach each value, as doubles ---- */

/* ways[w] of choosing n_x of n_x + n_y ranks with rank sum minus its minimum w, scaled to sum 1.
 * The recurrence over subsets: item k adds k - (chosen before it). O(n_x * n_y * (n_x + n_y)). */
static double *rank_sum_distribution(size_t n_x, size_t n_y)
{
    const size_t width = n_x * n_y + 1;
    double *ways = clv_alloc((n_x + 1) * width, sizeof *ways);
    double total = 0.0;

    if (!ways) {
        return NULL;
    }
    ways[0] = 1.0; /* row i: i values of x placed */
    for (size_t seen = 1; seen <= n_x + n_y; seen++) {
        for (size_t i = seen < n_x ? seen : n_x; i >= 1; i--) {
            /* x value number i placed after seen - i values of y adds seen - i. */
            const size_t add = seen - i;
            for (size_t w = width; w-- > add && add <= n_y;) {
                ways[i * width + w] += ways[(i - 1) * width + w - add];
            }
        }
    }
    memmove(ways, ways + n_x * width, width * sizeof *ways);
    for (size_t w = 0; w < width; w++) {
        total += ways[w];
    }
    for (size_t w = 0; w < width; w++) {
        ways[w] /= total;
    }
    return ways;
}

/* The same for the signed rank: each rank is either included or not. */
static double *signed_rank_distribution(size_t n)
{
    const size_t width = n * (n + 1) / 2 + 1;
    double *ways = clv_alloc(width, sizeof *ways);

    if (!ways) {
        return NULL;
    }
    ways[0] = 1.0;
    for (size_t rank = 1; rank <= n; rank++) {
        for (size_t w = width; w-- > 0;) {
            ways[w] = 0.5 * (ways[w] + (w >= rank ? ways[w - rank] : 0.0));
        }
    }
    return ways;
}

static double sum(const double *values, size_t from, size_t end)
{
    double total = 0.0;

    for (size_t i = from; i < end; i++) {
        total += values[i];
    }
    return total;
}

static double exact_p(const double *distribution, size_t width, double statistic,
                      clv_stats_tail_t tail)
{
    const size_t w = (size_t) statistic;
    const double less = sum(distribution, 0, w + 1);
    const double greater = sum(distribution, w, width);

    switch (tail) {
    case CLV_STATS_LESS:
        return fmin(less, 1.0);
    case CLV_STATS_GREATER:
        return fmin(greater, 1.0);
    default:
        return fmin(2.0 * fmin(less, greater), 1.0);
    }
}

/* ---- the normal approximation, with continuity correction ---- */

static double normal_below(double z)
{
    return 0.5 * erfc(-z / sqrt(2.0));
}

static double normal_p(double distance, double deviation, clv_stats_tail_t tail)
{
    double correction;

    if (!(deviation > 0.0)) {
        return 1.0;
    }
    switch (tail) {
    case CLV_STATS_LESS:
        return normal_below((distance + 0.5) / deviation);
    case CLV_STATS_GREATER:
        return normal_below(-(distance - 0.5) / deviation);
    default:
        correction = distance > 0.0 ? 0.5 : (distance < 0.0 ? -0.5 : 0.0);
        return fmin(1.0, 2.0 * normal_below(-fabs((distance - correction) / deviation)));
    }
}

/* ---- the tests ---- */

static clv_status_t finish_exact(double *distribution, size_t width, clv_stats_tail_t tail,
                                 clv_stats_test_t *test)
{
    if (!distribution) {
        return CLV_NO_MEMORY;
    }
    test->p_value = exact_p(distribution, width, test->statistic, tail);
    clv_free(distribution);
    return CLV_OK;
}

clv_status_t clv_stats_rank_sum(const double *x, size_t n_x, const double *y, size_t n_y,
                                clv_stats_tail_t tail, clv_stats_test_t *test_p)
{
    const double nx = (double) n_x;
    const double ny = (double) n_y;
    clv_stats_test_t test = {.statistic = -0.5 * nx * (nx + 1.0)};
    clv_status_t status = CLV_OK;

    if (!n_x || !n_y) {
        return CLV_INVALID;
    }
    ranked_t *all = clv_alloc(n_x + n_y, sizeof *all);
    if (!all) {
        return CLV_NO_MEMORY;
    }
    for (size_t i = 0; i < n_x + n_y; i++) {
        all[i] = (ranked_t){.value = i < n_x ? x[i] : y[i - n_x], .is_x = i < n_x};
    }
    const double ties = assign_ranks(all, n_x + n_y);
    for (size_t i = 0; i < n_x + n_y; i++) {
        test.statistic += all[i].is_x ? all[i].rank : 0.0;
    }
    clv_free(all);
    test.is_exact = !(ties > 0.0) && n_x < EXACT_BELOW && n_y < EXACT_BELOW;
    if (test.is_exact) {
        status = finish_exact(rank_sum_distribution(n_x, n_y), n_x * n_y + 1, tail, &test);
    } else {
        const double n = nx + ny;
        const double variance = nx * ny / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)));
        test.p_value = normal_p(test.statistic - 0.5 * nx * ny, sqrt(variance), tail);
    }
    if (status == CLV_OK) {
        *test_p = test;
    }
    return status;
}

clv_status_t clv_stats_signed_rank(const double *x, const double *y, size_t n_pairs,
                                   clv_stats_tail_t tail, clv_stats_test_t *test_p)
{
    clv_stats_test_t test = {0};
    clv_status_t status = CLV_OK;
    size_t n = 0;
    ranked_t *all = n_pairs ? clv_alloc(n_pairs, sizeof *all) : NULL;

    if (!all) {
        return n_pairs ? CLV_NO_MEMORY : CLV_INVALID;
    }
    for (size_t i = 0; i < n_pairs; i++) {
        const double difference = x[i] - y[i];
        if (fabs(difference) > 0.0) {
            all[n++] = (ranked_t){.value = fabs(difference), .is_x = difference > 0.0};
        }
    }
    const double ties = assign_ranks(all, n);
    for (size_t i = 0; i < n; i++) {
        test.statistic += all[i].is_x ? all[i].rank : 0.0;
    }
    clv_free(all);
    if (!n) {
        return CLV_INVALID;
    }
    test.is_exact = !(ties > 0.0) && n == n_pairs && n < EXACT_BELOW;
    if (test.is_exact) {
        status = finish_exact(signed_rank_distribution(n), n * (n + 1) / 2 + 1, tail, &test);
    } else {
        const double count = (double) n;
        const double variance = count * (count + 1.0) * (2.0 * count + 1.0) / 24.0 - ties / 48.0;
        test.p_value = normal_p(test.statistic - count * (count + 1.0) / 4.0, sqrt(variance), tail);
    }
    if (status == CLV_OK) {
        *test_p = test;
    }
    return status;
}

/* ---- effect sizes ---- */

/* The largest q with P(W < q) <= tail_part, at least 1: the order statistic of the differences at
 * which the interval begins. 0: there is none. */
static size_t interval_index(const double *distribution, size_t width, double tail_part)
{
    double below = 0.0;
    size_t q = 0;

    while (q < width && below + distribution[q] <= tail_part) {
        below += distribution[q++];
    }
    return q;
}

/* Estimate and limits from sorted values. distribution: of the number of those below the true
 * value. */
static clv_status_t interval_of(const double *sorted, size_t n, const double *distribution,
                                double level, clv_stats_shift_t *shift_p)
{
    const size_t q = interval_index(distribution, n + 1, 0.5 * (1.0 - level));

    if (q == 0 || q > n) {
        return CLV_LIMIT;
    }
    shift_p->estimate = clv_stats_quantile(sorted, n, 0.5);
    shift_p->low = sorted[q - 1];
    shift_p->high = sorted[n - q];
    return CLV_OK;
}

clv_status_t clv_stats_shift(const double *x, size_t n_x, const double *y, size_t n_y, double level,
                             clv_stats_shift_t *shift_p)
{
    const size_t n = n_x * n_y;
    double *differences = n ? clv_alloc(n, sizeof *differences) : NULL;
    double *distribution = n ? rank_sum_distribution(n_x, n_y) : NULL;
    clv_status_t status = n ? CLV_NO_MEMORY : CLV_INVALID;

    if (differences && distribution) {
        for (size_t i = 0; i < n; i++) {
            differences[i] = x[i / n_y] - y[i % n_y];
        }
        clv_stats_sort(differences, n);
        status = interval_of(differences, n, distribution, level, shift_p);
    }
    clv_free(distribution);
    clv_free(differences);
    return status;
}

clv_status_t clv_stats_pair_shift(const double *differences, size_t n_pairs, double level,
                                  clv_stats_shift_t *shift_p)
{
    const size_t n = n_pairs * (n_pairs + 1) / 2;
    double *averages = n ? clv_alloc(n, sizeof *averages) : NULL;
    double *distribution = n ? signed_rank_distribution(n_pairs) : NULL;
    clv_status_t status = n ? CLV_NO_MEMORY : CLV_INVALID;
    size_t next = 0;

    if (averages && distribution) {
        for (size_t i = 0; i < n_pairs; i++) {
            for (size_t j = i; j < n_pairs; j++) {
                averages[next++] = 0.5 * (differences[i] + differences[j]);
            }
        }
        clv_stats_sort(averages, n);
        status = interval_of(averages, n, distribution, level, shift_p);
    }
    clv_free(distribution);
    clv_free(averages);
    return status;
}

double clv_stats_superiority(const double *x, size_t n_x, const double *y, size_t n_y)
{
    double wins = 0.0;

    for (size_t i = 0; i < n_x; i++) {
        for (size_t j = 0; j < n_y; j++) {
            wins += x[i] < y[j] ? 1.0 : (x[i] > y[j] ? 0.0 : 0.5);
        }
    }
    return n_x && n_y ? wins / ((double) n_x * (double) n_y) : 0.5;
}
