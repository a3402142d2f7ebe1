/* SPDX-License-Identifier: BSD-3-Clause
 *
 * When `auto` takes binomial, Rabenseifner and ring: by a trial that was better, where the estimate
 * was worth it and their plan for equal arrivals passes the guard; by estimates alone only for
 * calls without a forecast.
 */
#include "choose/choose.h"
#include "choose/choose_try.h"
#include "tests/support/test.h"

#define MAX_RANKS 64
#define N_CASES   60
#define N_WRONG   8

static clv_choose_config_t config;
static clv_choose_state_t state;
static int64_t predicted_ns[MAX_RANKS];
static clv_pap_forecast_t forecast;
static clv_pap_stream_key_t key;

/* Equal arrivals on 400 Mb/s links. */
static void begin(int32_t n_ranks, int64_t n_bytes, int64_t latency_ns)
{
    config = (clv_choose_config_t){.n_ranks = n_ranks,
                                   .reduce_algorithm = CLV_ALGORITHM_AUTO,
                                   .guard_permille = 200,
                                   .max_cells = CLV_CHOOSE_MAX_CELLS,
                                   .cost = {.latency_ns = latency_ns, .byte_ps = 20000}};
    key = (clv_pap_stream_key_t){.collective = CLV_COLLECTIVE_REDUCE, .total_bytes = n_bytes};
    memset(&state, 0, sizeof state);
    memset(predicted_ns, 0, sizeof predicted_ns);
    forecast = (clv_pap_forecast_t){.n_ranks = n_ranks,
                                    .n_record_sets = 8,
                                    .version = 9,
                                    .sigma_ns = 100000,
                                    .previous_after_ns = -1,
                                    .sample_every = 1,
                                    .predicted_ns = predicted_ns};
}

static clv_choose_decision_t choose(void)
{
    clv_choose_decision_t decision;

    assert_int_equal(clv_choose(&config, &key, &forecast, &state, NULL, &decision), CLV_OK);
    forecast.version++;
    return decision;
}

static int64_t vectors(int64_t permille)
{
    return clv_cost_round_ns(&config.cost, key.total_bytes) / 1000 * permille;
}

/* What a call takes of its estimate where those of one algorithm take so many permille: plans that
 * need times take twice as long, all others what is estimated. */
static int64_t truth_of(int32_t algorithm, int32_t one, int64_t permille)
{
    return algorithm == one ? permille : clv_algorithm_needs_times(algorithm) ? 2000 : 1000;
}

/* A program that computes 20 ms, 600 calls. Of the last 100, how many ran the algorithm. */
static int play(int32_t algorithm, int64_t permille)
{
    clv_choose_decision_t decided[4] = {{0}};
    int64_t last_arrival_ns = 1;
    int n_ran = 0;

    forecast.version = 0;
    for (int64_t call = 0; call < 600; call++) {
        const clv_choose_decision_t *ran = &decided[(call + 2) % 4]; /* two forecasts ago */
        const int64_t of = truth_of(ran->algorithm, algorithm, permille);
        const clv_pap_progress_t progress = {.call = call, .last_arrival_ns = last_arrival_ns};
        clv_choose_decision_t *now = &decided[call % 4];

        forecast.version++;
        forecast.n_record_sets = call < 8 ? (int32_t) call + 1 : 8;
        forecast.previous_choice = ran->algorithm;
        forecast.previous_after_ns = call < 2 ? -1 : ran->predicted_after_ns / 1000 * of;
        forecast.previous_in_mpi_ns = call < 2 ? -1 : ran->predicted_in_mpi_ns / 1000 * of;
        assert_int_equal(
            clv_choose_shared(&config, &key, &forecast, &progress, 1, &state, NULL, now), CLV_OK);
        assert_true(call >= CLV_CHOOSE_FIRST_CALLS || !clv_algorithm_synchronises(now->algorithm));
        assert_true(!clv_algorithm_synchronises(now->algorithm) || now->n_segments > 0);
        last_arrival_ns += 20000000 + now->predicted_after_ns / 1000 *
                                          truth_of(now->algorithm, algorithm, permille);
        n_ran += call >= 500 && now->algorithm == algorithm;
    }
    assert_in_range(state.iterations.trial.regret_ns, 0, last_arrival_ns / 200);
    return n_ran;
}

static double estimate_ms(int32_t algorithm)
{
    clv_choose_decision_t decision;

    assert_int_equal(clv_choose_balanced_of(&config, &key, algorithm, &decision), CLV_OK);
    return (double) decision.predicted_after_ns / 1e6;
}

/* The table of decision 15 (docs/decisions): halving is ahead of the chain with many ranks and
 * short vectors, and of a tree always. */
static void estimates_say_where(void **unused)
{
    static const int32_t ranks[] = {8, 16, 64};
    static const int64_t bytes[] = {32 << 10, 64 << 10, 256 << 10, 512 << 10};

    (void) unused;
    for (int i = 0; i < 12; i++) {
        begin(ranks[i / 4], bytes[i % 4], 60000);
        print_message("# %d ranks, %d KiB: chain %.2f, latest first %.2f, binomial %.2f, "
                      "rabenseifner %.2f, ring %.2f ms\n",
                      (int) config.n_ranks, (int) (key.total_bytes >> 10),
                      estimate_ms(CLV_ALGORITHM_CHAIN), estimate_ms(CLV_ALGORITHM_LATEST_FIRST),
                      estimate_ms(CLV_ALGORITHM_BINOMIAL), estimate_ms(CLV_ALGORITHM_RABENSEIFNER),
                      estimate_ms(CLV_ALGORITHM_RING));
        assert_true(key.total_bytes > 64 << 10 || config.n_ranks < 16 ||
                    estimate_ms(CLV_ALGORITHM_RABENSEIFNER) < estimate_ms(CLV_ALGORITHM_CHAIN));
        assert_true(estimate_ms(CLV_ALGORITHM_BINOMIAL) > estimate_ms(CLV_ALGORITHM_RABENSEIFNER));
    }
}

/* Two vectors, where the best chain takes more than three. */
static void halving_is_taken_where_a_chain_is_long(void **unused)
{
    const clv_choose_decision_t *made = &state.made[0];

    (void) unused;
    if (clv_is_left_out()) {
        skip();
    }
    begin(64, 256 << 10, 60000);
    assert_in_range(play(CLV_ALGORITHM_RABENSEIFNER, 1000), 90, 100);
    assert_int_equal(state.iterations.incumbent, CLV_ALGORITHM_RABENSEIFNER);
    made = made->algorithm == CLV_ALGORITHM_RABENSEIFNER ? made : &state.made[1];
    assert_in_range(made->predicted_after_ns, vectors(1900), vectors(2300));
}

/* Where two ranks share a host and its link classic plans are looked at now and then: often enough
 * for a trial. */
static void halving_is_taken_where_ranks_share_links(void **unused)
{
    static int32_t place[MAX_RANKS];

    (void) unused;
    if (clv_is_left_out()) {
        skip();
    }
    for (int32_t p = 0; p < MAX_RANKS; p++) {
        place[p] = p / 2;
    }
    begin(64, 64 << 10, 60000);
    config.place = place;
    config.cost.near_latency_ns = 5000;
    config.cost.near_byte_ps = 500;
    config.cost.combine_ps = 100;
    assert_in_range(play(CLV_ALGORITHM_RABENSEIFNER, 1000), 90, 100);
    assert_int_equal(state.iterations.incumbent, CLV_ALGORITHM_RABENSEIFNER);
}

/* Three times its estimate, more than the chain takes: the iteration time has the last word. */
static void what_is_slower_than_estimated_is_left(void **unused)
{
    (void) unused;
    if (clv_is_left_out()) {
        skip();
    }
    begin(64, 256 << 10, 60000);
    assert_in_range(play(CLV_ALGORITHM_RABENSEIFNER, 3000), 0, 20);
    assert_int_not_equal(state.iterations.incumbent, CLV_ALGORITHM_RABENSEIFNER);
    assert_true(state.iterations.back_off[CLV_ALGORITHM_RABENSEIFNER].wait_calls >
                0); /* it was tried */
}

/* A chain in many segments takes one vector, halving two: it does not even pass the guard. */
static void long_vectors_stay_with_the_chain(void **unused)
{
    (void) unused;
    begin(64, 16 << 20, 60000);
    (void) choose();
    for (int32_t a = 0; a < CLV_N_ALGORITHMS; a++) {
        assert_int_equal(state.n_bound_segments[a], 0);
        assert_true(clv_algorithm_synchronises(a) ==
                    (a >= CLV_ALGORITHM_BINOMIAL && a <= CLV_ALGORITHM_RING));
    }
    key.total_bytes = 256 << 10; /* which is asked for each length */
    (void) choose();
    assert_true(state.n_bound_segments[CLV_ALGORITHM_RABENSEIFNER] > 0);
    assert_int_equal(state.n_bound_segments[CLV_ALGORITHM_BINOMIAL], 0); /* six vectors */
    config.guard_permille = 1000000;                                     /* no guard */
    state.balanced_bytes = 0;
    (void) choose();
    assert_true(state.n_bound_segments[CLV_ALGORITHM_BINOMIAL] > 0);
}

/* By the model a ring is a chain that ends where it began, seldom better: the iteration time finds
 * out. */
static void a_ring_is_taken_where_it_is_better_than_estimated(void **unused)
{
    (void) unused;
    if (clv_is_left_out()) {
        skip();
    }
    begin(24, 128 << 10, 60000);
    assert_in_range(play(CLV_ALGORITHM_RING, 500), 90, 100);
    begin(24, 128 << 10, 60000);
    assert_in_range(play(CLV_ALGORITHM_RING, 1000), 0, 40);
}

/* By the model the previous function is a binomial tree, too: that is taken when it is not. */
static void a_tree_is_taken_where_the_previous_function_is_worse(void **unused)
{
    (void) unused;
    begin(32, 32 << 10, 4000000);
    assert_in_range(play(CLV_ALGORITHM_PREVIOUS, 2000), 0, 10);
    assert_int_equal(state.iterations.incumbent, CLV_ALGORITHM_BINOMIAL);
}

static void estimates_alone_take_none_where_there_is_a_forecast(void **unused)
{
    clv_choose_decision_t decision;

    (void) unused;
    begin(64, 256 << 10, 60000);
    assert_int_equal(clv_choose_balanced(&config, &key, &decision), CLV_OK);
    assert_false(
        clv_algorithm_synchronises(decision.algorithm)); /* nor is the guard measured by one */
    for (int objective = CLV_OBJECTIVE_PACE; objective <= CLV_OBJECTIVE_MPI_TIME; objective++) {
        config.objective = objective;
        assert_false(clv_algorithm_synchronises(choose().algorithm));
    }
}

static clv_choose_decision_t without_forecast(int32_t fallback)
{
    clv_choose_decision_t decision;

    config.fallback = fallback;
    assert_int_equal(clv_choose_without_forecast(&config, &key, &decision), CLV_OK);
    return decision;
}

static void without_a_forecast_runs_what_the_user_names(void **unused)
{
    (void) unused;
    begin(8, 2 << 20, 60000);
    assert_int_equal(without_forecast(CLV_FALLBACK_PREVIOUS).algorithm, CLV_ALGORITHM_PREVIOUS);
    assert_int_equal(without_forecast(CLV_FALLBACK_BINOMIAL).algorithm, CLV_ALGORITHM_BINOMIAL);
    assert_int_equal(without_forecast(CLV_FALLBACK_RABENSEIFNER).algorithm,
                     CLV_ALGORITHM_RABENSEIFNER);
    assert_int_equal(without_forecast(CLV_FALLBACK_RING).algorithm, CLV_ALGORITHM_RING);
    config.reduce_algorithm = CLV_ALGORITHM_CHAIN; /* a forced algorithm is for every call */
    assert_int_equal(without_forecast(CLV_FALLBACK_RING).algorithm, CLV_ALGORITHM_CHAIN);
    config.allreduce_algorithm = CLV_ALGORITHM_AUTO;
    key.collective = CLV_COLLECTIVE_ALLREDUCE; /* whose ring is another one */
    assert_int_equal(without_forecast(CLV_FALLBACK_RING).algorithm,
                     without_forecast(CLV_FALLBACK_AUTO).algorithm);
}

/* All but the 5 % that a fixed order, and the previous function, are preferred by. */
static void check_auto_ends_first(void)
{
    const int64_t after_ns = without_forecast(CLV_FALLBACK_AUTO).predicted_after_ns;

    for (int32_t other = CLV_FALLBACK_PREVIOUS; other <= CLV_FALLBACK_RING; other++) {
        assert_in_range(after_ns / 1000 * CLV_POLICY_CLEAR_PERMILLE, 0,
                        without_forecast(other).predicted_after_ns);
    }
}

static void without_a_forecast_auto_takes_what_is_estimated_to_end_first(void **unused)
{
    (void) unused;
    for (int32_t n_ranks = 4; n_ranks <= MAX_RANKS; n_ranks *= 2) {
        for (int64_t n_bytes = 64 << 10; n_bytes <= 2 << 20; n_bytes *= 2) {
            for (int64_t latency_ns = 2000; latency_ns <= 2000000; latency_ns *= 10) {
                begin(n_ranks, n_bytes, latency_ns);
                check_auto_ends_first();
            }
        }
    }
    begin(48, 32 << 10, 60000); /* a chain is too long, a tree sends whole vectors */
    assert_int_equal(without_forecast(CLV_FALLBACK_AUTO).algorithm, CLV_ALGORITHM_RABENSEIFNER);
    begin(8, 2 << 20, 60000);
    assert_int_equal(without_forecast(CLV_FALLBACK_AUTO).algorithm, CLV_ALGORITHM_RANK_CHAIN);
}

/* The call waits for the comparison, which takes many ranks, or shared links, too long. */
static void where_comparing_takes_long_auto_takes_no_classic_one(void **unused)
{
    static int32_t place[48];

    (void) unused;
    begin(1024, 64 << 10, 60000);
    assert_false(clv_algorithm_synchronises(without_forecast(CLV_FALLBACK_AUTO).algorithm));
    begin(48, 32 << 10, 60000);
    for (int32_t p = 0; p < 48; p++) {
        place[p] = p / 8;
    }
    config.place = place;
    assert_false(clv_algorithm_synchronises(without_forecast(CLV_FALLBACK_AUTO).algorithm));
    assert_int_equal(without_forecast(CLV_FALLBACK_RING).algorithm, CLV_ALGORITHM_RING);
}

static void an_order_that_matters_has_none(void **unused)
{
    const clv_call_facts_t ordered = {.n_ranks = 8, .count = 8, .commutes = 0};

    (void) unused;
    for (int a = CLV_ALGORITHM_BINOMIAL; a <= CLV_ALGORITHM_RING; a++) {
        assert_int_equal(clv_algorithm_unfit(a, &ordered), CLV_REASON_NOT_COMMUTATIVE);
    }
    assert_int_equal(clv_algorithm_unfit(CLV_ALGORITHM_AUTO, &ordered), CLV_REASON_NOT_COMMUTATIVE);
}

/* ---- any network ----------------------------------------------------------------------------- */

static void draw_arrivals(int64_t *arrival_ns)
{
    const int64_t spread_ns = 1 + vectors(1000) / 4 * (rand() % 32);

    for (int32_t p = 0; p < config.n_ranks; p++) {
        arrival_ns[p] = rand() % spread_ns;
    }
}

static void check_bound(int32_t algorithm, int64_t limit_ns)
{
    const clv_choose_decision_t decision = {.algorithm = algorithm,
                                            .n_segments = state.n_bound_segments[algorithm],
                                            .round_ns = 1 + rand() % 1000000};
    int64_t arrival_ns[MAX_RANKS];
    clv_estimate_t estimate;
    clv_plan_t *plan = NULL;
    char reason[200];

    assert_int_equal(clv_choose_plan(&config, &key, &forecast, &decision, &plan), CLV_OK);
    assert_int_equal(clv_plan_validate(plan, reason, sizeof reason), CLV_OK);
    for (int i = 0; i < N_WRONG; i++) {
        draw_arrivals(arrival_ns);
        assert_int_equal(
            clv_plan_estimate(plan, arrival_ns, NULL, key.total_bytes, &config.cost, &estimate),
            CLV_OK);
        assert_in_range(estimate.after_ns, 0, limit_ns);
    }
    clv_plan_free(plan);
}

/* Whatever passes stays within the guard for any arrivals. */
static void what_passes_is_a_plan_within_the_guard(void **unused)
{
    int n_passed[CLV_N_ALGORITHMS] = {0};

    (void) unused;
    for (int i = 0; i < N_CASES; i++) {
        begin(3 + rand() % (MAX_RANKS - 2), INT64_C(1) << (13 + rand() % 10), 1000 << rand() % 11);
        key.root = rand() % config.n_ranks;
        draw_arrivals(predicted_ns);
        (void) choose();
        for (int32_t a = 0; a < CLV_N_ALGORITHMS; a++) {
            assert_true(clv_algorithm_synchronises(a) || state.n_bound_segments[a] == 0);
            if (state.n_bound_segments[a] > 0) {
                n_passed[a]++;
                check_bound(a, state.balanced.predicted_after_ns / 1000 * 1201 + 1000);
            }
        }
    }
    print_message("# of %d passed: binomial %d, rabenseifner %d, ring %d\n", N_CASES,
                  n_passed[CLV_ALGORITHM_BINOMIAL], n_passed[CLV_ALGORITHM_RABENSEIFNER],
                  n_passed[CLV_ALGORITHM_RING]);
    assert_true(n_passed[CLV_ALGORITHM_RABENSEIFNER] > 0 && n_passed[CLV_ALGORITHM_RING] > 0);
}

int main(void)
{
    const char *asked = getenv("CLV_SEED");
    const unsigned seed = asked == NULL ? 20261122U : (unsigned) strtoul(asked, NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_say_where),
        cmocka_unit_test(halving_is_taken_where_a_chain_is_long),
        cmocka_unit_test(halving_is_taken_where_ranks_share_links),
        cmocka_unit_test(what_is_slower_than_estimated_is_left),
        cmocka_unit_test(long_vectors_stay_with_the_chain),
        cmocka_unit_test(a_ring_is_taken_where_it_is_better_than_estimated),
        cmocka_unit_test(a_tree_is_taken_where_the_previous_function_is_worse),
        cmocka_unit_test(estimates_alone_take_none_where_there_is_a_forecast),
        cmocka_unit_test(without_a_forecast_runs_what_the_user_names),
        cmocka_unit_test(without_a_forecast_auto_takes_what_is_estimated_to_end_first),
        cmocka_unit_test(where_comparing_takes_long_auto_takes_no_classic_one),
        cmocka_unit_test(an_order_that_matters_has_none),
        cmocka_unit_test(what_passes_is_a_plan_within_the_guard),
    };

    srand(seed);
    print_message("# seed %u\n", seed);
    return clv_run_tests(tests);
}
