/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The independent judge of plans: it knows the rules of a round, not how any generator works.
 *
 * Why weights are enough: a copy of a segment is a set of contributions, its weight their number.
 * At the start the sets are single and disjoint. A MOVE unites two sets and leaves nothing behind,
 * so they stay disjoint, and only one set of P ranks can have weight P. From then on all copies are
 * that whole set: uniting two would weigh more than P and is refused, as is copying anything less.
 * So a weight of P is always each contribution exactly once. (A broadcast starts there: the root's
 * vector counts as P contributions.)
 *
 * clv_plan_validate: 2 bytes per (rank, segment) and 16 per rank, O(sends + ranks * segments).
 * clv_plan_validate_arrivals replays the windows of the paper: O(rounds * ranks).
 */
#include <stdarg.h>
#include <stdio.h>

#include "schedule/sched_goal.h"
#include "schedule/sched_instance.h"
#include "schedule/schedule.h"
#include "util/util_alloc.h"

/* State of a rank in the current round. Rounds start at 0 and the memory is zeroed, so a round is
 * stored plus one: 0 means never. */
typedef struct rank_state {
    int32_t sent_in;
    int32_t sent_segment;
    int32_t received_in;
    int32_t received_segment;
} rank_state_t;

typedef struct judge {
    const clv_plan_t *plan;
    rank_state_t *ranks;
    uint16_t *weights; /* [rank * n_segments + segment]: contributions in that copy */
    char *reason;
    size_t reason_bytes;
} judge_t;

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static clv_status_t
reject(char *reason, size_t reason_bytes, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void) vsnprintf(reason, reason_bytes, format, arguments);
    va_end(arguments);
    return CLV_INVALID;
}

static uint16_t *weight_of(const judge_t *judge, int32_t rank, int32_t segment)
{
    return &judge->weights[(size_t) rank * (size_t) judge->plan->n_segments + (size_t) segment];
}

/* Checks that ranks and segments exist and that rounds do not go back. */
static clv_status_t check_ranges(const judge_t *judge, int64_t k)
{
    const clv_plan_t *plan = judge->plan;
    const clv_send_t *send = &plan->sends[k];
    if (send->sender >= plan->n_ranks || send->receiver >= plan->n_ranks ||
        send->sender == send->receiver) {
        return reject(judge->reason, judge->reason_bytes, "send %lld: no such pair of ranks %d, %d",
                      (long long) k, (int) send->sender, (int) send->receiver);
    }
    if (send->segment >= plan->n_segments || send->kind > CLV_COPY) {
        return reject(judge->reason, judge->reason_bytes,
                      "send %lld: no such segment %d or kind %d", (long long) k,
                      (int) send->segment, (int) send->kind);
    }
    if (send->round < (k > 0 ? plan->sends[k - 1].round : 0) || send->round >= plan->n_rounds) {
        return reject(judge->reason, judge->reason_bytes, "send %lld: round %d out of order",
                      (long long) k, (int) send->round);
    }
    return CLV_OK;
}

/* Checks one send and one receive per rank and round; a segment received in a round does not leave
 * in it. */
static clv_status_t check_round_rules(const judge_t *judge, int64_t k)
{
    const clv_send_t *send = &judge->plan->sends[k];
    const rank_state_t *sender = &judge->ranks[send->sender];
    const rank_state_t *receiver = &judge->ranks[send->receiver];
    int32_t now = send->round + 1;

    if (sender->sent_in == now) {
        return reject(judge->reason, judge->reason_bytes,
                      "send %lld: rank %d sends twice in round %d", (long long) k,
                      (int) send->sender, (int) send->round);
    }
    if (receiver->received_in == now) {
        return reject(judge->reason, judge->reason_bytes,
                      "send %lld: rank %d receives twice in round %d", (long long) k,
                      (int) send->receiver, (int) send->round);
    }
    if ((sender->received_in == now && sender->received_segment == send->segment) ||
        (receiver->sent_in == now && receiver->sent_segment == send->segment)) {
        return reject(judge->reason, judge->reason_bytes,
                      "send %lld: segment %d is passed on in round %d in which it came",
                      (long long) k, (int) send->segment, (int) send->round);
    }
    return CLV_OK;
}

/* Checks that the sender has what it sends, and that the receiver can take it. */
static clv_status_t check_weights(const judge_t *judge, int64_t k)
{
    const clv_send_t *send = &judge->plan->sends[k];
    const int there = *weight_of(judge, send->sender, send->segment);
    const int here = *weight_of(judge, send->receiver, send->segment);
    const int all = judge->plan->n_ranks;

    if (there == 0) {
        return reject(judge->reason, judge->reason_bytes,
                      "send %lld: rank %d does not hold segment %d in round %d", (long long) k,
                      (int) send->sender, (int) send->segment, (int) send->round);
    }
    if (send->kind == CLV_MOVE ? there + here > all : there < all || here > 0) {
        return reject(judge->reason, judge->reason_bytes,
                      "send %lld: segment %d with %d of %d contributions cannot be %s to rank %d, "
                      "which has %d",
                      (long long) k, (int) send->segment, there, all,
                      send->kind == CLV_MOVE ? "moved" : "copied", (int) send->receiver, here);
    }
    return CLV_OK;
}

/* The receiver holds the segment from now on. check_round_rules makes sure that it does not send it
 * in the same round. */
static void do_send(judge_t *judge, const clv_send_t *send)
{
    uint16_t *there = weight_of(judge, send->sender, send->segment);
    uint16_t *here = weight_of(judge, send->receiver, send->segment);
    rank_state_t *sender = &judge->ranks[send->sender];
    rank_state_t *receiver = &judge->ranks[send->receiver];
    sender->sent_in = send->round + 1;
    sender->sent_segment = send->segment;
    receiver->received_in = send->round + 1;
    receiver->received_segment = send->segment;
    *here = (uint16_t) (*here + *there);
    *there = send->kind == CLV_MOVE ? 0 : *there;
}

static clv_status_t check_end(const judge_t *judge)
{
    const clv_plan_t *plan = judge->plan;
    for (int32_t p = 0; p < plan->n_ranks; p++) {
        for (int32_t s = 0; s < plan->n_segments; s++) {
            if (clv_goal_wants(plan, p, s) && *weight_of(judge, p, s) != plan->n_ranks) {
                return reject(judge->reason, judge->reason_bytes,
                              "at the end rank %d lacks segment %d, or part of it", (int) p,
                              (int) s);
            }
        }
    }
    return CLV_OK;
}

static void start_weights(judge_t *judge)
{
    const clv_plan_t *plan = judge->plan;
    const uint16_t first = plan->goal == CLV_GOAL_BCAST ? (uint16_t) plan->n_ranks : 1;
    for (int32_t p = 0; p < plan->n_ranks; p++) {
        const uint16_t weight = clv_goal_has_at_start(plan->goal, plan->root, p) ? first : 0;
        for (int32_t s = 0; s < plan->n_segments; s++) {
            *weight_of(judge, p, s) = weight;
        }
    }
}

static clv_status_t judge_sends(judge_t *judge)
{
    const clv_plan_t *plan = judge->plan;
    start_weights(judge);
    for (int64_t k = 0; k < plan->n_sends; k++) {
        clv_status_t status = check_ranges(judge, k);
        if (status == CLV_OK) {
            status = check_round_rules(judge, k);
        }
        if (status == CLV_OK) {
            status = check_weights(judge, k);
        }
        if (status != CLV_OK) {
            return status;
        }
        do_send(judge, &plan->sends[k]);
    }
    return check_end(judge);
}

static clv_status_t check_frame(const clv_plan_t *plan, char *reason, size_t reason_bytes)
{
    int32_t n_rounds = plan->n_sends > 0 ? plan->sends[plan->n_sends - 1].round + 1 : 0;
    if (plan->n_ranks < 1 || plan->n_ranks > CLV_SCHED_MAX_RANKS || plan->n_segments < 1 ||
        plan->n_segments > CLV_SCHED_MAX_SEGMENTS || plan->root < 0 ||
        plan->root >= plan->n_ranks || plan->n_sends < 0 ||
        !clv_goal_fits(plan->goal, plan->n_ranks, plan->n_segments)) {
        return reject(reason, reason_bytes, "impossible: %s of ranks %d, segments %d, root %d",
                      clv_goal_name(plan->goal), (int) plan->n_ranks, (int) plan->n_segments,
                      (int) plan->root);
    }
    if (plan->n_rounds != n_rounds) {
        return reject(reason, reason_bytes, "rounds %d, but the last send makes it %d",
                      (int) plan->n_rounds, (int) n_rounds);
    }
    return CLV_OK;
}

clv_status_t clv_plan_validate(const clv_plan_t *plan, char *reason, size_t reason_bytes)
{
    clv_status_t status = check_frame(plan, reason, reason_bytes);
    if (status != CLV_OK) {
        return status;
    }
    judge_t judge = {.plan = plan, .reason = reason, .reason_bytes = reason_bytes};
    judge.weights =
        clv_alloc_unset((size_t) plan->n_ranks * (size_t) plan->n_segments, sizeof *judge.weights);
    judge.ranks = clv_alloc((size_t) plan->n_ranks, sizeof *judge.ranks);
    status = judge.weights == NULL || judge.ranks == NULL ? CLV_NO_MEMORY : judge_sends(&judge);
    clv_free(judge.ranks);
    clv_free(judge.weights);
    return status;
}

/* The paper's windows, replayed from the plan alone. The sends tell which ranks still hold
 * something, the arrivals which ranks are inside the window. */
typedef struct replay {
    const clv_instance_t *instance;
    int64_t round_ns;
    int64_t *avail_ns;
    int32_t *last_round; /* last round in which the rank acts; -1: never, INT32_MAX: the root of a
                          * reduce, which stays */
} replay_t;

/* The earliest availability of ranks with something left to do in this round or later. */
static int64_t window_start(const replay_t *replay, int64_t round)
{
    int64_t start_ns = INT64_MAX;
    for (int32_t p = 0; p < replay->instance->n_ranks; p++) {
        if (replay->last_round[p] >= round && replay->avail_ns[p] < start_ns) {
            start_ns = replay->avail_ns[p];
        }
    }
    return start_ns;
}

/* Ranks inside the window of a round become available again n_rounds later. */
static void pass_rounds(replay_t *replay, int64_t round, int64_t n_rounds)
{
    int64_t start_ns = window_start(replay, round);
    for (int32_t p = 0; p < replay->instance->n_ranks; p++) {
        if (replay->last_round[p] >= round && replay->avail_ns[p] < start_ns + replay->round_ns) {
            replay->avail_ns[p] += n_rounds * replay->round_ns;
        }
    }
}

/* Rounds whose windows hold the same ranks are passed at once: until the next availability outside
 * the window, or at most until the next send. */
static int64_t quiet_rounds(const replay_t *replay, int64_t round, int64_t n_wanted)
{
    int64_t start_ns = window_start(replay, round);
    for (int32_t p = 0; p < replay->instance->n_ranks; p++) {
        int64_t wait_ns = replay->avail_ns[p] - start_ns;
        if (replay->last_round[p] >= round && wait_ns >= replay->round_ns &&
            wait_ns / replay->round_ns < n_wanted) {
            n_wanted = wait_ns / replay->round_ns;
        }
    }
    return n_wanted;
}

static clv_status_t replay_rounds(replay_t *replay, const clv_plan_t *plan, char *reason,
                                  size_t reason_bytes)
{
    int64_t round = 0;
    int64_t end_ns = replay->round_ns; /* arrivals are relative to the first */
    for (int64_t k = 0; k < plan->n_sends; k++) {
        const clv_send_t *send = &plan->sends[k];
        while (round < send->round) {
            int64_t n_rounds = quiet_rounds(replay, round, send->round - round);
            pass_rounds(replay, round, n_rounds);
            round += n_rounds;
            end_ns = window_start(replay, round) + replay->round_ns;
        }
        if (replay->avail_ns[send->sender] >= end_ns ||
            replay->avail_ns[send->receiver] >= end_ns) {
            return reject(reason, reason_bytes,
                          "send %lld: rank %d or %d has not arrived in round %d", (long long) k,
                          (int) send->sender, (int) send->receiver, (int) send->round);
        }
    }
    return CLV_OK;
}

static void replay_start(replay_t *replay, const clv_plan_t *plan)
{
    int64_t first_ns = clv_sched_first_ns(replay->instance);
    for (int32_t p = 0; p < plan->n_ranks; p++) {
        replay->avail_ns[p] = replay->instance->arrival_ns[p] - first_ns;
        replay->last_round[p] = -1;
    }
    for (int64_t k = 0; k < plan->n_sends; k++) {
        replay->last_round[plan->sends[k].sender] = plan->sends[k].round;
        replay->last_round[plan->sends[k].receiver] = plan->sends[k].round;
    }
    if (plan->goal == CLV_GOAL_REDUCE) {
        replay->last_round[plan->root] = INT32_MAX;
    }
}

clv_status_t clv_plan_validate_arrivals(const clv_plan_t *plan, const clv_instance_t *instance,
                                        char *reason, size_t reason_bytes)
{
    replay_t replay = {.instance = instance, .round_ns = clv_sched_effective_round_ns(instance)};
    clv_status_t status = CLV_NO_MEMORY;

    replay.avail_ns = clv_alloc((size_t) plan->n_ranks, sizeof *replay.avail_ns);
    replay.last_round = clv_alloc((size_t) plan->n_ranks, sizeof *replay.last_round);
    if (replay.avail_ns != NULL && replay.last_round != NULL) {
        replay_start(&replay, plan);
        status = replay_rounds(&replay, plan, reason, reason_bytes);
    }
    clv_free(replay.last_round);
    clv_free(replay.avail_ns);
    return status;
}
