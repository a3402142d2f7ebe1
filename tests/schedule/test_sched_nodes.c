/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Plans for ranks that share places: right for any places, roots and arrivals, no more over a link
 * than it must carry, nobody kept who could go, and the same plans as ever where nothing is shared.
 */
#include "schedule/sched_cost.h"
#include "schedule/schedule.h"
#include "tests/support/random_instance.h"
#include "tests/support/random_plan.h"
#include "tests/support/test.h"
#include "util/util_alloc.h"
#include "util/util_hash.h"

#define MIB       INT64_C(1048576)
#define MAX_RANKS 24

static const char *const names[] = {"node-chain", "node-sorted", "node-latest", "node-bitset"};
enum { N_NAMES = sizeof names / sizeof names[0] };

static uint64_t seed;
static clv_draw_t draw;
static int32_t place[CLV_SCHED_MAX_RANKS];

static void draw_places(uint64_t *state, int k)
{
    clv_draw_places(&draw, place, state, k, MAX_RANKS);
}

static clv_plan_t *make(const char *name)
{
    clv_plan_t *plan = NULL;
    assert_int_equal(clv_plan_make(clv_generator_find(name), &draw.instance, &plan), CLV_OK);
    return plan;
}

static void check(const clv_plan_t *plan)
{
    char reason[200];
    if (clv_plan_validate(plan, reason, sizeof reason) != CLV_OK ||
        clv_plan_validate_arrivals(plan, &draw.instance, reason, sizeof reason) != CLV_OK) {
        fail_msg("%s", reason);
    }
    assert_true(clv_plan_is_right(plan));
}

static void plans_are_right_for_any_places(void **unused)
{
    uint64_t state = seed;
    (void) unused;
    for (int k = 0; k < clv_share_of(4000); k++) {
        draw_places(&state, k);
        for (int g = 0; g < N_NAMES; g++) {
            clv_plan_t *plan = make(names[g]);
            check(plan);
            clv_plan_free(plan);
        }
    }
}

/* A plan less one send, or with one to somebody else, is refused wherever it is wrong. */
static void mutants_are_refused(void **unused)
{
    uint64_t state = seed;
    char reason[200];
    int n_wrong = 0;
    (void) unused;
    for (int k = 0; k < clv_share_of(4000); k++) {
        draw_places(&state, k);
        clv_plan_t *plan = make(names[k % N_NAMES]);
        if (plan->n_sends > 1) {
            clv_send_t *send = &plan->sends[clv_random_between(&state, 0, plan->n_sends - 2)];
            if (k % 2 == 0) {
                *send = send[1];
            } else {
                send->receiver = (uint16_t) clv_random_between(&state, 0, plan->n_ranks - 1);
            }
            n_wrong += !clv_plan_is_right(plan);
            assert_true(clv_plan_is_right(plan) ||
                        clv_plan_validate(plan, reason, sizeof reason) == CLV_INVALID);
        }
        clv_plan_free(plan);
    }
    assert_true(n_wrong > clv_share_of(1000) / 2);
}

/* ---- what crosses links ---------------------------------------------------------------------- */

static int64_t count(const clv_plan_t *plan, int32_t at, int out, int near)
{
    int64_t n = 0;
    for (int64_t k = 0; k < plan->n_sends; k++) {
        const int32_t from = place[plan->sends[k].sender], to = place[plan->sends[k].receiver];
        n += (out ? from : to) == at && near == (from == to);
    }
    return n;
}

/* A link carries one vector each way at most, and each rank but the root and those who speak to
 * others sends its vector to somebody near. */
static void links_carry_one_vector_each_way(void **unused)
{
    uint64_t state = seed;
    (void) unused;
    for (int k = 0; k < clv_share_of(1000); k++) {
        draw_places(&state, k);
        const int64_t n_segments = draw.instance.n_segments;
        const int32_t root_place = place[draw.instance.root];
        for (int g = 0; g < 2; g++) {
            clv_plan_t *plan = make(names[g]);
            for (int32_t at = 0; at < plan->n_ranks; at++) {
                int64_t size = 0;
                for (int32_t p = 0; p < plan->n_ranks; p++) {
                    size += place[p] == at;
                }
                assert_int_equal(count(plan, at, 1, 0),
                                 size > 0 && at != root_place ? n_segments : 0);
                assert_true(count(plan, at, 0, 0) <= n_segments);
                assert_int_equal(count(plan, at, 1, 1), size > 0 ? (size - 1) * n_segments : 0);
            }
            clv_plan_free(plan);
        }
    }
}

/* By a good part of what all others need for a vector. */
static int is_far_later(int32_t rank)
{
    for (int32_t p = 0; p < draw.instance.n_ranks; p++) {
        if (p != rank && draw.arrival_ns[rank] - draw.arrival_ns[p] <
                             draw.instance.n_segments * draw.instance.round_ns / 4) {
            return 0;
        }
    }
    return 1;
}

/* Whether `end`, which sends to another place or receives from there, may speak for its own as far
 * as the rank p beside it is concerned. */
static int may_speak(int32_t end, int32_t p, int32_t root, const int64_t *order_ns)
{
    if (end == root) {
        return 1;
    }
    return p == root ? is_far_later(root) : order_ns[p] <= order_ns[end];
}

/* Who speaks for a place came last to it, and in the root's place is the root, or beside one that
 * comes after all others who came last; nobody else has to do with another place. */
static void the_last_arriver_speaks(void **unused)
{
    uint64_t state = seed;
    (void) unused;
    for (int k = 0; k < clv_share_of(1000); k++) {
        draw_places(&state, k);
        for (int g = 1; g < N_NAMES; g++) {
            clv_plan_t *plan = make(names[g]);
            const int64_t *order_ns =
                draw.instance.order_ns == NULL ? draw.arrival_ns : draw.instance.order_ns;
            for (int64_t i = 0; i < plan->n_sends; i++) {
                const int32_t ends[] = {plan->sends[i].sender, plan->sends[i].receiver};
                for (int e = 0; e < 2 && place[ends[0]] != place[ends[1]]; e++) {
                    for (int32_t p = 0; p < plan->n_ranks; p++) {
                        assert_true(place[p] != place[ends[e]] ||
                                    may_speak(ends[e], p, plan->root, order_ns));
                    }
                }
            }
            clv_plan_free(plan);
        }
    }
}

/* A root that comes when all else can be over takes one vector then, not one from inside its place
 * and one from outside. */
static void a_far_late_root_is_handed_one_vector(void **unused)
{
    uint64_t state = seed;
    int n_handed = 0;
    (void) unused;
    for (int k = 0; k < clv_share_of(1000); k++) {
        draw_places(&state, k);
        const clv_instance_t *instance = &draw.instance;
        const int32_t root = instance->root;
        int64_t last_ns = 0;
        int n_beside = 0;
        for (int32_t p = 0; p < instance->n_ranks; p++) {
            last_ns = draw.arrival_ns[p] > last_ns ? draw.arrival_ns[p] : last_ns;
            n_beside += p != root && place[p] == place[root];
        }
        draw.arrival_ns[root] =
            last_ns + (instance->n_segments + instance->n_ranks + 8) * (instance->round_ns + 8);
        draw.instance.is_far_late = 0;
        if (k % 2 > 0) { /* whoever asks knows it */
            draw.instance.is_far_late = 1;
            draw.arrival_ns[root] = last_ns;
        }
        for (int g = 1; g < N_NAMES && n_beside > 0; g++) {
            clv_plan_t *plan = make(names[g]);
            int64_t n_taken = 0;
            check(plan);
            for (int64_t i = 0; i < plan->n_sends; i++) {
                n_taken += plan->sends[i].receiver == root;
            }
            assert_int_equal(n_taken, instance->n_segments);
            clv_plan_free(plan);
            n_handed++;
        }
    }
    draw.instance.is_far_late = 0;
    assert_true(n_handed > clv_share_of(1000) / 2);
}

/* ---- as ever --------------------------------------------------------------------------------- */

/* Where nobody shares a place, whatever places are called, the generators they stand for. */
static void unshared_places_have_the_flat_plans(void **unused)
{
    static const char *const flat[] = {"chain-by-rank", "chain", "latest-first-rns", "bitset"};
    uint64_t state = seed;
    (void) unused;
    for (int k = 0; k < clv_share_of(500); k++) {
        draw_places(&state, k);
        const int32_t n_ranks = draw.instance.n_ranks;
        for (int g = 0; g < N_NAMES; g++) {
            for (int32_t p = 0; p < n_ranks; p++) {
                place[p] = (p + k) % n_ranks;
            }
            draw.instance.place = g % 2 == k % 2 ? place : NULL;
            clv_plan_t *plan = make(names[g]), *wanted = make(flat[g]);
            assert_true(clv_plan_hash(plan) == clv_plan_hash(wanted));
            assert_ptr_equal(clv_generator_on_places(clv_generator_find(flat[g])),
                             clv_generator_find(names[g]));
            clv_plan_free(wanted);
            clv_plan_free(plan);
        }
    }
    assert_ptr_equal(clv_generator_on_places(clv_generator_find("ring")),
                     clv_generator_find("ring"));
}

/* One number for 2000 plans of each kind, recorded when they were first made, and again when roots
 * that come far later than all others were handed one vector. */
static void plans_do_not_change(void **unused)
{
    uint64_t state = 20211204, hash = CLV_FNV1A64_BASIS;
    (void) unused;
    if (clv_draws_few()) {
        skip();
    }
    for (int k = 0; k < 2000; k++) {
        draw_places(&state, k);
        for (int g = 0; g < N_NAMES; g++) {
            clv_plan_t *plan = make(names[g]);
            const uint64_t one = clv_plan_hash(plan);
            hash = clv_fnv1a64_u32(hash, (uint32_t) one);
            hash = clv_fnv1a64_u32(hash, (uint32_t) (one >> 32));
            clv_plan_free(plan);
        }
    }
    assert_true(hash == UINT64_C(0x3692c670697f5425));
}

/* ---- what it takes --------------------------------------------------------------------------- */

static const clv_cost_t ethernet = {.latency_ns = 60000,
                                    .byte_ps = 20000,
                                    .near_latency_ns = 5000,
                                    .near_byte_ps = 500,
                                    .combine_ps = 100};

/* 4 hosts of 4 ranks, 2 MiB in 64 segments: after the last arrival, in vectors over a link. */
static double vectors(const char *name, int by_host, clv_estimate_t *estimate)
{
    for (int32_t p = 0; p < 16; p++) {
        place[p] = by_host ? p % 4 : p / 4;
    }
    draw.instance = (clv_instance_t){.n_ranks = 16,
                                     .n_segments = 64,
                                     .round_ns = clv_cost_round_ns(&ethernet, 2 * MIB / 64),
                                     .arrival_ns = draw.arrival_ns,
                                     .place = place};
    clv_plan_t *plan = make(name);
    assert_int_equal(clv_plan_estimate(plan, draw.arrival_ns, place, 2 * MIB, &ethernet, estimate),
                     CLV_OK);
    clv_plan_free(plan);
    return (double) estimate->after_ns / (2 * (double) MIB * 20);
}

/* A vector over a link, whatever the mapping, and nobody stays long; flat plans take up to four. */
static void it_takes_a_vector_over_a_link(void **unused)
{
    (void) unused;
    for (int by_host = 0; by_host < 2; by_host++) {
        for (int spread = 0; spread < 2; spread++) {
            clv_estimate_t estimate, chain, flat;
            for (int32_t p = 0; p < 16; p++) { /* the last one is on the last host either way */
                draw.arrival_ns[p] = spread * ((p * 7 + 6) % 16) * 3 * CLV_NS_PER_MS;
            }
            const double fast = vectors("node-sorted", by_host, &estimate);
            const double fixed = vectors("node-chain", by_host, &chain);
            const double free = vectors("chain", by_host, &flat);
            print_message("# by %s, %s: %.2f, chain of nodes %.2f, flat %.2f\n",
                          by_host ? "node" : "slot", spread ? "spread" : "at once", fast, fixed,
                          free);
            assert_true(fast > 1 && fast < 1.1);
            assert_true(fixed < 1.15);
            assert_true(free > (by_host || spread ? 1.9 : 1));
            assert_true(estimate.in_mpi_ns < chain.in_mpi_ns);
        }
    }
}

/* ---- where it ends --------------------------------------------------------------------------- */

static void lack_of_memory_is_reported(void **unused)
{
    uint64_t state = seed;
    (void) unused;
    for (int g = 0; g < N_NAMES; g++) {
        int n_failures = 0;
        do {
            draw_places(&state, 1);
        } while (draw.instance.n_ranks < 8);
        for (clv_status_t status = CLV_NO_MEMORY; status != CLV_OK; n_failures++) {
            int countdown = n_failures;
            clv_plan_t *plan = NULL;
            clv_alloc_set_hook(clv_fail_nth, &countdown);
            status = clv_plan_make(clv_generator_find(names[g]), &draw.instance, &plan);
            clv_alloc_set_hook(NULL, NULL);
            assert_true(status == CLV_OK || status == CLV_NO_MEMORY);
            assert_true((plan != NULL) == (status == CLV_OK));
            clv_plan_free(plan);
        }
        assert_true(n_failures > 4);
    }
}

/* Times near the end of their type: an error or a right plan. */
static void huge_times_are_an_error_or_right(void **unused)
{
    const int64_t spreads_ns[] = {INT64_MAX, INT64_MAX / 2, INT64_C(1) << 33, 1000};
    const int64_t rounds_ns[] = {INT64_MAX, INT64_MAX / 2, INT64_MAX / 5, INT64_C(1) << 33, 1, 7};
    char reason[200];
    (void) unused;
    for (size_t i = 0; i < 4 * 6 * N_NAMES; i++) {
        const int64_t spread_ns = spreads_ns[i / 6 % 4];
        clv_plan_t *plan = NULL;
        for (int32_t p = 0; p < 6; p++) {
            place[p] = p % 3;
            draw.arrival_ns[p] = p == 4 ? spread_ns : p == 5 ? spread_ns / 3 : 0;
        }
        draw.instance = (clv_instance_t){.n_ranks = 6,
                                         .n_segments = 4,
                                         .round_ns = rounds_ns[i % 6],
                                         .arrival_ns = draw.arrival_ns,
                                         .place = place};
        clv_status_t status =
            clv_plan_make(clv_generator_find(names[i / 24]), &draw.instance, &plan);
        assert_true(status == CLV_OK || status == CLV_OVERFLOW);
        assert_true(status != CLV_OK || clv_plan_validate(plan, reason, sizeof reason) == CLV_OK);
        clv_plan_free(plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_are_right_for_any_places),
        cmocka_unit_test(mutants_are_refused),
        cmocka_unit_test(links_carry_one_vector_each_way),
        cmocka_unit_test(the_last_arriver_speaks),
        cmocka_unit_test(a_far_late_root_is_handed_one_vector),
        cmocka_unit_test(unshared_places_have_the_flat_plans),
        cmocka_unit_test(plans_do_not_change),
        cmocka_unit_test(it_takes_a_vector_over_a_link),
        cmocka_unit_test(lack_of_memory_is_reported),
        cmocka_unit_test(huge_times_are_an_error_or_right),
    };
    seed = clv_seed();
    return clv_run_tests(tests);
}
