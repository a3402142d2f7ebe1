/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A replay rank after rank, without events (see sched_pending_sends.h).
 *
 *     near source ----+
 *                     +--> merged by time --> combined --> sent, in plan order
 *     far source -----+
 *
 * In a chain of hosts, and in a chain inside one, no rank waits for a link that another rank holds,
 * and a rank has one source inside its place and one elsewhere. Its arrivals are known when its
 * sources are done, and its sends when its arrivals are: no heap, O(sends).
 */
#include "schedule/sched_pending_sends.h"

/* Keeps the only rank that sends on a way or link; 0: there is more than one. */
static bool is_only(int32_t *holder, int32_t rank)
{
    if (*holder == CLV_NO_SEND) {
        *holder = rank;
    }
    return *holder == rank;
}

/* Whether each way and link has a single sender, each copy is sent only after its last receive, and
 * no send arrives at the moment it leaves. holders: two numbers per place. */
static bool nobody_contends(clv_pending_sends_t *all, int32_t *holders)
{
    const clv_replay_lengths_t *lengths = all->lengths;
    bool free = lengths->near_wire_ns + lengths->near_latency_ns > 0 &&
                lengths->far_wire_ns + lengths->far_latency_ns > 0;

    for (int32_t i = 0; i < 2 * all->plan->n_ranks; i++) {
        holders[i] = CLV_NO_SEND;
    }
    for (int32_t at = 0; at < all->plan->n_sends && free; at++) {
        const clv_pending_send_t *pending = &all->pending[at];
        int32_t *out = &holders[2 * all->place[pending->sender]];
        int32_t *in = &holders[2 * all->place[pending->receiver] + 1];
        free =
            is_only(&all->ranks[pending->receiver].source[pending->is_near], pending->sender) &&
            clv_copy_of(all, pending->sender, pending->segment)->n_done ==
                pending->out_number + 1 &&
            (pending->is_near || (is_only(out, pending->sender) && is_only(in, pending->sender)));
    }
    return free;
}

/* The rank's first send to the receiver from index `at` on; its end if there is none. */
static int32_t next_to(const clv_pending_sends_t *all, const clv_replay_rank_t *rank,
                       int32_t receiver, int32_t at)
{
    while (at < rank->end && all->pending[at].receiver != receiver) {
        at++;
    }
    return at;
}

/* Receives what the rank's sources have sent, in order of arrival. */
static void merge_sources(clv_pending_sends_t *all, int32_t p)
{
    const clv_replay_rank_t none = {.first = 0, .end = 0};
    const clv_replay_rank_t *source[2];
    int32_t at[2];

    for (int i = 0; i < 2; i++) {
        const int32_t q = all->ranks[p].source[i];
        source[i] = q == CLV_NO_SEND ? &none : &all->ranks[q];
        at[i] = next_to(all, source[i], p, source[i]->first);
    }
    while (at[0] < source[0]->end || at[1] < source[1]->end) {
        const clv_pending_send_t *far = &all->pending[at[0]], *near = &all->pending[at[1]];
        const int i = at[0] == source[0]->end ||
                      (at[1] < source[1]->end &&
                       (near->here_ns != far->here_ns ? near->here_ns < far->here_ns
                                                      : near->number < far->number));
        clv_pending_send_arrive(all, at[i], all->pending[at[i]].here_ns);
        at[i] = next_to(all, source[i], p, at[i] + 1);
    }
}

static void replay_rank(clv_pending_sends_t *all, int32_t p)
{
    clv_replay_rank_t *rank = &all->ranks[p];

    merge_sources(all, p);
    while (rank->next < rank->end) {
        clv_pending_send_leave(all, rank, clv_next_start_ns(all, rank));
    }
}

/* Counts this source at each rank that it sends to. A rank whose sources have all been counted
 * joins the order. */
static int32_t feed(const clv_pending_sends_t *all, int32_t p, int32_t *n_sources,
                    int32_t *last_source, int32_t *order, int32_t n_ordered)
{
    for (int32_t at = all->ranks[p].first; at < all->ranks[p].end; at++) {
        const int32_t receiver = all->pending[at].receiver;
        if (last_source[receiver] != p) {
            last_source[receiver] = p;
            if (--n_sources[receiver] == 0) {
                order[n_ordered++] = receiver;
            }
        }
    }
    return n_ordered;
}

/* Sorts ranks so that each comes after those that send to it; 0: impossible. scratch: two numbers
 * per rank. */
static bool sort_ranks(const clv_pending_sends_t *all, int32_t *order, int32_t *scratch)
{
    const int32_t n_ranks = all->plan->n_ranks;
    int32_t *n_sources = scratch, *last_source = scratch + n_ranks, n_ordered = 0;

    for (int32_t p = 0; p < n_ranks; p++) {
        const int32_t *source = all->ranks[p].source;
        last_source[p] = CLV_NO_SEND;
        n_sources[p] = (source[0] != CLV_NO_SEND) + (source[1] != CLV_NO_SEND);
        if (n_sources[p] == 0) {
            order[n_ordered++] = p;
        }
    }
    for (int32_t i = 0; i < n_ordered; i++) {
        n_ordered = feed(all, order[i], n_sources, last_source, order, n_ordered);
    }
    return n_ordered == n_ranks;
}

bool clv_pending_sends_in_order(clv_pending_sends_t *all)
{
    const int32_t n_ranks = all->plan->n_ranks;
    int32_t *order = all->scratch + 2 * n_ranks;

    if (!nobody_contends(all, all->scratch) || !sort_ranks(all, order, all->scratch)) {
        return false;
    }
    clv_pending_sends_begin(all);
    for (int32_t i = 0; i < n_ranks; i++) {
        replay_rank(all, order[i]);
    }
    return true;
}
