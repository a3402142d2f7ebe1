/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Clairvoyant by segment tree: section 5.4 and Listing 8 of the paper, with its open cases
 * resolved as in sched_clairvoyant.c.
 *
 * Leaves are columns of N bits, one bit per segment held; an inner node is the OR of its children.
 * A rank has two leaves, seat and seat + P, so that members from the head on stand from left to
 * right: seats before the head use the second one. Only members free to send have their column in
 * the tree. A search ORs the nodes beside the way from the receiver's leaf to the top, masks the
 * result with what the receiver holds, and walks down to the leftmost leaf with that segment.
 *
 * Memory: 5 bits per (rank, segment), rounded up to vectors and the tree to a power of two.
 * Time: O(segments / vector width * log ranks) per search and per send.
 */
#include <string.h>

#include "schedule/sched_front.h"
#include "schedule/sched_generators.h"
#include "schedule/sched_instance.h"
#include "schedule/sched_plan.h"
#include "schedule/sched_simd.h"
#include "util/util_alloc.h"

/* A node is n_words long. The three operations on nodes, compiled per SIMD level: the compiler
 * makes of the 64-byte vector what the level has. */
typedef uint64_t word8_t __attribute__((vector_size(64), aligned(8), may_alias));

typedef struct node_ops {
    void (*or_into)(uint64_t *sum, const uint64_t *a, int32_t n_words);
    void (*or_of)(uint64_t *sum, const uint64_t *a, const uint64_t *b, int32_t n_words);
} node_ops_t;

#define NODE_OPS(level, target)                                                                    \
    static target void or_into_##level(uint64_t *sum, const uint64_t *a, int32_t n_words)          \
    {                                                                                              \
        if (1 == n_words) {                                                                        \
            sum[0] |= a[0];                                                                        \
            return;                                                                                \
        }                                                                                          \
        for (int32_t w = 0; w < n_words; w += 8) {                                                 \
            *(word8_t *) (sum + w) |= *(const word8_t *) (a + w);                                  \
        }                                                                                          \
    }                                                                                              \
    static target void or_of_##level(uint64_t *sum, const uint64_t *a, const uint64_t *b,          \
                                     int32_t n_words)                                              \
    {                                                                                              \
        if (1 == n_words) {                                                                        \
            sum[0] = a[0] | b[0];                                                                  \
            return;                                                                                \
        }                                                                                          \
        for (int32_t w = 0; w < n_words; w += 8) {                                                 \
            *(word8_t *) (sum + w) = *(const word8_t *) (a + w) | *(const word8_t *) (b + w);      \
        }                                                                                          \
    }

NODE_OPS(plain, )
#if CLV_SIMD_X86
NODE_OPS(avx2, __attribute__((target("avx2"))))
NODE_OPS(avx512, __attribute__((target("avx512f"))))
#endif

static const node_ops_t node_ops[CLV_N_SIMD] = {
    [CLV_SIMD_PLAIN] = {or_into_plain, or_of_plain},
#if CLV_SIMD_X86
    [CLV_SIMD_AVX2] = {or_into_avx2, or_of_avx2},
    [CLV_SIMD_AVX512] = {or_into_avx512, or_of_avx512},
#endif
};

typedef struct gift {
    int32_t seat;
    int32_t segment;
} gift_t;

typedef struct tree {
    const node_ops_t *ops;
    clv_front_t front;
    clv_builder_t builder;
    int32_t n_words;   /* of a node */
    int32_t n_leaves;  /* a power of two, at least 2 P */
    uint64_t *nodes;   /* node 1 is the top, leaf k is node n_leaves + k */
    uint64_t *columns; /* seat -> what it really holds: the saved copies of Listing 8 */
    uint64_t *united;  /* scratch of a search */
    int32_t *n_held;   /* by seat */
    gift_t *gifts;     /* received in this round (P' of the paper) */
    int32_t n_gifts;
    int32_t *senders; /* seats that sent in this round */
    int32_t n_senders;
    int32_t *order; /* the members from the head on */
    int32_t n_order;
    int32_t root; /* seat */
    void *memory;
} tree_t;

static uint64_t *node_of(const tree_t *tree, int32_t node)
{
    return tree->nodes + (size_t) node * (size_t) tree->n_words;
}

static uint64_t *column_of(const tree_t *tree, int32_t seat)
{
    return tree->columns + (size_t) seat * (size_t) tree->n_words;
}

static int32_t leaf_of(const tree_t *tree, int32_t seat)
{
    return tree->n_leaves + seat + (seat < tree->front.head ? tree->front.n_ranks : 0);
}

static int32_t seat_of_leaf(const tree_t *tree, int32_t leaf)
{
    int32_t place = leaf - tree->n_leaves;
    return place < tree->front.n_ranks ? place : place - tree->front.n_ranks;
}

static int has_bit(const uint64_t *bits, int32_t bit)
{
    return (int) (bits[bit / 64] >> (bit % 64) & 1);
}

static void set_bit(uint64_t *bits, int32_t bit, int value)
{
    uint64_t mask = UINT64_C(1) << (bit % 64);
    bits[bit / 64] = value ? bits[bit / 64] | mask : bits[bit / 64] & ~mask;
}

/* ---- the tree ------------------------------------------------------------------------------- */

/* A leaf changed as a whole: all nodes above it. */
static void update_up(const tree_t *tree, int32_t leaf)
{
    for (int32_t node = leaf / 2; node >= 1; node /= 2) {
        tree->ops->or_of(node_of(tree, node), node_of(tree, 2 * node), node_of(tree, 2 * node + 1),
                         tree->n_words);
    }
}

/* One bit of a leaf was cleared: that bit above it, as far as it changes. */
static void clear_up(const tree_t *tree, int32_t leaf, int32_t segment)
{
    set_bit(node_of(tree, leaf), segment, 0);
    for (int32_t node = leaf / 2; node >= 1; node /= 2) {
        if (has_bit(node_of(tree, 2 * node), segment) ||
            has_bit(node_of(tree, 2 * node + 1), segment)) {
            return;
        }
        set_bit(node_of(tree, node), segment, 0);
    }
}

static void rebuild(const tree_t *tree)
{
    size_t n_bytes = (size_t) tree->n_words * sizeof(uint64_t);
    memset(node_of(tree, tree->n_leaves), 0, (size_t) tree->n_leaves * n_bytes);
    for (int32_t k = 0; k < tree->n_order; k++) {
        memcpy(node_of(tree, leaf_of(tree, tree->order[k])), column_of(tree, tree->order[k]),
               n_bytes);
    }
    for (int32_t node = tree->n_leaves - 1; node >= 1; node--) {
        tree->ops->or_of(node_of(tree, node), node_of(tree, 2 * node), node_of(tree, 2 * node + 1),
                         tree->n_words);
    }
}

/* The lowest segment that anyone but this leaf can send and, for all but the sink, `mask` has. */
static int32_t find_segment(const tree_t *tree, int32_t leaf, const uint64_t *mask)
{
    memset(tree->united, 0, (size_t) tree->n_words * sizeof *tree->united);
    for (int32_t node = leaf; node > 1; node /= 2) {
        tree->ops->or_into(tree->united, node_of(tree, node ^ 1), tree->n_words);
    }
    for (int32_t w = 0; w < tree->n_words; w++) {
        uint64_t word = tree->united[w] & (NULL == mask ? ~UINT64_C(0) : mask[w]);
        if (0 != word) {
            return w * 64 + __builtin_ctzll(word);
        }
    }
    return -1;
}

static int32_t leftmost_below(const tree_t *tree, int32_t node, int32_t segment)
{
    while (node < tree->n_leaves) {
        node = 2 * node + !has_bit(node_of(tree, 2 * node), segment);
    }
    return node;
}

/* The leftmost leaf with the segment, `except` apart; it exists. If the leftmost is `except`, the
 * next one is in the first right-hand neighbour on the way up that has the segment. */
static int32_t find_leaf(const tree_t *tree, int32_t segment, int32_t except)
{
    int32_t leaf = leftmost_below(tree, 1, segment);
    if (leaf != except) {
        return leaf;
    }
    for (int32_t node = except; node > 1; node /= 2) {
        if (0 == node % 2 && has_bit(node_of(tree, node + 1), segment)) {
            return leftmost_below(tree, node + 1, segment);
        }
    }
    return -1;
}

/* ---- rounds --------------------------------------------------------------------------------- */

static void send_segment(tree_t *tree, int32_t sender, int32_t receiver, int32_t segment)
{
    const clv_front_t *front = &tree->front;
    int32_t leaf = leaf_of(tree, sender);

    clv_builder_put(&tree->builder, (int32_t) front->round, front->rank_at[sender],
                    front->rank_at[receiver], segment);
    tree->n_held[sender]--;
    tree->n_held[receiver] -= has_bit(column_of(tree, receiver), segment);
    set_bit(column_of(tree, sender), segment, 0);
    set_bit(column_of(tree, receiver), segment, 0);
    clear_up(tree, leaf_of(tree, receiver), segment);
    memset(node_of(tree, leaf), 0, (size_t) tree->n_words * sizeof(uint64_t));
    update_up(tree, leaf);
    tree->gifts[tree->n_gifts++] = (gift_t){receiver, segment};
    tree->senders[tree->n_senders++] = sender;
}

static void serve(tree_t *tree, int32_t receiver, int is_sink)
{
    int32_t leaf = leaf_of(tree, receiver);
    int32_t segment = find_segment(tree, leaf, is_sink ? NULL : column_of(tree, receiver));
    if (segment >= 0) {
        send_segment(tree, seat_of_leaf(tree, find_leaf(tree, segment, leaf)), receiver, segment);
    }
}

static void list_members(tree_t *tree)
{
    const clv_front_t *front = &tree->front;
    int32_t seat = front->head;
    tree->n_order = 0;
    while (tree->n_order < front->n_members) {
        tree->order[tree->n_order++] = seat;
        seat = clv_bits_next_circular(front->members, front->n_words,
                                      seat + 1 < front->n_ranks ? seat + 1 : 0);
    }
}

static void play_round(tree_t *tree)
{
    int32_t sink = has_bit(tree->front.members, tree->root) ? tree->root : tree->front.head;

    list_members(tree);
    rebuild(tree);
    tree->n_gifts = 0;
    tree->n_senders = 0;
    serve(tree, sink, 1);
    for (int32_t k = 0; k < tree->n_order; k++) {
        if (tree->order[k] != sink) {
            serve(tree, tree->order[k], 0);
        }
    }
}

static void close_round(tree_t *tree)
{
    clv_front_end_round(&tree->front);
    for (int32_t k = 0; k < tree->n_gifts; k++) {
        set_bit(column_of(tree, tree->gifts[k].seat), tree->gifts[k].segment, 1);
        tree->n_held[tree->gifts[k].seat]++;
    }
    for (int32_t k = 0; k < tree->n_senders; k++) {
        if (0 == tree->n_held[tree->senders[k]]) {
            clv_front_leave(&tree->front, tree->senders[k]);
        }
    }
}

static clv_status_t play(tree_t *tree)
{
    clv_status_t status;
    while (CLV_OK == (status = clv_front_next(&tree->front))) {
        if (CLV_OK != clv_builder_reserve(&tree->builder, tree->front.n_members)) {
            return CLV_NO_MEMORY;
        }
        play_round(tree);
        close_round(tree);
    }
    return CLV_NONE == status ? CLV_OK : status;
}

/* ---- start ---------------------------------------------------------------------------------- */

static clv_status_t carve(tree_t *tree, const clv_instance_t *instance)
{
    size_t n_ranks = (size_t) instance->n_ranks, n_words = (size_t) tree->n_words;
    size_t n_node_words = (2 * (size_t) tree->n_leaves + n_ranks + 1) * n_words;
    size_t n_ints = 5 * n_ranks;

    tree->memory = clv_alloc(n_node_words * sizeof(uint64_t) + n_ints * sizeof(int32_t), 1);
    if (NULL == tree->memory) {
        return CLV_NO_MEMORY;
    }
    tree->nodes = tree->memory;
    tree->columns = tree->nodes + 2 * (size_t) tree->n_leaves * n_words;
    tree->united = tree->columns + n_ranks * n_words;
    tree->n_held = (int32_t *) (tree->united + n_words);
    tree->senders = tree->n_held + n_ranks;
    tree->order = tree->senders + n_ranks;
    tree->gifts = (gift_t *) (tree->order + n_ranks);
    return CLV_OK;
}

static clv_status_t prepare(tree_t *tree, const clv_instance_t *instance)
{
    tree->ops = &node_ops[clv_simd_level()];
    tree->n_words = instance->n_segments <= 64 ? 1 : (instance->n_segments + 511) / 512 * 8;
    for (tree->n_leaves = 2; tree->n_leaves < 2 * instance->n_ranks;) {
        tree->n_leaves *= 2;
    }
    clv_status_t status = clv_front_init(&tree->front, instance);
    if (CLV_OK == status) {
        status = clv_builder_init(&tree->builder, instance);
    }
    if (CLV_OK == status) {
        status = carve(tree, instance);
    }
    if (CLV_OK != status) {
        return status;
    }
    tree->root = tree->front.seat_of[instance->root];
    for (int32_t seat = 0; seat < instance->n_ranks; seat++) {
        tree->n_held[seat] = instance->n_segments;
        for (int32_t s = 0; s < instance->n_segments; s++) {
            set_bit(column_of(tree, seat), s, 1);
        }
    }
    return CLV_OK;
}

clv_status_t clv_sched_segtree_generate(const clv_instance_t *instance, clv_plan_t **plan_p)
{
    tree_t tree = {.memory = NULL};
    clv_status_t status = prepare(&tree, instance);
    if (CLV_OK == status) {
        status = play(&tree);
    }
    if (CLV_OK == status) {
        status = clv_builder_finish(&tree.builder, instance, plan_p);
    }
    clv_free(tree.memory);
    clv_builder_drop(&tree.builder);
    clv_front_drop(&tree.front);
    return status;
}
