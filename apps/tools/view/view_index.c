/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Array positions by hash (see view_index.h).
 */
#include "apps/tools/view/view_index.h"

#include "util/util_alloc.h"

#define FIRST_SLOTS 64

static view_index_slot_t *slot_of(const view_index_t *index, uint64_t hash, size_t probe)
{
    return &index->slots[((hash ^ hash >> 32) + probe) & (index->size - 1)];
}

int32_t view_index_next(const view_index_t *index, uint64_t hash, size_t *probe_p)
{
    const view_index_slot_t *slot;

    if (index->size == 0) {
        return -1;
    }
    do {
        slot = slot_of(index, hash, (*probe_p)++);
    } while (slot->next != 0 && slot->hash != hash);
    return slot->next - 1;
}

static void put(view_index_t *index, const view_index_slot_t *from)
{
    size_t probe = 0;

    while (slot_of(index, from->hash, probe)->next != 0) {
        probe++;
    }
    *slot_of(index, from->hash, probe) = *from;
    index->n++;
}

static bool grow(view_index_t *index)
{
    view_index_t larger = {.size = index->size == 0 ? FIRST_SLOTS : 2 * index->size};

    larger.slots = clv_alloc(larger.size, sizeof *larger.slots);
    if (larger.slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < index->size; i++) {
        if (index->slots[i].next != 0) {
            put(&larger, &index->slots[i]);
        }
    }
    clv_free(index->slots);
    *index = larger;
    return true;
}

bool view_index_put(view_index_t *index, uint64_t hash, int32_t place)
{
    if (2 * index->n >= index->size && !grow(index)) {
        return false;
    }
    put(index, &(view_index_slot_t){hash, place + 1});
    return true;
}

void view_index_free(view_index_t *index)
{
    clv_free(index->slots);
    *index = (view_index_t){0};
}
