/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The numbers of calls whose times are small enough to be worked out by hand.
 */
#include "tests/support/test.h"
#include "apps/trace/trace_numbers.h"

#define NONE CLV_NUMBERS_NO_TIME

static clv_numbers_rank_t ranks[4];
static clv_numbers_call_t call;

/* Four ranks: the exit before, arrival, exit.
 *   0: 100 .. 130  170    computed 30
 *   1: 110 .. 140  165             30
 *   2: 100 .. 160  175             60, the last
 *   3: 120 .. 150  152             30, gone before the last came */
static const int64_t before[] = {100, 110, 100, 120};
static const int64_t arrival[] = {130, 140, 160, 150};
static const int64_t exits[] = {170, 165, 175, 152};
static const int64_t exact[4];

static clv_numbers_times_t four(void)
{
    return (clv_numbers_times_t){.n_ranks = 4,
                                 .arrival_ns = arrival,
                                 .exit_ns = exits,
                                 .before_ns = before,
                                 .bound_ns = exact};
}

static void lateness_counts_from_the_first(void **state)
{
    const clv_numbers_times_t times = four();

    (void) state;
    clv_numbers_of_call(&times, ranks, &call);
    assert_int_equal(call.n_present, 4);
    assert_int_equal(ranks[0].lateness_ns, 0);
    assert_int_equal(ranks[1].lateness_ns, 10);
    assert_int_equal(ranks[2].lateness_ns, 30);
    assert_int_equal(ranks[3].lateness_ns, 20);
    assert_int_equal(call.last_rank, 2);
    assert_int_equal(call.spread_ns, 30);
}

/* Rank 3 is late because it left the call before late, rank 2 because it computed long; and
 * lateness differs from own + inherited by the same for all. */
static void lateness_has_two_parts(void **state)
{
    const clv_numbers_times_t times = four();

    (void) state;
    clv_numbers_of_call(&times, ranks, &call);
    assert_true(call.has_parts);
    assert_int_equal(ranks[2].own_ns, 30);
    assert_int_equal(ranks[2].inherited_ns, 0);
    assert_int_equal(ranks[3].own_ns, 0);
    assert_int_equal(ranks[3].inherited_ns, 20);
    for (int i = 1; i < 4; i++) {
        assert_int_equal(ranks[i].lateness_ns - ranks[i].own_ns - ranks[i].inherited_ns,
                         ranks[0].lateness_ns - ranks[0].own_ns - ranks[0].inherited_ns);
    }
}

static void waits_end_with_the_last_arrival_or_the_own_exit(void **state)
{
    const clv_numbers_times_t times = four();

    (void) state;
    clv_numbers_of_call(&times, ranks, &call);
    assert_int_equal(ranks[0].wait_ns, 30);
    assert_int_equal(ranks[1].wait_ns, 20);
    assert_int_equal(ranks[2].wait_ns, 0);
    assert_int_equal(ranks[3].wait_ns, 2); /* it did not wait for the last */
    assert_int_equal(call.wait_ns, 52);
    assert_int_equal(ranks[1].in_mpi_ns, 25);
    assert_int_equal(call.in_mpi_ns, 40 + 25 + 15 + 2);
    assert_int_equal(call.after_ns, 15);
    assert_int_equal(call.first_ns, 130);
    assert_int_equal(call.last_ns, 160);
    assert_int_equal(call.end_ns, 175);
}

/* Rank 2 is 10 ahead of rank 3 and 20 ahead of rank 1. */
static void last_is_said_only_beyond_both_errors(void **state)
{
    static const struct {
        int64_t bound[4];
        int last;
    } cases[] = {{{0, 0, 5, 4}, 2},   {{0, 0, 5, 5}, -1},  {{9, 9, 0, 9}, 2},
                 {{0, 0, 10, 0}, -1}, {{0, 19, 1, 0}, -1}, /* the third may have been later */
                 {{0, 18, 1, 0}, 2}};
    clv_numbers_times_t times = four();

    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        times.bound_ns = cases[i].bound;
        clv_numbers_of_call(&times, ranks, &call);
        assert_int_equal(call.last_rank, cases[i].last);
    }
    assert_int_equal(call.bound_ns, 36);
    assert_int_equal(ranks[2].lateness_ns, 30); /* that does not depend on it */
}

static void ranks_without_times_are_left_out(void **state)
{
    static const int64_t gone[] = {130, 140, NONE, 150};
    clv_numbers_times_t times = four();

    (void) state;
    times.arrival_ns = gone;
    clv_numbers_of_call(&times, ranks, &call);
    assert_int_equal(call.n_present, 3);
    assert_int_equal(call.last_rank, 3);
    assert_int_equal(call.end_ns, 170);
    assert_int_equal(ranks[2].lateness_ns, 0);
    assert_int_equal(ranks[2].in_mpi_ns, 0);
    assert_int_equal(ranks[3].own_ns, 0);
    assert_int_equal(ranks[3].inherited_ns, 20);
}

static void one_rank_says_nothing(void **state)
{
    static const int64_t gone[] = {NONE, NONE, NONE, 150};
    clv_numbers_times_t times = four();

    (void) state;
    times.arrival_ns = gone;
    clv_numbers_of_call(&times, ranks, &call);
    assert_int_equal(call.n_present, 1);
    assert_int_equal(call.last_rank, -1);
    assert_int_equal(call.wait_ns, 0);
    assert_int_equal(call.in_mpi_ns, 0);
}

static void a_first_call_has_no_parts(void **state)
{
    static const int64_t some[] = {100, NONE, 100, 120};
    clv_numbers_times_t times = four();

    (void) state;
    times.before_ns = some;
    clv_numbers_of_call(&times, ranks, &call);
    assert_false(call.has_parts);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(ranks[i].own_ns, 0);
        assert_int_equal(ranks[i].inherited_ns, 0);
    }
    assert_int_equal(ranks[2].lateness_ns, 30);
}

/* Late by 0 10 30 20. Predictions that are all wrong alike are right. */
static void predictions_are_judged_relative_to_their_mean(void **state)
{
    static const int64_t right[] = {7, 17, 37, 27}, wrong[] = {0, 10, 30, 0},
                         some[] = {NONE, 10, 30, NONE};
    clv_numbers_times_t times = four();

    (void) state;
    clv_numbers_of_call(&times, ranks, &call);
    assert_int_equal(call.error_ns, -1);
    times.predicted_ns = right;
    clv_numbers_of_call(&times, ranks, &call);
    assert_int_equal(call.error_ns, 0);
    times.predicted_ns = wrong; /* errors 0 0 0 20, less their mean of 5: 5 5 5 15 */
    clv_numbers_of_call(&times, ranks, &call);
    assert_int_equal(call.error_ns, 30 / 4);
    times.predicted_ns = some;
    clv_numbers_of_call(&times, ranks, &call);
    assert_int_equal(call.error_ns, 0);
}

static void no_call_ends_sooner_than_one_vector(void **state)
{
    (void) state;
    call.last_rank = 2;
    assert_int_equal(clv_numbers_bound(&call, 0, 1000, 50, 8000), 50 + 8000);
    assert_int_equal(clv_numbers_bound(&call, 2, 1000, 50, 8000), 0);
    assert_int_equal(clv_numbers_bound(&call, -1, 1000, 50, 8000), 50 + 8000);
    call.last_rank = -1;
    assert_int_equal(clv_numbers_bound(&call, -1, 0, 50, 8000), 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lateness_counts_from_the_first),
        cmocka_unit_test(lateness_has_two_parts),
        cmocka_unit_test(waits_end_with_the_last_arrival_or_the_own_exit),
        cmocka_unit_test(last_is_said_only_beyond_both_errors),
        cmocka_unit_test(ranks_without_times_are_left_out),
        cmocka_unit_test(one_rank_says_nothing),
        cmocka_unit_test(a_first_call_has_no_parts),
        cmocka_unit_test(predictions_are_judged_relative_to_their_mean),
        cmocka_unit_test(no_call_ends_sooner_than_one_vector),
    };
    return clv_run_tests(tests);
}
