/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The blocking family over the simulated network: every algorithm, any number of ranks, any
 * reference, clocks up to an hour apart and 50 ppm fast or slow; the truth judges.
 */
#include "clocksync/methods/cs_methods.h"
#include "tests/sim/cs_net.h"
#include "tests/sim/cs_random.h"
#include "tests/support/test.h"
#include "util/util_alloc.h"
#include "util/util_time.h"

typedef struct trial {
    cs_net_t *net;
    clv_cs_scheme_t scheme;
    int reference;
    int no_clock; /* this rank has none; -1: all have */
    int64_t timeout_ns;
    clv_cs_place_t places[CS_NET_MAX_RANKS];
    int use_places;
    clv_cs_model_t start;
    clv_cs_model_t models[CS_NET_MAX_RANKS];
    clv_status_t status[CS_NET_MAX_RANKS];
    clv_cs_report_t report[CS_NET_MAX_RANKS];
    clv_cs_point_t check[CS_NET_MAX_RANKS];
    int64_t end_ns; /* true time when the last rank was done */
} trial_t;

static cs_random_t rng;
static trial_t trial; /* large; one at a time */

static void sleep_on(void *link, int64_t ns)
{
    cs_net_sleep(link, ns);
}

static clv_cs_group_t group_of(cs_net_rank_t *rank, int n_ranks)
{
    return (clv_cs_group_t){.ops = &cs_net_link_ops,
                            .link = rank,
                            .n_ranks = n_ranks,
                            .rank = rank->rank,
                            .reference = trial.reference,
                            .timeout_ns = trial.timeout_ns,
                            .sleep = sleep_on};
}

static int n_ranks;

static void sync_body(cs_net_rank_t *rank, void *context)
{
    (void) context;
    const clv_cs_group_t group = group_of(rank, n_ranks);
    const clv_cs_clock_t *clock = rank->rank == trial.no_clock ? NULL : &rank->clock;
    trial.status[rank->rank] =
        clv_cs_sync(&trial.scheme, &group, trial.use_places ? trial.places : NULL, clock,
                    &trial.start, &trial.models[rank->rank], &trial.report[rank->rank]);
}

static void check_body(cs_net_rank_t *rank, void *context)
{
    (void) context;
    const clv_cs_group_t group = group_of(rank, n_ranks);
    const clv_status_t status =
        clv_cs_check(&group, &rank->clock, &trial.models[rank->rank], 50, trial.check);
    assert_int_equal(status, CLV_OK);
}

static void set_up(const cs_net_config_t *config, const char *label)
{
    memset(&trial, 0, sizeof trial);
    n_ranks = config->n_ranks;
    trial.net = cs_net_create(config);
    trial.timeout_ns = 1000 * CLV_NS_PER_S;
    trial.no_clock = -1;
    trial.reference = (int) cs_random_range(&rng, 0, config->n_ranks - 1);
    assert_int_equal(clv_cs_scheme_parse(label, &trial.scheme), CLV_OK);
    for (int i = 0; i < n_ranks; i++) {
        trial.places[i].host = (uint64_t) (i / config->ranks_per_host + 1);
        trial.places[i].time_source = trial.places[i].host + 1000;
        trial.places[i].part[CLV_CS_PART_SOCKET] = i % config->ranks_per_host / 2;
    }
    trial.use_places = config->ranks_per_host > 1;
}

static void synchronise(void)
{
    cs_net_run(trial.net, sync_body, NULL);
    trial.end_ns = cs_net_now(trial.net);
}

static void tear_down(void)
{
    cs_net_destroy(trial.net);
}

static int64_t true_error_of(int rank, int64_t true_ns)
{
    const int64_t local = cs_net_local(trial.net, rank, true_ns);
    const int64_t reference_local = cs_net_local(trial.net, trial.reference, true_ns);
    return llabs(clv_cs_model_global(&trial.models[rank], local) -
                 clv_cs_model_global(&trial.start, reference_local));
}

static int64_t bound_of(int rank, int64_t true_ns)
{
    return clv_cs_model_error(&trial.models[rank], cs_net_local(trial.net, rank, true_ns));
}

static int64_t worst_error(int64_t after_ns)
{
    int64_t worst = 0;
    for (int i = 0; i < n_ranks; i++) {
        const int64_t error = true_error_of(i, trial.end_ns + after_ns);
        worst = error > worst ? error : worst;
    }
    return worst;
}

static void assert_all_ok(void)
{
    for (int i = 0; i < n_ranks; i++) {
        assert_int_equal(trial.status[i], CLV_OK);
    }
}

/* The mean of some networks; the least duration. */
static int64_t slope_error_after(const char *label, int64_t *duration_p)
{
    int64_t error = 0;
    *duration_p = INT64_MAX;
    for (int network = 0; network < 20; network++) {
        const cs_net_config_t config = cs_net_quiet(2, cs_random_u64(&rng));
        set_up(&config, label);
        synchronise();
        assert_int_equal(trial.status[0] + trial.status[1], CLV_OK);
        error += worst_error(10 * CLV_NS_PER_S) / 20;
        const int64_t its = trial.report[1 - trial.reference].duration_ns;
        *duration_p = its < *duration_p ? its : *duration_p;
        tear_down();
    }
    return error;
}

/* The same 500 pings over a longer stretch: a better slope. */
static void a_pause_between_points_makes_a_better_slope(void **state)
{
    (void) state;
    int64_t without_ns, with_ns;
    const int64_t without = slope_error_after("hca3/50/skampi/10", &without_ns);
    const int64_t with = slope_error_after("hca3/50/skampi/10/10ms", &with_ns);
    assert_true(with_ns > 49 * 10 * CLV_NS_PER_MS && with_ns > without_ns);
    assert_true(with < 20 * CLV_NS_PER_US);
    assert_true(with * 3 < without);
}

static const struct {
    const char *label;
    int64_t limit_now_ns, limit_later_ns; /* later: 2 s, quiet network */
} families[] = {
    {"skampi/50", 30000, 400000},           {"netgauge/50", 30000, 400000},
    {"skampi/cristian/50", 30000, 400000},  {"jk/50/skampi/10", 4000, 40000},
    {"jk/50/mean-rtt/10", 12000, 400000},   {"hca/50/skampi/10", 4000, 200000},
    {"hca2/50/skampi/10", 12000, 200000},   {"hca2/50/mean-rtt/20/recompute", 40000, 400000},
    {"hca3/50/skampi/10", 6000, 200000},    {"hca3/50/skampi/10/recompute", 6000, 200000},
    {"hca3/50/mean-rtt/20", 40000, 400000},
};

#define N_FAMILIES (sizeof families / sizeof families[0])

/* All numbers of ranks in turn, or some. */
static int next_ranks(void)
{
    return clv_draws_few() ? (int) cs_random_range(&rng, 1, 16) : 1;
}

static void every_algorithm_any_ranks_any_reference(void **state)
{
    (void) state;
    for (size_t f = 0; f < N_FAMILIES; f++) {
        int64_t worst_now = 0, worst_later = 0;
        for (int n = 1; n <= 17; n += next_ranks()) {
            const cs_net_config_t config = cs_net_quiet(n, cs_random_u64(&rng));
            set_up(&config, families[f].label);
            synchronise();
            assert_all_ok();
            worst_now = worst_error(0) > worst_now ? worst_error(0) : worst_now;
            const int64_t later = worst_error(2 * CLV_NS_PER_S);
            worst_later = later > worst_later ? later : worst_later;
            tear_down();
        }
        print_message("# %-30s worst error %6.2f us, after 2 s %7.2f us\n", families[f].label,
                      (double) worst_now / 1e3, (double) worst_later / 1e3);
        assert_true(worst_now < families[f].limit_now_ns);
        assert_true(worst_later < families[f].limit_later_ns);
    }
}

static cs_net_config_t any_network(int n)
{
    cs_net_config_t config = cs_net_quiet(n, cs_random_u64(&rng));
    config.least_delay_ns = cs_random_range(&rng, 2000, 200000);
    config.queue_ns = cs_random_uniform(&rng, 0, 50000);
    config.asymmetry = cs_random_uniform(&rng, 0, 1);
    config.outlier_probability = cs_random_uniform(&rng, 0, 0.1);
    config.outlier_ns = cs_random_range(&rng, 1, 20) * CLV_NS_PER_MS;
    config.wander = 50e-9;
    if (cs_random_range(&rng, 0, 1)) { /* noise that lasts from a burst to longer than a fit */
        config.spell_ns = cs_random_uniform(&rng, 1000, 50000);
        config.spell_length_ns = exp(cs_random_uniform(&rng, log(1e6), log(1e9)));
    }
    return config;
}

/* Every method and offset, short fits and long ones, in every kind of level. */
static const char *const judged[] = {
    "skampi/100",
    "netgauge/50",
    "skampi/cristian/100",
    "hca3/100/cristian/10",
    "jk/50/skampi/10",
    "jk/50/mean-rtt/10",
    "hca/50/skampi/10",
    "hca2/50/skampi/10",
    "hca2/50/mean-rtt/20/recompute",
    "hca3/10/skampi/10",
    "hca3/100/skampi/10",
    "hca3/100/skampi/10/recompute",
    "hca3/300/mean-rtt/10",
    "hca3/50/netgauge/10",
    "hca3/100/skampi/10/plain",
    "hca3/100/skampi/20/early",
    "hca3/30/skampi/10/2ms",
    "h2hca/50/skampi/10",
    "top/jk/50/skampi/10/middle/hca3/20/mean-rtt/10/bottom/hca2/20/skampi/10",
};

#define N_JUDGED ((int) (sizeof judged / sizeof judged[0]))

/* How many bounds of one network did not hold: right after, 5 s and 10 s later. */
static int missed_bounds(const char *label, int *checks)
{
    const int n = (int) cs_random_range(&rng, 4, 16);
    cs_net_config_t config = any_network(n);
    int misses = 0;
    config.ranks_per_host = strncmp(label, "h2", 2) && strncmp(label, "top", 3) ? 1 : 2;
    set_up(&config, label);
    synchronise();
    assert_all_ok();
    for (int i = 0; i < n; i++) {
        for (int64_t s = 0; s <= 10 && i != trial.reference; s += 5) {
            const int64_t t = trial.end_ns + s * CLV_NS_PER_S;
            misses += true_error_of(i, t) > bound_of(i, t);
            (*checks)++;
        }
    }
    tear_down();
    return misses;
}

/* One wrong line of a host's leader is wrong for its two ranks, at three times; in a tree of up to
 * 16 ranks for up to eight behind it, which is most of what few draws draw. */
#define OF_ONE_LINE (clv_draws_few() ? 24 : 6)

/* 99.9 % of 10,000 but for one line; and nobody hides behind the others: 99 % for each label. */
static void bounds_cover_the_truth_in_hundreds_of_networks(void **state)
{
    (void) state;
    int all_checks = 0, all_misses = 0;
    for (int m = 0; m < N_JUDGED; m++) {
        int checks = 0, misses = 0;
        for (int network = 0; network < clv_share_of(24); network++) {
            misses += missed_bounds(judged[m], &checks);
        }
        print_message("# %-40s bounds missed %d of %d\n", judged[m], misses, checks);
        assert_true((misses - OF_ONE_LINE) * 100 <= checks);
        all_checks += checks;
        all_misses += misses;
    }
    print_message("# bounds missed %d of %d\n", all_misses, all_checks);
    assert_true(all_checks >= clv_share_of(9000));
    assert_true((all_misses - OF_ONE_LINE) * 1000 <= all_checks);
}

/* Issue: right after, HCA3's maximum error is at most twice one SKaMPI offset's. */
static void hca3_right_after_is_as_good_as_two_offsets(void **state)
{
    (void) state;
    if (clv_is_left_out()) {
        skip();
    }
    int64_t one = 0, all = 0;
    for (int round = 0; round < 40; round++) {
        cs_net_config_t config = cs_net_quiet(2, cs_random_u64(&rng));
        config.max_drift = 25e-6;
        set_up(&config, "skampi/20");
        synchronise();
        one += worst_error(0);
        tear_down();
        config.n_ranks = 16;
        set_up(&config, "hca3/200/skampi/20");
        synchronise();
        assert_all_ok();
        all += worst_error(0);
        tear_down();
    }
    print_message("# mean of the worst error: one offset %g us, hca3 of 16 %g us\n",
                  (double) one / 4e4, (double) all / 4e4);
    assert_true(all <= 2 * one);
}

static void hca3_after_10_s_is_within_10_us(void **state)
{
    (void) state;
    if (clv_is_left_out()) {
        skip();
    }
    for (int round = 0; round < clv_share_of(3); round++) {
        const cs_net_config_t config = cs_net_quiet(16, cs_random_u64(&rng));
        set_up(&config, "hca3/1000/skampi/20");
        synchronise();
        assert_all_ok();
        assert_true(worst_error(10 * CLV_NS_PER_S) < 10 * CLV_NS_PER_US);
        tear_down();
    }
}

static int64_t duration_of(const char *label, int n, int ranks_per_host)
{
    cs_net_config_t config = cs_net_quiet(n, cs_random_u64(&rng));
    config.ranks_per_host = ranks_per_host;
    set_up(&config, label);
    synchronise();
    assert_all_ok();
    int64_t longest = 0;
    for (int i = 0; i < n; i++) {
        const int64_t its = trial.report[i].duration_ns;
        longest = its > longest ? its : longest;
    }
    tear_down();
    return longest;
}

static void hca3_takes_a_logarithm_jk_takes_them_all(void **state)
{
    (void) state;
    const int64_t hca3_8 = duration_of("hca3/20/skampi/10", 8, 1);
    const int64_t hca3_64 = duration_of("hca3/20/skampi/10", 64, 1);
    const int64_t jk_8 = duration_of("jk/20/skampi/10", 8, 1);
    const int64_t jk_64 = duration_of("jk/20/skampi/10", 64, 1);
    assert_true(hca3_64 < hca3_8 * 5 / 2);
    assert_true(jk_64 > jk_8 * 7);
    assert_true(jk_64 > hca3_64 * 8);
}

static void h2hca_is_faster_and_needs_log_hosts_rounds(void **state)
{
    (void) state;
    const int64_t flat = duration_of("hca3/20/skampi/10", 128, 8);
    const int64_t levels = duration_of("h2hca/20/skampi/10", 128, 8);
    assert_int_equal(trial.report[trial.reference].n_rounds, 4 + 3);
    assert_true(levels < flat);
}

static void levels_give_every_rank_the_clock(void **state)
{
    (void) state;
    if (clv_is_left_out()) {
        skip();
    }
    static const char *const labels[] = {
        "h2hca/50/skampi/10",
        "h3hca/50/skampi/10",
        "top/hca3/50/skampi/10/bottom/hca2/20/skampi/10",
        "top/hca2/50/skampi/10/middle/hca3/20/skampi/10/bottom/prop",
        /* The trap: a clock three levels deep. */
        "top/jk/50/skampi/10/middle/hca3/20/skampi/10/bottom/hca/20/skampi/10",
        "top/hca3/50/skampi/10/middle/prop/bottom/skampi/20",
    };
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        for (int n = 1; n < 40; n += 3) {
            cs_net_config_t config = cs_net_quiet(n, cs_random_u64(&rng));
            config.ranks_per_host = 6;
            set_up(&config, labels[i]);
            trial.use_places = 1;
            synchronise();
            assert_all_ok();
            assert_true(worst_error(0) < 8000);
            tear_down();
        }
    }
}

/* The same three levels, but every rank has a clock of its own: copies would be an hour wrong. */
static void levels_measure_where_clocks_differ(void **state)
{
    (void) state;
    cs_net_config_t config = cs_net_quiet(18, cs_random_u64(&rng));
    set_up(&config, "top/hca3/50/skampi/10/middle/hca3/50/skampi/10/bottom/hca3/50/skampi/10");
    trial.use_places = 1;
    for (int i = 0; i < 18; i++) {
        trial.places[i] = (clv_cs_place_t){
            .host = (uint64_t) i / 6 + 1, .time_source = (uint64_t) i / 6, .part = {i / 3 % 2}};
    }
    synchronise();
    assert_all_ok();
    assert_true(worst_error(0) < 8000);
    tear_down();
}

/* Ranks of one socket in two NUMA domains: only who names those has a middle level to measure. */
static void the_middle_level_is_of_what_the_label_names(void **state)
{
    static const char *const labels[] = {"top/prop/middle/jk/10/skampi/10/bottom/prop",
                                         "top/prop/middle@numa/jk/10/skampi/10/bottom/prop",
                                         "top/prop/middle@cache/jk/10/skampi/10/bottom/prop"};
    static const int32_t leaders[] = {1, 2, 4};
    (void) state;
    for (int kind = 0; kind < 3; kind++) {
        cs_net_config_t config = cs_net_quiet(8, cs_random_u64(&rng));
        config.ranks_per_host = 8;
        set_up(&config, labels[kind]);
        for (int i = 0; i < 8; i++) {
            trial.places[i].part[CLV_CS_PART_SOCKET] = 0;
            trial.places[i].part[CLV_CS_PART_NUMA] = i / 4;
            trial.places[i].part[CLV_CS_PART_CACHE] = i / 2;
        }
        synchronise();
        assert_all_ok();
        int n_measuring = 0;
        for (int i = 0; i < 8; i++) {
            n_measuring += trial.report[i].n_pings > 0;
        }
        assert_int_equal(n_measuring, leaders[kind] == 1 ? 0 : leaders[kind] - 1);
        tear_down();
    }
}

/* Two time namespaces on one kernel: h2hca splits the host, plain prop refuses. */
static void a_copy_never_crosses_time_sources(void **state)
{
    (void) state;
    for (int plain = 0; plain < 2; plain++) {
        const cs_net_config_t config = cs_net_quiet(6, cs_random_u64(&rng));
        set_up(&config, plain ? "prop" : "h2hca/50/skampi/10");
        trial.use_places = 1;
        for (int i = 0; i < 6; i++) {
            trial.places[i] = (clv_cs_place_t){.host = 7, .time_source = (uint64_t) i + 100};
        }
        synchronise();
        for (int i = 0; i < 6; i++) {
            assert_int_equal(trial.status[i],
                             !plain || i == trial.reference ? CLV_OK : CLV_UNSUPPORTED);
            assert_true(trial.status[i] != CLV_OK || true_error_of(i, trial.end_ns) < 8000);
        }
        tear_down();
    }
}

static void prop_copies_within_one_time_source(void **state)
{
    (void) state;
    cs_net_config_t config = cs_net_quiet(13, cs_random_u64(&rng));
    config.ranks_per_host = 13;
    set_up(&config, "prop");
    trial.start = (clv_cs_model_t){CLV_NS_PER_S, 12345, 1e-6, 10, 10};
    synchronise();
    assert_all_ok();
    assert_int_equal(worst_error(0), 0);
    tear_down();
    set_up(&config, "prop");
    trial.places[5].time_source++; /* the odd one out may be a relay */
    trial.reference = 1;
    synchronise();
    for (int i = 0; i < 13; i++) {
        assert_int_equal(trial.status[i], i == 5 ? CLV_UNSUPPORTED : CLV_OK);
    }
    tear_down();
}

/* The trap: the reference's LOCAL clock compared with everybody's global clock. */
static void check_compares_global_with_global(void **state)
{
    (void) state;
    for (int round = 0; round < clv_share_of(20); round++) {
        const cs_net_config_t config = cs_net_quiet(9, cs_random_u64(&rng));
        set_up(&config, "hca3/100/skampi/10");
        trial.start = (clv_cs_model_t){CLV_NS_PER_S, 1800 * CLV_NS_PER_S, 20e-6, 0, 0};
        synchronise();
        cs_net_run(trial.net, check_body, NULL);
        for (int i = 0; i < 9; i++) {
            const int64_t now = cs_net_now(trial.net);
            assert_true(llabs(trial.check[i].offset_ns) < 15000);
            assert_true(llabs(llabs(trial.check[i].offset_ns) - true_error_of(i, now)) <=
                        trial.check[i].error_ns);
        }
        tear_down();
    }
}

static void check_finds_a_planted_error(void **state)
{
    (void) state;
    const cs_net_config_t config = cs_net_quiet(5, cs_random_u64(&rng));
    set_up(&config, "hca3/100/skampi/10");
    synchronise();
    const int victim = (trial.reference + 2) % 5;
    trial.models[victim].offset_ns -= 250000; /* its global clock runs ahead */
    cs_net_run(trial.net, check_body, NULL);
    assert_true(llabs(trial.check[victim].offset_ns - 250000) < 10000);
    tear_down();
}

/* The trap: a stop condition the wrong way round never fires. */
static void early_stop_saves_pings_and_keeps_accuracy(void **state)
{
    (void) state;
    int64_t pings[2], error[2];
    for (int early = 0; early < 2; early++) {
        cs_net_config_t config = cs_net_quiet(2, 99);
        set_up(&config, early ? "hca3/100/skampi/100/early" : "hca3/100/skampi/100");
        trial.reference = 0;
        synchronise();
        assert_all_ok();
        pings[early] = trial.report[1].n_pings;
        error[early] = worst_error(0);
        tear_down();
    }
    assert_int_equal(pings[0], 10000);
    assert_true(pings[1] < 3000);
    assert_true(pings[1] >= 100 + 99 * 8);
    assert_true(error[0] < 3000);
    assert_true(error[1] < 4000);
}

static void netgauge_stops_when_the_least_stands(void **state)
{
    (void) state;
    const cs_net_config_t config = cs_net_quiet(2, 5);
    set_up(&config, "netgauge/30");
    trial.reference = 0;
    synchronise();
    assert_in_range(trial.report[1].n_pings, 31, 300);
    tear_down();
}

/* ---- trouble ---- */

static void one_rank_is_a_group(void **state)
{
    (void) state;
    const cs_net_config_t config = cs_net_quiet(1, 1);
    set_up(&config, "hca3");
    synchronise();
    assert_all_ok();
    assert_int_equal(worst_error(CLV_NS_PER_S), 0);
    tear_down();
}

static int depends_on(int rank, int other)
{
    /* HCA3's tree, virtual ranks; the extra ones hang on theirs minus the power of two. */
    const int n = n_ranks;
    int power = 1;
    while (power <= n / 2) {
        power *= 2;
    }
    int v = (rank - trial.reference + n) % n;
    const int o = (other - trial.reference + n) % n;
    if (v >= power) {
        if (v == o) {
            return 1;
        }
        v -= power;
    }
    while (v != 0) {
        if (v == o) {
            return 1;
        }
        v -= v & -v;
    }
    return o == 0;
}

/* A host without a usable clock: whoever hangs on it is told, the others have their clock. */
static void a_rank_without_a_clock_harms_its_subtree_only(void **state)
{
    (void) state;
    for (int n = 2; n <= 13; n++) {
        for (int victim = 0; victim < n; victim++) {
            const cs_net_config_t config = cs_net_quiet(n, cs_random_u64(&rng));
            set_up(&config, "hca3/5/skampi/5");
            trial.no_clock = victim;
            synchronise();
            for (int i = 0; i < n; i++) {
                assert_int_equal(trial.status[i], depends_on(i, victim) ? CLV_UNSUPPORTED : CLV_OK);
            }
            assert_true(trial.end_ns < config.start_ns + 2 * CLV_NS_PER_S); /* no timeout */
            tear_down();
        }
    }
}

static void a_rank_without_a_clock_never_hangs_any_algorithm(void **state)
{
    (void) state;
    if (clv_is_left_out()) {
        skip();
    }
    for (size_t f = 0; f < N_FAMILIES; f++) {
        for (int n = 2; n <= 9; n++) {
            for (int victim = 0; victim < n; victim++) {
                const cs_net_config_t config = cs_net_quiet(n, cs_random_u64(&rng));
                set_up(&config, families[f].label);
                trial.no_clock = victim;
                synchronise();
                assert_int_equal(trial.status[victim], CLV_UNSUPPORTED);
                for (int i = 0; i < n; i++) {
                    assert_true(trial.status[i] != CLV_OK ||
                                true_error_of(i, trial.end_ns) < 30000);
                }
                assert_true(trial.end_ns < config.start_ns + 50 * CLV_NS_PER_S);
                tear_down();
            }
        }
    }
}

static void a_lost_peer_is_reported_never_a_wrong_time(void **state)
{
    (void) state;
    for (int round = 0; round < clv_share_of(300); round++) {
        const int n = (int) cs_random_range(&rng, 2, 12);
        cs_net_config_t config = cs_net_quiet(n, cs_random_u64(&rng));
        config.loss_is_reported = round % 2;
        set_up(&config, families[(size_t) round % N_FAMILIES].label);
        trial.timeout_ns = 5 * CLV_NS_PER_S;
        const int victim = (int) cs_random_range(&rng, 0, n - 1);
        cs_net_rank(trial.net, victim)->kill_at_ns =
            config.start_ns + cs_random_range(&rng, 0, 200 * CLV_NS_PER_MS);
        synchronise();
        for (int i = 0; i < n; i++) {
            if (i != victim && trial.status[i] == CLV_OK) {
                assert_true(true_error_of(i, trial.end_ns) <= bound_of(i, trial.end_ns));
            }
        }
        tear_down();
    }
}

static void corrupt_randomly(cs_net_rank_t *rank, void *data, size_t n_bytes)
{
    unsigned char *bytes = data;
    (void) rank;
    if (cs_random_range(&rng, 0, 9) == 0) {
        bytes[cs_random_range(&rng, 0, (int64_t) n_bytes - 1)] ^=
            (unsigned char) cs_random_range(&rng, 1, 255);
    }
}

/* What cannot be told from honest answers cannot be caught; it must end, without overflow. */
static void a_link_that_returns_nonsense_ends_with_a_status(void **state)
{
    (void) state;
    for (int round = 0; round < clv_share_of(400); round++) {
        const int n = (int) cs_random_range(&rng, 2, 9);
        const cs_net_config_t config = cs_net_quiet(n, cs_random_u64(&rng));
        set_up(&config, families[(size_t) round % N_FAMILIES].label);
        trial.timeout_ns = CLV_NS_PER_S;
        cs_net_rank(trial.net, (int) cs_random_range(&rng, 0, n - 1))->corrupt = corrupt_randomly;
        synchronise();
        for (int i = 0; i < n; i++) {
            assert_true(trial.status[i] <= CLV_OK && trial.status[i] >= CLV_SYSTEM);
        }
        tear_down();
    }
}

/* Answers whose times run backwards: the sample is thrown away, not the synchronisation. */
static void swap_times(cs_net_rank_t *rank, void *data, size_t n_bytes)
{
    if (n_bytes == 40 && rank->n_sent % 3 == 0) {
        int64_t *words = data;
        words[3] -= CLV_NS_PER_S;
    }
}

static void nonsense_samples_are_left_out(void **state)
{
    (void) state;
    const cs_net_config_t config = cs_net_quiet(4, 3);
    set_up(&config, "hca3/50/skampi/10");
    cs_net_rank(trial.net, trial.reference)->corrupt = swap_times;
    synchronise();
    assert_all_ok();
    assert_true(worst_error(0) < 6000);
    tear_down();
}

/* A clock that jumps while it is being synchronised: right after it, or not at all. */
static void a_step_during_synchronisation_is_survived(void **state)
{
    (void) state;
    int n_ok = 0;
    for (int round = 0; round < 200; round++) {
        const cs_net_config_t config = cs_net_quiet(2, cs_random_u64(&rng));
        set_up(&config, round % 2 ? "hca3/50/skampi/10" : "hca3/50/mean-rtt/10");
        const int client = 1 - trial.reference;
        cs_net_host_t *host = cs_net_host(trial.net, client);
        host->step_at_ns = config.start_ns + cs_random_range(&rng, 2, 20) * CLV_NS_PER_MS;
        host->step_ns = (round % 4 < 2 ? 1 : -1) * cs_random_range(&rng, 1, 1000) * CLV_NS_PER_MS;
        synchronise();
        if (trial.status[client] == CLV_OK) {
            assert_true(true_error_of(client, trial.end_ns) <= bound_of(client, trial.end_ns));
            n_ok++;
        }
        tear_down();
    }
    assert_true(n_ok > 190);
}

static int fail_after;

static int fail_allocation(void *context, size_t n_bytes)
{
    (void) context;
    (void) n_bytes;
    return fail_after-- == 0;
}

static void running_out_of_memory_is_a_status(void **state)
{
    (void) state;
    static const char *const labels[] = {"jk/5/mean-rtt/5", "hca/5/mean-rtt/5/recompute",
                                         "hca3/5/skampi/5", "top/hca2/5/bottom/hca3/5/skampi/5"};
    for (size_t k = 0; k < sizeof labels / sizeof labels[0]; k++) {
        for (int site = 0; site < 60; site++) {
            cs_net_config_t config = cs_net_quiet(8, 11);
            config.ranks_per_host = 2;
            set_up(&config, labels[k]);
            trial.use_places = 1;
            trial.timeout_ns = CLV_NS_PER_S;
            fail_after = site;
            clv_alloc_set_hook(fail_allocation, NULL);
            synchronise();
            clv_alloc_set_hook(NULL, NULL);
            for (int i = 0; i < 8; i++) {
                const int64_t end_ns = trial.end_ns;
                assert_true(trial.status[i] != CLV_OK ||
                            true_error_of(i, end_ns) <= bound_of(i, end_ns));
            }
            tear_down();
        }
    }
}

static void bad_arguments_are_refused(void **state)
{
    (void) state;
    const cs_net_config_t config = cs_net_quiet(2, 1);
    set_up(&config, "h2hca");
    clv_cs_group_t group = group_of(cs_net_rank(trial.net, 0), 2);
    const clv_cs_clock_t *clock = &cs_net_rank(trial.net, 0)->clock;
    clv_cs_model_t model;
    assert_int_equal(clv_cs_sync(&trial.scheme, &group, NULL, clock, NULL, &model, NULL),
                     CLV_INVALID); /* levels need places */
    trial.scheme.n_levels = 4;
    assert_int_equal(clv_cs_sync(&trial.scheme, &group, trial.places, clock, NULL, &model, NULL),
                     CLV_INVALID);
    assert_int_equal(clv_cs_scheme_parse("hca3", &trial.scheme), CLV_OK);
    group.reference = 2;
    assert_int_equal(clv_cs_sync(&trial.scheme, &group, NULL, clock, NULL, &model, NULL),
                     CLV_INVALID);
    group.reference = 0;
    trial.scheme.level[0].n_exchanges = 0;
    assert_int_equal(clv_cs_sync(&trial.scheme, &group, NULL, clock, NULL, &model, NULL),
                     CLV_INVALID);
    assert_int_equal(clv_cs_check(&group, clock, NULL, 0, trial.check), CLV_INVALID);
    tear_down();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pause_between_points_makes_a_better_slope),
        cmocka_unit_test(every_algorithm_any_ranks_any_reference),
        cmocka_unit_test(bounds_cover_the_truth_in_hundreds_of_networks),
        cmocka_unit_test(hca3_right_after_is_as_good_as_two_offsets),
        cmocka_unit_test(hca3_after_10_s_is_within_10_us),
        cmocka_unit_test(hca3_takes_a_logarithm_jk_takes_them_all),
        cmocka_unit_test(h2hca_is_faster_and_needs_log_hosts_rounds),
        cmocka_unit_test(levels_give_every_rank_the_clock),
        cmocka_unit_test(levels_measure_where_clocks_differ),
        cmocka_unit_test(the_middle_level_is_of_what_the_label_names),
        cmocka_unit_test(a_copy_never_crosses_time_sources),
        cmocka_unit_test(prop_copies_within_one_time_source),
        cmocka_unit_test(check_compares_global_with_global),
        cmocka_unit_test(check_finds_a_planted_error),
        cmocka_unit_test(early_stop_saves_pings_and_keeps_accuracy),
        cmocka_unit_test(netgauge_stops_when_the_least_stands),
        cmocka_unit_test(one_rank_is_a_group),
        cmocka_unit_test(a_rank_without_a_clock_harms_its_subtree_only),
        cmocka_unit_test(a_rank_without_a_clock_never_hangs_any_algorithm),
        cmocka_unit_test(a_lost_peer_is_reported_never_a_wrong_time),
        cmocka_unit_test(a_link_that_returns_nonsense_ends_with_a_status),
        cmocka_unit_test(nonsense_samples_are_left_out),
        cmocka_unit_test(a_step_during_synchronisation_is_survived),
        cmocka_unit_test(running_out_of_memory_is_a_status),
        cmocka_unit_test(bad_arguments_are_refused),
    };
    cs_random_seed_from_environment(&rng);
    return clv_run_tests(tests);
}
