/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A host order lists the ranks place after place, each as it stands, the root last, whatever order
 * it was made by; with one and without one plans are the same, send by send.
 */
#include "schedule/sched_fast_estimate.h"
#include "schedule/sched_host_order.h"
#include "tests/support/random_instance.h"
#include "tests/support/test.h"
#include "util/util_alloc.h"

enum { MAX_RANKS = 120 };

static const char *const names[] = {"node-chain", "node-sorted", "node-latest", "node-bitset"};
enum { N_NAMES = sizeof names / sizeof names[0] };

static uint64_t seed;
static clv_draw_t draw;
static int32_t place[CLV_SCHED_MAX_RANKS];
static int64_t then_ns[CLV_SCHED_MAX_RANKS]; /* what the host order is made by */

/* The same times, a little other ones, reversed ones, or any. */
static void draw_then(uint64_t *state, int k)
{
    const clv_instance_t *instance = &draw.instance;
    const int64_t *order_ns =
        instance->order_ns == NULL ? instance->arrival_ns : instance->order_ns;
    const int64_t spread_ns = MAX_RANKS * instance->round_ns;

    for (int32_t p = 0; p < instance->n_ranks; p++) {
        const int64_t noise_ns = clv_random_between(state, 0, instance->round_ns);
        then_ns[p] = k % 4 == 0   ? order_ns[p]
                     : k % 4 == 1 ? order_ns[p] + noise_ns
                     : k % 4 == 2 ? INT64_MAX / 2 - order_ns[p]
                                  : clv_random_between(state, 0, spread_ns);
    }
}

static clv_host_order_t *make_host_order(uint64_t *state, int k)
{
    clv_instance_t instance = draw.instance;
    clv_host_order_t *host_order = NULL;

    draw_then(state, k);
    instance.arrival_ns = then_ns;
    instance.order_ns = NULL;
    assert_int_equal(clv_host_order_make(&instance, &host_order), CLV_OK);
    return host_order;
}

/* By place, then the root last, then by order, then by rank. */
static int stands_before(int32_t a, int32_t b)
{
    const clv_instance_t *instance = &draw.instance;
    const int64_t *order_ns =
        instance->order_ns == NULL ? instance->arrival_ns : instance->order_ns;

    if (place[a] != place[b]) {
        return place[a] < place[b];
    }
    if (a == instance->root || b == instance->root) {
        return b == instance->root;
    }
    return order_ns[a] != order_ns[b] ? order_ns[a] < order_ns[b] : a < b;
}

/* All of them once, one host a place. */
static void assert_listed(const clv_host_order_t *host_order, const int32_t *ranks)
{
    int32_t host = 0;

    for (int32_t i = 1; i < host_order->n_ranks; i++) {
        assert_true(stands_before(ranks[i - 1], ranks[i]));
        if (place[ranks[i - 1]] != place[ranks[i]]) {
            assert_int_equal(host_order->first[++host], i);
        }
    }
    assert_int_equal(host_order->first[0], 0);
    assert_int_equal(host_order->n_hosts, host + 1);
    assert_int_equal(host_order->first[host + 1], host_order->n_ranks);
    assert_int_equal(ranks[host_order->first[host_order->root_host + 1] - 1], draw.instance.root);
}

static void ranks_are_listed_as_they_stand(void **unused)
{
    uint64_t state = seed;
    int32_t ranks[MAX_RANKS];

    (void) unused;
    for (int k = 0; k < clv_share_of(4000); k++) {
        clv_draw_places(&draw, place, &state, k, MAX_RANKS);
        clv_host_order_t *host_order =
            make_host_order(&state, (int) clv_random_between(&state, 0, 3));
        assert_int_equal(clv_host_order_sort(host_order, &draw.instance, ranks), CLV_OK);
        assert_listed(host_order, ranks);
        clv_host_order_free(host_order);
    }
}

static void plans_do_not_depend_on_it(void **unused)
{
    uint64_t state = seed;

    (void) unused;
    for (int k = 0; k < clv_share_of(2000); k++) {
        const clv_generator_t *generator = clv_generator_find(names[k % N_NAMES]);
        clv_plan_t *alone = NULL, *with = NULL;
        clv_draw_places(&draw, place, &state, k, MAX_RANKS);
        clv_host_order_t *host_order =
            make_host_order(&state, (int) clv_random_between(&state, 0, 3));
        assert_int_equal(clv_plan_make(generator, &draw.instance, &alone), CLV_OK);
        draw.instance.host_order = host_order;
        assert_int_equal(clv_plan_make(generator, &draw.instance, &with), CLV_OK);
        assert_true(clv_plan_hash(alone) == clv_plan_hash(with));
        clv_plan_free(with);
        clv_plan_free(alone);
        clv_host_order_free(host_order);
    }
}

/* Another root, another place of one rank, fewer ranks, no places. */
static void a_host_order_of_others_is_refused(void **unused)
{
    uint64_t state = seed;
    const char *reason;

    (void) unused;
    clv_draw_places(&draw, place, &state, 0, MAX_RANKS);
    draw.instance.n_ranks = 7;
    draw.instance.root = 3;
    for (int32_t p = 0; p < 7; p++) {
        place[p] = p / 3;
    }
    clv_host_order_t *host_order = make_host_order(&state, 0);
    draw.instance.host_order = host_order;
    assert_int_equal(clv_instance_check(&draw.instance, &reason), CLV_OK);
    draw.instance.root = 2;
    assert_int_equal(clv_instance_check(&draw.instance, &reason), CLV_INVALID);
    draw.instance.root = 3;
    place[1]++;
    assert_int_equal(clv_instance_check(&draw.instance, &reason), CLV_INVALID);
    place[1]--;
    draw.instance.n_ranks = 6;
    assert_int_equal(clv_instance_check(&draw.instance, &reason), CLV_INVALID);
    draw.instance.n_ranks = 7;
    draw.instance.place = NULL;
    assert_int_equal(clv_instance_check(&draw.instance, &reason), CLV_INVALID);
    clv_host_order_free(host_order);
}

static void lack_of_memory_is_reported(void **unused)
{
    uint64_t state = seed;
    int n_failures = 0;

    (void) unused;
    clv_draw_places(&draw, place, &state, 0, MAX_RANKS);
    for (clv_status_t status = CLV_NO_MEMORY; status != CLV_OK; n_failures++) {
        int countdown = n_failures;
        clv_host_order_t *host_order = NULL;
        clv_alloc_set_hook(clv_fail_nth, &countdown);
        status = clv_host_order_make(&draw.instance, &host_order);
        clv_alloc_set_hook(NULL, NULL);
        assert_true(status == CLV_OK || (status == CLV_NO_MEMORY && host_order == NULL));
        clv_host_order_free(host_order);
    }
    assert_true(n_failures > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_listed_as_they_stand),
        cmocka_unit_test(plans_do_not_depend_on_it),
        cmocka_unit_test(a_host_order_of_others_is_refused),
        cmocka_unit_test(lack_of_memory_is_reported),
    };
    seed = clv_seed();
    return clv_run_tests(tests);
}
