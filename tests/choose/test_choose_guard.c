/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The guard: every call's arrivals predicted wrong, in the model's replay. What `auto` chose for
 * one pattern runs under others; it ends within 1.25 times the best balanced plan after the last
 * arrival, and without the guard it does not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "choose/choose.h"

#define MAX_RANKS 48
#define N_CASES   120
#define N_WRONG   8 /* patterns that each plan runs under */

/* What previous calls said: plans are as estimated, the previous reduce is hopeless. */
static void experience(clv_choose_state_t *state)
{
    memset(state, 0, sizeof *state);
    for (int c = CLV_ALGORITHM_RANK_CHAIN; c <= CLV_ALGORITHM_CLAIRVOYANT; c++) {
        state->score[c].n_measured = 2;
        state->score[c].ratio_permille = 1000;
    }
    state->score[CLV_ALGORITHM_PREVIOUS].n_measured = 2;
    state->score[CLV_ALGORITHM_PREVIOUS].ratio_permille = 100000;
    state->running = CLV_ALGORITHM_CHAIN;
}

static int64_t one_of(const int64_t *numbers, size_t n)
{
    return numbers[(size_t) rand() % n];
}

static clv_choose_config_t some_network(int32_t guard_permille)
{
    static const int64_t ranks[] = {3, 4, 8, 16, 24, 48};
    static const clv_cost_t costs[] = {{.latency_ns = 60000, .byte_ps = 20000},
                                       {.latency_ns = 3000, .byte_ps = 90},
                                       {.latency_ns = 200000, .byte_ps = 8000}};
    return (clv_choose_config_t){.n_ranks = (int32_t) one_of(ranks, 6),
                                 .reduce_algorithm = CLV_ALGORITHM_AUTO,
                                 .guard_permille = guard_permille,
                                 .max_cells = CLV_CHOOSE_MAX_CELLS,
                                 .cost = costs[rand() % 3]};
}

/* Balanced, by rank, one late, or drawn; spread up to 8 vectors. */
static void some_arrivals(const clv_choose_config_t *config, int64_t n_bytes, int64_t *arrival_ns)
{
    const int64_t vector_ns = clv_cost_round_ns(&config->cost, n_bytes);
    const int64_t spread_ns = vector_ns / 4 * (1 + rand() % 32);
    const int kind = rand() % 4;
    const int late = rand() % config->n_ranks;

    for (int32_t p = 0; p < config->n_ranks; p++) {
        const int64_t by_rank = spread_ns / config->n_ranks * p;
        const int64_t drawn = spread_ns / 1000 * (rand() % 1000);
        arrival_ns[p] = kind == 0   ? 0
                        : kind == 1 ? by_rank
                        : kind == 2 ? (p == late) * spread_ns
                                    : drawn;
    }
}

static int64_t after_with(const clv_choose_config_t *config, const clv_pap_stream_key_t *key,
                          const clv_plan_t *plan, const int64_t *arrival_ns)
{
    clv_estimate_t estimate;

    assert_int_equal(
        clv_plan_estimate(plan, arrival_ns, NULL, key->total_bytes, &config->cost, &estimate),
        CLV_OK);
    return estimate.after_ns;
}

/* Decides for a pattern; the worst it then takes for other patterns, in permille of the balanced
 * best. */
static int64_t one_case(const clv_choose_config_t *config, int *algorithm_p)
{
    static const int64_t lengths[] = {1 << 15, 1 << 16, 1 << 18, 1 << 20, 1 << 21, 1 << 23};
    int64_t arrival_ns[MAX_RANKS];
    const clv_pap_stream_key_t key = {.collective = CLV_COLLECTIVE_REDUCE,
                                      .root = rand() % config->n_ranks,
                                      .total_bytes = one_of(lengths, 6)};
    const clv_pap_forecast_t forecast = {.n_ranks = config->n_ranks,
                                         .n_record_sets = 8,
                                         .version = 9,
                                         .sigma_ns = 1000,
                                         .predicted_ns = arrival_ns};
    clv_choose_decision_t decision, balanced;
    clv_choose_state_t state;
    clv_plan_t *plan = NULL;
    int64_t worst_ns = 0;

    experience(&state);
    some_arrivals(config, key.total_bytes, arrival_ns);
    assert_int_equal(clv_choose_balanced(config, &key, &balanced), CLV_OK);
    assert_int_equal(clv_choose(config, &key, &forecast, &state, NULL, &decision), CLV_OK);
    *algorithm_p = decision.algorithm;
    if (decision.algorithm == CLV_ALGORITHM_PREVIOUS) {
        return 0;
    }
    assert_int_equal(clv_choose_plan(config, &key, &forecast, &decision, &plan), CLV_OK);
    for (int i = 0; i < N_WRONG; i++) {
        int64_t after_ns;
        some_arrivals(config, key.total_bytes, arrival_ns);
        after_ns = after_with(config, &key, plan, arrival_ns);
        worst_ns = after_ns > worst_ns ? after_ns : worst_ns;
    }
    clv_plan_free(plan);
    return worst_ns * 1000 / balanced.predicted_after_ns;
}

/* The worst of all cases, and how many plans of each kind there were. */
static int64_t fuzz(int32_t guard_permille, int32_t forced, int *n_chosen)
{
    int64_t worst = 0;

    for (int i = 0; i < N_CASES; i++) {
        clv_choose_config_t config = some_network(guard_permille);
        int algorithm;
        int64_t permille;
        config.reduce_algorithm = forced;
        permille = one_case(&config, &algorithm);
        n_chosen[algorithm]++;
        worst = permille > worst ? permille : worst;
    }
    return worst;
}

static void wrong_predictions_cost_no_more_than_the_guard_says(void **state)
{
    int guarded[CLV_N_ALGORITHMS] = {0};
    int unguarded[CLV_N_ALGORITHMS] = {0};
    int64_t worst;

    (void) state;
    worst = fuzz(200, CLV_ALGORITHM_AUTO, guarded);
    print_message("# worst with guard: %lld permille; chain %d latest_first %d clairvoyant %d\n",
                  (long long) worst, guarded[CLV_ALGORITHM_CHAIN],
                  guarded[CLV_ALGORITHM_LATEST_FIRST], guarded[CLV_ALGORITHM_CLAIRVOYANT]);
    assert_in_range(worst, 900, 1250);
    assert_int_equal(guarded[CLV_ALGORITHM_PREVIOUS], 0);
    worst = fuzz(1000000, CLV_ALGORITHM_AUTO, unguarded);
    print_message("# worst without: %lld permille; chain %d latest_first %d clairvoyant %d\n",
                  (long long) worst, unguarded[CLV_ALGORITHM_CHAIN],
                  unguarded[CLV_ALGORITHM_LATEST_FIRST], unguarded[CLV_ALGORITHM_CLAIRVOYANT]);
    assert_true(worst > 1500);
}

static void a_forced_algorithm_is_not_guarded(void **state)
{
    int n_chosen[CLV_N_ALGORITHMS] = {0};

    (void) state;
    assert_true(fuzz(200, CLV_ALGORITHM_CLAIRVOYANT, n_chosen) > 1500);
    assert_int_equal(n_chosen[CLV_ALGORITHM_CLAIRVOYANT], N_CASES);
}

/* How many of 40 plans made for arrivals drawn over so many quarter vectors pass, in percent. */
static int passing(int32_t n_ranks, const char *generator, int quarters)
{
    const clv_choose_config_t config = {.n_ranks = n_ranks,
                                        .reduce_algorithm = CLV_ALGORITHM_AUTO,
                                        .max_cells = CLV_CHOOSE_MAX_CELLS,
                                        .cost = {.latency_ns = 60000, .byte_ps = 20000}};
    const clv_pap_stream_key_t key = {.collective = CLV_COLLECTIVE_REDUCE, .total_bytes = 2 << 20};
    const int64_t spread_ns = clv_cost_round_ns(&config.cost, key.total_bytes) / 4 * quarters;
    const int64_t equal_ns[MAX_RANKS] = {0};
    int64_t arrival_ns[MAX_RANKS];
    clv_choose_decision_t balanced;
    int n_passing = 0;

    assert_int_equal(clv_choose_balanced(&config, &key, &balanced), CLV_OK);
    for (int i = 0; i < 40; i++) {
        const clv_instance_t instance = {.n_ranks = n_ranks,
                                         .n_segments = 64,
                                         .round_ns = clv_cost_round_ns(&config.cost, 1 << 15),
                                         .arrival_ns = arrival_ns};
        clv_plan_t *plan = NULL;
        for (int32_t p = 0; p < n_ranks; p++) {
            arrival_ns[p] = spread_ns / 1000 * (rand() % 1000);
        }
        assert_int_equal(clv_plan_make(clv_generator_find(generator), &instance, &plan), CLV_OK);
        n_passing +=
            after_with(&config, &key, plan, equal_ns) <= balanced.predicted_after_ns / 1000 * 1200;
        clv_plan_free(plan);
    }
    return n_passing * 100 / 40;
}

/* The table of docs/decisions/0013-guard.md; 40 plans scatter by 5 % where a tenth passes, so of a
 * thousand seeds some have 20 %. */
static void narrow_spreads_pass_and_wide_ones_do_not(void **state)
{
    static const int32_t ranks[] = {4, 8, 16, 24, 48};
    static const int quarters[] = {1, 2, 4, 8, 16};

    (void) state;
    for (size_t i = 0; i < 5; i++) {
        for (size_t j = 0; j < 5; j++) {
            const int latest = passing(ranks[i], "latest-first-rns", quarters[j]);
            const int clairvoyant = passing(ranks[i], "bitset", quarters[j]);
            print_message(
                "# %d ranks, drawn over %d/4 vector: latest_first %d %%, clairvoyant %d %%\n",
                (int) ranks[i], quarters[j], latest, clairvoyant);
            assert_true(quarters[j] > 1 || (latest > 90 && clairvoyant > 50));
            assert_true(quarters[j] < 8 || (latest < 35 && clairvoyant < 35));
        }
    }
}

int main(void)
{
    const char *asked = getenv("CLV_SEED");
    const unsigned seed = asked == NULL ? 20261122U : (unsigned) strtoul(asked, NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_predictions_cost_no_more_than_the_guard_says),
        cmocka_unit_test(a_forced_algorithm_is_not_guarded),
        cmocka_unit_test(narrow_spreads_pass_and_wide_ones_do_not),
    };

    srand(seed);
    print_message("# seed %u\n", seed);
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("choose guard", tests, NULL, NULL);
}
