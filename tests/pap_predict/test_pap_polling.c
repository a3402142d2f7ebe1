/* SPDX-License-Identifier: BSD-3-Clause
 *
 * When the thread looks by itself: records come in pretend time, and what is counted is who rings.
 */
#include "pap_predict/pap_polling.h"
#include "tests/sim/cs_random.h"
#include "tests/support/test.h"
#include "util/util_time.h"

#define MS CLV_NS_PER_MS
#define US CLV_NS_PER_US

static cs_random_t generator;

/* A thread and the ranks of one slot, without either. */
typedef struct world {
    clv_pap_polling_t polling;
    int64_t now_ns;
    int n_rings; /* of n_records */
    int n_looks;
    int64_t longest_wait_ns; /* of a record for its look */
} world_t;

/* The looks until then; a record lies there from given_ns on. */
static void pass(world_t *world, int64_t given_ns, int64_t until_ns)
{
    while (world->polling.look_ns <= until_ns && world->polling.look_ns < given_ns) {
        world->n_looks++;
        clv_pap_polling_missed(&world->polling, world->polling.look_ns);
    }
}

static void give_after(world_t *world, int64_t distance_ns)
{
    const int64_t given_ns = world->now_ns + distance_ns;
    pass(world, given_ns, given_ns);
    if (world->polling.look_ns == INT64_MAX) {
        world->n_rings++;
    } else {
        const int64_t wait_ns = world->polling.look_ns - given_ns;
        world->n_looks++;
        world->longest_wait_ns =
            wait_ns > world->longest_wait_ns ? wait_ns : world->longest_wait_ns;
    }
    clv_pap_polling_found(&world->polling, given_ns);
    world->now_ns = given_ns;
}

static world_t new_world(void)
{
    world_t world = {.now_ns = 7 * CLV_NS_PER_S};
    clv_pap_polling_init(&world.polling);
    return world;
}

static void a_regular_program_rings_for_its_first_calls_only(void **state)
{
    (void) state;
    world_t world = new_world();
    for (int i = 0; i < 1000; i++) {
        give_after(&world, 2 * MS + cs_random_range(&generator, -100 * US, 100 * US));
    }
    assert_int_equal(world.n_rings, 3);
    assert_true(world.n_looks < 1500);
    assert_true(world.longest_wait_ns <= 2 * MS / 4);
}

static void nobody_calls_and_nobody_looks(void **state)
{
    (void) state;
    world_t world = new_world();
    for (int i = 0; i < 5; i++) {
        give_after(&world, 10 * MS);
    }
    world.n_looks = 0;
    const int64_t last_ns = world.now_ns;
    int64_t newest_ns = 0;
    while (world.polling.look_ns != INT64_MAX) {
        newest_ns = world.polling.look_ns;
        world.n_looks++;
        clv_pap_polling_missed(&world.polling, world.polling.look_ns);
    }
    assert_int_equal(world.n_looks, 5);
    assert_int_equal(newest_ns - last_ns, 2 * 10 * MS);
}

/* Then the wait is bounded by what it was a fraction of, and after a surprise ranks ring. */
static void an_irregular_program_has_bounded_waits(void **state)
{
    (void) state;
    world_t world = new_world();
    for (int i = 0; i < 2000; i++) {
        give_after(&world, cs_random_range(&generator, 100 * US, 20 * MS));
    }
    assert_true(world.n_rings > 500);
    assert_true(world.n_looks < 5 * 2000);
    assert_true(world.longest_wait_ns <= 21 * MS);
}

static void much_too_early_rings_the_next_times(void **state)
{
    (void) state;
    world_t world = new_world();
    for (int i = 0; i < 10; i++) {
        give_after(&world, 4 * MS);
    }
    assert_int_not_equal(world.polling.look_ns, INT64_MAX);
    give_after(&world, MS);
    assert_int_equal(world.polling.look_ns, INT64_MAX);
    world.n_rings = 0;
    give_after(&world, MS);
    give_after(&world, MS);
    give_after(&world, MS);
    assert_int_equal(world.n_rings, 2);
}

static void pairs_of_calls_go_by_the_short_distance(void **state)
{
    (void) state;
    world_t world = new_world();
    for (int i = 0; i < 100; i++) {
        give_after(&world, 10 * MS);
        give_after(&world, MS);
    }
    assert_true(world.longest_wait_ns <= MS / 2);
}

static void extremes_are_rung_for(void **state)
{
    (void) state;
    world_t world = new_world();
    for (int i = 0; i < 10; i++) {
        give_after(&world, 3 * CLV_NS_PER_S);
    }
    for (int i = 0; i < 10; i++) {
        give_after(&world, US);
    }
    give_after(&world, 0);
    assert_int_equal(world.n_rings, 21);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_regular_program_rings_for_its_first_calls_only),
        cmocka_unit_test(nobody_calls_and_nobody_looks),
        cmocka_unit_test(an_irregular_program_has_bounded_waits),
        cmocka_unit_test(much_too_early_rings_the_next_times),
        cmocka_unit_test(pairs_of_calls_go_by_the_short_distance),
        cmocka_unit_test(extremes_are_rung_for),
    };
    (void) cs_random_seed_from_environment(&generator);
    return clv_run_tests(tests);
}
