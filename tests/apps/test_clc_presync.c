/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Presynchronisation: maps through points, clock records as text, least delays against the truth.
 */
#include <math.h>

#include "apps/clc/clc_latency.h"
#include "apps/clc/clc_presync.h"
#include "apps/clc/clc_records.h"
#include "tests/support/clc_synth.h"
#include "tests/support/test.h"
#include "util/util_alloc.h"

static cs_random_t rng;

static void a_map_goes_through_its_points(void **state)
{
    (void) state;
    clv_clc_point_t points[] = {{3000, 90, 5}, {1000, 100, 10}, {2000, 150, 10}, {3000, 100, 20}};
    const int64_t n = clv_clc_points_sort(points, 4);
    const clv_clc_map_t map = {points, n};
    int64_t hint = 7;
    assert_int_equal(n, 3);
    assert_int_equal(clv_clc_map_global(&map, 1000, &hint), 900);
    assert_int_equal(clv_clc_map_global(&map, 1500, &hint), 1375);
    assert_int_equal(clv_clc_map_global(&map, 2500, &hint), 2375);
    assert_int_equal(clv_clc_map_global(&map, 0, &hint), -50);
    assert_int_equal(clv_clc_map_global(&map, 4000, &hint), 3950);
    assert_int_equal(clv_clc_map_bound(&map, 2500), 20);
    assert_true(clv_clc_map_bound(&map, 4000) > 20);
    const clv_clc_map_t one = {points, 1}, none = {NULL, 0};
    assert_int_equal(clv_clc_map_global(&one, 5000, &hint), 4900);
    assert_int_equal(clv_clc_map_global(&none, 5000, &hint), 5000);
    assert_int_equal(clv_clc_map_bound(&none, 0), -1);
}

/* In any order, at least a microsecond apart: offsets rise by no more than that. */
static void draw_points(clv_clc_point_t points[20])
{
    for (int k = 0; k < 20; k++) {
        points[k] = (clv_clc_point_t){
            7 * k % 20 * INT64_C(50000000) + cs_random_range(&rng, 0, 50000000 - 1000),
            INT64_C(3600000000000) + cs_random_range(&rng, -500, 500), 10};
    }
}

static void a_map_never_falls(void **state)
{
    (void) state;
    for (int i = 0; i < 200; i++) {
        clv_clc_point_t points[20];
        draw_points(points);
        const clv_clc_map_t map = {points, clv_clc_points_sort(points, 20)};
        int64_t hint = 0, local = -1000000, last = INT64_MIN;
        for (int k = 0; k < 200; k++) {
            local += cs_random_range(&rng, 0, 10000000);
            int64_t other = cs_random_range(&rng, 0, 30);
            const int64_t global = clv_clc_map_global(&map, local, &hint);
            assert_int_equal(global, clv_clc_map_global(&map, local, &other));
            assert_true(global >= last);
            last = global;
        }
    }
}

static void records_are_read(void **state)
{
    (void) state;
    static const char text[] =
        "{\"clv_clock\": 1, \"host\": \"h1\", \"boot_id\": \"b\", \"time_namespace\":\"4\", "
        "\"clock\":\"monotonic\", \"round_trip_ns\": 21400, \"new\": true}\n"
        "{\"local_ns\": 9000000000000000001, \"offset_ns\": -3600000012345.5, \"bound_ns\": 18}\n"
        "\r\n{\"something\":\"else\"}\n"
        "{\"local_ns\":1,\"offset_ns\":2,\"bound_ns\":3}\n"
        "{\"clv_clock\":1,\"host\":\"h2\"}\n{\"local_ns\":5,\"offset_ns\":6,\"bound_ns\":7}\n"
        "{\"clv_clock\":1,\"host\":\"h1\",\"boot_id\":\"b\",\"time_namespace\":\"4\","
        "\"clock\":\"monotonic\",\"round_trip_ns\":300}\n{\"local_ns\":2,\"offset_ns\":2}";
    clv_clc_sources_t sources = {0};
    const char *reason = "";
    int64_t line;
    /* 19 digits do not fit: more than 18 are refused. */
    assert_int_equal(clv_clc_records_read(&sources, text, sizeof text - 1, &reason, &line),
                     CLV_PROTOCOL);
    assert_int_equal(line, 2);
    clv_clc_records_free(&sources);
    char *shorter = strdup(text);
    *strstr(shorter, "9000000000000000001") = ' ';
    assert_int_equal(clv_clc_records_read(&sources, shorter, sizeof text - 1, &reason, &line),
                     CLV_OK);
    free(shorter);
    assert_int_equal(sources.n_sources, 2);
    const clv_clc_source_t *first = &sources.sources[0];
    assert_string_equal(first->host, "h1");
    assert_string_equal(first->time_namespace, "4");
    assert_int_equal(first->round_trip_ns, 300);
    assert_int_equal(first->n_points, 2);
    assert_int_equal(first->points[0].local_ns, 1);
    assert_int_equal(first->points[0].offset_ns, 2); /* the later of two at one time */
    assert_int_equal(first->points[1].local_ns, 2);
    clv_clc_records_free(&sources);
}

static void wrong_records_are_named(void **state)
{
    (void) state;
    static const struct {
        const char *text, *reason;
        int line;
    } cases[] = {
        {"{\"local_ns\":1}\n", "a point before the header of its clock", 1},
        {"\n{\"clv_clock\":2}\n", "a version this program does not know", 2},
        {"{\"clv_clock\":1}\n[]\n", "not a flat JSON object", 2},
        {"{\"clv_clock\":1,\"a\":{}}\n", "not a flat JSON object", 1},
        {"{\"clv_clock\":1", "not a flat JSON object", 1},
        {"{\"clv_clock\":1} x", "not a flat JSON object", 1},
        {"{\"host\":\"\\", "not a flat JSON object", 1},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        clv_clc_sources_t sources = {0};
        const char *reason = "";
        int64_t line = 0;
        assert_int_equal(
            clv_clc_records_read(&sources, cases[c].text, strlen(cases[c].text), &reason, &line),
            CLV_PROTOCOL);
        assert_string_equal(reason, cases[c].reason);
        assert_int_equal(line, cases[c].line);
        clv_clc_records_free(&sources);
    }
}

static int by_time(const void *left, const void *right)
{
    const clv_clc_delay_t *a = left, *b = right;
    return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

/* Two hosts, drift of 40 ppm and a wander of 150 us: what is found lies close to the least delay.
 */
static void least_delays_are_found(void **state)
{
    (void) state;
    int n_low = 0, n_high = 0;
    double worst_low = 0, worst_high = 0;
    for (int i = 0; i < clv_share_of(100); i++) {
        enum { N = 20000 };
        static clv_clc_delay_t there[N], back[N];
        const double true_ns = cs_random_uniform(&rng, 1000, 20000);
        const double drift = cs_random_uniform(&rng, -4e-5, 4e-5);
        for (int k = 0; k < 2 * N; k++) {
            const double time = cs_random_uniform(&rng, 0, 3e10);
            const double theta = drift * time + 1.5e5 * sin(2 * 3.14159265 * time / 5e10 + i);
            const double delay = true_ns * (1 + cs_random_exponential(&rng, 0.3));
            clv_clc_delay_t *sample = k < N ? &there[k] : &back[k - N];
            *sample =
                (clv_clc_delay_t){(int64_t) time, (int64_t) (delay + (k < N ? theta : -theta))};
        }
        qsort(there, N, sizeof *there, by_time);
        qsort(back, N, sizeof *back, by_time);
        const double found = (double) clv_clc_least_delay_of_pair(there, N, back, N);
        n_low += found < true_ns;
        n_high += found > true_ns;
        worst_low = fmin(worst_low, found / true_ns - 1);
        worst_high = fmax(worst_high, found / true_ns - 1);
    }
    printf("# least delays: %d below the truth, by %.1f %% at most, %d above, by %.1f %% at most\n",
           n_low, -100 * worst_low, n_high, 100 * worst_high);
    assert_true(worst_high < 0.05);
    assert_true(worst_low > -0.5);
}

static void without_both_directions_there_is_none(void **state)
{
    (void) state;
    clv_clc_delay_t there[] = {{0, 5}, {10, 6}}, back[] = {{20, 7}};
    assert_true(clv_clc_least_delay(there, 2, back, 0) == INT64_MAX);
    assert_true(clv_clc_least_delay(there, 2, back, 1) == INT64_MAX);
    clv_clc_delay_t one[] = {{5, 30}}, two[] = {{5, -10}};
    assert_int_equal(clv_clc_least_delay(one, 1, two, 1), 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_map_goes_through_its_points),
        cmocka_unit_test(a_map_never_falls),
        cmocka_unit_test(records_are_read),
        cmocka_unit_test(wrong_records_are_named),
        cmocka_unit_test(least_delays_are_found),
        cmocka_unit_test(without_both_directions_there_is_none),
    };
    cs_random_seed_from_environment(&rng);
    return clv_run_tests(tests);
}
