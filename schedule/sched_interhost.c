/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Makes inter-host parts in which ranks compete for links (see sched_interhost.h).
 *
 * Not: running them (sched_interhost_run.c, and sched_interhost_chain.c for a chain).
 * Cost: O(sends), O(ranks * segments).
 */
#include "schedule/sched_interhost.h"

#include <string.h>

#include "util/util_alloc.h"

/* ---- making one ------------------------------------------------------------------------------ */

clv_status_t clv_interhost_init(clv_interhost_t *interhost, int32_t n_ranks, int32_t n_segments)
{
    const size_t n_copies = (size_t) n_ranks * (size_t) n_segments;

    *interhost = (clv_interhost_t){.n_ranks = n_ranks, .n_segments = n_segments};
    interhost->rank = clv_alloc((size_t) n_ranks, sizeof *interhost->rank);
    interhost->near_slot = clv_alloc_unset(n_copies, sizeof *interhost->near_slot);
    if (interhost->rank == NULL || interhost->near_slot == NULL) {
        return CLV_NO_MEMORY;
    }
    for (size_t i = 0; i < n_copies; i++) {
        interhost->near_slot[i] = CLV_INTERHOST_NOTHING;
    }
    return CLV_OK;
}

void clv_interhost_drop(clv_interhost_t *interhost)
{
    clv_free(interhost->near_number);
    clv_free(interhost->first_in);
    clv_free(interhost->first_out);
    clv_free(interhost->sends);
    clv_free(interhost->far_slot);
    clv_free(interhost->near_slot);
    clv_free(interhost->rank);
    *interhost = (clv_interhost_t){0};
}

/* On entry first[p + 1] counts the sends of rank p; on return first[p] is where they begin. */
static void add_up(int32_t *first, int32_t n_ranks)
{
    for (int32_t p = 0; p < n_ranks; p++) {
        first[p + 1] += first[p];
    }
}

/* Operations on a copy. */
typedef struct tally {
    int32_t n_done; /* of sends and receives over links */
    int32_t near_slot;
    int32_t near_number; /* those of them before the segment from inside */
    int32_t last_out;    /* its last send if nothing is received after it; or: */
} tally_t;

enum { NEVER_SENT = -1, SENT_BEFORE = -2 };

/* Numbers one more operation on the copy, in this slot: returns how many operations come before
 * it. */
static inline int32_t number(tally_t *copy, int32_t slot)
{
    const int32_t n_before = copy->n_done, near_before = copy->near_slot <= slot;

    copy->n_done = n_before + 1;
    copy->near_number = near_before ? copy->near_number : n_before + 1;
    return n_before + near_before;
}

/* next: position of each rank's next send. */
static void place_sends(clv_interhost_t *interhost, const clv_send_t *sends, int64_t n_sends,
                        int32_t *next, tally_t *tally)
{
    const size_t n_segments = (size_t) interhost->n_segments;
    clv_interhost_send_t *const placed = interhost->sends;

    for (int64_t k = 0; k < n_sends; k++) {
        const clv_send_t send = sends[k];
        tally_t *out = &tally[send.sender * n_segments + send.segment];
        tally_t *in = &tally[send.receiver * n_segments + send.segment];
        const int32_t at = next[send.sender]++;
        placed[at] = (clv_interhost_send_t){.slot = send.round,
                                            .out_number = number(out, send.round),
                                            .in_number = number(in, send.round),
                                            .receiver = send.receiver & 0x7fffu,
                                            .segment = send.segment & 0x7fffu,
                                            .is_back = in->last_out != NEVER_SENT};
        out->last_out = at;
        in->last_out = in->last_out == NEVER_SENT ? NEVER_SENT : SENT_BEFORE;
    }
}

/* Sets what is known of copies once all sends are placed. */
static void close_copies(clv_interhost_t *interhost, const tally_t *tally)
{
    const size_t n_copies = (size_t) interhost->n_ranks * (size_t) interhost->n_segments;

    for (size_t i = 0; i < n_copies; i++) {
        const tally_t *copy = &tally[i];
        interhost->near_number[i] = copy->near_number;
        if (copy->last_out >= 0 && (copy->near_slot == CLV_INTERHOST_NOTHING ||
                                    copy->near_slot <= interhost->sends[copy->last_out].slot)) {
            interhost->sends[copy->last_out].is_last = 1;
        }
    }
}

/* 1, or 0 without memory. */
static bool allocate_sends(clv_interhost_t *interhost, int64_t n_sends)
{
    const size_t n_ranks = (size_t) interhost->n_ranks;

    interhost->sends = clv_alloc_unset((size_t) n_sends + 1, sizeof *interhost->sends);
    interhost->first_out = clv_alloc(n_ranks + 1, sizeof *interhost->first_out);
    interhost->first_in = clv_alloc(n_ranks + 1, sizeof *interhost->first_in);
    interhost->near_number =
        clv_alloc_unset(n_ranks * (size_t) interhost->n_segments, sizeof *interhost->near_number);
    return interhost->sends != NULL && interhost->first_out != NULL &&
           interhost->first_in != NULL && interhost->near_number != NULL;
}

/* next: scratch for place_sends. */
static void number_sends(clv_interhost_t *interhost, const clv_send_t *sends, int64_t n_sends,
                         int32_t *next, tally_t *tally)
{
    const size_t n_copies = (size_t) interhost->n_ranks * (size_t) interhost->n_segments;

    for (int64_t k = 0; k < n_sends; k++) {
        interhost->first_out[sends[k].sender + 1]++;
        interhost->first_in[sends[k].receiver + 1]++;
    }
    add_up(interhost->first_out, interhost->n_ranks);
    add_up(interhost->first_in, interhost->n_ranks);
    memcpy(next, interhost->first_out, (size_t) interhost->n_ranks * sizeof *next);
    for (size_t i = 0; i < n_copies; i++) {
        tally[i] = (tally_t){.near_slot = interhost->near_slot[i], .last_out = NEVER_SENT};
    }
    place_sends(interhost, sends, n_sends, next, tally);
    close_copies(interhost, tally);
}

clv_status_t clv_interhost_set_sends(clv_interhost_t *interhost, const clv_send_t *sends,
                                     int64_t n_sends)
{
    const size_t n_ranks = (size_t) interhost->n_ranks;
    tally_t *tally = clv_alloc_unset(n_ranks * (size_t) interhost->n_segments, sizeof *tally);
    int32_t *next = clv_alloc_unset(n_ranks, sizeof *next);
    clv_status_t status = CLV_NO_MEMORY;

    if (tally != NULL && next != NULL && allocate_sends(interhost, n_sends)) {
        number_sends(interhost, sends, n_sends, next, tally);
        status = CLV_OK;
    }
    clv_free(next);
    clv_free(tally);
    return status;
}
