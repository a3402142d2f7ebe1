/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Host orders: ranks counted by host, and sorted within each (see sched_host_order.h).
 *
 * Not: instances without shared places. Cost: see the header. Thread-safe.
 */
#include "schedule/sched_host_order.h"

#include <string.h>

#include "schedule/sched_instance.h"
#include "util/util_alloc.h"
#include "util/util_min_max.h"

#define MOST_MOVES 4 /* per rank; beyond that insertion stops and the whole host is merged */

/* ---- making one ------------------------------------------------------------------------------ */

/* 1, or 0 without memory. */
static bool allocate(clv_host_order_t *host_order)
{
    const size_t n_ranks = (size_t) host_order->n_ranks;

    host_order->place = clv_alloc_unset(n_ranks, sizeof *host_order->place);
    host_order->first = clv_alloc(n_ranks + 1, sizeof *host_order->first);
    host_order->by_rank = clv_alloc_unset(n_ranks, sizeof *host_order->by_rank);
    host_order->by_order = clv_alloc_unset(n_ranks, sizeof *host_order->by_order);
    return host_order->place != NULL && host_order->first != NULL && host_order->by_rank != NULL &&
           host_order->by_order != NULL;
}

void clv_host_order_free(clv_host_order_t *host_order)
{
    if (host_order != NULL) {
        clv_free(host_order->by_order);
        clv_free(host_order->by_rank);
        clv_free(host_order->first);
        clv_free(host_order->place);
        clv_free(host_order);
    }
}

/* Numbers hosts in the order of their places: host[place]. Sets where the ranks of each begin. */
static void count_hosts(clv_host_order_t *host_order, int32_t *host)
{
    int32_t n_before = 0;

    memset(host, 0, (size_t) host_order->n_ranks * sizeof *host);
    for (int32_t p = 0; p < host_order->n_ranks; p++) {
        host[host_order->place[p]]++;
    }
    for (int32_t place = 0; place < host_order->n_ranks; place++) {
        const int32_t n_here = host[place];
        if (n_here > 0) {
            host[place] = host_order->n_hosts;
            host_order->first[host_order->n_hosts++] = n_before;
            n_before += n_here;
        }
    }
    host_order->root_host = host[host_order->place[host_order->root]];
}

/* first[] is used as the next free position of each host, and then restored. */
static void list_by_rank(clv_host_order_t *host_order, const int32_t *host)
{
    for (int32_t p = 0; p < host_order->n_ranks; p++) {
        if (p != host_order->root) {
            host_order->by_rank[host_order->first[host[host_order->place[p]]]++] = p;
        }
    }
    host_order->by_rank[host_order->first[host_order->root_host]++] = host_order->root;
    memmove(host_order->first + 1, host_order->first,
            (size_t) host_order->n_hosts * sizeof *host_order->first);
    host_order->first[0] = 0;
}

static clv_status_t fill(clv_host_order_t *host_order, const clv_instance_t *instance)
{
    if (!allocate(host_order)) {
        return CLV_NO_MEMORY;
    }
    for (int32_t p = 0; p < host_order->n_ranks; p++) {
        host_order->place[p] = clv_sched_place(instance, p);
    }
    count_hosts(host_order, host_order->by_order);
    list_by_rank(host_order, host_order->by_order);
    memcpy(host_order->by_order, host_order->by_rank,
           (size_t) host_order->n_ranks * sizeof *host_order->by_rank);
    return clv_host_order_sort(host_order, instance, host_order->by_order);
}

clv_status_t clv_host_order_make(const clv_instance_t *instance, clv_host_order_t **host_order_p)
{
    clv_instance_t asked = *instance;
    const char *reason;
    clv_status_t status;
    clv_host_order_t *host_order;

    asked.round_ns = INT64_MAX;
    asked.host_order = NULL;
    status = clv_instance_check(&asked, &reason);

    if (status != CLV_OK) {
        return status;
    }
    host_order = clv_alloc(1, sizeof *host_order);
    if (host_order == NULL) {
        return CLV_NO_MEMORY;
    }
    host_order->n_ranks = instance->n_ranks;
    host_order->root = instance->root;
    status = fill(host_order, instance);
    if (status == CLV_OK) {
        *host_order_p = host_order;
    } else {
        clv_host_order_free(host_order);
    }
    return status;
}

bool clv_host_order_fits(const clv_host_order_t *host_order, const clv_instance_t *instance)
{
    return host_order->n_ranks == instance->n_ranks && host_order->root == instance->root &&
           instance->place != NULL &&
           memcmp(host_order->place, instance->place,
                  (size_t) host_order->n_ranks * sizeof *host_order->place) == 0;
}

/* ---- sorting --------------------------------------------------------------------------------- */

static bool is_behind(const int64_t *order_ns, int32_t a, int32_t b)
{
    return order_ns[a] != order_ns[b] ? order_ns[a] > order_ns[b] : a > b;
}

static bool is_sorted(const int64_t *order_ns, const int32_t *ranks, int32_t n)
{
    int32_t i = 1;
    while (i < n && !is_behind(order_ns, ranks[i - 1], ranks[i])) {
        i++;
    }
    return i >= n;
}

/* Insertion sort. 0: it took too many moves; all ranks are there, but not sorted. */
static bool insert_all(const int64_t *order_ns, int32_t *ranks, int32_t n)
{
    int32_t n_moves = 0;

    for (int32_t i = 1; i < n && n_moves <= MOST_MOVES * n; i++) {
        const int32_t rank = ranks[i];
        int32_t at = i;
        while (at > 0 && is_behind(order_ns, ranks[at - 1], rank)) {
            ranks[at] = ranks[at - 1];
            at--;
        }
        ranks[at] = rank;
        n_moves += i - at;
    }
    return n_moves <= MOST_MOVES * n;
}

/* Merges from[left .. middle - 1] and from[middle .. right - 1] into to[left ..]. */
static void merge(const int64_t *order_ns, const int32_t *from, int32_t left, int32_t middle,
                  int32_t right, int32_t *to)
{
    int32_t a = left, b = middle;

    for (int32_t i = left; i < right; i++) {
        const bool takes_b = a == middle || (b < right && is_behind(order_ns, from[a], from[b]));
        to[i] = takes_b ? from[b] : from[a];
        a += !takes_b;
        b += takes_b;
    }
}

static void merge_all(const int64_t *order_ns, int32_t *ranks, int32_t n, int32_t *scratch)
{
    int32_t *from = ranks, *to = scratch;

    for (int32_t width = 1; width < n; width *= 2) {
        for (int32_t left = 0; left < n; left += 2 * width) {
            merge(order_ns, from, left, (int32_t) clv_smaller(left + width, n),
                  (int32_t) clv_smaller(left + 2 * width, n), to);
        }
        int32_t *const merged = to;
        to = from;
        from = merged;
    }
    if (from != ranks) {
        memcpy(ranks, from, (size_t) n * sizeof *ranks);
    }
}

/* Sorts ranks first .. end - 1 of the lists into the same positions of `ranks`. */
static void sort_host(const clv_host_order_t *host_order, const int64_t *order_ns, int32_t first,
                      int32_t end, int32_t *ranks, int32_t *scratch)
{
    const int32_t n = end - first;
    const size_t n_bytes = (size_t) n * sizeof *ranks;

    if (is_sorted(order_ns, host_order->by_rank + first, n)) {
        memcpy(ranks + first, host_order->by_rank + first, n_bytes);
        return;
    }
    memmove(ranks + first, host_order->by_order + first, n_bytes);
    if (!insert_all(order_ns, ranks + first, n)) {
        merge_all(order_ns, ranks + first, n, scratch);
    }
}

clv_status_t clv_host_order_sort(const clv_host_order_t *host_order, const clv_instance_t *instance,
                                 int32_t *ranks)
{
    const int64_t *order_ns =
        instance->order_ns == NULL ? instance->arrival_ns : instance->order_ns;
    int32_t *scratch = clv_alloc_unset((size_t) host_order->n_ranks, sizeof *scratch);

    if (scratch == NULL) {
        return CLV_NO_MEMORY;
    }
    for (int32_t host = 0; host < host_order->n_hosts; host++) {
        const bool is_roots = host == host_order->root_host;
        const int32_t end = host_order->first[host + 1] - is_roots;
        sort_host(host_order, order_ns, host_order->first[host], end, ranks, scratch);
        if (is_roots) {
            ranks[end] = host_order->root;
        }
    }
    clv_free(scratch);
    return CLV_OK;
}
