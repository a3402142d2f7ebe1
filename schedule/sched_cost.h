/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cost of a plan: a replay of its sends against arrival times and a linear cost model.
 *
 * Model with one rank per host: a segment of n bytes occupies the sender's way out and the
 * receiver's way in for n * byte_ps and is combined latency_ns after that; the next one of either
 * follows no sooner than gap_ns behind it. Each rank sends and combines in plan order, and nothing
 * moves before both ends have arrived. That is the executor without its look-ahead.
 *
 * Model where ranks share a host (a place): between hosts a segment occupies the link out of the
 * sender's host and the link into the receiver's; of the host's ranks, the one that is ready first
 * is served first. Within a host it occupies the receiver's own way in, for near_byte_ps and
 * near_latency_ns. A rank sends in plan order, one segment after the other, the next no sooner than
 * gap_ns behind it, as its own way in takes them. Combining a segment occupies the rank's core for
 * combine_ps per byte, and the receives and sends of one copy keep their order.
 *
 * Not: a network simulation; contention beyond the hosts' links is outside the model.
 *
 * Units: int64 ns, picoseconds per byte, bytes. Integers only: every rank computes the same
 *   estimate.
 * Errors: CLV_NO_MEMORY, CLV_OVERFLOW, CLV_INVALID.
 * Memory: a replay frees all that it allocates when it returns.
 * Threads: safe.
 */
#ifndef CLV_SCHED_COST_H
#define CLV_SCHED_COST_H

#include <stdbool.h>

#include "schedule/schedule.h"

/* XX(number). byte_ps: picoseconds per byte on the slowest link of a pair, that of a place where
 * ranks share one; latency_ns: per segment, message latency, its handling and the combination; the
 * near ones: the same two between ranks of one place; combine_ps: per byte, of the receiver's core,
 * 0 when the latencies contain it. The last three count only where ranks share places. gap_ns: from
 * one message of a rank to its next, however short they are (the g of LogGP). */
#define CLV_COST_MAP(XX)                                                                           \
    XX(latency_ns) XX(byte_ps) XX(near_latency_ns) XX(near_byte_ps) XX(combine_ps) XX(gap_ns)

/* XX(number), bytes: the largest segment that leaves without its receiver (the eager limit of a
 * nonblocking send), and the same between ranks of one place; 0: none does. */
#define CLV_COST_EARLY_MAP(XX) XX(early_bytes) XX(near_early_bytes)

/* All >= 0, except in what one rank measured (clv_cost_agree). */
typedef struct clv_cost {
#define CLV_COST_FIELD(number) int64_t number;
    CLV_COST_MAP(CLV_COST_FIELD)
    CLV_COST_EARLY_MAP(CLV_COST_FIELD)
#undef CLV_COST_FIELD
} clv_cost_t;

typedef struct clv_estimate {
    int64_t end_ns;    /* the last exit, on the clock of arrival_ns */
    int64_t after_ns;  /* last exit - last arrival */
    int64_t in_mpi_ns; /* mean over ranks of exit - arrival */
} clv_estimate_t;

/* One model from what n_costs (> 0) ranks measured, which it sorts: the upper quartile of each
 * time over the ranks that measured it, and the least of each limit; -1 in a rank's cost says that
 * it did not, and 0 comes out where nobody did.
 * Not the largest: one of many ranks has always lost its core for some milliseconds while it
 * measured, and a latency of that size makes the wrong plans look good for the rest of the run. A
 * link that truly is slow is so in every plan, since each rank sends its vector in each. */
clv_cost_t clv_cost_agree(clv_cost_t *costs, int32_t n_costs);

/* Where nothing leaves without its receiver, whatever its size: what is common in pipelines. */
#define CLV_COST_SEGMENT_BYTES 32768

/* The segments that plans of long vectors are cut into: the largest that leave without their
 * receiver on every kind of link that has such (shares_places: the near ones, too). Longer ones
 * would hold early ranks in the call, and the last would not find them there. The agreed gap is no
 * longer than such a segment takes: where a machine was busy for a moment while it was measured,
 * segments need not be larger. */
int64_t clv_cost_segment_bytes(const clv_cost_t *cost, bool shares_places);

/* Time of one message of n_bytes: the paper's d. Saturates at INT64_MAX / 4. */
int64_t clv_cost_round_ns(const clv_cost_t *cost, int64_t n_bytes);

/* Bytes of the largest segment when vector_bytes are cut into n_segments. */
int64_t clv_segment_bytes(int64_t vector_bytes, int32_t n_segments);

/* Replays the plan, which has passed clv_plan_validate. place as in clv_instance_t; without it, or
 * with one rank per place, O(sends) time and 8 bytes per (rank, segment), else O(sends * log sends)
 * while links are free when needed, and 16 bytes per (rank, segment) with 32 per send.
 * CLV_NO_MEMORY; CLV_OVERFLOW when the sends one after the other would pass INT64_MAX; CLV_INVALID
 * when a plan that is none cannot be replayed to its end. */
clv_status_t clv_plan_estimate(const clv_plan_t *plan, const int64_t *arrival_ns,
                               const int32_t *place, int64_t vector_bytes, const clv_cost_t *cost,
                               clv_estimate_t *estimate_p) CLV_MUST_CHECK;

/* The same, and into exit_ns, unless it is NULL, when each rank leaves. sched_exits.h is for who
 * also wants what travels early. */
clv_status_t clv_plan_estimate_exits(const clv_plan_t *plan, const int64_t *arrival_ns,
                                     const int32_t *place, int64_t vector_bytes,
                                     const clv_cost_t *cost, clv_estimate_t *estimate_p,
                                     int64_t *exit_ns) CLV_MUST_CHECK;

#endif
