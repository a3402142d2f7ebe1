/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Forward amortisation: every line runs until its next event waits for a send of another line.
 *
 * Corrected times are the longest paths of an acyclic graph, so neither the order in which lines
 * run nor the number of threads changes them. Threads own lines in turn; a send is published with
 * release and read with acquire. A thread that found nothing to do parks until another made
 * progress; when all are parked the trace waits for itself, and the earliest waiting event goes on
 * without what it lacks. What has been done by then does not depend on the threads either.
 */
#include "clc/clc_internal.h"

#include <pthread.h>
#include <sched.h>

#include "util/util_alloc.h"
#include "util/util_min_max.h"

/* The extreme of a collective is set. */
#define ALL_KNOWN (-1)
/* Times beyond it would not be safe to add to. */
#define LARGEST_TIME (INT64_C(1) << 62)

typedef struct runner {
    clv_clc_walk_t walk;
    clv_clc_clock_t clock;
    int has_ended;
} runner_t;

typedef struct forward {
    const clv_clc_trace_t *trace;
    const clv_clc_config_t *config;
    runner_t *runners;
    uint32_t n_threads;
    struct worker *workers;
    pthread_mutex_t mutex;
    uint64_t epoch; /* how often somebody went on */
    uint32_t n_working;
    uint32_t n_parked;               /* since parked_epoch */
    uint64_t parked_epoch;           /* the mutex guards these three */
    clv_clc_forward_result_t result; /* of cycles; the mutex guards it */
    int has_overflowed;
} forward_t;

typedef struct worker {
    forward_t *forward;
    uint32_t number;
    int64_t n_explicit, by_op[CLV_CLC_MAX_OPS], largest_shift_ns;
} worker_t;

/* ---- one event ---- */

static int enters_known(const clv_clc_trace_t *trace, const clv_clc_collective_t *collective,
                        uint32_t member)
{
    if (collective->flavour != CLV_CLC_SCAN && collective->flavour != CLV_CLC_EXSCAN) {
        return __atomic_load_n(&collective->n_missing, __ATOMIC_ACQUIRE) == ALL_KNOWN;
    }
    const clv_clc_member_t *members = &trace->members[collective->first];
    for (uint32_t k = 0; k < member; k++) {
        if (clv_clc_depends(collective, members, k, member) &&
            __atomic_load_n(&members[k].enter, __ATOMIC_ACQUIRE) == CLV_CLC_UNKNOWN) {
            return 0;
        }
    }
    return 1;
}

/* What is known now, for an event that must not wait any longer. */
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

static int exit_term(const forward_t *forward, const clv_clc_event_t *event, int is_forced,
                     int64_t *time)
{
    const clv_clc_trace_t *trace = forward->trace;
    const clv_clc_collective_t *collective = &trace->collectives[event->group];
    const uint32_t member = clv_clc_member_of(event);
    const uint32_t flags = trace->members[collective->first + member].flags;
    if (!(flags & CLV_CLC_RECEIVES) || collective->flavour == CLV_CLC_FREE ||
        (collective->flavour == CLV_CLC_N_TO_ONE && member != collective->root)) {
        return 1;
    }
    if (!enters_known(trace, collective, member)) {
        *time = is_forced ? known_exit(forward, collective, member) : CLV_CLC_UNKNOWN;
        return is_forced;
    }
    *time = clv_clc_earliest_exit(trace, forward->config, collective, member);
    return 1;
}

/* The remote term; 0 if a send it needs has no time yet. */
static int remote_term(const forward_t *forward, const clv_clc_event_t *event, int is_forced,
                       int64_t *time)
{
    *time = CLV_CLC_UNKNOWN;
    switch (clv_clc_role(event)) {
    case CLV_CLC_RECEIVE: {
        const clv_clc_message_t *message = &forward->trace->messages[event->group];
        const int64_t send = __atomic_load_n(&message->send, __ATOMIC_ACQUIRE);
        if (send == CLV_CLC_UNKNOWN) {
            return is_forced;
        }
        *time = send + clv_clc_delay(forward->config, message->from, message->to);
        return 1;
    }
    case CLV_CLC_EXIT:
        return exit_term(forward, event, is_forced, time);
    default:
        return 1;
    }
}

static void publish_enter(const clv_clc_trace_t *trace, clv_clc_collective_t *collective,
                          uint32_t k, int64_t time)
{
    const clv_clc_member_t *members = &trace->members[collective->first];
    __atomic_store_n(&trace->members[collective->first + k].enter, time, __ATOMIC_RELEASE);
    if (!(members[k].flags & CLV_CLC_SENDS) || collective->flavour == CLV_CLC_FREE ||
        (collective->flavour == CLV_CLC_ONE_TO_N && k != collective->root)) {
        return;
    }
    /* Who brings the last one has seen all others. */
    if (__atomic_sub_fetch(&collective->n_missing, 1, __ATOMIC_ACQ_REL) == 0) {
        clv_clc_last_enter(trace, collective);
        __atomic_store_n(&collective->n_missing, ALL_KNOWN, __ATOMIC_RELEASE);
    }
}

static void publish(const clv_clc_trace_t *trace, const clv_clc_event_t *event)
{
    const int64_t time = event->corrected;
    const clv_clc_role_t role = clv_clc_role(event);
    if (role == CLV_CLC_SEND) {
        __atomic_store_n(&trace->messages[event->group].send, time, __ATOMIC_RELEASE);
    } else if (role == CLV_CLC_RECEIVE) {
        trace->messages[event->group].receive = time;
    } else if (role == CLV_CLC_ENTER) {
        publish_enter(trace, &trace->collectives[event->group], clv_clc_member_of(event), time);
    } else if (role == CLV_CLC_EXIT) {
        const uint64_t first = trace->collectives[event->group].first;
        trace->members[first + clv_clc_member_of(event)].exit = time;
    }
}

static void count_explicit(worker_t *worker, const clv_clc_event_t *event)
{
    const int is_message = clv_clc_role(event) == CLV_CLC_RECEIVE;
    worker->n_explicit++;
    worker->by_op[is_message ? 0 : worker->forward->trace->collectives[event->group].op]++;
}

/* Equation 4' for the event at an open slot; 0 if it must wait. */
static int step(worker_t *worker, runner_t *runner, uint32_t slot, int is_forced)
{
    forward_t *forward = worker->forward;
    clv_clc_event_t *event = clv_clc_walk_event(&runner->walk, slot);
    int64_t remote;
    if (!remote_term(forward, event, is_forced, &remote)) {
        return 0;
    }
    int64_t time = clv_clc_clock_local(&runner->clock);
    if (runner->walk.next[runner->walk.open[slot]] > 0 && event[-1].corrected > time) {
        time = event[-1].corrected; /* of the same batch */
    }
    if (remote > time) {
        time = remote;
        count_explicit(worker, event);
    }
    if (time > LARGEST_TIME) {
        time = LARGEST_TIME;
        __atomic_store_n(&forward->has_overflowed, 1, __ATOMIC_RELAXED);
    }
    event->corrected = time;
    worker->largest_shift_ns = clv_larger(worker->largest_shift_ns, time - event->stamp);
    clv_clc_clock_note(&runner->clock, time);
    publish(forward->trace, event);
    return 1;
}

/* ---- one line ---- */

/* Goes over the open tracks once; tells whether any of them went on. */
static int step_batch(worker_t *worker, runner_t *runner)
{
    int has_moved = 0;
    for (uint32_t slot = 0; slot < runner->walk.n_open;) {
        if (step(worker, runner, slot, 0)) {
            clv_clc_walk_pass(&runner->walk, slot);
            has_moved = 1;
        } else {
            slot++;
        }
    }
    return has_moved;
}

/* As far as it goes; tells whether it moved. */
static int run_line(worker_t *worker, runner_t *runner)
{
    int has_moved = 0;
    for (;;) {
        if (runner->walk.n_open == 0) {
            if (!clv_clc_walk_turn(&runner->walk)) {
                runner->has_ended = 1;
                return 1;
            }
            clv_clc_clock_turn(&runner->clock, worker->forward->config, runner->walk.stamp);
        }
        if (!step_batch(worker, runner)) {
            return has_moved;
        }
        has_moved = 1;
    }
}

/* ---- cycles ---- */

static void note_broken(forward_t *forward, const runner_t *runner, uint32_t slot)
{
    const uint32_t at = runner->walk.open[slot];
    clv_clc_forward_result_t *result = &forward->result;
    if (result->n_broken < CLV_CLC_MAX_BROKEN) {
        result->broken[result->n_broken] =
            (clv_clc_broken_t){runner->walk.line->tracks[at], runner->walk.next[at]};
    }
    result->n_broken++;
}

/* All are parked: of all waiting events the earliest, on the track of the smallest number. */
static void break_cycle(worker_t *worker)
{
    forward_t *forward = worker->forward;
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
    if (chosen) {
        note_broken(forward, chosen, chosen_slot);
        (void) step(worker, chosen, chosen_slot, 1);
        clv_clc_walk_pass(&chosen->walk, chosen_slot);
    }
}

/* ---- threads ---- */

static uint64_t epoch_now(const forward_t *forward)
{
    return __atomic_load_n(&forward->epoch, __ATOMIC_ACQUIRE);
}

/* Whoever is parked looks again. */
static void next_epoch(forward_t *forward)
{
    __atomic_add_fetch(&forward->epoch, 1, __ATOMIC_ACQ_REL);
}

static void leave(forward_t *forward)
{
    pthread_mutex_lock(&forward->mutex);
    forward->n_working--;
    next_epoch(forward);
    pthread_mutex_unlock(&forward->mutex);
}

/* The mutex is held. Whether all have looked since the epoch began, and found nothing: who went on
 * has said so before parking, and then it is another epoch. */
static int is_last_to_park(forward_t *forward, uint64_t epoch)
{
    if (epoch_now(forward) != epoch) {
        return 0;
    }
    forward->n_parked = forward->parked_epoch == epoch ? forward->n_parked + 1 : 1;
    forward->parked_epoch = epoch;
    return forward->n_parked == forward->n_working;
}

/* This thread found nothing to do since epoch began. The last one to park breaks a cycle; the
 * others touch nothing as long as the epoch lasts. */
static void park(worker_t *worker, uint64_t epoch)
{
    forward_t *forward = worker->forward;
    pthread_mutex_lock(&forward->mutex);
    if (is_last_to_park(forward, epoch)) {
        break_cycle(worker);
        next_epoch(forward);
    }
    pthread_mutex_unlock(&forward->mutex);
    while (epoch_now(forward) == epoch) {
        sched_yield();
    }
}

/* One sweep over the lines of a thread. */
static int sweep(worker_t *worker, int *has_left)
{
    forward_t *forward = worker->forward;
    int has_moved = 0;
    *has_left = 0;
    for (uint32_t l = worker->number; l < forward->trace->n_lines; l += forward->n_threads) {
        runner_t *runner = &forward->runners[l];
        if (!runner->has_ended) {
            has_moved |= run_line(worker, runner);
            *has_left |= !runner->has_ended;
        }
    }
    return has_moved;
}

static void *work(void *argument)
{
    worker_t *worker = argument;
    forward_t *forward = worker->forward;
    pthread_mutex_lock(&forward->mutex); /* until all are counted */
    pthread_mutex_unlock(&forward->mutex);
    for (int has_left = 1; has_left;) {
        const uint64_t epoch = epoch_now(forward);
        const int has_moved = sweep(worker, &has_left);
        if (has_left && !has_moved) {
            park(worker, epoch);
        } else if (has_left) {
            next_epoch(forward);
        }
    }
    leave(forward);
    return NULL;
}

/* Threads that do not start leave their lines to nobody, so their number is known before. */
static void run_threads(forward_t *forward, pthread_t *threads)
{
    uint32_t n_started = 1;
    pthread_mutex_lock(&forward->mutex);
    while (n_started < forward->n_threads &&
           !pthread_create(&threads[n_started], NULL, work, &forward->workers[n_started])) {
        n_started++;
    }
    forward->n_threads = n_started;
    forward->n_working = n_started;
    pthread_mutex_unlock(&forward->mutex);
    work(&forward->workers[0]);
    while (n_started > 1) {
        pthread_join(threads[--n_started], NULL);
    }
}

/* ---- all ---- */

/* Nothing is known yet. */
static void forget_collectives(const clv_clc_trace_t *trace, uint64_t first, uint64_t end)
{
    for (uint64_t g = first; g < end; g++) {
        clv_clc_collective_t *collective = &trace->collectives[g];
        const int32_t n_sends = clv_clc_count_sends(trace, collective);
        collective->extreme = (clv_clc_extreme_t){CLV_CLC_UNKNOWN, CLV_CLC_UNKNOWN, -1};
        collective->n_missing = n_sends > 0 ? n_sends : ALL_KNOWN;
    }
}

static void forget_piece(void *context, uint32_t i)
{
    const clv_clc_trace_t *trace = context;
    const uint64_t n = trace->n_messages, m = trace->n_members, c = trace->n_collectives;
    for (uint64_t g = clv_clc_piece(n, i); g < clv_clc_piece(n, i + 1); g++) {
        trace->messages[g].send = trace->messages[g].receive = CLV_CLC_UNKNOWN;
    }
    for (uint64_t g = clv_clc_piece(m, i); g < clv_clc_piece(m, i + 1); g++) {
        trace->members[g].enter = trace->members[g].exit = CLV_CLC_UNKNOWN;
    }
    forget_collectives(trace, clv_clc_piece(c, i), clv_clc_piece(c, i + 1));
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

static void gather(const forward_t *forward, uint32_t n_workers, clv_clc_forward_result_t *result)
{
    *result = forward->result;
    for (uint32_t t = 0; t < n_workers; t++) {
        const worker_t *worker = &forward->workers[t];
        result->n_explicit += worker->n_explicit;
        result->largest_shift_ns = clv_larger(result->largest_shift_ns, worker->largest_shift_ns);
        for (int op = 0; op < CLV_CLC_MAX_OPS; op++) {
            result->explicit_by_op[op] += worker->by_op[op];
        }
    }
    result->shift_at_end_ns = shift_at_end(forward->trace);
}

static uint32_t wanted_threads(const clv_clc_trace_t *trace, const clv_clc_config_t *config)
{
    const uint32_t wanted = config->n_threads > 1 ? (uint32_t) config->n_threads : 1;
    return trace->n_lines > 0 && wanted > trace->n_lines ? trace->n_lines : wanted;
}

clv_status_t clv_clc_forward(const clv_clc_trace_t *trace, const clv_clc_config_t *config,
                             clv_clc_forward_result_t *result)
{
    const uint32_t n_threads = wanted_threads(trace, config);
    forward_t forward = {
        .trace = trace, .config = config, .n_threads = n_threads, .parked_epoch = UINT64_MAX};
    uint32_t n_open = 0;
    forward.runners = clv_alloc(trace->n_lines + (size_t) 1, sizeof *forward.runners);
    forward.workers = clv_alloc(n_threads, sizeof *forward.workers);
    pthread_t *threads = clv_alloc(n_threads, sizeof *threads);
    clv_status_t status = CLV_NO_MEMORY;
    if (forward.runners && forward.workers && threads) {
        status = open_runners(&forward, &n_open);
    }
    if (status == CLV_OK) {
        clv_clc_trace_t forgotten = *trace;
        clv_clc_parallel((int32_t) n_threads, CLV_CLC_PIECES, forget_piece, &forgotten);
        for (uint32_t t = 0; t < n_threads; t++) {
            forward.workers[t].forward = &forward;
            forward.workers[t].number = t;
        }
        pthread_mutex_init(&forward.mutex, NULL);
        run_threads(&forward, threads);
        pthread_mutex_destroy(&forward.mutex);
        gather(&forward, n_threads, result);
        status = forward.has_overflowed ? CLV_OVERFLOW : CLV_OK;
    }
    while (n_open > 0) {
        clv_clc_walk_close(&forward.runners[--n_open].walk);
    }
    clv_free(threads);
    clv_free(forward.workers);
    clv_free(forward.runners);
    return status;
}
