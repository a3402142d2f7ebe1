/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Forward amortisation: each line runs until its next event waits for a send of another line.
 *
 * Corrected times are the longest paths of an acyclic graph, so the order in which lines run does
 * not change them. If no line can proceed, the trace has a cycle, and the earliest waiting event
 * proceeds without the sends it lacks.
 *
 * One thread: the lines of real traces wait for each other every few microseconds of work, and two
 * threads took 25 % longer than one (docs/results/trace-correction.md).
 */
#include "apps/clc/clc_internal.h"

#include "util/util_alloc.h"
#include "util/util_min_max.h"

/* The extreme of a collective is final. */
#define ALL_KNOWN (-1)
/* Larger times are not safe to add to. */
#define LARGEST_TIME (INT64_C(1) << 62)

typedef struct runner {
    clv_clc_walk_t walk;
    clv_clc_clock_t clock;
    bool has_ended;
} runner_t;

typedef struct forward {
    const clv_clc_trace_t *trace;
    const clv_clc_config_t *config;
    runner_t *runners;
    clv_clc_forward_result_t *result;
    bool has_overflowed;
} forward_t;

/* ---- one event ---- */

static bool enters_known(const clv_clc_trace_t *trace, const clv_clc_collective_t *collective,
                         uint32_t member)
{
    if (!clv_clc_is_prefix(collective)) {
        return collective->n_missing == ALL_KNOWN;
    }
    const clv_clc_member_t *members = &trace->members[collective->first];
    for (uint32_t k = 0; k < member; k++) {
        if (clv_clc_depends(collective, members, k, member) &&
            members[k].enter == CLV_CLC_UNKNOWN) {
            return false;
        }
    }
    return true;
}

/* The limit from the sends known so far, for an event that must not wait any longer. */
static int64_t known_exit(const forward_t *forward, const clv_clc_collective_t *collective,
                          uint32_t member)
{
    const clv_clc_member_t *members = &forward->trace->members[collective->first];
    const clv_clc_team_t *team = &forward->trace->teams[collective->team];
    int64_t time = CLV_CLC_UNKNOWN;
    for (uint32_t k = 0; k < team->n_members; k++) {
        if (clv_clc_depends(collective, members, k, member) &&
            members[k].enter != CLV_CLC_UNKNOWN) {
            const int64_t delay = clv_clc_delay(forward->config, team->host[k], team->host[member]);
            time = members[k].enter + delay > time ? members[k].enter + delay : time;
        }
    }
    return time;
}

static bool exit_term(const forward_t *forward, const clv_clc_event_t *event, bool is_forced,
                      int64_t *time)
{
    const clv_clc_trace_t *trace = forward->trace;
    const clv_clc_collective_t *collective = &trace->collectives[event->group];
    const uint32_t member = clv_clc_member_of(event);
    if (!clv_clc_receives(collective, &trace->members[collective->first], member)) {
        return true;
    }
    if (trace->replay) {
        const clv_clc_member_t *own = &trace->members[collective->first + member];
        *time = own->exit;
        return (own->flags & CLV_CLC_KNOWN) != 0;
    }
    if (!enters_known(trace, collective, member)) {
        *time = is_forced ? known_exit(forward, collective, member) : CLV_CLC_UNKNOWN;
        return is_forced;
    }
    *time = clv_clc_earliest_exit(trace, forward->config, collective, member);
    return true;
}

/* The remote term; false if a send it needs has no time yet. */
static bool remote_term(const forward_t *forward, const clv_clc_event_t *event, bool is_forced,
                        int64_t *time)
{
    *time = CLV_CLC_UNKNOWN;
    switch (clv_clc_role(event)) {
    case CLV_CLC_RECEIVE: {
        const clv_clc_message_t *message = &forward->trace->messages[event->group];
        const int64_t send = message->send;
        if (send == CLV_CLC_UNKNOWN) {
            return is_forced;
        }
        *time = send + clv_clc_delay(forward->config, message->from, message->to);
        return true;
    }
    case CLV_CLC_EXIT:
        return exit_term(forward, event, is_forced, time);
    default:
        return true;
    }
}

static void tell_others(const clv_clc_trace_t *trace, const clv_clc_event_t *event)
{
    if (trace->replay) {
        trace->replay->tell(trace->replay->context, event);
    }
}

static void publish_enter(const clv_clc_trace_t *trace, const clv_clc_event_t *event)
{
    clv_clc_collective_t *collective = &trace->collectives[event->group];
    clv_clc_member_t *members = &trace->members[collective->first];
    const uint32_t k = clv_clc_member_of(event);
    members[k].enter = event->corrected;
    if (!clv_clc_sends(collective, members, k)) {
        return;
    }
    tell_others(trace, event);
    if (!trace->replay && --collective->n_missing == 0) {
        clv_clc_last_enter(trace, collective);
        collective->n_missing = ALL_KNOWN;
    }
}

static void publish(const clv_clc_trace_t *trace, const clv_clc_event_t *event)
{
    const clv_clc_role_t role = clv_clc_role(event);
    if (role == CLV_CLC_SEND) {
        trace->messages[event->group].send = event->corrected;
        tell_others(trace, event);
    } else if (role == CLV_CLC_RECEIVE) {
        trace->messages[event->group].receive = event->corrected;
    } else if (role == CLV_CLC_ENTER) {
        publish_enter(trace, event);
    } else if (role == CLV_CLC_EXIT) {
        const uint64_t first = trace->collectives[event->group].first;
        trace->members[first + clv_clc_member_of(event)].exit = event->corrected;
    }
}

static void count_explicit(forward_t *forward, const clv_clc_event_t *event)
{
    const bool is_message = clv_clc_role(event) == CLV_CLC_RECEIVE;
    const int op = is_message ? 0 : forward->trace->collectives[event->group].op;
    forward->result->n_explicit++;
    forward->result->explicit_by_op[op]++;
}

/* Equation 4' for the event at an open slot; false if it must wait. */
static bool step(forward_t *forward, runner_t *runner, uint32_t slot, bool is_forced)
{
    clv_clc_forward_result_t *result = forward->result;
    clv_clc_event_t *event = clv_clc_walk_event(&runner->walk, slot);
    int64_t remote;
    if (!remote_term(forward, event, is_forced, &remote)) {
        return false;
    }
    int64_t time = clv_clc_clock_local(&runner->clock);
    if (runner->walk.next[runner->walk.open[slot]] > 0 && event[-1].corrected > time) {
        time = event[-1].corrected; /* of the same batch */
    }
    if (remote > time) {
        time = remote;
        count_explicit(forward, event);
    }
    if (time > LARGEST_TIME) {
        time = LARGEST_TIME;
        forward->has_overflowed = true;
    }
    event->corrected = time;
    result->largest_shift_ns = clv_larger(result->largest_shift_ns, time - event->stamp);
    clv_clc_clock_note(&runner->clock, time);
    publish(forward->trace, event);
    return true;
}

/* ---- one line ---- */

/* Visits the open tracks once; returns whether any of them proceeded. */
static bool step_batch(forward_t *forward, runner_t *runner)
{
    bool has_moved = false;
    for (uint32_t slot = 0; slot < runner->walk.n_open;) {
        if (step(forward, runner, slot, false)) {
            clv_clc_walk_pass(&runner->walk, slot);
            has_moved = true;
        } else {
            slot++;
        }
    }
    return has_moved;
}

/* Runs a line as far as possible; returns whether it proceeded. */
static bool run_line(forward_t *forward, runner_t *runner)
{
    bool has_moved = false;
    for (;;) {
        if (runner->walk.n_open == 0) {
            if (!clv_clc_walk_turn(&runner->walk)) {
                runner->has_ended = true;
                return true;
            }
            clv_clc_clock_turn(&runner->clock, forward->config, runner->walk.stamp);
        }
        if (!step_batch(forward, runner)) {
            return has_moved;
        }
        has_moved = true;
    }
}

/* ---- cycles ---- */

static void note_broken(clv_clc_forward_result_t *result, const clv_clc_broken_t *broken)
{
    if (result->n_broken < CLV_CLC_MAX_BROKEN) {
        result->broken[result->n_broken] = *broken;
    }
    result->n_broken++;
}

/* Whether this event is to proceed: another program may have an earlier one. */
static bool is_chosen(forward_t *forward, const runner_t *runner, uint32_t slot)
{
    const clv_clc_replay_t *replay = forward->trace->replay;
    clv_clc_broken_t broken = {0, 0};
    if (runner) {
        const uint32_t at = runner->walk.open[slot];
        broken = (clv_clc_broken_t){runner->walk.line->tracks[at], runner->walk.next[at]};
    }
    const clv_clc_event_t *event = runner ? clv_clc_walk_event(&runner->walk, slot) : NULL;
    const bool is_ours = replay ? replay->choose(replay->context, event, &broken) : event != NULL;
    note_broken(forward->result, &broken);
    return is_ours && runner != NULL;
}

/* No line can proceed: the earliest waiting event does, at equal times on the lowest track. */
static void break_cycle(forward_t *forward)
{
    runner_t *chosen = NULL;
    uint32_t chosen_slot = 0, chosen_track = 0;
    for (uint32_t l = 0; l < forward->trace->n_lines; l++) {
        runner_t *runner = &forward->runners[l];
        for (uint32_t slot = 0; slot < runner->walk.n_open; slot++) {
            const uint32_t track = runner->walk.line->tracks[runner->walk.open[slot]];
            if (!chosen || runner->walk.stamp < chosen->walk.stamp ||
                (runner->walk.stamp == chosen->walk.stamp && track < chosen_track)) {
                chosen = runner;
                chosen_slot = slot;
                chosen_track = track;
            }
        }
    }
    if (is_chosen(forward, chosen, chosen_slot)) {
        (void) step(forward, chosen, chosen_slot, true);
        clv_clc_walk_pass(&chosen->walk, chosen_slot);
    }
}

/* ---- all ---- */

/* No send has a time yet. */
static void forget_messages(void *context, uint32_t i)
{
    const clv_clc_trace_t *trace = context;
    const uint64_t n = trace->n_messages, m = trace->n_members;
    for (uint64_t g = clv_clc_piece(n, i); g < clv_clc_piece(n, i + 1); g++) {
        trace->messages[g].send = trace->messages[g].receive = CLV_CLC_UNKNOWN;
    }
    for (uint64_t g = clv_clc_piece(m, i); g < clv_clc_piece(m, i + 1); g++) {
        trace->members[g].enter = trace->members[g].exit = CLV_CLC_UNKNOWN;
        trace->members[g].flags &= ~CLV_CLC_KNOWN;
    }
}

/* Runs after all of forget_messages, since it reads flags of members that other pieces changed
 * there. */
static void forget_collectives(void *context, uint32_t i)
{
    const clv_clc_trace_t *trace = context;
    const uint64_t n = trace->n_collectives;
    for (uint64_t g = clv_clc_piece(n, i); g < clv_clc_piece(n, i + 1); g++) {
        clv_clc_collective_t *collective = &trace->collectives[g];
        const int32_t n_sends = clv_clc_count_sends(trace, collective);
        collective->extreme = (clv_clc_extreme_t){CLV_CLC_UNKNOWN, CLV_CLC_UNKNOWN, -1};
        collective->n_missing = n_sends > 0 ? n_sends : ALL_KNOWN;
    }
}

static clv_status_t open_runners(forward_t *forward, uint32_t *n_open)
{
    for (*n_open = 0; *n_open < forward->trace->n_lines; (*n_open)++) {
        const clv_status_t status = clv_clc_walk_open(
            &forward->runners[*n_open].walk, forward->trace, &forward->trace->lines[*n_open]);
        if (status != CLV_OK) {
            return status;
        }
    }
    return CLV_OK;
}

static int64_t shift_at_end(const clv_clc_trace_t *trace)
{
    int64_t largest = 0;
    for (uint32_t i = 0; i < trace->n_tracks; i++) {
        const clv_clc_track_t *track = &trace->tracks[i];
        if (track->n_events > 0) {
            const clv_clc_event_t *last = &track->events[track->n_events - 1];
            largest = clv_larger(largest, last->corrected - last->stamp);
        }
    }
    return largest;
}

/* Runs each line in turn as far as possible; returns whether any proceeded. */
static bool run_round(forward_t *forward, bool *has_left)
{
    bool has_moved = false;
    *has_left = false;
    for (uint32_t l = 0; l < forward->trace->n_lines; l++) {
        runner_t *runner = &forward->runners[l];
        if (!runner->has_ended) {
            has_moved |= run_line(forward, runner);
            *has_left |= !runner->has_ended;
        }
    }
    return has_moved;
}

static clv_clc_wait_t wait_for_others(const clv_clc_trace_t *trace, bool has_left)
{
    return trace->replay ? trace->replay->wait(trace->replay->context, has_left)
           : has_left    ? CLV_CLC_STUCK
                         : CLV_CLC_ENDED;
}

/* Runs until all lines have ended. */
static void run_lines(forward_t *forward)
{
    for (;;) {
        bool has_left;
        const bool has_moved = run_round(forward, &has_left);
        if (has_left && has_moved) {
            continue;
        }
        const clv_clc_wait_t wait = wait_for_others(forward->trace, has_left);
        if (wait == CLV_CLC_ENDED) {
            return;
        }
        if (wait == CLV_CLC_STUCK) {
            break_cycle(forward);
        }
    }
}

clv_status_t clv_clc_forward(const clv_clc_trace_t *trace, const clv_clc_config_t *config,
                             clv_clc_forward_result_t *result)
{
    forward_t forward = {.trace = trace, .config = config, .result = result};
    uint32_t n_open = 0;
    *result = (clv_clc_forward_result_t){0};
    forward.runners = clv_alloc(trace->n_lines + (size_t) 1, sizeof *forward.runners);
    clv_status_t status = forward.runners ? open_runners(&forward, &n_open) : CLV_NO_MEMORY;
    if (status == CLV_OK) {
        clv_clc_trace_t forgotten = *trace;
        clv_clc_parallel(config->n_threads, CLV_CLC_PIECES, forget_messages, &forgotten);
        clv_clc_parallel(config->n_threads, CLV_CLC_PIECES, forget_collectives, &forgotten);
    }
    if (trace->replay && !trace->replay->begin(trace->replay->context, config, status == CLV_OK)) {
        status = CLV_NO_MEMORY;
    }
    if (status == CLV_OK) {
        run_lines(&forward);
        result->shift_at_end_ns = shift_at_end(trace);
        status = forward.has_overflowed ? CLV_OVERFLOW : CLV_OK;
    }
    while (n_open > 0) {
        clv_clc_walk_close(&forward.runners[--n_open].walk);
    }
    clv_free(forward.runners);
    return status;
}
