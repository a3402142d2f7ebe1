/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parts of the controlled logical clock by hand-made traces: one message as in the paper's Figure
 * 1, prefixes, cycles, equal stamps, hulls, what is refused, memory that runs out.
 */
#include <math.h>

#include "apps/clc/clc_internal.h"
#include "tests/sim/cs_random.h"
#include "tests/support/test.h"
#include "util/util_alloc.h"

static cs_random_t rng;

#define INTERNAL(time)                                                                             \
    {                                                                                              \
        time, 0, 0, 0                                                                              \
    }
#define SEND(time, message)                                                                        \
    {                                                                                              \
        time, 0, message, CLV_CLC_SEND                                                             \
    }
#define RECEIVE(time, message)                                                                     \
    {                                                                                              \
        time, 0, message, CLV_CLC_RECEIVE                                                          \
    }
#define ENTER(time, group, me)                                                                     \
    {                                                                                              \
        time, 0, group, CLV_CLC_ENTER | (me) << 3                                                  \
    }
#define EXIT(time, group, me)                                                                      \
    {                                                                                              \
        time, 0, group, CLV_CLC_EXIT | (me) << 3                                                   \
    }

static const uint32_t numbers[] = {0, 1, 2, 3};
static clv_clc_line_t own_lines[] = {
    {&numbers[0], 1}, {&numbers[1], 1}, {&numbers[2], 1}, {&numbers[3], 1}};
static const clv_clc_config_t plain = {
    .inter_ns = 10, .intra_ns = 1, .gamma = 1, .slope = 0.01, .n_threads = 1};

static clv_clc_forward_result_t correct(const clv_clc_trace_t *trace,
                                        const clv_clc_config_t *config)
{
    clv_clc_forward_result_t result;
    double steepest;
    uint64_t where;
    assert_null(clv_clc_check(trace, &where));
    assert_int_equal(clv_clc_forward(trace, config, &result), CLV_OK);
    assert_int_equal(clv_clc_backward(trace, config, &steepest), CLV_OK);
    return result;
}

/* Figure 1: a receive before its send is moved, what follows keeps its distance, what precedes is
 * stretched. */
static void one_message_is_put_right(void **state)
{
    (void) state;
    clv_clc_event_t a[] = {INTERNAL(0), SEND(100000, 0), INTERNAL(100100)};
    clv_clc_event_t b[] = {INTERNAL(0), INTERNAL(90000), RECEIVE(99910, 0), INTERNAL(99990)};
    clv_clc_track_t tracks[] = {{a, 3}, {b, 4}};
    clv_clc_message_t message = {0, 0, 0, 1};
    const clv_clc_trace_t trace = {.tracks = tracks,
                                   .n_tracks = 2,
                                   .lines = own_lines,
                                   .n_lines = 2,
                                   .messages = &message,
                                   .n_messages = 1};
    const clv_clc_forward_result_t result = correct(&trace, &plain);
    assert_int_equal(result.n_explicit, 1);
    assert_int_equal(result.largest_shift_ns, 100);
    assert_int_equal(a[1].corrected, 100000);
    assert_int_equal(b[2].corrected, 100010);
    assert_int_equal(b[3].corrected, 100090);
    /* 100 ns at a slope of 0.01 reach 10000 ns back: from 89910, so 90 ns later there is 0.9. */
    assert_int_equal(b[1].corrected, 90000);
    assert_int_equal(b[0].corrected, 0);
}

static void a_send_does_not_pass_its_receiver(void **state)
{
    (void) state;
    clv_clc_event_t a[] = {INTERNAL(0), RECEIVE(99500, 1), SEND(100000, 0)};
    clv_clc_event_t b[] = {INTERNAL(0), SEND(99480, 1), RECEIVE(99900, 0)};
    clv_clc_track_t tracks[] = {{a, 3}, {b, 3}};
    clv_clc_message_t messages[] = {{0, 0, 0, 1}, {0, 0, 1, 0}};
    const clv_clc_trace_t trace = {.tracks = tracks,
                                   .n_tracks = 2,
                                   .lines = own_lines,
                                   .n_lines = 2,
                                   .messages = messages,
                                   .n_messages = 2};
    correct(&trace, &plain);
    assert_int_equal(b[2].corrected, 100010);
    assert_int_equal(b[1].corrected, 99490); /* 105 of 110 ns by the slope, 10 by its receiver */
}

/* MPI_Scan of member i has taken what 0 to i gave. */
static void a_prefix_waits_for_those_below(void **state)
{
    (void) state;
    clv_clc_event_t a[] = {ENTER(1000, 0, 0), EXIT(1001, 0, 0)};
    clv_clc_event_t b[] = {ENTER(500, 0, 1), EXIT(501, 0, 1)};
    clv_clc_event_t c[] = {ENTER(2000, 0, 2), EXIT(2001, 0, 2)};
    clv_clc_track_t tracks[] = {{a, 2}, {b, 2}, {c, 2}};
    int32_t hosts[] = {0, 1, 2};
    uint32_t beside[3];
    clv_clc_team_t team = {3, hosts, beside};
    clv_clc_member_t members[] = {{0, 0, 3}, {0, 0, 3}, {0, 0, 3}};
    clv_clc_collective_t scan = {.flavour = CLV_CLC_SCAN, .op = 14};
    const clv_clc_trace_t trace = {.tracks = tracks,
                                   .n_tracks = 3,
                                   .lines = own_lines,
                                   .n_lines = 3,
                                   .teams = &team,
                                   .n_teams = 1,
                                   .collectives = &scan,
                                   .n_collectives = 1,
                                   .members = members,
                                   .n_members = 3};
    clv_clc_team_ring(&team);
    const clv_clc_forward_result_t result = correct(&trace, &plain);
    assert_int_equal(a[1].corrected, 1001);
    assert_int_equal(b[1].corrected, 1010);
    assert_int_equal(c[1].corrected, 2001);
    assert_int_equal(result.explicit_by_op[14], 1);
}

/* Each waits for what the other sends later: the earlier one goes on, and is named. */
static void a_cycle_is_broken_at_its_earliest_event(void **state)
{
    (void) state;
    clv_clc_event_t a[] = {RECEIVE(200, 1), SEND(300, 0)};
    clv_clc_event_t b[] = {RECEIVE(100, 0), SEND(400, 1)};
    clv_clc_track_t tracks[] = {{a, 2}, {b, 2}};
    clv_clc_message_t messages[] = {{0, 0, 0, 1}, {0, 0, 1, 0}};
    const clv_clc_trace_t trace = {.tracks = tracks,
                                   .n_tracks = 2,
                                   .lines = own_lines,
                                   .n_lines = 2,
                                   .messages = messages,
                                   .n_messages = 2};
    for (int32_t n_threads = 1; n_threads <= 2; n_threads++) {
        clv_clc_config_t config = plain;
        config.n_threads = n_threads;
        const clv_clc_forward_result_t result = correct(&trace, &config);
        assert_int_equal(result.n_broken, 1);
        assert_int_equal(result.broken[0].track, 1);
        assert_int_equal(result.broken[0].event, 0);
        assert_int_equal(a[0].corrected, 410);
        assert_int_equal(b[0].corrected, 100);
    }
}

/* A coarse clock gives a relay on one host one stamp; its tracks do not order each other there. */
static void equal_stamps_of_a_host_do_not_wait_for_each_other(void **state)
{
    (void) state;
    static const uint32_t both[] = {0, 1};
    clv_clc_event_t a[] = {RECEIVE(1000, 1), INTERNAL(2000)};
    clv_clc_event_t b[] = {INTERNAL(1000), SEND(1000, 1), INTERNAL(1000)};
    clv_clc_track_t tracks[] = {{a, 2}, {b, 3}};
    clv_clc_line_t line = {both, 2};
    clv_clc_message_t messages[] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    const clv_clc_trace_t trace = {.tracks = tracks,
                                   .n_tracks = 2,
                                   .lines = &line,
                                   .n_lines = 1,
                                   .messages = messages,
                                   .n_messages = 2};
    const clv_clc_forward_result_t result = correct(&trace, &plain);
    assert_int_equal(result.n_broken, 0);
    assert_int_equal(a[0].corrected, 1001);
    assert_int_equal(b[2].corrected, 1000);
    assert_int_equal(a[1].corrected, 2001);
}

/* With whole nanoseconds, a shift over events 100 ns apart would lose 1 ns at each. */
static void a_shift_keeps_its_fraction(void **state)
{
    (void) state;
    enum { N = 100000 };
    clv_clc_event_t a[] = {SEND(100000, 0)};
    clv_clc_event_t *b = calloc(N, sizeof *b);
    assert_non_null(b);
    b[0] = (clv_clc_event_t) RECEIVE(0, 0);
    for (int64_t j = 1; j < N; j++) {
        b[j] = (clv_clc_event_t) INTERNAL(j * 100);
    }
    clv_clc_track_t tracks[] = {{a, 1}, {b, N}};
    clv_clc_message_t message = {0, 0, 0, 1};
    const clv_clc_trace_t trace = {.tracks = tracks,
                                   .n_tracks = 2,
                                   .lines = own_lines,
                                   .n_lines = 2,
                                   .messages = &message,
                                   .n_messages = 1};
    clv_clc_config_t config = plain;
    config.gamma = 0.9999;
    correct(&trace, &config);
    /* 10 ms at 0.0001 are 1000 ns. */
    assert_in_range(b[N - 1].corrected - b[N - 1].stamp, 100010 - 1001, 100010 - 999);
    free(b);
}

/* The steepest send, then again from there: what the hull replaces. */
static double steepest_send(const double *x, const double *y, int n, double at)
{
    double from = 0, height = y[0];
    int last = 0;
    for (;;) {
        double best = -1e300;
        int chosen = -1;
        for (int i = last + 1; i < n; i++) {
            if (x[i] > from && (height - y[i]) / (x[i] - from) >= best) {
                best = (height - y[i]) / (x[i] - from);
                chosen = i;
            }
        }
        if (chosen < 0 || at <= x[chosen]) {
            return chosen < 0 ? height : height - best * (at - from);
        }
        from = x[chosen];
        height = y[chosen];
        last = chosen;
    }
}

static void a_hull_is_the_papers_recursion(void **state)
{
    (void) state;
    double worst = 0;
    for (int i = 0; i < 20000; i++) {
        enum { MOST = 40 };
        double x[MOST], y[MOST], hx[MOST], hy[MOST];
        const int n = (int) cs_random_range(&rng, 2, MOST);
        x[0] = 0;
        hx[0] = 0;
        hy[0] = y[0] = (double) cs_random_range(&rng, 1, 1000000);
        for (int k = 1; k < n; k++) {
            x[k] = x[k - 1] + (double) cs_random_range(&rng, 1, 100000);
            y[k] = k == n - 1 ? 0 : (double) cs_random_range(&rng, 0, (int64_t) y[0]);
            hx[n - k] = x[k]; /* out of order on purpose */
            hy[n - k] = y[k];
        }
        clv_clc_hull_t hull = {hx, hy, n};
        clv_clc_hull_make(&hull);
        int64_t right = hull.n - 1;
        for (int k = 0; k < 10; k++) {
            const double at = cs_random_uniform(&rng, 0, x[n - 1]);
            worst =
                fmax(worst, fabs(clv_clc_hull_at(&hull, &right, at) - steepest_send(x, y, n, at)));
        }
    }
    printf("# hull against recursion: %.9f ns at most\n", worst);
    assert_true(worst < 0.001);
}

static void what_is_wrong_is_named(void **state)
{
    (void) state;
    clv_clc_event_t falling[] = {INTERNAL(5), INTERNAL(4)};
    clv_clc_event_t stray[] = {SEND(5, 7)};
    clv_clc_event_t far_off[] = {INTERNAL(INT64_MAX)};
    clv_clc_track_t track = {falling, 2};
    clv_clc_collective_t collective = {.team = 3};
    clv_clc_trace_t trace = {.tracks = &track, .n_tracks = 1, .lines = own_lines, .n_lines = 1};
    uint64_t where;
    assert_string_equal(clv_clc_check(&trace, &where), "stamps of a track fall");
    track = (clv_clc_track_t){stray, 1};
    assert_string_equal(clv_clc_check(&trace, &where), "an event of no message");
    track = (clv_clc_track_t){far_off, 1};
    assert_string_equal(clv_clc_check(&trace, &where), "a stamp beyond 73 years");
    trace.collectives = &collective;
    trace.n_collectives = 1;
    assert_string_equal(clv_clc_check(&trace, &where), "a collective of no team");
    clv_clc_config_t config = plain;
    config.gamma = NAN;
    assert_string_equal(clv_clc_check_config(&config), "gamma is not between 0 and 1");
    config.gamma = 1;
    config.slope = 0;
    assert_string_equal(clv_clc_check_config(&config), "the slope is not above 0");
}

static int countdown;
static int fail_later(void *context, size_t n_bytes)
{
    (void) context;
    (void) n_bytes;
    return countdown-- == 0;
}

static void memory_may_run_out_anywhere(void **state)
{
    (void) state;
    clv_clc_event_t a[] = {SEND(300, 0)}, b[] = {INTERNAL(100), RECEIVE(200, 0)};
    clv_clc_track_t tracks[] = {{a, 1}, {b, 2}};
    clv_clc_message_t message = {0, 0, 0, 1};
    const clv_clc_trace_t trace = {.tracks = tracks,
                                   .n_tracks = 2,
                                   .lines = own_lines,
                                   .n_lines = 2,
                                   .messages = &message,
                                   .n_messages = 1};
    int n_refused = 0, is_done = 0;
    for (int i = 0; i < 100 && !is_done; i++) {
        clv_clc_forward_result_t result;
        double steepest;
        countdown = i;
        clv_alloc_set_hook(fail_later, NULL);
        clv_status_t status = clv_clc_forward(&trace, &plain, &result);
        if (status == CLV_OK) {
            status = clv_clc_backward(&trace, &plain, &steepest);
        }
        clv_alloc_set_hook(NULL, NULL);
        assert_true(status == CLV_OK || status == CLV_NO_MEMORY);
        n_refused += status == CLV_NO_MEMORY;
        is_done = countdown > 0;
    }
    assert_true(n_refused > 10);
    assert_true(is_done);
}

int main(void)
{
    cs_random_seed_from_environment(&rng);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_message_is_put_right),
        cmocka_unit_test(a_send_does_not_pass_its_receiver),
        cmocka_unit_test(a_prefix_waits_for_those_below),
        cmocka_unit_test(a_cycle_is_broken_at_its_earliest_event),
        cmocka_unit_test(equal_stamps_of_a_host_do_not_wait_for_each_other),
        cmocka_unit_test(a_shift_keeps_its_fraction),
        cmocka_unit_test(a_hull_is_the_papers_recursion),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return clv_run_tests(tests);
}
