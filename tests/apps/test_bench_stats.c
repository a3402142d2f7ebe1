/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The statistics of the benchmark against R: every case of tests/data/stats/reference.txt, which R
 * made (tests/data/stats/make.R), or of the file CLV_STATS_REFERENCE, and properties that hold for
 * random samples.
 */
#include <math.h>

#include "tests/support/test.h"
#include "apps/trace/trace_patterns.h"
#include "apps/bench/measure/bench_stats.h"

#define MAX_VALUES 128
#define TOLERANCE  1e-10 /* relative: both compute in doubles */

typedef struct sample_case {
    char kind[16];
    char tail[16];
    size_t n_x;
    size_t n_y;
    double expect[3];
    double x[MAX_VALUES];
    double y[MAX_VALUES];
} sample_case_t;

static int is_close(double a, double b)
{
    return fabs(a - b) <= TOLERANCE * fmax(1e-6, fmax(fabs(a), fabs(b)));
}

static int read_case(FILE *file, sample_case_t *one)
{
    if (fscanf(file, "%15s %15s %zu %zu %lf %lf %lf", one->kind, one->tail, &one->n_x, &one->n_y,
               &one->expect[0], &one->expect[1], &one->expect[2]) != 7) {
        return 0;
    }
    for (size_t i = 0; i < one->n_x + one->n_y; i++) {
        double *value = i < one->n_x ? &one->x[i] : &one->y[i - one->n_x];
        assert_true(one->n_x <= MAX_VALUES && one->n_y <= MAX_VALUES);
        assert_int_equal(fscanf(file, "%lf", value), 1);
    }
    return 1;
}

static clv_stats_tail_t tail_of(const sample_case_t *one)
{
    return !strcmp(one->tail, "less")      ? CLV_STATS_LESS
           : !strcmp(one->tail, "greater") ? CLV_STATS_GREATER
                                           : CLV_STATS_TWO_SIDED;
}

static void check_test(const sample_case_t *one, clv_status_t status, const clv_stats_test_t *test)
{
    assert_int_equal(status, CLV_OK);
    if (!is_close(test->statistic, one->expect[0]) || !is_close(test->p_value, one->expect[1]) ||
        test->is_exact != (one->expect[2] > 0.5)) {
        fail_msg("%s %s %zu %zu: W %.17g p %.17g exact %d, R has %.17g %.17g %g", one->kind,
                 one->tail, one->n_x, one->n_y, test->statistic, test->p_value, test->is_exact,
                 one->expect[0], one->expect[1], one->expect[2]);
    }
}

/* Runs the check on each case of that kind; there must be some. */
static void for_each_case(const char *kind, void (*check)(sample_case_t *one))
{
    static sample_case_t one;
    char path[512];
    const char *top = getenv("CLV_TOP");
    const char *other = getenv("CLV_STATS_REFERENCE");
    int n_cases = 0;

    snprintf(path, sizeof path, "%s/tests/data/stats/reference.txt", top ? top : ".");
    FILE *file = fopen(other ? other : path, "r");
    assert_non_null(file);
    while (read_case(file, &one)) {
        if (!strcmp(one.kind, kind)) {
            check(&one);
            n_cases++;
        }
    }
    fclose(file);
    assert_true(n_cases > 0);
}

static void check_rank_sum(sample_case_t *one)
{
    clv_stats_test_t test;
    const clv_status_t status =
        clv_stats_rank_sum(one->x, one->n_x, one->y, one->n_y, tail_of(one), &test);
    check_test(one, status, &test);
}

static void rank_sum_equals_r(void **state)
{
    (void) state;
    for_each_case("rank", check_rank_sum);
}

static void check_signed_rank(sample_case_t *one)
{
    clv_stats_test_t test;
    const clv_status_t status =
        clv_stats_signed_rank(one->x, one->y, one->n_x, tail_of(one), &test);
    check_test(one, status, &test);
}

static void signed_rank_equals_r(void **state)
{
    (void) state;
    for_each_case("signed", check_signed_rank);
}

static void check_shift(sample_case_t *one)
{
    clv_stats_shift_t shift;

    assert_int_equal(clv_stats_shift(one->x, one->n_x, one->y, one->n_y, 0.95, &shift), CLV_OK);
    assert_true(is_close(shift.estimate, one->expect[0]));
    assert_true(is_close(shift.low, one->expect[1]));
    assert_true(is_close(shift.high, one->expect[2]));
}

static void shift_and_interval_equal_r(void **state)
{
    (void) state;
    for_each_case("shift", check_shift);
}

static void check_pair_shift(sample_case_t *one)
{
    clv_stats_shift_t shift;

    assert_int_equal(clv_stats_pair_shift(one->x, one->n_x, 0.95, &shift), CLV_OK);
    assert_true(is_close(shift.estimate, one->expect[0]));
    assert_true(is_close(shift.low, one->expect[1]));
    assert_true(is_close(shift.high, one->expect[2]));
}

static void paired_shift_and_interval_equal_r(void **state)
{
    (void) state;
    for_each_case("pair", check_pair_shift);
}

static void check_quantile(sample_case_t *one)
{
    clv_stats_sort(one->x, one->n_x);
    assert_true(is_close(clv_stats_quantile(one->x, one->n_x, 0.25), one->expect[0]));
    assert_true(is_close(clv_stats_median(one->x, one->n_x), one->expect[1]));
    assert_true(is_close(clv_stats_quantile(one->x, one->n_x, 0.9), one->expect[2]));
}

static void quantiles_equal_r(void **state)
{
    (void) state;
    for_each_case("quantile", check_quantile);
}

static void check_tukey(sample_case_t *one)
{
    const size_t n_kept = clv_stats_tukey(one->x, one->n_x);

    assert_int_equal(n_kept, (size_t) one->expect[0]);
    assert_true(is_close(one->x[n_kept - 1], one->expect[2]));
    assert_true(is_close(clv_stats_median(one->x, n_kept), one->expect[1]));
}

static void tukey_filter_equals_r(void **state)
{
    (void) state;
    for_each_case("tukey", check_tukey);
}

static void check_t(sample_case_t *one)
{
    clv_stats_t_test_t test;

    assert_int_equal(clv_stats_t_test(one->x, one->n_x, one->y, one->n_y, tail_of(one),
                                      !strcmp(one->kind, "student"), &test),
                     CLV_OK);
    if (!is_close(test.t, one->expect[0]) || !is_close(test.freedom, one->expect[1]) ||
        !is_close(test.p_value, one->expect[2])) {
        fail_msg("%s %s: t %.17g freedom %.17g p %.17g, R has %.17g %.17g %.17g", one->kind,
                 one->tail, test.t, test.freedom, test.p_value, one->expect[0], one->expect[1],
                 one->expect[2]);
    }
}

static void t_tests_equal_r(void **state)
{
    (void) state;
    for_each_case("student", check_t);
    for_each_case("welch", check_t);
}

/* R and we approximate by the same series, whose quantiles differ in the tenth digit. */
static void check_shapiro(sample_case_t *one)
{
    double w, p;

    assert_int_equal(clv_stats_shapiro_wilk(one->x, one->n_x, &w, &p), CLV_OK);
    if (fabs(w - one->expect[0]) > 1e-7 || fabs(p - one->expect[1]) > 1e-6) {
        fail_msg("n %zu: W %.17g p %.17g, R has %.17g %.17g", one->n_x, w, p, one->expect[0],
                 one->expect[1]);
    }
}

static void shapiro_wilk_equals_r(void **state)
{
    (void) state;
    for_each_case("shapiro", check_shapiro);
}

/* Of values without scatter nothing is left in the tails: 1e-9, not relative. */
static void check_distance(const sample_case_t *one, clv_status_t status,
                           const clv_stats_test_t *test)
{
    assert_int_equal(status, CLV_OK);
    if (fabs(test->statistic - one->expect[0]) > 1e-10 ||
        fabs(test->p_value - one->expect[1]) > 1e-9 || test->is_exact != (one->expect[2] > 0.5)) {
        fail_msg("%s %zu %zu: D %.17g p %.17g exact %d, R has %.17g %.17g %g", one->kind, one->n_x,
                 one->n_y, test->statistic, test->p_value, test->is_exact, one->expect[0],
                 one->expect[1], one->expect[2]);
    }
}

static void check_kolmogorov(sample_case_t *one)
{
    const double mean = clv_stats_mean(one->x, one->n_x);
    const double deviation = clv_stats_deviation(one->x, one->n_x);
    clv_stats_test_t test;
    const clv_status_t status = clv_stats_kolmogorov(one->x, one->n_x, mean, deviation, &test);
    check_distance(one, status, &test);
}

static void check_smirnov(sample_case_t *one)
{
    clv_stats_test_t test;
    const clv_status_t status = clv_stats_smirnov(one->x, one->n_x, one->y, one->n_y, &test);

    check_distance(one, status, &test);
}

static void kolmogorov_and_smirnov_equal_r(void **state)
{
    (void) state;
    for_each_case("kolmogorov", check_kolmogorov);
    for_each_case("smirnov", check_smirnov);
}

static void check_autocorrelation(sample_case_t *one)
{
    static const size_t lags[] = {1, 2, 5};

    for (int i = 0; i < 3; i++) {
        const double r =
            lags[i] < one->n_x ? clv_stats_autocorrelation(one->x, one->n_x, lags[i]) : 0.0;
        assert_true(fabs(r - one->expect[i]) < 1e-12);
    }
}

static void autocorrelation_equals_r(void **state)
{
    (void) state;
    for_each_case("acf", check_autocorrelation);
}

/* Drawn samples: exchanging x and y turns "less" into "greater", adding a constant to both changes
 * nothing, and the superiority is what the statistic says. */
static void rank_sum_has_its_symmetries(void **state)
{
    const char *text = getenv("CLV_SEED");
    const uint64_t seed = text ? strtoull(text, NULL, 10) : 7;

    (void) state;
    print_message("# CLV_SEED=%llu\n", (unsigned long long) seed);
    for (uint64_t trial = 0; trial < 50; trial++) {
        double x[12], y[9], moved[12], moved_y[9];
        clv_stats_test_t less, greater, shifted;
        for (size_t i = 0; i < 12; i++) {
            x[i] = clv_pattern_random(seed, trial, i);
            moved[i] = x[i] + 8.0;
        }
        for (size_t i = 0; i < 9; i++) {
            y[i] = clv_pattern_random(seed, trial, 100 + i) + 0.2;
            moved_y[i] = y[i] + 8.0;
        }
        assert_int_equal(clv_stats_rank_sum(x, 12, y, 9, CLV_STATS_LESS, &less), CLV_OK);
        assert_int_equal(clv_stats_rank_sum(y, 9, x, 12, CLV_STATS_GREATER, &greater), CLV_OK);
        assert_int_equal(clv_stats_rank_sum(moved, 12, moved_y, 9, CLV_STATS_LESS, &shifted),
                         CLV_OK);
        assert_true(is_close(less.p_value, greater.p_value));
        assert_true(is_close(less.statistic, shifted.statistic));
        assert_true(
            is_close(clv_stats_superiority(x, 12, y, 9), 1.0 - less.statistic / (12.0 * 9.0)));
    }
}

static void samples_without_scatter_have_no_t_and_no_w(void **state)
{
    const double same[] = {2.0, 2.0, 2.0};
    const double two[] = {1.0, 2.0};
    clv_stats_t_test_t test;
    double w, p;

    (void) state;
    assert_int_equal(clv_stats_t_test(same, 3, same, 3, CLV_STATS_LESS, 0, &test), CLV_INVALID);
    assert_int_equal(clv_stats_t_test(two, 1, two, 2, CLV_STATS_LESS, 1, &test), CLV_INVALID);
    assert_int_equal(clv_stats_shapiro_wilk(same, 3, &w, &p), CLV_INVALID);
    assert_int_equal(clv_stats_shapiro_wilk(two, 2, &w, &p), CLV_INVALID);
    assert_true(!(fabs(clv_stats_autocorrelation(same, 3, 1)) > 0.0));
    assert_true(fabs(clv_stats_normal_quantile(0.975) - 1.959963984540054) < 1e-9);
    assert_true(fabs(clv_stats_normal_quantile(1e-6) + 4.753424308822899) < 1e-9);
}

static void small_and_empty_samples_are_reported(void **state)
{
    const double one[] = {1.0, 2.0};
    const double five[] = {1.0, 2.0, 3.5, 5.0, 8.0};
    clv_stats_test_t test;
    clv_stats_shift_t shift;

    (void) state;
    assert_int_equal(clv_stats_kolmogorov(one, 0, 0.0, 1.0, &test), CLV_INVALID);
    assert_int_equal(clv_stats_kolmogorov(one, 2, 0.0, 0.0, &test), CLV_INVALID);
    assert_int_equal(clv_stats_smirnov(one, 2, one, 0, &test), CLV_INVALID);
    assert_int_equal(clv_stats_rank_sum(one, 0, one, 2, CLV_STATS_LESS, &test), CLV_INVALID);
    assert_int_equal(clv_stats_signed_rank(one, one, 2, CLV_STATS_LESS, &test), CLV_INVALID);
    assert_int_equal(clv_stats_shift(one, 2, one, 2, 0.95, &shift), CLV_LIMIT);
    assert_int_equal(clv_stats_shift(one, 0, one, 2, 0.95, &shift), CLV_INVALID);
    assert_int_equal(clv_stats_pair_shift(one, 0, 0.95, &shift), CLV_INVALID);
    assert_int_equal(clv_stats_pair_shift(five, 5, 0.95, &shift), CLV_LIMIT);
    assert_int_equal(clv_stats_pair_shift(five, 5, 0.9, &shift), CLV_OK);
    assert_true(is_close(clv_stats_superiority(one, 2, one, 2), 0.5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rank_sum_equals_r),
        cmocka_unit_test(signed_rank_equals_r),
        cmocka_unit_test(shift_and_interval_equal_r),
        cmocka_unit_test(paired_shift_and_interval_equal_r),
        cmocka_unit_test(quantiles_equal_r),
        cmocka_unit_test(tukey_filter_equals_r),
        cmocka_unit_test(t_tests_equal_r),
        cmocka_unit_test(shapiro_wilk_equals_r),
        cmocka_unit_test(kolmogorov_and_smirnov_equal_r),
        cmocka_unit_test(autocorrelation_equals_r),
        cmocka_unit_test(samples_without_scatter_have_no_t_and_no_w),
        cmocka_unit_test(rank_sum_has_its_symmetries),
        cmocka_unit_test(small_and_empty_samples_are_reported),
    };
    return clv_run_tests(tests);
}
