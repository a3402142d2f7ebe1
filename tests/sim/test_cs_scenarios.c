/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tracker as the component runs it: hosts in a tree, each pinging its parent once in a while
 * and answering its children with its own global time; minutes of virtual time, a table of
 * conditions with limits, many seeds each (the way chrony tests itself).
 *
 * A row says what the world does and how wrong the worst host may be. For all rows: bounds cover
 * the truth in at least 99 % of checks; after a step no check may be wrong without a bound that
 * says so, from the first ping after it on; no clock is thrown away without cause.
 */
#include "clocksync/clocksync.h"
#include "tests/sim/cs_random.h"
#include "tests/support/test.h"
#include "util/util_time.h"

#define N_HOSTS 8 /* 7 -> 3 -> 1 -> 0: three hops at most */
#define SECOND  CLV_NS_PER_S

typedef struct scenario {
    const char *name;
    int64_t least_delay_ns;
    double queue_ns, asymmetry, outlier_probability;
    int64_t outlier_ns;
    double max_drift, wander;
    int64_t pause_ns; /* between pings, once settled */
    int burst_length;
    int64_t step_ns;     /* of one host's clock, half-way; 0: none */
    int steps_reference; /* the root steps, not a leaf */
    int64_t silence_ns;  /* one host hears nothing from half-way on, for so long */
    int64_t limit_ns;    /* of the true error, settled and not silent */
} scenario_t;

#define US *CLV_NS_PER_US
#define MS *CLV_NS_PER_MS

static const scenario_t scenarios[] = {
    /* name               delay  queue   asym outl.  length  drift  wander pause  n  step       ref
       silence  limit */
    {"quiet", 25 US, 2000, 0, 0, 0, 30e-6, 0, 200 MS, 10, 0, 0, 0, 10 US},
    {"infiniband", 2 US, 200, 0, 0, 0, 30e-6, 0, 100 MS, 10, 0, 0, 0, 3 US},
    {"jitter", 25 US, 50000, 0, 0, 0, 30e-6, 0, 200 MS, 10, 0, 0, 0, 100 US},
    {"asymmetric", 50 US, 5000, 0.8, 0, 0, 30e-6, 0, 200 MS, 10, 0, 0, 0, 150 US},
    {"outliers", 25 US, 5000, 0, 0.2, 50 MS, 30e-6, 0, 200 MS, 10, 0, 0, 0, 40 US},
    {"busy processors", 25 US, 100000, 0, 0.3, 10 MS, 30e-6, 0, 200 MS, 20, 0, 0, 0, 500 US},
    {"wandering crystals", 25 US, 5000, 0, 0, 0, 30e-6, 2e-6, 200 MS, 10, 0, 0, 0, 60 US},
    {"perfect clocks", 25 US, 5000, 0, 0, 0, 0, 0, 200 MS, 10, 0, 0, 0, 20 US},
    {"edge of the prior", 25 US, 5000, 0, 0, 0, 49e-6, 0, 200 MS, 10, 0, 0, 0, 40 US},
    {"one ping a second", 25 US, 5000, 0, 0, 0, 30e-6, 0, 1000 MS, 4, 0, 0, 0, 120 US},
    {"fast pings", 25 US, 5000, 0, 0, 0, 30e-6, 0, 2 MS, 10, 0, 0, 0, 20 US},
    {"single pings", 25 US, 5000, 0, 0.05, 5 MS, 30e-6, 0, 200 MS, 1, 0, 0, 0, 40 US},
    {"wide area", 5000 US, 500000, 0.3, 0.1, 50 MS, 30e-6, 0, 500 MS, 10, 0, 0, 0, 8000 US},
    {"leaf steps ahead", 25 US, 5000, 0, 0, 0, 30e-6, 0, 200 MS, 10, 1000 MS, 0, 0, 60 US},
    {"leaf steps back", 25 US, 5000, 0, 0, 0, 30e-6, 0, 200 MS, 10, -1000 MS, 0, 0, 60 US},
    {"leaf small step", 25 US, 5000, 0, 0, 0, 30e-6, 0, 200 MS, 10, 1 MS, 0, 0, 60 US},
    {"leaf suspended", 25 US, 5000, 0, 0, 0, 30e-6, 0, 200 MS, 10, -60000 MS, 0, 0, 60 US},
    {"reference steps", 25 US, 5000, 0, 0, 0, 30e-6, 0, 200 MS, 10, 500 MS, 1, 0, 100 US},
    {"silent minute", 25 US, 5000, 0, 0, 0, 30e-6, 100e-9, 200 MS, 10, 0, 0, 60000 MS, 40 US},
};

#define N_SCENARIOS ((int) (sizeof scenarios / sizeof scenarios[0]))
#define N_SEEDS     12
#define DURATION_NS (120 * SECOND)
#define HALF_NS     (DURATION_NS / 2)

typedef struct host {
    int64_t ahead_ns;
    double drift, wander;
    double tilt; /* of the way to its parent */
    int64_t step_ns;
    int64_t next_ping_ns;
    int64_t silent_until_ns;
    clv_cs_tracker_t tracker;
} host_t;

typedef struct tally {
    int n_checks, n_missed, n_wrong_silently, n_unready;
    int64_t worst_ns, worst_settled_ns, worst_bound_ns;
    int n_restarts;
} tally_t;

static cs_random_t rng;
static host_t hosts[N_HOSTS];

static int64_t local_of(int h, int64_t t)
{
    const host_t *host = &hosts[h];
    const double phase = 2.0 * 3.14159265358979 / 3e11;
    const double swing = host->wander / phase * (1.0 - cos(phase * (double) t));
    return t + host->ahead_ns + (int64_t) llround(host->drift * (double) t + swing) +
           (t >= HALF_NS ? host->step_ns : 0);
}

static int model_of(int h, clv_cs_model_t *model)
{
    if (h == 0) {
        *model = clv_cs_identity;
        return 1;
    }
    return clv_cs_tracker_model(&hosts[h].tracker, model) == CLV_OK;
}

static int64_t one_way(const scenario_t *s, double tilt)
{
    double extra = s->queue_ns > 0 ? cs_random_exponential(&rng, s->queue_ns) : 0;
    if (cs_random_uniform(&rng, 0, 1) < s->outlier_probability) {
        extra += cs_random_uniform(&rng, 0, (double) s->outlier_ns);
    }
    return (int64_t) ((double) s->least_delay_ns * (1.0 + tilt) + extra);
}

/* A parent without a clock says so. */
/* Returns when the answer is there: pings do not overlap. */
static int64_t ping_parent(const scenario_t *s, int h, int64_t t)
{
    const int parent = (h - 1) / 2;
    clv_cs_model_t model;
    clv_cs_sample_t sample;
    if (t < hosts[h].silent_until_ns && t >= HALF_NS) {
        return t;
    }
    sample.client_send_ns = local_of(h, t);
    t += one_way(s, hosts[h].tilt);
    if (!model_of(parent, &model)) {
        clv_cs_tracker_doubt(&hosts[h].tracker);
        return t;
    }
    const int64_t recv_local = local_of(parent, t);
    sample.reference_recv_ns = clv_cs_model_global(&model, recv_local);
    sample.reference_error_ns = clv_cs_model_error(&model, recv_local);
    t += 3000;
    sample.reference_send_ns = clv_cs_model_global(&model, local_of(parent, t));
    t += one_way(s, -hosts[h].tilt);
    sample.client_recv_ns = local_of(h, t);
    (void) clv_cs_tracker_feed(&hosts[h].tracker, &sample);
    return t;
}

static void make_hosts(const scenario_t *s)
{
    memset(hosts, 0, sizeof hosts);
    for (int h = 0; h < N_HOSTS; h++) {
        hosts[h].ahead_ns = cs_random_range(&rng, -3600, 3600) * SECOND;
        hosts[h].drift = cs_random_uniform(&rng, -s->max_drift, s->max_drift);
        hosts[h].wander = cs_random_uniform(&rng, -s->wander, s->wander);
        hosts[h].tilt = cs_random_uniform(&rng, -s->asymmetry, s->asymmetry);
        hosts[h].next_ping_ns = cs_random_range(&rng, 0, 10 MS);
        clv_cs_tracker_init(&hosts[h].tracker, s->burst_length);
    }
    hosts[s->steps_reference ? 0 : N_HOSTS - 1].step_ns = s->step_ns;
    hosts[N_HOSTS - 1].silent_until_ns = HALF_NS + s->silence_ns;
}

/* Between a step and the host's next ping nobody can know; the root's step takes one per hop. */
static int is_excused(const scenario_t *s, int64_t t)
{
    const int hops = s->steps_reference ? 4 : 1;
    return s->step_ns != 0 && t >= HALF_NS && t < HALF_NS + hops * (s->pause_ns + 40 MS);
}

static int is_settled(const scenario_t *s, int64_t t)
{
    const int64_t settling = 20 * SECOND + 30 * s->pause_ns;
    const int is_shaken = s->step_ns != 0 || s->silence_ns != 0;
    return t > settling && !(is_shaken && t >= HALF_NS && t < HALF_NS + s->silence_ns + settling);
}

static void check_host(const scenario_t *s, int h, int64_t t, tally_t *tally)
{
    clv_cs_model_t model;
    if (!model_of(h, &model)) {
        tally->n_unready += is_settled(s, t);
        return;
    }
    const int64_t local = local_of(h, t);
    const int64_t error = llabs(clv_cs_model_global(&model, local) - local_of(0, t));
    const int64_t bound = clv_cs_model_error(&model, local);
    if (is_excused(s, t)) {
        return;
    }
    tally->n_checks++;
    tally->n_missed += error > bound;
    tally->n_wrong_silently += error > 2 * bound;
    tally->worst_ns = error > tally->worst_ns ? error : tally->worst_ns;
    if (is_settled(s, t)) {
        tally->worst_settled_ns = error > tally->worst_settled_ns ? error : tally->worst_settled_ns;
        tally->worst_bound_ns = bound > tally->worst_bound_ns ? bound : tally->worst_bound_ns;
    }
}

/* Fast while there is no model (the component does the same), then one ping each pause. */
static void ping_when_due(const scenario_t *s, int h, int64_t t)
{
    clv_cs_model_t ignored;
    if (t >= hosts[h].next_ping_ns) {
        const int64_t end = ping_parent(s, h, t);
        const int is_fast = s->pause_ns > 10 MS && (t < SECOND || !model_of(h, &ignored));
        const int64_t pause = is_fast ? 10 MS : s->pause_ns;
        hosts[h].next_ping_ns = end + pause + cs_random_range(&rng, 0, pause / 10);
    }
}

static void play(const scenario_t *s, tally_t *tally)
{
    const int64_t tick_ns = s->pause_ns > 10 MS ? 2 MS : 1 MS;
    int64_t next_check_ns = 0;
    make_hosts(s);
    for (int64_t t = 0; t < DURATION_NS; t += tick_ns) {
        for (int h = 1; h < N_HOSTS; h++) {
            ping_when_due(s, h, t);
        }
        for (int h = 1; h < N_HOSTS && t >= next_check_ns; h++) {
            check_host(s, h, t, tally);
        }
        next_check_ns += t >= next_check_ns ? 50 MS : 0;
    }
    for (int h = 1; h < N_HOSTS; h++) {
        tally->n_restarts += hosts[h].tracker.n_restarts;
    }
}

static int expected_restarts(const scenario_t *s)
{
    return s->step_ns == 0 ? 0 : s->steps_reference ? N_HOSTS - 1 : 1;
}

static void run_scenario(void **state)
{
    const scenario_t *s = *state;
    const int n_seeds = clv_share_of(N_SEEDS);
    tally_t tally = {0};
    for (int seed = 0; seed < n_seeds; seed++) {
        play(s, &tally);
    }
    print_message("# %-20s checks %6d missed %4d worst %8.1f us settled %7.1f us (limit %7.1f) "
                  "bound %7.1f us restarts %d\n",
                  s->name, tally.n_checks, tally.n_missed, (double) tally.worst_ns / 1e3,
                  (double) tally.worst_settled_ns / 1e3, (double) s->limit_ns / 1e3,
                  (double) tally.worst_bound_ns / 1e3, tally.n_restarts);
    assert_true(tally.n_checks > clv_share_of(10000));
    assert_true(tally.n_missed * 100 <= tally.n_checks);
    assert_true(tally.n_wrong_silently * 1000 <= tally.n_checks);
    assert_true(tally.worst_settled_ns <= s->limit_ns);
    assert_int_equal(tally.n_unready, 0);
    const int expected = expected_restarts(s) * n_seeds;
    assert_in_range(tally.n_restarts, expected, expected + expected / 2);
}

int main(void)
{
    struct CMUnitTest tests[N_SCENARIOS];
    for (int i = 0; i < N_SCENARIOS; i++) {
        tests[i] = (struct CMUnitTest){scenarios[i].name, run_scenario, NULL, NULL,
                                       (void *) (uintptr_t) &scenarios[i]};
    }
    cs_random_seed_from_environment(&rng);
    return clv_run_tests(tests);
}
