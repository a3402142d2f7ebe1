/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Windows that are found, on calls that take a known time; what other benchmarks would have said of
 * known times; what is told of a machine, from a folder that pretends to be one.
 */
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/bench/measure/bench_machine.h"
#include "apps/bench/measure/bench_stats.h"
#include "apps/bench/measure/bench_window.h"
#include "tests/support/test.h"

#define CALL_NS INT64_C(700000)

/* A benchmark without a network: every call takes CALL_NS, and does not count when that is more
 * than the window. The first start of a window that is too small is the only one in time. */
static void play(clv_window_t *window, int64_t call_ns)
{
    int64_t n_kept = 0;

    while (!window->is_done) {
        const int fits = call_ns <= window->window_ns;
        n_kept = window->starts_anew ? 0 : n_kept;
        n_kept += fits ? window->n_rounds : 0;
        const clv_window_batch_t batch = {.n_calls = window->n_rounds,
                                          .n_invalid = fits ? 0 : window->n_rounds,
                                          .n_rounds = window->n_rounds,
                                          .longest_invalid = fits ? 0 : window->n_rounds,
                                          .total_ns = window->n_rounds * call_ns,
                                          .n_kept = n_kept,
                                          .standard_error =
                                              n_kept > 0 ? 1.0 / (double) n_kept : INFINITY};
        assert_true(window->n_rounds > 0);
        clv_window_judge(window, &batch);
    }
    assert_true(n_kept <= window->most);
}

static clv_window_t window_by(const char *rule, int64_t most, double precision)
{
    clv_window_t window = {.rule = clv_window_rule_find(rule), .least = 10, .precision = precision};

    assert_non_null(window.rule);
    clv_window_start(&window, 0, most);
    return window;
}

static void skampi_finds_a_window_and_stops_when_it_knows_enough(void **state)
{
    (void) state;
    clv_window_t window = window_by("skampi", 1000, 0.05);
    play(&window, CALL_NS);
    assert_true(window.window_ns >= CALL_NS && window.window_ns < 3 * CALL_NS);
    assert_true(window.standard_error <= 0.05);
    assert_true(window.n_calls < 60 && window.n_invalid > 0 && window.n_invalid < window.n_calls);
    window = window_by("skampi", 1000, 0.0); /* never precise enough: all there are */
    play(&window, CALL_NS);
    assert_int_equal(window.n_calls - window.n_invalid, 1000);
}

static void a_quarter_that_is_invalid_widens_the_window(void **state)
{
    (void) state;
    const clv_window_batch_t few = {100, 24, 100, 1, 5000, 76, 0.5};
    const clv_window_batch_t many = {100, 25, 100, 1, 5000, 75, 0.5};
    clv_window_t window = window_by("skampi", 1000, 0.01);
    window.window_ns = 400;
    clv_window_judge(&window, &few);
    assert_int_equal(window.window_ns, 400);
    clv_window_judge(&window, &many);
    assert_int_equal(window.window_ns, 800);
    const clv_window_batch_t slow = {100, 25, 100, 60, 1010000, 75, 0.5};
    clv_window_judge(&window, &slow);
    assert_int_equal(window.window_ns, 15000); /* 1.5 times what a round took */
    assert_int_equal(window.n_rounds, 50);     /* more than half of them in a row */
}

static void nbcbench_estimates_and_measures_all_anew(void **state)
{
    (void) state;
    clv_window_t window = window_by("nbcbench", 100, 0.0);
    clv_window_estimate(&window, CALL_NS / 4);
    assert_int_equal(window.n_rounds, 100);
    play(&window, CALL_NS);
    assert_true(window.window_ns >= CALL_NS && window.window_ns < 3 * CALL_NS / 2);
    assert_int_equal(window.n_batches, 5); /* 1.5^4 is above 4 */
    assert_int_equal(window.n_invalid, 400);
    window = window_by("nbcbench", 100, 0.0);
    clv_window_estimate(&window, INT64_C(30000000)); /* 5 * 100 * 30 ms are more than 10 s */
    assert_int_equal(window.n_rounds, 50);
}

static void a_network_that_never_fits_ends_all_the_same(void **state)
{
    (void) state;
    static const char *const names[] = {"skampi", "nbcbench"};
    for (int i = 0; i < 2; i++) {
        clv_window_t window = window_by(names[i], 20, 0.01);
        clv_window_estimate(&window, 1);
        play(&window, INT64_MAX / 1000);
        assert_true(window.n_bad == CLV_WINDOW_MOST_BAD && window.n_batches <= window.n_bad + 1);
    }
    clv_window_t window = window_by("fixed", 20, 0.01);
    play(&window, CALL_NS);
    assert_int_equal(window.n_batches, 1);
    assert_null(clv_window_rule_find("sundial"));
}

static int is(double a, double b)
{
    return fabs(a - b) < 1e-9 * fabs(b);
}

static void other_benchmarks_are_told_apart(void **state)
{
    (void) state;
    /* Two ranks, five calls; 1000 is twice above the 99th percentile of nothing so short. */
    const double times[] = {1, 10, 2, 20, 3, 30, 4, 40, 10, 60};
    const clv_bench_processed_t ps = clv_bench_process(times, 5, 2);
    assert_true(is(ps.ps5_least, 1) && is(ps.ps5_largest, 60) && is(ps.ps5_mean, 18));
    assert_true(is(ps.ps6_least, 10) && is(ps.ps6_median, 30) && is(ps.ps6_largest, 60));
    assert_true(is(ps.ps6_mean, 32) && is(ps.ps7_largest, 32) && is(ps.ps7_least, 4));
    assert_true(is(ps.ps7_mean, 18) && is(ps.ps8_mean, 4));
    double long_one[400];
    for (int i = 0; i < 400; i++) {
        long_one[i] = i == 7 ? 1000 : 5;
    }
    assert_true(is(clv_bench_process(long_one, 400, 1).ps5_largest, 5));
    assert_true(isnan(clv_bench_process(times, 0, 2).ps7_mean));
}

static void write_file(const char *root, const char *path, const char *text)
{
    char name[512];

    snprintf(name, sizeof name, "%s%s", root, path);
    for (char *at = name + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        (void) mkdir(name, 0700);
        *at = '/';
    }
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void machine_of(const char *root, char *text, size_t n_bytes)
{
    FILE *out = fmemopen(text, n_bytes, "w");
    clv_json_t json = {out, 0};

    assert_non_null(out);
    clv_bench_machine_json(&json, root);
    fclose(out);
}

static void a_machine_is_reported(void **state)
{
    (void) state;
    char root[] = "/tmp/clv-machine-XXXXXX";
    char text[4096] = "", command[64];
    assert_non_null(mkdtemp(root));
    write_file(root, "/proc/cpuinfo",
               "processor : 0\nmodel name\t: A \"B\" 9\ncpu MHz\t\t: 2300.5\n");
    write_file(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    write_file(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "3700000\n");
    write_file(root, "/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
    write_file(root, "/sys/class/net/ib0/operstate", "up\n");
    write_file(root, "/sys/class/net/ib0/speed", "56000\n");
    write_file(root, "/sys/class/net/eth1/operstate", "down\n");
    machine_of(root, text, sizeof text);
    assert_non_null(strstr(text, "\"cpu\":\"A \\\"B\\\" 9\""));
    assert_non_null(strstr(text, "\"cpu_hz\":2300500000"));
    assert_non_null(strstr(text, "\"cpu_most_hz\":3700000000"));
    assert_non_null(strstr(text, "\"governor\":\"powersave\",\"turbo\":\"off\""));
    assert_non_null(strstr(text, "\"networks\":\"ib0 56000 Mb/s\""));
    machine_of("/nonexistent", text, sizeof text);
    assert_non_null(strstr(text, "\"cpu\":\"\",\"cpu_hz\":0"));
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

static void a_cache_is_cooled_only_when_it_is_open(void **state)
{
    (void) state;
    clv_bench_cache_t cache = {0};
    clv_bench_cache_cool(&cache);
    assert_int_equal(clv_bench_cache_open(&cache), CLV_OK);
    assert_true(cache.n_bytes == clv_bench_cache_bytes() && cache.n_bytes >= 1 << 16);
    clv_bench_cache_cool(&cache);
    const char first = cache.buffer[cache.n_bytes - 1];
    clv_bench_cache_cool(&cache);
    assert_true(cache.buffer[0] == cache.buffer[cache.n_bytes - 1] && cache.buffer[0] != first);
    clv_bench_cache_close(&cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skampi_finds_a_window_and_stops_when_it_knows_enough),
        cmocka_unit_test(a_quarter_that_is_invalid_widens_the_window),
        cmocka_unit_test(nbcbench_estimates_and_measures_all_anew),
        cmocka_unit_test(a_network_that_never_fits_ends_all_the_same),
        cmocka_unit_test(other_benchmarks_are_told_apart),
        cmocka_unit_test(a_machine_is_reported),
        cmocka_unit_test(a_cache_is_cooled_only_when_it_is_open),
    };
    return clv_run_tests(tests);
}
