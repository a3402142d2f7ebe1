/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Kolmogorov's and Smirnov's tests; see bench_stats.h.
 */
#include "apps/bench/measure/bench_stats.h"

#include <math.h>
#include <string.h>

#include "util/util_alloc.h"

#define EXACT_BELOW       100   /* values of one sample, as in R */
#define EXACT_PAIRS_BELOW 10000 /* n_x * n_y, as in R */
#define PI                3.14159265358979323846

/* Probability that the scaled distance of a large sample is below z. */
static double limit_below(double z)
{
    double total = 0.0;

    if (z <= 0.0) {
        return 0.0;
    }
    if (z < 1.0) { /* this series converges fast for small z, the other for large z */
        for (int k = 1; k < 40; k += 2) {
            total += exp(-(double) (k * k) * PI * PI / (8.0 * z * z));
        }
        return total * sqrt(2.0 * PI) / z;
    }
    for (int k = 1; k < 40; k++) {
        total += (k % 2 ? 2.0 : -2.0) * exp(-2.0 * k * k * z * z);
    }
    return 1.0 - total;
}

/* ---- one sample: Durbin's matrix, raised to the n-th power ---- */

typedef struct matrix {
    int size;
    int exponent; /* power of ten, as a factor of all entries */
    double *entry;
} matrix_t;

/* product = a * b; neither may be product. */
static void multiply(const matrix_t *a, const matrix_t *b, matrix_t *product)
{
    const int m = a->size;

    product->exponent = a->exponent + b->exponent;
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < m; j++) {
            double sum = 0.0;
            for (int k = 0; k < m; k++) {
                sum += a->entry[i * m + k] * b->entry[k * m + j];
            }
            product->entry[i * m + j] = sum;
        }
    }
    if (product->entry[m / 2 * m + m / 2] > 1e140) {
        for (int i = 0; i < m * m; i++) {
            product->entry[i] *= 1e-140;
        }
        product->exponent += 140;
    }
}

static void swap(matrix_t *a, matrix_t *b)
{
    const matrix_t kept = *a;

    *a = *b;
    *b = kept;
}

/* result = base^n; base and scratch are overwritten. */
static void raise_to(matrix_t *base, int n, matrix_t *scratch, matrix_t *result)
{
    const int m = base->size;

    memset(result->entry, 0, (size_t) (m * m) * sizeof *result->entry);
    for (int i = 0; i < m; i++) {
        result->entry[i * m + i] = 1.0;
    }
    result->exponent = 0;
    for (; n > 0; n /= 2) {
        if (n % 2) {
            multiply(result, base, scratch);
            swap(result, scratch);
        }
        multiply(base, base, scratch);
        swap(base, scratch);
    }
}

/* h: by how much n times the distance is below the next whole number. */
static void fill_durbin(matrix_t *matrix, double h)
{
    const int m = matrix->size;
    double *entry = matrix->entry;

    matrix->exponent = 0;
    for (int i = 0; i < m * m; i++) {
        entry[i] = i / m - i % m + 1 < 0 ? 0.0 : 1.0;
    }
    for (int i = 0; i < m; i++) {
        entry[i * m] -= pow(h, i + 1);
        entry[(m - 1) * m + i] -= pow(h, m - i);
    }
    entry[(m - 1) * m] += 2.0 * h - 1.0 > 0.0 ? pow(2.0 * h - 1.0, m) : 0.0;
    for (int i = 0; i < m * m; i++) {
        const int order = i / m - i % m + 2;
        entry[i] /= tgamma(order > 1 ? order : 1);
    }
}

/* n! / n^n times the entry in the middle. */
static double scale_middle(const matrix_t *power, int n)
{
    const int m = power->size;
    double value = power->entry[m / 2 * m + m / 2];
    int exponent = power->exponent;

    for (int i = 1; i <= n; i++) {
        value *= (double) i / n;
        if (value < 1e-140) {
            value *= 1e140;
            exponent -= 140;
        }
    }
    return value * pow(10.0, exponent);
}

/* Probability that the distance of a sample of n is below d. */
static clv_status_t exact_below(double d, int n, double *below_p)
{
    const int k = (int) (n * d) + 1;
    const int size = 2 * k - 1;
    const size_t n_entries = (size_t) size * (size_t) size;
    double *memory = clv_alloc(3 * n_entries, sizeof *memory);
    matrix_t base = {size, 0, memory};

    if (memory == NULL) {
        return CLV_NO_MEMORY;
    }
    matrix_t scratch = {size, 0, memory + n_entries};
    matrix_t power = {size, 0, memory + 2 * n_entries};
    fill_durbin(&base, k - n * d);
    raise_to(&base, n, &scratch, &power);
    *below_p = scale_middle(&power, n);
    clv_free(memory);
    return CLV_OK;
}

static bool has_ties(const double *sorted, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (!(sorted[i] > sorted[i - 1])) {
            return true;
        }
    }
    return false;
}

clv_status_t clv_stats_kolmogorov(const double *values, size_t n_values, double mean,
                                  double deviation, clv_stats_test_t *test_p)
{
    const double n = (double) n_values;
    clv_stats_test_t test = {0};
    double below = 0.0;
    clv_status_t status = CLV_OK;

    if (!n_values || !(deviation > 0.0)) {
        return CLV_INVALID;
    }
    double *sorted = clv_alloc(n_values, sizeof *sorted);
    if (sorted == NULL) {
        return CLV_NO_MEMORY;
    }
    memcpy(sorted, values, n_values * sizeof *sorted);
    clv_stats_sort(sorted, n_values);
    for (size_t i = 0; i < n_values; i++) {
        const double part = 0.5 * erfc(-(sorted[i] - mean) / deviation / sqrt(2.0));
        test.statistic = fmax(test.statistic, part - (double) i / n);
        test.statistic = fmax(test.statistic, (double) (i + 1) / n - part);
    }
    test.is_exact = n_values < EXACT_BELOW && !has_ties(sorted, n_values);
    clv_free(sorted);
    if (test.is_exact) {
        status = exact_below(test.statistic, (int) n_values, &below);
    } else {
        below = limit_below(sqrt(n) * test.statistic);
    }
    test.p_value = fmin(fmax(1.0 - below, 0.0), 1.0);
    if (status == CLV_OK) {
        *test_p = test;
    }
    return status;
}

/* ---- two samples ---- */

typedef struct merged {
    size_t n_x, n_y;
    const double *x, *y; /* sorted */
    char *is_last;       /* per value of both, in order: whether the next one is larger */
} merged_t;

/* Returns the largest distance, and marks where ties end. */
static double merge(const merged_t *both)
{
    size_t i = 0;
    size_t j = 0;
    double largest = 0.0;

    while (i < both->n_x || j < both->n_y) {
        const bool takes_x = j == both->n_y || (i < both->n_x && both->x[i] <= both->y[j]);
        const double value = takes_x ? both->x[i++] : both->y[j++];
        const bool is_last =
            (i == both->n_x || both->x[i] > value) && (j == both->n_y || both->y[j] > value);
        both->is_last[i + j - 1] = (char) is_last;
        if (is_last) {
            const double apart = (double) i / (double) both->n_x - (double) j / (double) both->n_y;
            largest = fmax(largest, fabs(apart));
        }
    }
    return largest;
}

static bool is_beyond(const merged_t *both, size_t i, size_t j, double limit)
{
    const double apart = (double) i / (double) both->n_x - (double) j / (double) both->n_y;

    return fabs(apart) >= limit && i + j > 0 && both->is_last[i + j - 1];
}

/* All orders of the values are equally likely. Returns the share of paths through the grid (values
 * of x seen, values of y seen) that stay below the distance wherever a tie ends. */
static clv_status_t paths_below(const merged_t *both, double distance, double *below_p)
{
    const double cells = (double) both->n_x * (double) both->n_y;
    const double limit = (0.5 + floor(distance * cells - 1e-7)) / cells;
    double *row = clv_alloc(both->n_y + 1, sizeof *row);

    if (row == NULL) {
        return CLV_NO_MEMORY;
    }
    for (size_t i = 0; i <= both->n_x; i++) {
        for (size_t j = 0; j <= both->n_y; j++) {
            const double all = (double) (i + j);
            const double from_x = i > 0 ? row[j] * (double) i / all : 0.0;
            const double from_y = j > 0 ? row[j - 1] * (double) j / all : 0.0;
            row[j] = i + j == 0 ? 1.0 : is_beyond(both, i, j, limit) ? 0.0 : from_x + from_y;
        }
    }
    *below_p = row[both->n_y];
    clv_free(row);
    return CLV_OK;
}

static clv_status_t test_merged(const merged_t *both, clv_stats_test_t *test_p)
{
    const double nx = (double) both->n_x;
    const double ny = (double) both->n_y;
    clv_stats_test_t test = {.statistic = merge(both), .is_exact = nx * ny < EXACT_PAIRS_BELOW};
    double below = 0.0;
    clv_status_t status = CLV_OK;

    if (test.is_exact) {
        status = paths_below(both, test.statistic, &below);
    } else {
        below = limit_below(sqrt(nx * ny / (nx + ny)) * test.statistic);
    }
    test.p_value = fmin(fmax(1.0 - below, 0.0), 1.0);
    if (status == CLV_OK) {
        *test_p = test;
    }
    return status;
}

clv_status_t clv_stats_smirnov(const double *x, size_t n_x, const double *y, size_t n_y,
                               clv_stats_test_t *test_p)
{
    if (!n_x || !n_y) {
        return CLV_INVALID;
    }
    double *sorted = clv_alloc(n_x + n_y, sizeof *sorted);
    char *is_last = clv_alloc(n_x + n_y, 1);
    clv_status_t status = CLV_NO_MEMORY;
    if (sorted != NULL && is_last != NULL) {
        const merged_t both = {n_x, n_y, sorted, sorted + n_x, is_last};
        memcpy(sorted, x, n_x * sizeof *sorted);
        memcpy(sorted + n_x, y, n_y * sizeof *sorted);
        clv_stats_sort(sorted, n_x);
        clv_stats_sort(sorted + n_x, n_y);
        status = test_merged(&both, test_p);
    }
    clv_free(is_last);
    clv_free(sorted);
    return status;
}
