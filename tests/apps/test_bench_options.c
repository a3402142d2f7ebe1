/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command line of the benchmark: units, ranges, and one clear reason for each wrong input.
 */
#include "apps/bench/measure/bench_options.h"
#include "tests/support/test.h"

static void sizes_and_delays_have_units(void **state)
{
    size_t n_bytes;
    int64_t ns;
    double factor;

    (void) state;
    assert_int_equal(clv_bench_parse_size("2M", &n_bytes), CLV_OK);
    assert_int_equal(n_bytes, 2097152);
    assert_int_equal(clv_bench_parse_size("1.5K", &n_bytes), CLV_OK);
    assert_int_equal(n_bytes, 1536);
    assert_int_equal(clv_bench_parse_size("2X", &n_bytes), CLV_INVALID);
    assert_int_equal(clv_bench_parse_size("-1", &n_bytes), CLV_INVALID);
    assert_int_equal(clv_bench_parse_size("", &n_bytes), CLV_INVALID);
    assert_int_equal(clv_bench_parse_delay("50ms", &ns, &factor), CLV_OK);
    assert_int_equal(ns, 50000000);
    assert_int_equal(clv_bench_parse_delay("1.5x", &ns, &factor), CLV_OK);
    assert_true(ns == 0 && factor > 1.49 && factor < 1.51);
    assert_int_equal(clv_bench_parse_delay("50", &ns, &factor), CLV_INVALID);
    assert_int_equal(clv_bench_parse_delay("-1ms", &ns, &factor), CLV_INVALID);
    assert_int_equal(clv_bench_parse_delay("nanms", &ns, &factor), CLV_INVALID);
}

static clv_bench_options_t options;
static char reason[256];

static clv_asked_t parse(char *option, char *value)
{
    static const clv_program_t program = {.name = "x", .options = clv_bench_option_rows};
    char name[] = "x";
    char *argv[] = {name, option, value, NULL};

    return clv_options_parse(&program, value ? 3 : 2, argv, &options, NULL, reason, sizeof reason);
}

static void options_are_checked_against_their_ranges(void **state)
{
    char rounds[] = "--iterations", both[] = "--iterations=11", zero[] = "0", ten[] = "10",
         half[] = "2.5", what[] = "--what";

    (void) state;
    assert_int_equal(parse(rounds, ten), CLV_ASKED_RUN);
    assert_int_equal(options.iterations, 10);
    assert_string_equal(options.collective, "reduce");
    assert_int_equal(parse(both, NULL), CLV_ASKED_RUN);
    assert_int_equal(options.iterations, 11);
    assert_int_equal(parse(rounds, zero), CLV_ASKED_WRONG);
    assert_non_null(strstr(reason, "--iterations must be"));
    assert_int_equal(parse(rounds, half), CLV_ASKED_WRONG);
    assert_int_equal(parse(rounds, NULL), CLV_ASKED_WRONG);
    assert_int_equal(parse(what, NULL), CLV_ASKED_WRONG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_delays_have_units),
        cmocka_unit_test(options_are_checked_against_their_ranges),
    };
    return clv_run_tests(tests);
}
