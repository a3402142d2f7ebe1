/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-correct: the steps between reading and writing: lines, messages, the passes of the clock, and
 * the two reasons to repeat them.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "apps/clc/clc_parallel.h"
#include "apps/tools/correct/correct_crew.h"
#include "util/util_alloc.h"
#include "util/util_min_max.h"

/* A larger shift at the end, as a share of the run, requires a smaller gamma (the paper's
 * control). */
#define END_SHARE     0.001
#define MOST_HALVINGS 12

/* ---- teams and lines ---- */

static bool make_team(const correct_archive_t *archive, const correct_comm_t *comm,
                      clv_clc_team_t *team)
{
    const uint32_t n = comm->n_others == 0 ? comm->n_members : 0;
    team->n_members = n;
    team->host = clv_alloc(n + (size_t) 1, sizeof *team->host);
    team->beside = clv_alloc(n + (size_t) 1, sizeof *team->beside);
    if (!team->host || !team->beside) {
        return correct_fail(CORRECT_EXIT_MACHINE, "out of memory for communicators");
    }
    for (uint32_t i = 0; i < n; i++) {
        if (comm->processes[i] == CORRECT_NOBODY) {
            team->n_members = 0; /* a member is not in the trace */
            return true;
        }
        team->host[i] = archive->processes[comm->processes[i]].host;
    }
    clv_clc_team_ring(team);
    return true;
}

static bool make_teams(correct_t *correct, uint32_t *sizes)
{
    const correct_archive_t *archive = &correct->archive;
    correct->trace.teams = clv_alloc(archive->n_comms + (size_t) 1, sizeof(clv_clc_team_t));
    if (!correct->trace.teams) {
        return correct_fail(CORRECT_EXIT_MACHINE, "out of memory");
    }
    for (uint32_t c = 0; c < archive->n_comms; c++) {
        correct->trace.n_teams = c + 1;
        if (!make_team(archive, &archive->comms[c], &correct->trace.teams[c])) {
            return false;
        }
        sizes[c] = correct->trace.teams[c].n_members;
    }
    return true;
}

/* One line per clock: its locations are consecutive in track_of_line. */
bool correct_make_lines(correct_t *correct)
{
    clv_clc_trace_t *trace = &correct->trace;
    const uint32_t n = correct_n_clocks(correct);
    uint32_t used = 0;
    trace->lines = clv_alloc(n + (size_t) 1, sizeof *trace->lines);
    correct->track_of_line = clv_alloc(trace->n_tracks + (size_t) 1, sizeof(uint32_t));
    if (!trace->lines || !correct->track_of_line) {
        return correct_fail(CORRECT_EXIT_MACHINE, "out of memory");
    }
    for (uint32_t l = 0; l < n; l++) {
        trace->lines[l].tracks = &correct->track_of_line[used];
        for (uint32_t i = 0; i < trace->n_tracks; i++) {
            if (correct_clock_of(correct, correct->archive.locations[i].process) == l) {
                correct->track_of_line[used++] = i;
                trace->lines[l].n_tracks++;
            }
        }
    }
    trace->n_lines = n;
    return true;
}

/* ---- messages ---- */

static void bind_track(void *context, uint32_t i)
{
    correct_t *correct = context;
    clv_clc_match_bind(correct->match, &correct->trace, correct->archive.locations[i].process, i);
}

static void trim_track(void *context, uint32_t i)
{
    correct_t *correct = context;
    clv_clc_match_trim(correct->match, &correct->trace, i);
}

static bool get_groups(correct_t *correct)
{
    clv_clc_trace_t *trace = &correct->trace;
    trace->messages = correct_store_get(trace->n_messages, sizeof *trace->messages);
    trace->collectives = correct_store_get(trace->n_collectives, sizeof *trace->collectives);
    trace->members = correct_store_get(trace->n_members, sizeof *trace->members);
    return trace->messages && trace->collectives && trace->members;
}

static bool join(correct_t *correct)
{
    clv_clc_trace_t *trace = &correct->trace;
    const correct_archive_t *archive = &correct->archive;
    uint32_t *sizes = clv_alloc(archive->n_comms + (size_t) 1, sizeof *sizes);
    int32_t *hosts = clv_alloc(archive->n_processes + (size_t) 1, sizeof *hosts);
    bool is_good = sizes && hosts && make_teams(correct, sizes) &&
                   clv_clc_match_join(correct->match, sizes, correct->share, &trace->n_messages,
                                      &trace->n_collectives, &trace->n_members) == CLV_OK &&
                   get_groups(correct);
    if (is_good) {
        for (uint32_t p = 0; p < archive->n_processes; p++) {
            hosts[p] = archive->processes[p].host;
        }
        clv_clc_match_prepare(correct->match, trace, hosts);
    }
    clv_free(sizes);
    clv_free(hosts);
    return is_good || correct_fail(CORRECT_EXIT_MACHINE, "out of memory for messages");
}

static bool join_events(correct_t *correct)
{
    const int n_threads = correct->options.n_threads;
    clv_clc_parallel(n_threads, correct->trace.n_tracks, bind_track, correct);
    if (!correct_crew_settle(correct)) {
        return false;
    }
    clv_clc_parallel(n_threads, correct->trace.n_tracks, trim_track, correct);
    int64_t n[] = {(int64_t) correct->whole->n_messages, (int64_t) correct->whole->n_collectives};
    correct_crew_sum(n, 2);
    correct->n_messages = (uint64_t) n[0];
    correct->n_collectives = (uint64_t) n[1];
    return true;
}

/* ---- stamps of all ---- */

void correct_place(const correct_t *correct, clv_clc_which_t which)
{
    clv_clc_place(&correct->trace, which, correct->options.n_threads);
    correct_crew_gather(correct);
}

static void sum_tallies(clv_clc_tally_t *tallies)
{
    int64_t sums[3 * CLV_CLC_MAX_OPS], most[2 * CLV_CLC_MAX_OPS];
    double reversed_ns[CLV_CLC_MAX_OPS];
    for (int op = 0; op < CLV_CLC_MAX_OPS; op++) {
        sums[3 * op] = tallies[op].n_messages;
        sums[3 * op + 1] = tallies[op].n_reversed;
        sums[3 * op + 2] = tallies[op].n_violated;
        most[2 * op] = tallies[op].worst_ns;
        most[2 * op + 1] = tallies[op].needed_ns;
        reversed_ns[op] = tallies[op].reversed_ns;
    }
    correct_crew_sum(sums, 3 * CLV_CLC_MAX_OPS);
    correct_crew_greatest(most, 2 * CLV_CLC_MAX_OPS);
    correct_crew_reduce(reversed_ns, CLV_CLC_MAX_OPS, CORRECT_SUM_REAL);
    for (int op = 0; op < CLV_CLC_MAX_OPS; op++) {
        tallies[op] = (clv_clc_tally_t){sums[3 * op], sums[3 * op + 1], sums[3 * op + 2],
                                        most[2 * op], most[2 * op + 1], reversed_ns[op]};
    }
}

void correct_count(const correct_t *correct, const clv_clc_config_t *config,
                   clv_clc_tally_t *tallies)
{
    clv_clc_count(correct->whole, config, tallies);
    sum_tallies(tallies);
}

/* ---- the clock ---- */

static clv_clc_config_t config_of(const correct_t *correct, double gamma)
{
    return (clv_clc_config_t){.inter_ns = correct->latency.inter,
                              .intra_ns = correct->latency.intra,
                              .gamma = gamma,
                              .slope = correct->options.slope,
                              .n_threads = correct->options.n_threads};
}

static int64_t time_of(const clv_clc_event_t *event, clv_clc_which_t which)
{
    return which == CLV_CLC_STAMP ? event->stamp : event->corrected;
}

void correct_span(const correct_t *correct, clv_clc_which_t which, int64_t *first, int64_t *last)
{
    *first = INT64_MAX;
    *last = INT64_MIN;
    for (uint32_t i = 0; i < correct->trace.n_tracks; i++) {
        const clv_clc_track_t *track = &correct->trace.tracks[i];
        if (track->n_events > 0) {
            *first = clv_smaller(*first, time_of(&track->events[0], which));
            *last = clv_larger(*last, time_of(&track->events[track->n_events - 1], which));
        }
    }
    correct_crew_least(first, 1);
    correct_crew_greatest(last, 1);
    if (*first > *last) {
        *first = *last = 0;
    }
}

static int64_t run_length(const correct_t *correct)
{
    int64_t first, last;
    correct_span(correct, CLV_CLC_STAMP, &first, &last);
    return last - first;
}

static void sum_forward(clv_clc_forward_result_t *result)
{
    int64_t most[] = {result->largest_shift_ns, result->shift_at_end_ns};
    correct_crew_sum(&result->n_explicit, 1);
    correct_crew_sum(result->explicit_by_op, CLV_CLC_MAX_OPS);
    correct_crew_greatest(most, 2);
    result->largest_shift_ns = most[0];
    result->shift_at_end_ns = most[1];
}

static bool forward(correct_t *correct, const clv_clc_config_t *config)
{
    const clv_status_t status = clv_clc_forward(&correct->trace, config, &correct->result.forward);
    sum_forward(&correct->result.forward);
    return correct_crew_agree(
        status == CLV_OK
            ? true
            : correct_fail(status == CLV_OVERFLOW ? CORRECT_EXIT_INPUT : CORRECT_EXIT_MACHINE,
                           "forward pass: %s", clv_status_text(status)));
}

/* With the requested gamma, or with a smaller one if the first leaves too large a shift. */
static bool forward_controlled(correct_t *correct)
{
    const double asked = correct->options.gamma;
    correct_result_t *result = &correct->result;
    result->gamma = asked >= 0 ? asked : CLV_CLC_GAMMA;
    result->n_passes = 1;
    clv_clc_config_t config = config_of(correct, result->gamma);
    if (!forward(correct, &config)) {
        return false;
    }
    const double limit = END_SHARE * (double) run_length(correct);
    if (asked >= 0 || (double) result->forward.shift_at_end_ns <= limit) {
        return true;
    }
    config.gamma = result->gamma = CLV_CLC_GAMMA_AGAIN;
    result->n_passes = 2;
    return forward(correct, &config);
}

/* Counts violations in the stamps that the clock starts from, which messages hold; the first time,
 * also in the stamps before the refinement, while events still have them. */
static void count_before(correct_t *correct, bool is_first)
{
    const clv_clc_config_t config = config_of(correct, 1);
    correct_result_t *result = &correct->result;
    const bool is_refined = correct->refinement.n_points > 0;
    if (is_refined && is_first) {
        correct_place(correct, CLV_CLC_CORRECTED);
        correct_count(correct, &config, result->before);
        correct_place(correct, CLV_CLC_STAMP);
    }
    correct_count(correct, &config, is_refined ? result->refined : result->before);
}

static clv_clc_tally_t sum_before(const correct_t *correct)
{
    return clv_clc_sum(correct->refinement.n_points > 0 ? correct->result.refined
                                                        : correct->result.before);
}

/* Error bound of the presynchronisation, for two hosts together. */
static int64_t presync_bound(const correct_t *correct, int64_t displacement)
{
    int64_t bound = 0;
    for (uint32_t i = 0; i < correct->archive.n_locations; i++) {
        const correct_map_t *map = correct_map_of(correct, &correct->archive.locations[i]);
        for (int64_t k = 0; k < map->map.n_points; k++) {
            const int64_t own = map->map.points[k].bound_ns;
            bound = own > bound ? own : bound;
        }
    }
    return bound > 0 ? 2 * bound : displacement / 10;
}

/* Too high latencies make every hop add to the shift, which then exceeds what the clocks' errors
 * explain. A chain of hops over clocks that are all wrong grows, too, even without latency. */
static bool is_too_high(correct_t *correct, bool *is_high, bool *has_run)
{
    const int64_t shift = correct->result.forward.largest_shift_ns;
    const int64_t displacement = sum_before(correct).needed_ns;
    const int64_t bound = presync_bound(correct, displacement);
    const correct_latency_t chosen = correct->latency;
    *is_high = shift > displacement + bound && (chosen.inter > 0 || chosen.intra > 0);
    *has_run = *is_high;
    if (!*is_high) {
        return true;
    }
    correct->latency.inter = correct->latency.intra = 0;
    const clv_clc_config_t none = config_of(correct, correct->result.gamma);
    const bool is_good = forward(correct, &none);
    correct->latency = chosen;
    *is_high = shift > correct->result.forward.largest_shift_ns + bound + displacement / 10;
    return is_good;
}

static bool forward_with_latency(correct_t *correct)
{
    bool is_high = false, has_run = false;
    for (int i = 0; i < MOST_HALVINGS; i++) {
        if (i > 0) {
            correct_place(correct, CLV_CLC_STAMP);
        }
        count_before(correct, i == 0);
        if (!forward_controlled(correct)) {
            return false;
        }
        if (correct->options.inter_ns >= 0) {
            return true;
        }
        if (!is_too_high(correct, &is_high, &has_run)) {
            return false;
        }
        if (!is_high) {
            return !has_run || forward_controlled(correct);
        }
        correct->latency.inter /= 2;
        correct->latency.intra /= 2;
        correct->latency.n_halved++;
    }
    correct_place(correct, CLV_CLC_STAMP);
    count_before(correct, false);
    return forward_controlled(correct);
}

static void add_inside(void *context, const correct_delay_t *delay)
{
    int64_t *n = context;
    *n += delay->from == delay->to && delay->received < delay->sent;
}

/* Counts in the stamps that messages hold last. */
static void count_inside(correct_t *correct)
{
    correct->n_inside = 0;
    if (!correct->options.is_line_per_process) {
        correct_each_delay(correct->whole, add_inside, &correct->n_inside);
        correct_crew_sum(&correct->n_inside, 1);
    }
}

/* As in the paper, pauses of more than a second do not count. */
static void measure(correct_t *correct)
{
    clv_clc_table4_t *t = &correct->result.table4;
    clv_clc_measure(&correct->trace, (int64_t) (1e9 * correct->archive.ticks_per_ns),
                    correct->options.n_threads, t);
    int64_t most[] = {t->position_ns, t->largest_shift_ns};
    double relative[] = {t->largest, t->position_relative};
    correct_crew_sum(&t->n_intervals, 1);
    correct_crew_sum(t->n_above, CLV_CLC_N_THRESHOLDS);
    correct_crew_reduce(&t->total_ns, 1, CORRECT_SUM_REAL);
    correct_crew_reduce(&t->deviation_ns, 1, CORRECT_SUM_REAL);
    correct_crew_reduce(t->above_ns, CLV_CLC_N_THRESHOLDS, CORRECT_SUM_REAL);
    correct_crew_greatest(most, 2);
    correct_crew_reduce(relative, 2, CORRECT_GREATEST_REAL);
    t->position_ns = most[0];
    t->largest_shift_ns = most[1];
    t->largest = relative[0];
    t->position_relative = relative[1];
}

static bool backward(correct_t *correct, const clv_clc_config_t *config)
{
    double *steepest = &correct->result.steepest;
    correct_crew_limit(correct, config);
    const bool is_good =
        clv_clc_backward(&correct->trace, config, steepest) == CLV_OK
            ? true
            : correct_fail(CORRECT_EXIT_MACHINE, "out of memory for the backward pass");
    correct_crew_reduce(steepest, 1, CORRECT_GREATEST_REAL);
    return correct_crew_agree(is_good);
}

static bool apply_clock(correct_t *correct)
{
    correct_result_t *result = &correct->result;
    if (!forward_with_latency(correct)) {
        return false;
    }
    const clv_clc_config_t config = config_of(correct, result->gamma);
    if (!backward(correct, &config)) {
        return false;
    }
    correct_place(correct, CLV_CLC_CORRECTED);
    correct_count(correct, &config, result->after);
    count_inside(correct);
    measure(correct);
    return correct_judge(correct, CLV_CLC_CORRECTED, &result->truth[CORRECT_CORRECTED]);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

typedef struct checking {
    const clv_clc_trace_t *trace;
    uint32_t worst; /* the first invalid track */
} checking_t;

static void check_track(void *context, uint32_t i)
{
    checking_t *checking = context;
    if (clv_clc_check_track(checking->trace, i)) {
        uint32_t now = __atomic_load_n(&checking->worst, __ATOMIC_RELAXED);
        while (i < now && !__atomic_compare_exchange_n(&checking->worst, &now, i, 0,
                                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        }
    }
}

static bool check_shapes(const correct_t *correct)
{
    const clv_clc_trace_t *trace = &correct->trace;
    checking_t checking = {trace, UINT32_MAX};
    uint64_t where = 0;
    const char *reason = clv_clc_check_groups(correct->whole, &where);
    if (!reason) {
        clv_clc_parallel(correct->options.n_threads, trace->n_tracks, check_track, &checking);
    }
    if (!reason && checking.worst != UINT32_MAX) {
        where = checking.worst;
        reason = clv_clc_check_track(trace, checking.worst);
    }
    return reason
               ? correct_fail(CORRECT_EXIT_INPUT, "%s (%llu)", reason, (unsigned long long) where)
               : true;
}

static bool judge_before(correct_t *correct)
{
    correct_truth_t *truth = correct->result.truth;
    const bool is_refined = correct->refinement.n_points > 0;
    return correct_judge(correct, is_refined ? CLV_CLC_CORRECTED : CLV_CLC_STAMP,
                         &truth[CORRECT_PRESYNCED]) &&
           (!is_refined || correct_judge(correct, CLV_CLC_STAMP, &truth[CORRECT_REFINED]));
}

static bool work_out(correct_t *correct)
{
    if (!correct_crew_join(correct) || !correct_crew_agree(join(correct)) ||
        !join_events(correct) || !correct_presynchronise(correct) ||
        !correct_crew_agree(correct_make_lines(correct) && check_shapes(correct))) {
        return false;
    }
    correct_place(correct, CLV_CLC_STAMP);
    if (!correct_refine(correct) || !judge_before(correct) || !correct_choose_latency(correct)) {
        return false;
    }
    if (correct->options.is_check) {
        count_before(correct, true);
        count_inside(correct);
        return true;
    }
    return apply_clock(correct);
}

/* ---- for the report ---- */

static int by_place(const void *left, const void *right)
{
    const clv_clc_left_out_t *a = left, *b = right;
    const uint32_t x[] = {a->source == CLV_CLC_ALL, a->comm, a->source, a->target, a->tag};
    const uint32_t y[] = {b->source == CLV_CLC_ALL, b->comm, b->source, b->target, b->tag};
    for (int i = 0; i < 5; i++) {
        if (x[i] != y[i]) {
            return x[i] < y[i] ? -1 : 1;
        }
    }
    return 0;
}

/* All processes know the same about communicators, so only the first one lists them. */
static void take_left_out(void *context, const clv_clc_left_out_t *left)
{
    correct_t *correct = context;
    if (left->source == CLV_CLC_ALL && !correct_crew_is_first()) {
        return;
    }
    if (correct->left_out) {
        correct->left_out[correct->n_left_out] = *left;
    }
    correct->n_left_out++;
}

static bool collect_left_out(correct_t *correct)
{
    void *list = NULL;
    clv_clc_match_left_out(correct->match, take_left_out, correct);
    list = clv_alloc(correct->n_left_out + 1, sizeof *correct->left_out);
    if (!correct_crew_has(list != NULL, "a report")) {
        clv_free(list);
        return false;
    }
    correct->left_out = list;
    correct->n_left_out = 0;
    clv_clc_match_left_out(correct->match, take_left_out, correct);
    const bool is_good =
        correct_crew_collect(&list, &correct->n_left_out, sizeof *correct->left_out);
    correct->left_out = list;
    if (correct->n_left_out > 1) {
        qsort(list, correct->n_left_out, sizeof *correct->left_out, by_place);
    }
    return is_good;
}

static bool collect_ends(correct_t *correct)
{
    const uint32_t n = correct->archive.n_locations;
    correct->ends = clv_alloc(n, sizeof *correct->ends);
    if (!correct_crew_has(correct->ends != NULL, "a report")) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        const clv_clc_track_t *track = &correct->trace.tracks[i];
        correct_ends_t *ends = &correct->ends[i];
        ends->n_events = track->n_events;
        ends->n_falling = correct->archive.locations[i].n_falling;
        if (track->n_events > 0) {
            const clv_clc_event_t *last = &track->events[track->n_events - 1];
            ends->first_stamp = track->events[0].stamp;
            ends->first_corrected = track->events[0].corrected;
            ends->last_stamp = last->stamp;
            ends->last_corrected = last->corrected;
        }
    }
    correct_crew_sum((int64_t *) correct->ends, n * (sizeof *correct->ends / sizeof(int64_t)));
    return true;
}

static bool collect(correct_t *correct)
{
    correct_find_true_delays(correct);
    int64_t n[CORRECT_N_LEFT + 2] = {(int64_t) correct->n_events,
                                     (int64_t) correct->n_lost_requests};
    for (int why = 0; why < CORRECT_N_LEFT; why++) {
        n[2 + why] = (int64_t) correct->n_left[why];
    }
    correct_crew_sum(n, CORRECT_N_LEFT + 2);
    correct->n_scratch_bytes = correct_store_file_bytes();
    correct_crew_sum(&correct->n_scratch_bytes, 1);
    correct->n_events = (uint64_t) n[0];
    correct->n_lost_requests = (uint64_t) n[1];
    for (int why = 0; why < CORRECT_N_LEFT; why++) {
        correct->n_left[why] = (uint64_t) n[2 + why];
    }
    return collect_left_out(correct) && collect_ends(correct);
}

bool correct_run(correct_t *correct)
{
    const double begin = seconds();
    if (!correct_crew_agree(correct_read_events(correct))) {
        return false;
    }
    const double read = seconds();
    if (!work_out(correct) || !collect(correct)) {
        return false;
    }
    const double corrected = seconds();
    if (correct->options.output && !correct_write(correct)) {
        return false;
    }
    correct->result.read_s = read - begin;
    correct->result.correct_s = corrected - read;
    correct->result.write_s = correct->options.output ? seconds() - corrected : 0;
    return true;
}
