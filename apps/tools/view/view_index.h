/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds the position of an item in an array by a hash of its key; for any number of items.
 *
 * What: positions with their hashes, in a table that is at most half full.
 * Not: the items; the caller compares keys. Not for hostile hashes.
 *
 * Units: none.
 * Errors: false: no memory.
 * Memory: 32 to 64 bytes per position; zeroed memory is an empty index.
 * Threads: one at a time.
 */
#ifndef VIEW_INDEX_H
#define VIEW_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct view_index_slot {
    uint64_t hash;
    int32_t next; /* position + 1; 0: free */
} view_index_slot_t;

typedef struct view_index {
    size_t n, size; /* a power of two, or 0 */
    view_index_slot_t *slots;
} view_index_t;

/* The positions stored with this hash, one per call. *probe_p is 0 at first, and grows by the slots
 * visited. -1: no more. */
int32_t view_index_next(const view_index_t *index, uint64_t hash, size_t *probe_p);
bool view_index_put(view_index_t *index, uint64_t hash, int32_t place);
void view_index_free(view_index_t *index);

#endif
