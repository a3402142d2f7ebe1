/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cores whose ranks wait for links that others hold: made, and run by events (see sched_core.h).
 *
 * An event is a rank whose next send could start. Each rank has one, and the first of all is found
 * as the winner of a tournament: who changes plays its log2(ranks) games again. A start is looked
 * at again when it comes up, as a link was perhaps taken meanwhile.
 *
 * What arrives waits in two queues, one for what comes from inside and one for the link, until the
 * rank looks: when a send of its starts, and while it lacks something for the next one. How far it
 * can look: whatever leaves from now on is on the link for far_ns, so that all that arrives before
 * that is known.
 *
 * Cost: O(sends * log ranks), and for each send that waits for a link once more log ranks for each
 * one that takes it before.
 */
#include "schedule/sched_core.h"

#include <string.h>

#include "util/util_alloc.h"
#include "util/util_min_max.h"

enum { NOBODY = -1 };

/* ---- making one ------------------------------------------------------------------------------ */

clv_status_t clv_core_init(clv_core_t *core, int32_t n_ranks, int32_t n_segments)
{
    const size_t n_copies = (size_t) n_ranks * (size_t) n_segments;

    *core = (clv_core_t){.n_ranks = n_ranks, .n_segments = n_segments};
    core->rank = clv_alloc((size_t) n_ranks, sizeof *core->rank);
    core->near_slot = clv_alloc_unset(n_copies, sizeof *core->near_slot);
    if (core->rank == NULL || core->near_slot == NULL) {
        return CLV_NO_MEMORY;
    }
    for (size_t i = 0; i < n_copies; i++) {
        core->near_slot[i] = CLV_CORE_NOTHING;
    }
    return CLV_OK;
}

void clv_core_drop(clv_core_t *core)
{
    clv_free(core->near_number);
    clv_free(core->first_in);
    clv_free(core->first_out);
    clv_free(core->sends);
    clv_free(core->far_slot);
    clv_free(core->near_slot);
    clv_free(core->rank);
    *core = (clv_core_t){0};
}

/* first[] becomes where each rank's begin; it counts those of rank p at p + 1. */
static void add_up(int32_t *first, int32_t n_ranks)
{
    for (int32_t p = 0; p < n_ranks; p++) {
        first[p + 1] += first[p];
    }
}

/* How much is done to the copy before this slot, with what comes from inside; and that it is done
 * after this one, if so. */
static int32_t number(clv_core_t *core, int32_t *n_done, size_t copy, int32_t slot)
{
    const int32_t near_before = core->near_slot[copy] <= slot;

    core->near_number[copy] += !near_before;
    return n_done[copy]++ + near_before;
}

/* next: where the next send of each rank goes; n_done: of each copy. */
static void place_sends(clv_core_t *core, const clv_send_t *sends, int64_t n_sends, int32_t *next,
                        int32_t *n_done)
{
    const size_t n_segments = (size_t) core->n_segments;

    for (int64_t k = 0; k < n_sends; k++) {
        const clv_send_t *send = &sends[k];
        const size_t out = send->sender * n_segments + send->segment;
        const size_t in = send->receiver * n_segments + send->segment;
        core->sends[next[send->sender]++] =
            (clv_core_send_t){.slot = send->round,
                              .out_number = number(core, n_done, out, send->round),
                              .in_number = number(core, n_done, in, send->round),
                              .receiver = send->receiver,
                              .segment = send->segment};
    }
}

/* 1, or 0 without memory. */
static int allocate_sends(clv_core_t *core, int64_t n_sends)
{
    const size_t n_ranks = (size_t) core->n_ranks;

    core->sends = clv_alloc_unset((size_t) n_sends + 1, sizeof *core->sends);
    core->first_out = clv_alloc(n_ranks + 1, sizeof *core->first_out);
    core->first_in = clv_alloc(n_ranks + 1, sizeof *core->first_in);
    core->near_number = clv_alloc(n_ranks * (size_t) core->n_segments, sizeof *core->near_number);
    return core->sends != NULL && core->first_out != NULL && core->first_in != NULL &&
           core->near_number != NULL;
}

clv_status_t clv_core_set_sends(clv_core_t *core, const clv_send_t *sends, int64_t n_sends)
{
    const size_t n_ranks = (size_t) core->n_ranks;
    int32_t *scratch = clv_alloc(n_ranks * ((size_t) core->n_segments + 1), sizeof *scratch);
    int32_t *next = scratch, *n_done = scratch + n_ranks;

    if (scratch == NULL || !allocate_sends(core, n_sends)) {
        clv_free(scratch);
        return CLV_NO_MEMORY;
    }
    for (int64_t k = 0; k < n_sends; k++) {
        core->first_out[sends[k].sender + 1]++;
        core->first_in[sends[k].receiver + 1]++;
    }
    add_up(core->first_out, core->n_ranks);
    add_up(core->first_in, core->n_ranks);
    memcpy(next, core->first_out, n_ranks * sizeof *next);
    place_sends(core, sends, n_sends, next, n_done);
    clv_free(scratch);
    return CLV_OK;
}

/* ---- a run of it ----------------------------------------------------------------------------- */

typedef struct copy {
    int64_t ready_ns;    /* its last send is out and its last receive combined */
    int32_t n_done;      /* sends started and receives combined */
    int32_t parked;      /* first of the sends that arrived too early, or NOBODY */
    int32_t near_parked; /* 1: what came from inside did */
} copy_t;

/* On the link. */
typedef struct arrival {
    int64_t here_ns;
    int32_t send;
} arrival_t;

typedef struct speaker {
    const clv_core_stream_t *stream;
    copy_t *copies; /* by segment */
    int64_t arrival_ns;
    int64_t out_free_ns;
    int64_t in_free_ns; /* of the way to it, a link but for who is handed all */
    int64_t core_free_ns;
    int64_t exit_ns;
    int64_t ready_ns;   /* when its next send could start if the link were free */
    int64_t near_ns;    /* when the next from inside is here; INT64_MAX: nothing comes */
    int64_t far_ns;     /* the same over the link, as far as it is known */
    int32_t near;       /* the next segment from inside */
    int32_t head, tail; /* what is on the link to it, in the queue */
    int32_t next, end;  /* sends */
    int32_t lacks;      /* 1: something is to come before its next send */
} speaker_t;

/* At the same time who lacks something is first, then who was ready first. */
typedef struct turn {
    int64_t at_ns;    /* INT64_MAX: none */
    int64_t ready_ns; /* -1: to look only */
    int32_t rank;     /* of the whole */
} turn_t;

typedef struct run {
    const clv_core_t *core;
    const clv_replay_lengths_t *lengths;
    int64_t far_ns; /* how long a segment is on a link */
    speaker_t *speakers;
    copy_t *copies;
    arrival_t *queue;     /* rank after rank */
    int32_t *next_parked; /* of each send */
    turn_t *turns;
    int32_t *winner; /* [1]: of all; of [i] are [2 * i] and [2 * i + 1] */
    int32_t n_turns; /* a power of two */
} run_t;

static int is_sooner(const turn_t *a, const turn_t *b)
{
    if (a->at_ns != b->at_ns) {
        return a->at_ns < b->at_ns;
    }
    return a->ready_ns != b->ready_ns ? a->ready_ns < b->ready_ns : a->rank < b->rank;
}

static void play(run_t *run, int32_t at)
{
    const int32_t a = run->winner[2 * at], b = run->winner[2 * at + 1];
    run->winner[at] = is_sooner(&run->turns[b], &run->turns[a]) ? b : a;
}

static void set_turn(run_t *run, int32_t p, int64_t at_ns, int64_t ready_ns)
{
    run->turns[p].at_ns = at_ns;
    run->turns[p].ready_ns = ready_ns;
    for (int32_t at = (run->n_turns + p) / 2; at > 0; at /= 2) {
        play(run, at);
    }
}

/* ---- taking ---------------------------------------------------------------------------------- */

static int64_t near_here_ns(const clv_core_stream_t *stream, int32_t segment)
{
    return clv_larger(stream->first_ns[0] + segment * stream->step_ns[0],
                      stream->first_ns[1] + segment * stream->step_ns[1]);
}

static int64_t next_here_ns(const speaker_t *me)
{
    return clv_smaller(me->near_ns, me->far_ns);
}

static void combine(const run_t *run, speaker_t *me, copy_t *copy, int64_t now_ns)
{
    copy->ready_ns =
        clv_larger(clv_larger(now_ns, me->core_free_ns), copy->ready_ns) + run->lengths->combine_ns;
    me->core_free_ns = copy->ready_ns;
    copy->n_done++;
}

/* The parked send whose turn it is, taken out of the list; NOBODY: none. */
static int32_t unpark_one(const run_t *run, copy_t *copy)
{
    for (int32_t *at = &copy->parked; *at != NOBODY; at = &run->next_parked[*at]) {
        const int32_t send = *at;
        if (run->core->sends[send].in_number == copy->n_done) {
            *at = run->next_parked[send];
            return send;
        }
    }
    return NOBODY;
}

/* Combines what waited for the copy to come so far. */
static void unpark(const run_t *run, speaker_t *me, copy_t *copy, int64_t now_ns)
{
    while (copy->near_parked || copy->parked != NOBODY) {
        if (copy->near_parked && run->core->near_number[copy - run->copies] == copy->n_done) {
            copy->near_parked = 0;
        } else if (unpark_one(run, copy) == NOBODY) {
            break;
        }
        combine(run, me, copy, now_ns);
    }
}

static void take_near(const run_t *run, speaker_t *me)
{
    const int64_t now_ns = me->near_ns;
    copy_t *copy = &me->copies[me->near++];

    me->near_ns = me->near < run->core->n_segments ? near_here_ns(me->stream, me->near) : INT64_MAX;
    if (run->core->near_number[copy - run->copies] != copy->n_done) {
        copy->near_parked = 1;
        return;
    }
    combine(run, me, copy, now_ns);
    unpark(run, me, copy, now_ns);
}

static void take_far(const run_t *run, speaker_t *me)
{
    const int64_t now_ns = me->far_ns;
    const int32_t at = run->queue[me->head++].send;
    const clv_core_send_t *send = &run->core->sends[at];
    copy_t *copy = &me->copies[send->segment];

    me->far_ns = me->head < me->tail ? run->queue[me->head].here_ns : INT64_MAX;
    if (send->in_number != copy->n_done) {
        run->next_parked[at] = copy->parked;
        copy->parked = at;
        return;
    }
    combine(run, me, copy, now_ns);
    unpark(run, me, copy, now_ns);
}

/* What is there at the same time comes in plan order; but what takes no time on the link comes
 * after what was there at that moment. */
static int is_near_planned_first(const run_t *run, const speaker_t *me)
{
    const size_t copy = (size_t) (me->copies - run->copies) + (size_t) me->near;
    return run->far_ns == 0 ||
           run->core->near_slot[copy] <= run->core->sends[run->queue[me->head].send].slot;
}

static void take_next(const run_t *run, speaker_t *me)
{
    if (me->near_ns != me->far_ns ? me->near_ns < me->far_ns : is_near_planned_first(run, me)) {
        take_near(run, me);
    } else {
        take_far(run, me);
    }
}

/* ---- sending --------------------------------------------------------------------------------- */

/* Takes what must come before the rank's next send, as far as it is known by now. */
static void look(run_t *run, int32_t p, int64_t now_ns)
{
    speaker_t *me = &run->speakers[p];
    const clv_core_send_t *send = &run->core->sends[me->next];
    const speaker_t *receiver = &run->speakers[send->receiver];
    const copy_t *copy = &me->copies[send->segment];
    const int64_t reach_ns = clv_larger(run->far_ns - 1, 0);

    while (copy->n_done < send->out_number && next_here_ns(me) <= now_ns + reach_ns) {
        take_next(run, me);
    }
    me->lacks = copy->n_done < send->out_number;
    if (me->lacks) {
        const int64_t here_ns = next_here_ns(me);
        set_turn(run, p, here_ns == INT64_MAX ? here_ns : here_ns - reach_ns, -1);
        return;
    }
    me->ready_ns = clv_larger(clv_larger(me->out_free_ns, copy->ready_ns), receiver->arrival_ns);
    set_turn(run, p, clv_larger(me->ready_ns, receiver->in_free_ns), me->ready_ns);
}

/* Who starts at the same moment on a link that takes no time arrives in plan order; if nothing
 * takes any time, in the order in which they started. */
static void put_on_link(run_t *run, speaker_t *receiver, int32_t send, int64_t here_ns)
{
    const clv_core_send_t *sends = run->core->sends;
    int32_t at = receiver->tail++;

    while (run->far_ns > 0 && at > receiver->head && run->queue[at - 1].here_ns == here_ns &&
           sends[run->queue[at - 1].send].slot > sends[send].slot) {
        run->queue[at] = run->queue[at - 1];
        at--;
    }
    run->queue[at] = (arrival_t){here_ns, send};
    receiver->far_ns = run->queue[receiver->head].here_ns;
}

static int is_handed(const clv_core_t *core, int32_t p)
{
    return core->hands_over && p == core->n_ranks - 1;
}

/* The rank's next send leaves; when it will be there. */
static int64_t leave(run_t *run, speaker_t *me, int32_t receiver, int64_t now_ns)
{
    const clv_replay_lengths_t *lengths = run->lengths;
    const int near = is_handed(run->core, receiver);
    const int64_t out_ns = now_ns + (near ? lengths->near_wire_ns : lengths->far_wire_ns);
    const int64_t busy_ns = clv_larger(out_ns, now_ns + lengths->gap_ns);
    copy_t *copy = &me->copies[run->core->sends[me->next].segment];

    run->speakers[receiver].in_free_ns = near ? busy_ns : out_ns;
    me->out_free_ns = busy_ns;
    me->exit_ns = clv_larger(me->exit_ns, out_ns);
    copy->ready_ns = clv_larger(copy->ready_ns, out_ns);
    copy->n_done++;
    unpark(run, me, copy, now_ns);
    return out_ns + (near ? lengths->near_latency_ns : lengths->far_latency_ns);
}

static void start(run_t *run, int32_t p, int64_t now_ns)
{
    speaker_t *me = &run->speakers[p];
    const int32_t receiver = run->core->sends[me->next].receiver;

    while (next_here_ns(me) <= now_ns) {
        take_next(run, me);
    }
    put_on_link(run, &run->speakers[receiver], me->next, leave(run, me, receiver, now_ns));
    if (run->speakers[receiver].lacks) {
        look(run, receiver, now_ns);
    }
    me->next++;
    if (me->next < me->end) {
        look(run, p, now_ns);
    } else {
        set_turn(run, p, INT64_MAX, INT64_MAX);
    }
}

static void take_turns(run_t *run)
{
    for (int32_t p = run->winner[1]; run->turns[p].at_ns < INT64_MAX; p = run->winner[1]) {
        const speaker_t *me = &run->speakers[p];
        const int64_t now_ns = run->turns[p].at_ns;
        if (me->lacks) {
            look(run, p, now_ns);
            continue;
        }
        const int32_t receiver = run->core->sends[me->next].receiver;
        const int64_t free_ns = run->speakers[receiver].in_free_ns;
        if (free_ns > now_ns) {
            set_turn(run, p, free_ns, me->ready_ns);
        } else {
            start(run, p, now_ns);
        }
    }
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static void place_speaker(run_t *run, int32_t p, const clv_core_stream_t *stream,
                          int64_t arrival_ns)
{
    const clv_core_t *core = run->core;
    copy_t *copies = run->copies + (size_t) p * (size_t) core->n_segments;

    run->speakers[p] = (speaker_t){
        .stream = stream,
        .copies = copies,
        .arrival_ns = arrival_ns,
        .out_free_ns = arrival_ns,
        .core_free_ns = arrival_ns,
        .exit_ns = arrival_ns,
        .near_ns = stream->first_ns[0] < 0 ? INT64_MAX : near_here_ns(stream, 0),
        .far_ns = INT64_MAX,
        .head = core->first_in[p],
        .tail = core->first_in[p],
        .next = core->first_out[p],
        .end = core->first_out[p + 1],
    };
    for (int32_t s = 0; s < core->n_segments; s++) {
        copies[s] = (copy_t){.ready_ns = arrival_ns, .parked = NOBODY};
    }
}

/* Nobody has a turn yet. */
static void place_turns(run_t *run)
{
    for (int32_t i = 0; i < run->n_turns; i++) {
        const int32_t rank = i < run->core->n_ranks ? run->core->rank[i] : INT32_MAX;
        run->turns[i] = (turn_t){INT64_MAX, INT64_MAX, rank};
        run->winner[run->n_turns + i] = i;
    }
    for (int32_t at = run->n_turns - 1; at > 0; at--) {
        play(run, at);
    }
}

/* 1, or 0 without memory. */
static int allocate_run(run_t *run)
{
    const clv_core_t *core = run->core;
    const size_t n_ranks = (size_t) core->n_ranks, n_segments = (size_t) core->n_segments;
    const size_t n_sends = (size_t) core->first_out[core->n_ranks] + 1;

    for (run->n_turns = 2; run->n_turns < core->n_ranks;) {
        run->n_turns *= 2;
    }
    run->speakers = clv_alloc_unset(n_ranks, sizeof *run->speakers);
    run->copies = clv_alloc_unset(n_ranks * n_segments, sizeof *run->copies);
    run->queue = clv_alloc_unset(n_sends, sizeof *run->queue);
    run->next_parked = clv_alloc_unset(n_sends, sizeof *run->next_parked);
    run->turns = clv_alloc_unset((size_t) run->n_turns, sizeof *run->turns);
    run->winner = clv_alloc_unset(2 * (size_t) run->n_turns, sizeof *run->winner);
    return run->speakers != NULL && run->copies != NULL && run->queue != NULL &&
           run->next_parked != NULL && run->turns != NULL && run->winner != NULL;
}

static void close_run(run_t *run)
{
    clv_free(run->winner);
    clv_free(run->turns);
    clv_free(run->next_parked);
    clv_free(run->queue);
    clv_free(run->copies);
    clv_free(run->speakers);
}

/* What comes when nothing is left to send. */
static clv_status_t read_exits(run_t *run, int64_t *exit_ns)
{
    for (int32_t p = 0; p < run->core->n_ranks; p++) {
        speaker_t *me = &run->speakers[p];
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

clv_status_t clv_core_run(const clv_core_t *core, const clv_core_stream_t *streams,
                          const int64_t *arrival_ns, const clv_replay_lengths_t *lengths,
                          int64_t *exit_ns)
{
    run_t run = {
        .core = core, .lengths = lengths, .far_ns = lengths->far_wire_ns + lengths->far_latency_ns};
    clv_status_t status = CLV_NO_MEMORY;

    if (allocate_run(&run)) {
        for (int32_t p = 0; p < core->n_ranks; p++) {
            place_speaker(&run, p, &streams[p], arrival_ns[p]);
        }
        place_turns(&run);
        for (int32_t p = 0; p < core->n_ranks; p++) {
            if (run.speakers[p].next < run.speakers[p].end) {
                look(&run, p, 0);
            }
        }
        take_turns(&run);
        status = read_exits(&run, exit_ns);
    }
    close_run(&run);
    return status;
}
