/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rings, helper trees and the chain of a broadcast: right by the oracle that follows every
 * contribution, no wrong mutant accepted, as many rounds as the design says, and rings never more
 * than 2 (N + P - 2) after the last arrival, whatever was predicted.
 *
 * CLV_ROUNDS: random instances, and mutants, per generator (2000; tests/quality/mutants.sh takes
 * more).
 */
#include "schedule/sched_cost.h"
#include "schedule/schedule.h"
#include "tests/support/plan_mutants.h"
#include "tests/support/random_instance.h"
#include "tests/support/random_plan.h"
#include "tests/support/test.h"
#include "util/util_alloc.h"

#define MAX_RANKS 12

static uint64_t seed;
static int64_t n_rounds;
static clv_draw_t draw;
static int32_t place[MAX_RANKS];

static const char *const names[] = {"plain-ring", "cut-ring", "helper-trees", "bcast-chain"};
#define N_NAMES ((int) (sizeof names / sizeof *names))

static clv_plan_t *make(const char *name)
{
    const clv_generator_t *generator = clv_generator_find(name);
    clv_plan_t *plan = NULL;
    draw.instance.goal = clv_goal_of(generator);
    assert_int_equal(clv_plan_make(generator, &draw.instance, &plan), CLV_OK);
    return plan;
}

/* Any family, with and without places. */
static void draw_instance(uint64_t *state, int64_t k)
{
    const int32_t n_ranks = (int32_t) clv_random_between(state, 1, MAX_RANKS);
    clv_draw_instance(&draw, state, (clv_family_t) (k % CLV_N_FAMILIES), n_ranks,
                      (int32_t) clv_random_between(state, 1, 30));
    draw.instance.root = (int32_t) clv_random_between(state, 0, n_ranks - 1);
    for (int32_t p = 0; p < n_ranks; p++) {
        place[p] = (int32_t) clv_random_between(state, 0, (n_ranks - 1) / 3);
    }
    draw.instance.place = k / CLV_N_FAMILIES % 2 == 0 ? NULL : place;
    draw.instance.is_far_late = (int32_t) clv_random_between(state, 0, 1);
}

static int is_valid(const clv_plan_t *plan)
{
    char reason[200];
    return clv_plan_validate(plan, reason, sizeof reason) == CLV_OK;
}

static void plans_are_right_and_keep_to_the_arrivals(void **unused)
{
    uint64_t state = seed;
    char reason[200];
    (void) unused;
    for (int64_t k = 0; k < n_rounds; k++) {
        draw_instance(&state, k);
        for (int i = 0; i < N_NAMES; i++) {
            clv_plan_t *plan = make(names[i]);
            assert_true(clv_plan_is_right(plan));
            assert_true(is_valid(plan));
            assert_int_equal(
                clv_plan_validate_arrivals(plan, &draw.instance, reason, sizeof reason), CLV_OK);
            clv_plan_free(plan);
        }
    }
}

static void no_mutant_that_is_wrong_is_accepted(void **unused)
{
    uint64_t state = seed + 1;
    clv_mutants_t all = {0}, of[N_NAMES] = {{0}};
    (void) unused;
    for (int64_t k = 0; k < n_rounds; k++) {
        draw_instance(&state, k);
        for (int i = 0; i < N_NAMES; i++) {
            clv_plan_t *plan = make(names[i]);
            if (plan->n_sends > 0) {
                clv_plan_mutate(plan, &state);
                assert_true(clv_mutants_judge(&of[i], plan));
            }
            clv_plan_free(plan);
        }
    }
    for (int i = 0; i < N_NAMES; i++) {
        clv_mutants_print(&of[i], names[i]);
        clv_mutants_add(&all, &of[i]);
    }
    assert_true(all.n_wrong > all.n / 2);
}

/* Rounds after the last arrival when all keep to the plan's order. */
static int64_t after(const clv_plan_t *plan, const int64_t *arrival_ns)
{
    const clv_cost_t cost = {.byte_ps = 1000 * draw.instance.round_ns};
    clv_estimate_t estimate;
    assert_int_equal(clv_plan_estimate(plan, arrival_ns, NULL, plan->n_segments, &cost, &estimate),
                     CLV_OK);
    return estimate.after_ns / draw.instance.round_ns;
}

/* 8 ranks, 64 segments, of which so many come two vectors later than the others. */
static void one_spread(int32_t n_late)
{
    clv_draw_instance(&draw, &(uint64_t){seed}, CLV_FAMILY_BALANCED, 8, 64);
    draw.instance.order_ns = NULL;
    draw.instance.place = NULL;
    for (int32_t p = 0; p < 8; p++) {
        draw.arrival_ns[p] = p < n_late ? 128 * draw.instance.round_ns : 0;
    }
}

static int64_t after_of(const char *name)
{
    clv_plan_t *plan = make(name);
    const int64_t rounds = after(plan, draw.arrival_ns);
    clv_plan_free(plan);
    return rounds;
}

static void rounds_are_those_of_the_design(void **unused)
{
    (void) unused;
    one_spread(0);
    assert_int_equal(after_of("plain-ring"), 2 * 7 * 64 / 8);
    assert_int_equal(after_of("bcast-chain"), 64 + 6);
    one_spread(1);
    assert_int_equal(after_of("plain-ring"), 2 * 7 * 64 / 8);
    assert_int_equal(after_of("cut-ring"), 64 + 7);
    assert_true(after_of("helper-trees") <= 64 * 125 / 100);
    one_spread(2);
    assert_true(after_of("cut-ring") <= 64 * 155 / 100);
    assert_true(after_of("helper-trees") < after_of("cut-ring"));
    one_spread(4);
    assert_true(after_of("cut-ring") <= after_of("plain-ring"));
    draw.instance.root = 7;
    assert_true(after_of("bcast-chain") <= 64 + 6);
}

static void equal_arrivals_give_the_plain_ring(void **unused)
{
    uint64_t state = seed + 2;
    (void) unused;
    for (int k = 0; k < 200; k++) {
        draw_instance(&state, k);
        draw.instance.is_far_late = 0;
        for (int32_t p = 0; p < draw.instance.n_ranks; p++) {
            draw.arrival_ns[p] = draw.order_ns[p] = 7;
        }
        clv_plan_t *plain = make("plain-ring"), *cut = make("cut-ring");
        const int64_t even = after(plain, draw.arrival_ns);
        assert_true(after(cut, draw.arrival_ns) <= even);
        assert_true(draw.instance.n_segments % draw.instance.n_ranks != 0 ||
                    clv_plan_hash(plain) == clv_plan_hash(cut));
        clv_plan_free(cut);
        clv_plan_free(plain);
    }
}

/* By few segments, for which another cut would be over sooner. */
static void who_is_far_late_sends_each_segment_once(void **unused)
{
    (void) unused;
    one_spread(1);
    draw.instance.n_segments = 16;
    const int64_t soonest = after_of("cut-ring");
    draw.instance.is_far_late = 1;
    clv_plan_t *plan = make("cut-ring");
    int64_t n_sent = 0;
    for (int64_t k = 0; k < plan->n_sends; k++) {
        n_sent += plan->sends[k].sender == 0;
        assert_true(plan->sends[k].sender != 0 || plan->sends[k].kind == CLV_COPY);
    }
    assert_int_equal(n_sent, 16);
    assert_in_range(after(plan, draw.arrival_ns), soonest + 1, 16 + 7);
    clv_plan_free(plan);
}

/* Made for one pattern, run under another. */
static void a_wrong_prediction_is_bounded(void **unused)
{
    uint64_t state = seed + 3;
    int64_t other_ns[MAX_RANKS], equal_ns[MAX_RANKS] = {0};
    (void) unused;
    if (clv_is_left_out()) {
        skip();
    }
    for (int64_t k = 0; k < n_rounds; k++) {
        draw_instance(&state, k);
        const int32_t n_ranks = draw.instance.n_ranks, n_segments = draw.instance.n_segments;
        draw.instance.round_ns = 1000;
        for (int32_t p = 0; p < n_ranks; p++) {
            draw.arrival_ns[p] = clv_random_between(&state, 0, 2000 * n_segments);
            other_ns[p] = clv_random_between(&state, 0, 2000 * n_segments);
        }
        clv_plan_t *plan = make("cut-ring");
        const int64_t balanced = after(plan, equal_ns);
        assert_true(after(plan, other_ns) <= balanced);
        assert_true(balanced <= 2 * (n_segments + n_ranks - 2));
        clv_plan_free(plan);
    }
}

/* Who hands segment 0 on to whom. */
static void chain_enters_each_place_once_and_ends_at_the_latest(void **unused)
{
    const int64_t arrival_ns[6] = {50, 10, 40, 0, 30, 20};
    const int32_t places[6] = {0, 1, 2, 0, 1, 2};
    const uint16_t expected[6] = {2, 5, 3, 0, 1, 4}; /* the root 2 and its place; 3 is the first */
    const uint16_t alone[6] = {2, 3, 1, 5, 4, 0};
    (void) unused;
    draw.instance = (clv_instance_t){.n_ranks = 6,
                                     .n_segments = 1,
                                     .root = 2,
                                     .round_ns = 1,
                                     .arrival_ns = arrival_ns,
                                     .place = places};
    clv_plan_t *plan = make("bcast-chain");
    draw.instance.place = NULL;
    clv_plan_t *sorted = make("bcast-chain");
    for (int k = 0; k < 5; k++) {
        assert_int_equal(plan->sends[k].sender, expected[k]);
        assert_int_equal(plan->sends[k].receiver, expected[k + 1]);
        assert_int_equal(sorted->sends[k].sender, alone[k]);
        assert_int_equal(sorted->sends[k].receiver, alone[k + 1]);
    }
    clv_plan_free(sorted);
    clv_plan_free(plan);
}

/* A link between places carries no more than a link of the ring: each is left once. */
static void a_ring_leaves_each_place_once(void **unused)
{
    (void) unused;
    one_spread(1);
    for (int32_t p = 0; p < 8; p++) {
        place[p] = p % 2;
    }
    draw.instance.place = place;
    clv_plan_t *plan = make("cut-ring");
    int64_t n_between = 0;
    for (int64_t k = 0; k < plan->n_sends; k++) {
        n_between += place[plan->sends[k].sender] != place[plan->sends[k].receiver];
    }
    assert_true(n_between <= 2 * 2 * 64); /* two links, at most two vectors over each */
    clv_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_are_right_and_keep_to_the_arrivals),
        cmocka_unit_test(no_mutant_that_is_wrong_is_accepted),
        cmocka_unit_test(rounds_are_those_of_the_design),
        cmocka_unit_test(equal_arrivals_give_the_plain_ring),
        cmocka_unit_test(who_is_far_late_sends_each_segment_once),
        cmocka_unit_test(a_wrong_prediction_is_bounded),
        cmocka_unit_test(chain_enters_each_place_once_and_ends_at_the_latest),
        cmocka_unit_test(a_ring_leaves_each_place_once),
    };
    const char *rounds = getenv("CLV_ROUNDS");
    seed = clv_seed();
    n_rounds = rounds != NULL ? atoll(rounds) : clv_share_of(2000);
    return clv_run_tests(tests);
}
