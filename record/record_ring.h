/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A rank's ring of calls, in memory that it shares with the background thread of its node's leader.
 *
 *      the rank: written -> slots ... the thread: -> taken
 *
 * What: one writer process, whose threads take turns; one reader. Neither side waits for the other:
 * a slot that finds no room, or finds the ring held too long, is dropped and counted. Zeroed memory
 * is an empty ring.
 * Not: the meaning of a slot (record_clva.h).
 * Cost: a slot is 32 bytes; about 15 ns where the ring is in the cache.
 *
 * Units: slots of CLV_CLVA_SLOT_BYTES.
 * Errors: none: dropped slots are counted.
 * Memory: the caller's.
 * Threads: push by any thread of the writer; take by one thread, of any process.
 */
#ifndef CLV_RECORD_RING_H
#define CLV_RECORD_RING_H

#include <stdatomic.h>
#include <stdint.h>

#include "record/record_clva.h"
#include "util/util_alloc.h"

#define CLV_RING_SLOTS 16384 /* 512 KiB a rank; touched as it is used */

typedef struct clv_ring {
    _Alignas(CLV_LINE_BYTES) _Atomic uint64_t written;
    _Atomic uint64_t n_dropped;
    _Atomic uint32_t is_held; /* by a thread of the writer */
    _Alignas(CLV_LINE_BYTES) _Atomic uint64_t taken;
    _Alignas(CLV_LINE_BYTES) unsigned char slots[CLV_RING_SLOTS][CLV_CLVA_SLOT_BYTES];
} clv_ring_t;

typedef enum clv_ring_answer {
    CLV_RING_TAKEN,
    CLV_RING_HALF_FULL, /* taken; now is the time to wake the reader */
    CLV_RING_DROPPED
} clv_ring_answer_t;

/* n_slots slots that belong together, or none of them. */
clv_ring_answer_t clv_ring_push(clv_ring_t *ring, const void *slots, uint64_t n_slots);

/* Counts a slot that the writer itself drops. */
void clv_ring_count_dropped(clv_ring_t *ring);

/* The slots that wait to be read: how many, and from *first on, which goes on at slot 0 behind the
 * last one. 0 where the ring's numbers cannot be: another process wrote nonsense. */
uint64_t clv_ring_waiting(const clv_ring_t *ring, uint64_t *first_p);
static inline const unsigned char *clv_ring_slot(const clv_ring_t *ring, uint64_t at)
{
    return ring->slots[at % CLV_RING_SLOTS];
}
/* The reader has finished n_slots of them. */
void clv_ring_release(clv_ring_t *ring, uint64_t n_slots);

#endif
