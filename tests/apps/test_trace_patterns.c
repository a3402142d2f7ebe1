/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Arrival patterns: shapes, repetition, ranges, recorded ones, and one clear reason for each wrong
 * input.
 */
#include <unistd.h>

#include "tests/support/test.h"
#include "apps/trace/trace_patterns.h"

#define N_RANKS 9
#define AMOUNT  1000000

static clv_pattern_t pattern_of(const char *text)
{
    char reason[256];
    clv_pattern_t pattern = {.n_ranks = N_RANKS,
                             .root = 2,
                             .amount_ns = AMOUNT,
                             .jitter = 0.01,
                             .change_at = 10,
                             .seed = 5};

    assert_int_equal(clv_pattern_parse(text, &pattern, reason, sizeof reason), CLV_OK);
    return pattern;
}

static int64_t largest_difference(const clv_pattern_t *pattern, int64_t a, int64_t b)
{
    int64_t one[N_RANKS], other[N_RANKS], largest = 0;

    clv_pattern_fill(pattern, a, one);
    clv_pattern_fill(pattern, b, other);
    for (int r = 0; r < N_RANKS; r++) {
        const int64_t difference = llabs(one[r] - other[r]);
        largest = difference > largest ? difference : largest;
    }
    return largest;
}

static void delays_stay_in_range_and_repeat_with_the_seed(void **state)
{
    (void) state;
    for (const clv_pattern_kind_t *kind = clv_pattern_kinds; kind->name; kind++) {
        if (!strcmp(kind->name, "trace")) {
            continue;
        }
        const clv_pattern_t pattern = pattern_of(kind->name);
        for (int64_t i = 0; i < 100; i++) {
            int64_t delay[N_RANKS], again[N_RANKS];
            clv_pattern_fill(&pattern, i, delay);
            clv_pattern_fill(&pattern, i, again);
            assert_memory_equal(delay, again, sizeof delay);
            for (int r = 0; r < N_RANKS; r++) {
                assert_true(delay[r] >= 0 && delay[r] <= 4 * AMOUNT);
            }
        }
    }
}

static void fixed_shapes_are_what_their_names_say(void **state)
{
    int64_t delay[N_RANKS];
    clv_pattern_t pattern = pattern_of("one-late:3");

    (void) state;
    clv_pattern_fill(&pattern, 0, delay);
    for (int r = 0; r < N_RANKS; r++) {
        assert_int_equal(delay[r], r == 3 ? AMOUNT : 0);
    }
    pattern = pattern_of("root-late");
    clv_pattern_fill(&pattern, 0, delay);
    for (int r = 0; r < N_RANKS; r++) {
        assert_int_equal(delay[r], r == 2 ? AMOUNT : 0);
    }
    pattern = pattern_of("half-late");
    clv_pattern_fill(&pattern, 0, delay);
    assert_true(delay[4] == 0 && delay[5] == AMOUNT);
    pattern = pattern_of("two-late");
    clv_pattern_fill(&pattern, 0, delay);
    for (int r = 0; r < N_RANKS; r++) {
        assert_int_equal(delay[r], r == N_RANKS / 4 || r == N_RANKS * 5 / 8 ? AMOUNT : 0);
    }
    pattern = pattern_of("rotating-late");
    for (int call = 0; call < 2 * N_RANKS; call++) {
        clv_pattern_fill(&pattern, call, delay);
        for (int r = 0; r < N_RANKS; r++) {
            assert_int_equal(delay[r], r == call % N_RANKS ? AMOUNT : 0);
        }
    }
    pattern = pattern_of("descending");
    clv_pattern_fill(&pattern, 0, delay);
    assert_true(delay[0] == AMOUNT && delay[N_RANKS - 1] == 0 && delay[4] == AMOUNT / 2);
}

static void lasting_patterns_last_and_fresh_ones_do_not(void **state)
{
    const int64_t jitter = (int64_t) (2 * 0.01 * AMOUNT) + 1;
    clv_pattern_t pattern = pattern_of("repeated");

    (void) state;
    assert_in_range(largest_difference(&pattern, 3, 77), 1, jitter);
    pattern = pattern_of("sudden");
    assert_in_range(largest_difference(&pattern, 3, 9), 1, jitter);
    assert_true(largest_difference(&pattern, 9, 10) > 10 * jitter);
    assert_in_range(largest_difference(&pattern, 10, 99), 1, jitter);
    pattern = pattern_of("alternating");
    assert_in_range(largest_difference(&pattern, 2, 8), 1, jitter);
    assert_true(largest_difference(&pattern, 2, 3) > 10 * jitter);
    pattern = pattern_of("periodic");
    assert_in_range(largest_difference(&pattern, 2, 8), 1, jitter);
    assert_true(largest_difference(&pattern, 2, 3) > 10 * jitter);
    assert_true(largest_difference(&pattern, 2, 4) > 10 * jitter);
    pattern = pattern_of("drifting");
    assert_in_range(largest_difference(&pattern, 4, 5), 1, AMOUNT / 10);
    assert_true(largest_difference(&pattern, 0, 20) > 10 * jitter);
    pattern = pattern_of("uniform");
    assert_true(largest_difference(&pattern, 4, 5) > 10 * jitter);
}

/* Of many calls a tenth has a rank that is later by the amount: 2000 calls, 5 sigma. */
static void one_call_in_ten_is_disturbed(void **state)
{
    const clv_pattern_t pattern = pattern_of("disturbed");
    const clv_pattern_t usual = pattern_of("repeated");
    int n_held_up = 0;

    (void) state;
    for (int64_t i = 0; i < 2000; i++) {
        int64_t delay[N_RANKS], before[N_RANKS];
        clv_pattern_fill(&pattern, i, delay);
        clv_pattern_fill(&usual, i, before);
        for (int r = 0; r < N_RANKS; r++) {
            assert_true(delay[r] == before[r] || llabs(delay[r] - before[r] - AMOUNT) <= 1);
            n_held_up += delay[r] > before[r];
        }
    }
    assert_in_range(n_held_up, 130, 270);
}

/* The mean of many draws: uniform and exponential both have amount / 2. */
static void fresh_patterns_have_their_means(void **state)
{
    const char *names[] = {"uniform", "exponential"};

    (void) state;
    for (int n = 0; n < 2; n++) {
        const clv_pattern_t pattern = pattern_of(names[n]);
        double total = 0.0;
        for (int64_t i = 0; i < 2000; i++) {
            int64_t delay[N_RANKS];
            clv_pattern_fill(&pattern, i, delay);
            for (int r = 0; r < N_RANKS; r++) {
                total += (double) delay[r] / (2000.0 * N_RANKS);
            }
        }
        assert_true(total > 0.48 * AMOUNT && total < 0.52 * AMOUNT);
    }
}

static clv_status_t parse_file(const char *content, clv_pattern_t *pattern, char *reason)
{
    char path[] = "/tmp/clv-trace-XXXXXX";
    char text[64];
    const int file = mkstemp(path);

    assert_true(file >= 0);
    assert_int_equal(write(file, content, strlen(content)), (ssize_t) strlen(content));
    close(file);
    snprintf(text, sizeof text, "trace:%s", path);
    const clv_status_t status = clv_pattern_parse(text, pattern, reason, 256);
    unlink(path);
    return status;
}

/* Each call counts from its own first rank, and after the last comes the first again. */
static void recorded_arrivals_come_in_turn(void **state)
{
    clv_pattern_t pattern = {.n_ranks = 3, .amount_ns = 5};
    char reason[256];
    int64_t delay[3];

    (void) state;
    assert_int_equal(parse_file("clv-trace 1\nranks 3\ncall 0 | 1 2 3 | 4 4 4\n"
                                "call 2 | 900 500 10000 | 99999 99999 99999\n",
                                &pattern, reason),
                     CLV_OK);
    clv_pattern_fill(&pattern, 3, delay);
    assert_true(delay[0] == 400 && delay[1] == 0 && delay[2] == 9500);
    clv_pattern_fill(&pattern, 4, delay);
    assert_true(delay[0] == 0 && delay[1] == 1 && delay[2] == 2);
    clv_pattern_free(&pattern);
}

static void unfit_traces_are_named(void **state)
{
    clv_pattern_t pattern = {.n_ranks = 3};
    char reason[256];

    (void) state;
    assert_int_equal(parse_file("clv-trace 1\nranks 2\ncall 0 | 1 2 | 3 4\n", &pattern, reason),
                     CLV_INVALID);
    assert_non_null(strstr(reason, "has 2 ranks, but there are 3 ranks"));
    assert_null(pattern.recorded.number);
    assert_int_equal(parse_file("1 2 3\n", &pattern, reason), CLV_INVALID);
    assert_non_null(strstr(reason, "line 1: expected \"clv-trace 1\""));
    assert_int_equal(parse_file("", &pattern, reason), CLV_INVALID);
    assert_non_null(strstr(reason, "no calls"));
    assert_int_equal(clv_pattern_parse("trace:/nonexistent", &pattern, reason, 256), CLV_INVALID);
    assert_non_null(strstr(reason, "No such file"));
    assert_int_equal(clv_pattern_parse("trace:/", &pattern, reason, 256), CLV_INVALID);
    assert_non_null(strstr(reason, "directory"));
}

static void unknown_patterns_are_refused(void **state)
{
    const char *wrong[] = {"late", "one-late:9", "one-late:-1", "one-late:x", "uniform:3", "trace",
                           ""};
    clv_pattern_t pattern = {.n_ranks = N_RANKS};
    char reason[256];

    (void) state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(clv_pattern_parse(wrong[i], &pattern, reason, sizeof reason), CLV_INVALID);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delays_stay_in_range_and_repeat_with_the_seed),
        cmocka_unit_test(fixed_shapes_are_what_their_names_say),
        cmocka_unit_test(lasting_patterns_last_and_fresh_ones_do_not),
        cmocka_unit_test(one_call_in_ten_is_disturbed),
        cmocka_unit_test(fresh_patterns_have_their_means),
        cmocka_unit_test(recorded_arrivals_come_in_turn),
        cmocka_unit_test(unfit_traces_are_named),
        cmocka_unit_test(unknown_patterns_are_refused),
    };
    return clv_run_tests(tests);
}
