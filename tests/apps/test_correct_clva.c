/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What clv-correct reads of a recorder's file: points where the tracker's lines were fitted, the
 * last one drawn on, the clock's names; and what it says of files that it cannot read.
 */
#include "tests/support/test.h"

#include <math.h>

#include "clocksync/clocksync.h"
#include "tests/sim/cs_random.h"
#include "apps/tools/correct/correct.h"
#include "record/record_clva.h"

#define NS_PER_S INT64_C(1000000000)

static unsigned char file[1 << 16];

static const clv_clva_clock_t first = {.from_ns = 12 * NS_PER_S,
                                       .origin_ns = 10 * NS_PER_S,
                                       .offset_ns = 3600 * NS_PER_S,
                                       .slope = 5e-6,
                                       .error_ns = 700,
                                       .error_ppb = 40};
static const clv_clva_clock_t second = {.from_ns = 32 * NS_PER_S,
                                        .origin_ns = 30 * NS_PER_S,
                                        .offset_ns = 3600 * NS_PER_S + 90000,
                                        .slope = 4e-6,
                                        .error_ns = 900,
                                        .error_ppb = 40};

static const clv_clva_call_t call = {
    .arrival_ns = 40 * NS_PER_S, .exit_ns = 50 * NS_PER_S, .predicted_ns = CLV_CLVA_NO_FORECAST};

/* Returns its bytes. */
static size_t make_file(int64_t version)
{
    const clv_clva_head_t head = {.clva = version,
                                  .job = "made",
                                  .n_nodes = 1,
                                  .n_ranks = 2,
                                  .n_local = 2,
                                  .host = "n7",
                                  .boot_id = "b",
                                  .time_namespace = "time:[7]",
                                  .clock = "monotonic"};
    size_t n = clv_clva_put_head((char *) file, sizeof file, &head);

    n += clv_clva_put_clock(file + n, sizeof file - n, &first);
    n += clv_clva_put_calls(file + n, sizeof file - n, 1, &call, 1);
    return n + clv_clva_put_clock(file + n, sizeof file - n, &second);
}

static clv_status_t read_file(size_t n_bytes, clv_clc_sources_t *sources, const char **reason)
{
    char *text = NULL;
    size_t n_text = 0;
    int64_t line = 0;
    clv_status_t status =
        correct_clva_as_lines((const char *) file, n_bytes, &text, &n_text, reason);

    if (status == CLV_OK) {
        status = clv_clc_records_read(sources, text, n_text, reason, &line);
    }
    free(text);
    return status;
}

static void assert_point(const clv_clc_point_t *point, int64_t local, int64_t offset, int64_t bound)
{
    assert_int_equal(point->local_ns, local);
    assert_int_equal(point->offset_ns, offset);
    assert_int_equal(point->bound_ns, bound);
}

static void points_lie_where_lines_were_fitted(void **state)
{
    clv_clc_sources_t sources = {0};
    const char *reason = "";
    (void) state;

    assert_int_equal(read_file(make_file(CLV_CLVA_VERSION), &sources, &reason), CLV_OK);
    assert_int_equal(sources.n_sources, 1);
    assert_string_equal(sources.sources[0].host, "n7");
    assert_string_equal(sources.sources[0].boot_id, "b");
    assert_string_equal(sources.sources[0].time_namespace, "time:[7]");
    assert_string_equal(sources.sources[0].clock, "monotonic");
    assert_int_equal(sources.sources[0].n_points, 3);
    assert_point(&sources.sources[0].points[0], first.origin_ns, first.offset_ns, 700);
    assert_point(&sources.sources[0].points[1], second.origin_ns, second.offset_ns, 900);
    assert_point(&sources.sources[0].points[2], call.exit_ns, second.offset_ns + 80000, 1700);
    clv_clc_records_free(&sources);
}

/* Half way between two origins the offset is half way, not where the first line would be. */
static void between_them_it_is_interpolated(void **state)
{
    clv_clc_sources_t sources = {0};
    const char *reason = "";
    int64_t hint = 0;
    (void) state;

    assert_int_equal(read_file(make_file(CLV_CLVA_VERSION), &sources, &reason), CLV_OK);
    const clv_clc_map_t map = {sources.sources[0].points, sources.sources[0].n_points};
    assert_int_equal(clv_clc_map_global(&map, 20 * NS_PER_S, &hint),
                     20 * NS_PER_S - 3600 * NS_PER_S - 45000);
    clv_clc_records_free(&sources);
}

static void a_tail_that_is_cut_off_is_left(void **state)
{
    clv_clc_sources_t sources = {0};
    const char *reason = "";
    (void) state;

    assert_int_equal(read_file(make_file(CLV_CLVA_VERSION) - 3, &sources, &reason), CLV_OK);
    assert_int_equal(sources.sources[0].n_points, 2); /* of the first line alone */
    assert_point(&sources.sources[0].points[1], call.exit_ns, first.offset_ns + 200000, 2300);
    clv_clc_records_free(&sources);
}

static void what_cannot_be_read_is_said(void **state)
{
    clv_clc_sources_t sources = {0};
    const char *reason = "";
    const size_t n = make_file(CLV_CLVA_VERSION);
    (void) state;

    memset(file + n, 0xff, 64);
    assert_int_equal(read_file(n + 64, &sources, &reason), CLV_PROTOCOL);
    assert_string_equal(reason, "what is no record");
    assert_int_equal(read_file(make_file(CLV_CLVA_VERSION + 1), &sources, &reason),
                     CLV_UNSUPPORTED);
    assert_string_equal(reason, "a version this program does not know");
    assert_true(correct_is_clva((const char *) file, n));
    assert_false(correct_is_clva("{\"clv_clock\":1}\n", 16));
    clv_clc_records_free(&sources);
}

/* ---- how near recorded lines come to a clock that wanders ---- */

static double wander(double time_ns)
{
    return 150000.0 * sin(2 * M_PI * time_ns / 50e9);
}

static clv_cs_sample_t ping(cs_random_t *random, double time_ns, double noise_ns)
{
    const double there = 15000 + cs_random_exponential(random, noise_ns);
    const double back = 15000 + cs_random_exponential(random, noise_ns);
    const double answered = time_ns + there, received = answered + back;

    return (clv_cs_sample_t){.client_send_ns = (int64_t) (time_ns + wander(time_ns)),
                             .reference_recv_ns = (int64_t) answered,
                             .reference_send_ns = (int64_t) answered,
                             .client_recv_ns = (int64_t) (received + wander(received))};
}

/* A burst of eight pings every 4 s, as while something is recorded, for four minutes. */
static double line_error_us(cs_random_t *random, double noise_ns, double *points_us)
{
    enum { BURST = 8, N_BURSTS = 60 };
    clv_cs_tracker_t tracker;
    clv_cs_model_t model;
    double by_line = 0, by_points = 0;

    clv_cs_tracker_init(&tracker, BURST);
    for (int i = 0; i < N_BURSTS; i++) {
        for (int k = 0; k < BURST; k++) {
            const clv_cs_sample_t sample = ping(random, i * 4e9 + k * 1e6, noise_ns);
            (void) clv_cs_tracker_feed(&tracker, &sample);
        }
        if (clv_cs_tracker_model(&tracker, &model) == CLV_OK) {
            const double truth = wander((double) model.origin_ns);
            const clv_cs_point_t *newest = &tracker.point[tracker.n_points - 1];
            by_line += fabs((double) model.offset_ns - truth) / N_BURSTS / 1e3;
            by_points += fabs((double) newest->offset_ns - truth) / N_BURSTS / 1e3;
        }
    }
    *points_us = by_points;
    return by_line;
}

/* Why recorded clocks alone miss 5 us in docs/results/trace-correction.md: pings of ranks that keep
 * the processors busy, and a little the line through them. In 1,000 seeds points are up to 1.49
 * times as far off as lines. */
static void a_line_is_as_good_as_its_pings(void **state)
{
    static const struct {
        double noise_ns, most_us;
    } rows[] = {{5000, 4}, {50000, 14}, {100000, 25}};
    cs_random_t random;

    (void) state;
    cs_random_seed_from_environment(&random);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double points_us;
        const double line_us = line_error_us(&random, rows[i].noise_ns, &points_us);
        printf("# pings %.0f us above the least: points %.1f us off, lines where they end %.1f\n",
               rows[i].noise_ns / 1e3, points_us, line_us);
        assert_true(line_us < rows[i].most_us);
        assert_true(points_us < 1.6 * line_us);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(points_lie_where_lines_were_fitted),
                                       cmocka_unit_test(between_them_it_is_interpolated),
                                       cmocka_unit_test(a_tail_that_is_cut_off_is_left),
                                       cmocka_unit_test(what_cannot_be_read_is_said),
                                       cmocka_unit_test(a_line_is_as_good_as_its_pings)};
    return clv_run_tests(tests);
}
