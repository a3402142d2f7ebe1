/* SPDX-License-Identifier: BSD-3-Clause
 *
 * When ranks leave a plan: without early travel as clv_plan_estimate has it, with it by hand.
 * Segments of 10 bytes take 20 ns on a wire and 50 more until they are combined.
 */
#include "schedule/sched_exits.h"
#include "tests/support/random_instance.h"
#include "tests/support/test.h"

#define MIB INT64_C(1048576)

static uint64_t seed;
static clv_draw_t draw;
static const clv_cost_t cost = {.latency_ns = 50, .byte_ps = 2000};

static void check_against_estimate(const clv_generator_t *row, const int32_t *place,
                                   const clv_cost_t *drawn)
{
    int64_t exit_ns[20], last_ns = 0, sum_ns = 0;
    clv_estimate_t estimate;
    clv_plan_t *plan = NULL;

    draw.instance.place = place;
    draw.instance.goal = clv_goal_of(row);
    assert_int_equal(clv_plan_make(row, &draw.instance, &plan), CLV_OK);
    assert_int_equal(clv_plan_estimate(plan, draw.arrival_ns, place, MIB, drawn, &estimate),
                     CLV_OK);
    assert_int_equal(clv_plan_exits(plan, draw.arrival_ns, place, MIB, drawn, NULL, NULL, exit_ns),
                     CLV_OK);
    for (int32_t p = 0; p < plan->n_ranks; p++) {
        assert_true(exit_ns[p] >= draw.arrival_ns[p]);
        last_ns = exit_ns[p] > last_ns ? exit_ns[p] : last_ns;
        sum_ns += (exit_ns[p] - draw.arrival_ns[p]) / plan->n_ranks;
    }
    assert_int_equal(last_ns, estimate.end_ns);
    assert_int_equal(sum_ns, estimate.in_mpi_ns);
    clv_plan_free(plan);
}

static void exits_are_those_of_the_estimate(void **unused)
{
    const clv_cost_t drawn = {1000, 100, 50, 5, 3, 15000, 0, 0};
    uint64_t state = seed;
    int32_t place[20];
    (void) unused;
    for (int k = 0; k < clv_share_of(300); k++) {
        const int32_t n_ranks = (int32_t) clv_random_between(&state, 1, 20);
        for (int32_t p = 0; p < n_ranks; p++) {
            place[p] = p / 3;
        }
        clv_draw_instance(&draw, &state, (clv_family_t) (k % CLV_N_FAMILIES), n_ranks, 9);
        for (const clv_generator_t *row = clv_generators; row->name != NULL; row++) {
            check_against_estimate(row, NULL, &drawn);
            check_against_estimate(row, place, &drawn);
        }
    }
}

/* ---- by hand: rank 1 sends n segments to rank 0 ---------------------------------------------- */

static int64_t exit_ns[3];

static void run(clv_exits_t *exits, int32_t n_segments, int64_t receiver_ns, int64_t sender_ns)
{
    const int64_t arrival_ns[2] = {receiver_ns, sender_ns};
    clv_send_t sends[8];
    const clv_plan_t plan = {.n_ranks = 2,
                             .n_segments = n_segments,
                             .n_rounds = n_segments,
                             .n_sends = n_segments,
                             .sends = sends};
    for (int32_t s = 0; s < n_segments; s++) {
        sends[s] = clv_send_of(s, 1, 0, s, CLV_MOVE);
    }
    assert_int_equal(
        clv_plan_exits(&plan, arrival_ns, NULL, 10 * n_segments, &cost, exits, NULL, exit_ns),
        CLV_OK);
}

static clv_exits_t *make(int64_t eager_bytes, int64_t pair_bytes, int64_t take_ps)
{
    const clv_early_t early = {eager_bytes, pair_bytes, take_ps, 5};
    clv_exits_t *exits = NULL;
    assert_int_equal(clv_exits_create(3, &early, &exits), CLV_OK);
    return exits;
}

static void a_small_segment_leaves_without_its_receiver(void **unused)
{
    clv_exits_t *exits = make(10, 640, 0);
    (void) unused;
    run(exits, 1, 700, 100);
    assert_int_equal(exit_ns[1], 100);
    assert_int_equal(exit_ns[0], 750);
    clv_exits_free(exits);
}

static void a_receiver_that_is_there_takes_it_from_the_wire(void **unused)
{
    clv_exits_t *exits = make(10, 640, 0);
    (void) unused;
    run(exits, 2, 0, 100);
    assert_int_equal(exit_ns[1], 100);
    assert_int_equal(exit_ns[0], 100 + 2 * 20 + 50);
    clv_exits_free(exits);
}

static void a_large_segment_waits_for_its_receiver(void **unused)
{
    clv_exits_t *exits = make(9, 640, 0);
    (void) unused;
    run(exits, 1, 700, 100);
    assert_int_equal(exit_ns[1], 710); /* the last 5 of 10 bytes travel on alone */
    assert_int_equal(exit_ns[0], 770);
    clv_exits_free(exits);
}

static void who_finds_no_room_waits_until_something_is_taken(void **unused)
{
    clv_exits_t *exits = make(10, 20, 0);
    (void) unused;
    run(exits, 3, 700, 100);
    assert_int_equal(exit_ns[1], 700);
    assert_int_equal(exit_ns[0], 770);
    clv_exits_free(exits);
}

/* Four lie there: the first is combined after 50 ns, the others 30 ns apart. */
static void what_lies_there_takes_its_time(void **unused)
{
    clv_exits_t *exits = make(10, 640, 3000);
    (void) unused;
    run(exits, 4, 700, 100);
    assert_int_equal(exit_ns[0], 750 + 3 * 30);
    clv_exits_free(exits);
}

static void room_is_counted_over_calls(void **unused)
{
    clv_exits_t *one = make(10, 10, 0), *two = make(10, 20, 0);
    (void) unused;
    run(one, 1, 5000, 100);
    assert_int_equal(exit_ns[1], 100);
    run(one, 1, 6000, 200);
    assert_int_equal(exit_ns[1], 5000);
    run(two, 1, 5000, 100);
    run(two, 1, 6000, 200);
    assert_int_equal(exit_ns[1], 200);
    assert_int_equal(exit_ns[0], 6000); /* it was taken in the call before, until 5050 */
    clv_exits_free(one);
    clv_exits_free(two);
}

/* Its receiver was in the call before until 1000, so it is taken at 120 and makes room then. */
static void who_is_in_another_call_takes_what_comes(void **unused)
{
    clv_exits_t *exits = make(10, 10, 0);
    (void) unused;
    clv_exits_leave(exits, 0, 1000);
    run(exits, 2, 2000, 100);
    assert_int_equal(exit_ns[1], 120);
    assert_int_equal(exit_ns[0], 2000);
    clv_exits_free(exits);
}

/* Rank 2 is first in the plan and comes last: what rank 1 sent has crossed before, so rank 1's
 * second segment does not wait for rank 2's. */
static void a_late_sender_does_not_hold_up_the_way_in(void **unused)
{
    clv_exits_t *exits = make(5, 5, 0);
    clv_send_t sends[] = {{0, 2, 0, 0, CLV_MOVE}, {1, 1, 0, 0, CLV_MOVE}, {2, 1, 0, 1, CLV_MOVE}};
    const clv_plan_t plan = {
        .n_ranks = 3, .n_segments = 2, .n_rounds = 3, .n_sends = 3, .sends = sends};
    const int64_t arrival_ns[3] = {0, 100, 9000};
    (void) unused;
    /* Room for one segment of 5 bytes, which crosses in 10 ns. */
    assert_int_equal(clv_plan_exits(&plan, arrival_ns, NULL, 10, &cost, exits, NULL, exit_ns),
                     CLV_OK);
    assert_int_equal(exit_ns[1], 110);
    assert_int_equal(exit_ns[0], 9000 + 10 + 50);
    clv_exits_free(exits);
}

/* Ranks of a communicator go by their numbers in the network. */
static void members_share_what_is_theirs(void **unused)
{
    clv_exits_t *exits = make(10, 10, 0);
    clv_send_t sends[] = {{0, 1, 0, 0, CLV_MOVE}};
    const clv_plan_t plan = {
        .n_ranks = 2, .n_segments = 1, .n_rounds = 1, .n_sends = 1, .sends = sends};
    const int64_t arrival_ns[2] = {5000, 100}, next_ns[2] = {6000, 200};
    const int32_t members[2] = {2, 0}, others[2] = {1, 0};
    (void) unused;
    assert_int_equal(clv_plan_exits(&plan, arrival_ns, NULL, 10, &cost, exits, members, exit_ns),
                     CLV_OK);
    assert_int_equal(clv_plan_exits(&plan, next_ns, NULL, 10, &cost, exits, others, exit_ns),
                     CLV_OK);
    assert_int_equal(exit_ns[1], 200); /* another pair */
    assert_int_equal(clv_plan_exits(&plan, next_ns, NULL, 10, &cost, exits, members, exit_ns),
                     CLV_OK);
    assert_int_equal(exit_ns[1], 5000);
    clv_exits_free(exits);
}

static void early_travel_never_ends_a_call_later(void **unused)
{
    uint64_t state = seed;
    int64_t early_ns[20], late_ns[20];
    (void) unused;
    for (int k = 0; k < clv_share_of(300); k++) {
        const int32_t n_ranks = (int32_t) clv_random_between(&state, 2, 20);
        const clv_early_t early = {MIB, clv_random_between(&state, MIB / 9, 4 * MIB), 0, MIB};
        clv_draw_instance(&draw, &state, (clv_family_t) (k % CLV_N_FAMILIES), n_ranks, 9);
        for (const clv_generator_t *row = clv_generators; row->name != NULL; row++) {
            clv_plan_t *plan = NULL;
            clv_exits_t *exits = NULL;
            int64_t early_last = 0, late_last = 0;
            draw.instance.goal = clv_goal_of(row);
            assert_int_equal(clv_plan_make(row, &draw.instance, &plan), CLV_OK);
            assert_int_equal(clv_exits_create(n_ranks, &early, &exits), CLV_OK);
            assert_int_equal(
                clv_plan_exits(plan, draw.arrival_ns, NULL, MIB, &cost, NULL, NULL, late_ns),
                CLV_OK);
            assert_int_equal(
                clv_plan_exits(plan, draw.arrival_ns, NULL, MIB, &cost, exits, NULL, early_ns),
                CLV_OK);
            for (int32_t p = 0; p < n_ranks; p++) {
                assert_true(early_ns[p] >= draw.arrival_ns[p]);
                early_last = early_ns[p] > early_last ? early_ns[p] : early_last;
                late_last = late_ns[p] > late_last ? late_ns[p] : late_last;
            }
            assert_true(early_last <= late_last);
            clv_exits_free(exits);
            clv_plan_free(plan);
        }
    }
}

static void what_cannot_be_is_refused(void **unused)
{
    const clv_early_t wrong = {0, 0, 0, -1}, right = {0};
    clv_exits_t *exits = NULL;
    (void) unused;
    assert_int_equal(clv_exits_create(2, &wrong, &exits), CLV_INVALID);
    assert_int_equal(clv_exits_create(CLV_EXITS_MAX_RANKS + 1, &right, &exits), CLV_INVALID);
    assert_null(exits);
    clv_exits_free(exits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exits_are_those_of_the_estimate),
        cmocka_unit_test(a_small_segment_leaves_without_its_receiver),
        cmocka_unit_test(a_receiver_that_is_there_takes_it_from_the_wire),
        cmocka_unit_test(a_large_segment_waits_for_its_receiver),
        cmocka_unit_test(who_finds_no_room_waits_until_something_is_taken),
        cmocka_unit_test(what_lies_there_takes_its_time),
        cmocka_unit_test(room_is_counted_over_calls),
        cmocka_unit_test(who_is_in_another_call_takes_what_comes),
        cmocka_unit_test(a_late_sender_does_not_hold_up_the_way_in),
        cmocka_unit_test(members_share_what_is_theirs),
        cmocka_unit_test(early_travel_never_ends_a_call_later),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    seed = clv_seed();
    return clv_run_tests(tests);
}
