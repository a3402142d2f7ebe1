/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The controlled logical clock on random traces: nothing violated, nothing moved back, order and
 * intervals kept, the backward pass equal to the paper's recursion, any number of threads.
 *
 * usage: test_clc_random [TRACES, 6000]; CLV_SEED repeats another draw.
 */
#include <math.h>

#include "tests/support/clc_synth.h"
#include "tests/support/test.h"

static cs_random_t rng;
static int n_traces = 6000;

static clc_synth_config_t draw_config(void)
{
    static const clc_synth_presync_t presyncs[] = {CLC_SYNTH_NONE, CLC_SYNTH_ENDS,
                                                   CLC_SYNTH_PIECEWISE};
    clc_synth_config_t config = {0};
    config.n_ranks = (int) cs_random_range(&rng, 1, 24);
    config.per_host = (int) cs_random_range(&rng, 1, 4);
    config.n_ops = (int) cs_random_range(&rng, 5, 60);
    config.presync = presyncs[cs_random_range(&rng, 0, 2)];
    config.pause_ns = cs_random_uniform(&rng, 1e6, 6e10);
    config.wander_ns = cs_random_uniform(&rng, 0, 4e5);
    config.offset_error_ns = cs_random_uniform(&rng, 0, 5e3);
    config.intra_ns = cs_random_uniform(&rng, 300, 2000);
    config.inter_ns = cs_random_uniform(&rng, 1000, 9000);
    config.jitter = 0.3;
    config.tick_ns = cs_random_range(&rng, 0, 4) == 0 ? 1000 : 1;
    config.collective_share = cs_random_uniform(&rng, 0, 0.4);
    config.is_line_per_host = (int) cs_random_range(&rng, 0, 1);
    return config;
}

static clv_clc_config_t draw_clock_config(const clc_synth_config_t *synth)
{
    static const double gammas[] = {0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 1};
    clv_clc_config_t config = {.slope = CLV_CLC_SLOPE, .n_threads = 1};
    config.gamma = gammas[cs_random_range(&rng, 0, 7)];
    config.intra_ns = (int64_t) (synth->intra_ns * cs_random_uniform(&rng, 0, 1));
    config.inter_ns = (int64_t) (synth->inter_ns * cs_random_uniform(&rng, 0, 1));
    if (cs_random_range(&rng, 0, 3) == 0) {
        config.look_back = cs_random_range(&rng, 1, 100);
        config.look_ahead_ns = cs_random_range(&rng, 1, 1000000);
    }
    return config;
}

/* ---- what must hold; counted, since asserting each event would take longer than the rest ---- */

typedef struct faults {
    int64_t n_back, n_order, n_shrunk, n_lost;
} faults_t;

static faults_t look_at_tracks(const clv_clc_trace_t *trace, double gamma, int is_forward)
{
    faults_t faults = {0};
    for (uint32_t i = 0; i < trace->n_tracks; i++) {
        const clv_clc_event_t *e = trace->tracks[i].events;
        for (int64_t j = 0; j < trace->tracks[i].n_events; j++) {
            faults.n_back += e[j].corrected < e[j].stamp;
            if (j == 0) {
                continue;
            }
            const int64_t was = e[j].stamp - e[j - 1].stamp;
            const int64_t is = e[j].corrected - e[j - 1].corrected;
            faults.n_order += was > 0 ? is <= 0 : is < 0;
            /* The backward pass, too, only lets intervals grow, but for its rounding down. */
            faults.n_shrunk += (double) (was - is) >
                               (1 - gamma) * (double) was + 1.0 + 1e-6 + (is_forward ? 0 : 1);
        }
    }
    return faults;
}

typedef struct moment {
    const clv_clc_event_t *event;
    int64_t stamp;
    uint32_t track;
} moment_t;

static int by_stamp(const void *left, const void *right)
{
    const moment_t *a = left, *b = right;
    if (a->stamp != b->stamp) {
        return a->stamp < b->stamp ? -1 : 1;
    }
    return a->track != b->track ? (a->track < b->track ? -1 : 1)
                                : (a->event > b->event) - (a->event < b->event);
}

/* The events of a line in its order. */
static moment_t *merge_line(const clv_clc_trace_t *trace, const clv_clc_line_t *line, int64_t *n)
{
    int64_t count = 0;
    for (uint32_t k = 0; k < line->n_tracks; k++) {
        count += trace->tracks[line->tracks[k]].n_events;
    }
    moment_t *moments = calloc((size_t) count + 1, sizeof *moments);
    assert_non_null(moments);
    *n = 0;
    for (uint32_t k = 0; k < line->n_tracks; k++) {
        const clv_clc_track_t *track = &trace->tracks[line->tracks[k]];
        for (int64_t j = 0; j < track->n_events; j++) {
            moments[(*n)++] =
                (moment_t){&track->events[j], track->events[j].stamp, line->tracks[k]};
        }
    }
    qsort(moments, (size_t) *n, sizeof *moments, by_stamp);
    return moments;
}

static int64_t disorder_in_lines(const clv_clc_trace_t *trace)
{
    int64_t n_faults = 0;
    for (uint32_t l = 0; l < trace->n_lines; l++) {
        int64_t n, top = INT64_MIN, batch = INT64_MIN;
        moment_t *moments = merge_line(trace, &trace->lines[l], &n);
        for (int64_t j = 0; j < n; j++) {
            if (j > 0 && moments[j].stamp > moments[j - 1].stamp) {
                top = batch > top ? batch : top;
            }
            n_faults += moments[j].event->corrected <= top && top != INT64_MIN;
            batch = moments[j].event->corrected > batch ? moments[j].event->corrected : batch;
        }
        free(moments);
    }
    return n_faults;
}

/* Pairs counted once more, from the text of the paper. */
static clv_clc_tally_t count_slowly(const clv_clc_trace_t *trace, const clv_clc_config_t *config)
{
    clv_clc_tally_t sum = {0};
    for (uint64_t g = 0; g < trace->n_messages; g++) {
        const clv_clc_message_t *m = &trace->messages[g];
        sum.n_messages++;
        sum.n_reversed += m->receive < m->send;
        sum.n_violated +=
            m->receive < m->send + (m->from == m->to ? config->intra_ns : config->inter_ns);
    }
    for (uint64_t g = 0; g < trace->n_collectives; g++) {
        const clv_clc_collective_t *c = &trace->collectives[g];
        const clv_clc_team_t *team = &trace->teams[c->team];
        const clv_clc_member_t *m = &trace->members[c->first];
        for (uint32_t s = 0; s < team->n_members; s++) {
            for (uint32_t r = 0; r < team->n_members; r++) {
                const int flavours = c->flavour == CLV_CLC_ONE_TO_N   ? s == c->root
                                     : c->flavour == CLV_CLC_N_TO_ONE ? r == c->root
                                     : c->flavour == CLV_CLC_N_TO_N   ? 1
                                     : c->flavour == CLV_CLC_FREE     ? 0
                                                                      : s < r;
                if (s != r && flavours && (m[s].flags & CLV_CLC_SENDS) &&
                    (m[r].flags & CLV_CLC_RECEIVES)) {
                    const int64_t delay =
                        team->host[s] == team->host[r] ? config->intra_ns : config->inter_ns;
                    sum.n_messages++;
                    sum.n_reversed += m[r].exit < m[s].enter;
                    sum.n_violated += m[r].exit < m[s].enter + delay;
                }
            }
        }
    }
    return sum;
}

static void check_count(const clv_clc_trace_t *trace, const clv_clc_config_t *config,
                        clv_clc_tally_t *sum)
{
    clv_clc_tally_t tallies[CLV_CLC_MAX_OPS];
    clv_clc_count(trace, config, tallies);
    *sum = clv_clc_sum(tallies);
    const clv_clc_tally_t slow = count_slowly(trace, config);
    assert_int_equal(sum->n_messages, slow.n_messages);
    assert_int_equal(sum->n_reversed, slow.n_reversed);
    assert_int_equal(sum->n_violated, slow.n_violated);
}

/* ---- the paper's recursion ---- */

typedef struct recursion {
    int64_t *time;  /* of the line's events; sends keep their own limits */
    int64_t *limit; /* how far a send may move, INT64_MAX: no send */
    double *shift;
} recursion_t;

/* From (time, height) a line goes down to (left, 0). The send that asks for a steeper one, and
 * among those the steepest, takes the part right of it; from there it begins again. */
static void recurse(recursion_t *r, int64_t begin, int64_t end, double time, double height,
                    double left)
{
    double best = height / (time - left);
    int64_t at = -1;
    for (int64_t j = end - 1; j >= begin; j--) {
        const double width = time - (double) r->time[j];
        if (r->limit[j] != INT64_MAX && width > 0 &&
            (height - (double) r->limit[j]) / width > best) {
            best = (height - (double) r->limit[j]) / width;
            at = j;
        }
    }
    for (int64_t j = at < 0 ? begin : at; j < end; j++) {
        r->shift[j] = fmax(0, height - best * (time - (double) r->time[j]));
    }
    if (at > begin && r->limit[at] > 0) {
        recurse(r, begin, at, (double) r->time[at], (double) r->limit[at], left);
    }
}

static int64_t limit_of(const clv_clc_trace_t *trace, const clv_clc_config_t *config,
                        const clv_clc_event_t *event, int64_t time)
{
    int64_t limit = INT64_MAX;
    if (clv_clc_role(event) == CLV_CLC_SEND) {
        const clv_clc_message_t *m = &trace->messages[event->group];
        limit = m->receive - (m->from == m->to ? config->intra_ns : config->inter_ns) - time;
    } else if (clv_clc_role(event) == CLV_CLC_ENTER) {
        const clv_clc_collective_t *c = &trace->collectives[event->group];
        const clv_clc_team_t *team = &trace->teams[c->team];
        const clv_clc_member_t *m = &trace->members[c->first];
        const uint32_t s = clv_clc_member_of(event);
        for (uint32_t r = 0; r < team->n_members; r++) {
            const int waits = c->flavour == CLV_CLC_ONE_TO_N   ? s == c->root
                              : c->flavour == CLV_CLC_N_TO_ONE ? r == c->root
                              : c->flavour == CLV_CLC_N_TO_N   ? 1
                              : c->flavour == CLV_CLC_FREE     ? 0
                                                               : s < r;
            if (s != r && waits && (m[s].flags & CLV_CLC_SENDS) &&
                (m[r].flags & CLV_CLC_RECEIVES)) {
                const int64_t delay =
                    team->host[s] == team->host[r] ? config->intra_ns : config->inter_ns;
                const int64_t left = m[r].exit - delay - time;
                limit = left < limit ? left : limit;
            }
        }
    }
    return limit;
}

/* One corrected receive: the event at r of the line, which would be at star. */
static void amortise(const clv_clc_trace_t *trace, const clv_clc_config_t *config,
                     const moment_t *moments, recursion_t *rec, int64_t r, int64_t star)
{
    const int64_t jump = rec->time[r] - star;
    const double reach = (double) jump / config->slope;
    const int64_t first = rec->time[0];
    const int64_t left = reach < (double) (star - first) ? star - (int64_t) reach : first;
    int64_t begin = r;
    while (begin > 0 && rec->time[begin - 1] > left) {
        begin--;
    }
    if (star <= left || begin == r) {
        return;
    }
    for (int64_t j = begin; j < r; j++) {
        const int64_t limit = limit_of(trace, config, moments[j].event, rec->time[j]);
        rec->limit[j] = limit < jump ? limit : INT64_MAX;
        rec->shift[j] = 0;
    }
    recurse(rec, begin, r, (double) star, (double) jump, (double) left);
    for (int64_t j = begin; j < r; j++) {
        rec->time[j] += (int64_t) (rec->shift[j] + 1e-3);
    }
}

/* The whole backward pass for lines without equal stamps; into times, one array per line. */
static int64_t *recursion_of_line(const clv_clc_trace_t *trace, const clv_clc_config_t *config,
                                  const moment_t *moments, int64_t n)
{
    recursion_t rec = {calloc((size_t) n + 1, 8), calloc((size_t) n + 1, 8),
                       calloc((size_t) n + 1, 8)};
    int64_t *forward = calloc((size_t) n + 1, 8);
    double shift = 0;
    for (int64_t j = 0; j < n; j++) {
        rec.time[j] = forward[j] = moments[j].event->corrected;
    }
    for (int64_t j = 0; j < n; j++) {
        int64_t local = moments[j].stamp;
        if (j > 0) {
            shift = fmax(0, shift - (1 - config->gamma) *
                                        (double) (moments[j].stamp - moments[j - 1].stamp));
            local += (int64_t) (shift + 0.5);
            local = local > forward[j - 1] ? local : forward[j - 1] + 1;
        }
        if (j > 0 && forward[j] > local) {
            amortise(trace, config, moments, &rec, j, local);
        }
        if ((double) (forward[j] - moments[j].stamp) > shift + 0.5) {
            shift = (double) (forward[j] - moments[j].stamp);
        }
    }
    free(rec.limit);
    free(rec.shift);
    free(forward);
    return rec.time;
}

/* ---- one trace ---- */

static int64_t n_compared, n_apart, furthest_ns, n_violated_before;

/* What a receive is rounded by moves the events before it by as much as the line to it is steep. */
static void compare(const moment_t *moments, const int64_t *expected, int64_t n, double steepest)
{
    for (int64_t j = 0; j < n; j++) {
        const int64_t off = llabs(moments[j].event->corrected - expected[j]);
        const int64_t apart = (int64_t) ((double) off / fmax(1, steepest));
        n_compared++;
        n_apart += apart > 0;
        furthest_ns = apart > furthest_ns ? apart : furthest_ns;
    }
}

static void backward_with_recursion(const clv_clc_trace_t *trace, const clv_clc_config_t *config)
{
    moment_t **moments = calloc(trace->n_lines + 1, sizeof *moments);
    int64_t **expected = calloc(trace->n_lines + 1, sizeof *expected);
    int64_t *n = calloc(trace->n_lines + 1, sizeof *n);
    double steepest;
    for (uint32_t l = 0; l < trace->n_lines; l++) {
        moments[l] = merge_line(trace, &trace->lines[l], &n[l]);
        expected[l] = recursion_of_line(trace, config, moments[l], n[l]);
    }
    assert_int_equal(clv_clc_backward(trace, config, &steepest), CLV_OK);
    for (uint32_t l = 0; l < trace->n_lines; l++) {
        compare(moments[l], expected[l], n[l], steepest);
        free(moments[l]);
        free(expected[l]);
    }
    free(moments);
    free(expected);
    free(n);
}

static int has_equal_stamps(const clv_clc_trace_t *trace)
{
    int is_equal = 0;
    for (uint32_t l = 0; l < trace->n_lines; l++) {
        int64_t n;
        moment_t *moments = merge_line(trace, &trace->lines[l], &n);
        for (int64_t j = 1; j < n; j++) {
            is_equal |= moments[j].stamp == moments[j - 1].stamp;
        }
        free(moments);
    }
    return is_equal;
}

static void check_one(const clc_synth_t *synth, const clv_clc_config_t *config)
{
    const clv_clc_trace_t *trace = &synth->trace;
    clv_clc_forward_result_t forward;
    clv_clc_tally_t before, after;
    uint64_t where;
    double steepest;
    assert_null(clv_clc_check(trace, &where));
    assert_null(clv_clc_check_config(config));
    clv_clc_place(trace, CLV_CLC_STAMP, 1);
    check_count(trace, config, &before);
    n_violated_before += before.n_violated;
    assert_int_equal(clv_clc_forward(trace, config, &forward), CLV_OK);
    assert_int_equal(forward.n_broken, 0);
    check_count(trace, config, &after);
    assert_int_equal(after.n_violated, 0);
    const faults_t faults = look_at_tracks(trace, config->gamma, 1);
    assert_int_equal(faults.n_back + faults.n_order + faults.n_shrunk, 0);
    assert_int_equal(disorder_in_lines(trace), 0);
    if (config->look_back == 0 && config->look_ahead_ns == 0 && !has_equal_stamps(trace)) {
        backward_with_recursion(trace, config);
    } else {
        assert_int_equal(clv_clc_backward(trace, config, &steepest), CLV_OK);
    }
    clv_clc_place(trace, CLV_CLC_CORRECTED, 1);
    check_count(trace, config, &after);
    assert_int_equal(after.n_violated, 0);
    const faults_t left = look_at_tracks(trace, config->gamma, 0);
    assert_int_equal(left.n_back + left.n_order + left.n_shrunk, 0);
    assert_int_equal(disorder_in_lines(trace), 0);
}

static void every_random_trace_comes_out_right(void **state)
{
    (void) state;
    for (int i = 0; i < n_traces; i++) {
        const clc_synth_config_t config = draw_config();
        const clv_clc_config_t clock = draw_clock_config(&config);
        clc_synth_t synth;
        clc_synth_make(&synth, &config, &rng);
        check_one(&synth, &clock);
        clc_synth_free(&synth);
    }
    printf("# %d traces; %lld violations before, 0 after; %lld events against the recursion, %lld "
           "not equal, furthest %lld ns\n",
           n_traces, (long long) n_violated_before, (long long) n_compared, (long long) n_apart,
           (long long) furthest_ns);
    assert_true(n_violated_before > n_traces);
    assert_true(n_compared > n_traces);
    /* An event may be rounded once for each receive it follows. */
    assert_true(furthest_ns <= 3);
    assert_true(n_apart * 10000 < n_compared);
}

static uint64_t hash_of(const clv_clc_trace_t *trace)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (uint32_t i = 0; i < trace->n_tracks; i++) {
        for (int64_t j = 0; j < trace->tracks[i].n_events; j++) {
            hash =
                (hash ^ (uint64_t) trace->tracks[i].events[j].corrected) * UINT64_C(1099511628211);
        }
    }
    return hash;
}

static void threads_do_not_change_the_result(void **state)
{
    (void) state;
    for (int i = 0; i < n_traces / 60; i++) {
        clc_synth_config_t config = draw_config();
        clv_clc_config_t clock = draw_clock_config(&config);
        clv_clc_forward_result_t result[2];
        uint64_t hashes[2];
        double steepest;
        clc_synth_t synth;
        config.n_ops *= 5;
        clc_synth_make(&synth, &config, &rng);
        for (int k = 0; k < 2; k++) {
            clock.n_threads = k == 0 ? 1 : (int) cs_random_range(&rng, 2, 5);
            assert_int_equal(clv_clc_forward(&synth.trace, &clock, &result[k]), CLV_OK);
            assert_int_equal(clv_clc_backward(&synth.trace, &clock, &steepest), CLV_OK);
            hashes[k] = hash_of(&synth.trace);
        }
        assert_true(hashes[0] == hashes[1]);
        assert_int_equal(result[0].n_explicit, result[1].n_explicit);
        clc_synth_free(&synth);
    }
}

static void the_truth_comes_closer(void **state)
{
    (void) state;
    double before = 0, after = 0;
    for (int i = 0; i < 20; i++) {
        const clc_synth_config_t config = {16,   2,   2000, CLC_SYNTH_ENDS, 6e11, 2e4, 1e3, 1000,
                                           5000, 0.3, 1,    0.03,           1};
        const clv_clc_config_t clock = {
            .inter_ns = 5000, .intra_ns = 1000, .gamma = CLV_CLC_GAMMA, .slope = CLV_CLC_SLOPE};
        clv_clc_forward_result_t forward;
        clc_synth_t synth;
        double steepest;
        clc_synth_make(&synth, &config, &rng);
        assert_int_equal(clv_clc_forward(&synth.trace, &clock, &forward), CLV_OK);
        assert_int_equal(clv_clc_backward(&synth.trace, &clock, &steepest), CLV_OK);
        before += clc_synth_judge(&synth, CLV_CLC_STAMP).mean_us / 20;
        after += clc_synth_judge(&synth, CLV_CLC_CORRECTED).mean_us / 20;
        clc_synth_free(&synth);
    }
    printf("# lateness error at collectives: %.2f us before, %.2f after\n", before, after);
    assert_true(after < before / 5);
}

int main(int argc, char **argv)
{
    n_traces = argc > 1 ? atoi(argv[1]) : clv_share_of(n_traces);
    cs_random_seed_from_environment(&rng);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_random_trace_comes_out_right),
        cmocka_unit_test(threads_do_not_change_the_result),
        cmocka_unit_test(the_truth_comes_closer),
    };
    return clv_run_tests(tests);
}
