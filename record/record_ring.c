/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A rank's ring of calls (see record_ring.h).
 */
#include "record/record_ring.h"

#include <string.h>

#include "util/util_hot.h"

/* A holder only copies a few slots. The caller does not wait for one that lost its core. */
#define MAX_LOOKS 1000

static bool hold(clv_ring_t *ring)
{
    for (int looks = 0; looks < MAX_LOOKS; looks++) {
        if (atomic_exchange_explicit(&ring->is_held, 1, memory_order_acquire) == 0) {
            return true;
        }
    }
    return false;
}

CLV_COLD void clv_ring_count_dropped(clv_ring_t *ring)
{
    (void) atomic_fetch_add_explicit(&ring->n_dropped, 1, memory_order_relaxed);
}

static CLV_COLD clv_ring_answer_t drop(clv_ring_t *ring)
{
    clv_ring_count_dropped(ring);
    return CLV_RING_DROPPED;
}

CLV_HOT clv_ring_answer_t clv_ring_push(clv_ring_t *ring, const void *slots, uint64_t n_slots)
{
    const unsigned char *bytes = slots;

    if (!hold(ring)) {
        return drop(ring);
    }
    const uint64_t written = atomic_load_explicit(&ring->written, memory_order_relaxed);
    const uint64_t waiting = written - atomic_load_explicit(&ring->taken, memory_order_acquire);
    if (waiting + n_slots > CLV_RING_SLOTS) {
        atomic_store_explicit(&ring->is_held, 0, memory_order_release);
        return drop(ring);
    }
    for (uint64_t i = 0; i < n_slots; i++) {
        memcpy(ring->slots[(written + i) % CLV_RING_SLOTS], bytes + i * CLV_CLVA_SLOT_BYTES,
               CLV_CLVA_SLOT_BYTES);
    }
    /* release: a reader that sees the number also sees the slots. */
    atomic_store_explicit(&ring->written, written + n_slots, memory_order_release);
    atomic_store_explicit(&ring->is_held, 0, memory_order_release);
    return waiting < CLV_RING_SLOTS / 2 && waiting + n_slots >= CLV_RING_SLOTS / 2
               ? CLV_RING_HALF_FULL
               : CLV_RING_TAKEN;
}

uint64_t clv_ring_waiting(const clv_ring_t *ring, uint64_t *first_p)
{
    const uint64_t taken = atomic_load_explicit(&ring->taken, memory_order_relaxed);
    const uint64_t waiting = atomic_load_explicit(&ring->written, memory_order_acquire) - taken;

    *first_p = taken;
    return waiting <= CLV_RING_SLOTS ? waiting : 0;
}

void clv_ring_release(clv_ring_t *ring, uint64_t n_slots)
{
    const uint64_t taken = atomic_load_explicit(&ring->taken, memory_order_relaxed);

    atomic_store_explicit(&ring->taken, taken + n_slots, memory_order_release);
}
