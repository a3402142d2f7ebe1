/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds incomplete calls by their request (see record_pending.h).
 */
#include "record/record_pending.h"

#include <stddef.h>

#include "util/util_hash.h"

/* The link that points to the request's entry, or the 0 that ends its bucket if there is none. */
static uint32_t *link_to(clv_pending_table_t *table, const void *request)
{
    const uint64_t hash = clv_fnv1a64(CLV_FNV1A64_BASIS, &request, sizeof request);
    uint32_t *link = &table->buckets[hash % CLV_PENDING_BUCKETS];

    while (*link != 0 && table->places[*link - 1].request != request) {
        link = &table->places[*link - 1].next;
    }
    return link;
}

clv_pending_t *clv_pending_find(clv_pending_table_t *table, const void *request)
{
    const uint32_t at = *link_to(table, request);

    return at == 0 ? NULL : &table->places[at - 1];
}

void clv_pending_drop(clv_pending_table_t *table, const void *request)
{
    uint32_t *link = link_to(table, request);
    const uint32_t at = *link;

    if (at != 0) {
        *link = table->places[at - 1].next;
        table->places[at - 1] = (clv_pending_t){.next = table->free};
        table->free = at;
    }
}

clv_pending_t *clv_pending_add(clv_pending_table_t *table, const void *request, void **kept_p)
{
    clv_pending_t *lost = clv_pending_find(table, request);
    uint32_t at;

    *kept_p = NULL;
    if (lost != NULL) {
        *kept_p = lost->kept;
        clv_pending_drop(table, request);
    }
    at = table->free;
    if (at != 0) {
        table->free = table->places[at - 1].next;
    } else if (table->n_used < CLV_PENDING_MOST) {
        at = ++table->n_used;
    } else {
        return NULL;
    }
    table->places[at - 1] = (clv_pending_t){.request = request};
    *link_to(table, request) = at;
    return &table->places[at - 1];
}
