/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs an inter-host part in which ranks compete for links (see sched_interhost.h).
 *
 * Each rank has one next step: its next send could start, or it must first receive something. One
 * pass over the awake ranks handles all steps from the first such moment on, for as long as a send
 * occupies its sender:
 *
 *     now      every segment that a rank lacks has arrived, if its time is known: what leaves later
 *              is on the link for as long as a segment takes
 *     starts   on each link the earliest possible send: no rank of a send that starts in this pass
 *              can send or receive again before the pass ends
 *
 * So nothing is sorted. A rank with nothing to do for a while sleeps: a tournament of log2(ranks)
 * games finds the rank to wake first.
 *
 * On one path segments arrive in the order in which they start, and arrivals from inside a host
 * are known. So a rank receives a segment as soon as it starts, ahead of time, unless the segment
 * may have to wait for one of the rank's own sends. From there on arrivals wait in a queue until
 * the rank looks: when one of its sends starts, and while it lacks something for the next one.
 *
 * Cost: O(sends), and a look at each awake rank per pass, in which at least one send starts.
 */
#include "schedule/sched_interhost.h"

#include "util/util_alloc.h"
#include "util/util_min_max.h"

enum { NOBODY = -1, SLEEPY_PASSES = 4 };

static const int64_t always_free_ns = 0; /* for a rank without a way */

typedef struct copy {
    int64_t ready_ns; /* when its last send has left and its last receive is combined */
    int32_t n_done;   /* sends started and receives combined */
    int32_t parked;   /* first send that arrived too early, or NOBODY */
} copy_t;

/* Durations of a send on a way. */
typedef struct way {
    int64_t out_ns;     /* until it has left the sender */
    int64_t busy_ns;    /* until the sender may send again */
    int64_t in_busy_ns; /* until the receiver can be sent to again */
    int64_t here_ns;    /* until it has arrived */
} way_t;

/* A send on the link. */
typedef struct arrival {
    int64_t here_ns;
    int32_t send;
} arrival_t;

typedef struct representative {
    int64_t at_ns;          /* when it can act; INT64_MAX: unknown */
    int64_t ready_ns;       /* the same if its way were free */
    const int64_t *free_ns; /* when the way of its next send is free, if it lacks nothing */
    const clv_interhost_send_t *next, *end; /* sends */
    copy_t *copy;                           /* the one that the next send carries */
    struct representative *receiver;        /* of the next one */
    struct representative *best; /* winner of this pass on the way to this one, or NULL */
    const way_t *way;            /* to this one: a link, or near for the rank that is handed all */
    int64_t in_free_ns;          /* when that way is free */
    int64_t out_free_ns;
    int64_t core_free_ns;
    int64_t near_ns;    /* arrival of the next segment from inside; INT64_MAX: none comes */
    int64_t far_ns;     /* the same over the link, as far as known */
    int64_t line_ns[2]; /* the next segment from inside: the later of both */
    int64_t step_ns[2];
    copy_t *copies; /* by segment, as are these two */
    const int32_t *near_number;
    const int32_t *near_slot;
    int64_t arrival_ns;
    int64_t exit_ns;
    int32_t near;       /* the next segment from inside */
    int32_t head, tail; /* what is on the link to it, in the queue */
    int32_t n_parked;   /* segments that came too early for their copy and wait */
    int32_t n_bound;    /* those of them that may be for what it sends */
    int32_t rank;       /* in the plan's ranks */
    bool lacks;         /* 1: something must come before its next send */
    bool is_to_wake;    /* 1: it sleeps, and wakes when something comes */
} representative_t;

typedef struct run {
    const clv_interhost_t *interhost;
    way_t far, near;
    int64_t combine_ns;
    int64_t reach_ns;  /* this long after now all arrivals are known */
    int64_t window_ns; /* length of a pass; 0: only one send starts in each */
    int64_t sleepy_ns; /* a rank idle for longer than this sleeps */
    int64_t now_ns;    /* of this pass: nothing starts earlier */
    bool can_meet;     /* 1: sends of several ranks may arrive at the same time */
    bool is_ahead;     /* 1: a send arrives after all that started on its way before */
    representative_t *representatives;
    copy_t *copies;
    arrival_t *queue;       /* rank after rank */
    int32_t *next_parked;   /* of each send */
    representative_t **due; /* receivers for which a send starts in this pass */
    int32_t n_due;
    representative_t **awake;
    int32_t n_awake;
    int64_t *alarm_ns; /* when a sleeping rank wakes; INT64_MAX: never */
    int32_t *winner;   /* [1]: wakes first; the winner of [2 * i] and [2 * i + 1] is in [i] */
    int32_t n_beds;    /* a power of two */
} run_t;

/* ---- sleep ----------------------------------------------------------------------------------- */

static void play(run_t *run, int32_t at)
{
    const int32_t a = run->winner[2 * at], b = run->winner[2 * at + 1];
    run->winner[at] = run->alarm_ns[b] < run->alarm_ns[a] ? b : a;
}

static void set_alarm(run_t *run, int32_t p, int64_t alarm_ns)
{
    if (run->alarm_ns[p] == alarm_ns) {
        return;
    }
    run->alarm_ns[p] = alarm_ns;
    for (int32_t at = (run->n_beds + p) / 2; at > 0; at /= 2) {
        play(run, at);
    }
}

static int64_t first_alarm_ns(const run_t *run)
{
    return run->alarm_ns[run->winner[1]];
}

/* The way may have been used since the rank last looked. */
static inline void look_at_way(representative_t *me)
{
    me->at_ns = clv_larger(me->ready_ns, *me->free_ns);
}

static void wake(run_t *run, representative_t *me)
{
    set_alarm(run, (int32_t) (me - run->representatives), INT64_MAX);
    me->is_to_wake = false;
    run->awake[run->n_awake++] = me;
    look_at_way(me);
}

/* ---- taking ---------------------------------------------------------------------------------- */

static int64_t next_here_ns(const representative_t *me)
{
    return clv_smaller(me->near_ns, me->far_ns);
}

static inline void combine(const run_t *run, representative_t *me, copy_t *copy, int64_t now_ns)
{
    copy->ready_ns =
        clv_larger(clv_larger(now_ns, me->core_free_ns), copy->ready_ns) + run->combine_ns;
    me->core_free_ns = copy->ready_ns;
    copy->n_done++;
}

/* Takes the parked send whose turn it is out of the list; NOBODY: none. */
static int32_t unpark_send(const run_t *run, copy_t *copy)
{
    for (int32_t *at = &copy->parked; *at != NOBODY; at = &run->next_parked[*at]) {
        const int32_t send = *at;
        if (run->interhost->sends[send].in_number == copy->n_done) {
            *at = run->next_parked[send];
            return send;
        }
    }
    return NOBODY;
}

/* Combines all parked segments that the copy is now ready for. */
__attribute__((noinline)) static void unpark_all(const run_t *run, representative_t *me,
                                                 copy_t *copy, int64_t now_ns)
{
    while (me->n_parked > 0) {
        const int32_t segment = (int32_t) (copy - me->copies);
        const bool is_near = segment < me->near && me->near_number[segment] == copy->n_done;
        const int32_t send = is_near ? NOBODY : unpark_send(run, copy);
        if (!is_near && send == NOBODY) {
            break;
        }
        me->n_parked--;
        me->n_bound -= is_near || run->interhost->sends[send].is_back;
        combine(run, me, copy, now_ns);
    }
}

static inline void unpark(const run_t *run, representative_t *me, copy_t *copy, int64_t now_ns)
{
    if (me->n_parked > 0) {
        unpark_all(run, me, copy, now_ns);
    }
}

static inline void take_near(const run_t *run, representative_t *me)
{
    const int64_t now_ns = me->near_ns;
    const int32_t segment = me->near++;
    copy_t *copy = &me->copies[segment];

    me->near_ns = INT64_MAX;
    if (me->near < run->interhost->n_segments) {
        me->line_ns[0] += me->step_ns[0];
        me->line_ns[1] += me->step_ns[1];
        me->near_ns = clv_larger(me->line_ns[0], me->line_ns[1]);
    }
    if (me->near_number[segment] != copy->n_done) {
        me->n_parked++;
        me->n_bound++;
        return;
    }
    combine(run, me, copy, now_ns);
    unpark(run, me, copy, now_ns);
}

/* A send to this rank has arrived. */
static inline void take_send(const run_t *run, representative_t *me,
                             const clv_interhost_send_t *send, int64_t now_ns)
{
    copy_t *copy = &me->copies[send->segment];

    if (send->in_number != copy->n_done) {
        const int32_t at = (int32_t) (send - run->interhost->sends);
        run->next_parked[at] = copy->parked;
        copy->parked = at;
        me->n_parked++;
        me->n_bound += send->is_back;
        return;
    }
    combine(run, me, copy, now_ns);
    unpark(run, me, copy, now_ns);
}

static inline void take_far(const run_t *run, representative_t *me)
{
    const int64_t now_ns = me->far_ns;
    const clv_interhost_send_t *send = &run->interhost->sends[run->queue[me->head++].send];

    me->far_ns = me->head < me->tail ? run->queue[me->head].here_ns : INT64_MAX;
    take_send(run, me, send, now_ns);
}

/* Order of two segments that arrive at the same time: that of the plan. But a send that takes no
 * time on the link comes after what was there at that moment. */
static bool is_near_before(const run_t *run, const representative_t *me,
                           const clv_interhost_send_t *send)
{
    return run->far.here_ns == 0 || me->near_slot[me->near] <= send->slot;
}

static inline bool is_near_first(const run_t *run, const representative_t *me, int64_t here_ns,
                                 const clv_interhost_send_t *send)
{
    return me->near_ns != here_ns ? me->near_ns < here_ns : is_near_before(run, me, send);
}

__attribute__((noinline)) static void take_next(const run_t *run, representative_t *me)
{
    if (me->head == me->tail ||
        is_near_first(run, me, me->far_ns, &run->interhost->sends[run->queue[me->head].send])) {
        take_near(run, me);
    } else {
        take_far(run, me);
    }
}

/* Receives at once what will have arrived by then, this send last, unless any of it must wait for
 * one of the rank's own sends: then the result is the same whenever it is received. 0: it must. */
static inline bool take_ahead(const run_t *run, representative_t *me,
                              const clv_interhost_send_t *send, int64_t here_ns)
{
    if (!run->is_ahead || me->head < me->tail || me->n_bound > 0) {
        return false;
    }
    while (is_near_first(run, me, here_ns, send)) {
        if (me->near_number[me->near] != me->copies[me->near].n_done) {
            return false;
        }
        take_near(run, me);
    }
    if (send->is_back && send->in_number != me->copies[send->segment].n_done) {
        return false;
    }
    take_send(run, me, send, here_ns);
    return true;
}

/* ---- sending --------------------------------------------------------------------------------- */

/* Sets the next send, which lacks everything until its rank looks. */
static inline void aim(const run_t *run, representative_t *me, const clv_interhost_send_t *next)
{
    me->next = next;
    me->free_ns = &always_free_ns;
    me->lacks = next < me->end;
    me->ready_ns = me->lacks ? me->out_free_ns : INT64_MAX;
    if (me->lacks) {
        me->receiver = &run->representatives[next->receiver];
        me->copy = &me->copies[next->segment];
    }
}

/* Receives what must come before the rank's next send, as far as it is known by now. */
static inline void look(run_t *run, representative_t *me)
{
    const int64_t known_ns = run->now_ns + run->reach_ns;
    const copy_t *copy = me->copy;
    const int32_t number = me->next->out_number;

    while (copy->n_done < number && next_here_ns(me) <= known_ns) {
        take_next(run, me);
    }
    me->lacks = copy->n_done < number;
    if (me->lacks) {
        me->ready_ns = next_here_ns(me);
    } else {
        me->ready_ns =
            clv_larger(clv_larger(me->out_free_ns, copy->ready_ns), me->receiver->arrival_ns);
        me->free_ns = &me->receiver->in_free_ns;
    }
    look_at_way(me);
}

/* Sends that start at the same moment on a link that takes no time arrive in plan order. If nothing
 * takes any time, they arrive in the order in which they started. */
static void put_on_link(run_t *run, representative_t *receiver, int32_t send, int64_t here_ns)
{
    const clv_interhost_send_t *sends = run->interhost->sends;
    int32_t at = receiver->tail++;

    while (run->can_meet && at > receiver->head && run->queue[at - 1].here_ns == here_ns &&
           sends[run->queue[at - 1].send].slot > sends[send].slot) {
        run->queue[at] = run->queue[at - 1];
        at--;
    }
    run->queue[at] = (arrival_t){here_ns, send};
    receiver->far_ns = run->queue[receiver->head].here_ns;
}

/* The next send of the rank leaves. */
static inline void leave(run_t *run, representative_t *me, int64_t now_ns)
{
    const way_t *way = me->receiver->way;
    const int64_t out_ns = now_ns + way->out_ns;
    copy_t *copy = me->copy;

    me->receiver->in_free_ns = now_ns + way->in_busy_ns;
    me->out_free_ns = now_ns + way->busy_ns;
    me->exit_ns = clv_larger(me->exit_ns, out_ns);
    copy->ready_ns = clv_larger(copy->ready_ns, out_ns);
    copy->n_done++;
    unpark(run, me, copy, now_ns);
}

/* Tells a rank that something is on the link to it. */
static inline void tell(run_t *run, representative_t *me, int64_t here_ns)
{
    here_ns = me->lacks ? here_ns : INT64_MAX;
    me->ready_ns = clv_smaller(me->ready_ns, here_ns);
    me->at_ns = clv_smaller(me->at_ns, here_ns);
    if (me->is_to_wake) {
        wake(run, me);
    }
}

/* Starts a rank's next send. What it lacks for the one after that is looked for in the next pass,
 * when more has come. A rank that gives a segment away for good may look later at what came
 * before. */
static inline void start(run_t *run, representative_t *me)
{
    const clv_interhost_send_t *send = me->next;
    const int64_t now_ns = me->at_ns;
    representative_t *receiver = me->receiver;
    int64_t here_ns;

    while (!send->is_last && next_here_ns(me) <= now_ns) {
        take_next(run, me);
    }
    leave(run, me, now_ns);
    here_ns = now_ns + receiver->way->here_ns;
    if (!take_ahead(run, receiver, send, here_ns)) {
        put_on_link(run, receiver, (int32_t) (send - run->interhost->sends), here_ns);
    }
    tell(run, receiver, here_ns);
    aim(run, me, send + 1);
}

/* ---- passes ---------------------------------------------------------------------------------- */

/* The first time at which a rank can act. A rank that cannot act for some passes goes to sleep. */
static int64_t find_now(run_t *run)
{
    const int32_t n_before = run->n_awake;
    const int64_t sleepy_ns = run->now_ns + run->sleepy_ns;
    int64_t now_ns = INT64_MAX;
    int32_t n_awake = 0;

    for (int32_t i = 0; i < n_before; i++) {
        representative_t *me = run->awake[i];
        look_at_way(me);
        if (me->at_ns > sleepy_ns) {
            me->is_to_wake = me->lacks;
            set_alarm(run, (int32_t) (me - run->representatives), me->at_ns);
        } else {
            run->awake[n_awake++] = me;
            now_ns = clv_smaller(now_ns, me->at_ns);
        }
    }
    run->n_awake = n_awake;
    return clv_smaller(now_ns, first_alarm_ns(run));
}

/* On one way, if it is free for both at the same time, the rank that was ready first sends
 * first. */
static bool is_sooner(const representative_t *a, const representative_t *b)
{
    if (a->at_ns != b->at_ns) {
        return a->at_ns < b->at_ns;
    }
    return a->ready_ns != b->ready_ns ? a->ready_ns < b->ready_ns : a->rank < b->rank;
}

static inline void compete(run_t *run, representative_t *me)
{
    representative_t *receiver = me->receiver;

    if (receiver->best == NULL) {
        run->due[run->n_due++] = receiver;
        receiver->best = me;
    } else if (is_sooner(me, receiver->best)) {
        receiver->best = me;
    }
}

/* Finds the sends that start by last_ns, after all ranks have looked. */
static void find_due(run_t *run, int64_t last_ns)
{
    const int64_t known_ns = run->now_ns + run->reach_ns;

    run->n_due = 0;
    for (int32_t i = 0; i < run->n_awake; i++) {
        representative_t *me = run->awake[i];
        if (me->lacks && me->at_ns <= known_ns) {
            look(run, me);
        }
        if (me->at_ns <= last_ns) {
            compete(run, me);
        }
    }
}

/* If a send may hold its sender for no time, only the first of all is certain. */
static void keep_first(run_t *run)
{
    int32_t first = 0;

    for (int32_t i = 1; i < run->n_due; i++) {
        first = is_sooner(run->due[i]->best, run->due[first]->best) ? i : first;
    }
    for (int32_t i = 0; i < run->n_due; i++) {
        if (i != first) {
            run->due[i]->best = NULL;
        }
    }
    run->due[0] = run->n_due > 0 ? run->due[first] : NULL;
    run->n_due = run->n_due > 0;
}

static void pass(run_t *run)
{
    const int64_t last_ns = run->now_ns + clv_larger(run->window_ns - 1, 0);

    while (first_alarm_ns(run) <= last_ns) {
        wake(run, &run->representatives[run->winner[1]]);
    }
    find_due(run, last_ns);
    if (run->window_ns == 0) {
        keep_first(run);
    }
    for (int32_t i = 0; i < run->n_due; i++) {
        representative_t *receiver = run->due[i];
        start(run, receiver->best);
        receiver->best = NULL;
    }
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static void place_representative(run_t *run, int32_t p, const clv_interhost_stream_t *stream,
                                 int64_t arrival_ns)
{
    const clv_interhost_t *interhost = run->interhost;
    const size_t first = (size_t) p * (size_t) interhost->n_segments;
    copy_t *copies = run->copies + first;
    representative_t *me = &run->representatives[p];

    *me = (representative_t){
        .end = interhost->sends + interhost->first_out[p + 1],
        .way = clv_interhost_is_handed(interhost, p) ? &run->near : &run->far,
        .near_number = interhost->near_number + first,
        .near_slot = interhost->near_slot + first,
        .rank = interhost->rank[p],
        .copies = copies,
        .arrival_ns = arrival_ns,
        .out_free_ns = arrival_ns,
        .core_free_ns = arrival_ns,
        .exit_ns = arrival_ns,
        .line_ns = {stream->first_ns[0], stream->first_ns[1]},
        .step_ns = {stream->step_ns[0], stream->step_ns[1]},
        .near_ns = stream->first_ns[0] < 0 ? INT64_MAX
                                           : clv_larger(stream->first_ns[0], stream->first_ns[1]),
        .far_ns = INT64_MAX,
        .head = interhost->first_in[p],
        .tail = interhost->first_in[p],
    };
    for (int32_t s = 0; s < interhost->n_segments; s++) {
        copies[s] = (copy_t){.ready_ns = arrival_ns, .parked = NOBODY};
    }
    aim(run, me, interhost->sends + interhost->first_out[p]);
}

/* All ranks are awake. */
static void place_beds(run_t *run)
{
    for (int32_t i = 0; i < run->n_beds; i++) {
        run->alarm_ns[i] = INT64_MAX;
        run->winner[run->n_beds + i] = i;
    }
    for (int32_t at = run->n_beds - 1; at > 0; at--) {
        play(run, at);
    }
    for (int32_t p = 0; p < run->interhost->n_ranks; p++) {
        wake(run, &run->representatives[p]);
    }
}

/* 1, or 0 without memory. */
static bool allocate_run(run_t *run)
{
    const clv_interhost_t *interhost = run->interhost;
    const size_t n_ranks = (size_t) interhost->n_ranks, n_segments = (size_t) interhost->n_segments;
    const size_t n_sends = (size_t) interhost->first_out[interhost->n_ranks] + 1;

    for (run->n_beds = 2; run->n_beds < interhost->n_ranks;) {
        run->n_beds *= 2;
    }
    run->representatives = clv_alloc_unset(n_ranks, sizeof *run->representatives);
    run->copies = clv_alloc_unset(n_ranks * n_segments, sizeof *run->copies);
    run->queue = clv_alloc_unset(n_sends, sizeof *run->queue);
    run->next_parked = clv_alloc_unset(n_sends, sizeof *run->next_parked);
    run->due = clv_alloc_unset(2 * n_ranks, sizeof *run->due);
    run->alarm_ns = clv_alloc_unset((size_t) run->n_beds, sizeof *run->alarm_ns);
    run->winner = clv_alloc_unset(2 * (size_t) run->n_beds, sizeof *run->winner);
    return run->representatives != NULL && run->copies != NULL && run->queue != NULL &&
           run->next_parked != NULL && run->due != NULL && run->alarm_ns != NULL &&
           run->winner != NULL;
}

static void close_run(run_t *run)
{
    clv_free(run->winner);
    clv_free(run->alarm_ns);
    clv_free(run->due);
    clv_free(run->next_parked);
    clv_free(run->queue);
    clv_free(run->copies);
    clv_free(run->representatives);
}

/* Receives what comes after the last send. */
static clv_status_t read_exits(run_t *run, int64_t *exit_ns)
{
    for (int32_t p = 0; p < run->interhost->n_ranks; p++) {
        representative_t *me = &run->representatives[p];
        if (me->next < me->end) {
            return CLV_INVALID;
        }
        while (next_here_ns(me) < INT64_MAX) {
            take_next(run, me);
        }
        exit_ns[p] = clv_larger(me->exit_ns, me->core_free_ns);
    }
    return CLV_OK;
}

static void open_run(run_t *run, const clv_interhost_stream_t *streams, const int64_t *arrival_ns)
{
    const int32_t n_ranks = run->interhost->n_ranks;

    run->awake = run->due + n_ranks;
    for (int32_t p = 0; p < n_ranks; p++) {
        place_representative(run, p, &streams[p], arrival_ns[p]);
    }
    place_beds(run);
    for (int32_t p = 0; p < n_ranks; p++) {
        if (run->representatives[p].lacks) {
            look(run, &run->representatives[p]);
        }
    }
}

static way_t way_of(int64_t wire_ns, int64_t latency_ns, int64_t gap_ns)
{
    const int64_t busy_ns = clv_larger(wire_ns, gap_ns);

    return (way_t){wire_ns, busy_ns, busy_ns, wire_ns + latency_ns};
}

static void set_lengths(run_t *run, const clv_replay_lengths_t *lengths)
{
    run->combine_ns = lengths->combine_ns;
    run->far = way_of(lengths->far_wire_ns, lengths->far_latency_ns, lengths->gap_ns);
    run->far.in_busy_ns = lengths->far_wire_ns; /* the gap does not occupy the link */
    run->near = way_of(lengths->near_wire_ns, lengths->near_latency_ns, lengths->gap_ns);
    run->can_meet = lengths->far_wire_ns == 0 && lengths->far_latency_ns > 0;
}

/* Each send holds its sender for at least window_ns, and is on its way for more than reach_ns. */
static void set_window(run_t *run)
{
    const int64_t busy_ns = run->interhost->hands_over
                                ? clv_smaller(run->near.busy_ns, run->far.busy_ns)
                                : run->far.busy_ns;

    run->reach_ns = clv_larger(run->far.here_ns - 1, 0);
    run->window_ns = clv_smaller(busy_ns, run->far.here_ns);
    run->sleepy_ns = clv_smaller(run->window_ns, INT64_MAX / 4 / SLEEPY_PASSES) * SLEEPY_PASSES;
    run->is_ahead = run->window_ns > 0 && !run->can_meet;
}

clv_status_t clv_interhost_run(const clv_interhost_t *interhost,
                               const clv_interhost_stream_t *streams, const int64_t *arrival_ns,
                               const clv_replay_lengths_t *lengths, int64_t *exit_ns)
{
    run_t run = {.interhost = interhost};
    clv_status_t status = CLV_NO_MEMORY;

    set_lengths(&run, lengths);
    set_window(&run);
    if (allocate_run(&run)) {
        open_run(&run, streams, arrival_ns);
        for (int64_t now_ns = find_now(&run); now_ns < INT64_MAX; now_ns = find_now(&run)) {
            run.now_ns = now_ns;
            pass(&run);
        }
        status = read_exits(&run, exit_ns);
    }
    close_run(&run);
    return status;
}
