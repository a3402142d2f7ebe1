/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-correct: from what was read to what is written: lines, messages, the passes of the clock and
 * the two ways in which they are repeated.
 */
#include <string.h>
#include <time.h>

#include "apps/clc/clc_parallel.h"
#include "apps/tools/correct/correct.h"
#include "util/util_alloc.h"
#include "util/util_min_max.h"

/* A shift left at the end that is more of the run calls for a smaller gamma (the paper's control).
 */
#define END_SHARE     0.001
#define MOST_HALVINGS 12

/* ---- teams and lines ---- */

static int make_team(const correct_archive_t *archive, const correct_comm_t *comm,
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
            team->n_members = 0; /* somebody who is not in the trace */
            return 1;
        }
        team->host[i] = archive->processes[comm->processes[i]].host;
    }
    clv_clc_team_ring(team);
    return 1;
}

static int make_teams(correct_t *correct, uint32_t *sizes)
{
    const correct_archive_t *archive = &correct->archive;
    correct->trace.teams = clv_alloc(archive->n_comms + (size_t) 1, sizeof(clv_clc_team_t));
    if (!correct->trace.teams) {
        return correct_fail(CORRECT_EXIT_MACHINE, "out of memory");
    }
    for (uint32_t c = 0; c < archive->n_comms; c++) {
        correct->trace.n_teams = c + 1;
        if (!make_team(archive, &archive->comms[c], &correct->trace.teams[c])) {
            return 0;
        }
        sizes[c] = correct->trace.teams[c].n_members;
    }
    return 1;
}

static uint32_t clock_of(const correct_t *correct, uint32_t i)
{
    const correct_location_t *location = &correct->archive.locations[i];
    return correct->options.is_line_per_process ? location->process : (uint32_t) location->host;
}

/* One line per clock: its locations lie in a row of track_of_line. */
int correct_make_lines(correct_t *correct)
{
    clv_clc_trace_t *trace = &correct->trace;
    const uint32_t n = correct->options.is_line_per_process ? correct->archive.n_processes
                                                            : correct->archive.n_hosts;
    uint32_t used = 0;
    trace->lines = clv_alloc(n + (size_t) 1, sizeof *trace->lines);
    correct->track_of_line = clv_alloc(trace->n_tracks + (size_t) 1, sizeof(uint32_t));
    if (!trace->lines || !correct->track_of_line) {
        return correct_fail(CORRECT_EXIT_MACHINE, "out of memory");
    }
    for (uint32_t l = 0; l < n; l++) {
        trace->lines[l].tracks = &correct->track_of_line[used];
        for (uint32_t i = 0; i < trace->n_tracks; i++) {
            if (clock_of(correct, i) == l) {
                correct->track_of_line[used++] = i;
                trace->lines[l].n_tracks++;
            }
        }
    }
    trace->n_lines = n;
    return 1;
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

static int get_groups(correct_t *correct)
{
    clv_clc_trace_t *trace = &correct->trace;
    trace->messages = correct_store_get(trace->n_messages, sizeof *trace->messages);
    trace->collectives = correct_store_get(trace->n_collectives, sizeof *trace->collectives);
    trace->members = correct_store_get(trace->n_members, sizeof *trace->members);
    return trace->messages && trace->collectives && trace->members;
}

static int join(correct_t *correct)
{
    clv_clc_trace_t *trace = &correct->trace;
    const correct_archive_t *archive = &correct->archive;
    uint32_t *sizes = clv_alloc(archive->n_comms + (size_t) 1, sizeof *sizes);
    int32_t *hosts = clv_alloc(archive->n_processes + (size_t) 1, sizeof *hosts);
    int is_good = sizes && hosts && make_teams(correct, sizes) &&
                  clv_clc_match_join(correct->match, sizes, &trace->n_messages,
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
    return is_good ? 1 : correct_fail(CORRECT_EXIT_MACHINE, "out of memory for messages");
}

static void join_events(correct_t *correct)
{
    const int n_threads = correct->options.n_threads;
    clv_clc_parallel(n_threads, correct->trace.n_tracks, bind_track, correct);
    clv_clc_match_settle(correct->match, &correct->trace);
    clv_clc_parallel(n_threads, correct->trace.n_tracks, trim_track, correct);
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

void correct_span(const clv_clc_trace_t *trace, int64_t *first, int64_t *last)
{
    *first = INT64_MAX;
    *last = INT64_MIN;
    for (uint32_t i = 0; i < trace->n_tracks; i++) {
        const clv_clc_track_t *track = &trace->tracks[i];
        if (track->n_events > 0) {
            *first = clv_smaller(*first, track->events[0].stamp);
            *last = clv_larger(*last, track->events[track->n_events - 1].stamp);
        }
    }
    if (*first > *last) {
        *first = *last = 0;
    }
}

static int64_t run_length(const clv_clc_trace_t *trace)
{
    int64_t first, last;
    correct_span(trace, &first, &last);
    return last - first;
}

static int forward(correct_t *correct, const clv_clc_config_t *config)
{
    const clv_status_t status = clv_clc_forward(&correct->trace, config, &correct->result.forward);
    return status == CLV_OK
               ? 1
               : correct_fail(status == CLV_OVERFLOW ? CORRECT_EXIT_INPUT : CORRECT_EXIT_MACHINE,
                              "forward pass: %s", clv_status_text(status));
}

/* With the gamma that was asked for, or with a smaller one when the first lets too much stay. */
static int forward_controlled(correct_t *correct)
{
    const double asked = correct->options.gamma;
    correct_result_t *result = &correct->result;
    result->gamma = asked >= 0 ? asked : CLV_CLC_GAMMA;
    result->n_passes = 1;
    clv_clc_config_t config = config_of(correct, result->gamma);
    if (!forward(correct, &config)) {
        return 0;
    }
    const double limit = END_SHARE * (double) run_length(&correct->trace);
    if (asked >= 0 || (double) result->forward.shift_at_end_ns <= limit) {
        return 1;
    }
    config.gamma = result->gamma = CLV_CLC_GAMMA_AGAIN;
    result->n_passes = 2;
    return forward(correct, &config);
}

/* What is wrong with the stamps that the clock begins with, which messages hold; at first, while
 * events still have them, also with those before the refinement. */
static void count_before(correct_t *correct, int is_first)
{
    const clv_clc_config_t config = config_of(correct, 1);
    correct_result_t *result = &correct->result;
    const int is_refined = correct->refinement.n_points > 0;
    if (is_refined && is_first) {
        clv_clc_place(&correct->trace, CLV_CLC_CORRECTED, correct->options.n_threads);
        clv_clc_count(&correct->trace, &config, result->before);
        clv_clc_place(&correct->trace, CLV_CLC_STAMP, correct->options.n_threads);
    }
    clv_clc_count(&correct->trace, &config, is_refined ? result->refined : result->before);
}

static clv_clc_tally_t sum_before(const correct_t *correct)
{
    return clv_clc_sum(correct->refinement.n_points > 0 ? correct->result.refined
                                                        : correct->result.before);
}

/* What the presynchronisation may be off by, of two hosts together. */
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

/* Latencies that are too high make every hop add to the shift: it grows beyond what the clocks can
 * account for. A chain of hops over clocks that are all wrong grows, too, with no latency at all.
 */
static int is_too_high(correct_t *correct, int *is_high, int *has_run)
{
    const int64_t shift = correct->result.forward.largest_shift_ns;
    const int64_t displacement = sum_before(correct).needed_ns;
    const int64_t bound = presync_bound(correct, displacement);
    const correct_latency_t chosen = correct->latency;
    *is_high = shift > displacement + bound && (chosen.inter > 0 || chosen.intra > 0);
    *has_run = *is_high;
    if (!*is_high) {
        return 1;
    }
    correct->latency.inter = correct->latency.intra = 0;
    const clv_clc_config_t none = config_of(correct, correct->result.gamma);
    const int is_good = forward(correct, &none);
    correct->latency = chosen;
    *is_high = shift > correct->result.forward.largest_shift_ns + bound + displacement / 10;
    return is_good;
}

static int forward_with_latency(correct_t *correct)
{
    int is_high = 0, has_run = 0;
    for (int i = 0; i < MOST_HALVINGS; i++) {
        if (i > 0) {
            clv_clc_place(&correct->trace, CLV_CLC_STAMP, correct->options.n_threads);
        }
        count_before(correct, i == 0);
        if (!forward_controlled(correct)) {
            return 0;
        }
        if (correct->options.inter_ns >= 0) {
            return 1;
        }
        if (!is_too_high(correct, &is_high, &has_run)) {
            return 0;
        }
        if (!is_high) {
            return !has_run || forward_controlled(correct);
        }
        correct->latency.inter /= 2;
        correct->latency.intra /= 2;
        correct->latency.n_halved++;
    }
    clv_clc_place(&correct->trace, CLV_CLC_STAMP, correct->options.n_threads);
    count_before(correct, 0);
    return forward_controlled(correct);
}

static void add_inside(void *context, int32_t from, int32_t to, int64_t sent, int64_t received)
{
    int64_t *n = context;
    *n += from == to && received < sent;
}

/* Of the stamps that messages hold last. */
static void count_inside(correct_t *correct)
{
    correct->n_inside = 0;
    if (!correct->options.is_line_per_process) {
        correct_each_delay(&correct->trace, add_inside, &correct->n_inside);
    }
}

static int apply_clock(correct_t *correct)
{
    correct_result_t *result = &correct->result;
    if (!forward_with_latency(correct)) {
        return 0;
    }
    const clv_clc_config_t config = config_of(correct, result->gamma);
    if (clv_clc_backward(&correct->trace, &config, &result->steepest) != CLV_OK) {
        return correct_fail(CORRECT_EXIT_MACHINE, "out of memory for the backward pass");
    }
    clv_clc_place(&correct->trace, CLV_CLC_CORRECTED, correct->options.n_threads);
    clv_clc_count(&correct->trace, &config, result->after);
    count_inside(correct);
    /* As in the paper, what lies in a pause of more than a second does not count. */
    clv_clc_measure(&correct->trace, (int64_t) (1e9 * correct->archive.ticks_per_ns),
                    correct->options.n_threads, &result->table4);
    correct_judge(correct, CLV_CLC_CORRECTED, &result->truth[CORRECT_CORRECTED]);
    return 1;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

typedef struct checking {
    const clv_clc_trace_t *trace;
    uint32_t worst; /* the first track that is wrong */
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

static int check_shapes(const correct_t *correct)
{
    const clv_clc_trace_t *trace = &correct->trace;
    checking_t checking = {trace, UINT32_MAX};
    uint64_t where = 0;
    const char *reason = clv_clc_check_groups(trace, &where);
    if (!reason) {
        clv_clc_parallel(correct->options.n_threads, trace->n_tracks, check_track, &checking);
    }
    if (!reason && checking.worst != UINT32_MAX) {
        where = checking.worst;
        reason = clv_clc_check_track(trace, checking.worst);
    }
    return reason
               ? correct_fail(CORRECT_EXIT_INPUT, "%s (%llu)", reason, (unsigned long long) where)
               : 1;
}

static void judge_before(correct_t *correct)
{
    correct_truth_t *truth = correct->result.truth;
    const int is_refined = correct->refinement.n_points > 0;
    correct_judge(correct, is_refined ? CLV_CLC_CORRECTED : CLV_CLC_STAMP,
                  &truth[CORRECT_PRESYNCED]);
    if (is_refined) {
        correct_judge(correct, CLV_CLC_STAMP, &truth[CORRECT_REFINED]);
    }
}

static int work_out(correct_t *correct)
{
    if (!join(correct)) {
        return 0;
    }
    join_events(correct);
    if (!correct_presynchronise(correct) || !correct_make_lines(correct) ||
        !check_shapes(correct)) {
        return 0;
    }
    clv_clc_place(&correct->trace, CLV_CLC_STAMP, correct->options.n_threads);
    if (!correct_refine(correct)) {
        return 0;
    }
    judge_before(correct);
    if (!correct_choose_latency(correct)) {
        return 0;
    }
    if (correct->options.is_check) {
        count_before(correct, 1);
        count_inside(correct);
        return 1;
    }
    return apply_clock(correct);
}

int correct_run(correct_t *correct)
{
    const double begin = seconds();
    if (!correct_read_events(correct)) {
        return 0;
    }
    const double read = seconds();
    if (!work_out(correct)) {
        return 0;
    }
    const double corrected = seconds();
    if (correct->options.output && !correct_write(correct)) {
        return 0;
    }
    correct->result.read_s = read - begin;
    correct->result.correct_s = corrected - read;
    correct->result.write_s = correct->options.output ? seconds() - corrected : 0;
    return 1;
}
