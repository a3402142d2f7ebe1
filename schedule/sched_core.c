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

/* How much is done to the copy before this slot, with what comes from inside; and that it is done
 * after this one, if so. */
static int32_t number(clv_core_t *core, int32_t *n_done, size_t copy, int32_t slot)
{
    const int32_t near_before = core->near_slot[copy] <= slot;

    core->near_number[copy] += !near_before;
    return n_done[copy]++ + near_before;
}

/* next: where the next send of each rank goes; n_done: of each copy. */
static void place_sends(clv_core_t *core, const clv_send_t *sends, int64_t n_sends, int32_t *next,
                        int32_t *n_done)
{
    const size_t n_segments = (size_t) core->n_segments;

    for (int64_t k = 0; k < n_sends; k++) {
        const clv_send_t *send = &sends[k];
        const size_t out = send->sender * n_segments + send->segment;
        const size_t in = send->receiver * n_segments + send->segment;
        core->sends[next[send->sender]++] =
            (clv_core_send_t){.slot = send->round,
                              .out_number = number(core, n_done, out, send->round),
                              .in_number = number(core, n_done, in, send->round),
                              .receiver = send->receiver & 0x7fffu,
                              .segment = send->segment & 0x7fffu};
    }
}

/* n_done: in all, without what comes from inside. */
static void mark_last(clv_core_t *core, const int32_t *n_done)
{
    for (int32_t p = 0; p < core->n_ranks; p++) {
        const size_t first = (size_t) p * (size_t) core->n_segments;
        for (int32_t k = core->first_out[p]; k < core->first_out[p + 1]; k++) {
            const size_t copy = first + core->sends[k].segment;
            const int32_t near = core->near_slot[copy] != CLV_CORE_NOTHING;
            core->sends[k].is_last = core->sends[k].out_number + 1 == n_done[copy] + near;
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
    core->near_number = clv_alloc(n_ranks * (size_t) core->n_segments, sizeof *core->near_number);
    return core->sends != NULL && core->first_out != NULL && core->first_in != NULL &&
           core->near_number != NULL;
}

clv_status_t clv_core_set_sends(clv_core_t *core, const clv_send_t *sends, int64_t n_sends)
{
    const size_t n_ranks = (size_t) core->n_ranks;
    int32_t *scratch = clv_alloc(n_ranks * ((size_t) core->n_segments + 1), sizeof *scratch);
    int32_t *next = scratch, *n_done = scratch + n_ranks;

    if (scratch == NULL || !allocate_sends(core, n_sends)) {
        clv_free(scratch);
        return CLV_NO_MEMORY;
    }
    for (int64_t k = 0; k < n_sends; k++) {
        core->first_out[sends[k].sender + 1]++;
        core->first_in[sends[k].receiver + 1]++;
    }
    add_up(core->first_out, core->n_ranks);
    add_up(core->first_in, core->n_ranks);
    memcpy(next, core->first_out, n_ranks * sizeof *next);
    place_sends(core, sends, n_sends, next, n_done);
    mark_last(core, n_done);
    clv_free(scratch);
    return CLV_OK;
}
