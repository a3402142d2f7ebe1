/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cores whose ranks wait for links that others hold: made (see sched_core.h).
 *
 * Not: run (sched_core_run.c, and sched_core_chain.c for a chain).
 * Cost: O(sends), O(ranks * segments).
 */
#include "schedule/sched_core.h"

#include <string.h>

#include "util/util_alloc.h"

/* ---- making one ------------------------------------------------------------------------------ */

clv_status_t clv_core_init(clv_core_t *core, int32_t n_ranks, int32_t n_segments)
{
    const size_t n_copies = (size_t) n_ranks * (size_t) n_segments;

    *core = (clv_core_t){.n_ranks = n_ranks, .n_segments = n_segments};
    core->rank = clv_alloc((size_t) n_ranks, sizeof *core->rank);
    core->near_slot = clv_alloc_unset(n_copies, sizeof *core->near_slot);
    if (core->rank == NULL || core->near_slot == NULL) {
        return CLV_NO_MEMORY;
    }
    for (size_t i = 0; i < n_copies; i++) {
        core->near_slot[i] = CLV_CORE_NOTHING;
    }
    return CLV_OK;
}

void clv_core_drop(clv_core_t *core)
{
    clv_free(core->near_number);
    clv_free(core->first_in);
    clv_free(core->first_out);
    clv_free(core->sends);
    clv_free(core->far_slot);
    clv_free(core->near_slot);
    clv_free(core->rank);
    *core = (clv_core_t){0};
}

/* first[] becomes where each rank's begin; it counts those of rank p at p + 1. */
static void add_up(int32_t *first, int32_t n_ranks)
{
    for (int32_t p = 0; p < n_ranks; p++) {
        first[p + 1] += first[p];
    }
}

/* What is done to a copy. */
typedef struct tally {
    int32_t n_done; /* sent and received, over links */
    int32_t near_slot;
    int32_t near_number; /* of them before what comes from inside */
    int32_t last_out;    /* where its last send is, while nothing is received behind that; or: */
} tally_t;

enum { NEVER_SENT = -1, SENT_BEFORE = -2 };

/* How much is done to the copy before this slot; one more is. */
static inline int32_t number(tally_t *copy, int32_t slot)
{
    const int32_t n_before = copy->n_done, near_before = copy->near_slot <= slot;

    copy->n_done = n_before + 1;
    copy->near_number = near_before ? copy->near_number : n_before + 1;
    return n_before + near_before;
}

/* next: where the next send of each rank goes. */
static void place_sends(clv_core_t *core, const clv_send_t *sends, int64_t n_sends, int32_t *next,
                        tally_t *tally)
{
    const size_t n_segments = (size_t) core->n_segments;
    clv_core_send_t *const placed = core->sends;

    for (int64_t k = 0; k < n_sends; k++) {
        const clv_send_t send = sends[k];
        tally_t *out = &tally[send.sender * n_segments + send.segment];
        tally_t *in = &tally[send.receiver * n_segments + send.segment];
        const int32_t at = next[send.sender]++;
        placed[at] = (clv_core_send_t){.slot = send.round,
                                       .out_number = number(out, send.round),
                                       .in_number = number(in, send.round),
                                       .receiver = send.receiver & 0x7fffu,
                                       .segment = send.segment & 0x7fffu,
                                       .is_back = in->last_out != NEVER_SENT};
        out->last_out = at;
        in->last_out = in->last_out == NEVER_SENT ? NEVER_SENT : SENT_BEFORE;
    }
}

/* What is known of copies when all is placed. */
static void close_copies(clv_core_t *core, const tally_t *tally)
{
    const size_t n_copies = (size_t) core->n_ranks * (size_t) core->n_segments;

    for (size_t i = 0; i < n_copies; i++) {
        const tally_t *copy = &tally[i];
        core->near_number[i] = copy->near_number;
        if (copy->last_out >= 0 && (copy->near_slot == CLV_CORE_NOTHING ||
                                    copy->near_slot <= core->sends[copy->last_out].slot)) {
            core->sends[copy->last_out].is_last = 1;
        }
    }
}

/* 1, or 0 without memory. */
static int allocate_sends(clv_core_t *core, int64_t n_sends)
{
    const size_t n_ranks = (size_t) core->n_ranks;

    core->sends = clv_alloc_unset((size_t) n_sends + 1, sizeof *core->sends);
    core->first_out = clv_alloc(n_ranks + 1, sizeof *core->first_out);
    core->first_in = clv_alloc(n_ranks + 1, sizeof *core->first_in);
    core->near_number =
        clv_alloc_unset(n_ranks * (size_t) core->n_segments, sizeof *core->near_number);
    return core->sends != NULL && core->first_out != NULL && core->first_in != NULL &&
           core->near_number != NULL;
}

/* next: as of place_sends, unset. */
static void number_sends(clv_core_t *core, const clv_send_t *sends, int64_t n_sends, int32_t *next,
                         tally_t *tally)
{
    const size_t n_copies = (size_t) core->n_ranks * (size_t) core->n_segments;

    for (int64_t k = 0; k < n_sends; k++) {
        core->first_out[sends[k].sender + 1]++;
        core->first_in[sends[k].receiver + 1]++;
    }
    add_up(core->first_out, core->n_ranks);
    add_up(core->first_in, core->n_ranks);
    memcpy(next, core->first_out, (size_t) core->n_ranks * sizeof *next);
    for (size_t i = 0; i < n_copies; i++) {
        tally[i] = (tally_t){.near_slot = core->near_slot[i], .last_out = NEVER_SENT};
    }
    place_sends(core, sends, n_sends, next, tally);
    close_copies(core, tally);
}

clv_status_t clv_core_set_sends(clv_core_t *core, const clv_send_t *sends, int64_t n_sends)
{
    const size_t n_ranks = (size_t) core->n_ranks;
    tally_t *tally = clv_alloc_unset(n_ranks * (size_t) core->n_segments, sizeof *tally);
    int32_t *next = clv_alloc_unset(n_ranks, sizeof *next);
    clv_status_t status = CLV_NO_MEMORY;

    if (tally != NULL && next != NULL && allocate_sends(core, n_sends)) {
        number_sends(core, sends, n_sends, next, tally);
        status = CLV_OK;
    }
    clv_free(next);
    clv_free(tally);
    return status;
}
