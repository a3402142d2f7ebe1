/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random plans and the oracle that checks plans (see random_plan.h).
 */
#include "tests/support/random_plan.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/random_instance.h"
#include "util/util_alloc.h"

enum { MAX_RANKS = 64 };

static void *get(size_t n_items, size_t item_bytes)
{
    void *memory = clv_alloc(n_items, item_bytes);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

/* ---- drawing --------------------------------------------------------------------------------- */

/* parts[rank * n_segments + segment]: the ranks whose contributions are in that copy. */
typedef struct drawing {
    uint64_t *state;
    clv_plan_t *plan;
    int64_t capacity;
    uint64_t *parts;
    uint64_t all;
    int32_t round;
} drawing_t;

static int32_t below(drawing_t *drawing, int32_t n)
{
    return (int32_t) clv_random_between(drawing->state, 0, n - 1);
}

static uint64_t *part(const drawing_t *drawing, int32_t rank, int32_t segment)
{
    return &drawing->parts[rank * drawing->plan->n_segments + segment];
}

static void put_send(drawing_t *drawing, int32_t sender, int32_t receiver, int32_t segment,
                     clv_send_kind_t kind)
{
    clv_plan_t *plan = drawing->plan;
    if (plan->n_sends == drawing->capacity) {
        clv_send_t *more = get((size_t) drawing->capacity * 2, sizeof *more);
        memcpy(more, plan->sends, (size_t) plan->n_sends * sizeof *more);
        clv_free(plan->sends);
        plan->sends = more;
        drawing->capacity *= 2;
    }
    plan->sends[plan->n_sends++] = clv_send_of(drawing->round, sender, receiver, segment, kind);
    *part(drawing, receiver, segment) |= *part(drawing, sender, segment);
    if (kind == CLV_MOVE) {
        *part(drawing, sender, segment) = 0;
    }
}

/* Adds a permitted send between two ranks that may still send and receive in this round;
 * locked[rank * n_segments + segment] marks the copies that the round has used. */
static void try_send(drawing_t *drawing, int32_t sender, int32_t receiver, uint8_t *locked)
{
    const int32_t n_segments = drawing->plan->n_segments, s = below(drawing, n_segments);
    const uint64_t there = *part(drawing, sender, s), here = *part(drawing, receiver, s);
    uint8_t *lock_there = &locked[sender * n_segments + s];
    uint8_t *lock_here = &locked[receiver * n_segments + s];

    if (there == 0 || (there & here) != 0 || *lock_there || *lock_here ||
        (here == 0 && below(drawing, 3) > 0)) {
        return;
    }
    put_send(drawing, sender, receiver, s,
             there == drawing->all && below(drawing, 4) > 0 ? CLV_COPY : CLV_MOVE);
    *lock_there = *lock_here = 1;
}

static void draw_round(drawing_t *drawing, uint8_t *locked)
{
    const int32_t n_ranks = drawing->plan->n_ranks;
    uint64_t sent = 0, got = 0;

    memset(locked, 0, (size_t) n_ranks * (size_t) drawing->plan->n_segments);
    for (int32_t i = 0; i < 2 * n_ranks; i++) {
        const int32_t sender = below(drawing, n_ranks), receiver = below(drawing, n_ranks);
        const int64_t before = drawing->plan->n_sends;
        if (sender != receiver && (sent >> sender & 1) == 0 && (got >> receiver & 1) == 0) {
            try_send(drawing, sender, receiver, locked);
        }
        if (drawing->plan->n_sends > before) {
            sent |= UINT64_C(1) << sender;
            got |= UINT64_C(1) << receiver;
        }
    }
    drawing->round++;
}

static int wants(const clv_plan_t *plan, int32_t rank, int32_t segment)
{
    switch (plan->goal) {
    case CLV_GOAL_REDUCE:
        return rank == plan->root;
    case CLV_GOAL_REDUCE_SCATTER:
        return segment / (plan->n_segments / plan->n_ranks) == rank;
    default:
        return 1;
    }
}

/* Any rank that has all of the segment; if there is none, sends everything to one rank. */
static int32_t complete_somewhere(drawing_t *drawing, int32_t segment)
{
    const int32_t n_ranks = drawing->plan->n_ranks, first = below(drawing, n_ranks);
    for (int32_t i = 0; i < n_ranks; i++) {
        const int32_t p = (first + i) % n_ranks;
        if (*part(drawing, p, segment) == drawing->all) {
            return p;
        }
    }
    for (int32_t p = 0; p < n_ranks; p++) {
        if (p != first && *part(drawing, p, segment) != 0) {
            put_send(drawing, p, first, segment, CLV_MOVE);
            drawing->round++;
        }
    }
    return first;
}

static void finish_segment(drawing_t *drawing, int32_t segment)
{
    for (int32_t p = 0; p < drawing->plan->n_ranks; p++) {
        if (wants(drawing->plan, p, segment) && *part(drawing, p, segment) != drawing->all) {
            const int32_t from = complete_somewhere(drawing, segment);
            if (from != p) {
                const int keep = wants(drawing->plan, from, segment) || below(drawing, 2);
                put_send(drawing, from, p, segment, keep ? CLV_COPY : CLV_MOVE);
                drawing->round++;
            }
        }
    }
}

clv_plan_t *clv_random_plan(uint64_t *state, clv_goal_t goal, int32_t n_ranks, int32_t n_segments,
                            int32_t n_rounds)
{
    drawing_t drawing = {.state = state, .plan = get(1, sizeof(clv_plan_t)), .capacity = 64};
    clv_plan_t *plan = drawing.plan;

    plan->n_ranks = n_ranks;
    plan->n_segments = goal == CLV_GOAL_REDUCE_SCATTER ? n_segments * n_ranks : n_segments;
    plan->root = below(&drawing, n_ranks);
    plan->goal = goal;
    plan->sends = get((size_t) drawing.capacity, sizeof *plan->sends);
    drawing.all = n_ranks == MAX_RANKS ? UINT64_MAX : (UINT64_C(1) << n_ranks) - 1;
    drawing.parts = get((size_t) (n_ranks * plan->n_segments), sizeof *drawing.parts);
    for (int32_t p = 0; p < n_ranks; p++) {
        for (int32_t s = 0; s < plan->n_segments; s++) {
            *part(&drawing, p, s) = goal != CLV_GOAL_BCAST ? UINT64_C(1) << p
                                    : p == plan->root      ? drawing.all
                                                           : 0;
        }
    }
    uint8_t *locked = get((size_t) (n_ranks * plan->n_segments), 1);
    for (int32_t i = 0; i < n_rounds; i++) {
        draw_round(&drawing, locked);
    }
    for (int32_t s = 0; s < plan->n_segments; s++) {
        finish_segment(&drawing, s);
    }
    plan->n_rounds = plan->n_sends > 0 ? plan->sends[plan->n_sends - 1].round + 1 : 0;
    clv_free(locked);
    clv_free(drawing.parts);
    return plan;
}

/* ---- the oracle ------------------------------------------------------------------------------ */

/* How often each rank's contribution is in a copy; saturates at 255, which is wrong anyway. */
typedef struct bag {
    uint8_t times[MAX_RANKS];
} bag_t;

static int is_empty(const bag_t *bag)
{
    static const bag_t nothing;
    return memcmp(bag, &nothing, sizeof nothing) == 0;
}

static bag_t *bag_of(const clv_plan_t *plan, bag_t *bags, int32_t rank, int32_t segment)
{
    return &bags[rank * plan->n_segments + segment];
}

static int in_range(const clv_plan_t *plan, const clv_send_t *send)
{
    return send->sender < plan->n_ranks && send->receiver < plan->n_ranks &&
           send->sender != send->receiver && send->segment < plan->n_segments &&
           (send->kind == CLV_MOVE || send->kind == CLV_COPY) && send->round >= 0;
}

/* Whether the sends of one round are free of conflicts. */
static int round_is_right(const clv_plan_t *plan, int64_t first, int64_t end)
{
    for (int64_t a = first; a < end; a++) {
        for (int64_t b = first; b < end; b++) {
            const clv_send_t *x = &plan->sends[a], *y = &plan->sends[b];
            if ((a != b && (x->sender == y->sender || x->receiver == y->receiver)) ||
                (x->sender == y->receiver && x->segment == y->segment)) {
                return 0;
            }
        }
    }
    return 1;
}

/* All sends are simultaneous: first removes everything sent, then adds it. */
static int do_round(const clv_plan_t *plan, bag_t *bags, int64_t first, int64_t end)
{
    bag_t under_way[MAX_RANKS];
    for (int64_t k = first; k < end; k++) {
        const clv_send_t *send = &plan->sends[k];
        bag_t *from = bag_of(plan, bags, send->sender, send->segment);
        if (is_empty(from)) {
            return 0;
        }
        under_way[k - first] = *from;
        if (send->kind == CLV_MOVE) {
            *from = (bag_t){{0}};
        }
    }
    for (int64_t k = first; k < end; k++) {
        const clv_send_t *send = &plan->sends[k];
        bag_t *to = bag_of(plan, bags, send->receiver, send->segment);
        if (send->kind == CLV_COPY && !is_empty(to)) {
            return 0;
        }
        for (int32_t p = 0; p < plan->n_ranks; p++) {
            const int times = to->times[p] + under_way[k - first].times[p];
            to->times[p] = (uint8_t) (times > UINT8_MAX ? UINT8_MAX : times);
        }
    }
    return 1;
}

static int end_is_right(const clv_plan_t *plan, bag_t *bags)
{
    for (int32_t p = 0; p < plan->n_ranks; p++) {
        for (int32_t s = 0; s < plan->n_segments; s++) {
            for (int32_t q = 0; q < plan->n_ranks && wants(plan, p, s); q++) {
                const int expected = plan->goal != CLV_GOAL_BCAST || q == plan->root;
                if (bag_of(plan, bags, p, s)->times[q] != expected) {
                    return 0;
                }
            }
        }
    }
    return 1;
}

static int follow(const clv_plan_t *plan, bag_t *bags)
{
    for (int32_t p = 0; p < plan->n_ranks; p++) {
        for (int32_t s = 0; s < plan->n_segments; s++) {
            bag_of(plan, bags, p, s)->times[p] = plan->goal != CLV_GOAL_BCAST || p == plan->root;
        }
    }
    for (int64_t first = 0, end; first < plan->n_sends; first = end) {
        for (end = first; end < plan->n_sends && plan->sends[end].round == plan->sends[first].round;
             end++) {
            if (!in_range(plan, &plan->sends[end])) {
                return 0;
            }
        }
        if ((first > 0 && plan->sends[first].round < plan->sends[first - 1].round) ||
            end - first > plan->n_ranks || !round_is_right(plan, first, end) ||
            !do_round(plan, bags, first, end)) {
            return 0;
        }
    }
    return end_is_right(plan, bags);
}

int clv_plan_is_right(const clv_plan_t *plan)
{
    if (plan->n_ranks < 1 || plan->n_ranks > MAX_RANKS || plan->n_segments < 1 || plan->root < 0 ||
        plan->root >= plan->n_ranks ||
        (plan->goal == CLV_GOAL_REDUCE_SCATTER && plan->n_segments % plan->n_ranks != 0)) {
        return 0;
    }
    bag_t *bags = get((size_t) (plan->n_ranks * plan->n_segments), sizeof *bags);
    const int right = follow(plan, bags);
    clv_free(bags);
    return right;
}
