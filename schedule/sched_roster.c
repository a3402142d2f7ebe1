/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rosters: counted by place, and sorted inside each (see sched_roster.h).
 *
 * Not: places that nobody shares. Cost: as said there. Thread-safe.
 */
#include "schedule/sched_roster.h"

#include <string.h>

#include "schedule/sched_instance.h"
#include "util/util_alloc.h"
#include "util/util_min_max.h"

#define MOST_MOVES 4 /* for each rank, before inserting is given up and all of its node is merged */

/* ---- making one ------------------------------------------------------------------------------ */

/* 1, or 0 without memory. */
static int allocate(clv_roster_t *roster)
{
    const size_t n_ranks = (size_t) roster->n_ranks;

    roster->place = clv_alloc_unset(n_ranks, sizeof *roster->place);
    roster->first = clv_alloc(n_ranks + 1, sizeof *roster->first);
    roster->by_rank = clv_alloc_unset(n_ranks, sizeof *roster->by_rank);
    roster->by_order = clv_alloc_unset(n_ranks, sizeof *roster->by_order);
    return roster->place != NULL && roster->first != NULL && roster->by_rank != NULL &&
           roster->by_order != NULL;
}

void clv_roster_free(clv_roster_t *roster)
{
    if (roster != NULL) {
        clv_free(roster->by_order);
        clv_free(roster->by_rank);
        clv_free(roster->first);
        clv_free(roster->place);
        clv_free(roster);
    }
}

/* Names nodes in the order of their places: node[place], and where each one's ranks begin. */
static void count_nodes(clv_roster_t *roster, int32_t *node)
{
    int32_t n_before = 0;

    memset(node, 0, (size_t) roster->n_ranks * sizeof *node);
    for (int32_t p = 0; p < roster->n_ranks; p++) {
        node[roster->place[p]]++;
    }
    for (int32_t place = 0; place < roster->n_ranks; place++) {
        const int32_t n_here = node[place];
        if (n_here > 0) {
            node[place] = roster->n_nodes;
            roster->first[roster->n_nodes++] = n_before;
            n_before += n_here;
        }
    }
    roster->root_node = node[roster->place[roster->root]];
}

/* first[] serves as where each node's next one goes, and is put back. */
static void list_by_rank(clv_roster_t *roster, const int32_t *node)
{
    for (int32_t p = 0; p < roster->n_ranks; p++) {
        if (p != roster->root) {
            roster->by_rank[roster->first[node[roster->place[p]]]++] = p;
        }
    }
    roster->by_rank[roster->first[roster->root_node]++] = roster->root;
    memmove(roster->first + 1, roster->first, (size_t) roster->n_nodes * sizeof *roster->first);
    roster->first[0] = 0;
}

static clv_status_t fill(clv_roster_t *roster, const clv_instance_t *instance)
{
    if (!allocate(roster)) {
        return CLV_NO_MEMORY;
    }
    for (int32_t p = 0; p < roster->n_ranks; p++) {
        roster->place[p] = clv_sched_place(instance, p);
    }
    count_nodes(roster, roster->by_order);
    list_by_rank(roster, roster->by_order);
    memcpy(roster->by_order, roster->by_rank, (size_t) roster->n_ranks * sizeof *roster->by_rank);
    return clv_roster_sort(roster, instance, roster->by_order);
}

clv_status_t clv_roster_make(const clv_instance_t *instance, clv_roster_t **roster_p)
{
    clv_instance_t asked = *instance;
    const char *reason;
    clv_status_t status;
    clv_roster_t *roster;

    asked.round_ns = INT64_MAX;
    asked.roster = NULL;
    status = clv_instance_check(&asked, &reason);

    if (status != CLV_OK) {
        return status;
    }
    roster = clv_alloc(1, sizeof *roster);
    if (roster == NULL) {
        return CLV_NO_MEMORY;
    }
    roster->n_ranks = instance->n_ranks;
    roster->root = instance->root;
    status = fill(roster, instance);
    if (status == CLV_OK) {
        *roster_p = roster;
    } else {
        clv_roster_free(roster);
    }
    return status;
}

int clv_roster_fits(const clv_roster_t *roster, const clv_instance_t *instance)
{
    return roster->n_ranks == instance->n_ranks && roster->root == instance->root &&
           instance->place != NULL &&
           memcmp(roster->place, instance->place,
                  (size_t) roster->n_ranks * sizeof *roster->place) == 0;
}

/* ---- sorting --------------------------------------------------------------------------------- */

static int is_behind(const int64_t *order_ns, int32_t a, int32_t b)
{
    return order_ns[a] != order_ns[b] ? order_ns[a] > order_ns[b] : a > b;
}

static int is_sorted(const int64_t *order_ns, const int32_t *ranks, int32_t n)
{
    int32_t i = 1;
    while (i < n && !is_behind(order_ns, ranks[i - 1], ranks[i])) {
        i++;
    }
    return i >= n;
}

/* 1, or 0 when too much had to move; all ranks are there then, in some order. */
static int insert_all(const int64_t *order_ns, int32_t *ranks, int32_t n)
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

/* Runs from[left .. middle - 1] and from[middle .. right - 1] into to[left ..]. */
static void merge(const int64_t *order_ns, const int32_t *from, int32_t left, int32_t middle,
                  int32_t right, int32_t *to)
{
    int32_t a = left, b = middle;

    for (int32_t i = left; i < right; i++) {
        const int takes_b = a == middle || (b < right && is_behind(order_ns, from[a], from[b]));
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

/* Ranks first .. end - 1 of the lists, into the same of `ranks`. */
static void sort_node(const clv_roster_t *roster, const int64_t *order_ns, int32_t first,
                      int32_t end, int32_t *ranks, int32_t *scratch)
{
    const int32_t n = end - first;
    const size_t n_bytes = (size_t) n * sizeof *ranks;

    if (is_sorted(order_ns, roster->by_rank + first, n)) {
        memcpy(ranks + first, roster->by_rank + first, n_bytes);
        return;
    }
    memmove(ranks + first, roster->by_order + first, n_bytes);
    if (!insert_all(order_ns, ranks + first, n)) {
        merge_all(order_ns, ranks + first, n, scratch);
    }
}

clv_status_t clv_roster_sort(const clv_roster_t *roster, const clv_instance_t *instance,
                             int32_t *ranks)
{
    const int64_t *order_ns =
        instance->order_ns == NULL ? instance->arrival_ns : instance->order_ns;
    int32_t *scratch = clv_alloc_unset((size_t) roster->n_ranks, sizeof *scratch);

    if (scratch == NULL) {
        return CLV_NO_MEMORY;
    }
    for (int32_t node = 0; node < roster->n_nodes; node++) {
        const int32_t is_roots = node == roster->root_node;
        const int32_t end = roster->first[node + 1] - is_roots;
        sort_node(roster, order_ns, roster->first[node], end, ranks, scratch);
        if (is_roots) {
            ranks[end] = roster->root;
        }
    }
    clv_free(scratch);
    return CLV_OK;
}
