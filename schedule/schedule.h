/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The schedule room: from arrival times to a plan of sends. PURE: no MPI, no threads, no clock.
 *
 * What: Clairvoyant (Proficz & Ocetkiewicz, sections 2, 4, 5), latest-arrival-first, sorted chain
 * and the classic trees, all as generators of one value, the plan; and what one does with a plan:
 * validate, hash, take one rank's part, execute (sched_exec.h).
 * Not: when to use which plan (coll_clv decides), and how messages travel (the caller's table).
 *
 * Units: int64 ns, rounds counted from 0. Every function is deterministic: the same input gives
 * the same plan on every machine, compiler and SIMD width. Thread-safe on distinct objects.
 */
#ifndef CLV_SCHEDULE_H
#define CLV_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#include "util/util_status.h"

#define CLV_SCHED_MAX_RANKS    4096
#define CLV_SCHED_MAX_SEGMENTS 4096
#define CLV_SCHED_MAX_SPREAD   (INT32_C(1) << 30) /* rounds between first and last arrival */

/* What a generator is asked for. The arrays have n_ranks items and belong to the caller.
 * round_ns is the paper's d.
 *
 * order_ns is for the clip rule: arrival_ns says when a rank may take part (clipped, pessimistic),
 * order_ns where it stands among the others (the plain prediction). Exactly: Clairvoyant orders a
 * round by (availability, order - arrival, rank), so ranks whose arrivals were clipped to the same
 * time keep their predicted order and without a clip the paper's order (availability, rank)
 * remains; latest-first and chain order by (order, rank). NULL means equal to arrival_ns. */
typedef struct clv_instance {
    int32_t n_ranks;           /* 1 .. CLV_SCHED_MAX_RANKS */
    int32_t n_segments;        /* 1 .. CLV_SCHED_MAX_SEGMENTS */
    int32_t root;              /* 0 .. n_ranks - 1 */
    int64_t round_ns;          /* > 0 */
    const int64_t *arrival_ns; /* >= 0; (largest - smallest) / round_ns <= CLV_SCHED_MAX_SPREAD */
    const int64_t *order_ns;   /* >= 0, or NULL */
} clv_instance_t;

/* In this round, sender sends its copy of the segment and receiver combines it into its own. */
typedef struct clv_send {
    int32_t round;
    int32_t sender;
    int32_t receiver;
    int32_t segment;
} clv_send_t;

/* Sends sorted by round, inside a round in processing order of the receiver. Immutable once made.
 */
typedef struct clv_plan {
    int32_t n_ranks;
    int32_t n_segments;
    int32_t root;
    int32_t n_rounds; /* last round + 1; 0 when nothing is sent */
    int64_t n_sends;
    clv_send_t *sends;
} clv_plan_t;

/* One row per way to make a plan; `name` is what clv-plan and the parameters call it. */
typedef struct clv_generator {
    const char *name;
    const char *meaning;
    clv_status_t (*generate)(const clv_instance_t *instance, clv_plan_t **plan_p);
} clv_generator_t;

/* The table, ending in a row with name NULL: bitset (the default, first), segtree, linear,
 * latest-first, latest-first-rns, chain (sorted by arrival, latest nearest the root), ... */
extern const clv_generator_t clv_generators[];

/* The row of that name, or NULL. */
const clv_generator_t *clv_generator_find(const char *name);

/* Checks the ranges above. CLV_INVALID, CLV_LIMIT or CLV_OVERFLOW with a reason (static string). */
clv_status_t clv_instance_check(const clv_instance_t *instance,
                                const char **reason_p) CLV_MUST_CHECK;

/* Makes a plan; the caller frees it. CLV_INVALID, CLV_LIMIT, CLV_OVERFLOW, CLV_NO_MEMORY. */
clv_status_t clv_plan_make(const clv_generator_t *generator, const clv_instance_t *instance,
                           clv_plan_t **plan_p) CLV_MUST_CHECK;
void clv_plan_free(clv_plan_t *plan);

/* The properties every plan must have ("Properties" in the design): each contribution reaches the
 * root exactly once, a rank sends only what it holds, at most one send and one receive per rank
 * and round, no segment forwarded in the round it came. On failure CLV_INVALID and the first
 * violation in reason; CLV_NO_MEMORY. O(sends + ranks * segments). */
clv_status_t clv_plan_validate(const clv_plan_t *plan, char *reason,
                               size_t reason_bytes) CLV_MUST_CHECK;

/* The property that needs the instance: nobody communicates before its arrival round. The windows
 * of the paper are replayed from the plan's own sends; the classic generators obey the same rule.
 * The plan has passed clv_plan_validate and belongs to the instance. O(rounds * ranks). */
clv_status_t clv_plan_validate_arrivals(const clv_plan_t *plan, const clv_instance_t *instance,
                                        char *reason, size_t reason_bytes) CLV_MUST_CHECK;

/* FNV-1a 64 over the sends, each as 4 little-endian uint32 (golden/README). */
uint64_t clv_plan_hash(const clv_plan_t *plan);

/* One rank's part of a plan, in plan order. */
typedef enum clv_step_kind { CLV_STEP_SEND = 0, CLV_STEP_RECV = 1 } clv_step_kind_t;

typedef struct clv_step {
    int32_t round;
    int32_t peer;
    int32_t segment;
    int32_t kind; /* clv_step_kind_t */
} clv_step_t;

/* Number of steps of a rank, and the steps written to steps[] (at least that many).
 * Within one round a rank's receive comes before its send. */
int64_t clv_plan_count_steps(const clv_plan_t *plan, int32_t rank);
void clv_plan_copy_steps(const clv_plan_t *plan, int32_t rank, clv_step_t *steps);

#endif
