/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The host's clock in the background thread, seen from outside: what steps, suspensions and a
 * parent without a clock do to what a host says about time.
 */
#include "pap_predict/pap_clock.h"
#include "tests/support/test.h"
#include "util/util_time.h"

#define PARENT_AHEAD_NS (1000 * CLV_NS_PER_S)

typedef struct pair {
    clv_pap_clock_t clock;
    int64_t now_ns; /* the child's local clock */
    int64_t parent_ahead_ns;
    int parent_has_global;
} pair_t;

static pair_t new_pair(void)
{
    pair_t pair = {.now_ns = 50 * CLV_NS_PER_S, .parent_ahead_ns = PARENT_AHEAD_NS};
    pair.parent_has_global = 1;
    clv_pap_clock_init(&pair.clock, 0);
    clv_pap_clock_connected(&pair.clock, pair.now_ns);
    return pair;
}

/* There and back in 62 us; the answer is taken. */
static void exchange(pair_t *pair, int is_pong)
{
    clv_net_stamp_t stamp = {.has_global = pair->parent_has_global};
    stamp.echo_sent_ns = pair->now_ns;
    pair->now_ns += 30000;
    stamp.echo_recv_ns = pair->now_ns + pair->parent_ahead_ns;
    pair->now_ns += 2000;
    stamp.sent_ns = pair->now_ns + pair->parent_ahead_ns;
    pair->now_ns += 30000;
    (void) clv_pap_clock_take(&pair->clock, &stamp, pair->now_ns, is_pong);
}

/* One ping if one is due; true if it was answered. */
static int ping(pair_t *pair)
{
    if (!clv_pap_clock_wants_ping(&pair->clock, pair->now_ns)) {
        return 0;
    }
    exchange(pair, 1);
    return 1;
}

static void run(pair_t *pair, int64_t duration_ns)
{
    const int64_t end_ns = pair->now_ns + duration_ns;
    while (pair->now_ns < end_ns) {
        (void) ping(pair);
        pair->now_ns += CLV_NS_PER_MS;
    }
}

static int64_t error_ns(const pair_t *pair)
{
    const int64_t global_ns = clv_cs_model_global(&pair->clock.model, pair->now_ns);
    return llabs(global_ns - (pair->now_ns + pair->parent_ahead_ns));
}

static void is_ready_within_50_ms(void **state)
{
    (void) state;
    pair_t pair = new_pair();
    assert_false(pair.clock.is_ready);
    run(&pair, 50 * CLV_NS_PER_MS);
    assert_true(pair.clock.is_ready);
    assert_true(error_ns(&pair) < 50 * CLV_NS_PER_US);
}

static void a_step_is_not_used_and_is_recovered_from(void **state)
{
    (void) state;
    pair_t pair = new_pair();
    run(&pair, 30 * CLV_NS_PER_S);
    pair.parent_ahead_ns += CLV_NS_PER_S;
    while (!ping(&pair)) {
        pair.now_ns += CLV_NS_PER_MS;
    }
    assert_false(pair.clock.is_ready);
    run(&pair, 10 * CLV_NS_PER_S);
    assert_true(pair.clock.is_ready);
    assert_true(error_ns(&pair) < 50 * CLV_NS_PER_US);
}

/* The frames of the exchange carry timestamps too, so a step shows at any time between two bursts,
 * which are 32 s apart by then, as nobody uses this clock. */
static void a_step_is_learnt_within_100_ms(void **state)
{
    (void) state;
    pair_t pair = new_pair();
    run(&pair, 30 * CLV_NS_PER_S);
    while (pair.clock.next_burst_ns - pair.now_ns < 2 * CLV_NS_PER_S) {
        (void) ping(&pair);
        pair.now_ns += CLV_NS_PER_MS;
    }
    pair.parent_ahead_ns += CLV_NS_PER_S;
    exchange(&pair, 0);
    assert_false(pair.clock.is_ready);
    run(&pair, 100 * CLV_NS_PER_MS);
    assert_true(pair.clock.is_ready);
    assert_true(error_ns(&pair) < 50 * CLV_NS_PER_US);
}

/* A clock that steps all the time must not make the thread busy. */
static void steps_without_end_do_not_make_pings_without_end(void **state)
{
    (void) state;
    pair_t pair = new_pair();
    int n_pings = 0;
    run(&pair, 30 * CLV_NS_PER_S);
    const int64_t end_ns = pair.now_ns + 10 * CLV_NS_PER_S;
    while (pair.now_ns < end_ns) {
        pair.parent_ahead_ns += CLV_NS_PER_S;
        n_pings += ping(&pair);
        pair.now_ns += 100 * CLV_NS_PER_US;
    }
    assert_true(n_pings < 10 * 8 * 60);
}

/* Its own reference stepped, perhaps: a host that went on would be wrong and not know it. */
static void a_parent_without_a_clock_silences_its_child(void **state)
{
    (void) state;
    pair_t pair = new_pair();
    run(&pair, 30 * CLV_NS_PER_S);
    pair.parent_has_global = 0;
    while (!ping(&pair)) {
        pair.now_ns += CLV_NS_PER_MS;
    }
    assert_false(pair.clock.is_ready);
    assert_false(clv_pap_clock_wants_ping(&pair.clock, pair.now_ns + CLV_NS_PER_S));
    pair.parent_has_global = 1;
    clv_pap_clock_connected(&pair.clock, pair.now_ns);
    run(&pair, 10 * CLV_NS_PER_MS);
    assert_true(pair.clock.is_ready); /* nothing had happened: one good answer is enough */
    assert_int_equal(pair.clock.tracker.n_restarts, 0);
}

static void a_lost_parent_widens_the_bound(void **state)
{
    (void) state;
    pair_t pair = new_pair();
    run(&pair, 30 * CLV_NS_PER_S);
    clv_pap_clock_lost(&pair.clock);
    const int64_t before = clv_cs_model_error(&pair.clock.model, pair.now_ns);
    run(&pair, 100 * CLV_NS_PER_S);
    assert_true(clv_cs_model_error(&pair.clock.model, pair.now_ns) >=
                before + 100 * CLV_CS_WANDER_PPB);
}

/* How many pings in so many seconds, the clock used every 100 ms or not at all. */
static int count_pings(pair_t *pair, int64_t seconds, int is_used)
{
    const int64_t end_ns = pair->now_ns + seconds * CLV_NS_PER_S;
    int n_pings = 0;
    for (int64_t step = 0; pair->now_ns < end_ns; step++) {
        if (is_used && step % 100 == 0) {
            clv_pap_clock_used(&pair->clock, pair->now_ns);
        }
        n_pings += ping(pair);
        pair->now_ns += CLV_NS_PER_MS;
    }
    return n_pings;
}

static void a_clock_is_pinged_as_it_is_used(void **state)
{
    (void) state;
    pair_t pair = new_pair();
    run(&pair, 60 * CLV_NS_PER_S);
    assert_in_range(count_pings(&pair, 160, 0), 8 * 4, 8 * 6);
    assert_in_range(count_pings(&pair, 160, 1), 8 * 38, 8 * 42);
    assert_in_range(count_pings(&pair, 160, 0), 8 * 4, 8 * 7);
    assert_true(error_ns(&pair) < 50 * CLV_NS_PER_US);
}

static void use_after_a_pause_pings_at_once(void **state)
{
    (void) state;
    pair_t pair = new_pair();
    run(&pair, 60 * CLV_NS_PER_S);
    while (!ping(&pair)) {
        pair.now_ns += CLV_NS_PER_MS;
    }
    run(&pair, 10 * CLV_NS_PER_S);
    assert_false(clv_pap_clock_wants_ping(&pair.clock, pair.now_ns));
    clv_pap_clock_used(&pair.clock, pair.now_ns);
    assert_int_equal(clv_pap_clock_deadline(&pair.clock), pair.now_ns);
    assert_true(ping(&pair));
    clv_pap_clock_lost(&pair.clock);
    clv_pap_clock_used(&pair.clock, pair.now_ns); /* nobody there to ping */
    assert_int_equal(clv_pap_clock_deadline(&pair.clock), INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_ready_within_50_ms),
        cmocka_unit_test(a_step_is_not_used_and_is_recovered_from),
        cmocka_unit_test(a_step_is_learnt_within_100_ms),
        cmocka_unit_test(steps_without_end_do_not_make_pings_without_end),
        cmocka_unit_test(a_parent_without_a_clock_silences_its_child),
        cmocka_unit_test(a_lost_parent_widens_the_bound),
        cmocka_unit_test(a_clock_is_pinged_as_it_is_used),
        cmocka_unit_test(use_after_a_pause_pings_at_once),
    };
    return clv_run_tests(tests);
}
