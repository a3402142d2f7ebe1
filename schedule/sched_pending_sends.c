/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Begin and end of a replay (see sched_pending_sends.h).
 */
#include "schedule/sched_pending_sends.h"

#include "util/util_alloc.h"

/* A rank's copies at its arrival. */
static void place_copies(clv_pending_sends_t *all, int32_t p)
{
    const int64_t arrival = all->arrival_ns[p];
    for (int32_t s = 0; s < all->plan->n_segments; s++) {
        clv_copy_t *copy = clv_copy_of(all, p, s);
        copy->ready_ns = arrival;
        copy->n_done = 0;
        copy->parked = CLV_NO_SEND;
    }
}

/* Ranks at their arrival, each with room for its own sends. */
static void place_ranks(clv_pending_sends_t *all)
{
    int32_t first = 0;

    for (int32_t k = 0; k < all->plan->n_sends; k++) {
        all->ranks[all->plan->sends[k].sender].end++;
    }
    for (int32_t p = 0; p < all->plan->n_ranks; p++) {
        const int64_t arrival = all->arrival_ns[p];
        const int32_t n_sends = all->ranks[p].end;
        all->ranks[p] = (clv_replay_rank_t){.source = {CLV_NO_SEND, CLV_NO_SEND},
                                            .under_way = {CLV_NO_SEND, CLV_NO_SEND},
                                            .out_free_ns = arrival,
                                            .in_free_ns = arrival,
                                            .core_free_ns = arrival,
                                            .exit_ns = arrival,
                                            .first = first,
                                            .next = first,
                                            .end = first};
        first += n_sends;
        place_copies(all, p);
    }
}

/* Numbers the operations on each copy, in plan order. */
static void place_sends(clv_pending_sends_t *all)
{
    for (int32_t k = 0; k < all->plan->n_sends; k++) {
        const clv_send_t *send = &all->plan->sends[k];
        all->pending[all->ranks[send->sender].end++] = (clv_pending_send_t){
            .number = k,
            .sender = send->sender,
            .receiver = send->receiver,
            .segment = send->segment,
            .is_near = all->place[send->sender] == all->place[send->receiver],
            .is_move = send->kind == CLV_MOVE,
            .out_number = clv_copy_of(all, send->sender, send->segment)->n_done++,
            .in_number = clv_copy_of(all, send->receiver, send->segment)->n_done++};
    }
}

/* 1, or 0 without memory. */
static bool allocate(clv_pending_sends_t *all)
{
    const size_t n_ranks = (size_t) all->plan->n_ranks;

    all->ranks = clv_alloc(n_ranks, sizeof *all->ranks);
    all->links = clv_alloc(n_ranks, sizeof *all->links);
    all->copies = clv_alloc(n_ranks * (size_t) all->plan->n_segments, sizeof *all->copies);
    all->pending = clv_alloc_unset((size_t) all->plan->n_sends + 1, sizeof *all->pending);
    all->scratch = clv_alloc_unset(3 * n_ranks, sizeof *all->scratch);
    return all->ranks != NULL && all->links != NULL && all->copies != NULL &&
           all->pending != NULL && all->scratch != NULL;
}

bool clv_pending_sends_open(clv_pending_sends_t *all)
{
    if (!allocate(all)) {
        return false;
    }
    place_ranks(all);
    place_sends(all);
    return true;
}

void clv_pending_sends_close(clv_pending_sends_t *all)
{
    clv_free(all->scratch);
    clv_free(all->pending);
    clv_free(all->copies);
    clv_free(all->links);
    clv_free(all->ranks);
}

void clv_pending_sends_begin(clv_pending_sends_t *all)
{
    const size_t n_copies = (size_t) all->plan->n_ranks * (size_t) all->plan->n_segments;

    for (size_t i = 0; i < n_copies; i++) {
        all->copies[i].n_done = 0;
    }
}
