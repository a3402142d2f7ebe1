/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The schedule module: makes a plan of sends from arrival times. PURE: no MPI, no threads, no
 * clock.
 *
 * What: Clairvoyant (Proficz & Ocetkiewicz, sections 2, 4, 5), latest-arrival-first, sorted chain,
 * the classic trees and rings, and plans for allreduce and broadcast: generators (generators/), all
 * of which make a plan; and operations on a plan: validate, hash, extract one rank's part, execute
 * (sched_exec.h).
 * Not: the choice between plans (the module choose), nor the transport (the caller's table).
 *
 * Every function is deterministic: the same input gives the same plan on every machine, compiler
 * and SIMD width.
 *
 * Units: int64 ns, rounds counted from 0.
 * Errors: CLV_INVALID, CLV_LIMIT, CLV_OVERFLOW, CLV_NO_MEMORY; outputs are set only on CLV_OK.
 * Memory: a plan is its caller's to free; an instance's arrays stay the caller's.
 * Threads: safe on distinct objects.
 */
#ifndef CLV_SCHEDULE_H
#define CLV_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/util_status.h"

#define CLV_SCHED_MAX_RANKS    4096
#define CLV_SCHED_MAX_SEGMENTS 4096
#define CLV_SCHED_MAX_SPREAD   (INT32_C(1) << 30) /* rounds between first and last arrival */

/* The goal of a plan: XX(GOAL, name, meaning). sched_goal.h defines which rank has which segments
 * before and after it. */
#define CLV_GOAL_MAP(XX)                                                                           \
    XX(REDUCE, "reduce", "the sum of all contributions at the root")                               \
    XX(ALLREDUCE, "allreduce", "the sum of all contributions at every rank")                       \
    XX(BCAST, "bcast", "the root's vector at every rank")                                          \
    XX(REDUCE_SCATTER, "reduce_scatter", "the sum, each rank its own block of the segments")

typedef enum clv_goal {
#define CLV_GOAL_ENUM(goal, name, meaning) CLV_GOAL_##goal,
    CLV_GOAL_MAP(CLV_GOAL_ENUM)
#undef CLV_GOAL_ENUM
        CLV_N_GOALS
} clv_goal_t;

/* Which ranks share places (sched_host_order.h). */
typedef struct clv_host_order clv_host_order_t;

/* The input of a generator. The arrays have n_ranks items and belong to the caller. round_ns is the
 * paper's d.
 *
 * place: ranks with equal numbers are near each other (on one host); messages between them are
 * cheaper, and those that leave the place share its link. NULL: every rank has a place of its own.
 * Only the generators "node-..." use it.
 *
 * order_ns is for the clip rule: arrival_ns says when a rank may take part (clipped, pessimistic),
 * order_ns where it stands among the others (the plain prediction). Exactly: Clairvoyant orders a
 * round by (availability, order - arrival, rank), so ranks whose arrivals were clipped to the same
 * time keep their predicted order and without a clip the paper's order (availability, rank)
 * remains; latest-first and chain order by (order, rank). NULL means equal to arrival_ns.
 *
 * is_far_late: the last rank arrives so late that the others can finish everything but the sum
 * before it. The cut ring then begins every segment behind it, even if another cut would end
 * sooner, so that the last rank receives and sends each segment once. With places and a reduce,
 * that rank is the root, which receives one vector whatever arrival_ns says. */
typedef struct clv_instance {
    int32_t n_ranks;           /* 1 .. CLV_SCHED_MAX_RANKS */
    int32_t n_segments;        /* 1 .. CLV_SCHED_MAX_SEGMENTS */
    int32_t root;              /* 0 .. n_ranks - 1, also where the goal has none */
    int64_t round_ns;          /* > 0 */
    const int64_t *arrival_ns; /* >= 0; (largest - smallest) / round_ns <= CLV_SCHED_MAX_SPREAD */
    const int64_t *order_ns;   /* >= 0, or NULL */
    clv_goal_t goal;           /* REDUCE when not set */
    const int32_t *place;      /* 0 .. n_ranks - 1 for each rank, or NULL */
    int32_t is_far_late;       /* 0 or 1, for the cut ring and the generators "node-..." */
    const clv_host_order_t
        *host_order; /* of these ranks, root and places, or NULL; changes no plan */
} clv_instance_t;

/* MOVE: the sender gives its copy away, the receiver combines it into its own, or takes it as its
 * own where it has none. COPY: the sender, whose copy is complete, keeps it, and the receiver,
 * which has none, gets one like it. */
typedef enum clv_send_kind { CLV_MOVE = 0, CLV_COPY = 1 } clv_send_kind_t;

/* In this round, sender sends its copy of the segment to receiver. 12 bytes: a plan of 1024 ranks
 * and 1024 segments is a million of them. */
typedef struct clv_send {
    int32_t round;
    uint16_t sender;
    uint16_t receiver;
    uint16_t segment;
    uint16_t kind; /* clv_send_kind_t */
} clv_send_t;

/* The numbers are in their ranges (CLV_SCHED_MAX_RANKS, CLV_SCHED_MAX_SEGMENTS). */
static inline clv_send_t clv_send_of(int32_t round, int32_t sender, int32_t receiver,
                                     int32_t segment, clv_send_kind_t kind)
{
    return (clv_send_t){round, (uint16_t) sender, (uint16_t) receiver, (uint16_t) segment,
                        (uint16_t) kind};
}

/* Sends sorted by round, inside a round in processing order of the receiver. Immutable once made.
 */
typedef struct clv_plan {
    int32_t n_ranks;
    int32_t n_segments;
    int32_t root;
    int32_t n_rounds; /* last round + 1; 0 when nothing is sent */
    int64_t n_sends;
    clv_send_t *sends;
    clv_goal_t goal;
} clv_plan_t;

/* The part of a plan that decides when it ends (sched_fast_estimate.h). */
typedef struct clv_fast_estimate clv_fast_estimate_t;

/* One row per way to make a plan; `name` is what clv-plan and the parameters call it. `goals` has
 * the bit 1 << goal of each goal it can make plans for. fast may be NULL. */
typedef struct clv_generator {
    const char *name;
    const char *meaning;
    uint32_t goals;
    clv_status_t (*generate)(const clv_instance_t *instance, clv_plan_t **plan_p);
    clv_status_t (*fast)(const clv_instance_t *instance, clv_fast_estimate_t **fast_p);
} clv_generator_t;

/* The table, ending in a row with name NULL: bitset (the default, first), latest-first,
 * latest-first-rns, chain (sorted by arrival, latest nearest the root), ...; in tools and tests
 * segtree, linear and other oracles, too. */
extern const clv_generator_t clv_generators[];

/* The row of that name, or NULL. */
const clv_generator_t *clv_generator_find(const char *name);

/* The replacement of a generator if ranks share places: one that puts no more on a place's link
 * than necessary, or the generator itself if there is none. */
const clv_generator_t *clv_generator_on_places(const clv_generator_t *generator);

/* Checks the ranges above. CLV_INVALID, CLV_LIMIT or CLV_OVERFLOW with a reason (static string). */
clv_status_t clv_instance_check(const clv_instance_t *instance,
                                const char **reason_p) CLV_MUST_CHECK;

/* Makes a plan; the caller frees it. CLV_INVALID, CLV_LIMIT, CLV_OVERFLOW, CLV_NO_MEMORY, and
 * CLV_UNSUPPORTED for a goal that the generator does not make plans for. */
clv_status_t clv_plan_make(const clv_generator_t *generator, const clv_instance_t *instance,
                           clv_plan_t **plan_p) CLV_MUST_CHECK;
void clv_plan_free(clv_plan_t *plan);

/* The properties every plan must have ("Properties" in the design): a rank sends only what it has,
 * no contribution is ever counted twice, only complete segments are copied, at most one send and
 * one receive per rank and round, no segment passed on in the round it came, and at the end each
 * segment is complete at every rank that the goal names. On failure CLV_INVALID and the first
 * violation in reason; CLV_NO_MEMORY. O(sends + ranks * segments), 2 bytes per (rank, segment). */
clv_status_t clv_plan_validate(const clv_plan_t *plan, char *reason,
                               size_t reason_bytes) CLV_MUST_CHECK;

/* The property that needs the instance: no rank communicates before its arrival round. Replays the
 * paper's windows from the plan's own sends; the classic generators obey the same rule. The plan
 * has passed clv_plan_validate and belongs to the instance. O(rounds * ranks). */
clv_status_t clv_plan_validate_arrivals(const clv_plan_t *plan, const clv_instance_t *instance,
                                        char *reason, size_t reason_bytes) CLV_MUST_CHECK;

/* FNV-1a 64 over the sends, each as 4 little-endian uint32 (round, sender, receiver, segment) and,
 * only where it is a COPY, its kind as a fifth. */
uint64_t clv_plan_hash(const clv_plan_t *plan);

/* One rank's part of a plan, in plan order. A MOVE is a SEND there and a RECV_REDUCE here, a COPY a
 * SEND_COPY and a RECV_COPY. A RECV_REDUCE is combined where the rank has a copy, else it becomes
 * the copy: that is how a segment comes back to a rank that had given it away. */
typedef enum clv_step_kind {
    CLV_STEP_SEND = 0,
    CLV_STEP_SEND_COPY = 1,
    CLV_STEP_RECV_REDUCE = 2,
    CLV_STEP_RECV_COPY = 3
} clv_step_kind_t;

typedef struct clv_step {
    int32_t round;
    int32_t peer;
    int32_t segment;
    int32_t kind; /* clv_step_kind_t */
} clv_step_t;

static inline bool clv_step_is_send(const clv_step_t *step)
{
    return step->kind == CLV_STEP_SEND || step->kind == CLV_STEP_SEND_COPY;
}

/* How a plan's steps are run (sched_exec.h). AHEAD: a send starts as soon as its data is there;
 * rounds only give the order. ROUNDS: a send also waits for every step of the rank's earlier
 * rounds, which keeps ranks in step: for plans in which only the rounds keep a rank's senders
 * apart. */
typedef enum clv_exec_policy { CLV_EXEC_AHEAD = 0, CLV_EXEC_ROUNDS = 1 } clv_exec_policy_t;

/* Number of steps of a rank, and the steps written to steps[] (at least that many).
 * Within one round a rank's receive comes before its send. */
int64_t clv_plan_count_steps(const clv_plan_t *plan, int32_t rank);
void clv_plan_copy_steps(const clv_plan_t *plan, int32_t rank, clv_step_t *steps);

/* The same for n_listed different ranks in one pass each: where each one's steps begin, rank after
 * rank as listed (n_listed + 1 numbers, the last is how many there are in all), and the steps
 * written there. 40 KiB of the stack. */
void clv_plan_index_steps(const clv_plan_t *plan, const int32_t *ranks, int32_t n_listed,
                          int64_t *first);
void clv_plan_list_steps(const clv_plan_t *plan, const int32_t *ranks, int32_t n_listed,
                         const int64_t *first, clv_step_t *steps);

#endif
