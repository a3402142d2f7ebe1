/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The fast estimate of a plan says of its end what the whole plan says, to the nanosecond, whatever
 * the places, arrivals and costs; and at a small part of its memory.
 */
#include "schedule/sched_cache.h"
#include "schedule/sched_fast_estimate.h"
#include "tests/support/random_instance.h"
#include "tests/support/test.h"
#include "util/util_alloc.h"

static const char *const names[] = {"node-chain", "node-sorted", "node-latest", "node-bitset"};
enum { N_NAMES = sizeof names / sizeof names[0], MAX_RANKS = 40, N_SEGMENTS = 16 };

static uint64_t seed;
static clv_draw_t draw;
static int32_t place[CLV_SCHED_MAX_RANKS];
static int64_t other_ns[CLV_SCHED_MAX_RANKS];

/* Hosts of `per_host` ranks each, one after the other. */
static void draw_hosts(uint64_t *state, int32_t n_ranks, int32_t per_host)
{
    clv_draw_instance(&draw, state, CLV_FAMILY_UNIFORM, n_ranks, N_SEGMENTS);
    for (int32_t p = 0; p < n_ranks; p++) {
        place[p] = p / per_host;
    }
    draw.instance.place = place;
}

/* Large or small beside the others, or none. */
static int64_t draw_number(uint64_t *state, int64_t most)
{
    const int64_t shares[] = {0, 1, 50, 1000};
    return clv_random_between(state, 0, most * shares[clv_random_between(state, 0, 3)] / 1000);
}

/* Every number large or small beside the others, or none; in every eighth cost links take no time,
 * and in half of these nothing but to combine does: there is much that happens at once. */
static clv_cost_t draw_cost(uint64_t *state)
{
    const int64_t kind = clv_random_between(state, 0, 15), far = kind > 1, near = kind > 0;

    return (clv_cost_t){.latency_ns = far * draw_number(state, 100000),
                        .byte_ps = far * draw_number(state, 20000),
                        .near_latency_ns = near * draw_number(state, 100000),
                        .near_byte_ps = near * draw_number(state, 20000),
                        .combine_ps = draw_number(state, 20000),
                        .gap_ns = near * draw_number(state, 1000000)};
}

/* Arrivals that the plan was made for, or others. */
static const int64_t *draw_arrivals(uint64_t *state, int k)
{
    if (k % 2 == 0) {
        return draw.arrival_ns;
    }
    for (int32_t p = 0; p < draw.instance.n_ranks; p++) {
        other_ns[p] = clv_random_between(state, 0, 40 * draw.instance.round_ns);
    }
    return other_ns;
}

static void assert_same_estimate(const clv_generator_t *generator, const int64_t *arrival_ns,
                                 int64_t quantum_ns, const clv_cost_t *cost)
{
    clv_plan_t *plan = NULL;
    clv_fast_estimate_t *fast = NULL;
    clv_estimate_t whole, by_fast_estimate;

    assert_int_equal(clv_plan_make_rounded(generator, &draw.instance, quantum_ns, &plan), CLV_OK);
    assert_int_equal(clv_fast_estimate_make_rounded(generator, &draw.instance, quantum_ns, &fast),
                     CLV_OK);
    assert_int_equal(clv_plan_estimate(plan, arrival_ns, place, 1 << 20, cost, &whole), CLV_OK);
    assert_int_equal(clv_fast_estimate_run(fast, arrival_ns, 1 << 20, cost, &by_fast_estimate),
                     CLV_OK);
    assert_int_equal(fast->n_sends, plan->n_sends);
    if (whole.end_ns != by_fast_estimate.end_ns || whole.after_ns != by_fast_estimate.after_ns ||
        whole.in_mpi_ns != by_fast_estimate.in_mpi_ns) {
        fail_msg(
            "%s, %d ranks: the plan ends at %lld, %lld in MPI; the fast estimate says %lld, %lld",
            generator->name, (int) plan->n_ranks, (long long) whole.end_ns,
            (long long) whole.in_mpi_ns, (long long) by_fast_estimate.end_ns,
            (long long) by_fast_estimate.in_mpi_ns);
    }
    clv_fast_estimate_free(fast);
    clv_plan_free(plan);
}

/* Few places, or so many that most have two ranks or one: then all is decided between them. */
static void draw_places(uint64_t *state, int k)
{
    clv_draw_places(&draw, place, state, k, MAX_RANKS);
    for (int32_t p = 0; k % 5 == 0 && p < draw.instance.n_ranks; p++) {
        place[p] = (int32_t) clv_random_between(state, 0, (draw.instance.n_ranks - 1) * 3 / 4);
    }
}

static void fast_estimates_say_what_plans_say(void **unused)
{
    uint64_t state = seed;
    int n_shared = 0;

    (void) unused;
    for (int k = 0; k < clv_share_of(8000); k++) {
        clv_fast_estimate_t *fast;
        draw_places(&state, k);
        const clv_cost_t cost = draw_cost(&state);
        const int64_t *arrival_ns = draw_arrivals(&state, k);
        const int64_t quantum_ns = clv_random_between(&state, 1, draw.instance.round_ns);
        const clv_generator_t *generator = clv_generator_find(names[k % N_NAMES]);
        clv_status_t status =
            clv_fast_estimate_make_rounded(generator, &draw.instance, quantum_ns, &fast);
        if (status == CLV_UNSUPPORTED) { /* no place is shared */
            continue;
        }
        assert_int_equal(status, CLV_OK);
        clv_fast_estimate_free(fast);
        assert_same_estimate(generator, arrival_ns, quantum_ns, &cost);
        n_shared++;
    }
    assert_true(n_shared > clv_share_of(8000) / 2);
}

/* Equal hosts whose ranks come together, links that take no time, and cores that take as long as
 * segments follow each other: what comes from inside and over the link comes at the same moment,
 * segment for segment. */
static void what_meets_keeps_its_order(void **unused)
{
    static const clv_cost_t costs[] = {{.near_byte_ps = 1000, .combine_ps = 1000},
                                       {.near_byte_ps = 500, .combine_ps = 1000},
                                       {.combine_ps = 1000}};
    uint64_t state = seed;

    (void) unused;
    for (int32_t per_host = 2; per_host <= 18; per_host++) {
        for (int k = 0; k < 3 * N_NAMES; k++) {
            draw_hosts(&state, 3 * per_host, per_host);
            memset(draw.arrival_ns, 0, (size_t) (3 * per_host) * sizeof *draw.arrival_ns);
            assert_same_estimate(clv_generator_find(names[k / 3]), draw.arrival_ns, 1,
                                 &costs[k % 3]);
        }
    }
}

/* A flat generator, a goal it is not for, and ranks that share nothing. */
static void who_has_none_says_so(void **unused)
{
    uint64_t state = seed;
    clv_fast_estimate_t *fast = NULL;
    const clv_generator_t *sorted = clv_generator_find("node-sorted");

    (void) unused;
    draw_hosts(&state, 6, 2);
    draw.instance.place = NULL;
    assert_int_equal(clv_fast_estimate_make(sorted, &draw.instance, &fast), CLV_UNSUPPORTED);
    draw.instance.place = place;
    assert_int_equal(clv_fast_estimate_make(clv_generator_find("chain"), &draw.instance, &fast),
                     CLV_UNSUPPORTED);
    draw.instance.goal = CLV_GOAL_BCAST;
    assert_int_equal(clv_fast_estimate_make(sorted, &draw.instance, &fast), CLV_UNSUPPORTED);
    draw.instance.goal = CLV_GOAL_REDUCE;
    draw.instance.root = 6;
    assert_int_equal(clv_fast_estimate_make(sorted, &draw.instance, &fast), CLV_INVALID);
    assert_null(fast);
}

/* 16 places of 64: the inter-host part is of one rank a place, and of a chain it has no sends. */
static void the_interhost_part_is_small(void **unused)
{
    uint64_t state = seed;

    (void) unused;
    for (int g = 1; g < N_NAMES; g++) {
        clv_fast_estimate_t *fast = NULL;
        draw_hosts(&state, 1024, 64);
        assert_int_equal(
            clv_fast_estimate_make(clv_generator_find(names[g]), &draw.instance, &fast), CLV_OK);
        const clv_interhost_t *interhost = &fast->interhost;
        assert_int_equal(interhost->n_ranks, 16 + interhost->hands_over);
        if (interhost->far_slot != NULL) {
            assert_null(interhost->sends);
            assert_int_equal(fast->n_sends, 1023 * N_SEGMENTS);
        } else {
            assert_int_equal(interhost->first_out[interhost->n_ranks],
                             fast->n_sends - (1024 - interhost->n_ranks) * N_SEGMENTS);
        }
        assert_true((interhost->far_slot != NULL) == (g == 1));
        clv_fast_estimate_free(fast);
    }
}

static clv_status_t make_and_estimate(const char *name)
{
    static const clv_cost_t cost = {60000, 20000, 5000, 500, 100, 0, 32768, 0};
    clv_fast_estimate_t *fast = NULL;
    clv_estimate_t estimate;
    clv_status_t status =
        clv_fast_estimate_make_rounded(clv_generator_find(name), &draw.instance, 1000, &fast);

    if (status == CLV_OK) {
        status = clv_fast_estimate_run(fast, draw.arrival_ns, 1 << 20, &cost, &estimate);
    }
    clv_fast_estimate_free(fast);
    return status;
}

/* Whichever allocation fails, it says so, and nothing is lost (a sanitizer sees that). */
static void lack_of_memory_is_reported(void **unused)
{
    uint64_t state = seed;

    (void) unused;
    draw_hosts(&state, 12, 3);
    for (int g = 0; g < N_NAMES; g++) {
        int n_failures = 0;
        for (clv_status_t status = CLV_NO_MEMORY; status != CLV_OK; n_failures++) {
            int countdown = n_failures;
            clv_alloc_set_hook(clv_fail_nth, &countdown);
            status = make_and_estimate(names[g]);
            clv_alloc_set_hook(NULL, NULL);
            assert_true(status == CLV_OK || status == CLV_NO_MEMORY);
        }
        assert_true(n_failures > 5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_estimates_say_what_plans_say),
        cmocka_unit_test(what_meets_keeps_its_order),
        cmocka_unit_test(who_has_none_says_so),
        cmocka_unit_test(the_interhost_part_is_small),
        cmocka_unit_test(lack_of_memory_is_reported),
    };
    seed = clv_seed();
    return clv_run_tests(tests);
}
