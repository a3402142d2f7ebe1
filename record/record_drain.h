/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes the rings of a node into its .clva file, on the background thread of the node's leader.
 *
 * What: empties the rings and writes their contents as records, with the clock's lines between
 * them. Keeps every second call once half of the file's limit is used, every fourth once half of
 * the rest is, and so on, so the file never exceeds its limit. A round fills one buffer, which
 * clv_drain_write writes while the next round fills another, so waiting for the thread's lock never
 * means waiting for a file system. The file of a killed job is readable.
 * Not: the rings' writers; the drain does not interpret calls.
 *
 * Units: bytes, ns of CLOCK_MONOTONIC.
 * Errors: CLV_SYSTEM with errno; a write that fails later ends the file and is logged, once.
 * Memory: 1.5 MiB and 12 bytes per rank, the drain's own.
 * Threads: open before the thread knows the drain; then it is the thread's, under its lock, but for
 *   clv_drain_write: by one thread at a time, beside rounds but not beside the last.
 */
#ifndef CLV_RECORD_DRAIN_H
#define CLV_RECORD_DRAIN_H

#include "clocksync/clocksync.h"
#include "record/record_ring.h"
#include "record/record_clva.h"

/* Time from round to round; a ring that is half full starts one at once. A wake-up costs as much as
 * a thousand calls. */
#define CLV_DRAIN_PERIOD_NS INT64_C(500000000)

/* In a ring a communicator is this slot, then its name (CLV_CLVA_NAME_BYTES), then its members, of
 * 4 bytes in the machine's order, up to a whole slot. */
typedef struct clv_drain_comm {
    uint8_t kind; /* CLV_CLVA_COMM */
    uint8_t unused[7];
    uint64_t id;
    int32_t n_ranks;
    int32_t n_listed;
    uint64_t unused_too;
} clv_drain_comm_t;
_Static_assert(sizeof(clv_drain_comm_t) == CLV_CLVA_SLOT_BYTES, "a communicator begins as a slot");

/* Slots of a communicator with n_listed members. */
static inline uint64_t clv_drain_comm_slots(int32_t n_listed)
{
    return 1 + (CLV_CLVA_NAME_BYTES + 4 * (uint64_t) n_listed + CLV_CLVA_SLOT_BYTES - 1) /
                   CLV_CLVA_SLOT_BYTES;
}
/* More are not listed in a ring. */
#define CLV_DRAIN_MAX_LISTED CLV_CLVA_MAX_RANKS

typedef struct clv_drain clv_drain_t;

clv_status_t clv_drain_create(clv_drain_t **drain_p) CLV_MUST_CHECK;
/* Closes the file. NULL is fine. */
void clv_drain_free(clv_drain_t *drain);

/* Makes the file, which must not be there, and writes its head. ranks: n of them, those of the
 * rings. head->max_mib bounds the file, as the process's own limit does (ulimit -f). CLV_SYSTEM:
 * errno tells, and nothing is left of the file. */
clv_status_t clv_drain_open(clv_drain_t *drain, const char *path, const clv_clva_head_t *head,
                            const int32_t *ranks, int32_t n) CLV_MUST_CHECK;

/* A round over the rings that lie ring_bytes apart in memory. clock: in force now, or NULL. Slots
 * that find no room while the previous round is unwritten stay in the rings. is_last: writes all of
 * it and ends the file, by any thread. Returns the time of the next round; an earlier call only
 * looks at each ring, unless one is half full. For clv_pap_tend_t; context is the drain. */
int64_t clv_drain_tend(void *context, unsigned char *memory, size_t ring_bytes,
                       const clv_cs_model_t *clock, int64_t now_ns, int is_last);
/* Writes what rounds have collected. May block. */
void clv_drain_write(void *context);

#endif
