/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What rank 0 says at the end of what ran: gains as intervals bring them, verdicts in words, and
 * what was not taken.
 */
#include <stdio.h>

#include "choose/choose_gain.h"
#include "choose/choose_print.h"
#include "choose/choose_verdict.h"
#include "tests/support/test.h"

#define MS INT64_C(1000000)

/* ---- gains ----------------------------------------------------------------------------------- */

static void set_incumbent(clv_choose_iterations_t *iterations, int32_t algorithm, int64_t ms)
{
    iterations->incumbent = algorithm;
    iterations->blocks = (clv_choose_blocks_t){3, {ms * MS, ms * MS, ms * MS}};
}

static void run(clv_choose_iterations_t *iterations, int32_t algorithm, int64_t n_calls,
                int64_t ms_each)
{
    const clv_choose_interval_t interval = {.algorithm = algorithm,
                                            .n_calls = n_calls,
                                            .elapsed_ns = n_calls * ms_each * MS,
                                            .time_ns = n_calls * ms_each * MS};
    clv_choose_gain_look(iterations, &interval);
}

static void are(const clv_choose_iterations_t *iterations, int64_t took_ms, int64_t would_ms,
                int64_t unknown_ms, int64_t n_calls)
{
    const clv_choose_gains_t sum = clv_choose_gain_sum(iterations);

    assert_int_equal((sum.took_ns + MS / 2) / MS, took_ms);
    assert_int_equal((sum.would_ns + MS / 2) / MS, would_ms);
    assert_int_equal(sum.unknown_ns / MS, unknown_ms);
    assert_int_equal(sum.n_calls, n_calls);
}

/* 10 ms by the plan, 25 by the function before it: its other calls would have taken 25, too. */
static void a_trial_of_the_previous_function_says_what_all_calls_would_take(void **state)
{
    clv_choose_iterations_t iterations = {0};

    (void) state;
    run(&iterations, CLV_ALGORITHM_CHAIN, 20, 10); /* there is no incumbent yet */
    are(&iterations, 0, 0, 200, 0);
    set_incumbent(&iterations, CLV_ALGORITHM_CHAIN, 10);
    run(&iterations, CLV_ALGORITHM_CHAIN, 50, 10);
    are(&iterations, 0, 0, 700, 0);
    run(&iterations, CLV_ALGORITHM_PREVIOUS, 4, 25);
    are(&iterations, 800, 1850, 0, 4);
    run(&iterations, CLV_ALGORITHM_CHAIN, 100, 10);
    are(&iterations, 1800, 4350, 0, 4);
}

static void a_plan_that_wins_its_trial_is_compared_by_it(void **state)
{
    clv_choose_iterations_t iterations = {0};

    (void) state;
    set_incumbent(&iterations, CLV_ALGORITHM_PREVIOUS, 30);
    run(&iterations, CLV_ALGORITHM_PREVIOUS, 10, 30);
    are(&iterations, 300, 300, 0, 0);
    run(&iterations, CLV_ALGORITHM_RING, 10, 33); /* in vain */
    are(&iterations, 630, 600, 0, 10);
    run(&iterations, CLV_ALGORITHM_CHAIN, 20, 20);
    set_incumbent(&iterations, CLV_ALGORITHM_CHAIN, 20);
    run(&iterations, CLV_ALGORITHM_CHAIN, 100, 20);
    are(&iterations, 3030, 4200, 0, 30);
    /* One that wins against that is 3 times as fast as the previous function. */
    set_incumbent(&iterations, CLV_ALGORITHM_CLAIRVOYANT, 10);
    run(&iterations, CLV_ALGORITHM_CLAIRVOYANT, 100, 10);
    are(&iterations, 4030, 7200, 0, 30);
}

/* What clv lost until it found out stays lost. */
static void a_plan_that_loses_against_the_previous_function_is_a_loss(void **state)
{
    clv_choose_iterations_t iterations = {0};

    (void) state;
    set_incumbent(&iterations, CLV_ALGORITHM_CHAIN, 40);
    run(&iterations, CLV_ALGORITHM_CHAIN, 100, 40);
    run(&iterations, CLV_ALGORITHM_PREVIOUS, 30, 10);
    set_incumbent(&iterations, CLV_ALGORITHM_PREVIOUS, 10);
    run(&iterations, CLV_ALGORITHM_PREVIOUS, 100, 10);
    are(&iterations, 4000 + 300 + 1000, 1000 + 300 + 1000, 0, 30);
}

static void a_plan_that_was_not_compared_is_not_known(void **state)
{
    clv_choose_iterations_t iterations = {0};

    (void) state;
    set_incumbent(&iterations, CLV_ALGORITHM_CHAIN, 10);
    run(&iterations, CLV_ALGORITHM_CHAIN, 100, 10);
    run(&iterations, CLV_ALGORITHM_RANK_CHAIN, 30,
        9); /* a trial that says nothing of that function */
    set_incumbent(&iterations, CLV_ALGORITHM_RANK_CHAIN, 9);
    run(&iterations, CLV_ALGORITHM_RANK_CHAIN, 100, 9);
    are(&iterations, 0, 0, 1000 + 270 + 900, 0);
    run(&iterations, CLV_ALGORITHM_RANK_CHAIN, 0, 9); /* nothing is known of that interval */
    are(&iterations, 0, 0, 2170, 0);
    run(&iterations, CLV_ALGORITHM_PREVIOUS, 10, 18); /* of the plan that runs, and no other */
    are(&iterations, 180 + 900, 180 + 1800, 1270, 10);
}

/* As they lie apart, or as far as blocks may that are not odd, where there are fewer than three. */
static void blocks_say_what_a_difference_is_worth(void **state)
{
    clv_choose_iterations_t iterations = {0};

    (void) state;
    set_incumbent(&iterations, CLV_ALGORITHM_CHAIN, 100);
    iterations.blocks.iteration_ns[0] = 103 * MS;
    run(&iterations, CLV_ALGORITHM_PREVIOUS, 10, 100);
    assert_int_equal(clv_choose_gain_sum(&iterations).spread_permille, 10 * 30);
    iterations.blocks.n_blocks = 2;
    run(&iterations, CLV_ALGORITHM_PREVIOUS, 10, 100);
    assert_int_equal(clv_choose_gain_sum(&iterations).spread_permille, 10 * 30 + 10 * 120);
}

/* Products of such times do not fit a number. */
static void the_longest_times_do_not_overflow(void **state)
{
    clv_choose_iterations_t iterations = {0};
    clv_choose_gains_t sum;

    (void) state;
    set_incumbent(&iterations, CLV_ALGORITHM_CHAIN, INT64_MAX / MS / 100000);
    for (int k = 0; k < 10; k++) {
        run(&iterations, CLV_ALGORITHM_CHAIN, 1, INT64_MAX / MS / 100000);
        run(&iterations, CLV_ALGORITHM_PREVIOUS, 1, INT64_MAX / MS / 100000);
    }
    sum = clv_choose_gain_sum(&iterations);
    assert_true(sum.took_ns > 0 && sum.would_ns > 0);
}

/* ---- verdicts -------------------------------------------------------------------------------- */

static const clv_choose_config_t defaults = {.exchange = 1,
                                             .collectives = CLV_OF(REDUCE),
                                             .reduce_algorithm = CLV_ALGORITHM_AUTO,
                                             .allreduce_algorithm = CLV_ALGORITHM_AUTO,
                                             .bcast_algorithm = CLV_ALGORITHM_AUTO,
                                             .reduce_min_bytes = 65536,
                                             .allreduce_min_bytes = 65536,
                                             .bcast_min_bytes = 65536};

/* 30 calls were compared: own_ms by the plan, previous_ms by the function before it. */
static clv_verdict_facts_t facts_of(int64_t own_ms, int64_t previous_ms, int64_t spread_permille)
{
    const clv_choose_gains_t gains = {.took_ns = 100 * own_ms * MS,
                                      .would_ns = 100 * previous_ms * MS,
                                      .n_calls = 30,
                                      .own_ns = 30 * own_ms * MS,
                                      .previous_ns = 30 * previous_ms * MS,
                                      .spread_permille = 30 * spread_permille};
    return (clv_verdict_facts_t){.config = &defaults,
                                 .gains = gains,
                                 .run_ns = 110 * own_ms * MS,
                                 .n_calls = 100,
                                 .n_previous = 20,
                                 .n_timed = 100};
}

static void says(const clv_verdict_facts_t *facts, const char *words)
{
    char text[512];

    clv_choose_print_verdict(text, sizeof text, facts);
    if (strstr(text, words) == NULL) {
        print_error("no \"%s\" in: %s\n", words, text);
    }
    assert_non_null(strstr(text, words));
}

/* The run took 1.1 s and would have taken 0.5 s more. */
static void a_gain_is_a_share_of_the_run(void **state)
{
    clv_verdict_facts_t facts = facts_of(10, 15, 20);
    clv_choose_config_t after = defaults;

    (void) state;
    assert_int_equal(clv_choose_verdict(&facts), CLV_VERDICT_FASTER);
    says(&facts, "faster by 31 % than the previous function: 1.10 s from the first call to the "
                 "last instead of 1.60, judged by 30 calls of trials: 10.000 ms each with clv, "
                 "15.000 without, from one call to the next");
    facts.gains.unknown_ns = facts.gains.took_ns;
    says(&facts, "from one call to the next; 50 % of the time was not compared");
    after.objective = CLV_OBJECTIVE_AFTER; /* which says nothing of the run */
    facts.config = &after;
    says(&facts, "faster by 33 % than the previous function, judged by 30 calls of trials: 10.000 "
                 "ms each with clv, 15.000 without, after their last arrival");
}

static void a_loss_is_reported_like_a_gain(void **state)
{
    clv_verdict_facts_t facts = facts_of(15, 10, 20);

    (void) state;
    assert_int_equal(clv_choose_verdict(&facts), CLV_VERDICT_SLOWER);
    says(&facts, "slower by 43 % than the previous function: 1.65 s from the first call to the "
                 "last instead of 1.15, judged");
}

static void a_difference_within_the_noise_is_none(void **state)
{
    clv_verdict_facts_t facts = facts_of(100, 104, 50);

    (void) state;
    assert_int_equal(clv_choose_verdict(&facts), CLV_VERDICT_UNKNOWN);
    says(&facts, "unknown, because the difference of 3.8 % in 30 compared calls is within the 5.0 "
                 "% by which calls differ anyway; run once with --mca coll ^clv and compare");
    facts = facts_of(100, 104, 20);
    assert_int_equal(clv_choose_verdict(&facts), CLV_VERDICT_FASTER);
    says(&facts, "faster by 3.5 % than");
    facts.gains.spread_permille = 0; /* nobody knows it: so much at least */
    assert_int_equal(clv_choose_verdict(&facts), CLV_VERDICT_FASTER);
    facts = facts_of(1000, 1009, 0);
    assert_int_equal(clv_choose_verdict(&facts), CLV_VERDICT_UNKNOWN);
}

/* Fewer than those of a block may be odd ones. */
static void few_calls_say_nothing(void **state)
{
    clv_verdict_facts_t facts = facts_of(100, 104, 30);

    (void) state;
    assert_int_equal(clv_choose_verdict(&facts), CLV_VERDICT_FASTER);
    facts.gains = (clv_choose_gains_t){.took_ns = 10000 * MS,
                                       .would_ns = 10400 * MS,
                                       .n_calls = 10,
                                       .own_ns = 1000 * MS,
                                       .previous_ns = 1040 * MS,
                                       .spread_permille = 10 * 30};
    assert_int_equal(clv_choose_verdict(&facts), CLV_VERDICT_FASTER);
    facts.gains.n_calls = 9;
    assert_int_equal(clv_choose_verdict(&facts), CLV_VERDICT_UNKNOWN);
}

static void where_nothing_was_compared_it_is_said_why(void **state)
{
    clv_choose_config_t config = defaults;
    clv_verdict_facts_t facts = {.config = &config, .n_calls = 60, .n_timed = 60};

    (void) state;
    says(&facts, "unknown, because none of 60 calls was measured; they may carry too few bytes "
                 "(coll_clv_setup_bytes); run once with --mca coll ^clv and compare");
    facts.n_calls = 20;
    says(&facts, "unknown, because 20 calls are too few: trials begin after 20; run once");
    facts.n_calls = 1;
    says(&facts, "unknown, because 1 call is too few: trials begin after 20; run once");
    facts.n_calls = 60;
    facts.gains.unknown_ns = 1;
    says(&facts, "unknown, because no trial compared the plans with the previous function: trials "
                 "begin after 20 calls and may cost 0.4 % of the run; run once with --mca coll "
                 "^clv and compare");
    config.exchange = 0;
    says(&facts, "because coll_clv_exchange is off, so nothing was measured; run once with");
    config.reproducible = CLV_REPRODUCIBLE_ALWAYS;
    facts.n_timed = 0;
    says(&facts,
         "because coll_clv_reproducible asks for a fixed order, so nothing else was tried; run");
    config.allreduce_algorithm = CLV_ALGORITHM_CUT_RING;
    says(&facts,
         "because coll_clv_allreduce_algorithm is cut_ring, so nothing else was tried; run");
}

static void where_nothing_of_clv_ran_nothing_is_faster_or_slower(void **state)
{
    clv_verdict_facts_t facts = {
        .config = &defaults, .n_calls = 60, .n_previous = 60, .reason = CLV_REASON_NOT_COMMUTATIVE};

    (void) state;
    assert_int_equal(clv_choose_verdict(&facts), CLV_VERDICT_SAME);
    says(&facts, "no faster and no slower: the previous function ran in all 60 calls, mostly "
                 "because the operation does not commute");
    facts.n_calls = facts.n_previous = 0;
    says(&facts, "no faster and no slower: clv took no call");
}

/* ---- what is not taken ----------------------------------------------------------------------- */

static void is_not_taken(const clv_choose_config_t *config, int64_t reduces, int64_t allreduces,
                         int64_t bcasts, const char *words)
{
    const int64_t n_calls[CLV_N_COLLECTIVES] = {[CLV_COLLECTIVE_REDUCE] = reduces,
                                                [CLV_COLLECTIVE_ALLREDUCE] = allreduces,
                                                [CLV_COLLECTIVE_BCAST] = bcasts};
    char text[256];

    clv_choose_print_not_taken(text, sizeof text, config, n_calls);
    assert_string_equal(text, words);
}

static void large_calls_that_are_not_taken_are_reported_with_the_parameter(void **state)
{
    clv_choose_config_t config = defaults;
    char cut[20];

    (void) state;
    is_not_taken(&config, 0, 0, 0, "");
    is_not_taken(&config, 0, 80, 0,
                 "80 allreduces of 64 KiB or more not taken: coll_clv_collectives is reduce");
    is_not_taken(&config, 0, 1, 12,
                 "1 allreduce and 12 bcasts of 64 KiB or more not taken: coll_clv_collectives is "
                 "reduce");
    config.collectives = CLV_OF(BCAST);
    config.reduce_min_bytes = 3 << 20;
    config.allreduce_min_bytes = 1000;
    is_not_taken(&config, 5, 6, 0,
                 "5 reduces of 3 MiB or more and 6 allreduces of 1000 bytes or more not taken: "
                 "coll_clv_collectives is bcast");
    clv_choose_print_not_taken(cut, sizeof cut, &config, (int64_t[CLV_N_COLLECTIVES]){7, 8, 9});
    assert_string_equal(cut, "7 reduces of 3 MiB ");
}

static void is_left_alone(int64_t n_many_ranks, int64_t n_displaced, const char *expected)
{
    char text[320];

    clv_choose_print_left_alone(text, sizeof text, n_many_ranks, n_displaced);
    assert_string_equal(text, expected);
}

static void what_has_no_place_is_reported(void **state)
{
    (void) state;
    is_left_alone(0, 0, "");
    is_left_alone(0, CLV_PAP_MAX_STREAMS, ""); /* the program went on to other calls */
    is_left_alone(1, 0, "left alone: 1 call on communicators of more than 4096 ranks");
    is_left_alone(0, 17,
                  "left alone: more than 16 kinds of calls (collective, bytes by powers of two) "
                  "took turns on a communicator: not predicted 17 times; "
                  "coll_clv_reduce_min_bytes leaves out small ones");
    is_left_alone(80, 200,
                  "left alone: 80 calls on communicators of more than 4096 ranks; more than 16 "
                  "kinds of calls (collective, bytes by powers of two) took turns on a "
                  "communicator: not predicted 200 times; coll_clv_reduce_min_bytes leaves out "
                  "small ones");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trial_of_the_previous_function_says_what_all_calls_would_take),
        cmocka_unit_test(a_plan_that_wins_its_trial_is_compared_by_it),
        cmocka_unit_test(a_plan_that_loses_against_the_previous_function_is_a_loss),
        cmocka_unit_test(a_plan_that_was_not_compared_is_not_known),
        cmocka_unit_test(blocks_say_what_a_difference_is_worth),
        cmocka_unit_test(the_longest_times_do_not_overflow),
        cmocka_unit_test(a_gain_is_a_share_of_the_run),
        cmocka_unit_test(a_loss_is_reported_like_a_gain),
        cmocka_unit_test(a_difference_within_the_noise_is_none),
        cmocka_unit_test(few_calls_say_nothing),
        cmocka_unit_test(where_nothing_was_compared_it_is_said_why),
        cmocka_unit_test(where_nothing_of_clv_ran_nothing_is_faster_or_slower),
        cmocka_unit_test(large_calls_that_are_not_taken_are_reported_with_the_parameter),
        cmocka_unit_test(what_has_no_place_is_reported),
    };
    return clv_run_tests(tests);
}
