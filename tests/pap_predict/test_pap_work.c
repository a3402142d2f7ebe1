/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Progress of the work: reports are drawn of work whose end is known; the arrival is asked back.
 */
#include <math.h>

#include "pap_predict/agree/pap_work.h"
#include "tests/sim/cs_random.h"
#include "tests/support/test.h"
#include "util/util_time.h"

#define MS CLV_NS_PER_MS

static cs_random_t generator;

/* What is told with this report; -1: nothing. */
static int64_t report(clv_pap_work_t *work, int64_t call, double done, double total,
                      int64_t begun_ns, int64_t now_ns)
{
    if (!clv_pap_work_report(work, call, done, total)) {
        return -1;
    }
    return clv_pap_work_arrival(work, begun_ns, now_ns);
}

static void steady_work_is_reported_once_behind_an_eighth(void **state)
{
    (void) state;
    clv_pap_work_t work = {0};
    for (int64_t call = 1; call <= 1000; call++) {
        const int64_t begun_ns = cs_random_range(&generator, 0, 1000 * MS);
        const int64_t took_ns = cs_random_range(&generator, MS, 500 * MS);
        const int64_t n_steps = cs_random_range(&generator, 8, 300);
        const double unit = cs_random_range(&generator, 0, 1) ? 0.125 : 1024;
        int n_reported = 0;
        for (int64_t step = 0; step <= n_steps; step++) {
            const int64_t now_ns = begun_ns + took_ns * step / n_steps;
            const double done = unit * (double) step;
            const int64_t left_ns = report(&work, call, done, unit * (double) n_steps, -1, now_ns);
            if (left_ns >= 0) {
                assert_true(8 * step >= n_steps && 8 * (step - 1) < n_steps);
                assert_true(llabs(now_ns + left_ns - begun_ns - took_ns) < took_ns / 1000 + 1000);
                n_reported++;
            }
        }
        assert_int_equal(n_reported, 1);
    }
}

static void a_late_first_report_counts_from_the_call_before(void **state)
{
    (void) state;
    clv_pap_work_t work = {0};
    assert_int_equal(report(&work, 1, 3, 10, 100 * MS, 130 * MS), 70 * MS);
    assert_int_equal(report(&work, 1, 4, 10, 100 * MS, 140 * MS), -1);
}

static void without_a_call_before_it_counts_from_the_first_report(void **state)
{
    (void) state;
    clv_pap_work_t work = {0};
    assert_int_equal(report(&work, 1, 3, 10, -1, 130 * MS), -1);
    assert_int_equal(report(&work, 1, 3, 10, -1, 135 * MS), -1); /* nothing done since */
    assert_int_equal(report(&work, 1, 4, 10, -1, 140 * MS), 60 * MS);
}

/* Reports that fall, change the total or are out of range, among sound ones. */
static void what_is_wrong_is_ignored(void **state)
{
    (void) state;
    static const double wrong[][2] = {
        {1, 10}, {5, 11}, {11, 10}, {-1, 10}, {2.5, 0}, {(double) NAN, 10}, {3, (double) NAN}};
    clv_pap_work_t work = {0};
    for (int64_t call = 1; call <= (int64_t) (sizeof wrong / sizeof wrong[0]); call++) {
        const double *numbers = wrong[call - 1];
        assert_int_equal(report(&work, call, 0, 10, 0, 100 * MS), -1);
        assert_int_equal(report(&work, call, 1.2, 10, 0, 112 * MS), -1);
        assert_int_equal(report(&work, call, numbers[0], numbers[1], 0, 130 * MS), -1);
        assert_int_equal(report(&work, call, 5, 10, 0, 150 * MS), 50 * MS);
    }
}

static void an_arrival_too_far_off_is_not_reported(void **state)
{
    (void) state;
    clv_pap_work_t work = {0};
    assert_int_equal(report(&work, 1, 0, 1e300, 0, 1), -1);
    assert_int_equal(report(&work, 1, 0.125e300, 1e300, 0, 1 + 515 * CLV_NS_PER_S), -1);
    assert_int_equal(report(&work, 2, 0, 1, 0, 1), -1);
    assert_int_equal(report(&work, 2, 1, 1, 0, 5), 0); /* all is done: now */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steady_work_is_reported_once_behind_an_eighth),
        cmocka_unit_test(a_late_first_report_counts_from_the_call_before),
        cmocka_unit_test(without_a_call_before_it_counts_from_the_first_report),
        cmocka_unit_test(what_is_wrong_is_ignored),
        cmocka_unit_test(an_arrival_too_far_off_is_not_reported),
    };
    generator.state = clv_seed();
    return clv_run_tests(tests);
}
