/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is chosen for allreduces: the plain ring without a forecast, the cut ring where one rank is
 * late, and how far it is trusted; helper trees for many ranks of a fast network.
 */
#include "choose/choose.h"
#include "choose/choose_previous.h"
#include "tests/support/test.h"

#define N_RANKS 8
#define N_MANY  48
#define VECTOR  (2 << 20)

static clv_choose_config_t config;
static clv_choose_state_t state;
static int64_t predicted_ns[N_MANY];
static clv_pap_forecast_t forecast;
static const clv_pap_stream_key_t key = {.collective = CLV_COLLECTIVE_ALLREDUCE,
                                         .total_bytes = VECTOR};

static int64_t vector_ns(void)
{
    return clv_cost_round_ns(&config.cost, VECTOR);
}

/* Ranks of which the last is so many vectors late, on 400 Mb/s links; what ran was as estimated. */
static void begin(int32_t n_ranks, int64_t vectors)
{
    config = (clv_choose_config_t){
        .n_ranks = n_ranks,
        .allreduce_algorithm = CLV_ALGORITHM_AUTO,
        .guard_permille = 200,
        .max_cells = CLV_CHOOSE_MAX_CELLS,
        .cost = {.latency_ns = 60000, .byte_ps = 20000, .early_bytes = 32768}};
    memset(&state, 0, sizeof state);
    memset(predicted_ns, 0, sizeof predicted_ns);
    state.score[CLV_ALGORITHM_PREVIOUS] =
        (clv_choose_score_t){.n_measured = 2, .ratio_permille = 100000};
    state.running = CLV_ALGORITHM_PLAIN_RING;
    predicted_ns[n_ranks - 1] = vectors * vector_ns();
    forecast = (clv_pap_forecast_t){.n_ranks = n_ranks,
                                    .n_record_sets = 8,
                                    .version = 9,
                                    .sigma_ns = 100000,
                                    .previous_after_ns = -1,
                                    .predicted_ns = predicted_ns};
}

static clv_choose_decision_t choose_for(const clv_pap_stream_key_t *stream)
{
    clv_choose_decision_t decision;
    assert_int_equal(clv_choose(&config, stream, &forecast, &state, NULL, &decision), CLV_OK);
    forecast.version++;
    return decision;
}

static clv_choose_decision_t choose(void)
{
    return choose_for(&key);
}

static void without_a_forecast_the_plain_ring_runs(void **unused)
{
    clv_choose_decision_t decision;
    (void) unused;
    begin(N_RANKS, 0);
    assert_int_equal(clv_choose_without_forecast(&config, &key, &decision), CLV_OK);
    assert_int_equal(decision.algorithm, CLV_ALGORITHM_PLAIN_RING);
    assert_in_range(decision.predicted_after_ns, vector_ns() * 170 / 100, vector_ns() * 195 / 100);
    assert_int_equal(clv_choose_balanced(&config, &key, &decision), CLV_OK);
    assert_int_equal(decision.algorithm, CLV_ALGORITHM_PLAIN_RING);
}

/* Of so many bytes on so many ranks, in permille of a vector's time over a link. */
static int64_t previous_permille(int32_t n_ranks, int64_t n_bytes)
{
    const clv_pap_stream_key_t stream = {.collective = CLV_COLLECTIVE_ALLREDUCE,
                                         .total_bytes = n_bytes};
    clv_choose_decision_t previous = {0};

    begin(n_ranks, 0);
    config.cost.latency_ns = 0;
    assert_int_equal(clv_choose_previous(&config, &stream, NULL, &previous), CLV_OK);
    assert_int_equal(previous.predicted_in_mpi_ns, previous.predicted_after_ns);
    return previous.predicted_after_ns * 1000 / clv_cost_round_ns(&config.cost, n_bytes);
}

static void the_previous_allreduce_halves_the_vector(void **unused)
{
    const int64_t late[N_RANKS] = {[3] = 80000000};
    clv_choose_decision_t together = {0}, previous = {0};

    (void) unused;
    assert_int_equal(previous_permille(8, 128 << 10), 1750);
    assert_int_equal(previous_permille(4, 256 << 10), 1800); /* its first part waits a little */
    assert_int_equal(previous_permille(8, 256 << 10), 2050);
    assert_int_equal(previous_permille(8, 512 << 10), 2500);
    assert_int_equal(previous_permille(8, 2 << 20), 2800);
    assert_int_equal(previous_permille(6, 64 << 10), 3500); /* two ranks beyond four */
    begin(N_RANKS, 0);
    assert_int_equal(clv_choose_previous(&config, &key, NULL, &together), CLV_OK);
    assert_int_equal(clv_choose_previous(&config, &key, late, &previous), CLV_OK);
    assert_int_equal(previous.predicted_after_ns, together.predicted_after_ns);
    assert_int_equal(previous.predicted_in_mpi_ns, together.predicted_in_mpi_ns + 70000000);
}

/* Four hosts of four: its first halves are exchanged inside by slot, over the links by host, where
 * four ranks of each share one. */
static void the_previous_allreduce_crosses_links_where_neighbours_are_apart(void **unused)
{
    static const clv_pap_stream_key_t stream = {.collective = CLV_COLLECTIVE_ALLREDUCE,
                                                .total_bytes = 64 << 10};
    int32_t by_slot[16], by_host[16];
    const int32_t *places[] = {by_slot, by_host};
    static const int64_t permille[] = {1500, 6000};

    (void) unused;
    for (int32_t p = 0; p < 16; p++) {
        by_slot[p] = p / 4;
        by_host[p] = p % 4;
    }
    for (int i = 0; i < 2; i++) {
        clv_choose_decision_t previous = {0};
        begin(16, 0);
        config.cost.latency_ns = 0;
        config.place = places[i];
        assert_int_equal(clv_choose_previous(&config, &stream, NULL, &previous), CLV_OK);
        assert_int_equal(previous.predicted_after_ns * 1000 /
                             clv_cost_round_ns(&config.cost, stream.total_bytes),
                         permille[i]);
    }
    /* Ranks 0 and 2 take part for 1 and 3: only the second of two steps crosses. */
    begin(6, 0);
    config.cost.latency_ns = 0;
    config.place = (const int32_t[]){0, 0, 0, 1, 1, 1};
    clv_choose_decision_t previous = {0};
    assert_int_equal(clv_choose_previous(&config, &stream, NULL, &previous), CLV_OK);
    assert_int_equal(previous.predicted_after_ns * 1000 /
                         clv_cost_round_ns(&config.cost, stream.total_bytes),
                     3000);
}

/* What runs of so many bytes where nothing is known of arrivals. */
static int32_t first_algorithm(int64_t n_bytes)
{
    const clv_pap_stream_key_t stream = {.collective = CLV_COLLECTIVE_ALLREDUCE,
                                         .total_bytes = n_bytes};
    clv_choose_decision_t decision;

    assert_int_equal(clv_choose_without_forecast(&config, &stream, &decision), CLV_OK);
    return decision.algorithm;
}

/* A ring takes as long by the model, and more messages. */
static void short_vectors_stay_with_the_previous_allreduce(void **unused)
{
    (void) unused;
    begin(N_RANKS, 0);
    config.cost.latency_ns = 12000;
    assert_int_equal(first_algorithm(64 << 10), CLV_ALGORITHM_PREVIOUS);
}

/* Emulated, 8 hosts: 8.2 ms against 9.4. */
static void a_ring_of_middle_vectors_gains(void **unused)
{
    (void) unused;
    begin(N_RANKS, 0);
    assert_int_equal(first_algorithm(256 << 10), CLV_ALGORITHM_PLAIN_RING);
}

static void one_late_rank_is_cut_behind(void **unused)
{
    (void) unused;
    begin(N_RANKS, 2);
    clv_choose_decision_t decision = choose();
    assert_int_equal(decision.algorithm, CLV_ALGORITHM_CUT_RING);
    assert_in_range(decision.predicted_after_ns, vector_ns(), vector_ns() * 130 / 100);
}

/* What is predicted is no more than noise: nobody is cut behind. */
static void noise_gives_a_ring_without_cuts(void **unused)
{
    clv_plan_t *plan = NULL, *even = NULL;
    (void) unused;
    begin(N_RANKS, 1);
    forecast.sigma_ns = vector_ns();
    clv_choose_decision_t decision = choose();
    assert_int_equal(clv_choose_plan(&config, &key, &forecast, &decision, &plan), CLV_OK);
    decision.algorithm = CLV_ALGORITHM_PLAIN_RING;
    assert_int_equal(clv_choose_plan(&config, &key, &forecast, &decision, &even), CLV_OK);
    assert_true(clv_plan_hash(plan) == clv_plan_hash(even));
    clv_plan_free(even);
    clv_plan_free(plan);
}

/* The decision's plan under equal arrivals, in permille of the best balanced one. */
static int64_t worst_permille(const clv_choose_decision_t *decision)
{
    const int64_t equal_ns[N_RANKS] = {0};
    clv_estimate_t estimate;
    clv_plan_t *plan = NULL;
    assert_int_equal(clv_choose_plan(&config, &key, &forecast, decision, &plan), CLV_OK);
    assert_int_equal(clv_plan_estimate(plan, equal_ns, NULL, VECTOR, &config.cost, &estimate),
                     CLV_OK);
    clv_plan_free(plan);
    return estimate.after_ns * 1000 / state.balanced.predicted_after_ns;
}

/* With 4 ranks a ring cut at one rank loses up to a third: only who was right is trusted so far. */
static void who_predicts_the_last_rank_is_trusted_with_more(void **unused)
{
    clv_choose_decision_t decision;
    (void) unused;
    begin(4, 2);
    for (int i = 0; i < CLV_POLICY_SURE_SETS; i++) {
        decision = choose();
        assert_true(worst_permille(&decision) <= 1200);
    }
    decision = choose();
    assert_int_equal(decision.algorithm, CLV_ALGORITHM_CUT_RING);
    assert_in_range(worst_permille(&decision), 1201, 1500);
    assert_true(decision.predicted_after_ns < vector_ns() * 130 / 100);

    forecast.mean_error_ns = forecast.worst_error_ns = 2 * vector_ns(); /* the last was another */
    decision = choose();
    assert_true(worst_permille(&decision) <= 1200);
    forecast.mean_error_ns = -1; /* judges nothing: nothing is learned */
    decision = choose();
    assert_int_equal(state.last_right, 0);
}

/* A rank that comes last for sure, by so many vectors, in each of n_right forecasts. */
static clv_choose_decision_t choose_for_a_straggler(int64_t n_bytes, int64_t vectors, int n_right)
{
    const clv_pap_stream_key_t stream = {.collective = CLV_COLLECTIVE_ALLREDUCE,
                                         .total_bytes = n_bytes};
    begin(N_RANKS, 0);
    config.cost.latency_ns = 10000;
    config.ahead_bytes = 64 << 20;
    predicted_ns[N_RANKS - 1] = vectors * clv_cost_round_ns(&config.cost, n_bytes);
    forecast.sigma_ns = 10000;
    for (int i = 0; i < n_right; i++) {
        (void) choose_for(&stream);
    }
    return choose_for(&stream);
}

/* The others have all the time: what counts is how many messages the last one has to handle. */
static void who_surely_comes_long_after_all_others_gets_few_messages(void **unused)
{
    clv_choose_decision_t decision;
    (void) unused;
    decision = choose_for_a_straggler(128 << 10, 12, 20);
    assert_int_equal(decision.algorithm, CLV_ALGORITHM_CUT_RING);
    assert_int_equal(decision.n_segments, 4); /* three would cost too much if it is another one */
    for (int64_t n_bytes = 256 << 10; n_bytes <= 512 << 10; n_bytes *= 2) {
        decision = choose_for_a_straggler(n_bytes, 12, 20);
        assert_int_equal(decision.algorithm, CLV_ALGORITHM_CUT_RING);
        assert_int_equal(decision.n_segments, n_bytes >> 15);
        assert_true(decision.is_far_late);
    }
    decision = choose_for_a_straggler(128 << 10, 12, 4); /* four would cost too much as yet */
    assert_int_equal(decision.n_segments, 8);
    decision = choose_for_a_straggler(128 << 10, 12, 2); /* so would any few */
    assert_false(decision.is_far_late);
    decision = choose_for_a_straggler(128 << 10, 1, 20); /* the others would keep it waiting */
    assert_true(decision.n_segments > 8);
}

/* Ranks beyond the largest count of the table have a segment each, or the ring would be longer. */
static void many_ranks_have_a_segment_each(void **unused)
{
    clv_choose_decision_t decision;
    (void) unused;
    begin(N_RANKS, 0);
    config.n_ranks = 100;
    assert_int_equal(clv_choose_balanced(&config, &key, &decision), CLV_OK);
    assert_int_equal(decision.n_segments % 100, 0);
}

/* 100 Gb/s, 1 us: a ring's hops take longer than its bytes. */
static int32_t chosen_on_a_fast_network(int32_t n_ranks)
{
    begin(n_ranks, 0);
    config.cost = (clv_cost_t){.latency_ns = 1500, .byte_ps = 80, .early_bytes = 32768};
    predicted_ns[n_ranks - 1] = 3 * vector_ns();
    forecast.sigma_ns = 1000;
    return choose().algorithm;
}

static void many_ranks_of_a_fast_network_take_helper_trees(void **unused)
{
    (void) unused;
    assert_int_equal(chosen_on_a_fast_network(N_MANY), CLV_ALGORITHM_HELPER_TREES);
    assert_true(chosen_on_a_fast_network(N_RANKS) != CLV_ALGORITHM_HELPER_TREES);
    begin(N_MANY, 3); /* 400 Mb/s: the bytes take longer */
    config.cost.latency_ns = 10000;
    assert_true(choose().algorithm != CLV_ALGORITHM_HELPER_TREES);
}

static uint64_t fixed_hash(int64_t n_bytes, int16_t max_segments, int32_t *n_segments_p)
{
    const clv_pap_stream_key_t of = {.collective = CLV_COLLECTIVE_ALLREDUCE,
                                     .max_segments = max_segments,
                                     .total_bytes = n_bytes};
    clv_choose_decision_t decision;
    clv_plan_t *plan = NULL;
    assert_int_equal(clv_choose_fixed(&config, &of, &decision, &plan), CLV_OK);
    assert_int_equal(decision.algorithm, CLV_ALGORITHM_PLAIN_RING);
    assert_int_equal(decision.reason, CLV_REASON_REPRODUCIBLE);
    const uint64_t hash = clv_plan_hash(plan);
    *n_segments_p = plan->n_segments;
    clv_plan_free(plan);
    return hash;
}

/* What is measured, forced, or where ranks are, changes nothing of a fixed plan. */
static void a_fixed_plan_depends_on_communicator_and_call_alone(void **unused)
{
    const int32_t place[N_RANKS] = {0, 1, 2, 3, 0, 1, 2, 3};
    int32_t n_segments;
    (void) unused;
    begin(N_RANKS, 2);
    const uint64_t hash = fixed_hash(VECTOR, 4096, &n_segments);
    assert_int_equal(n_segments, 64);
    config.place = place;
    config.cost = (clv_cost_t){.latency_ns = 1, .byte_ps = 3, .early_bytes = 32768};
    config.allreduce_algorithm = CLV_ALGORITHM_CUT_RING;
    config.round_time_ns = 77;
    config.guard_permille = 0;
    assert_true(fixed_hash(VECTOR, 4096, &n_segments) == hash);
    (void) fixed_hash(VECTOR, 5, &n_segments); /* five elements */
    assert_int_equal(n_segments, 5);
    (void) fixed_hash(VECTOR, 23, &n_segments);
    assert_int_equal(n_segments, 16);
    (void) fixed_hash(8, 1, &n_segments);
    assert_int_equal(n_segments, 1);
    (void) fixed_hash(INT64_C(1) << 40, 4096, &n_segments);
    assert_true(n_segments % N_RANKS == 0 && n_segments <= CLV_SCHED_MAX_SEGMENTS);
    assert_true(clv_choose_has_fixed(CLV_COLLECTIVE_ALLREDUCE));
    assert_false(clv_choose_has_fixed(CLV_COLLECTIVE_REDUCE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_forecast_the_plain_ring_runs),
        cmocka_unit_test(the_previous_allreduce_halves_the_vector),
        cmocka_unit_test(the_previous_allreduce_crosses_links_where_neighbours_are_apart),
        cmocka_unit_test(short_vectors_stay_with_the_previous_allreduce),
        cmocka_unit_test(a_ring_of_middle_vectors_gains),
        cmocka_unit_test(one_late_rank_is_cut_behind),
        cmocka_unit_test(noise_gives_a_ring_without_cuts),
        cmocka_unit_test(who_predicts_the_last_rank_is_trusted_with_more),
        cmocka_unit_test(who_surely_comes_long_after_all_others_gets_few_messages),
        cmocka_unit_test(many_ranks_have_a_segment_each),
        cmocka_unit_test(many_ranks_of_a_fast_network_take_helper_trees),
        cmocka_unit_test(a_fixed_plan_depends_on_communicator_and_call_alone),
    };
    return clv_run_tests(tests);
}
