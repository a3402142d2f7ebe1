/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Private to schedule/: what every generator derives from an instance before it starts.
 *
 * Units: int64 ns. Cost: O(ranks) each. The instance has passed clv_instance_check.
 */
#ifndef CLV_SCHED_INSTANCE_H
#define CLV_SCHED_INSTANCE_H

#include <stdbool.h>

#include "schedule/schedule.h"

/* The first and the last of n (> 0) times. */
typedef struct clv_span {
    int64_t first_ns;
    int64_t last_ns;
} clv_span_t;
clv_span_t clv_sched_span(const int64_t *times_ns, int32_t n);

/* The smallest arrival, and the largest minus the smallest. */
int64_t clv_sched_first_ns(const clv_instance_t *instance);
int64_t clv_sched_spread_ns(const clv_instance_t *instance);

/* The round length, or spread + 1 if that is shorter: a longer round changes nothing (everyone is
 * in the first window already), and with the shorter one sums cannot overflow early. */
int64_t clv_sched_effective_round_ns(const clv_instance_t *instance);

/* In which round a rank arrives, for who asks about many: both of them once for all. */
typedef struct clv_rounds {
    int64_t first_ns;
    int64_t round_ns; /* the effective one */
} clv_rounds_t;
clv_rounds_t clv_sched_rounds(const clv_instance_t *instance);
static inline int32_t clv_sched_arrival_round(const clv_instance_t *instance, clv_rounds_t rounds,
                                              int32_t rank)
{
    return (int32_t) ((instance->arrival_ns[rank] - rounds.first_ns) / rounds.round_ns);
}

/* The last round number for which round and time still fit their types (int32, int64 ns). */
int64_t clv_sched_round_limit(const clv_instance_t *instance);

/* Where the rank stands inside its availability: order - arrival, 0 without an order key. */
static inline int64_t clv_sched_lead_ns(const clv_instance_t *instance, int32_t rank)
{
    return instance->order_ns == NULL ? 0 : instance->order_ns[rank] - instance->arrival_ns[rank];
}

/* The key of latest-first and chain. */
static inline int64_t clv_sched_order_ns(const clv_instance_t *instance, int32_t rank)
{
    return instance->order_ns == NULL ? instance->arrival_ns[rank] : instance->order_ns[rank];
}

/* Where the rank is; without places every rank is in one of its own. */
static inline int32_t clv_sched_place(const clv_instance_t *instance, int32_t rank)
{
    return instance->place == NULL ? rank : instance->place[rank];
}

/* By place, its lowest rank: what places are called does not matter then. n_ranks numbers, those
 * of places without ranks are n_ranks. */
void clv_sched_lowest_ranks(const clv_instance_t *instance, int32_t *lowest);

/* Whether two ranks have one place. */
bool clv_sched_shares_place(const int32_t *place, int32_t n_ranks);
bool clv_sched_instance_shares_place(const clv_instance_t *instance);

/* The rank that arrives first, by (arrival, order, rank): the sink of latest-first until the root
 * has arrived. */
int32_t clv_sched_first_rank(const clv_instance_t *instance);

#endif
