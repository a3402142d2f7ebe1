/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tree over node leaders and the layout of positions; see pap_tree.h.
 */
#include "pap_predict/agree/pap_tree.h"

#include "util/util_alloc.h"

#define MAX_LAYOUT_RANKS (1 << CLV_PAP_MAX_CHILDREN)

static int32_t low_bit(int32_t node)
{
    return node & -node;
}

int32_t clv_pap_tree_parent(int32_t node)
{
    return node == 0 ? -1 : node & (node - 1);
}

int32_t clv_pap_tree_n_children(int32_t n_nodes, int32_t node)
{
    int32_t n_children = 0;
    int32_t end = clv_pap_tree_subtree_end(n_nodes, node);
    for (int64_t step = 1; node + step < end; step *= 2) {
        n_children++;
    }
    return n_children;
}

int32_t clv_pap_tree_child(int32_t node, int32_t index)
{
    return node + (int32_t) (1u << index);
}

int32_t clv_pap_tree_subtree_end(int32_t n_nodes, int32_t node)
{
    int64_t end = node == 0 ? n_nodes : (int64_t) node + low_bit(node);
    return end < n_nodes ? (int32_t) end : n_nodes;
}

int32_t clv_pap_tree_depth(int32_t node)
{
    int32_t depth = 0;
    while (node != 0) {
        node = clv_pap_tree_parent(node);
        depth++;
    }
    return depth;
}

static bool valid_nodes(const int32_t *node_of_rank, int32_t n_ranks, int32_t n_nodes)
{
    if (n_ranks < 1 || n_ranks > MAX_LAYOUT_RANKS || n_nodes < 1 || n_nodes > n_ranks) {
        return false;
    }
    for (int32_t rank = 0; rank < n_ranks; rank++) {
        if (node_of_rank[rank] < 0 || node_of_rank[rank] >= n_nodes) {
            return false;
        }
    }
    return true;
}

/* A counting sort: count the ranks per node, sum up, then put each rank into its node's next
 * position. In the end first[] is shifted back to the beginnings. */
static bool sort_by_node(const int32_t *node_of_rank, clv_pap_layout_t *layout)
{
    int32_t *first = layout->first;
    for (int32_t rank = 0; rank < layout->n_ranks; rank++) {
        first[node_of_rank[rank] + 1]++;
    }
    for (int32_t node = 0; node < layout->n_nodes; node++) {
        if (first[node + 1] == 0) {
            return false;
        }
        first[node + 1] += first[node];
    }
    for (int32_t rank = 0; rank < layout->n_ranks; rank++) {
        int32_t position = first[node_of_rank[rank]]++;
        layout->rank_at[position] = rank;
        layout->position_of[rank] = position;
    }
    for (int32_t node = layout->n_nodes; node > 0; node--) {
        first[node] = first[node - 1];
    }
    first[0] = 0;
    return true;
}

clv_status_t clv_pap_layout_init(const int32_t *node_of_rank, int32_t n_ranks, int32_t n_nodes,
                                 clv_pap_layout_t *layout)
{
    if (!valid_nodes(node_of_rank, n_ranks, n_nodes)) {
        return CLV_INVALID;
    }
    clv_pap_layout_t made = {.n_ranks = n_ranks, .n_nodes = n_nodes};
    made.first = clv_alloc((size_t) n_nodes + 1, sizeof *made.first);
    made.rank_at = clv_alloc((size_t) n_ranks, sizeof *made.rank_at);
    made.position_of = clv_alloc((size_t) n_ranks, sizeof *made.position_of);
    if (made.first == NULL || made.rank_at == NULL || made.position_of == NULL) {
        clv_pap_layout_clear(&made);
        return CLV_NO_MEMORY;
    }
    if (!sort_by_node(node_of_rank, &made)) {
        clv_pap_layout_clear(&made);
        return CLV_INVALID;
    }
    *layout = made;
    return CLV_OK;
}

void clv_pap_layout_clear(clv_pap_layout_t *layout)
{
    clv_free(layout->first);
    clv_free(layout->rank_at);
    clv_free(layout->position_of);
    *layout = (clv_pap_layout_t){0};
}
