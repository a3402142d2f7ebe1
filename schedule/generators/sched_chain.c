/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The pipelined chain: every rank combines each segment with its own and passes it on; the last
 * rank is the root. Sorted by arrival, the latest rank is next to the root: when it arrives, the
 * others' work is done, and it only adds its part to finished sums. Or host after host, by rank.
 *
 *     earliest -> ... -> latest -> root        (ties by rank)
 *
 * A rank sends segment s in the first round in which it and its successor have arrived, it has
 * the segment complete from its predecessor, and segment s - 1 has left.
 * Cost: O(ranks * segments), 32 bytes per send while it is made.
 */
#include <stdlib.h>
#include <string.h>

#include "schedule/sched_generators.h"
#include "schedule/sched_instance.h"
#include "schedule/sched_fast_estimate.h"
#include "schedule/sched_plan.h"
#include "util/util_alloc.h"
#include "util/util_min_max.h"

typedef struct link {
    int64_t order_ns;
    int32_t rank;
} link_t;

static int compare_links(const void *a, const void *b)
{
    const link_t *x = a, *y = b;
    const int order = clv_compare(x->order_ns, y->order_ns);
    return order != 0 ? order : clv_compare(x->rank, y->rank);
}

static void sort_chain(const clv_instance_t *instance, link_t *chain)
{
    int32_t n_others = 0;
    for (int32_t p = 0; p < instance->n_ranks; p++) {
        if (p != instance->root) {
            chain[n_others++] = (link_t){clv_sched_order_ns(instance, p), p};
        }
    }
    qsort(chain, (size_t) n_others, sizeof *chain, compare_links);
    chain[n_others] = (link_t){0, instance->root};
}

clv_status_t clv_sched_chain_order(const clv_instance_t *instance, int32_t *ranks)
{
    link_t *chain = clv_alloc_unset((size_t) instance->n_ranks, sizeof *chain);

    if (chain == NULL) {
        return CLV_NO_MEMORY;
    }
    sort_chain(instance, chain);
    for (int32_t k = 0; k < instance->n_ranks; k++) {
        ranks[k] = chain[k].rank;
    }
    clv_free(chain);
    return CLV_OK;
}

/* The order without arrivals: place after place, by rank within each, downwards from the root's
 * place and rank. So the link of a place carries one vector each way. numbers: two per rank, by
 * place: which rank, counted from the root, is its first, and how many ranks come before its next
 * one. */
static void list_by_place(const clv_instance_t *instance, int32_t *numbers, int32_t *ranks)
{
    const int32_t n_ranks = instance->n_ranks;
    int32_t *first = numbers, *at = numbers + n_ranks, n_before = 0;

    memset(at, 0, (size_t) n_ranks * sizeof *at);
    for (int32_t v = n_ranks - 1, rank = instance->root; v >= 0; v--) {
        rank = rank == 0 ? n_ranks - 1 : rank - 1;
        first[instance->place[rank]] = v;
    }
    for (int32_t p = 0; p < n_ranks; p++) {
        at[first[instance->place[p]]]++;
    }
    for (int32_t v = 0; v < n_ranks; v++) {
        const int32_t n_here = at[v];
        at[v] = n_before;
        n_before += n_here;
    }
    for (int32_t v = 0, rank = instance->root; v < n_ranks; v++) {
        ranks[n_ranks - 1 - at[first[instance->place[rank]]]++] = rank;
        rank = rank == n_ranks - 1 ? 0 : rank + 1;
    }
}

static int32_t later(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* ready[s]: the first round in which the holder of segment s may send it. */
static void fill_chain(const clv_instance_t *instance, const int32_t *chain, int32_t *ready,
                       clv_builder_t *builder)
{
    const clv_rounds_t rounds = clv_sched_rounds(instance);

    for (int32_t k = 0; k + 1 < instance->n_ranks; k++) {
        int32_t free_from = later(clv_sched_arrival_round(instance, rounds, chain[k]),
                                  clv_sched_arrival_round(instance, rounds, chain[k + 1]));
        for (int32_t s = 0; s < instance->n_segments; s++) {
            int32_t round = later(free_from, ready[s]);
            clv_builder_put(builder, round, chain[k], chain[k + 1], s);
            free_from = round + 1;
            ready[s] = round + 1;
        }
    }
}

/* numbers: one per segment, two per rank. */
static clv_status_t fill(const clv_instance_t *instance, bool by_place, int32_t *numbers,
                         int32_t *chain, clv_builder_t *builder)
{
    int32_t *ready = numbers;
    clv_status_t status = CLV_OK;

    if (by_place) {
        list_by_place(instance, numbers + instance->n_segments, chain);
    } else {
        status = clv_sched_chain_order(instance, chain);
    }
    if (status == CLV_OK) {
        status = clv_builder_init(builder, instance);
    }
    if (status == CLV_OK) {
        fill_chain(instance, chain, ready, builder);
        status = clv_builder_sort(builder);
    }
    return status;
}

static clv_status_t make(const clv_instance_t *instance, bool by_place, clv_plan_t **plan_p)
{
    const size_t n_ranks = (size_t) instance->n_ranks, n_segments = (size_t) instance->n_segments;
    clv_builder_t builder = {0};
    clv_status_t status = CLV_NO_MEMORY;
    int32_t *chain = clv_alloc_unset(n_ranks, sizeof *chain);
    int32_t *numbers = clv_alloc(n_segments + 2 * n_ranks, sizeof *numbers);

    if (chain != NULL && numbers != NULL) {
        status = fill(instance, by_place, numbers, chain, &builder);
    }
    if (status == CLV_OK) {
        status = clv_builder_finish(&builder, instance, plan_p);
    }
    clv_builder_drop(&builder);
    clv_free(numbers);
    clv_free(chain);
    return status;
}

clv_status_t clv_sched_chain_generate(const clv_instance_t *instance, clv_plan_t **plan_p)
{
    return make(instance, false, plan_p);
}

/* All ranks are one chain. */
clv_status_t clv_sched_node_chain_fast(const clv_instance_t *instance, clv_fast_estimate_t **fast_p)
{
    const size_t n_ranks = (size_t) instance->n_ranks;
    clv_fast_estimate_t *fast = clv_fast_estimate_new(instance);
    int32_t *numbers = clv_alloc_unset(2 * n_ranks, sizeof *numbers);
    int32_t *place = clv_alloc_unset(n_ranks, sizeof *place);

    if (fast == NULL || numbers == NULL || place == NULL) {
        clv_free(place);
        clv_free(numbers);
        clv_fast_estimate_free(fast);
        return CLV_NO_MEMORY;
    }
    list_by_place(instance, numbers, fast->ranks);
    memcpy(place, instance->place, n_ranks * sizeof *place);
    fast->place = place;
    fast->n_sends = (int64_t) (instance->n_ranks - 1) * instance->n_segments;
    fast->chains[0] = (clv_chain_t){0, instance->n_ranks - 1, -1};
    fast->n_chains = 1;
    *fast_p = fast;
    clv_free(numbers);
    return CLV_OK;
}

clv_status_t clv_sched_node_chain_generate(const clv_instance_t *instance, clv_plan_t **plan_p)
{
    return clv_sched_instance_shares_place(instance)
               ? make(instance, true, plan_p)
               : clv_sched_chain_by_rank_generate(instance, plan_p);
}
