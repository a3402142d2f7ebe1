/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The classic reduce algorithms in the round model, for comparison: they ignore the arrivals, but a
 * send still waits until both ends have arrived.
 *
 * Each generator lists its sends in an order that respects the data flow; place() gives every send
 * the first round in which the segment is complete at the sender, both have arrived, and both are
 * free, in list order per sender and per receiver. Ranks are virtual: 0 is the root, v the rank
 * root + v.
 *
 * Memory: 4 bytes per (rank, segment) and the plan twice. Not the executor's fallbacks: the
 * component takes those from Open MPI.
 */
#include "schedule/sched_generators.h"
#include "schedule/sched_instance.h"
#include "schedule/sched_plan.h"
#include "util/util_alloc.h"

typedef struct layout {
    const clv_instance_t *instance;
    clv_builder_t builder;
    clv_status_t status;
    int32_t *arrived;   /* by virtual rank: its first round */
    int32_t *next_send; /* by virtual rank: first round in which it may send */
    int32_t *next_receive;
    int32_t *ready; /* virtual rank * n_segments + segment: when it can be sent */
    int32_t *low;   /* recursive halving: the range that a rank still works on */
    int32_t *high;
} layout_t;

typedef void (*list_t)(layout_t *layout);

static int32_t later(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static int32_t real_rank(const layout_t *layout, int32_t v)
{
    return (v + layout->instance->root) % layout->instance->n_ranks;
}

static void place(layout_t *layout, int32_t sender, int32_t receiver, int32_t segment)
{
    size_t n_segments = (size_t) layout->instance->n_segments;
    int32_t *leaves = &layout->ready[(size_t) sender * n_segments + (size_t) segment];
    int32_t *comes = &layout->ready[(size_t) receiver * n_segments + (size_t) segment];
    int32_t round = later(later(layout->next_send[sender], layout->next_receive[receiver]),
                          later(*leaves, layout->arrived[receiver]));

    if (layout->status == CLV_OK) {
        layout->status = clv_builder_reserve(&layout->builder, 1);
    }
    if (layout->status == CLV_OK) {
        clv_builder_put(&layout->builder, round, real_rank(layout, sender),
                        real_rank(layout, receiver), segment);
        layout->next_send[sender] = round + 1;
        layout->next_receive[receiver] = round + 1;
        *leaves = round + 1;
        *comes = later(*comes, round + 1);
    }
}

/* Sends all segments of a rank, one after another, once it has received everything: no pipeline. */
static void place_whole(layout_t *layout, int32_t sender, int32_t receiver)
{
    layout->next_send[sender] = later(layout->next_send[sender], layout->next_receive[sender]);
    for (int32_t s = 0; s < layout->instance->n_segments; s++) {
        place(layout, sender, receiver, s);
    }
}

/* ---- trees ----------------------------------------------------------------------------------- */

static int32_t lowest_bit(int32_t v)
{
    return v & -v;
}

static void list_binomial(layout_t *layout)
{
    int32_t n_ranks = layout->instance->n_ranks;
    for (int32_t mask = 1; mask < n_ranks; mask *= 2) {
        for (int32_t v = mask; v < n_ranks; v += 2 * mask) {
            place_whole(layout, v, v - mask);
        }
    }
}

static void list_binomial_pipelined(layout_t *layout)
{
    int32_t n_ranks = layout->instance->n_ranks;
    for (int32_t s = 0; s < layout->instance->n_segments; s++) {
        for (int32_t mask = 1; mask < n_ranks; mask *= 2) {
            for (int32_t v = mask; v < n_ranks; v += 2 * mask) {
                place(layout, v, v - lowest_bit(v), s);
            }
        }
    }
}

static void list_binary_tree(layout_t *layout)
{
    for (int32_t s = 0; s < layout->instance->n_segments; s++) {
        for (int32_t v = layout->instance->n_ranks - 1; v > 0; v--) {
            place(layout, v, (v - 1) / 2, s);
        }
    }
}

static void list_chain_by_rank(layout_t *layout)
{
    for (int32_t s = 0; s < layout->instance->n_segments; s++) {
        for (int32_t v = layout->instance->n_ranks - 1; v > 0; v--) {
            place(layout, v, v - 1, s);
        }
    }
}

static int32_t depth_of(int32_t u)
{
    int32_t depth = 0;
    for (; u > 0; u = (u - 1) / 2) {
        depth++;
    }
    return depth;
}

/* Two binary trees below the root, one mirrored, so that the inner ranks of one are leaves of the
 * other; each takes every second segment. Sends are listed in waves, each level two rounds behind
 * the one below. In segment order, a rank would wait as an inner rank before it sends as a leaf. */
static void list_double_tree(layout_t *layout)
{
    int32_t n_others = layout->instance->n_ranks - 1;
    int32_t n_segments = layout->instance->n_segments;
    int32_t deepest = depth_of(n_others - 1);
    for (int32_t wave = 0; wave < n_segments + 2 * deepest; wave++) {
        for (int32_t u = n_others - 1; u >= 0; u--) {
            int32_t s = wave - 2 * (deepest - depth_of(u)), parent = (u - 1) / 2;
            int32_t sender = s % 2 == 0 ? u + 1 : n_others - u;
            int32_t receiver = u == 0 ? 0 : s % 2 == 0 ? parent + 1 : n_others - parent;
            if (s >= 0 && s < n_segments) {
                place(layout, sender, receiver, s);
            }
        }
    }
}

/* ---- reduce-scatter, then gather ------------------------------------------------------------- */

/* In step k rank v passes on block v - k; after n - 1 steps it has block v + 1 complete. */
static void list_ring(layout_t *layout)
{
    int32_t n_ranks = layout->instance->n_ranks, n_segments = layout->instance->n_segments;
    for (int32_t step = 0; step < n_ranks - 1; step++) {
        for (int32_t v = 0; v < n_ranks; v++) {
            for (int32_t s = (v - step + n_ranks) % n_ranks; s < n_segments; s += n_ranks) {
                place(layout, v, (v + 1) % n_ranks, s);
            }
        }
    }
    for (int32_t s = 0; s < n_segments; s++) {
        int32_t owner = (s % n_ranks + n_ranks - 1) % n_ranks;
        if (owner != 0) {
            place(layout, owner, 0, s);
        }
    }
}

/* The partner takes one half of the range that both work on; the bit of the mask says which. */
static void halve(layout_t *layout, int32_t v, int32_t mask)
{
    int32_t middle = layout->low[v] + (layout->high[v] - layout->low[v]) / 2;
    int32_t from = (v & mask) == 0 ? middle : layout->low[v];
    int32_t to = (v & mask) == 0 ? layout->high[v] : middle;
    for (int32_t s = from; s < to; s++) {
        place(layout, v, v ^ mask, s);
    }
}

static void keep_half(layout_t *layout, int32_t v, int32_t mask)
{
    int32_t middle = layout->low[v] + (layout->high[v] - layout->low[v]) / 2;
    *((v & mask) == 0 ? &layout->high[v] : &layout->low[v]) = middle;
}

static void gather_halves(layout_t *layout, int32_t power)
{
    for (int32_t mask = 1; mask < power; mask *= 2) {
        for (int32_t v = mask; v < power; v += 2 * mask) {
            int32_t partner = v - mask;
            for (int32_t s = layout->low[v]; s < layout->high[v]; s++) {
                place(layout, v, partner, s);
            }
            layout->high[partner] = later(layout->high[partner], layout->high[v]);
        }
    }
}

/* Recursive halving, then a binomial gather. Ranks beyond the power of two first give everything
 * away. */
static void list_rabenseifner(layout_t *layout)
{
    int32_t n_ranks = layout->instance->n_ranks, power = 1;
    while (2 * power <= n_ranks) {
        power *= 2;
    }
    for (int32_t v = power; v < n_ranks; v++) {
        place_whole(layout, v, v - power);
    }
    for (int32_t v = 0; v < power; v++) {
        layout->low[v] = 0;
        layout->high[v] = layout->instance->n_segments;
    }
    for (int32_t mask = power / 2; mask > 0; mask /= 2) {
        for (int32_t v = 0; v < power; v++) {
            halve(layout, v, mask);
        }
        for (int32_t v = 0; v < power; v++) {
            keep_half(layout, v, mask);
        }
    }
    gather_halves(layout, power);
}

/* ---- a plan from a list ---------------------------------------------------------------------- */

static clv_status_t allocate(layout_t *layout)
{
    size_t n_ranks = (size_t) layout->instance->n_ranks;
    layout->arrived = clv_alloc(5 * n_ranks, sizeof *layout->arrived);
    layout->ready =
        clv_alloc(n_ranks * (size_t) layout->instance->n_segments, sizeof *layout->ready);
    if (layout->arrived == NULL || layout->ready == NULL) {
        return CLV_NO_MEMORY;
    }
    layout->next_send = layout->arrived + n_ranks;
    layout->next_receive = layout->next_send + n_ranks;
    layout->low = layout->next_receive + n_ranks;
    layout->high = layout->low + n_ranks;
    return clv_builder_init(&layout->builder, layout->instance);
}

static void start(layout_t *layout)
{
    const clv_instance_t *instance = layout->instance;
    const clv_rounds_t rounds = clv_sched_rounds(instance);

    for (int32_t v = 0; v < instance->n_ranks; v++) {
        layout->arrived[v] = clv_sched_arrival_round(instance, rounds, real_rank(layout, v));
        layout->next_send[v] = layout->arrived[v];
    }
}

static clv_status_t generate(const clv_instance_t *instance, list_t list, clv_plan_t **plan_p)
{
    layout_t layout = {.instance = instance};
    layout.status = allocate(&layout);
    if (layout.status == CLV_OK) {
        start(&layout);
        list(&layout);
    }
    if (layout.status == CLV_OK) {
        layout.status = clv_builder_sort(&layout.builder);
    }
    if (layout.status == CLV_OK) {
        layout.status = clv_builder_finish(&layout.builder, instance, plan_p);
    }
    clv_builder_drop(&layout.builder);
    clv_free(layout.ready);
    clv_free(layout.arrived);
    return layout.status;
}

#define CLASSIC(stem)                                                                              \
    clv_status_t clv_sched_##stem##_generate(const clv_instance_t *instance, clv_plan_t **plan_p)  \
    {                                                                                              \
        return generate(instance, list_##stem, plan_p);                                            \
    }

CLASSIC(binomial)
CLASSIC(binomial_pipelined)
CLASSIC(binary_tree)
CLASSIC(chain_by_rank)
CLASSIC(double_tree)
CLASSIC(ring)
CLASSIC(rabenseifner)
