/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The figures of a loop from made-up times: programs whose iterations, iteration times and
 * distances are known before, and drawn ones against a slow oracle that only follows the
 * definitions.
 */
#include <math.h>

#include "apps/bench/measure/bench_iteration.h"
#include "tests/support/test.h"
#include "apps/trace/trace_patterns.h"

#define MAX_RANKS 6
#define MAX_CALLS 40
#define START_NS  INT64_C(1700000000000000000) /* as a real clock: ns must not drown in it */

typedef struct program {
    clv_iteration_times_t times[MAX_RANKS * MAX_CALLS];
    int n_ranks;
    int64_t n_calls;
} program_t;

static void assert_near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * fmax(1.0, fabs(expected)))) {
        fail_msg("%.17g instead of %.17g", found, expected);
    }
}

static clv_iteration_times_t *at(program_t *program, int rank, int64_t call)
{
    return &program->times[rank * program->n_calls + call];
}

/* Ranks compute for compute_ns[r]; the call of each takes in_call_ns[r]; nobody waits for anybody.
 */
static program_t free_program(int n_ranks, int64_t n_calls, const int64_t *compute_ns,
                              const int64_t *in_call_ns)
{
    program_t program = {.n_ranks = n_ranks, .n_calls = n_calls};

    for (int r = 0; r < n_ranks; r++) {
        int64_t now_ns = START_NS;
        for (int64_t i = 0; i < n_calls; i++) {
            const int64_t arrival_ns = now_ns + compute_ns[r];
            now_ns = arrival_ns + in_call_ns[r];
            *at(&program, r, i) = (clv_iteration_times_t){arrival_ns, now_ns, now_ns};
        }
    }
    return program;
}

static clv_iteration_t derive(const program_t *program, int64_t lead, double *rank_iteration_ns)
{
    clv_iteration_t figures;

    assert_int_equal(clv_iteration_derive(program->times, program->n_ranks, program->n_calls, lead,
                                          START_NS, &figures, rank_iteration_ns),
                     CLV_OK);
    return figures;
}

/* Rank 1 computes 10 ns and never waits, rank 0 needs 25 per iteration: the program's iteration is
 * 25 although the mean of the iteration times is 17.5, and rank 1 gets away by 0.6 calls with
 * each. */
static void the_slowest_rank_is_the_program(void **state)
{
    const int64_t compute_ns[] = {20, 10};
    const int64_t in_call_ns[] = {5, 0};
    const program_t program = free_program(2, 21, compute_ns, in_call_ns);
    double rank_iteration_ns[2];
    const clv_iteration_t figures = derive(&program, 11, rank_iteration_ns);

    (void) state;
    assert_near(figures.iteration_ns, 25);
    assert_near(figures.fastest_ns, 10);
    assert_near(figures.slowest_ns, 25);
    assert_near(rank_iteration_ns[0], 25);
    assert_near(rank_iteration_ns[1], 10);
    assert_near(figures.in_call_ns, 2.5);
    assert_near(figures.worst_ns, 5);
    /* At its last arrival, 210 ns after the start, rank 0 has left 8 calls. */
    assert_near(figures.ahead_calls, 20 - 8);
    assert_near(figures.ahead_ns, 21 * 25 - 21 * 10);
}

/* Everybody leaves together when the last one has come, then a coupling of 3 ns: nobody is ahead,
 * and an iteration takes the longest computing, 40 in even and 60 in odd iterations, the call's 7
 * and the coupling. */
static void a_coupled_program_keeps_together(void **state)
{
    program_t program = {.n_ranks = 3, .n_calls = 24};
    int64_t now_ns = START_NS;

    (void) state;
    for (int64_t i = 0; i < program.n_calls; i++) {
        const int64_t longest_ns = i % 2 ? 60 : 40;
        for (int r = 0; r < 3; r++) {
            *at(&program, r, i) = (clv_iteration_times_t){
                now_ns + longest_ns - 10 * r, now_ns + longest_ns + 7, now_ns + longest_ns + 7 + 3};
        }
        now_ns += longest_ns + 10;
    }
    const clv_iteration_t figures = derive(&program, 4, NULL);
    assert_near(figures.iteration_ns, 60);
    assert_near(figures.in_call_ns, 7 + 10);
    assert_near(figures.in_couple_ns, 3);
    assert_near(figures.worst_ns, 27);
    assert_near(figures.ahead_calls, 0);
    assert_near(figures.ahead_ns, 0);
}

/* One slow call among the first ones is seen when they count, and not when they do not. */
static void lead_calls_do_not_count(void **state)
{
    const int64_t compute_ns[] = {50, 50};
    const int64_t in_call_ns[] = {1, 1};
    program_t program = free_program(2, 30, compute_ns, in_call_ns);

    (void) state;
    for (int r = 0; r < 2; r++) {
        for (int64_t i = 0; i < program.n_calls; i++) {
            at(&program, r, i)->arrival_ns += i > 3 ? 300 : 0;
            at(&program, r, i)->exit_ns += i >= 3 ? 300 : 0;
            at(&program, r, i)->end_ns += i >= 3 ? 300 : 0;
        }
    }
    const clv_iteration_t counted = derive(&program, 0, NULL);
    const clv_iteration_t later = derive(&program, 10, NULL);
    assert_near(counted.iteration_ns, 51 + 300.0 / 30);
    assert_near(counted.worst_ns, 301);
    assert_near(later.iteration_ns, 51);
    assert_near(later.worst_ns, 1);
}

/* Calls 1 to 202 take so many ns, on both ranks: by linear interpolation of 404 sorted values. */
static void one_call_of_a_hundred_is_longer_than_p99(void **state)
{
    clv_iteration_times_t times[404];
    clv_iteration_t figures;

    (void) state;
    for (int i = 0; i < 404; i++) {
        const int64_t begun_ns = START_NS + 1000 * (i % 202);
        times[i] = (clv_iteration_times_t){begun_ns, begun_ns + 1 + i % 202, begun_ns + 500};
    }
    assert_int_equal(clv_iteration_derive(times, 2, 202, 0, START_NS, &figures, NULL), CLV_OK);
    assert_near(figures.worst_ns, 202);
    assert_near(figures.p99_ns,
                200); /* of 0 to 403 the value at 398.97, between two calls of 200 */
}

/* Calls of `rank` beyond those that `other` has left, at each of its arrivals, by counting anew. */
static double ahead_by_counting(program_t *program, int64_t lead)
{
    int64_t most = 0;

    for (int r = 0; r < program->n_ranks; r++) {
        for (int64_t i = lead; i < program->n_calls; i++) {
            for (int other = 0; other < program->n_ranks; other++) {
                int64_t n_left = 0;
                for (int64_t k = 0; k < program->n_calls; k++) {
                    n_left += at(program, other, k)->exit_ns <= at(program, r, i)->arrival_ns;
                }
                most = i - n_left > most ? i - n_left : most;
            }
        }
    }
    return (double) most;
}

static void drawn_programs_equal_the_definitions(void **state)
{
    const char *text = getenv("CLV_SEED");
    const uint64_t seed = text ? strtoull(text, NULL, 10) : 11;

    (void) state;
    print_message("# CLV_SEED=%llu\n", (unsigned long long) seed);
    for (uint64_t trial = 0; trial < 200; trial++) {
        program_t program = {.n_ranks = 1 + (int) (clv_pattern_random(seed, trial, 1) * MAX_RANKS),
                             .n_calls = 12 + (int64_t) (clv_pattern_random(seed, trial, 2) * 28)};
        const int64_t lead = (int64_t) (clv_pattern_random(seed, trial, 3) * 10);
        int64_t first_ns = START_NS, last_ns = START_NS;
        for (int r = 0; r < program.n_ranks; r++) {
            int64_t now_ns = START_NS;
            for (int64_t i = 0; i < program.n_calls; i++) {
                int64_t step_ns[3];
                for (uint64_t s = 0; s < 3; s++) {
                    step_ns[s] =
                        (int64_t) (1e6 * clv_pattern_random(seed, trial * 100 + s,
                                                            1000 + (uint64_t) (r * 50 + i)));
                }
                const int64_t arrival_ns = now_ns + step_ns[0];
                const int64_t exit_ns = arrival_ns + step_ns[1];
                now_ns = exit_ns + step_ns[2];
                *at(&program, r, i) = (clv_iteration_times_t){arrival_ns, exit_ns, now_ns};
                first_ns = i == lead - 1 && now_ns > first_ns ? now_ns : first_ns;
                last_ns = now_ns > last_ns ? now_ns : last_ns;
            }
        }
        const clv_iteration_t figures = derive(&program, lead, NULL);
        assert_near(figures.iteration_ns * (double) (program.n_calls - lead),
                    (double) (last_ns - first_ns));
        assert_near(figures.ahead_calls, ahead_by_counting(&program, lead));
        assert_true(figures.fastest_ns <= figures.slowest_ns &&
                    figures.in_call_ns <= figures.worst_ns && figures.p99_ns <= figures.worst_ns);
    }
}

static void too_short_blocks_are_refused(void **state)
{
    const int64_t ones_ns[] = {1, 1};
    const program_t program = free_program(2, 5, ones_ns, ones_ns);
    clv_iteration_t figures;

    (void) state;
    assert_int_equal(clv_iteration_derive(program.times, 2, 5, 4, START_NS, &figures, NULL),
                     CLV_INVALID);
    assert_int_equal(clv_iteration_derive(program.times, 0, 5, 0, START_NS, &figures, NULL),
                     CLV_INVALID);
    assert_int_equal(clv_iteration_derive(program.times, 2, 5, -1, START_NS, &figures, NULL),
                     CLV_INVALID);
    assert_int_equal(clv_iteration_derive(program.times, 2, 5, 3, START_NS, &figures, NULL),
                     CLV_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_slowest_rank_is_the_program),
        cmocka_unit_test(a_coupled_program_keeps_together),
        cmocka_unit_test(lead_calls_do_not_count),
        cmocka_unit_test(one_call_of_a_hundred_is_longer_than_p99),
        cmocka_unit_test(drawn_programs_equal_the_definitions),
        cmocka_unit_test(too_short_blocks_are_refused),
    };
    return clv_run_tests(tests);
}
