/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Incomplete calls of a rank, by the address of their request.
 *
 *      begin: add, with the call's data ... complete: find, take the data, drop
 *
 * What: a table of fixed size. A repeated address is a new call: it replaces the old entry, whose
 * completion was never seen. Persistent requests stay until they are freed.
 * Not: the nature of a request (coll_clv_record_requests.c).
 *
 * Units: ns.
 * Errors: none; add returns NULL where there is no room.
 * Memory: 200 KiB, the caller's: zeroed memory is an empty table.
 * Threads: one at a time.
 */
#ifndef CLV_RECORD_PENDING_H
#define CLV_RECORD_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#define CLV_PENDING_MOST    4096
#define CLV_PENDING_BUCKETS 1024 /* a power of two */

/* All but the first two are its user's. */
typedef struct clv_pending {
    const void *request; /* NULL: free */
    uint32_t next;       /* in its bucket, or of those that are free: place + 1, 0: none */
    uint32_t number;
    int64_t arrival_ns;
    void *kept; /* of a persistent request; NULL: no such */
    uint16_t stream;
    bool is_begun; /* of a persistent request: it is on its way, and recorded */
} clv_pending_t;

typedef struct clv_pending_table {
    uint32_t n_used; /* places that were ever used */
    uint32_t free;   /* the first that was and is free */
    uint32_t buckets[CLV_PENDING_BUCKETS];
    clv_pending_t places[CLV_PENDING_MOST];
} clv_pending_table_t;

/* An empty entry for the request; NULL: no room. kept_p: the `kept` of a replaced entry, for its
 * user to free, else NULL. */
clv_pending_t *clv_pending_add(clv_pending_table_t *table, const void *request, void **kept_p);
/* NULL: it is not there. */
clv_pending_t *clv_pending_find(clv_pending_table_t *table, const void *request);
void clv_pending_drop(clv_pending_table_t *table, const void *request);

#endif
