/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where things stand in an array, found by a hash of what they are: as many as files name.
 *
 * What: places with their hashes, in a table of which at most half is used.
 * Not: the things; the caller compares what it finds. Not for hostile hashes.
 *
 * Units: none.
 * Errors: false: no memory.
 * Memory: 32 to 64 bytes a place; zeroed memory is an empty index.
 * Threads: one at a time.
 */
#ifndef VIEW_INDEX_H
#define VIEW_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct view_index_slot {
    uint64_t hash;
    int32_t next; /* place + 1; 0: free */
} view_index_slot_t;

typedef struct view_index {
    size_t n, size; /* a power of two, or 0 */
    view_index_slot_t *slots;
} view_index_t;

/* The places that were put with this hash, one after the other; *probe_p is 0 at first, and grows
 * by the slots that were looked at. -1: there are no more. */
int32_t view_index_next(const view_index_t *index, uint64_t hash, size_t *probe_p);
bool view_index_put(view_index_t *index, uint64_t hash, int32_t place);
void view_index_free(view_index_t *index);

#endif
