/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Clairvoyant by segment tree: section 5.4 and Listing 8 of the paper, with its open cases
 * resolved as in sched_clairvoyant.c.
 *
 * Leaves are columns of N bits, one bit per segment held; an inner node is the OR of its children.
 * A rank has two leaves, seat and seat + P, which order the members left to right from the head on:
 * seats before the head use the second one. Only members free to send have their column in the
 * tree. A search ORs the nodes beside the path from the receiver's leaf to the top, masks the
 * result with the receiver's segments, and walks down to the leftmost leaf with that segment.
 *
 * Memory: 5 bits per (rank, segment), rounded up to vectors and the tree to a power of two.
 * Time: O(segments / vector width * log ranks) per search and per send.
 */
#define CLV_WITH_ORACLES

#include <string.h>

#include "schedule/generators/sched_active.h"
#include "schedule/sched_generators.h"
#include "schedule/sched_instance.h"
#include "schedule/sched_plan.h"
#include "schedule/generators/sched_simd.h"
#include "util/util_alloc.h"

static inline int32_t lowest_bit(const uint64_t *words, int32_t n_words)
{
    for (int32_t w = 0; w < n_words; w++) {
        if (words[w] != 0) {
            return w * 64 + __builtin_ctzll(words[w]);
        }
    }
    return -1;
}

/* Vectors may be loaded from any word and read as words. */
#define VECTOR_OF(n_bytes) __attribute__((vector_size(n_bytes), aligned(8), may_alias))

#define NODE_NAME(stem) stem##_word
#define NODE_TARGET
#define NODE_VECTOR uint64_t
#define NODE_ANY(v) (0 != (v))
#include "schedule/generators/sched_segtree_nodes.inc"

typedef uint64_t vector2_t VECTOR_OF(16);
#define NODE_NAME(stem) stem##_plain
#define NODE_TARGET
#define NODE_VECTOR vector2_t
#define NODE_ANY(v) (0 != ((v)[0] | (v)[1]))
#include "schedule/generators/sched_segtree_nodes.inc"

#if CLV_SIMD_X86
#include <immintrin.h>

typedef uint64_t vector4_t VECTOR_OF(32);
#define NODE_NAME(stem) stem##_avx2
#define NODE_TARGET     __attribute__((target("avx2,bmi")))
#define NODE_VECTOR     vector4_t
#define NODE_ANY(v)     (!_mm256_testz_si256((__m256i) (v), (__m256i) (v)))
#include "schedule/generators/sched_segtree_nodes.inc"

typedef uint64_t vector8_t VECTOR_OF(64);
#define NODE_NAME(stem) stem##_avx512
#define NODE_TARGET     __attribute__((target("avx512f,bmi")))
#define NODE_VECTOR     vector8_t
#define NODE_ANY(v)     (0 != _mm512_test_epi64_mask((__m512i) (v), (__m512i) (v)))
#include "schedule/generators/sched_segtree_nodes.inc"
#endif

typedef struct node_ops {
    int32_t step; /* words per vector */
    void (*empty)(uint64_t *nodes, uint32_t leaf, uint32_t n_words);
    void (*rebuild)(uint64_t *nodes, uint32_t n_leaves, uint32_t n_words);
    int32_t (*find)(uint64_t *nodes, uint32_t leaf, uint32_t n_words, uint64_t *mask);
} node_ops_t;

#define ROW(kind)                                                                                  \
    {                                                                                              \
        step_##kind, empty_##kind, rebuild_##kind, find_##kind                                     \
    }
static const node_ops_t one_word_ops = ROW(word);
static const node_ops_t node_ops[CLV_N_SIMD] = {
    [CLV_SIMD_PLAIN] = ROW(plain),
#if CLV_SIMD_X86
    [CLV_SIMD_AVX2] = ROW(avx2),
    [CLV_SIMD_AVX512] = ROW(avx512),
#endif
};

typedef struct gift {
    int32_t seat;
    int32_t segment;
} gift_t;

typedef struct tree {
    const node_ops_t *ops;
    clv_active_t active;
    clv_builder_t builder;
    int32_t n_words;   /* per node */
    int32_t n_leaves;  /* a power of two, at least 2 P */
    uint64_t *nodes;   /* node 1 is the top; leaf k is node n_leaves + k */
    uint64_t *columns; /* seat -> what it really holds: the saved copies of Listing 8 */
    uint64_t *all;     /* every segment */
    int32_t *n_held;   /* by seat */
    gift_t *gifts;     /* received in this round (P' of the paper) */
    int32_t n_gifts;
    int32_t *senders; /* seats that sent in this round */
    int32_t n_senders;
    int32_t *order; /* the members, from the head on */
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
    return tree->n_leaves + seat + (seat < tree->active.head ? tree->active.n_ranks : 0);
}

static int32_t seat_of_leaf(const tree_t *tree, int32_t leaf)
{
    int32_t place = leaf - tree->n_leaves;
    return place < tree->active.n_ranks ? place : place - tree->active.n_ranks;
}

static bool has_bit(const uint64_t *bits, int32_t bit)
{
    return bits[(uint32_t) bit / 64] >> (bit % 64) & 1;
}

static void set_bit(uint64_t *bits, int32_t bit, int value)
{
    uint64_t mask = UINT64_C(1) << (bit % 64);
    uint64_t *word = &bits[(uint32_t) bit / 64];
    *word = value ? *word | mask : *word & ~mask;
}

/* ---- the tree ------------------------------------------------------------------------------- */

/* Clears a bit of a leaf, if it is set, and updates that word of the nodes above. */
static void clear_up(const tree_t *tree, int32_t leaf, int32_t segment)
{
    size_t n_words = (size_t) tree->n_words;
    uint64_t *words = tree->nodes + (uint32_t) segment / 64;
    uint64_t bit = UINT64_C(1) << (segment % 64);
    uint64_t sum = words[(size_t) leaf * n_words] & ~bit;

    if (sum == words[(size_t) leaf * n_words]) {
        return;
    }
    words[(size_t) leaf * n_words] = sum;
    for (size_t node = (size_t) leaf; node > 1; node /= 2) {
        sum |= words[(node ^ 1) * n_words];
        words[node / 2 * n_words] = sum;
    }
}

static void rebuild(const tree_t *tree)
{
    size_t n_bytes = (size_t) tree->n_words * sizeof(uint64_t);
    memset(node_of(tree, tree->n_leaves), 0, (size_t) tree->n_leaves * n_bytes);
    for (int32_t k = 0; k < tree->n_order; k++) {
        int32_t leaf = leaf_of(tree, tree->order[k]);
        if (tree->n_words == 1) {
            tree->nodes[leaf] = tree->columns[tree->order[k]];
        } else {
            memcpy(node_of(tree, leaf), column_of(tree, tree->order[k]), n_bytes);
        }
    }
    tree->ops->rebuild(tree->nodes, (uint32_t) tree->n_leaves, (uint32_t) tree->n_words);
}

/* The leftmost leaf with the segment, which must exist. Without branches, since they would be
 * mispredicted once per search. */
static int32_t leftmost_leaf(const tree_t *tree, int32_t segment)
{
    const uint64_t *words = tree->nodes + (uint32_t) segment / 64;
    const uint64_t bit = UINT64_C(1) << (segment % 64);
    size_t n_words = (size_t) tree->n_words, node = 1;

    while (node < (size_t) tree->n_leaves) {
        node *= 2;
        node += (words[node * n_words] & bit) == 0;
    }
    return (int32_t) node;
}

/* ---- rounds --------------------------------------------------------------------------------- */

static void send_segment(tree_t *tree, int32_t sender, int32_t receiver, int32_t segment)
{
    const clv_active_t *active = &tree->active;

    clv_builder_put(&tree->builder, (int32_t) active->round, active->rank_at[sender],
                    active->rank_at[receiver], segment);
    tree->n_held[sender]--;
    tree->n_held[receiver] -= has_bit(column_of(tree, receiver), segment);
    set_bit(column_of(tree, sender), segment, 0);
    set_bit(column_of(tree, receiver), segment, 0);
    tree->ops->empty(tree->nodes, (uint32_t) leaf_of(tree, sender), (uint32_t) tree->n_words);
    tree->gifts[tree->n_gifts++] = (gift_t){receiver, segment};
    tree->senders[tree->n_senders++] = sender;
}

/* Clears the receiver's own bit first, so that the receiver does not find itself. It receives the
 * segment in this round, so it could not pass it on anyway. */
static void serve(tree_t *tree, int32_t receiver, bool is_sink)
{
    int32_t leaf = leaf_of(tree, receiver);
    int32_t segment = tree->ops->find(tree->nodes, (uint32_t) leaf, (uint32_t) tree->n_words,
                                      is_sink ? tree->all : column_of(tree, receiver));
    if (segment >= 0) {
        clear_up(tree, leaf, segment);
        send_segment(tree, seat_of_leaf(tree, leftmost_leaf(tree, segment)), receiver, segment);
    }
}

static void list_members(tree_t *tree)
{
    const clv_active_t *active = &tree->active;
    int32_t seat = active->head;
    tree->n_order = 0;
    while (tree->n_order < active->n_members) {
        tree->order[tree->n_order++] = seat;
        seat = clv_bits_next_circular(active->members, active->n_words,
                                      seat + 1 < active->n_ranks ? seat + 1 : 0);
    }
}

static void play_round(tree_t *tree)
{
    int32_t sink = has_bit(tree->active.members, tree->root) ? tree->root : tree->active.head;

    list_members(tree);
    rebuild(tree);
    tree->n_gifts = 0;
    tree->n_senders = 0;
    serve(tree, sink, true);
    for (int32_t k = 0; k < tree->n_order; k++) {
        if (tree->order[k] != sink) {
            serve(tree, tree->order[k], false);
        }
    }
}

static void close_round(tree_t *tree)
{
    clv_active_end_round(&tree->active);
    for (int32_t k = 0; k < tree->n_gifts; k++) {
        set_bit(column_of(tree, tree->gifts[k].seat), tree->gifts[k].segment, 1);
        tree->n_held[tree->gifts[k].seat]++;
    }
    for (int32_t k = 0; k < tree->n_senders; k++) {
        if (tree->n_held[tree->senders[k]] == 0) {
            clv_active_leave(&tree->active, tree->senders[k]);
        }
    }
}

static clv_status_t play(tree_t *tree)
{
    clv_status_t status;
    while ((status = clv_active_next(&tree->active)) == CLV_OK) {
        if (clv_builder_reserve(&tree->builder, tree->active.n_members) != CLV_OK) {
            return CLV_NO_MEMORY;
        }
        play_round(tree);
        close_round(tree);
    }
    return status == CLV_NONE ? CLV_OK : status;
}

/* ---- start ---------------------------------------------------------------------------------- */

static clv_status_t carve(tree_t *tree, const clv_instance_t *instance)
{
    size_t n_ranks = (size_t) instance->n_ranks, n_words = (size_t) tree->n_words;
    size_t n_node_words = (2 * (size_t) tree->n_leaves + n_ranks + 1) * n_words;
    size_t n_ints = 5 * n_ranks;

    tree->memory = clv_alloc(n_node_words * sizeof(uint64_t) + n_ints * sizeof(int32_t), 1);
    if (tree->memory == NULL) {
        return CLV_NO_MEMORY;
    }
    tree->nodes = tree->memory;
    tree->columns = tree->nodes + 2 * (size_t) tree->n_leaves * n_words;
    tree->all = tree->columns + n_ranks * n_words;
    tree->n_held = (int32_t *) (tree->all + n_words);
    tree->senders = tree->n_held + n_ranks;
    tree->order = tree->senders + n_ranks;
    tree->gifts = (gift_t *) (tree->order + n_ranks);
    return CLV_OK;
}

/* Every rank holds every segment. */
static void fill(tree_t *tree, const clv_instance_t *instance)
{
    for (int32_t s = 0; s < instance->n_segments; s++) {
        set_bit(tree->all, s, 1);
    }
    for (int32_t seat = 0; seat < instance->n_ranks; seat++) {
        tree->n_held[seat] = instance->n_segments;
        memcpy(column_of(tree, seat), tree->all, (size_t) tree->n_words * sizeof *tree->all);
    }
}

static clv_status_t prepare(tree_t *tree, const clv_instance_t *instance)
{
    tree->ops = instance->n_segments <= 64 ? &one_word_ops : &node_ops[clv_simd_level()];
    tree->n_words =
        (instance->n_segments - 1) / (64 * tree->ops->step) * tree->ops->step + tree->ops->step;
    for (tree->n_leaves = 2; tree->n_leaves < 2 * instance->n_ranks;) {
        tree->n_leaves *= 2;
    }
    clv_status_t status = clv_active_init(&tree->active, instance);
    if (status == CLV_OK) {
        status = clv_builder_init(&tree->builder, instance);
    }
    if (status == CLV_OK) {
        status = carve(tree, instance);
    }
    if (status != CLV_OK) {
        return status;
    }
    tree->root = tree->active.seat_of[instance->root];
    fill(tree, instance);
    return CLV_OK;
}

clv_status_t clv_sched_segtree_generate(const clv_instance_t *instance, clv_plan_t **plan_p)
{
    tree_t tree = {.memory = NULL};
    clv_status_t status = prepare(&tree, instance);
    if (status == CLV_OK) {
        status = play(&tree);
    }
    if (status == CLV_OK) {
        status = clv_builder_finish(&tree.builder, instance, plan_p);
    }
    clv_free(tree.memory);
    clv_builder_drop(&tree.builder);
    clv_active_drop(&tree.active);
    return status;
}
