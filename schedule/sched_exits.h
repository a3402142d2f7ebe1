/* SPDX-License-Identifier: BSD-3-Clause
 *
 * When each rank leaves a plan: the replay of sched_cost.h, rank by rank, with segments that travel
 * before their receiver arrives.
 *
 *      sender    arrives  s s s s . . . . leaves       handed over while the pair has room
 *      wire                s  s  s  s                  and crossing meanwhile
 *      receiver                      arrives           takes waiting segments, at take_ps a byte
 *
 * A segment of at most eager_bytes leaves without its receiver, as long as at most pair_bytes of
 * the pair are handed over and not yet taken; its sender goes on at once. A receiver that is in a
 * call takes segments as they come, and the rest when it enters the next call. A larger segment
 * waits for its receiver; its last in_flight_bytes travel on without the sender.
 *
 * Bytes that are still travelling or unread after a call stay in a clv_exits_t: one per network of
 * ranks, for the calls of a program one after the other.
 *
 * Not: plans (schedule.h), nor estimates that ranks must agree on (clv_plan_estimate): those have
 * no such limits. Shared links are modelled only without early travel.
 *
 * Units: ns, bytes, picoseconds per byte. Ranks are those of the network.
 * Errors: CLV_NO_MEMORY, CLV_OVERFLOW, CLV_INVALID as of clv_plan_estimate.
 * Memory: a clv_exits_t is its maker's to free: 8 bytes per pair of ranks, 0.5 KiB per pair that
 *   has sent. A replay frees all else that it allocates when it returns.
 * Threads: one at a time per clv_exits_t.
 */
#ifndef CLV_SCHED_EXITS_H
#define CLV_SCHED_EXITS_H

#include "schedule/sched_cost.h"

#define CLV_EXITS_MAX_RANKS 4096

/* How far messages travel without their receiver. */
typedef struct clv_early {
    int64_t eager_bytes;     /* segments up to this do; 0: none */
    int64_t pair_bytes;      /* from one rank to another, handed over and not taken, at most */
    int64_t take_ps;         /* a byte that lies there costs its receiver so long */
    int64_t in_flight_bytes; /* of a larger one, on the way when its sender goes on */
} clv_early_t;

typedef struct clv_exits clv_exits_t;

/* early: copied. */
clv_status_t clv_exits_create(int32_t n_ranks, const clv_early_t *early,
                              clv_exits_t **exits_p) CLV_MUST_CHECK;
void clv_exits_free(clv_exits_t *exits);

/* exit_ns: of each rank of the plan, whose rank i is rank members[i] of exits (NULL: i).
 * exits NULL: nothing travels early; then the last exit and the mean time in the call are those of
 * clv_plan_estimate, places included. With exits every rank has a place of its own. */
clv_status_t clv_plan_exits(const clv_plan_t *plan, const int64_t *arrival_ns, const int32_t *place,
                            int64_t vector_bytes, const clv_cost_t *cost, clv_exits_t *exits,
                            const int32_t *members, int64_t *exit_ns) CLV_MUST_CHECK;

/* Rank of the network has left a call that no plan was replayed for: until then it took what came.
 */
void clv_exits_leave(clv_exits_t *exits, int32_t rank, int64_t exit_ns);

#endif
