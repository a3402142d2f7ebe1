/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What decides beside estimates: pauses that nobody recorded, and decoupled ranks, which have
 * come as a fixed order lets them.
 */
#include "choose/choose.h"
#include "choose/choose_levels.h"
#include "choose/choose_try.h"
#include "tests/support/test.h"

#define N_RANKS      8
#define MS           INT64_C(1000000)
#define ITERATION_MS 5
#define N_BETWEEN    10 /* calls from one record set to the next */

static clv_choose_config_t config;
static clv_choose_state_t state;
static int64_t predicted_ns[N_RANKS];
static clv_pap_forecast_t forecast;
static clv_pap_progress_t progress;
static const clv_pap_stream_key_t key = {.collective = CLV_COLLECTIVE_REDUCE,
                                         .total_bytes = 256 << 10};

/* A stream with an incumbent, 5 ms an iteration, most of them computing. */
static void begin(int32_t incumbent)
{
    config = (clv_choose_config_t){.n_ranks = N_RANKS,
                                   .reduce_algorithm = CLV_ALGORITHM_AUTO,
                                   .guard_permille = 200,
                                   .max_cells = CLV_CHOOSE_MAX_CELLS,
                                   .cost = {.latency_ns = 60000, .byte_ps = 20000}};
    memset(predicted_ns, 0, sizeof predicted_ns);
    state = (clv_choose_state_t){.running = incumbent};
    state.iterations = (clv_choose_iterations_t){.version = 8,
                                                 .call = 100,
                                                 .last_arrival_ns = 1000 * MS,
                                                 .computing_ns = 4 * MS,
                                                 .incumbent = incumbent,
                                                 .trial.budget_ns = 20 * MS};
    for (int i = 0; i < CLV_CHOOSE_BLOCKS; i++) {
        clv_choose_blocks_add(&state.iterations.blocks, ITERATION_MS * MS);
    }
    forecast = (clv_pap_forecast_t){.n_ranks = N_RANKS,
                                    .n_record_sets = 8,
                                    .version = 8,
                                    .sigma_ns = 100000,
                                    .previous_choice = incumbent,
                                    .previous_after_ns = MS,
                                    .sample_every = N_BETWEEN,
                                    .predicted_ns = predicted_ns};
    progress =
        (clv_pap_progress_t){.call = 100, .last_arrival_ns = 1000 * MS, .computing_ns = 4 * MS};
}

/* The next record set comes so much later. */
static void account_for_calls(int64_t n_calls, int64_t elapsed_ms)
{
    forecast.version++;
    progress.call += n_calls;
    progress.last_arrival_ns += elapsed_ms * MS;
    clv_choose_try_account(&config, &forecast, &progress, &state.iterations);
}

static void account_for(int64_t elapsed_ms)
{
    account_for_calls(N_BETWEEN, elapsed_ms);
}

static void begin_trial(int32_t algorithm)
{
    state.iterations.trial.is_on = 1;
    state.iterations.trial.algorithm = algorithm;
    state.iterations.trial.needed_permille = 990;
    forecast.previous_choice = algorithm;
}

/* 300 ms pass before a call without a record, in a trial or not; computing before the recorded one
 * is as ever. */
static void a_pause_that_no_record_tells_of_costs_no_trial(void **unused)
{
    (void) unused;
    for (int is_trial = 0; is_trial < 2; is_trial++) {
        begin(CLV_ALGORITHM_CHAIN);
        if (is_trial) {
            begin_trial(CLV_ALGORITHM_PREVIOUS);
        }
        account_for(N_BETWEEN * ITERATION_MS + 300);
        assert_true(state.iterations.n_pauses > 0);
        assert_int_equal(state.iterations.trial.is_on, is_trial);
        assert_int_equal(state.iterations.trial.loss_ns, 0);
        assert_int_equal(state.iterations.trial.budget_ns, 20 * MS);
        assert_int_equal(state.iterations.n_odd, 0);
        account_for(N_BETWEEN * ITERATION_MS);
        assert_false(state.iterations.n_pauses > 0);
    }
}

/* There is no incumbent yet: calls that ran who knows what tell what is usual. */
static void a_pause_before_there_is_an_iteration_time_is_not_in_it(void **unused)
{
    (void) unused;
    for (int is_pause = 0; is_pause < 2; is_pause++) {
        begin(CLV_ALGORITHM_CHAIN);
        state.iterations.blocks.n_blocks = 0;
        forecast.previous_choice = -1;
        account_for(N_BETWEEN * ITERATION_MS);
        account_for(N_BETWEEN * ITERATION_MS);
        forecast.previous_choice = CLV_ALGORITHM_CHAIN;
        account_for(N_BETWEEN * ITERATION_MS + is_pause * 300);
        assert_int_equal(state.iterations.n_pauses > 0, is_pause);
        for (int i = 0; i < 3; i++) {
            account_for(N_BETWEEN * ITERATION_MS);
        }
        assert_int_equal(clv_choose_blocks_middle(&state.iterations.blocks), ITERATION_MS * MS);
    }
}

/* A program that goes over to longer calls pauses no more than once. */
static void another_iteration_time_before_there_is_one_is_no_pause(void **unused)
{
    (void) unused;
    begin(CLV_ALGORITHM_CHAIN);
    state.iterations.blocks.n_blocks = 0;
    account_for(N_BETWEEN * ITERATION_MS);
    for (int i = 0; i < 8; i++) {
        account_for(N_BETWEEN * 8 * ITERATION_MS);
    }
    assert_false(state.iterations.n_pauses > 0);
    assert_in_range(clv_choose_blocks_middle(&state.iterations.blocks), ITERATION_MS * MS,
                    8 * ITERATION_MS * MS);
    assert_true(state.iterations.blocks.n_blocks > 0);
}

/* What the calls themselves say that they take is no pause. */
static void slow_calls_are_no_pause(void **unused)
{
    (void) unused;
    begin(CLV_ALGORITHM_CHAIN);
    begin_trial(CLV_ALGORITHM_PREVIOUS);
    forecast.previous_after_ns = 30 * MS;
    account_for(N_BETWEEN * (4 + 30));
    assert_false(state.iterations.n_pauses > 0);
    assert_false(state.iterations.trial.is_on); /* over its budget */
    assert_int_equal(state.iterations.trial.loss_ns, N_BETWEEN * (4 + 30 - ITERATION_MS) * MS);
}

/* Two on end may be by chance, where few samples have none in them. */
static void three_pauses_on_end_are_another_program(void **unused)
{
    (void) unused;
    begin(CLV_ALGORITHM_CHAIN);
    begin_trial(CLV_ALGORITHM_PREVIOUS);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(state.iterations.trial.loss_ns, 0);
        account_for(N_BETWEEN * ITERATION_MS + 300);
        assert_int_equal(state.iterations.n_pauses > 0, i < 2);
    }
    assert_int_equal(state.iterations.trial.loss_ns, 300 * MS);
}

/* Also when the interval says nothing, since the forecast before it never came: computing that long
 * is not usual until a second time. */
static void a_pause_is_no_computing(void **unused)
{
    (void) unused;
    begin(CLV_ALGORITHM_CHAIN);
    forecast.previous_choice = -1;
    progress.computing_ns = 3000 * MS;
    account_for(N_BETWEEN * ITERATION_MS + 3000);
    assert_true(state.iterations.n_pauses > 0);
    assert_int_equal(state.iterations.computing_ns, 4 * MS);
    assert_int_equal(state.iterations.trial.budget_ns, 20 * MS);
    account_for(N_BETWEEN * ITERATION_MS + 3000);
    assert_false(state.iterations.n_pauses > 0);
    assert_int_equal(state.iterations.computing_ns, 753 * MS);
}

/* Every other record set is of a call that had no forecast and ran the incumbent. */
static void a_trial_whose_blocks_do_not_get_full_ends(void **unused)
{
    int n_forecasts = 0;

    (void) unused;
    begin(CLV_ALGORITHM_CHAIN);
    begin_trial(CLV_ALGORITHM_PREVIOUS);
    while (state.iterations.trial.is_on && n_forecasts < 1000) {
        forecast.previous_choice =
            n_forecasts % 2 == 0 ? CLV_ALGORITHM_PREVIOUS : CLV_ALGORITHM_CHAIN;
        account_for_calls(1, ITERATION_MS);
        n_forecasts++;
    }
    assert_int_equal(n_forecasts, 73);
    assert_int_equal(state.iterations.trial.regret_ns, 0);
    assert_true(state.iterations.back_off[CLV_ALGORITHM_PREVIOUS].wait_calls > 0);
}

static int32_t decide(void)
{
    clv_choose_decision_t decision;

    forecast.version++;
    progress.call += N_BETWEEN;
    progress.last_arrival_ns += N_BETWEEN * ITERATION_MS * MS;
    assert_int_equal(
        clv_choose_shared(&config, &key, &forecast, &progress, 1, &state, NULL, &decision), CLV_OK);
    return decision.algorithm;
}

/* The chain sorted by arrival is estimated to gain, the fixed order, by arrivals as they are while
 * the previous reduce runs, is not; but nobody waits for anybody in it. */
static void free_ranks_try_a_fixed_order_first(void **unused)
{
    (void) unused;
    for (int is_decoupled = 0; is_decoupled < 2; is_decoupled++) {
        begin(CLV_ALGORITHM_PREVIOUS);
        state.score[CLV_ALGORITHM_RANK_CHAIN] =
            (clv_choose_score_t){.n_measured = 2, .ratio_permille = 2000};
        forecast.previous_after_ns = -1;
        progress.is_decoupled = is_decoupled;
        (void) decide();
        assert_true(state.iterations.trial.is_on);
        assert_int_equal(state.iterations.trial.algorithm == CLV_ALGORITHM_RANK_CHAIN,
                         is_decoupled);
    }
}

/* Ranks come in the order of the chain by rank, far apart: its estimate is then the best there is,
 * and says nothing of the next calls. With one rank per place host_chains is no candidate. */
static void arrivals_do_not_decide_between_fixed_orders(void **unused)
{
    int32_t place[N_RANKS];

    (void) unused;
    for (int shares = 0; shares < 2; shares++) {
        const int32_t fixed = shares ? CLV_ALGORITHM_HOST_CHAINS : CLV_ALGORITHM_RANK_CHAIN;

        begin(fixed);
        state.iterations.blocks = (clv_choose_blocks_t){0};
        for (int32_t p = 0; p < N_RANKS; p++) {
            place[p] = p / 2;
            predicted_ns[p] = (N_RANKS - p) * 60 * MS;
        }
        predicted_ns[0] = N_RANKS * 60 * MS;
        config.place = shares ? place : NULL;
        config.cost.near_byte_ps = 500;
        forecast.previous_after_ns = -1;
        for (int i = 0; i < 10; i++) {
            assert_int_not_equal(decide(),
                                 shares ? CLV_ALGORITHM_RANK_CHAIN : CLV_ALGORITHM_HOST_CHAINS);
        }
        assert_int_equal(state.fixed, fixed);
    }
}

/* A search that came across no plan. */
static clv_choose_search_t nothing_found(void)
{
    clv_choose_search_t search = {.config = &config, .state = &state};

    for (int32_t a = 0; a < CLV_N_ALGORITHMS; a++) {
        search.score[a] = -1;
    }
    return search;
}

/* A stream whose slowest rank computes for that part of an iteration, and something else that is
 * estimated to be better; what ranks were seen to do lies so many record sets back. */
static clv_choose_search_t computing_for(int32_t permille, int32_t incumbent, int32_t other,
                                         int has_been_decoupled)
{
    clv_choose_search_t search = nothing_found();

    begin(incumbent);
    state.iterations.has_been_decoupled = has_been_decoupled;
    state.iterations.trial.budget_ns = 1000 * MS;
    state.iterations.computing_ns = ITERATION_MS * MS / 1000 * permille;
    search.score[incumbent] = 40 * MS;
    search.score[other] = 30 * MS;
    return search;
}

static int tries(int32_t permille, int32_t incumbent, int32_t other, int has_been_decoupled)
{
    const clv_choose_search_t search =
        computing_for(permille, incumbent, other, has_been_decoupled);

    clv_choose_try_next(&search, &forecast);
    return state.iterations.trial.is_on;
}

/* A trial is to gain more than blocks scatter, 2 %, and nothing is faster than the slowest
 * computes. But what makes ranks wait hides that a fixed order would be faster than the slowest of
 * each call. */
static void ranks_decoupled_at_the_slowest_s_speed_try_nothing(void **unused)
{
    static const int32_t others[] = {CLV_ALGORITHM_CHAIN, CLV_ALGORITHM_LATEST_FIRST,
                                     CLV_ALGORITHM_PREVIOUS, CLV_ALGORITHM_HOST_CHAINS};

    (void) unused;
    for (int i = 0; i < 4; i++) {
        assert_true(tries(1000, CLV_ALGORITHM_RANK_CHAIN, others[i], 0));
        assert_false(tries(1000, CLV_ALGORITHM_RANK_CHAIN, others[i], 1));
        assert_false(tries(985, CLV_ALGORITHM_RANK_CHAIN, others[i], 1));
        assert_true(tries(975, CLV_ALGORITHM_RANK_CHAIN, others[i], 1));
    }
    assert_true(tries(1000, CLV_ALGORITHM_PREVIOUS, CLV_ALGORITHM_RANK_CHAIN, 1));
    assert_true(tries(1000, CLV_ALGORITHM_PREVIOUS, CLV_ALGORITHM_CHAIN, 1));
}

/* Ranks show within the trial that they can be decoupled. */
static void a_trial_that_cannot_gain_ends(void **unused)
{
    (void) unused;
    for (int has_been_decoupled = 0; has_been_decoupled < 2; has_been_decoupled++) {
        const clv_choose_search_t search =
            computing_for(1000, CLV_ALGORITHM_RANK_CHAIN, CLV_ALGORITHM_CHAIN, has_been_decoupled);
        begin_trial(CLV_ALGORITHM_CHAIN);
        clv_choose_try_next(&search, &forecast);
        assert_int_equal(state.iterations.trial.is_on, !has_been_decoupled);
    }
}

/* Whether ranks can be decoupled is asked anew of another program: of two blocks, after calls that
 * a change does not count. */
static void another_program_may_try_again(void **unused)
{
    (void) unused;
    begin(CLV_ALGORITHM_CHAIN);
    state.iterations.has_been_decoupled = 1;
    for (int i = 0; i < 3; i++) {
        assert_true(state.iterations.has_been_decoupled);
        progress.computing_ns = 9 * MS;
        account_for(2 * N_BETWEEN * ITERATION_MS);
    }
    assert_false(state.iterations.has_been_decoupled);
}

/* What a trial of the chain needs, instead of the fixed order that runs. */
static int32_t needed(int32_t objective, int64_t after_ms, int64_t in_mpi_ms, int is_decoupled)
{
    clv_choose_search_t search = nothing_found();

    begin(CLV_ALGORITHM_RANK_CHAIN);
    config.objective = objective;
    state.iterations.decoupled_sets = is_decoupled;
    state.iterations.trial.budget_ns = 1000 * MS;
    search.score[CLV_ALGORITHM_RANK_CHAIN] = 40 * MS;
    search.found[CLV_ALGORITHM_RANK_CHAIN].predicted_in_mpi_ns = 40 * MS;
    search.score[CLV_ALGORITHM_CHAIN] = after_ms * MS;
    search.found[CLV_ALGORITHM_CHAIN].predicted_in_mpi_ns = in_mpi_ms * MS;
    clv_choose_try_next(&search, &forecast);
    assert_true(state.iterations.trial.is_on);
    assert_int_equal(state.iterations.trial.algorithm, CLV_ALGORITHM_CHAIN);
    return state.iterations.trial.needed_permille;
}

/* What calls took of their ranks' time counts before what they were estimated to. */
static void time_in_mpi_is_compared_as_measured(void **unused)
{
    (void) unused;
    for (int measured = 0; measured < 2; measured++) {
        clv_choose_search_t search = nothing_found();

        begin(CLV_ALGORITHM_RANK_CHAIN);
        state.iterations.trial.budget_ns = 1000 * MS;
        for (int32_t a = CLV_ALGORITHM_RANK_CHAIN; a <= CLV_ALGORITHM_CHAIN; a++) {
            search.score[a] = 40 * MS;
            search.found[a].predicted_in_mpi_ns = 40 * MS;
            state.score[a] = (clv_choose_score_t){
                .n_measured = measured, .in_mpi_ns = a == CLV_ALGORITHM_CHAIN ? 9 * MS : 16 * MS};
        }
        clv_choose_try_next(&search, &forecast);
        assert_true(state.iterations.trial.is_on);
        assert_int_equal(state.iterations.trial.needed_permille, measured ? 1000 : 990);
    }
}

/* Less than four fifths of the time in MPI, calls that end no later, ranks that are bound. */
static void at_equal_iteration_times_those_win_who_wait_less(void **unused)
{
    (void) unused;
    assert_int_equal(needed(CLV_OBJECTIVE_PACE, 40, 31, 0), 1000);
    assert_int_equal(needed(CLV_OBJECTIVE_PACE, 40, 33, 0), 990);
    assert_int_equal(needed(CLV_OBJECTIVE_PACE, 41, 29, 0), 990);
    assert_int_equal(needed(CLV_OBJECTIVE_PACE, 40, 29, 16), 990);
    assert_int_equal(needed(CLV_OBJECTIVE_AFTER, 40, 29, 0), 990);
    assert_int_equal(needed(CLV_OBJECTIVE_PACE, 37, 40, 0), 1000); /* clearly sooner, as ever */
}

/* The times from call to call in ms, by way, with every eighth one a pause. Returns the number of
 * calls that ran before the verdict. */
static int32_t try_levels(int64_t used_ms, int64_t unused_ms, clv_levels_verdict_t *verdict_p)
{
    clv_levels_trial_t trial = {0};
    int64_t now_ns = MS;

    while (trial.verdict == CLV_LEVELS_OPEN && trial.n_calls < 1000) {
        if (clv_levels_begin(&trial, now_ns)) {
            const int64_t medians_ns[CLV_LEVELS_WAYS] = {
                clv_levels_median(trial.iteration_ns[CLV_LEVELS_USED]),
                clv_levels_median(trial.iteration_ns[CLV_LEVELS_UNUSED])};
            assert_int_equal(medians_ns[CLV_LEVELS_USED], used_ms * MS);
            assert_int_equal(medians_ns[CLV_LEVELS_UNUSED], unused_ms * MS);
            clv_levels_judge(&trial, medians_ns);
        }
        const int way = clv_levels_way(trial.n_calls - 1);
        const bool learns = trial.n_calls <= CLV_LEVELS_BLOCK; /* slow, and does not count */
        now_ns += (way == CLV_LEVELS_USED ? used_ms : unused_ms) * MS *
                  (learns || trial.n_calls % 8 == 0 ? 20 : 1);
    }
    *verdict_p = trial.verdict;
    return trial.n_calls - 1;
}

static void two_levels_run_where_they_are_no_slower(void **unused)
{
    clv_levels_verdict_t verdict;

    (void) unused;
    assert_int_equal(try_levels(4, 5, &verdict), 5 * CLV_LEVELS_BLOCK);
    assert_int_equal(verdict, CLV_LEVELS_WON);
    assert_int_equal(try_levels(5, 5, &verdict), 5 * CLV_LEVELS_BLOCK);
    assert_int_equal(verdict, CLV_LEVELS_WON);
    assert_int_equal(try_levels(6, 5, &verdict), 3 * CLV_LEVELS_BLOCK);
    assert_int_equal(verdict, CLV_LEVELS_LOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pause_that_no_record_tells_of_costs_no_trial),
        cmocka_unit_test(a_pause_before_there_is_an_iteration_time_is_not_in_it),
        cmocka_unit_test(another_iteration_time_before_there_is_one_is_no_pause),
        cmocka_unit_test(slow_calls_are_no_pause),
        cmocka_unit_test(three_pauses_on_end_are_another_program),
        cmocka_unit_test(a_pause_is_no_computing),
        cmocka_unit_test(free_ranks_try_a_fixed_order_first),
        cmocka_unit_test(arrivals_do_not_decide_between_fixed_orders),
        cmocka_unit_test(ranks_decoupled_at_the_slowest_s_speed_try_nothing),
        cmocka_unit_test(a_trial_that_cannot_gain_ends),
        cmocka_unit_test(a_trial_whose_blocks_do_not_get_full_ends),
        cmocka_unit_test(another_program_may_try_again),
        cmocka_unit_test(at_equal_iteration_times_those_win_who_wait_less),
        cmocka_unit_test(time_in_mpi_is_compared_as_measured),
        cmocka_unit_test(two_levels_run_where_they_are_no_slower),
    };
    return clv_run_tests(tests);
}
