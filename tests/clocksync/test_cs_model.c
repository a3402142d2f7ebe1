/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The model of a clock: draw the truth at random, ask for it back.
 */
#include "clocksync/cs_internal.h"
#include "tests/sim/cs_random.h"
#include "tests/support/test.h"
#include "util/util_time.h"

/* A raw epoch time: where doubles are coarse. */
#define EPOCH_NS (INT64_C(1760000000) * CLV_NS_PER_S)

static cs_random_t rng;

static clv_cs_model_t random_model(void)
{
    clv_cs_model_t model = {0};
    model.origin_ns = EPOCH_NS + cs_random_range(&rng, -CLV_NS_PER_S * 4000, CLV_NS_PER_S * 4000);
    model.offset_ns = cs_random_range(&rng, -CLV_NS_PER_S * 4000, CLV_NS_PER_S * 4000);
    model.slope = cs_random_uniform(&rng, -1e-4, 1e-4);
    model.error_ns = cs_random_range(&rng, 0, 100000);
    model.error_ppb = cs_random_range(&rng, 0, 100000);
    return model;
}

static void identity_changes_nothing(void **state)
{
    (void) state;
    assert_int_equal(clv_cs_model_global(&clv_cs_identity, EPOCH_NS + 7), EPOCH_NS + 7);
    assert_int_equal(clv_cs_model_local(&clv_cs_identity, EPOCH_NS + 7), EPOCH_NS + 7);
    assert_int_equal(clv_cs_model_error(&clv_cs_identity, EPOCH_NS), 0);
}

static void a_clock_ahead_has_a_positive_offset(void **state)
{
    (void) state;
    const clv_cs_model_t ahead = {1000, 300, 0.0, 5, 0};
    assert_int_equal(clv_cs_model_global(&ahead, 1000), 700);
    assert_int_equal(clv_cs_model_local(&ahead, 700), 1000);
    const clv_cs_model_t fast = {0, 0, 1e-6, 0, 0};
    assert_int_equal(clv_cs_model_global(&fast, CLV_NS_PER_S), CLV_NS_PER_S - 1000);
}

static void local_undoes_global(void **state)
{
    (void) state;
    for (int i = 0; i < 100000; i++) {
        const clv_cs_model_t model = random_model();
        const int64_t local =
            model.origin_ns + cs_random_range(&rng, -CLV_NS_PER_S * 1000, CLV_NS_PER_S * 1000);
        const int64_t back = clv_cs_model_local(&model, clv_cs_model_global(&model, local));
        assert_in_range(back - local + 1, 0, 2);
    }
}

static void the_bound_grows_both_ways(void **state)
{
    (void) state;
    const clv_cs_model_t model = {EPOCH_NS, 0, 0.0, 1000, 500};
    assert_int_equal(clv_cs_model_error(&model, EPOCH_NS), 1000);
    assert_int_equal(clv_cs_model_error(&model, EPOCH_NS + 10 * CLV_NS_PER_S), 6000);
    assert_int_equal(clv_cs_model_error(&model, EPOCH_NS - 10 * CLV_NS_PER_S), 6000);
}

static void extremes_stay_at_the_end(void **state)
{
    (void) state;
    const clv_cs_model_t wild = {INT64_MIN, INT64_MAX, 1e30, INT64_MAX, INT64_MAX};
    const clv_cs_model_t nan_slope = {0, 5, NAN, 0, 0};
    assert_int_equal(clv_cs_model_error(&wild, INT64_MAX), INT64_MAX);
    assert_true(clv_cs_model_global(&wild, INT64_MAX) <= 0);
    (void) clv_cs_model_local(&wild, INT64_MAX);
    assert_int_equal(clv_cs_model_global(&nan_slope, 100), 95);
}

static const clv_cs_fit_how_t usual = {.drift_prior_ppb = CLV_CS_DRIFT_PRIOR_PPB};
static const clv_cs_fit_how_t doubled = {.drift_prior_ppb = 2 * CLV_CS_DRIFT_PRIOR_PPB};

/* The trap: an intercept fitted on raw epoch seconds in doubles is wrong by a quarter us. */
static void exact_points_give_an_exact_line(void **state)
{
    (void) state;
    for (int round = 0; round < 1000; round++) {
        const clv_cs_model_t truth = random_model();
        clv_cs_point_t points[40];
        const int n = (int) cs_random_range(&rng, 3, 40);
        for (int i = 0; i < n; i++) {
            const int64_t local = truth.origin_ns + i * 20 * CLV_NS_PER_MS;
            points[i] = (clv_cs_point_t){local, local - clv_cs_model_global(&truth, local), 1000};
        }
        clv_cs_fit_t fit;
        clv_cs_fit_line(points, n, &doubled, &fit);
        const int64_t local = points[n - 1].local_ns;
        assert_true(llabs(clv_cs_model_global(&fit.model, local) -
                          clv_cs_model_global(&truth, local)) <= 1);
        if (n > 10) {
            assert_true(fabs(fit.model.slope - truth.slope) < 1e-8);
        }
        assert_true(fit.is_consistent);
        assert_in_range(fit.model.error_ns, 1000, 1001);
    }
}

static void two_points_do_not_make_a_slope(void **state)
{
    (void) state;
    const clv_cs_point_t points[2] = {{0, 0, 1000}, {CLV_NS_PER_MS, 900, 1000}};
    clv_cs_fit_t fit;
    clv_cs_fit_line(points, 2, &usual, &fit);
    assert_true(fit.model.slope == 0.0);
    assert_int_equal(fit.model.error_ppb, CLV_CS_DRIFT_PRIOR_PPB);
    assert_false(fit.model.error_ns < 1000);
}

static void an_outlier_hardly_counts(void **state)
{
    (void) state;
    clv_cs_point_t points[20];
    for (int i = 0; i < 20; i++) {
        points[i] = (clv_cs_point_t){i * 100 * CLV_NS_PER_MS, 500, 10000 + 100 * (i % 3)};
    }
    points[7].offset_ns += 900000;
    points[7].error_ns += 950000;
    clv_cs_fit_t fit;
    clv_cs_fit_line(points, 20, &usual, &fit);
    assert_true(llabs(fit.model.offset_ns - 500) < 1000);
    assert_true(fit.is_consistent);
}

/* A second apart, on a line of 20 ppm, each off by as much as its bound admits. */
static void noisy_points(clv_cs_point_t *points, int n)
{
    for (int i = 0; i < n; i++) {
        const int64_t off = cs_random_range(&rng, -20000, 20000);
        points[i] = (clv_cs_point_t){i * CLV_NS_PER_S, 20000 * i + off, 1000 + llabs(off)};
    }
}

static double textbook_slope(const clv_cs_point_t *points, int n)
{
    double x = 0, y = 0, xx = 0, xy = 0;
    for (int i = 0; i < n; i++) {
        x += (double) points[i].local_ns / n;
        y += (double) points[i].offset_ns / n;
    }
    for (int i = 0; i < n; i++) {
        xx += ((double) points[i].local_ns - x) * ((double) points[i].local_ns - x);
        xy += ((double) points[i].local_ns - x) * ((double) points[i].offset_ns - y);
    }
    return xy / xx;
}

/* Plain: what the papers fit. Else the points near the least round trip decide, and better. */
static void a_plain_fit_is_the_textbooks(void **state)
{
    (void) state;
    const clv_cs_fit_how_t plain = {CLV_CS_DRIFT_PRIOR_PPB, 0, 1};
    double plain_off = 0, weighed_off = 0;
    for (int round = 0; round < 100; round++) {
        clv_cs_point_t points[60];
        clv_cs_fit_t fit;
        noisy_points(points, 60);
        clv_cs_fit_line(points, 60, &plain, &fit);
        assert_true(fabs(fit.model.slope - textbook_slope(points, 60)) < 1e-12);
        plain_off += fabs(fit.model.slope - 20e-6);
        clv_cs_fit_line(points, 60, &usual, &fit);
        weighed_off += fabs(fit.model.slope - 20e-6);
    }
    assert_true(2 * weighed_off < plain_off);
}

/* What is measured against a clock that may run wrong may run wrong as much more. */
static void a_reference_that_runs_wrong_widens_the_bound(void **state)
{
    (void) state;
    const clv_cs_fit_how_t against_wrong = {.drift_prior_ppb = CLV_CS_DRIFT_PRIOR_PPB,
                                            .reference_ppb = 5000};
    clv_cs_point_t points[80]; /* too many for pairs of bounds to know better */
    clv_cs_fit_t fit, wider;
    noisy_points(points, 80);
    clv_cs_fit_line(points, 80, &usual, &fit);
    clv_cs_fit_line(points, 80, &against_wrong, &wider);
    assert_true(wider.model.slope <= fit.model.slope && wider.model.slope >= fit.model.slope);
    assert_in_range(wider.model.error_ppb, fit.model.error_ppb + 4999, fit.model.error_ppb + 5001);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identity_changes_nothing),
        cmocka_unit_test(a_clock_ahead_has_a_positive_offset),
        cmocka_unit_test(local_undoes_global),
        cmocka_unit_test(the_bound_grows_both_ways),
        cmocka_unit_test(extremes_stay_at_the_end),
        cmocka_unit_test(exact_points_give_an_exact_line),
        cmocka_unit_test(a_plain_fit_is_the_textbooks),
        cmocka_unit_test(a_reference_that_runs_wrong_widens_the_bound),
        cmocka_unit_test(two_points_do_not_make_a_slope),
        cmocka_unit_test(an_outlier_hardly_counts),
    };
    cs_random_seed_from_environment(&rng);
    return clv_run_tests(tests);
}
