/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The small parts of the clocksync module: labels, base clocks, places, composed models.
 */
#include "clocksync/cs_internal.h"
#include "clocksync/methods/cs_methods.h"
#include "tests/sim/cs_random.h"
#include "tests/support/test.h"
#include "util/util_time.h"

static cs_random_t rng;

static clv_cs_scheme_t parsed(const char *label)
{
    clv_cs_scheme_t scheme;
    assert_int_equal(clv_cs_scheme_parse(label, &scheme), CLV_OK);
    return scheme;
}

static void labels_say_what_the_papers_say(void **state)
{
    (void) state;
    const clv_cs_scheme_t full = parsed("hca3/1000/SKaMPI-Offset/100");
    assert_int_equal(full.n_levels, 1);
    assert_int_equal(full.level[0].algorithm, CLV_CS_HCA3);
    assert_int_equal(full.level[0].n_fit_points, 1000);
    assert_int_equal(full.level[0].offset, CLV_CS_OFFSET_SKAMPI);
    assert_int_equal(full.level[0].n_exchanges, 100);
    assert_false(full.level[0].recompute_intercept || full.level[0].stop_early);

    const clv_cs_scheme_t jk = parsed("JK/7/Mean-RTT-Offset/20/recompute/early");
    assert_int_equal(jk.level[0].algorithm, CLV_CS_JK);
    assert_int_equal(jk.level[0].offset, CLV_CS_OFFSET_MEAN_RTT);
    assert_true(jk.level[0].recompute_intercept && jk.level[0].stop_early);

    assert_int_equal(parsed("skampi/33").level[0].n_exchanges, 33);
    assert_int_equal(parsed("netgauge").level[0].offset, CLV_CS_OFFSET_NETGAUGE);
    assert_int_equal(parsed("hca3/9/skampi/5/2ms").level[0].pause_us, 2000);
    assert_int_equal(parsed("hca2/9").level[0].n_fit_points, 9);
    assert_int_equal(parsed("ClockPropSync").level[0].algorithm, CLV_CS_PROP);
    assert_true(parsed("hca/50/SKaMPI-Offset/10/recompute_intercept").level[0].recompute_intercept);
}

static void labels_of_levels(void **state)
{
    (void) state;
    const clv_cs_scheme_t two = parsed("h2hca/500/skampi/100");
    assert_int_equal(two.n_levels, 2);
    assert_int_equal(two.level[0].algorithm, CLV_CS_HCA3);
    assert_int_equal(two.level[0].n_fit_points, 500);
    assert_int_equal(two.level[1].algorithm, CLV_CS_PROP);
    const clv_cs_scheme_t papers = parsed("Top/hca3/500/SKaMPI-Offset/100/Bottom/ClockPropagation");
    assert_memory_equal(&two, &papers, sizeof two);
    const clv_cs_scheme_t three = parsed("top/hca2/5/middle/hca3/6/bottom/jk/7");
    assert_int_equal(three.n_levels, 3);
    assert_int_equal(three.level[1].n_fit_points, 6);
    assert_int_equal(three.level[2].algorithm, CLV_CS_JK);
    assert_int_equal(three.part, CLV_CS_PART_SOCKET);
    assert_int_equal(parsed("h3hca").n_levels, 3);
    assert_int_equal(parsed("h3hca@numa/5").part, CLV_CS_PART_NUMA);
    assert_int_equal(parsed("top/hca2/5/Middle@Cache/hca3/6/bottom/jk/7").part, CLV_CS_PART_CACHE);
}

static void printed_labels_parse_to_the_same(void **state)
{
    (void) state;
    static const char *const labels[] = {
        "hca3/1000/skampi/100",
        "hca3/5/skampi/6/2ms",
        "hca2/5/700us/early",
        "jk/7/skampi/5/early/plain/3ms",
        "jk/3/mean-rtt/4/recompute",
        "skampi/9",
        "netgauge/8",
        "netgauge/skampi/8",
        "prop",
        "hca/1/netgauge/2/early",
        "skampi/mean-rtt/5",
        "skampi/cristian/100",
        "h2hca/5/skampi/6/recompute/early",
        "h3hca/9/mean-rtt/4",
        "h3hca@cache/9/mean-rtt/4",
        "top/jk/1/skampi/2/middle@numa/hca/3/skampi/4/bottom/hca2/5/mean-rtt/6",
        "top/jk/1/skampi/2/middle/hca/3/skampi/4/bottom/hca2/5/mean-rtt/6"};
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        char text[256];
        const clv_cs_scheme_t scheme = parsed(labels[i]);
        clv_cs_scheme_print(&scheme, text, sizeof text);
        const clv_cs_scheme_t again = parsed(text);
        assert_memory_equal(&scheme, &again, sizeof scheme);
    }
}

static void a_short_buffer_is_cut(void **state)
{
    (void) state;
    char text[8] = "xxxxxxx";
    const clv_cs_scheme_t scheme = parsed("hca3/1000/skampi/100");
    clv_cs_scheme_print(&scheme, text, 6);
    assert_string_equal(text, "hca3/");
    clv_cs_scheme_print(&scheme, text, 0);
    assert_string_equal(text, "hca3/");
}

static void wrong_labels_are_refused(void **state)
{
    (void) state;
    static const char *const labels[] = {"",
                                         "/",
                                         "hca4",
                                         "hca3/",
                                         "hca3/0",
                                         "hca3/-5",
                                         "hca3/1/2/3",
                                         "hca3/skampi/skampi",
                                         "hca3/1x",
                                         "hca3/99999999999999",
                                         "hca3/skampi/5/6",
                                         "hca3/recompute/recompute",
                                         "top/hca3",
                                         "top/bottom",
                                         "top/hca3/bottom",
                                         "top/hca3/bottom/x",
                                         "top/hca3/bottom/hca3/middle/hca3",
                                         "h2hca/x",
                                         "skampi/1/2",
                                         "top/x/bottom/prop",
                                         "hca3/+5",
                                         "hca3/0ms",
                                         "hca3/2s",
                                         "hca3/2ms/2ms",
                                         "hca3/plain/plain",
                                         "top"};
    clv_cs_scheme_t scheme;
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        assert_int_equal(clv_cs_scheme_parse(labels[i], &scheme), CLV_INVALID);
    }
    char text[400];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(clv_cs_scheme_parse(text, &scheme), CLV_INVALID);
    memset(text, '/', 60);
    text[60] = '\0';
    assert_int_equal(clv_cs_scheme_parse(text, &scheme), CLV_INVALID);
}

static void wrong_parts_are_refused(void **state)
{
    static const char *const labels[] = {"h2hca@numa", "h3hca@", "h3hca@core", "h3hcas",
                                         "top/hca3/middle@die/hca3/bottom/prop"};
    clv_cs_scheme_t scheme;
    (void) state;
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        assert_int_equal(clv_cs_scheme_parse(labels[i], &scheme), CLV_INVALID);
    }
}

static void base_clocks_run_forward_at_the_same_rate(void **state)
{
    (void) state;
    static const char *const names[] = {
#define NAME(name, text) #name,
        CLV_CS_CLOCK_MAP(NAME)
#undef NAME
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        clv_cs_clock_t clock;
        const clv_status_t status = clv_cs_clock_open(names[i], &clock);
        if (status == CLV_UNSUPPORTED) {
            print_message("# %s is not usable here\n", names[i]);
            continue;
        }
        assert_int_equal(status, CLV_OK);
        assert_string_equal(clock.name, names[i]);
        const int64_t first = clv_cs_clock_now_ns(&clock);
        const int64_t start_ns = clv_local_now_ns();
        int64_t last = first, elapsed_ns = 0;
        while (elapsed_ns < 5 * CLV_NS_PER_MS) {
            elapsed_ns = clv_local_now_ns() - start_ns;
            const int64_t now = clv_cs_clock_now_ns(&clock);
            assert_true(now >= last);
            last = now;
        }
        assert_true(last - first >= elapsed_ns - elapsed_ns / 100); /* it was read outside */
    }
}

static void unknown_clock_is_invalid(void **state)
{
    (void) state;
    clv_cs_clock_t clock;
    static const char *const wrong[] = {"sundial",    "",         "ts",          "tsc@",
                                        "tsc@0.5MHz", "tsc@2.3",  "tsc@2.3GHz ", "monotonic@1GHz",
                                        "tscp@-1GHz", "tscp@nan", "tsc@101GHz"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(clv_cs_clock_open(wrong[i], &clock), CLV_INVALID);
    }
}

static int64_t hand_ns;

static int64_t hand_now(const clv_cs_clock_t *clock)
{
    (void) clock;
    return hand_ns;
}

static void a_pretend_clock_is_as_wrong_as_told(void **state)
{
    (void) state;
    const clv_cs_clock_t hand = {.now_ns = hand_now, .name = "hand"};
    clv_cs_clock_t clock;
    hand_ns = 1000 * CLV_NS_PER_S;
    clv_cs_clock_pretend(&hand, 3600 * CLV_NS_PER_S, 50000, &clock);
    assert_int_equal(clv_cs_clock_now_ns(&clock), 4600 * CLV_NS_PER_S);
    hand_ns += 10 * CLV_NS_PER_S;
    assert_int_equal(clv_cs_clock_now_ns(&clock), 4610 * CLV_NS_PER_S + 500000);
    clv_cs_clock_pretend_step(&clock, hand_ns + 5, -1000);
    assert_int_equal(clv_cs_clock_now_ns(&clock), 4610 * CLV_NS_PER_S + 500000);
    hand_ns += 5;
    assert_int_equal(clv_cs_clock_now_ns(&clock), 4610 * CLV_NS_PER_S + 500000 + 5 - 1000);
}

static void a_place_tells_time_sources_apart(void **state)
{
    (void) state;
    clv_cs_clock_t monotonic, raw, pretend;
    clv_cs_place_t a, b, c, d;
    assert_int_equal(clv_cs_clock_open("monotonic", &monotonic), CLV_OK);
    assert_int_equal(clv_cs_clock_open("monotonic_raw", &raw), CLV_OK);
    clv_cs_clock_pretend(&monotonic, 5, 5, &pretend);
    assert_int_equal(clv_cs_place_discover(&monotonic, &a), CLV_OK);
    assert_int_equal(clv_cs_place_discover(&monotonic, &b), CLV_OK);
    assert_int_equal(clv_cs_place_discover(&raw, &c), CLV_OK);
    assert_int_equal(clv_cs_place_discover(&pretend, &d), CLV_OK);
    assert_memory_equal(&a, &b, sizeof a);
    assert_true(a.host == c.host && a.host == d.host);
    assert_true(a.time_source != c.time_source && a.time_source != d.time_source);
    assert_true(a.part[CLV_CS_PART_SOCKET] >= 0 && a.part[CLV_CS_PART_NUMA] >= 0);
    assert_int_equal(clv_cs_place_discover(NULL, &a), CLV_OK);
}

/* Each process calibrates the cycle counter for itself: not one clock until the numbers are. */
static void two_calibrations_are_two_time_sources(void **state)
{
    (void) state;
    clv_cs_clock_t first, second;
    clv_cs_place_t a, b;
    if (clv_cs_clock_open("tsc", &first) != CLV_OK) {
        skip();
    }
    assert_int_equal(clv_cs_clock_open("tsc", &second), CLV_OK);
    assert_int_equal(clv_cs_place_discover(&first, &a), CLV_OK);
    assert_int_equal(clv_cs_place_discover(&second, &b), CLV_OK);
    assert_true(a.host == b.host && a.time_source != b.time_source);
    second = first;
    assert_int_equal(clv_cs_place_discover(&second, &b), CLV_OK);
    assert_true(a.time_source == b.time_source);
}

/* With a frequency that is given, it is one clock in all processes, and as fast as that says. */
static void a_given_frequency_is_not_calibrated(void **state)
{
    (void) state;
    clv_cs_clock_t slow, fast, other;
    clv_cs_place_t a, b;
    if (clv_cs_clock_open("tsc@1GHz", &slow) != CLV_OK) {
        skip();
    }
    assert_int_equal(clv_cs_clock_open("tsc@2000000kHz", &fast), CLV_OK);
    assert_int_equal(clv_cs_clock_open("tsc@1000000000", &other), CLV_OK);
    assert_true(clv_cs_clock_is_counter(&slow));
    const int64_t slow_ns = clv_cs_clock_now_ns(&slow);
    const int64_t fast_ns = clv_cs_clock_now_ns(&fast);
    assert_true(llabs(slow_ns - 2 * fast_ns) < 100 * CLV_NS_PER_MS);
    assert_int_equal(clv_cs_place_discover(&slow, &a), CLV_OK);
    assert_int_equal(clv_cs_place_discover(&other, &b), CLV_OK);
    assert_true(a.time_source == b.time_source);
    assert_int_equal(clv_cs_clock_open("monotonic", &other), CLV_OK);
    assert_true(!clv_cs_clock_is_counter(&other));
}

static clv_cs_model_t random_model(int64_t origin_ns)
{
    clv_cs_model_t model = {.origin_ns = origin_ns};
    model.offset_ns = cs_random_range(&rng, -CLV_NS_PER_S * 4000, CLV_NS_PER_S * 4000);
    model.slope = cs_random_uniform(&rng, -1e-4, 1e-4);
    model.error_ns = cs_random_range(&rng, 0, 100000);
    model.error_ppb = cs_random_range(&rng, 0, 1000);
    return model;
}

/* Merged in either order of three levels, the result is the way through all of them. */
static void composed_models_are_the_way_through_both(void **state)
{
    (void) state;
    for (int round = 0; round < 10000; round++) {
        const int64_t epoch = INT64_C(1760000000) * CLV_NS_PER_S;
        const clv_cs_model_t inner = random_model(epoch);
        const clv_cs_model_t middle = random_model(clv_cs_model_global(&inner, epoch));
        const clv_cs_model_t outer = random_model(clv_cs_model_global(&middle, middle.origin_ns));
        clv_cs_model_t both, left, right;
        clv_cs_model_compose(&middle, &inner, &both);
        clv_cs_model_compose(&outer, &both, &left);
        clv_cs_model_compose(&outer, &middle, &both);
        clv_cs_model_compose(&both, &inner, &right);
        const int64_t local = epoch + cs_random_range(&rng, 0, 60 * CLV_NS_PER_S);
        const int64_t way = clv_cs_model_global(
            &outer, clv_cs_model_global(&middle, clv_cs_model_global(&inner, local)));
        assert_true(llabs(clv_cs_model_global(&left, local) - way) <= 3);
        assert_true(llabs(clv_cs_model_global(&right, local) - way) <= 3);
        assert_true(clv_cs_model_error(&left, epoch) >=
                    inner.error_ns + middle.error_ns + outer.error_ns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_say_what_the_papers_say),
        cmocka_unit_test(labels_of_levels),
        cmocka_unit_test(printed_labels_parse_to_the_same),
        cmocka_unit_test(a_short_buffer_is_cut),
        cmocka_unit_test(wrong_labels_are_refused),
        cmocka_unit_test(wrong_parts_are_refused),
        cmocka_unit_test(base_clocks_run_forward_at_the_same_rate),
        cmocka_unit_test(unknown_clock_is_invalid),
        cmocka_unit_test(a_pretend_clock_is_as_wrong_as_told),
        cmocka_unit_test(a_place_tells_time_sources_apart),
        cmocka_unit_test(two_calibrations_are_two_time_sources),
        cmocka_unit_test(a_given_frequency_is_not_calibrated),
        cmocka_unit_test(composed_models_are_the_way_through_both),
    };
    cs_random_seed_from_environment(&rng);
    return clv_run_tests(tests);
}
