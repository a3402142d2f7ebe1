/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The promise of the protocol, on thousands of pretend jobs: the same forecast on every rank at
 * every call, and no wait that nobody ends. CLV_SHARE scales how many (5,000).
 */
#include "pap_predict/agree/pap_wire.h"
#include "tests/sim/cs_random.h"
#include "tests/sim/pap_net.h"
#include "tests/support/test.h"
#include "util/util_time.h"

#define US CLV_NS_PER_US
#define MS CLV_NS_PER_MS

/* A rank is at most so late in a job of 5 ms between calls, and a record set takes as long to
 * travel. */
#define LATE_RANK_NS (250 * MS)

#define FREE_LIMIT_NS (2000 * MS) /* coll_clv_channel_timeout_ms */

typedef struct totals {
    int64_t jobs;
    int64_t calls;
    int64_t with_forecast;
    int64_t waits;
    int64_t worst_wait_ns;
    int64_t voids;
    int64_t overlapped;
    int64_t late_turns;
    int64_t record_sets;
    int64_t evictions;
    int64_t announced;
    int64_t lost;
    int64_t abandoned;
    int64_t wrong;
    int64_t relays;
    int64_t stale;
    int32_t max_sample_every;
    int64_t away, letters, late, stays, worst_free_ns;
} totals_t;

static uint64_t first_seed;

static int64_t n_jobs(void)
{
    return clv_share_of(5000);
}

static void add(totals_t *totals, const pap_net_result_t *result)
{
    totals->jobs++;
    totals->calls += result->calls;
    totals->with_forecast += result->with_forecast;
    totals->waits += result->waits;
    totals->voids += result->voids;
    if (result->worst_wait_ns > totals->worst_wait_ns) {
        totals->worst_wait_ns = result->worst_wait_ns;
    }
    totals->overlapped += result->overlapped;
    totals->late_turns += result->late_turns;
    totals->record_sets += result->record_sets;
    totals->evictions += result->evictions;
    totals->announced += result->announced;
    totals->lost += result->lost_reason != 0;
    totals->abandoned += result->abandoned_hosts;
    totals->wrong += result->wrong_guesses > 0;
    totals->stale += result->stale_links;
    totals->relays += result->relays;
    totals->away += result->n_away;
    totals->letters += result->n_letters;
    totals->late += result->n_late;
    totals->stays += result->n_stays;
    if (result->worst_free_ns > totals->worst_free_ns) {
        totals->worst_free_ns = result->worst_free_ns;
    }
    if (result->max_sample_every > totals->max_sample_every) {
        totals->max_sample_every = result->max_sample_every;
    }
}

static void print_totals(const char *name, const totals_t *totals)
{
    printf(
        "# %s: %lld jobs, %lld rank calls, %lld with a forecast, %lld waited, %lld record sets and "
        "%lld void, "
        "%lld streams pushed out, %lld announced, largest K %d, %lld lost, %lld abandoned nodes, "
        "%lld jobs where one of them guessed wrong, %lld half-open links found\n",
        name, (long long) totals->jobs, (long long) totals->calls,
        (long long) totals->with_forecast, (long long) totals->waits,
        (long long) totals->record_sets, (long long) totals->voids, (long long) totals->evictions,
        (long long) totals->announced, totals->max_sample_every, (long long) totals->lost,
        (long long) totals->abandoned, (long long) totals->wrong, (long long) totals->stale);
}

static void print_free(const totals_t *totals)
{
    printf("# %lld began to free while a child was away, %lld said over MPI that they are through, "
           "%lld asked a parent that had begun, %lld ended it by the limit; longest %lld ms\n",
           (long long) totals->away, (long long) totals->letters, (long long) totals->late,
           (long long) totals->stays, (long long) (totals->worst_free_ns / MS));
}

/* A small job, every property drawn from its seed. */
static pap_net_options_t draw(uint64_t seed)
{
    cs_random_t random = {seed ^ UINT64_C(0x5bd1e995)};
    pap_net_options_t options = {.seed = seed};
    options.n_hosts = (int32_t) cs_random_range(&random, 1, 9);
    options.n_calls = (int32_t) cs_random_range(&random, 5, 40);
    options.n_keys = (int32_t) cs_random_range(&random, 1, 3);
    options.key_burst = (int32_t) cs_random_range(&random, 1, 4);
    options.delay_ns = cs_random_range(&random, 10 * US, 2 * MS);
    options.compute_ns = cs_random_range(&random, 1, 4) == 1 ? 20 * US : 5 * MS;
    options.synchronous_percent = (int32_t) cs_random_range(&random, 0, 2) * 30;
    options.invalid_calls = (int32_t) cs_random_range(&random, 0, 1) * 3;
    options.patience_ns = cs_random_range(&random, 0, 2) * 2 * MS;
    options.hints =
        cs_random_range(&random, 1, 4) == 1 ? 2 : (int32_t) cs_random_range(&random, 0, 1);
    return options;
}

static void run_jobs(const char *name, int64_t n, void (*change)(pap_net_options_t *, uint64_t),
                     totals_t *totals)
{
    *totals = (totals_t){0};
    for (int64_t i = 0; i < n; i++) {
        uint64_t seed = first_seed + (uint64_t) i;
        pap_net_options_t options = draw(seed);
        pap_net_result_t result;
        change(&options, seed);
        pap_net_run(&options, &result);
        if (result.broken != NULL) {
            fail_msg("%s, seed %llu: %s", name, (unsigned long long) seed, result.broken);
        }
        int may_lose_bye = options.lose_for_good || options.n_cuts > 0 || options.frees;
        if (!may_lose_bye && result.open_hosts != 0) {
            fail_msg("%s, seed %llu: %d nodes can never close", name, (unsigned long long) seed,
                     result.open_hosts);
        }
        add(totals, &result);
    }
    print_totals(name, totals);
}

static void change_nothing(pap_net_options_t *options, uint64_t seed)
{
    (void) options;
    (void) seed;
}

static void change_cuts(pap_net_options_t *options, uint64_t seed)
{
    options->n_cuts = (int32_t) (seed % 12 + 1);
}

static void change_lose(pap_net_options_t *options, uint64_t seed)
{
    options->n_cuts = (int32_t) (seed % 3);
    options->n_hosts += options->n_hosts == 1;
    options->lose_for_good = 1;
}

/* The same, but MPI works: half of the jobs lose two connections or three. */
static void change_relay(pap_net_options_t *options, uint64_t seed)
{
    change_lose(options, seed);
    options->lose_for_good += (int32_t) (seed % 3);
    options->relay = 1;
    options->compute_ns = 5 * MS;
    options->delay_ns = 100 * US + (int64_t) (seed % 5) * MS;
}

static void change_churn(pap_net_options_t *options, uint64_t seed)
{
    options->n_keys = 15 + (int32_t) (seed % 10);
    options->n_calls = 150;
    options->n_hosts = 1 + (int32_t) (seed % 4);
    options->n_cuts = (int32_t) (seed % 3);
}

static void change_tight(pap_net_options_t *options, uint64_t seed)
{
    options->compute_ns = 5 * US + (int64_t) (seed % 10) * US;
    options->delay_ns = 1 * MS;
    options->n_calls = 400;
    options->n_keys = 1;
    options->n_hosts = 2 + (int32_t) (seed % 3);
    options->hints = 0;
}

/* Everybody on one host, and the thread at once there: nothing but the period makes records
 * rare. */
static void change_quick(pap_net_options_t *options, uint64_t seed)
{
    options->compute_ns = 5 * US + (int64_t) (seed % 10) * US;
    options->n_calls = 400;
    options->n_keys = 1;
    options->n_hosts = 1;
    options->hints = 0;
}

/* Ranks begin calls before earlier ones have ended, or have been answered, each in its own time. */
static void change_overlap(pap_net_options_t *options, uint64_t seed)
{
    options->max_open = 2 + (int32_t) (seed % 3);
    options->n_calls = 40 + (int32_t) (seed % 80);
    options->n_keys = 1 + (int32_t) (seed % 4);
    if (seed % 5 == 0) { /* pushed out while their calls are open */
        options->n_keys = 15 + (int32_t) (seed % 9);
        options->n_calls = 150;
    }
    options->compute_ns = seed % 3 == 0 ? 20 * US : 200 * US;
    options->n_cuts = seed % 4 == 1 ? (int32_t) (seed % 7) : 0;
    options->lose_for_good = seed % 16 == 2 && options->n_hosts > 1;
}

/* Ranks may go ahead of each other for some calls, and now and then one stands still for long: the
 * others go without. */
static void change_patience(pap_net_options_t *options, uint64_t seed)
{
    options->synchronous_percent = 30;
    options->patience_ns = 3 * MS;
    options->delay_ns = 100 * US;
    options->n_hosts = 2 + (int32_t) (seed % 8);
    options->n_calls = 100;
    options->compute_ns = 10 * MS;
}

/* Few calls, ranks that are away for long before one of them, and connections that go: at the end
 * some are through while others are away, or in doubt. */
static void change_free(pap_net_options_t *options, uint64_t seed)
{
    change_relay(options, seed);
    options->lose_for_good = (int32_t) (seed % 4);
    options->n_hosts = 2 + (int32_t) (seed / 4 % 5);
    options->n_calls = 2 + (int32_t) (seed / 3 % 8);
    options->synchronous_percent = 0;
    options->away_ns = seed % 2 == 0 ? 4 * CLV_NS_PER_S : 200 * MS;
    options->frees = 1;
    options->limit_ns = FREE_LIMIT_NS;
}

static void change_free_deaths(pap_net_options_t *options, uint64_t seed)
{
    change_free(options, seed);
    options->n_deaths = 1;
}

static void who_frees_leaves_nobody_in_doubt(void **state)
{
    (void) state;
    totals_t totals;
    run_jobs("free", n_jobs() / 2, change_free, &totals);
    print_free(&totals);
    assert_int_equal(totals.abandoned, 0);
    assert_true(totals.away > 0 && totals.letters > 0 && totals.late > 0 && totals.stays > 0);
    assert_true(totals.worst_free_ns <= FREE_LIMIT_NS);
}

static void who_dies_holds_nobody(void **state)
{
    (void) state;
    totals_t totals;
    run_jobs("free, one node dies", n_jobs() / 5, change_free_deaths, &totals);
    print_free(&totals);
    assert_true(totals.worst_free_ns <= FREE_LIMIT_NS);
}

/* Without the limit one who died holds its parent, and without waiting somebody stays in doubt. */
static void freeing_otherwise_is_found_out(void **state)
{
    (void) state;
    int32_t n_held = 0, n_in_doubt = 0;
    const uint64_t n = (uint64_t) clv_share_of(2000);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t seed = first_seed + i;
        pap_net_options_t options = draw(seed);
        pap_net_result_t result;
        change_free_deaths(&options, seed);
        options.limit_ns = 0;
        pap_net_run(&options, &result);
        n_held += result.broken != NULL;
        options = draw(seed);
        change_free(&options, seed);
        options.plant = 3;
        pap_net_run(&options, &result);
        n_in_doubt += result.broken != NULL;
    }
    printf("# of %d jobs each: %d where one who frees is held for ever, %d where one asks in "
           "vain\n",
           (int) n, n_held, n_in_doubt);
    assert_true(n_held > 0 && (n_in_doubt > 0 || clv_draws_few())); /* 40 jobs, an eighth of them */
}

static void nobody_waits_longer_than_asking_takes(void **state)
{
    (void) state;
    totals_t totals;
    /* 9 hosts: 3 hops up, 3 down. With hints one may wait for two forecasts. */
    const int64_t longest_way_ns = 2 * 3 * 150 * US;
    run_jobs("patience", n_jobs() / 10, change_patience, &totals);
    printf("# longest wait for a forecast %lld us\n", (long long) (totals.worst_wait_ns / US));
    assert_true(totals.voids > 0);
    assert_true(totals.with_forecast * 4 > totals.calls);
    assert_true(totals.worst_wait_ns <= 2 * (3 * MS + longest_way_ns));
}

static void late_ranks_and_delays_leave_forecasts_equal(void **state)
{
    (void) state;
    totals_t totals;
    run_jobs("delays", n_jobs() * 3 / 10, change_nothing, &totals);
    assert_true(totals.with_forecast * 4 > totals.calls);
    assert_true(totals.announced > 0);
    assert_int_equal(totals.lost, 0);
}

static void links_that_come_back_leave_forecasts_equal(void **state)
{
    (void) state;
    totals_t totals;
    run_jobs("cuts", n_jobs() * 4 / 10, change_cuts, &totals);
    assert_true(totals.with_forecast * 4 > totals.calls);
    assert_true(totals.stale > 0);
}

static void a_link_lost_for_good_ends_predictions_for_all(void **state)
{
    (void) state;
    totals_t totals;
    run_jobs("lost", n_jobs() * 2 / 10, change_lose, &totals);
    assert_true(totals.lost > 0);
}

/* Nobody guesses, and nobody waits longer than it takes to find out, on all ways to host 0. */
static void a_channel_lost_for_good_is_settled_over_mpi(void **state)
{
    (void) state;
    totals_t totals;
    run_jobs("relay", n_jobs() * 2 / 10, change_relay, &totals);
    printf("# %lld connections took the relay, longest wait for a forecast %lld ms\n",
           (long long) totals.relays, (long long) (totals.worst_wait_ns / MS));
    assert_true(totals.relays * 20 > totals.jobs);
    assert_int_equal(totals.abandoned, 0);
    assert_int_equal(totals.wrong, 0);
    assert_true(totals.worst_wait_ns <=
                PAP_NET_FIND_NS + PAP_NET_LOST_NS + PAP_NET_RELAY_NS + LATE_RANK_NS);
}

static void streams_that_push_each_other_out_leave_forecasts_equal(void **state)
{
    (void) state;
    totals_t totals;
    run_jobs("churn", n_jobs() / 20, change_churn, &totals);
    assert_true(totals.evictions > 0);
}

static void calls_that_overlap_leave_forecasts_equal(void **state)
{
    (void) state;
    totals_t totals;
    run_jobs("overlap", n_jobs() / 5, change_overlap, &totals);
    printf("# of these %lld were begun while another was open, %lld of them came in later\n",
           (long long) totals.overlapped, (long long) totals.late_turns);
    assert_true(totals.overlapped * 4 > totals.calls);
    assert_true(totals.late_turns > 0);
    assert_true(totals.with_forecast > 0);
    assert_true(totals.announced > 0 || clv_draws_few()); /* few jobs have one */
    assert_true(totals.evictions > 0);
}

static void a_tight_loop_is_sampled_rarely(void **state)
{
    (void) state;
    totals_t totals;
    run_jobs("tight loop", n_jobs() / 20, change_tight, &totals);
    assert_true(totals.max_sample_every > 50);
    assert_true(totals.waits * 10 < totals.calls);
}

/* The wait for a forecast would allow a record in each call: a loop takes 50 us, the exchange 2. */
static void a_quick_exchange_is_not_asked_in_each_call(void **state)
{
    (void) state;
    totals_t totals;
    run_jobs("quick exchange", n_jobs() / 50, change_quick, &totals);
    assert_true(totals.record_sets * 6 < totals.jobs * 400);
}

/* The checks above must be able to fail: one rank that says something else is found out. */
static void a_planted_disagreement_is_caught(void **state)
{
    (void) state;
    for (uint64_t i = 0; i < (uint64_t) clv_share_of(200); i++) {
        pap_net_options_t options = draw(first_seed + i);
        pap_net_result_t result;
        options.n_hosts += options.n_hosts == 1;
        options.n_keys = 1;
        options.key_burst = 1;
        options.n_calls = 60;
        options.hints = 0;
        options.invalid_calls = 0; /* so that every call is sampled; as is this: */
        options.synchronous_percent = 100;
        options.compute_ns = 5 * MS;
        options.delay_ns = 50 * US;
        options.plant = 1 + (int32_t) (i % 2);
        pap_net_run(&options, &result);
        assert_null(result.broken);
        assert_true(result.disagreements > 0);
        assert_int_equal(result.lost_reason, CLV_PAP_LOST_DISAGREE);
    }
}

/* 1024 ranks on 64 hosts, 30 us and 1 Gb/s: what one record set costs. */
static void a_thousand_ranks_agree_in_milliseconds(void **state)
{
    (void) state;
    if (clv_is_left_out()) {
        skip();
    }
    pap_net_options_t options = {.seed = first_seed,
                                 .n_hosts = 64,
                                 .ranks_per_host = 16,
                                 .n_calls = 20,
                                 .n_keys = 1,
                                 .key_burst = 1,
                                 .synchronous_percent = 100,
                                 .compute_ns = 50 * MS,
                                 .delay_ns = 30 * US,
                                 .bytes_per_ns = 0.125};
    pap_net_result_t result;
    pap_net_run(&options, &result);
    assert_null(result.broken);
    /* The first exchange waits for connections that come up within 50 ms, so K may be 4 at first:
     * it is 3 latencies per interval of 50 ms and more, and half of that with each record set after
     * it. */
    assert_true(result.record_sets >= 14);
    printf(
        "# 1024 ranks, 64 nodes, 30 us, 1 Gb/s: %d hops up and %d down, %lld messages and %.2f MB "
        "per record set, %.0f kB of it by node 0, longest message %lld bytes, last record to last "
        "node: %.2f ms\n",
        clv_pap_tree_depth(63), clv_pap_tree_depth(63),
        (long long) (result.messages / result.record_sets),
        (double) result.bytes / (double) result.record_sets / 1e6,
        (double) result.top_bytes / (double) result.record_sets / 1e3,
        (long long) result.max_message_bytes, (double) result.worst_latency_ns / 1e6);
    assert_true(result.max_message_bytes <= (int64_t) clv_pap_wire_max_bytes(1024));
    assert_true(result.worst_latency_ns < 20 * MS);
}

int main(void)
{
    cs_random_t random;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(late_ranks_and_delays_leave_forecasts_equal),
        cmocka_unit_test(links_that_come_back_leave_forecasts_equal),
        cmocka_unit_test(a_link_lost_for_good_ends_predictions_for_all),
        cmocka_unit_test(a_channel_lost_for_good_is_settled_over_mpi),
        cmocka_unit_test(who_frees_leaves_nobody_in_doubt),
        cmocka_unit_test(who_dies_holds_nobody),
        cmocka_unit_test(freeing_otherwise_is_found_out),
        cmocka_unit_test(streams_that_push_each_other_out_leave_forecasts_equal),
        cmocka_unit_test(calls_that_overlap_leave_forecasts_equal),
        cmocka_unit_test(nobody_waits_longer_than_asking_takes),
        cmocka_unit_test(a_tight_loop_is_sampled_rarely),
        cmocka_unit_test(a_quick_exchange_is_not_asked_in_each_call),
        cmocka_unit_test(a_planted_disagreement_is_caught),
        cmocka_unit_test(a_thousand_ranks_agree_in_milliseconds),
    };
    (void) cs_random_seed_from_environment(&random);
    first_seed = cs_random_u64(&random) >> 1; /* the jobs of two seeds are others */
    return clv_run_tests(tests);
}
