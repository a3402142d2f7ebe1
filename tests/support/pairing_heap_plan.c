/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The same schedule by the method ascribed to the paper's predecessor: per segment a pairing heap
 * of the members that hold the segment and are free to send, in group order; a handle per cell. A
 * rank that sends leaves all its heaps at once and returns at the end of the round (section 4.1 of
 * the paper, erasing immediately).
 *
 * Not for use, only for comparison. Keys are seats counted from the head of the round, so heaps are
 * rebuilt when the head moves or ranks join or leave.
 */
#include "tests/support/pairing_heap_plan.h"

#include <string.h>

#include "schedule/generators/sched_active.h"
#include "schedule/sched_plan.h"
#include "util/util_alloc.h"
#include "util/util_time.h"

clv_heap_counts_t clv_pairing_heap_counts;

/* A cell's node in its segment's heap. Indexes are seats; -1 is none. */
typedef struct node {
    int32_t child;
    int32_t next;
    int32_t previous; /* elder sibling, or parent of a first child */
    uint8_t inside;
    uint8_t held;
} node_t;

typedef struct heaps {
    clv_active_t active;
    clv_builder_t builder;
    int32_t n_ranks;
    int32_t n_segments;
    node_t *nodes;     /* segment-major: the nodes of a heap are contiguous */
    int32_t *tops;     /* by segment */
    int32_t *n_held;   /* by seat */
    int32_t *got;      /* by seat, -1 none */
    uint8_t *in_round; /* by seat: a member that has not sent */
    int32_t *order;    /* members from the head on */
    int32_t n_order;
    int32_t head;
} heaps_t;

static node_t *node(const heaps_t *heaps, int32_t segment, int32_t seat)
{
    return &heaps->nodes[(size_t) segment * (size_t) heaps->n_ranks + (size_t) seat];
}

static int32_t key(const heaps_t *heaps, int32_t seat)
{
    return seat >= heaps->head ? seat - heaps->head : seat - heaps->head + heaps->n_ranks;
}

static int32_t meld(const heaps_t *heaps, int32_t segment, int32_t a, int32_t b)
{
    if (a < 0 || b < 0) {
        return a < 0 ? b : a;
    }
    int32_t top = key(heaps, a) < key(heaps, b) ? a : b;
    int32_t below = top == a ? b : a;
    node_t *parent = node(heaps, segment, top), *child = node(heaps, segment, below);
    child->next = parent->child;
    child->previous = top;
    if (parent->child >= 0) {
        node(heaps, segment, parent->child)->previous = below;
    }
    parent->child = below;
    return top;
}

/* Melds a list of siblings: in pairs, then the pairs from the last to the first. */
static int32_t meld_siblings(const heaps_t *heaps, int32_t segment, int32_t first)
{
    int32_t pairs = -1, top = -1;
    while (first >= 0) {
        int32_t a = first, b = node(heaps, segment, a)->next;
        first = b >= 0 ? node(heaps, segment, b)->next : -1;
        node(heaps, segment, a)->next = -1;
        if (b >= 0) {
            node(heaps, segment, b)->next = -1;
        }
        int32_t both = meld(heaps, segment, a, b);
        node(heaps, segment, both)->next = pairs;
        pairs = both;
    }
    while (pairs >= 0) {
        int32_t rest = node(heaps, segment, pairs)->next;
        node(heaps, segment, pairs)->next = -1;
        top = meld(heaps, segment, top, pairs);
        pairs = rest;
    }
    return top;
}

static void insert(heaps_t *heaps, int32_t segment, int32_t seat)
{
    node_t *cell = node(heaps, segment, seat);
    clv_pairing_heap_counts.inserts++;
    cell->child = cell->next = cell->previous = -1;
    cell->inside = 1;
    heaps->tops[segment] = meld(heaps, segment, heaps->tops[segment], seat);
}

static void unlink_from_siblings(const heaps_t *heaps, int32_t segment, int32_t seat)
{
    node_t *cell = node(heaps, segment, seat);
    node_t *previous = node(heaps, segment, cell->previous);
    if (previous->child == seat) {
        previous->child = cell->next;
    } else {
        previous->next = cell->next;
    }
    if (cell->next >= 0) {
        node(heaps, segment, cell->next)->previous = cell->previous;
    }
    cell->next = -1;
}

static void erase(heaps_t *heaps, int32_t segment, int32_t seat)
{
    node_t *cell = node(heaps, segment, seat);
    if (!cell->inside) {
        return;
    }
    cell->inside = 0;
    clv_pairing_heap_counts.erasures++;
    int32_t children = meld_siblings(heaps, segment, cell->child);
    cell->child = -1;
    if (heaps->tops[segment] == seat) {
        heaps->tops[segment] = children;
    } else {
        unlink_from_siblings(heaps, segment, seat);
        heaps->tops[segment] = meld(heaps, segment, heaps->tops[segment], children);
    }
}

/* The first free holder other than the receiver. */
static int32_t find_peer(heaps_t *heaps, int32_t segment, int32_t receiver)
{
    int32_t top = heaps->tops[segment];
    if (top != receiver) {
        return top;
    }
    erase(heaps, segment, receiver);
    top = heaps->tops[segment];
    insert(heaps, segment, receiver);
    return top;
}

static void send_segment(heaps_t *heaps, int32_t sender, int32_t receiver, int32_t segment)
{
    const clv_active_t *active = &heaps->active;
    clv_builder_put(&heaps->builder, (int32_t) active->round, active->rank_at[sender],
                    active->rank_at[receiver], segment);
    erase(heaps, segment, receiver);
    for (int32_t s = 0; s < heaps->n_segments; s++) {
        erase(heaps, s, sender);
    }
    heaps->in_round[sender] = 0;
    heaps->n_held[sender]--;
    heaps->n_held[receiver] -= node(heaps, segment, receiver)->held;
    node(heaps, segment, sender)->held = 0;
    node(heaps, segment, receiver)->held = 0;
    heaps->got[receiver] = segment;
}

static void serve(heaps_t *heaps, int32_t receiver, int is_sink)
{
    for (int32_t s = 0; s < heaps->n_segments; s++) {
        if (is_sink || node(heaps, s, receiver)->held) {
            int32_t peer = find_peer(heaps, s, receiver);
            if (peer >= 0) {
                send_segment(heaps, peer, receiver, s);
                return;
            }
        }
    }
}

/* Lists the members of the round in order. A moved head changes every key, so all heaps are
 * rebuilt. */
static void open_round(heaps_t *heaps)
{
    const clv_active_t *active = &heaps->active;
    int moved = heaps->head != active->head;
    heaps->head = active->head;
    heaps->n_order = 0;
    for (int32_t s = 0; moved && s < heaps->n_segments; s++) {
        heaps->tops[s] = -1;
        for (int32_t seat = 0; seat < heaps->n_ranks; seat++) {
            node(heaps, s, seat)->inside = 0;
        }
    }
    for (int32_t k = 0; k < heaps->n_ranks; k++) {
        int32_t seat = (active->head + k) % heaps->n_ranks;
        if ((active->members[seat / 64] >> (seat % 64) & 1) == 0) {
            continue;
        }
        heaps->order[heaps->n_order++] = seat;
        heaps->in_round[seat] = 1;
        heaps->got[seat] = -1;
        for (int32_t s = 0; s < heaps->n_segments; s++) {
            if (node(heaps, s, seat)->held && !node(heaps, s, seat)->inside) {
                insert(heaps, s, seat);
            }
        }
    }
}

/* Forms the next group (Lemma 2), and measures its cost. */
static clv_status_t next_group(heaps_t *heaps)
{
    const int64_t begun_ns = clv_local_now_ns();
    const clv_status_t status = clv_active_next(&heaps->active);
    clv_pairing_heap_counts.group_ns += clv_local_now_ns() - begun_ns;
    clv_pairing_heap_counts.group_rounds++;
    clv_pairing_heap_counts.group_joins += heaps->active.n_joined;
    return status;
}

static void close_round(heaps_t *heaps)
{
    clv_active_end_round(&heaps->active);
    for (int32_t k = 0; k < heaps->n_order; k++) {
        int32_t seat = heaps->order[k];
        if (heaps->got[seat] >= 0) {
            node(heaps, heaps->got[seat], seat)->held = 1;
            heaps->n_held[seat]++;
        }
    }
    for (int32_t k = 0; k < heaps->n_order; k++) {
        if (heaps->n_held[heaps->order[k]] == 0) {
            clv_active_leave(&heaps->active, heaps->order[k]);
        }
    }
}

static clv_status_t play(heaps_t *heaps, int32_t root)
{
    clv_status_t status;
    while ((status = next_group(heaps)) == CLV_OK) {
        if (clv_builder_reserve(&heaps->builder, heaps->active.n_members) != CLV_OK) {
            return CLV_NO_MEMORY;
        }
        open_round(heaps);
        int root_is_in = (int) (heaps->active.members[root / 64] >> (root % 64) & 1);
        int32_t sink = root_is_in ? root : heaps->head;
        serve(heaps, sink, 1);
        for (int32_t k = 0; k < heaps->n_order; k++) {
            if (heaps->order[k] != sink) {
                serve(heaps, heaps->order[k], 0);
            }
        }
        close_round(heaps);
    }
    return status == CLV_NONE ? CLV_OK : status;
}

static clv_status_t allocate(heaps_t *heaps, const clv_instance_t *instance)
{
    size_t n_ranks = (size_t) instance->n_ranks, n_segments = (size_t) instance->n_segments;
    heaps->nodes = clv_alloc(n_ranks * n_segments, sizeof *heaps->nodes);
    heaps->tops = clv_alloc(n_segments, sizeof *heaps->tops);
    heaps->n_held = clv_alloc(n_ranks, sizeof *heaps->n_held);
    heaps->got = clv_alloc(n_ranks, sizeof *heaps->got);
    heaps->in_round = clv_alloc(n_ranks, sizeof *heaps->in_round);
    heaps->order = clv_alloc(n_ranks, sizeof *heaps->order);
    if (heaps->nodes == NULL || heaps->tops == NULL || heaps->n_held == NULL ||
        heaps->got == NULL || heaps->in_round == NULL || heaps->order == NULL) {
        return CLV_NO_MEMORY;
    }
    clv_status_t status = clv_active_init(&heaps->active, instance);
    return status == CLV_OK ? clv_builder_init(&heaps->builder, instance) : status;
}

static void start(heaps_t *heaps)
{
    heaps->head = -1;
    for (int32_t seat = 0; seat < heaps->n_ranks; seat++) {
        heaps->n_held[seat] = heaps->n_segments;
        for (int32_t s = 0; s < heaps->n_segments; s++) {
            node(heaps, s, seat)->held = 1;
        }
    }
}

clv_status_t clv_pairing_heap_generate(const clv_instance_t *instance, clv_plan_t **plan_p)
{
    heaps_t heaps = {.n_ranks = instance->n_ranks, .n_segments = instance->n_segments};
    clv_status_t status = allocate(&heaps, instance);
    if (status == CLV_OK) {
        start(&heaps);
        status = play(&heaps, heaps.active.seat_of[instance->root]);
    }
    if (status == CLV_OK) {
        status = clv_builder_finish(&heaps.builder, instance, plan_p);
    }
    clv_builder_drop(&heaps.builder);
    clv_active_drop(&heaps.active);
    clv_free(heaps.order);
    clv_free(heaps.in_round);
    clv_free(heaps.got);
    clv_free(heaps.n_held);
    clv_free(heaps.tops);
    clv_free(heaps.nodes);
    return status;
}
