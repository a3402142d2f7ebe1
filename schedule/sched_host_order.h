/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The host order of ranks that share hosts: the host (place) of each rank, and the order of ranks
 * within a host. One host order serves all plans and fast estimates for one forecast: another
 * number of segments, another rounding or clipping of times hardly ever moves a rank past another
 * one of its host.
 *
 *     place 7: r, r, r, r     host 0      places are counted anew, from 0 on and without gaps
 *     place 9: r, r, R        host 1      the root is the last of its host
 *
 * Not: an input of the plan. The generators "node-..." sort with a host order or without, to the
 * same result; with one that is nearly sorted they only look at each rank once. PURE.
 *
 * Units: int64 ns.
 * Errors: CLV_INVALID, CLV_NO_MEMORY; outputs are set only on CLV_OK.
 * Memory: a host order is its caller's to free; 16 bytes per rank.
 * Threads: safe on distinct host orders; one that is made is only read.
 */
#ifndef CLV_SCHED_HOST_ORDER_H
#define CLV_SCHED_HOST_ORDER_H

#include <stdbool.h>

#include "schedule/schedule.h"

struct clv_host_order {
    int32_t n_ranks;
    int32_t root;
    int32_t n_hosts;
    int32_t root_host;
    int32_t *place;    /* of each rank */
    int32_t *first;    /* host k is [first[k]] .. [first[k + 1] - 1] of the lists */
    int32_t *by_rank;  /* host after host, rising */
    int32_t *by_order; /* host after host, by (order, rank) */
};

/* Of the instance's ranks, root, places and order; rounds do not matter. O(ranks * log ranks). */
clv_status_t clv_host_order_make(const clv_instance_t *instance,
                                 clv_host_order_t **host_order_p) CLV_MUST_CHECK;
void clv_host_order_free(clv_host_order_t *host_order);

/* Whether it is of these ranks, this root and these places. */
bool clv_host_order_fits(const clv_host_order_t *host_order, const clv_instance_t *instance);

/* Lists the ranks by the instance's own order, host after host as in by_order. O(ranks) where that
 * is nearly the host order's, O(ranks * log ranks) else. */
clv_status_t clv_host_order_sort(const clv_host_order_t *host_order, const clv_instance_t *instance,
                                 int32_t *ranks) CLV_MUST_CHECK;

#endif
