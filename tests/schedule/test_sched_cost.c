/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Estimates of plans: as they were where every rank has a place of its own, and where ranks share
 * the link of a place what vectors over that link must take.
 */
#include "schedule/sched_cost.h"
#include "schedule/sched_replay.h"
#include "schedule/schedule.h"
#include "tests/support/random_instance.h"
#include "tests/support/random_plan.h"
#include "tests/support/test.h"
#include "util/util_alloc.h"
#include "util/util_hash.h"

#define MIB INT64_C(1048576)

static uint64_t seed;
static clv_draw_t draw;

static uint64_t hash_i64(uint64_t hash, int64_t number)
{
    hash = clv_fnv1a64_u32(hash, (uint32_t) ((uint64_t) number & UINT32_MAX));
    return clv_fnv1a64_u32(hash, (uint32_t) ((uint64_t) number >> 32));
}

/* One FNV over hash and estimate of the plans of all generators of reduces for 2000 instances. */
static uint64_t hash_all(const int32_t *place)
{
    uint64_t state = 20211204, hash = CLV_FNV1A64_BASIS;
    for (int k = 0; k < 2000; k++) {
        int32_t n_ranks = (int32_t) clv_random_between(&state, 1, 20);
        int32_t n_segments = (int32_t) clv_random_between(&state, 1, 20);
        clv_draw_instance(&draw, &state, (clv_family_t) (k % CLV_N_FAMILIES), n_ranks, n_segments);
        draw.instance.place = place;
        int64_t latency_ns = clv_random_between(&state, 0, 100000);
        const clv_cost_t cost = {.latency_ns = latency_ns,
                                 .byte_ps = clv_random_between(&state, 0, 100000),
                                 .near_latency_ns = 7,
                                 .near_byte_ps = 11,
                                 .combine_ps = 13};
        const int64_t n_bytes = clv_random_between(&state, 1, 4 * MIB);
        for (const clv_generator_t *row = clv_generators; row->name != NULL; row++) {
            clv_plan_t *plan = NULL;
            clv_estimate_t estimate;
            if (clv_goal_of(row) != CLV_GOAL_REDUCE || strncmp(row->name, "node-", 5) == 0) {
                continue;
            }
            assert_int_equal(clv_plan_make(row, &draw.instance, &plan), CLV_OK);
            assert_int_equal(
                clv_plan_estimate(plan, draw.arrival_ns, place, n_bytes, &cost, &estimate), CLV_OK);
            hash = hash_i64(hash, (int64_t) clv_plan_hash(plan));
            hash = hash_i64(hash, estimate.end_ns);
            hash = hash_i64(hash, estimate.after_ns);
            hash = hash_i64(hash, estimate.in_mpi_ns);
            clv_plan_free(plan);
        }
    }
    return hash;
}

/* The number was recorded with the code before there were places (commit f24ca02). */
static void plans_and_estimates_without_shared_places_are_as_ever(void **unused)
{
    int32_t place[20];
    (void) unused;
    if (clv_draws_few()) {
        skip();
    }
    for (int32_t p = 0; p < 20; p++) {
        place[p] = 0;
    }
    assert_true(hash_all(NULL) == UINT64_C(0xa5b3b5a396c5d6fe));
    /* All in one place: other estimates. */
    assert_true(hash_all(place) != UINT64_C(0xa5b3b5a396c5d6fe));
}

/* The same numbers with places that nobody shares, whatever they are called. */
static void a_place_for_each_rank_changes_nothing(void **unused)
{
    uint64_t state = seed;
    (void) unused;
    for (int k = 0; k < clv_share_of(500); k++) {
        const int32_t n_ranks = (int32_t) clv_random_between(&state, 1, 20);
        const int32_t shift = (int32_t) clv_random_between(&state, 0, n_ranks - 1);
        const clv_cost_t cost = {1000, 100, 5, 5, 5, 9, 0, 0};
        int32_t place[20];
        clv_draw_instance(&draw, &state, CLV_FAMILY_UNIFORM, n_ranks, 9);
        for (int32_t p = 0; p < n_ranks; p++) {
            place[p] = (p + shift) % n_ranks;
        }
        for (const clv_generator_t *row = clv_generators; row->name != NULL; row++) {
            clv_plan_t *plan = NULL, *placed = NULL;
            clv_estimate_t estimate, with_places;
            draw.instance.place = NULL;
            draw.instance.goal = clv_goal_of(row);
            assert_int_equal(clv_plan_make(row, &draw.instance, &plan), CLV_OK);
            draw.instance.place = place;
            assert_int_equal(clv_plan_make(row, &draw.instance, &placed), CLV_OK);
            assert_true(clv_plan_hash(plan) == clv_plan_hash(placed));
            assert_int_equal(clv_plan_estimate(plan, draw.arrival_ns, NULL, MIB, &cost, &estimate),
                             CLV_OK);
            assert_int_equal(
                clv_plan_estimate(plan, draw.arrival_ns, place, MIB, &cost, &with_places), CLV_OK);
            assert_memory_equal(&estimate, &with_places, sizeof estimate);
            clv_plan_free(placed);
            clv_plan_free(plan);
        }
    }
}

/* ---- the arithmetic by hand ------------------------------------------------------------------ */

/* Segments of 10 bytes: 20 ns between places, 5 ns inside, and 3 ns of combining. */
static const clv_cost_t small_cost = {.latency_ns = 50,
                                      .byte_ps = 2000,
                                      .near_latency_ns = 4,
                                      .near_byte_ps = 500,
                                      .combine_ps = 300};

static clv_estimate_t estimate_small(clv_send_t *sends, int64_t n_sends, int32_t n_ranks,
                                     const int64_t *arrival_ns, const int32_t *place)
{
    const clv_plan_t plan = {.n_ranks = n_ranks,
                             .n_segments = 1,
                             .n_rounds = sends[n_sends - 1].round + 1,
                             .n_sends = n_sends,
                             .sends = sends};
    clv_estimate_t estimate = {0};
    assert_int_equal(clv_plan_estimate(&plan, arrival_ns, place, 10, &small_cost, &estimate),
                     CLV_OK);
    return estimate;
}

static void a_near_send_takes_near_times(void **unused)
{
    clv_send_t sends[] = {{0, 1, 0, 0, CLV_MOVE}};
    const int64_t arrival_ns[3] = {100, 700, 0};
    const int32_t place[3] = {2, 2, 2};
    clv_estimate_t estimate = estimate_small(sends, 1, 3, arrival_ns, place);
    (void) unused;
    assert_int_equal(estimate.end_ns, 700 + 5 + 4 + 3);
    assert_int_equal(estimate.after_ns, 12);
    assert_int_equal(estimate.in_mpi_ns, (612 / 3) + 5 / 3);
}

/* Ranks 1 and 2 share a link out, 3 has its own: 1 and 2 after each other, 3 beside them at the
 * sender, but all share the link into the root's place. */
static void ranks_of_a_place_share_its_link(void **unused)
{
    clv_send_t sends[] = {{0, 1, 0, 0, CLV_MOVE},
                          {1, 2, 0, 0, CLV_MOVE},
                          {2, 3, 4, 0, CLV_MOVE},
                          {3, 4, 0, 0, CLV_MOVE}};
    const int64_t arrival_ns[5] = {0, 0, 0, 0, 0};
    const int32_t place[5] = {0, 1, 1, 2, 3};
    (void) unused;
    /* 1: 0 to 20. 2: 20 to 40. 3 to 4: 0 to 20, combined at 73, 4 to 0: 73 to 93. */
    assert_int_equal(estimate_small(sends, 4, 5, arrival_ns, place).end_ns, 93 + 50 + 3);
    /* Without sharing, 2 need not wait for 1's way out, but the root takes one at a time anyhow. */
    assert_int_equal(estimate_small(sends, 2, 3, arrival_ns, place).end_ns, 40 + 50 + 3);
}

/* Two ranks of a place have a source each, elsewhere. */
static void ranks_of_a_place_share_its_link_in(void **unused)
{
    clv_send_t sends[] = {{0, 2, 0, 0, CLV_MOVE}, {0, 3, 1, 0, CLV_MOVE}, {1, 1, 0, 0, CLV_MOVE}};
    const int64_t arrival_ns[4] = {0, 0, 15, 0};
    const int32_t place[4] = {0, 0, 1, 2};
    (void) unused;
    /* 3 to 1: 0 to 20, combined at 73. 1 to 0 is there at 82, 2 to 0 at 90: 20 to 40. */
    assert_int_equal(estimate_small(sends, 3, 4, arrival_ns, place).end_ns, 90 + 3 + 3);
}

/* The plan names rank 1 first, but rank 2 is there first and takes the link. */
static void who_is_ready_first_is_served_first(void **unused)
{
    clv_send_t sends[] = {{0, 1, 0, 0, CLV_MOVE}, {1, 2, 3, 0, CLV_MOVE}, {2, 3, 0, 0, CLV_MOVE}};
    const int64_t arrival_ns[4] = {0, 15, 0, 0};
    const int32_t place[4] = {0, 1, 1, 2};
    (void) unused;
    /* 2 to 3: 0 to 20, combined at 73. 1 to 0: 20 to 40. 3 to 0: 73 to 93. */
    assert_int_equal(estimate_small(sends, 3, 4, arrival_ns, place).end_ns, 93 + 53);
}

/* A segment that comes back does not overtake the one that left: rank 0 sends, late, to rank 1;
 * rank 2's part comes to rank 0 only after that, and leaves it again as it came. */
static void what_comes_back_waits_until_it_left(void **unused)
{
    clv_send_t sends[] = {{0, 0, 1, 0, CLV_MOVE}, {1, 2, 0, 0, CLV_MOVE}, {2, 0, 1, 0, CLV_MOVE}};
    const int64_t arrival_ns[3] = {0, 1000, 0};
    const int32_t place[3] = {0, 1, 0};
    (void) unused;
    /* 0 to 1: 1000 to 1020. 2 to 0 is there at 9, combined at 1023. 0 to 1: 1023 to 1043. */
    assert_int_equal(estimate_small(sends, 3, 3, arrival_ns, place).end_ns, 1043 + 53);
}

static void copies_cost_no_combining(void **unused)
{
    clv_send_t sends[] = {{0, 1, 0, 0, CLV_MOVE}, {1, 0, 1, 0, CLV_COPY}};
    const int64_t arrival_ns[2] = {0, 0};
    const int32_t place[2] = {0, 0};
    (void) unused;
    assert_int_equal(estimate_small(sends, 2, 2, arrival_ns, place).end_ns, 12 + 5 + 4);
}

/* Ten segments of one byte down a chain of three, 20 ns a hop: the last one leaves 9 gaps after the
 * first, or 9 times those 20 ns where that is longer; inside a place, too. */
static void a_rank_passes_messages_no_faster_than_one_a_gap(void **unused)
{
    const int32_t place[3] = {0, 1, 1};
    const int64_t arrival_ns[3] = {0, 0, 0};
    clv_send_t sends[20];
    const clv_plan_t plan = {
        .n_ranks = 3, .n_segments = 10, .n_rounds = 11, .n_sends = 20, .sends = sends};

    (void) unused;
    for (int32_t round = 0, at = 0; round < 11; round++) {
        if (round < 10) {
            sends[at++] = clv_send_of(round, 2, 1, round, CLV_MOVE);
        }
        if (round > 0) {
            sends[at++] = clv_send_of(round, 1, 0, round - 1, CLV_MOVE);
        }
    }
    for (int64_t gap_ns = 10; gap_ns <= 40; gap_ns += 30) {
        const clv_cost_t cost = {.byte_ps = 20000, .near_byte_ps = 20000, .gap_ns = gap_ns};
        const int64_t each_ns = gap_ns < 20 ? 20 : gap_ns;
        clv_estimate_t apart, shared;
        assert_int_equal(clv_plan_estimate(&plan, arrival_ns, NULL, 10, &cost, &apart), CLV_OK);
        assert_int_equal(clv_plan_estimate(&plan, arrival_ns, place, 10, &cost, &shared), CLV_OK);
        assert_int_equal(apart.end_ns, 9 * each_ns + 2 * 20);
        assert_int_equal(shared.end_ns, 9 * each_ns + 2 * 20);
    }
}

/* ---- hosts ----------------------------------------------------------------------------------- */

/* 4 hosts of 4 ranks, by slot (0 0 0 0 1 ..) or by host (0 1 2 3 0 ..), all at once, 2 MiB in 64
 * segments, 20 ns a byte between hosts and 0.5 inside: the time in vectors of 2 MiB. */
static double vectors(const char *generator, int by_host, int32_t n_segments)
{
    static const clv_cost_t cost = {.latency_ns = 20000,
                                    .byte_ps = 20000,
                                    .near_latency_ns = 2000,
                                    .near_byte_ps = 500,
                                    .combine_ps = 100};
    const int64_t arrival_ns[16] = {0};
    int32_t place[16];
    clv_estimate_t estimate;
    clv_plan_t *plan = NULL;
    for (int32_t p = 0; p < 16; p++) {
        place[p] = by_host ? p % 4 : p / 4;
    }
    const clv_instance_t instance = {.n_ranks = 16,
                                     .n_segments = n_segments,
                                     .round_ns = 1000,
                                     .arrival_ns = arrival_ns,
                                     .place = place};
    assert_int_equal(clv_plan_make(clv_generator_find(generator), &instance, &plan), CLV_OK);
    assert_int_equal(clv_plan_estimate(plan, arrival_ns, place, 2 * MIB, &cost, &estimate), CLV_OK);
    clv_plan_free(plan);
    return (double) estimate.after_ns / (2 * (double) MIB * 20);
}

/* What crosses the busiest link is what it takes: a chain by rank crosses each host's link once by
 * slot and four times by host, a binomial tree twice and eight times into the root's host.
 * (Measured on the emulated cluster: 1.04 and 4.1, 2.3 and 8.1.) */
static void time_is_the_vectors_over_the_busiest_link(void **unused)
{
    (void) unused;
    const double chain_slot = vectors("chain-by-rank", 0, 64);
    const double chain_node = vectors("chain-by-rank", 1, 64);
    const double tree_slot = vectors("binomial", 0, 1), tree_node = vectors("binomial", 1, 1);
    print_message("# chain %.2f by slot, %.2f by node; binomial %.2f, %.2f\n", chain_slot,
                  chain_node, tree_slot, tree_node);
    assert_true(chain_slot > 1 && chain_slot < 1.15);
    assert_true(chain_node > 3.7 && chain_node < 4.4);
    assert_true(tree_slot > 2 && tree_slot < 2.3);
    assert_true(tree_node > 6.5 && tree_node < 8.5);
}

/* Any plan of any goal on any places comes to an end, not before what its busiest link must carry
 * and not after everything one by one. */
static void replays_of_random_plans_are_within_bounds(void **unused)
{
    uint64_t state = seed;
    (void) unused;
    for (int k = 0; k < clv_share_of(2000); k++) {
        const int32_t n_ranks = (int32_t) clv_random_between(&state, 2, 12);
        clv_plan_t *plan = clv_random_plan(&state, (clv_goal_t) (k % CLV_N_GOALS), n_ranks,
                                           (int32_t) clv_random_between(&state, 1, 6),
                                           (int32_t) clv_random_between(&state, 0, 20));
        int64_t arrival_ns[12], out[12] = {0}, in[12] = {0}, last_ns = 0, busiest = 0;
        int32_t place[12];
        clv_estimate_t estimate = {0};
        for (int32_t p = 0; p < n_ranks; p++) {
            arrival_ns[p] = clv_random_between(&state, 0, 300);
            place[p] = (int32_t) clv_random_between(&state, 0, (n_ranks - 1) / 2);
            last_ns = arrival_ns[p] > last_ns ? arrival_ns[p] : last_ns;
        }
        for (int64_t i = 0; i < plan->n_sends; i++) {
            const int32_t from = place[plan->sends[i].sender], to = place[plan->sends[i].receiver];
            out[from] += from != to;
            in[to] += from != to;
            busiest = out[from] > busiest ? out[from] : busiest;
            busiest = in[to] > busiest ? in[to] : busiest;
        }
        assert_int_equal(clv_plan_estimate(plan, arrival_ns, place, 10 * plan->n_segments,
                                           &small_cost, &estimate),
                         CLV_OK);
        assert_true(estimate.end_ns >= busiest * 20);
        assert_true(estimate.end_ns <= last_ns + plan->n_sends * (20 + 50 + 3));
        assert_true(estimate.end_ns - last_ns == estimate.after_ns);
        clv_plan_free(plan);
    }
}

/* What is replayed ahead, without events, is what events give: for random plans, and for those of
 * hosts, where most ranks need none. */
static void ranks_without_events_end_as_with_them(void **unused)
{
    const clv_replay_lengths_t some_lengths[] = {
        {20, 50, 5, 4, 3, 12}, {20, 0, 5, 0, 3, 0}, {20, 50, 0, 1, 0, 0}, {0, 50, 0, 4, 0, 12}};
    uint64_t state = seed;
    (void) unused;
    for (int k = 0; k < clv_share_of(4000); k++) {
        const clv_replay_lengths_t lengths = some_lengths[k / 8 % 4];
        const int32_t n_ranks = (int32_t) clv_random_between(&state, 2, 20);
        const int32_t n_segments = (int32_t) clv_random_between(&state, 1, 6);
        const int32_t n_places = (int32_t) clv_random_between(&state, 1, (n_ranks + 1) / 2);
        int32_t place[20];
        clv_plan_t *plan = NULL;
        clv_estimate_t ahead = {0}, events = {0};
        clv_draw_instance(&draw, &state, (clv_family_t) (k % CLV_N_FAMILIES), n_ranks, n_segments);
        for (int32_t p = 0; p < n_ranks; p++) {
            place[p] = (int32_t) clv_random_between(&state, 0, n_places - 1);
            draw.arrival_ns[p] %= 300;
        }
        draw.instance.round_ns = 40;
        draw.instance.place = place;
        if (k % 2 == 0) {
            plan = clv_random_plan(&state, (clv_goal_t) (k % CLV_N_GOALS), n_ranks, n_segments, 10);
        } else {
            const char *names[] = {"node-sorted", "node-latest", "node-bitset", "node-chain"};
            assert_int_equal(
                clv_plan_make(clv_generator_find(names[k / 2 % 4]), &draw.instance, &plan), CLV_OK);
        }
        assert_int_equal(clv_sched_replay(plan, draw.arrival_ns, place, &lengths, 0, &ahead, NULL),
                         CLV_OK);
        assert_int_equal(clv_sched_replay(plan, draw.arrival_ns, place, &lengths, 1, &events, NULL),
                         CLV_OK);
        assert_memory_equal(&ahead, &events, sizeof ahead);
        clv_plan_free(plan);
    }
}

/* ---- where it ends --------------------------------------------------------------------------- */

static void lack_of_memory_and_of_time_are_reported(void **unused)
{
    clv_send_t sends[] = {{0, 1, 0, 0, CLV_MOVE}, {1, 2, 0, 0, CLV_MOVE}};
    const clv_plan_t plan = {3, 1, 0, 2, 2, sends, CLV_GOAL_REDUCE};
    int64_t arrival_ns[3] = {0, 0, 0};
    const int32_t place[3] = {0, 1, 1};
    clv_estimate_t estimate;
    clv_cost_t cost = small_cost;
    int n_failures = 0;
    (void) unused;
    for (clv_status_t status = CLV_NO_MEMORY; status != CLV_OK; n_failures++) {
        int countdown = n_failures;
        clv_alloc_set_hook(clv_fail_nth, &countdown);
        status = clv_plan_estimate(&plan, arrival_ns, place, 10, &cost, &estimate);
        clv_alloc_set_hook(NULL, NULL);
        assert_true(status == CLV_OK || status == CLV_NO_MEMORY);
    }
    assert_true(n_failures >= 6);
    arrival_ns[2] = INT64_MAX - 100;
    assert_int_equal(clv_plan_estimate(&plan, arrival_ns, place, 10, &cost, &estimate),
                     CLV_OVERFLOW);
    assert_int_equal(clv_plan_estimate(&plan, arrival_ns, NULL, 10, &cost, &estimate),
                     CLV_OVERFLOW);
    arrival_ns[2] = 0;
    cost.near_latency_ns = INT64_MAX / 2;
    assert_int_equal(clv_plan_estimate(&plan, arrival_ns, place, 10, &cost, &estimate),
                     CLV_OVERFLOW);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_and_estimates_without_shared_places_are_as_ever),
        cmocka_unit_test(a_place_for_each_rank_changes_nothing),
        cmocka_unit_test(a_near_send_takes_near_times),
        cmocka_unit_test(ranks_of_a_place_share_its_link),
        cmocka_unit_test(ranks_of_a_place_share_its_link_in),
        cmocka_unit_test(who_is_ready_first_is_served_first),
        cmocka_unit_test(what_comes_back_waits_until_it_left),
        cmocka_unit_test(copies_cost_no_combining),
        cmocka_unit_test(a_rank_passes_messages_no_faster_than_one_a_gap),
        cmocka_unit_test(time_is_the_vectors_over_the_busiest_link),
        cmocka_unit_test(replays_of_random_plans_are_within_bounds),
        cmocka_unit_test(ranks_without_events_end_as_with_them),
        cmocka_unit_test(lack_of_memory_and_of_time_are_reported),
    };
    seed = clv_seed();
    return clv_run_tests(tests);
}
