/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Clocks refined by messages: simulated hosts whose clocks wander, judged by the truth.
 */
#include "tests/support/test.h"

#include <math.h>

#include "apps/clc/clc_latency.h"
#include "apps/clc/clc_refine.h"
#include "tests/sim/cs_random.h"
#include "util/util_alloc.h"

#define NS_PER_S 1e9
#define CELLS    (INT64_C(1) << 20)

static cs_random_t rng;

/* What presynchronisation left: as much as begin-end offsets leave in SMG's run (tests/suites). */
typedef struct host {
    double wander_ns, period_ns, phase;
} host_t;

enum { MOST_HOSTS = 64 };

static host_t hosts[MOST_HOSTS];

typedef struct scene {
    const char *name;
    int n_hosts, n_neighbours; /* messages go to hosts at most so many numbers away */
    double from_s, to_s, per_s;
    double least_ns, jitter;  /* a delay is an exponential share longer */
    double late_ns;           /* by that much and more, hosts of odd numbers take messages late */
    double mean_us, worst_us; /* what is asked of the result */
} scene_t;

static double offset_of(int h, double time_ns)
{
    const host_t *host = &hosts[h];
    return host->wander_ns * sin(2 * M_PI * time_ns / host->period_ns + host->phase);
}

static void draw_hosts(void)
{
    for (int h = 0; h < MOST_HOSTS; h++) {
        hosts[h] =
            (host_t){1.5e5, 5e10 * cs_random_uniform(&rng, 1, 1.8), cs_random_uniform(&rng, 0, 6)};
    }
}

typedef struct message {
    int32_t from, to;
    int64_t sent, received;
} message_t;

static message_t draw_message(const scene_t *scene)
{
    const int n = scene->n_hosts, reach = scene->n_neighbours;
    const int a = (int) cs_random_range(&rng, 0, n - 1);
    const int b = (a + (int) cs_random_range(&rng, 1, reach)) % n;
    const int turn = cs_random_range(&rng, 0, 1) != 0;
    const int is_late = (turn ? a : b) % 2 != 0;
    const double sent = cs_random_uniform(&rng, scene->from_s, scene->to_s) * NS_PER_S;
    const double received = sent +
                            scene->least_ns * (1 + cs_random_exponential(&rng, scene->jitter)) +
                            (is_late ? scene->late_ns * (1 + cs_random_exponential(&rng, 0.5)) : 0);
    message_t message = {turn ? b : a, turn ? a : b, 0, 0};
    message.sent = (int64_t) (sent + offset_of(message.from, sent));
    message.received = (int64_t) (received + offset_of(message.to, received));
    return message;
}

static message_t *draw_messages(const scene_t *scene, size_t *n)
{
    *n = (size_t) ((scene->to_s - scene->from_s) * scene->per_s);
    message_t *messages = malloc(*n * sizeof *messages);
    assert_non_null(messages);
    for (size_t i = 0; i < *n; i++) {
        messages[i] = draw_message(scene);
    }
    return messages;
}

static clv_status_t refine(const scene_t *scene, const message_t *messages, size_t n,
                           clv_clc_refine_t **refine_p)
{
    clv_status_t status = clv_clc_refine_new((uint32_t) scene->n_hosts, 0,
                                             (int64_t) (60 * NS_PER_S), CELLS, refine_p);
    for (size_t i = 0; i < n && status == CLV_OK; i++) {
        const message_t *m = &messages[i];
        clv_clc_refine_see(*refine_p, m->from, m->to, m->sent, m->received);
    }
    status = status == CLV_OK ? clv_clc_refine_begin(*refine_p) : status;
    for (size_t i = 0; i < n && status == CLV_OK; i++) {
        const message_t *m = &messages[n - 1 - i];
        clv_clc_refine_take(*refine_p, m->from, m->to, m->sent, m->received);
    }
    if (status == CLV_OK) {
        clv_clc_refine_solve(*refine_p, 300000);
    }
    return status;
}

static int reference_of(const scene_t *scene, const clv_clc_refine_t *refined)
{
    const clv_clc_point_t *points;
    int found = -1, n_without = 0;
    for (int h = 0; h < scene->n_hosts; h++) {
        if (clv_clc_refine_points(refined, (uint32_t) h, &points) == 0) {
            found = h;
            n_without++;
        }
    }
    assert_int_equal(n_without, 1);
    return found;
}

typedef struct judged {
    double mean_us, worst_us, before_us;
    int64_t n, n_beyond; /* beyond: further off than the bound */
} judged_t;

static judged_t judge(const scene_t *scene, const clv_clc_refine_t *refined)
{
    const int reference = reference_of(scene, refined);
    judged_t judged = {0};
    for (int h = 0; h < scene->n_hosts; h++) {
        const clv_clc_point_t *points;
        const int64_t n = clv_clc_refine_points(refined, (uint32_t) h, &points);
        for (int64_t i = 0; i < n; i++) {
            const double time = (double) points[i].local_ns;
            const double truth = offset_of(h, time) - offset_of(reference, time);
            const double off_us = fabs((double) points[i].offset_ns - truth) / 1e3;
            judged.mean_us += off_us;
            judged.before_us += fabs(truth) / 1e3;
            judged.worst_us = fmax(judged.worst_us, off_us);
            judged.n_beyond += off_us * 1e3 > (double) points[i].bound_ns;
            judged.n++;
            assert_true(i == 0 || points[i - 1].local_ns < points[i].local_ns);
        }
    }
    judged.mean_us /= (double) judged.n;
    judged.before_us /= (double) judged.n;
    return judged;
}

/* clang-format off */
static const scene_t scenes[] = {
    /*                                          hosts  from  to     a second  least  jitter late  asked: mean, worst [us] */
    {"8 hosts, as busy as SMG",                   8, 7, 15,   32,    25000,   12000, 1.0,   0,    0.5,  2},
    {"8 hosts, delays of several times the least", 8, 7, 15,  32,    25000,   12000, 5.0,   0,    0.5,  2},
    {"2 hosts, a hundredth of the messages",      2, 1,  0,   60,      250,    5000, 0.5,   0,    0.5,  2},
    {"64 hosts, neighbours only",                64, 2, 10,   20,    50000,    5000, 0.5,   0,    0.5,  2},
    {"half of the hosts take messages late",      8, 7, 15,   32,    25000,   12000, 1.0,   2e6, 250, 500},
    {"2 hosts, one takes messages late",          2, 1, 15,   32,    25000,   12000, 1.0,   2e6, 320, 400},
    {"all messages within 20 ms",                 4, 3, 30,   30.02, 100000,   5000, 0.5,   0,    1.5,  6},
};
/* clang-format on */

static void wandering_clocks_are_brought_together(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        const scene_t *scene = &scenes[i];
        clv_clc_refine_t *refined = NULL;
        size_t n;
        draw_hosts();
        message_t *messages = draw_messages(scene, &n);
        assert_int_equal(refine(scene, messages, n, &refined), CLV_OK);
        const judged_t judged = judge(scene, refined);
        printf("# %s: %.1f us off before, %.2f after, %.2f at worst, %lld points, %lld beyond "
               "their bounds\n",
               scene->name, judged.before_us, judged.mean_us, judged.worst_us, (long long) judged.n,
               (long long) judged.n_beyond);
        assert_true(judged.n >= scene->n_hosts - 1);
        assert_true(judged.mean_us < scene->mean_us &&
                    judged.mean_us < 1.5 * judged.before_us + 30);
        assert_true(judged.worst_us < scene->worst_us);
        assert_true(judged.n_beyond == 0);
        clv_clc_refine_free(refined);
        free(messages);
    }
}

/* A host that only sends, and one that nobody talks to: nothing is said of them. */
static void what_messages_do_not_tell_is_not_said(void **state)
{
    (void) state;
    scene_t scene = scenes[0];
    clv_clc_refine_t *refined = NULL;
    const clv_clc_point_t *points;
    size_t n;
    scene.n_hosts = 4;
    scene.n_neighbours = 3;
    draw_hosts();
    message_t *messages = draw_messages(&scene, &n);
    for (size_t i = 0; i < n; i++) {
        messages[i].from = messages[i].from == 3 ? 0 : messages[i].from;
        messages[i].to = messages[i].to == 3 || messages[i].to == 2 ? 1 : messages[i].to;
    }
    assert_int_equal(refine(&scene, messages, n, &refined), CLV_OK);
    assert_int_equal(clv_clc_refine_points(refined, 2, &points), 0);
    assert_int_equal(clv_clc_refine_points(refined, 3, &points), 0);
    assert_true(clv_clc_refine_points(refined, 0, &points) > 0 ||
                clv_clc_refine_points(refined, 1, &points) > 0);
    clv_clc_refine_free(refined);
    free(messages);
}

static void a_corridor_is_read_at_a_time(void **state)
{
    (void) state;
    clv_clc_delay_t there[CLV_CLC_WINDOW_LEAST], back[CLV_CLC_WINDOW_LEAST];
    double offset, half;
    for (int k = 0; k < CLV_CLC_WINDOW_LEAST; k++) {
        const int64_t time = 100 * k, excess = k % 3 == 1 ? 50 : 0;
        there[k] = (clv_clc_delay_t){time, 1000 + time / 10 + excess};
        back[k] = (clv_clc_delay_t){time, 1000 - time / 10 + excess};
    }
    assert_int_equal(clv_clc_corridor(there, CLV_CLC_WINDOW_LEAST, back, CLV_CLC_WINDOW_LEAST, 250,
                                      &offset, &half),
                     1);
    assert_true(fabs(offset - 25) < 1e-6);
    assert_true(fabs(half - 1000) < 1e-6);
    assert_int_equal(clv_clc_corridor(there, CLV_CLC_WINDOW_LEAST - 1, back, CLV_CLC_WINDOW_LEAST,
                                      250, &offset, &half),
                     0);
}

static int fail_later(void *context, size_t n_bytes)
{
    (void) n_bytes;
    return (*(int *) context)-- == 0;
}

static void without_memory_it_says_so(void **state)
{
    (void) state;
    scene_t scene = scenes[6];
    size_t n;
    draw_hosts();
    message_t *messages = draw_messages(&scene, &n);
    clv_status_t status = CLV_NO_MEMORY;
    for (int site = 0; status == CLV_NO_MEMORY; site++) {
        clv_clc_refine_t *refined = NULL;
        int left = site;
        clv_alloc_set_hook(fail_later, &left);
        status = refine(&scene, messages, n, &refined);
        clv_alloc_set_hook(NULL, NULL);
        clv_clc_refine_free(refined);
        assert_true(status == CLV_OK ? site > 15 : site < 30);
    }
    assert_int_equal(status, CLV_OK);
    clv_clc_refine_t *none = NULL;
    assert_int_equal(clv_clc_refine_new(CLV_CLC_REFINE_MOST_HOSTS + 1, 0, 1, CELLS, &none),
                     CLV_LIMIT);
    free(messages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wandering_clocks_are_brought_together),
        cmocka_unit_test(what_messages_do_not_tell_is_not_said),
        cmocka_unit_test(a_corridor_is_read_at_a_time),
        cmocka_unit_test(without_memory_it_says_so),
    };
    cs_random_seed_from_environment(&rng);
    return clv_run_tests(tests);
}
