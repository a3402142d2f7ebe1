/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The in-order window executor: two cursors over one rank's steps, two windows of open requests.
 */
#include "schedule/sched_exec.h"

#include <string.h>

static bool limits_valid(const clv_exec_limits_t *limits)
{
    return limits->recv_window >= 1 && limits->recv_window <= CLV_EXEC_MAX_WINDOW &&
           limits->send_window >= 1 && limits->send_window <= CLV_EXEC_MAX_WINDOW &&
           limits->source_window >= 0 && limits->source_window <= limits->recv_window &&
           limits->sync_every >= CLV_EXEC_NEVER_SYNC &&
           (limits->policy == CLV_EXEC_AHEAD || limits->policy == CLV_EXEC_ROUNDS);
}

/* Applies a step to the rank's copy. 0: it is not possible. */
static bool apply_step(const clv_step_t *step, clv_exec_segment_t *segment)
{
    const bool held = segment->holds;

    switch (step->kind) {
    case CLV_STEP_SEND:
        segment->holds = 0;
        return held;
    case CLV_STEP_SEND_COPY:
        return held;
    case CLV_STEP_RECV_REDUCE:
        segment->holds = 1;
        return true;
    case CLV_STEP_RECV_COPY:
        segment->holds = 1;
        return !held;
    default:
        return false;
    }
}

/* Checks the steps in plan order. */
static bool steps_valid(const clv_step_t *steps, int64_t n_steps, clv_exec_segment_t *segments,
                        int32_t n_segments, int32_t n_ranks)
{
    for (int64_t i = 0; i < n_steps; i++) {
        const clv_step_t *step = &steps[i];
        if (step->peer < 0 || step->peer >= n_ranks || step->segment < 0 ||
            step->segment >= n_segments || !apply_step(step, &segments[step->segment])) {
            return false;
        }
    }
    return true;
}

static void segments_reset(clv_exec_segment_t *segments, int32_t n_segments, bool holds)
{
    memset(segments, 0, (size_t) n_segments * sizeof *segments);
    for (int32_t s = 0; s < n_segments; s++) {
        segments[s].holds = holds;
    }
}

/* Slot 0 is used first. */
static void window_reset(clv_exec_window_t *window, int32_t n_slots)
{
    window->n_open = 0;
    window->n_free = n_slots;
    for (int32_t i = 0; i < n_slots; i++) {
        window->free_slots[i] = n_slots - 1 - i;
    }
}

static clv_exec_entry_t entry_of(const clv_step_t *step)
{
    return (clv_exec_entry_t){.peer = step->peer, .round = step->round, .segment = step->segment};
}

static int32_t next_slot(const clv_exec_window_t *window)
{
    return window->free_slots[window->n_free - 1];
}

static void window_open(clv_exec_window_t *window, const clv_exec_entry_t *entry)
{
    window->open[window->n_open++] = *entry;
    window->n_free--;
}

/* Removes the index-th of n entries; the others keep their order. */
static void take_out(clv_exec_entry_t *entries, int32_t n, int32_t index)
{
    memmove(&entries[index], &entries[index + 1], (size_t) (n - 1 - index) * sizeof entries[0]);
}

static void window_close(clv_exec_window_t *window, int32_t index)
{
    window->free_slots[window->n_free++] = window->open[index].slot;
    take_out(window->open, window->n_open--, index);
}

static bool has_room(const clv_exec_t *exec, int32_t source)
{
    return exec->limits.source_window == 0 ||
           exec->peers[source].recvs_open < exec->limits.source_window;
}

static clv_status_t post_entry(clv_exec_t *exec, clv_exec_entry_t *entry)
{
    clv_status_t status;

    entry->slot = next_slot(&exec->recvs);
    status = exec->ops->post_recv(exec->context, entry->slot, entry->peer, entry->segment);
    if (status == CLV_OK) {
        window_open(&exec->recvs, entry);
        exec->peers[entry->peer].recvs_open++;
    }
    return status;
}

/* Each entry finds a slot: a source with room has returned a slot since the last time. */
static clv_status_t post_put_off(clv_exec_t *exec, bool *moved_p)
{
    for (int32_t i = 0; i < exec->n_put_off;) {
        clv_status_t status;

        if (!has_room(exec, exec->put_off[i].peer) || exec->recvs.n_free == 0) {
            i++;
            continue;
        }
        status = post_entry(exec, &exec->put_off[i]);
        if (status != CLV_OK) {
            return status;
        }
        take_out(exec->put_off, exec->n_put_off--, i);
        *moved_p = true;
    }
    return CLV_OK;
}

/* Moves the receive cursor by one step. */
static clv_status_t pass_recv_cursor(clv_exec_t *exec, const clv_step_t *step)
{
    clv_exec_segment_t *segment = &exec->segments[step->segment];
    clv_exec_entry_t entry = entry_of(step);
    clv_status_t status = CLV_OK;

    if (clv_step_is_send(step)) {
        segment->sends_before_recv++;
        return CLV_OK;
    }
    entry.recvs_before = segment->recvs_passed;
    entry.sends_before = segment->sends_before_recv;
    if (has_room(exec, step->peer)) {
        status = post_entry(exec, &entry);
    } else {
        exec->put_off[exec->n_put_off++] = entry;
    }
    segment->recvs_passed += status == CLV_OK;
    return status;
}

static clv_status_t post_recvs(clv_exec_t *exec, bool *moved_p)
{
    clv_status_t status = post_put_off(exec, moved_p);

    while (status == CLV_OK && exec->next_recv < exec->n_steps && exec->recvs.n_free > 0 &&
           exec->n_put_off < CLV_EXEC_MAX_WINDOW) {
        status = pass_recv_cursor(exec, &exec->steps[exec->next_recv]);
        if (status == CLV_OK) {
            exec->next_recv++;
            *moved_p = true;
        }
    }
    return status;
}

static bool is_credit(const clv_exec_t *exec, int32_t n_sent)
{
    const int32_t every = exec->limits.sync_every;

    if (every == CLV_EXEC_NEVER_SYNC) {
        return false;
    }
    return n_sent == 0 || (every > 0 && n_sent % every == 0);
}

static bool is_after_all(const clv_exec_window_t *window, int32_t round)
{
    for (int32_t i = 0; i < window->n_open; i++) {
        if (window->open[i].round < round) {
            return false;
        }
    }
    return true;
}

/* Whether a full window keeps a receive of an earlier round than the send from being posted. */
static bool has_unposted_before(const clv_exec_t *exec, const clv_step_t *step)
{
    for (int32_t i = 0; i < exec->n_put_off; i++) {
        if (exec->put_off[i].round < step->round) {
            return true;
        }
    }
    for (int64_t i = exec->next_recv; i < exec->next_send; i++) {
        if (!clv_step_is_send(&exec->steps[i]) && exec->steps[i].round < step->round) {
            return true;
        }
    }
    return false;
}

static bool is_its_turn(const clv_exec_t *exec, const clv_step_t *step)
{
    return exec->limits.policy == CLV_EXEC_AHEAD ||
           (!has_unposted_before(exec, step) && is_after_all(&exec->recvs, step->round) &&
            is_after_all(&exec->sends, step->round));
}

static clv_status_t start_send(clv_exec_t *exec, const clv_step_t *step)
{
    clv_exec_segment_t *segment = &exec->segments[step->segment];
    clv_exec_peer_t *peer = &exec->peers[step->peer];
    bool synchronous = is_credit(exec, peer->n_sent);
    clv_exec_entry_t entry = entry_of(step);
    clv_status_t status;

    if (exec->sends.n_free == 0 || segment->recvs_done < segment->recvs_before_send ||
        (synchronous && peer->credit_open) || !is_its_turn(exec, step)) {
        return CLV_AGAIN;
    }
    entry.slot = next_slot(&exec->sends);
    entry.synchronous = synchronous;
    status =
        exec->ops->post_send(exec->context, entry.slot, step->peer, step->segment, synchronous);
    if (status == CLV_OK) {
        window_open(&exec->sends, &entry);
        peer->n_sent++;
        peer->credit_open |= synchronous;
        segment->holds = step->kind == CLV_STEP_SEND_COPY;
    }
    return status;
}

/* Sends leave strictly in plan order. If a send that waits were passed, this rank would run ahead
 * of the plan, which costs more than it gains once arrivals differ from the prediction. */
static clv_status_t start_sends(clv_exec_t *exec, bool *moved_p)
{
    while (exec->next_send < exec->n_steps) {
        const clv_step_t *step = &exec->steps[exec->next_send];
        if (!clv_step_is_send(step)) {
            exec->segments[step->segment].recvs_before_send++;
        } else {
            clv_status_t status = start_send(exec, step);
            if (status != CLV_OK) {
                return status == CLV_AGAIN ? CLV_OK : status;
            }
            *moved_p = true;
        }
        exec->next_send++;
    }
    return CLV_OK;
}

static void send_done(clv_exec_t *exec, int32_t index)
{
    const clv_exec_entry_t *entry = &exec->sends.open[index];

    exec->segments[entry->segment].sends_done++;
    if (entry->synchronous) {
        exec->peers[entry->peer].credit_open = 0;
    }
    window_close(&exec->sends, index);
}

static clv_status_t finish_sends(clv_exec_t *exec, bool *moved_p)
{
    for (int32_t i = 0; i < exec->sends.n_open;) {
        clv_status_t status = exec->ops->test_send(exec->context, exec->sends.open[i].slot);
        if (status == CLV_AGAIN) {
            i++;
        } else if (status == CLV_OK) {
            send_done(exec, i);
            *moved_p = true;
        } else {
            return status;
        }
    }
    return CLV_OK;
}

static clv_status_t note_arrivals(clv_exec_t *exec)
{
    for (int32_t i = 0; i < exec->recvs.n_open; i++) {
        clv_exec_entry_t *entry = &exec->recvs.open[i];
        if (!entry->arrived) {
            clv_status_t status = exec->ops->test_recv(exec->context, entry->slot);
            if (status < 0) {
                return status;
            }
            entry->arrived = status == CLV_OK;
        }
    }
    return CLV_OK;
}

/* Whether the copy may change now: all earlier receives are combined and all earlier sends
 * complete. */
static bool can_combine(const clv_exec_t *exec, const clv_exec_entry_t *entry)
{
    const clv_exec_segment_t *segment = &exec->segments[entry->segment];

    return entry->arrived && segment->recvs_done == entry->recvs_before &&
           segment->sends_done == entry->sends_before;
}

/* Combines only the oldest receive that is possible: the sends that it enables go first. */
static clv_status_t combine_one(clv_exec_t *exec, bool *moved_p)
{
    for (int32_t i = 0; i < exec->recvs.n_open; i++) {
        const clv_exec_entry_t *entry = &exec->recvs.open[i];
        if (can_combine(exec, entry)) {
            clv_exec_segment_t *segment = &exec->segments[entry->segment];
            clv_status_t status =
                exec->ops->combine(exec->context, entry->slot, entry->segment, segment->holds);
            if (status != CLV_OK) {
                return status;
            }
            segment->recvs_done++;
            segment->holds = 1;
            exec->peers[entry->peer].recvs_open--;
            window_close(&exec->recvs, i);
            *moved_p = true;
            return CLV_OK;
        }
    }
    return CLV_OK;
}

static bool all_done(const clv_exec_t *exec)
{
    return exec->next_recv == exec->n_steps && exec->next_send == exec->n_steps &&
           exec->recvs.n_open == 0 && exec->n_put_off == 0 && exec->sends.n_open == 0;
}

clv_status_t clv_exec_begin(clv_exec_t *exec, const clv_step_t *steps, int64_t n_steps,
                            const clv_exec_limits_t *limits, const clv_exec_ops_t *ops,
                            void *context, clv_exec_segment_t *segments, int32_t n_segments,
                            clv_exec_peer_t *peers, int32_t n_ranks, bool holds)
{
    if (!limits_valid(limits) || n_steps < 0 || n_segments < 1 || n_ranks < 1) {
        return CLV_INVALID;
    }
    segments_reset(segments, n_segments, holds != 0);
    if (!steps_valid(steps, n_steps, segments, n_segments, n_ranks)) {
        return CLV_INVALID;
    }
    segments_reset(segments, n_segments, holds != 0);
    memset(peers, 0, (size_t) n_ranks * sizeof *peers);
    exec->steps = steps;
    exec->n_steps = n_steps;
    exec->limits = *limits;
    exec->ops = ops;
    exec->context = context;
    exec->segments = segments;
    exec->peers = peers;
    exec->next_recv = 0;
    exec->next_send = 0;
    exec->n_put_off = 0;
    window_reset(&exec->recvs, limits->recv_window);
    window_reset(&exec->sends, limits->send_window);
    return CLV_OK;
}

clv_status_t clv_exec_turn(clv_exec_t *exec, bool *moved_p)
{
    clv_status_t status;

    *moved_p = false;
    if ((status = post_recvs(exec, moved_p)) != CLV_OK ||
        (status = finish_sends(exec, moved_p)) != CLV_OK ||
        (status = note_arrivals(exec)) != CLV_OK ||
        (status = combine_one(exec, moved_p)) != CLV_OK ||
        (status = start_sends(exec, moved_p)) != CLV_OK) {
        return status;
    }
    return all_done(exec) ? CLV_OK : CLV_AGAIN;
}

/* Does all that is possible before calling progress, which may yield the core while a received
 * segment waits. The turns between are few, since each uses up part of what progress brought. */
clv_status_t clv_exec_run(clv_exec_t *exec)
{
    for (;;) {
        bool moved;
        clv_status_t status = clv_exec_turn(exec, &moved);
        if (status == CLV_AGAIN && !moved) {
            status = exec->ops->progress(exec->context);
            status = status == CLV_OK ? CLV_AGAIN : status;
        }
        if (status != CLV_AGAIN) {
            return status;
        }
    }
}
