/* SPDX-License-Identifier: BSD-3-Clause
 *
 * t tests, Shapiro and Wilk's test, autocorrelation; see bench_stats.h.
 */
#include "apps/bench/measure/bench_stats.h"

#include <math.h>
#include <string.h>

#include "util/util_alloc.h"

/* ---- distributions ---- */

/* Upper tail of the standard normal distribution. */
static double normal_above(double z)
{
    return 0.5 * erfc(z / sqrt(2.0));
}

/* Newton's method on the tail from a rough start: converges quadratically, in few steps. */
double clv_stats_normal_quantile(double p)
{
    const bool is_low = p < 0.5;
    const double tail = is_low ? p : 1.0 - p;
    const double t = sqrt(-2.0 * log(tail));
    /* Abramowitz and Stegun 26.2.23: error at most 4.5e-4. */
    double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                       (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)));

    for (int step = 0; step < 4; step++) {
        z += (normal_above(z) - tail) / (exp(-0.5 * z * z) / sqrt(2.0 * 3.14159265358979323846));
    }
    return is_low ? -z : z;
}

/* The continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1.0;
    double d = 1.0 / fmax(1.0 - (a + b) * x / (a + 1.0), tiny);
    double fraction = d;

    for (int m = 1; m <= 10000; m++) {
        const double even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 + even * d;
        c = 1.0 + even / c;
        d = 1.0 / (fabs(d) < tiny ? tiny : d);
        fraction *= d * c;
        d = 1.0 + odd * d;
        c = 1.0 + odd / c;
        d = 1.0 / (fabs(d) < tiny ? tiny : d);
        fraction *= d * c;
        if (fabs(d * c - 1.0) < 1e-15) {
            break;
        }
    }
    return fraction;
}

/* The regularised incomplete beta function. */
static double beta_below(double a, double b, double x)
{
    if (x <= 0.0 || x >= 1.0) {
        return x <= 0.0 ? 0.0 : 1.0;
    }
    const double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1.0) / (a + b + 2.0) ? front * beta_fraction(a, b, x) / a
                                         : 1.0 - front * beta_fraction(b, a, 1.0 - x) / b;
}

/* Both tails of Student's distribution beyond |t|. */
static double student_beyond(double t, double freedom)
{
    return beta_below(0.5 * freedom, 0.5, freedom / (freedom + t * t));
}

/* ---- t tests ---- */

static double p_of_t(double t, double freedom, clv_stats_tail_t tail)
{
    const double both = student_beyond(t, freedom);
    const double above = t > 0.0 ? 0.5 * both : 1.0 - 0.5 * both;

    switch (tail) {
    case CLV_STATS_LESS:
        return t < 0.0 ? 0.5 * both : 1.0 - 0.5 * both;
    case CLV_STATS_GREATER:
        return above;
    default:
        return both;
    }
}

clv_status_t clv_stats_t_test(const double *x, size_t n_x, const double *y, size_t n_y,
                              clv_stats_tail_t tail, bool is_pooled, clv_stats_t_test_t *test_p)
{
    const double nx = (double) n_x;
    const double ny = (double) n_y;
    const double mean_x = clv_stats_mean(x, n_x);
    const double mean_y = clv_stats_mean(y, n_y);
    const double squares_x = clv_stats_squares(x, n_x, mean_x);
    const double squares_y = clv_stats_squares(y, n_y, mean_y);

    if (n_x < 2 || n_y < 2 || !(squares_x + squares_y > 0.0)) {
        return CLV_INVALID;
    }
    const double pooled = (squares_x + squares_y) / (nx + ny - 2.0);
    const double error_x = (is_pooled ? pooled : squares_x / (nx - 1.0)) / nx;
    const double error_y = (is_pooled ? pooled : squares_y / (ny - 1.0)) / ny;
    const double error = error_x + error_y;
    test_p->freedom =
        is_pooled
            ? nx + ny - 2.0
            : error * error / (error_x * error_x / (nx - 1.0) + error_y * error_y / (ny - 1.0));
    test_p->t = (mean_x - mean_y) / sqrt(error);
    test_p->p_value = p_of_t(test_p->t, test_p->freedom, tail);
    return CLV_OK;
}

/* ---- Shapiro and Wilk ---- */

static double polynomial(const double *coefficients, int n, double x)
{
    double value = 0.0;

    for (int i = n - 1; i >= 0; i--) {
        value = value * x + coefficients[i];
    }
    return value;
}

/* Royston's weights of the upper half, the largest value first. */
static void weigh(double *weights, size_t n_values)
{
    static const double first[] = {0.0, 0.221157, -0.147981, -2.07119, 4.434685, -2.706056};
    static const double second[] = {0.0, 0.042981, -0.293762, -1.752461, 5.682633, -3.582633};
    const size_t half = n_values / 2;
    const double n = (double) n_values;
    const double root = 1.0 / sqrt(n);
    double squares = 0.0;

    if (n_values == 3) {
        weights[0] = sqrt(0.5);
        return;
    }
    for (size_t i = 0; i < half; i++) {
        weights[i] = -clv_stats_normal_quantile(((double) i + 1.0 - 0.375) / (n + 0.25));
        squares += 2.0 * weights[i] * weights[i];
    }
    const double m1 = weights[0];
    const double m2 = weights[1];
    const size_t n_exact = n_values > 5 ? 2 : 1;
    const double a1 = polynomial(first, 6, root) + m1 / sqrt(squares);
    const double a2 = polynomial(second, 6, root) + m2 / sqrt(squares);
    const double rest = n_exact == 2 ? (squares - 2.0 * m1 * m1 - 2.0 * m2 * m2) /
                                           (1.0 - 2.0 * a1 * a1 - 2.0 * a2 * a2)
                                     : (squares - 2.0 * m1 * m1) / (1.0 - 2.0 * a1 * a1);
    for (size_t i = n_exact; i < half; i++) {
        weights[i] /= sqrt(rest);
    }
    weights[0] = a1;
    weights[1] = n_exact == 2 ? a2 : weights[1];
}

/* 1 - W, computed directly because it is small. */
static double shortfall(const double *sorted, size_t n_values, const double *weights)
{
    const double mean = clv_stats_mean(sorted, n_values);
    const double squares = clv_stats_squares(sorted, n_values, mean);
    double weighted = 0.0;
    double norm = 0.0;

    for (size_t i = 0; i < n_values / 2; i++) {
        weighted += weights[i] * (sorted[n_values - 1 - i] - sorted[i]);
        norm += 2.0 * weights[i] * weights[i];
    }
    return fmax(1.0 - weighted * weighted / (norm * squares), 0.0);
}

static double p_of_shortfall(double shortfall, size_t n_values)
{
    static const double mean_small[] = {0.544, -0.39978, 0.025054, -6.714e-4};
    static const double scatter_small[] = {1.3822, -0.77857, 0.062767, -0.0020322};
    static const double mean_large[] = {-1.5861, -0.31082, -0.083751, 0.0038915};
    static const double scatter_large[] = {-0.4803, -0.082676, 0.0030302};
    const double n = (double) n_values;
    const double log_n = log(n);
    double y = log(shortfall);

    if (n_values == 3) {
        const double pi6 = 1.90985931710274; /* 6 / pi */
        return fmax(pi6 * (asin(sqrt(1.0 - shortfall)) - asin(sqrt(0.75))), 0.0);
    }
    if (n_values > 11) {
        return normal_above((y - polynomial(mean_large, 4, log_n)) /
                            exp(polynomial(scatter_large, 3, log_n)));
    }
    const double gamma = 0.459 * n - 2.273;
    if (y >= gamma) {
        return 1e-99;
    }
    y = -log(gamma - y);
    return normal_above((y - polynomial(mean_small, 4, n)) / exp(polynomial(scatter_small, 4, n)));
}

clv_status_t clv_stats_shapiro_wilk(const double *values, size_t n_values, double *w_p,
                                    double *p_value_p)
{
    if (n_values < 3 || n_values > 5000) {
        return CLV_INVALID;
    }
    double *sorted = clv_alloc(n_values, sizeof *sorted);
    double *weights = clv_alloc(n_values / 2, sizeof *weights);
    clv_status_t status = sorted && weights ? CLV_OK : CLV_NO_MEMORY;
    if (status == CLV_OK) {
        memcpy(sorted, values, n_values * sizeof *sorted);
        clv_stats_sort(sorted, n_values);
        status = sorted[n_values - 1] > sorted[0] ? CLV_OK : CLV_INVALID;
    }
    if (status == CLV_OK) {
        weigh(weights, n_values);
        const double missing = shortfall(sorted, n_values, weights);
        *w_p = 1.0 - missing;
        *p_value_p = p_of_shortfall(missing, n_values);
    }
    clv_free(weights);
    clv_free(sorted);
    return status;
}

/* ---- series ---- */

double clv_stats_autocorrelation(const double *values, size_t n_values, size_t lag)
{
    const double mean = clv_stats_mean(values, n_values);
    const double squares = clv_stats_squares(values, n_values, mean);
    double products = 0.0;

    for (size_t i = 0; i + lag < n_values; i++) {
        products += (values[i] - mean) * (values[i + lag] - mean);
    }
    return squares > 0.0 ? products / squares : 0.0;
}
