/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tracker: pings over a noisy simulated path between two clocks whose truth is known.
 *
 * True time advances in the test; nothing sleeps. The reference is the true time itself unless a
 * test says otherwise; the client's clock has an offset, a drift and steps.
 */
#include "clocksync/clocksync.h"
#include "tests/sim/cs_random.h"
#include "tests/support/test.h"
#include "util/util_time.h"

typedef struct world {
    int64_t now_ns; /* true time */
    int64_t client_ahead_ns;
    double client_drift;
    int64_t reference_ahead_ns;
    int64_t reference_error_ns;
    int64_t least_delay_ns;
    double asymmetry; /* 0: the same least delay both ways; 1: all of it there, none back */
    double queue_ns;  /* mean of the queueing on top */
    double outlier_probability;
    clv_cs_tracker_t tracker;
} world_t;

static cs_random_t rng;

static int64_t client_clock(const world_t *world)
{
    return world->now_ns + world->client_ahead_ns +
           (int64_t) llround(world->client_drift * (double) world->now_ns);
}

static int64_t reference_clock(const world_t *world)
{
    return world->now_ns + world->reference_ahead_ns;
}

static int64_t delay(const world_t *world, double share)
{
    double queue = world->queue_ns > 0 ? cs_random_exponential(&rng, world->queue_ns) : 0.0;
    if (cs_random_uniform(&rng, 0, 1) < world->outlier_probability) {
        queue += cs_random_uniform(&rng, 0, 5e6);
    }
    return (int64_t) (share * 2.0 * (double) world->least_delay_ns + queue);
}

static clv_cs_sample_t exchange(world_t *world)
{
    clv_cs_sample_t sample = {.reference_error_ns = world->reference_error_ns};
    sample.client_send_ns = client_clock(world);
    world->now_ns += delay(world, 0.5 + world->asymmetry / 2);
    sample.reference_recv_ns = reference_clock(world);
    world->now_ns += 2000;
    sample.reference_send_ns = reference_clock(world);
    world->now_ns += delay(world, 0.5 - world->asymmetry / 2);
    sample.client_recv_ns = client_clock(world);
    return sample;
}

static clv_status_t ping(world_t *world)
{
    const clv_cs_sample_t sample = exchange(world);
    return clv_cs_tracker_feed(&world->tracker, &sample);
}

static void pings(world_t *world, int n, int64_t pause_ns)
{
    for (int i = 0; i < n; i++) {
        (void) ping(world);
        world->now_ns += pause_ns;
    }
}

static clv_cs_model_t model_of(const world_t *world)
{
    clv_cs_model_t model;
    assert_int_equal(clv_cs_tracker_model(&world->tracker, &model), CLV_OK);
    return model;
}

static int64_t true_error(const world_t *world)
{
    const clv_cs_model_t model = model_of(world);
    return llabs(clv_cs_model_global(&model, client_clock(world)) - reference_clock(world));
}

static int64_t bound(const world_t *world)
{
    const clv_cs_model_t model = model_of(world);
    return clv_cs_model_error(&model, client_clock(world));
}

static world_t new_world(int burst_length)
{
    world_t world = {.now_ns = 1000 * CLV_NS_PER_S, .least_delay_ns = 30000, .queue_ns = 10000};
    world.client_ahead_ns = cs_random_range(&rng, -3600, 3600) * CLV_NS_PER_S;
    world.client_drift = cs_random_uniform(&rng, -50e-6, 50e-6);
    clv_cs_tracker_init(&world.tracker, burst_length);
    return world;
}

static void is_not_ready_before_the_first_point(void **state)
{
    (void) state;
    world_t world = new_world(10);
    clv_cs_model_t model = {.offset_ns = 77};
    assert_int_equal(clv_cs_tracker_model(&world.tracker, &model), CLV_AGAIN);
    assert_int_equal(ping(&world), CLV_AGAIN);
    assert_int_equal(clv_cs_tracker_model(&world.tracker, &model), CLV_AGAIN);
    assert_int_equal(model.offset_ns, 77);
}

static void is_usable_within_eight_pings(void **state)
{
    (void) state;
    for (int round = 0; round < clv_share_of(1000); round++) {
        world_t world = new_world(20);
        pings(&world, 8, CLV_NS_PER_MS);
        assert_true(true_error(&world) <= bound(&world));
        assert_true(bound(&world) < 100 * CLV_NS_PER_US);
        assert_true(true_error(&world) < 30 * CLV_NS_PER_US);
    }
}

static void learns_the_drift(void **state)
{
    (void) state;
    for (int round = 0; round < clv_share_of(200); round++) {
        world_t world = new_world(10);
        pings(&world, 300, 50 * CLV_NS_PER_MS);
        const double slope = model_of(&world).slope;
        const double truth = world.client_drift / (1 + world.client_drift);
        assert_true(fabs(slope - truth) < 1e-6);
        assert_true(true_error(&world) < 5 * CLV_NS_PER_US);
        world.now_ns += 10 * CLV_NS_PER_S;
        assert_true(true_error(&world) < 15 * CLV_NS_PER_US);
        assert_true(true_error(&world) <= bound(&world));
    }
}

/* The issue asks for 99 %; at the newest point the bound is hard, later it is statistical. */
static void bound_covers_the_truth(void **state)
{
    (void) state;
    int checks = 0, misses = 0;
    for (int round = 0; round < clv_share_of(300); round++) {
        world_t world = new_world((int) cs_random_range(&rng, 1, 20));
        world.asymmetry = cs_random_uniform(&rng, -1, 1);
        world.queue_ns = cs_random_uniform(&rng, 0, 100000);
        world.outlier_probability = 0.05;
        pings(&world, 20, CLV_NS_PER_MS);
        for (int i = 0; i < 50; i++) {
            pings(&world, (int) cs_random_range(&rng, 1, 40), 20 * CLV_NS_PER_MS);
            world.now_ns += cs_random_range(&rng, 0, 5 * CLV_NS_PER_S);
            misses += true_error(&world) > bound(&world);
            checks++;
        }
        assert_int_equal(world.tracker.n_restarts, 0);
    }
    print_message("# bound missed %d of %d\n", misses, checks);
    assert_true(misses * 1000 <= checks);
}

static void reference_bound_is_part_of_the_bound(void **state)
{
    (void) state;
    world_t world = new_world(10);
    world.reference_error_ns = 40000;
    world.reference_ahead_ns = 40000; /* as wrong as it says */
    pings(&world, 200, 20 * CLV_NS_PER_MS);
    world.reference_ahead_ns = 0;
    assert_true(true_error(&world) <= bound(&world));
    assert_true(bound(&world) > 70000);
}

static void one_outlier_is_harmless(void **state)
{
    (void) state;
    world_t world = new_world(1);
    pings(&world, 100, 20 * CLV_NS_PER_MS);
    const double queue_ns = world.queue_ns;
    world.queue_ns = 50e6;
    (void) ping(&world);
    world.queue_ns = queue_ns;
    assert_true(true_error(&world) < 20 * CLV_NS_PER_US);
    assert_int_equal(world.tracker.n_restarts, 0);
}

static void a_step_restarts_and_is_never_silent(void **state)
{
    (void) state;
    for (int round = 0; round < clv_share_of(500); round++) {
        world_t world = new_world(10);
        pings(&world, 100, 20 * CLV_NS_PER_MS);
        const int64_t step = cs_random_range(&rng, CLV_NS_PER_MS, 5 * CLV_NS_PER_S);
        world.client_ahead_ns += round % 2 ? step : -step;
        (void) ping(&world);
        clv_cs_model_t model;
        assert_int_equal(clv_cs_tracker_model(&world.tracker, &model), CLV_AGAIN);
        assert_int_equal(world.tracker.n_restarts, 1);
        pings(&world, 7, 20 * CLV_NS_PER_MS);
        assert_true(true_error(&world) <= bound(&world));
    }
}

/* A step too small to prove stays within what the bounds of the two points allow together. */
static void a_small_step_is_within_twice_the_bound(void **state)
{
    (void) state;
    for (int round = 0; round < clv_share_of(500); round++) {
        world_t world = new_world(10);
        pings(&world, 100, 20 * CLV_NS_PER_MS);
        world.client_ahead_ns += cs_random_range(&rng, -100000, 100000);
        pings(&world, 60, 20 * CLV_NS_PER_MS);
        assert_true(true_error(&world) <= bound(&world));
    }
}

static void a_step_of_the_reference_restarts(void **state)
{
    (void) state;
    world_t world = new_world(10);
    pings(&world, 100, 20 * CLV_NS_PER_MS);
    world.reference_ahead_ns += CLV_NS_PER_S;
    pings(&world, 8, CLV_NS_PER_MS);
    assert_int_equal(world.tracker.n_restarts, 1);
    assert_true(true_error(&world) <= bound(&world));
}

/* A suspended host's CLOCK_MONOTONIC stands still: the same as a step back. */
static void a_suspended_client_restarts(void **state)
{
    (void) state;
    world_t world = new_world(10);
    pings(&world, 100, 20 * CLV_NS_PER_MS);
    world.client_ahead_ns -= 30 * CLV_NS_PER_S;
    world.now_ns += 30 * CLV_NS_PER_S;
    pings(&world, 8, CLV_NS_PER_MS);
    assert_int_equal(world.tracker.n_restarts, 1);
    assert_true(true_error(&world) <= bound(&world));
}

static void a_step_inside_a_ping_is_caught(void **state)
{
    (void) state;
    for (int round = 0; round < clv_share_of(100); round++) {
        world_t world = new_world(10);
        pings(&world, 100, 20 * CLV_NS_PER_MS);
        clv_cs_sample_t sample = exchange(&world);
        const int64_t step = round % 2 ? 300 * CLV_NS_PER_MS : -300 * CLV_NS_PER_MS;
        world.client_ahead_ns += step;
        sample.client_recv_ns += step;
        (void) clv_cs_tracker_feed(&world.tracker, &sample);
        pings(&world, 20, CLV_NS_PER_MS);
        assert_true(world.tracker.n_restarts >= 1);
        assert_true(true_error(&world) <= bound(&world));
    }
}

/* The reference lost its own reference: we may be wrong with it, so nothing is said meanwhile. */
static void doubt_silences_until_the_next_sample(void **state)
{
    (void) state;
    world_t world = new_world(10);
    clv_cs_model_t model;
    pings(&world, 100, 20 * CLV_NS_PER_MS);
    clv_cs_tracker_doubt(&world.tracker);
    assert_int_equal(clv_cs_tracker_model(&world.tracker, &model), CLV_AGAIN);
    (void) ping(&world);
    assert_true(true_error(&world) <= bound(&world));
    assert_int_equal(world.tracker.n_restarts, 0);
    clv_cs_tracker_doubt(&world.tracker);
    world.reference_ahead_ns += CLV_NS_PER_S;
    (void) ping(&world);
    assert_int_equal(clv_cs_tracker_model(&world.tracker, &model), CLV_AGAIN);
    assert_int_equal(world.tracker.n_restarts, 1);
}

static void a_lost_reference_widens_the_bound(void **state)
{
    (void) state;
    world_t world = new_world(10);
    pings(&world, 300, 50 * CLV_NS_PER_MS);
    const int64_t before = bound(&world);
    world.now_ns += 600 * CLV_NS_PER_S;
    assert_true(bound(&world) > before + 600 * CLV_CS_WANDER_PPB);
    assert_true(true_error(&world) <= bound(&world));
}

static void follows_a_drift_that_changes(void **state)
{
    (void) state;
    for (int round = 0; round < clv_share_of(100); round++) {
        world_t world = new_world(10);
        pings(&world, 500, 20 * CLV_NS_PER_MS);
        const double change = cs_random_uniform(&rng, -20e-6, 20e-6);
        world.client_ahead_ns -= (int64_t) llround(change * (double) world.now_ns);
        world.client_drift += change;
        pings(&world, 2000, 20 * CLV_NS_PER_MS);
        assert_true(true_error(&world) < 10 * CLV_NS_PER_US);
        assert_true(true_error(&world) <= bound(&world));
    }
}

/* Wilder than the prior: the doubt doubles until the clock is believed to be that bad. */
static void a_wild_clock_is_tracked_in_the_end(void **state)
{
    (void) state;
    world_t world = new_world(4);
    world.client_drift = 700e-6;
    pings(&world, 400, 50 * CLV_NS_PER_MS);
    assert_true(world.tracker.n_restarts > 0);
    assert_true(true_error(&world) <= bound(&world));
    assert_true(fabs(model_of(&world).slope - 700e-6) < 5e-6);
}

static void fast_pings_do_not_shorten_the_memory(void **state)
{
    (void) state;
    if (clv_is_left_out()) {
        skip();
    }
    world_t world = new_world(1);
    pings(&world, 100000, 100 * CLV_NS_PER_US);
    const clv_cs_tracker_t *tracker = &world.tracker;
    const int64_t span =
        tracker->point[tracker->n_points - 1].local_ns - tracker->point[0].local_ns;
    assert_true(span > 10 * CLV_NS_PER_S);
    assert_true(fabs(model_of(&world).slope - world.client_drift) < 1e-6);
}

static void nonsense_is_ignored(void **state)
{
    (void) state;
    world_t world = new_world(10);
    pings(&world, 50, CLV_NS_PER_MS);
    const clv_cs_tracker_t before = world.tracker;
    const clv_cs_sample_t good = exchange(&world);
    clv_cs_sample_t bad[] = {good, good, good, good, good, good};
    bad[0].client_recv_ns = good.client_send_ns - 1;
    bad[1].reference_send_ns = good.reference_recv_ns - 1;
    bad[2].reference_error_ns = -1;
    bad[3].reference_send_ns += CLV_NS_PER_S; /* held longer than the whole trip */
    bad[4].client_recv_ns += 61 * CLV_NS_PER_S;
    bad[5].reference_recv_ns = INT64_MIN;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(clv_cs_tracker_feed(&world.tracker, &bad[i]), CLV_PROTOCOL);
    }
    assert_memory_equal(&before, &world.tracker, sizeof before);
}

/* Whatever a hostile reference says: no overflow (UBSan), no crash, no negative bound. */
static void random_bytes_do_no_harm(void **state)
{
    (void) state;
    world_t world = new_world(2);
    for (int i = 0; i < clv_share_of(200000); i++) {
        int64_t words[5];
        for (int k = 0; k < 5; k++) {
            words[k] = (int64_t) cs_random_u64(&rng) >> cs_random_range(&rng, 0, 63);
        }
        const clv_cs_sample_t sample = {words[0], words[1], words[2], words[3], words[4]};
        (void) clv_cs_tracker_feed(&world.tracker, &sample);
        clv_cs_model_t model;
        if (clv_cs_tracker_model(&world.tracker, &model) == CLV_OK) {
            assert_true(clv_cs_model_error(&model, words[0]) >= 0);
            (void) clv_cs_model_global(&model, words[1]);
        }
    }
}

static void restart_doubles_the_doubt_up_to_a_limit(void **state)
{
    (void) state;
    clv_cs_tracker_t tracker;
    clv_cs_tracker_init(&tracker, 0);
    assert_int_equal(tracker.burst_length, 1);
    for (int i = 0; i < 100; i++) {
        clv_cs_tracker_restart(&tracker);
    }
    assert_int_equal(tracker.n_restarts, 100);
    assert_in_range(tracker.drift_prior_ppb, 1000000, 2000000);
}

static void suspension_is_steady_while_awake(void **state)
{
    (void) state;
    int64_t closest_ns = INT64_MAX; /* of some, since somebody may come between two clocks */
    for (int i = 0; i < 100; i++) {
        const int64_t before_ns = clv_cs_suspended_ns();
        const int64_t change_ns = llabs(clv_cs_suspended_ns() - before_ns);
        closest_ns = change_ns < closest_ns ? change_ns : closest_ns;
    }
    assert_true(closest_ns < 100 * CLV_NS_PER_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_not_ready_before_the_first_point),
        cmocka_unit_test(is_usable_within_eight_pings),
        cmocka_unit_test(learns_the_drift),
        cmocka_unit_test(bound_covers_the_truth),
        cmocka_unit_test(reference_bound_is_part_of_the_bound),
        cmocka_unit_test(one_outlier_is_harmless),
        cmocka_unit_test(a_step_restarts_and_is_never_silent),
        cmocka_unit_test(a_small_step_is_within_twice_the_bound),
        cmocka_unit_test(a_step_of_the_reference_restarts),
        cmocka_unit_test(a_suspended_client_restarts),
        cmocka_unit_test(a_step_inside_a_ping_is_caught),
        cmocka_unit_test(doubt_silences_until_the_next_sample),
        cmocka_unit_test(a_lost_reference_widens_the_bound),
        cmocka_unit_test(follows_a_drift_that_changes),
        cmocka_unit_test(a_wild_clock_is_tracked_in_the_end),
        cmocka_unit_test(fast_pings_do_not_shorten_the_memory),
        cmocka_unit_test(nonsense_is_ignored),
        cmocka_unit_test(random_bytes_do_no_harm),
        cmocka_unit_test(restart_doubles_the_doubt_up_to_a_limit),
        cmocka_unit_test(suspension_is_steady_while_awake),
    };
    cs_random_seed_from_environment(&rng);
    return clv_run_tests(tests);
}
