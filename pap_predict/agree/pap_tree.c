/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tree over host leaders and the layout of positions; see pap_tree.h.
 */
#include "pap_predict/agree/pap_tree.h"

#include "util/util_alloc.h"

#define MAX_LAYOUT_RANKS (1 << CLV_PAP_MAX_CHILDREN)

static int32_t low_bit(int32_t host)
{
    return host & -host;
}

int32_t clv_pap_tree_parent(int32_t host)
{
    return host == 0 ? -1 : host & (host - 1);
}

int32_t clv_pap_tree_n_children(int32_t n_hosts, int32_t host)
{
    int32_t n_children = 0;
    int32_t end = clv_pap_tree_subtree_end(n_hosts, host);
    for (int64_t step = 1; host + step < end; step *= 2) {
        n_children++;
    }
    return n_children;
}

int32_t clv_pap_tree_child(int32_t host, int32_t index)
{
    return host + (int32_t) (1u << index);
}

int32_t clv_pap_tree_subtree_end(int32_t n_hosts, int32_t host)
{
    int64_t end = host == 0 ? n_hosts : (int64_t) host + low_bit(host);
    return end < n_hosts ? (int32_t) end : n_hosts;
}

int32_t clv_pap_tree_depth(int32_t host)
{
    int32_t depth = 0;
    while (host != 0) {
        host = clv_pap_tree_parent(host);
        depth++;
    }
    return depth;
}

static bool valid_hosts(const int32_t *host_of_rank, int32_t n_ranks, int32_t n_hosts)
{
    if (n_ranks < 1 || n_ranks > MAX_LAYOUT_RANKS || n_hosts < 1 || n_hosts > n_ranks) {
        return false;
    }
    for (int32_t rank = 0; rank < n_ranks; rank++) {
        if (host_of_rank[rank] < 0 || host_of_rank[rank] >= n_hosts) {
            return false;
        }
    }
    return true;
}

/* A counting sort: count the ranks per host, sum up, then put each rank into its host's next
 * position. In the end first[] is shifted back to the beginnings. */
static bool sort_by_host(const int32_t *host_of_rank, clv_pap_layout_t *layout)
{
    int32_t *first = layout->first;
    for (int32_t rank = 0; rank < layout->n_ranks; rank++) {
        first[host_of_rank[rank] + 1]++;
    }
    for (int32_t host = 0; host < layout->n_hosts; host++) {
        if (first[host + 1] == 0) {
            return false;
        }
        first[host + 1] += first[host];
    }
    for (int32_t rank = 0; rank < layout->n_ranks; rank++) {
        int32_t position = first[host_of_rank[rank]]++;
        layout->rank_at[position] = rank;
        layout->position_of[rank] = position;
    }
    for (int32_t host = layout->n_hosts; host > 0; host--) {
        first[host] = first[host - 1];
    }
    first[0] = 0;
    return true;
}

clv_status_t clv_pap_layout_init(const int32_t *host_of_rank, int32_t n_ranks, int32_t n_hosts,
                                 clv_pap_layout_t *layout)
{
    if (!valid_hosts(host_of_rank, n_ranks, n_hosts)) {
        return CLV_INVALID;
    }
    clv_pap_layout_t made = {.n_ranks = n_ranks, .n_hosts = n_hosts};
    made.first = clv_alloc((size_t) n_hosts + 1, sizeof *made.first);
    made.rank_at = clv_alloc((size_t) n_ranks, sizeof *made.rank_at);
    made.position_of = clv_alloc((size_t) n_ranks, sizeof *made.position_of);
    if (made.first == NULL || made.rank_at == NULL || made.position_of == NULL) {
        clv_pap_layout_clear(&made);
        return CLV_NO_MEMORY;
    }
    if (!sort_by_host(host_of_rank, &made)) {
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
