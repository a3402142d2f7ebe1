/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The decider in a closed loop with programs (tests/support/choose_loop.h): its incumbent is,
 * by the iteration time, as good as the best algorithm forced, whatever synchronises the ranks;
 * trying loses little, and nothing flaps.
 */
#include "tests/support/choose_loop.h"
#include "tests/support/test.h"
#include "util/util_min_max.h"

#define MS            INT64_C(1000000)
#define CALLS         LOOP_CALLS
#define N_SEEDS       2
#define HALF_PERMILLE 1065

static uint64_t first_seed;

static double permille_of(int64_t ns, int64_t of_ns)
{
    return 1000.0 * (double) ns / (double) of_ns;
}

static int count_tried(const loop_result_t *result, int from, int to)
{
    int n_tried = 0;

    for (int i = from; i < to; i++) {
        n_tried += result->tried[i];
    }
    return n_tried;
}

/* At most so many permille of the best algorithm's iteration time in the end; on the way more,
 * where the best is found by trials alone (alternating, free, 0 ahead: the model favours the chain
 * by rank). */
static void one_program(const loop_program_t *program, const loop_setting_t *setting,
                        double most_permille, double most_regret)
{
    static loop_result_t chosen;
    const loop_best_t best = loop_best_forced(program, setting);
    double end_permille, half_permille;

    loop_run(program, setting, &chosen);
    end_permille = permille_of(loop_end_iteration_ns(&chosen), best.end_ns);
    half_permille = permille_of(loop_first_half_iteration_ns(&chosen), best.half_ns);
    print_message(
        "# %s, %d ahead: %.1f ms, best forced %.1f; %.0f permille of it, first half %.0f, "
        "%d tried, regret %.1f permille, %d incumbents, last on %s\n",
        program->name, (int) setting->ahead_calls, (double) loop_end_iteration_ns(&chosen) / MS,
        (double) best.end_ns / MS, end_permille, half_permille, count_tried(&chosen, 0, CALLS),
        loop_most_regret(&chosen), 1 + chosen.n_incumbents, clv_algorithm_word(chosen.ran[CALLS]));
    assert_true(end_permille <= most_permille);
    assert_true(half_permille <= HALF_PERMILLE);
    assert_int_equal(count_tried(&chosen, 0, 21), 0);
    assert_true(loop_most_regret(&chosen) <= most_regret);
    assert_in_range(chosen.n_incumbents, 0, 5);
}

/* When draws are few each seed has its program; otherwise all of them. */
static int is_drawn(int program)
{
    return !clv_draws_few() || first_seed % (uint64_t) LOOP_N_PROGRAMS == (uint64_t) program;
}

static void run_programs(int from, int to, double most_permille, double most_regret)
{
    for (int i = from; i < to; i++) {
        if (!is_drawn(i)) {
            continue;
        }
        for (int32_t ahead = 0; ahead < 9; ahead += 8) {
            for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
                const loop_setting_t setting = loop_setting_of(ahead, first_seed + seed);
                one_program(&loop_programs[i], &setting, most_permille, most_regret);
            }
        }
    }
}

static void free_programs_iterate_as_fast_as_with_the_best(void **state)
{
    (void) state;
    run_programs(0, LOOP_FIRST_BOUND, 1055, 5.5);
}

/* A drift of 3 % in a trial hides a gain of 3 %. */
static void bound_programs_iterate_as_fast_as_with_the_best(void **state)
{
    (void) state;
    run_programs(LOOP_FIRST_BOUND, LOOP_FIRST_CHANGE, 1040, 5.5);
}

/* Regret includes what the program itself takes longer when it changes in the middle of a trial.
 * Fresh arrivals whose ranks are decoupled from the middle on: where the change falls into a trial,
 * the 200 calls that are left may not suffice to try the fixed order again (above 1100 permille in
 * two of 1,000 seeds, 1211 at most; in 99 of 100 1037). */
static void changes_of_the_program_are_found_out(void **state)
{
    (void) state;
    run_programs(LOOP_FIRST_CHANGE, LOOP_FRESH_FREED, 1025, 70);
    run_programs(LOOP_FRESH_FREED, LOOP_FRESH_FREED + 1, 1200, 70);
    run_programs(LOOP_FRESH_FREED + 1, LOOP_N_PROGRAMS, 1025, 70);
}

/* Ranks are decoupled from the middle on, and nothing shows it at once: a plan that synchronises
 * them is tried. 474: neither what is tried nor the incumbent has a plan then, and what stands
 * in for both is by far the best. 142: what is tried is a little better, as ranks do not wait for
 * results any more, and hides that they would be free with the incumbent. */
static void what_synchronises_ranks_does_not_hide_that_they_are_decoupled(void **state)
{
    static const uint64_t seeds[] = {474, 142};

    (void) state;
    if (clv_draws_few()) {
        skip(); /* the seeds are these */
    }
    for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
        const loop_setting_t setting = loop_setting_of(8, seeds[i]);
        one_program(&loop_programs[LOOP_FRESH_FREED], &setting, 1025, 70);
    }
}

/* A rank that comes far ahead of the others does not wait long for a forecast: one of ten never
 * comes. Calls without one go on with what held, so that what ranks are ahead is not lost (1086
 * permille of the best in 317 seeds, 1033 in 99 of 100). A trial lasts longer when its forecast
 * never comes (regret 96 and 11 permille in two seeds, else 5). */
static void forecasts_that_never_come_change_nothing_for_decoupled_ranks(void **state)
{
    (void) state;
    for (int i = 0; i < LOOP_FIRST_BOUND; i++) {
        if (is_drawn(i)) {
            loop_setting_t setting = loop_setting_of(8, first_seed);
            setting.void_permille = 100;
            one_program(&loop_programs[i], &setting, 1100, 110);
        }
    }
}

/* What the objective asks for, over the end of the run. */
static int64_t end_of(int32_t objective, const loop_result_t *result)
{
    return loop_mean(objective == CLV_OBJECTIVE_AFTER ? result->after_ns : result->in_mpi_ns,
                     CALLS * 3 / 4, CALLS);
}

static int64_t best_forced(const loop_program_t *program, const loop_setting_t *setting,
                           int32_t objective)
{
    int n_forced;
    const loop_result_t *results = loop_run_forced(program, setting, &n_forced);
    int64_t best_ns = INT64_MAX;

    for (int i = 0; i < n_forced; i++) {
        best_ns = clv_smaller(best_ns, end_of(objective, &results[i]));
    }
    return best_ns;
}

/* By that measure at most 60 permille above the best algorithm forced (49 in one of 200 seeds). */
static void judge_by(int32_t objective, const loop_program_t *program)
{
    static loop_result_t result;
    loop_setting_t setting = loop_setting_of(8, first_seed);
    const int64_t best_ns = best_forced(program, &setting, objective);
    int64_t ns;

    setting.config.objective = objective;
    loop_run(program, &setting, &result);
    ns = end_of(objective, &result);
    print_message("# %s by %s: %.2f ms, best forced %.2f, last on %s\n", program->name,
                  objective == CLV_OBJECTIVE_AFTER ? "after" : "mpi_time", (double) ns / MS,
                  (double) best_ns / MS, clv_algorithm_word(result.ran[CALLS]));
    assert_true(permille_of(ns, best_ns) <= 1060);
}

/* Of programs whose ranks wait for the result. Where they are decoupled a call's own times say
 * less: what is early there was done by the calls before (docs/design/choice.md). */
static void what_the_objective_asks_for_is_made_small(void **state)
{
    (void) state;
    for (int i = LOOP_FIRST_BOUND; i < LOOP_FIRST_CHANGE; i++) {
        if (is_drawn(i)) {
            judge_by(CLV_OBJECTIVE_AFTER, &loop_programs[i]);
            judge_by(CLV_OBJECTIVE_MPI_TIME, &loop_programs[i]);
        }
    }
}

/* An allreduce of 128 KiB whose last rank always comes 60 ms after the others: what it spends in
 * the call is all there is to lose. The fixed ring makes it wait for its neighbours, and many
 * segments keep it busy. Trials of other plans count here, too: they are most of it. */
static void who_is_always_last_hardly_waits(void **state)
{
    static loop_result_t chosen, ring;
    loop_setting_t setting = loop_setting_of(1, first_seed);
    int64_t own_ns, ring_ns;

    (void) state;
    setting.collective = CLV_COLLECTIVE_ALLREDUCE;
    setting.total_bytes = 128 << 10;
    setting.config.cost.latency_ns = 10000;
    setting.config.ahead_bytes = 64 << 20;
    setting.config.allreduce_algorithm = CLV_ALGORITHM_AUTO;
    loop_run(&loop_programs[LOOP_FAR_LATE], &setting, &chosen);
    setting.config.allreduce_algorithm = CLV_ALGORITHM_PLAIN_RING;
    loop_run(&loop_programs[LOOP_FAR_LATE], &setting, &ring);
    own_ns = loop_mean(chosen.last_in_mpi_ns, CALLS / 4, CALLS);
    ring_ns = loop_mean(ring.last_in_mpi_ns, CALLS / 4, CALLS);
    print_message("# the last of 8 ranks is in the call for %.2f ms, %.2f in a ring\n",
                  (double) own_ns / MS, (double) ring_ns / MS);
    assert_true(own_ns < ring_ns / 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_programs_iterate_as_fast_as_with_the_best),
        cmocka_unit_test(bound_programs_iterate_as_fast_as_with_the_best),
        cmocka_unit_test(changes_of_the_program_are_found_out),
        cmocka_unit_test(what_synchronises_ranks_does_not_hide_that_they_are_decoupled),
        cmocka_unit_test(forecasts_that_never_come_change_nothing_for_decoupled_ranks),
        cmocka_unit_test(what_the_objective_asks_for_is_made_small),
        cmocka_unit_test(who_is_always_last_hardly_waits),
    };
    const char *asked = getenv("CLV_SEED");

    first_seed = asked == NULL ? 20261122 : strtoull(asked, NULL, 10);
    print_message("# seed %llu\n", (unsigned long long) first_seed);
    return clv_run_tests(tests);
}
