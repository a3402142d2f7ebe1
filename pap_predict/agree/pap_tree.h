/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tree over host leaders, and the position of each rank's record.
 * Private to the pap_predict module.
 *
 * Binomial tree: the parent of host i is i with its lowest set bit cleared (HCA3 pairs the same
 * hosts); host 0 is the top. The subtree of host i > 0 is the hosts i .. i + lowbit(i) - 1 that
 * exist, so with ranks laid out host by host ("positions") every subtree is one range.
 *
 *      0 -- 1        8 hosts: depth = number of set bits, at most ceil(log2 hosts)
 *      |--- 2 -- 3
 *      '--- 4 -- 5
 *           '--- 6 -- 7
 *
 * Pure; the layout's arrays come from clv_alloc.
 */
#ifndef CLV_PAP_TREE_H
#define CLV_PAP_TREE_H

#include <stdint.h>

#include "util/util_status.h"

#define CLV_PAP_MAX_CHILDREN 20 /* of one host: log2 CLV_PAP_MAX_RANKS */

int32_t clv_pap_tree_parent(int32_t host); /* -1 for host 0 */
int32_t clv_pap_tree_n_children(int32_t n_hosts, int32_t host);
int32_t clv_pap_tree_child(int32_t host, int32_t index);         /* index < n_children */
int32_t clv_pap_tree_subtree_end(int32_t n_hosts, int32_t host); /* one past its last host */
int32_t clv_pap_tree_depth(int32_t host);                        /* hops to host 0 */

typedef struct clv_pap_layout {
    int32_t n_ranks;
    int32_t n_hosts;
    int32_t *first;       /* n_hosts + 1 items: host i holds positions first[i] .. first[i+1]-1 */
    int32_t *rank_at;     /* position -> rank; within a host ranks ascend */
    int32_t *position_of; /* rank -> position */
} clv_pap_layout_t;

/* host_of_rank: n_ranks numbers in 0 .. n_hosts - 1, each host at least once; otherwise
 * CLV_INVALID. CLV_NO_MEMORY. The layout is written only on success. */
clv_status_t clv_pap_layout_init(const int32_t *host_of_rank, int32_t n_ranks, int32_t n_hosts,
                                 clv_pap_layout_t *layout) CLV_MUST_CHECK;
void clv_pap_layout_clear(clv_pap_layout_t *layout);

#endif
