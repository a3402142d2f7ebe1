/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The pipelined chain of a broadcast: every rank passes each segment on to the next, with the
 * latest rank last, so that no rank waits for data behind one that has not arrived yet.
 *
 *     root -> earliest -> ... -> latest        (ties by rank)
 *
 * Where ranks share hosts, the chain enters each host once: the root's first, then that of the
 * earliest rank, and so on; within a host, ranks are in order of arrival.
 *
 * A rank sends segment s in the first round in which it and its successor have arrived, it has the
 * segment, and segment s - 1 has left. Cost: O(ranks * (segments + log ranks)), 12 bytes per send.
 */
#include <stdlib.h>

#include "schedule/sched_generators.h"
#include "schedule/sched_instance.h"
#include "schedule/sched_plan.h"
#include "util/util_alloc.h"
#include "util/util_min_max.h"

typedef struct link {
    int64_t place_ns; /* first arrival in its place; before all in the root's place */
    int64_t order_ns;
    int32_t place; /* lowest rank of the place */
    int32_t rank;
} link_t;

static int compare_links(const void *a, const void *b)
{
    const link_t *x = a, *y = b;
    int order = clv_compare(x->place_ns, y->place_ns);

    order = order != 0 ? order : clv_compare(x->place, y->place);
    order = order != 0 ? order : clv_compare(x->order_ns, y->order_ns);
    return order != 0 ? order : clv_compare(x->rank, y->rank);
}

/* lowest: n_ranks numbers. chain[q].place_ns is first computed at the lowest rank q of each
 * place. */
static void sort_chain(const clv_instance_t *instance, link_t *chain, int32_t *lowest)
{
    const int32_t n_ranks = instance->n_ranks, root = instance->root;

    clv_sched_lowest_ranks(instance, lowest);
    for (int32_t p = 0; p < n_ranks; p++) {
        chain[p] = (link_t){.place_ns = INT64_MAX,
                            .order_ns = p == root ? -1 : clv_sched_order_ns(instance, p),
                            .place = lowest[clv_sched_place(instance, p)],
                            .rank = p};
    }
    for (int32_t p = 0; p < n_ranks; p++) {
        link_t *first = &chain[chain[p].place];
        first->place_ns = clv_smaller(first->place_ns, chain[p].order_ns);
    }
    for (int32_t p = 0; p < n_ranks; p++) {
        chain[p].place_ns = chain[chain[p].place].place_ns;
    }
    qsort(chain, (size_t) n_ranks, sizeof *chain, compare_links);
}

/* ready[s]: the first round in which the rank before it may send segment s. */
static void fill_chain(const clv_instance_t *instance, const link_t *chain, int64_t *ready,
                       clv_builder_t *builder)
{
    const clv_rounds_t rounds = clv_sched_rounds(instance);

    for (int32_t k = 0; k + 1 < instance->n_ranks; k++) {
        const int32_t from = chain[k].rank, to = chain[k + 1].rank;
        int64_t free_from = clv_larger(clv_sched_arrival_round(instance, rounds, from),
                                       clv_sched_arrival_round(instance, rounds, to));
        for (int32_t s = 0; s < instance->n_segments; s++) {
            const int64_t round = clv_larger(free_from, ready[s]);
            builder->sends[builder->n_sends++] =
                clv_send_of((int32_t) round, from, to, s, CLV_COPY);
            free_from = round + 1;
            ready[s] = round + 1;
        }
    }
}

clv_status_t clv_sched_bcast_chain_generate(const clv_instance_t *instance, clv_plan_t **plan_p)
{
    const size_t n_ranks = (size_t) instance->n_ranks, n_segments = (size_t) instance->n_segments;
    clv_builder_t builder = {0};
    clv_status_t status = CLV_NO_MEMORY;
    link_t *chain = clv_alloc(n_ranks, sizeof *chain);
    int64_t *ready = clv_alloc(n_segments, sizeof *ready);
    int32_t *lowest = clv_alloc(n_ranks, sizeof *lowest);

    if (chain != NULL && ready != NULL && lowest != NULL) {
        status = clv_builder_init(&builder, instance);
    }
    if (status == CLV_OK) {
        sort_chain(instance, chain, lowest);
        fill_chain(instance, chain, ready, &builder);
        status = clv_builder_sort(&builder);
    }
    if (status == CLV_OK) {
        status = clv_builder_finish(&builder, instance, plan_p);
    }
    clv_builder_drop(&builder);
    clv_free(lowest);
    clv_free(ready);
    clv_free(chain);
    return status;
}
