/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How long a waiting rank sleeps: waits drawn at random, slept through by the slices, message by
 * message, and what that costs and saves.
 */
#include "tests/support/test.h"

#include "choose/choose_wait.h"
#include "util/util_min_max.h"

#define US      INT64_C(1000)
#define MS      INT64_C(1000000)
#define TURN_NS 500      /* of a loop that waits */
#define NAP_NS  (8 * US) /* a sleep takes so much longer than asked for */

static uint64_t drawn;

static int64_t draw(int64_t below)
{
    drawn ^= drawn << 13;
    drawn ^= drawn >> 7;
    drawn ^= drawn << 17;
    return (int64_t) (drawn % (uint64_t) below);
}

typedef struct sums {
    int64_t n_calls, waited_ns, asleep_ns;
    int64_t n_late, late_max_ns; /* by more than what may be: CLV_WAIT_CAP_NS */
} sums_t;

/* A wait that ends when it has lasted wait_ns, without and with sleeping. */
static void sleep_through(clv_wait_history_t *history, int64_t wait_ns, int64_t forecast_ns,
                          sums_t *sums)
{
    const clv_wait_plan_t plan = clv_wait_predict(history, forecast_ns);
    int64_t now_ns = 0, woke_ns = -MS, asleep_ns = 0;

    while (now_ns < wait_ns) {
        const clv_wait_now_t now = {.elapsed_ns = now_ns, .idle_ns = now_ns};
        const int64_t slice_ns = clv_wait_slice(&plan, &now);
        now_ns += slice_ns > 0 ? slice_ns + NAP_NS : TURN_NS;
        asleep_ns += slice_ns > 0 ? slice_ns : 0;
        woke_ns = slice_ns > 0 ? now_ns : woke_ns;
    }
    sums->n_calls++;
    sums->waited_ns += wait_ns;
    sums->asleep_ns += asleep_ns;
    sums->n_late += now_ns - wait_ns > CLV_WAIT_CAP_NS + NAP_NS;
    sums->late_max_ns = clv_larger(sums->late_max_ns, now_ns - wait_ns);
    clv_wait_record(history, &plan, now_ns, woke_ns == now_ns);
}

/* Lasting arrivals: each place in the period has its wait, from 1 to 50 ms, noise a hundredth.
 * Late: one call in a thousand of all periods; programs with nearly equal places have most. */
static void lasting_waits_are_slept_through_and_no_wake_is_late(void **state)
{
    int64_t n_late = 0, n_calls = 0;

    (void) state;
    for (int32_t period = 1; period <= CLV_WAIT_PERIODS; period++) {
        sums_t sums = {0};
        for (int program = 0; program < 25; program++) {
            clv_wait_history_t history = {0};
            int64_t place_ns[CLV_WAIT_PERIODS];
            for (int32_t p = 0; p < period; p++) {
                place_ns[p] = MS + draw(49 * MS);
            }
            for (int32_t call = 0; call < 4 * period; call++) { /* until it knows */
                sleep_through(&history, place_ns[call % period], -1, &(sums_t){0});
            }
            for (int32_t call = 0; call < 400; call++) {
                const int64_t ns = place_ns[call % period];
                sleep_through(&history, ns - ns / 200 + draw(ns / 100), -1, &sums);
            }
        }
        print_message("# period %d: asleep %d %% of the waiting, late %d of %d\n", (int) period,
                      (int) (100 * sums.asleep_ns / sums.waited_ns), (int) sums.n_late,
                      (int) sums.n_calls);
        assert_true(100 * sums.asleep_ns > 80 * sums.waited_ns);
        n_late += sums.n_late;
        n_calls += sums.n_calls;
    }
    assert_true(1000 * n_late <= n_calls);
}

/* Drawn afresh from 0.1 to 50 ms: late by a tenth of the wait, or by what may be anyhow. */
static void fresh_waits_are_late_by_a_tenth_at_most(void **state)
{
    clv_wait_history_t history = {0};
    sums_t sums = {0};

    (void) state;
    for (int call = 0; call < 20000; call++) {
        sums_t one = {0};
        const int64_t ns = 100 * US + draw(50 * MS);
        sleep_through(&history, ns, -1, &one);
        assert_true(one.late_max_ns <=
                    NAP_NS + TURN_NS +
                        clv_larger(CLV_WAIT_CAP_NS, clv_smaller(CLV_WAIT_MOST_NS, ns / 10)));
        sums.asleep_ns += one.asleep_ns;
        sums.waited_ns += ns;
    }
    print_message("# fresh: asleep %d %%\n", (int) (100 * sums.asleep_ns / sums.waited_ns));
    assert_true(100 * sums.asleep_ns > 75 * sums.waited_ns);
}

static void short_waits_are_spun_through(void **state)
{
    clv_wait_history_t history = {0};
    sums_t sums = {0};

    (void) state;
    for (int call = 0; call < 1000; call++) {
        sleep_through(&history, draw(50 * US), -1, &sums);
    }
    assert_int_equal(sums.asleep_ns, 0);
}

/* Of 0.1 to 0.9 ms, every time: once that is known, nothing sleeps. */
static void brief_waits_are_spun_through_once_they_are_known(void **state)
{
    (void) state;
    for (int program = 0; program < 100; program++) {
        const int64_t ns = 100 * US + draw(800 * US);
        clv_wait_history_t history = {0};
        sums_t sums = {0};
        for (int call = 0; call < 4; call++) {
            sleep_through(&history, ns, -1, &(sums_t){0});
        }
        for (int call = 0; call < 100; call++) {
            sleep_through(&history, ns - ns / 200 + draw(ns / 100), -1, &sums);
        }
        assert_int_equal(sums.asleep_ns, 0);
    }
}

static clv_wait_plan_t some_plan(void)
{
    return (clv_wait_plan_t){
        .expected_ns = draw(20 * MS) - MS, .margin_ns = draw(MS), .forecast_ns = -1};
}

static void no_slice_is_longer_than_its_bound(void **state)
{
    (void) state;
    for (int i = 0; i < 200000; i++) {
        const clv_wait_plan_t plan = some_plan();
        const int64_t elapsed_ns = draw(30 * MS);
        const clv_wait_now_t now = {.elapsed_ns = elapsed_ns,
                                    .idle_ns = draw(elapsed_ns + 1),
                                    .message_wakes = draw(2) == 0,
                                    .has_sends = draw(4) == 0};
        const int64_t slice_ns = clv_wait_slice(&plan, &now);
        const int64_t bound_ns = clv_larger(CLV_WAIT_CAP_NS, now.idle_ns / 10);

        assert_true(slice_ns == 0 || slice_ns >= CLV_WAIT_LEAST_NS);
        assert_true(slice_ns <= (now.message_wakes ? CLV_WAIT_DEAF_NS
                                                   : clv_smaller(bound_ns, CLV_WAIT_MOST_NS)));
        assert_true(now.message_wakes || !now.has_sends || slice_ns <= CLV_WAIT_CAP_NS / 2);
        assert_true(now.message_wakes || now.idle_ns >= CLV_WAIT_LEAST_NS || slice_ns == 0);
    }
}

static void nothing_sleeps_close_to_what_is_expected(void **state)
{
    (void) state;
    for (int i = 0; i < 100000; i++) {
        const clv_wait_plan_t plan = {
            .expected_ns = draw(20 * MS), .margin_ns = draw(MS), .forecast_ns = -1};
        const int64_t off_ns = draw(2 * plan.margin_ns + 1) - plan.margin_ns;
        const clv_wait_now_t now = {.elapsed_ns = plan.expected_ns + off_ns,
                                    .idle_ns = plan.expected_ns + off_ns,
                                    .message_wakes = draw(2) == 0};
        assert_int_equal(clv_wait_slice(&plan, &now), 0);
        assert_true(clv_wait_slice(&plan, &(clv_wait_now_t){.elapsed_ns = 0, .idle_ns = MS}) <=
                    clv_larger(0, plan.expected_ns - plan.margin_ns));
    }
}

static void a_call_woken_late_twice_widens_its_margin(void **state)
{
    clv_wait_history_t history = {0};
    int64_t margin_ns;

    (void) state;
    for (int call = 0; call < 16; call++) {
        const clv_wait_plan_t plan = clv_wait_predict(&history, -1);
        clv_wait_record(&history, &plan, 20 * MS, false);
    }
    margin_ns = clv_wait_predict(&history, -1).margin_ns;
    for (int call = 0; call < 2; call++) {
        const clv_wait_plan_t plan = clv_wait_predict(&history, -1);
        assert_int_equal(plan.margin_ns, margin_ns);
        clv_wait_record(&history, &plan, 20 * MS, true);
    }
    assert_int_equal(clv_wait_predict(&history, -1).margin_ns, 2 * margin_ns);
    for (int call = 0; call < 16; call++) {
        const clv_wait_plan_t plan = clv_wait_predict(&history, -1);
        clv_wait_record(&history, &plan, 20 * MS, false);
    }
    assert_int_equal(clv_wait_predict(&history, -1).margin_ns, margin_ns);
}

/* Waits that the history cannot know, and a forecast of them. */
static void the_better_source_is_asked(void **state)
{
    clv_wait_history_t history = {0};
    clv_wait_plan_t plan;

    (void) state;
    for (int call = 0; call < 50; call++) {
        const int64_t ns = MS + draw(20 * MS);
        plan = clv_wait_predict(&history, ns);
        assert_true(call < 8 || plan.expected_ns == ns);
        clv_wait_record(&history, &plan, ns + draw(10 * US), false);
    }
    plan = clv_wait_predict(&history, -1); /* and once there is none */
    assert_true(plan.expected_ns < 0 || plan.expected_ns != plan.forecast_ns);
    for (int call = 0; call < 50; call++) { /* a forecast that is wrong */
        plan = clv_wait_predict(&history, draw(20 * MS));
        assert_true(call < 30 || plan.expected_ns == 5 * MS);
        clv_wait_record(&history, &plan, 5 * MS, false);
    }
}

static void calls_that_do_not_wait_keep_their_place(void **state)
{
    clv_wait_history_t history = {0};

    (void) state;
    for (int call = 0; call < 21; call++) {
        const clv_wait_plan_t plan = clv_wait_predict(&history, -1);
        if (call % 2 == 0) {
            clv_wait_record_none(&history);
        } else {
            assert_true(call < 5 || plan.expected_ns == 8 * MS);
            clv_wait_record(&history, &plan, 8 * MS, false);
        }
    }
}

static void sizes_have_classes(void **state)
{
    (void) state;
    assert_int_equal(clv_wait_size_class(0), 0);
    assert_int_equal(clv_wait_size_class(8), 1);
    assert_true(clv_wait_size_class(8) < clv_wait_size_class(4096));
    assert_int_equal(clv_wait_size_class(INT64_MAX), CLV_WAIT_SIZES - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lasting_waits_are_slept_through_and_no_wake_is_late),
        cmocka_unit_test(fresh_waits_are_late_by_a_tenth_at_most),
        cmocka_unit_test(short_waits_are_spun_through),
        cmocka_unit_test(brief_waits_are_spun_through_once_they_are_known),
        cmocka_unit_test(no_slice_is_longer_than_its_bound),
        cmocka_unit_test(nothing_sleeps_close_to_what_is_expected),
        cmocka_unit_test(a_call_woken_late_twice_widens_its_margin),
        cmocka_unit_test(the_better_source_is_asked),
        cmocka_unit_test(calls_that_do_not_wait_keep_their_place),
        cmocka_unit_test(sizes_have_classes),
    };

    drawn = clv_seed();
    return clv_run_tests(tests);
}
