/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Replays a plan against arrivals and a linear cost model (see sched_cost.h).
 */
#include "schedule/sched_cost.h"

#include <stdlib.h>

#include "schedule/sched_instance.h"
#include "schedule/sched_replay.h"
#include "util/util_alloc.h"
#include "util/util_min_max.h"

#define COST_CEILING_NS (INT64_MAX / 4)

static int64_t wire_ns(int64_t n_bytes, int64_t byte_ps)
{
    if (byte_ps > 0 && n_bytes > COST_CEILING_NS / byte_ps) {
        return COST_CEILING_NS / 1000;
    }
    return n_bytes * byte_ps / 1000;
}

int64_t clv_cost_round_ns(const clv_cost_t *cost, int64_t n_bytes)
{
    int64_t wire = wire_ns(n_bytes, cost->byte_ps);
    return cost->latency_ns > COST_CEILING_NS - wire ? COST_CEILING_NS : cost->latency_ns + wire;
}

int64_t clv_segment_bytes(int64_t vector_bytes, int32_t n_segments)
{
    return vector_bytes / n_segments + (vector_bytes % n_segments != 0);
}

int64_t clv_cost_segment_bytes(const clv_cost_t *cost, bool shares_places)
{
    const int64_t near_bytes = shares_places ? cost->near_early_bytes : 0;

    if (cost->early_bytes == 0 || near_bytes == 0) {
        const int64_t known = clv_larger(cost->early_bytes, near_bytes);
        return known == 0 ? CLV_COST_SEGMENT_BYTES : known;
    }
    return clv_smaller(cost->early_bytes, near_bytes);
}

#define CLV_COST_COMPARE(number)                                                                   \
    static int by_##number(const void *a, const void *b)                                           \
    {                                                                                              \
        const clv_cost_t *x = a, *y = b;                                                           \
        return clv_compare(x->number, y->number);                                                  \
    }
CLV_COST_MAP(CLV_COST_COMPARE)
#undef CLV_COST_COMPARE

/* The upper quartile of one number among the ranks that measured it, which are sorted to the
 * end. */
#define CLV_COST_QUARTILE(number)                                                                  \
    static int64_t agree_##number(clv_cost_t *costs, int32_t n_costs)                              \
    {                                                                                              \
        int32_t first = 0;                                                                         \
        qsort(costs, (size_t) n_costs, sizeof *costs, by_##number);                                \
        while (first < n_costs && costs[first].number < 0) {                                       \
            first++;                                                                               \
        }                                                                                          \
        return first == n_costs ? 0 : costs[first + (n_costs - first - 1) * 3 / 4].number;         \
    }
CLV_COST_MAP(CLV_COST_QUARTILE)
#undef CLV_COST_QUARTILE

/* The smallest value of one limit among the ranks that measured it. */
#define CLV_COST_LEAST(number)                                                                     \
    static int64_t agree_##number(const clv_cost_t *costs, int32_t n_costs)                        \
    {                                                                                              \
        int64_t least = -1;                                                                        \
        for (int32_t i = 0; i < n_costs; i++) {                                                    \
            const int64_t mine = costs[i].number;                                                  \
            least = mine >= 0 && (least < 0 || mine < least) ? mine : least;                       \
        }                                                                                          \
        return clv_larger(least, 0);                                                               \
    }
CLV_COST_EARLY_MAP(CLV_COST_LEAST)
#undef CLV_COST_LEAST

clv_cost_t clv_cost_agree(clv_cost_t *costs, int32_t n_costs)
{
    clv_cost_t agreed = {
#define CLV_COST_AGREE(number) .number = agree_##number(costs, n_costs),
        CLV_COST_MAP(CLV_COST_AGREE) CLV_COST_EARLY_MAP(CLV_COST_AGREE)
#undef CLV_COST_AGREE
    };

    agreed.gap_ns =
        clv_smaller(agreed.gap_ns, wire_ns(clv_cost_segment_bytes(&agreed, true), agreed.byte_ps));
    return agreed;
}

/* ---- each rank in a place of its own: in plan order, without events -------------------------- */

/* A rank's way in and way out, and what it has combined so far. */
typedef struct replay_rank {
    int64_t out_free_ns;
    int64_t in_free_ns;
    int64_t exit_ns;
} replay_rank_t;

typedef struct replay {
    replay_rank_t *rank;
    int64_t *ready_ns; /* [rank * n_segments + segment]: when that copy may leave */
    const int64_t *arrival_ns;
    int64_t wire_ns;
    int64_t busy_ns; /* wire_ns, or the gap where that is longer */
    int64_t latency_ns;
    int32_t n_segments;
} replay_t;

static void replay_send(replay_t *replay, const clv_send_t *send)
{
    replay_rank_t *sender = &replay->rank[send->sender];
    replay_rank_t *receiver = &replay->rank[send->receiver];
    size_t out = (size_t) send->sender * (size_t) replay->n_segments + (size_t) send->segment;
    size_t in = (size_t) send->receiver * (size_t) replay->n_segments + (size_t) send->segment;
    int64_t start =
        clv_larger(clv_larger(sender->out_free_ns, replay->ready_ns[out]),
                   clv_larger(receiver->in_free_ns, replay->arrival_ns[send->receiver]));
    int64_t sent = start + replay->wire_ns;
    int64_t combined = sent + replay->latency_ns;

    sender->out_free_ns = start + replay->busy_ns;
    sender->exit_ns = clv_larger(sender->exit_ns, sent);
    receiver->in_free_ns = start + replay->busy_ns;
    receiver->exit_ns = clv_larger(receiver->exit_ns, combined);
    replay->ready_ns[in] = clv_larger(replay->ready_ns[in], combined);
}

static void replay_start(replay_t *replay, int32_t n_ranks)
{
    for (int32_t p = 0; p < n_ranks; p++) {
        int64_t arrival = replay->arrival_ns[p];
        replay->rank[p] = (replay_rank_t){arrival, arrival, arrival};
        for (int32_t s = 0; s < replay->n_segments; s++) {
            replay->ready_ns[(size_t) p * (size_t) replay->n_segments + (size_t) s] = arrival;
        }
    }
}

static clv_estimate_t replay_result(const replay_t *replay, int32_t n_ranks, int64_t *exit_ns)
{
    int64_t last_arrival = replay->arrival_ns[0];
    int64_t end = replay->rank[0].exit_ns;
    int64_t in_mpi_sum = 0;

    for (int32_t p = 0; p < n_ranks; p++) {
        last_arrival = clv_larger(last_arrival, replay->arrival_ns[p]);
        end = clv_larger(end, replay->rank[p].exit_ns);
        in_mpi_sum += (replay->rank[p].exit_ns - replay->arrival_ns[p]) / n_ranks;
        if (exit_ns != NULL) {
            exit_ns[p] = replay->rank[p].exit_ns;
        }
    }
    return (clv_estimate_t){end, end - last_arrival, in_mpi_sum};
}

static clv_status_t replay_in_order(const clv_plan_t *plan, const int64_t *arrival_ns,
                                    const clv_replay_lengths_t *lengths, clv_estimate_t *estimate_p,
                                    int64_t *exit_ns)
{
    replay_t replay = {.arrival_ns = arrival_ns,
                       .wire_ns = lengths->far_wire_ns,
                       .busy_ns = clv_larger(lengths->far_wire_ns, lengths->gap_ns),
                       .latency_ns = lengths->far_latency_ns,
                       .n_segments = plan->n_segments};
    clv_status_t status = CLV_NO_MEMORY;

    replay.rank = clv_alloc((size_t) plan->n_ranks, sizeof *replay.rank);
    replay.ready_ns =
        clv_alloc((size_t) plan->n_ranks * (size_t) plan->n_segments, sizeof *replay.ready_ns);
    if (replay.rank != NULL && replay.ready_ns != NULL) {
        replay_start(&replay, plan->n_ranks);
        for (int64_t i = 0; i < plan->n_sends; i++) {
            replay_send(&replay, &plan->sends[i]);
        }
        *estimate_p = replay_result(&replay, plan->n_ranks, exit_ns);
        status = CLV_OK;
    }
    clv_free(replay.ready_ns);
    clv_free(replay.rank);
    return status;
}

/* ---- which of the two ------------------------------------------------------------------------ */

clv_replay_lengths_t clv_replay_lengths_of(const clv_cost_t *cost, int64_t segment_bytes)
{
    return (clv_replay_lengths_t){.far_wire_ns = wire_ns(segment_bytes, cost->byte_ps),
                                  .far_latency_ns = cost->latency_ns,
                                  .near_wire_ns = wire_ns(segment_bytes, cost->near_byte_ps),
                                  .near_latency_ns = cost->near_latency_ns,
                                  .combine_ns = wire_ns(segment_bytes, cost->combine_ps),
                                  .gap_ns = cost->gap_ns};
}

int64_t clv_replay_last_ns(const int64_t *arrival_ns, int32_t n_ranks)
{
    return clv_larger(clv_sched_span(arrival_ns, n_ranks).last_ns, 0);
}

bool clv_replay_fits(const clv_replay_lengths_t *lengths, int64_t n_sends, int64_t last_ns)
{
    int64_t sum_ns = 0;

    return !__builtin_add_overflow(clv_larger(lengths->far_wire_ns, lengths->near_wire_ns),
                                   clv_larger(lengths->far_latency_ns, lengths->near_latency_ns),
                                   &sum_ns) &&
           !__builtin_add_overflow(sum_ns, lengths->combine_ns, &sum_ns) &&
           !__builtin_add_overflow(sum_ns, lengths->gap_ns, &sum_ns) &&
           !__builtin_mul_overflow(sum_ns, n_sends, &sum_ns) &&
           !__builtin_add_overflow(sum_ns, last_ns, &sum_ns);
}

clv_status_t clv_plan_estimate(const clv_plan_t *plan, const int64_t *arrival_ns,
                               const int32_t *place, int64_t vector_bytes, const clv_cost_t *cost,
                               clv_estimate_t *estimate_p)
{
    return clv_plan_estimate_exits(plan, arrival_ns, place, vector_bytes, cost, estimate_p, NULL);
}

clv_status_t clv_plan_estimate_exits(const clv_plan_t *plan, const int64_t *arrival_ns,
                                     const int32_t *place, int64_t vector_bytes,
                                     const clv_cost_t *cost, clv_estimate_t *estimate_p,
                                     int64_t *exit_ns)
{
    const clv_replay_lengths_t lengths =
        clv_replay_lengths_of(cost, clv_segment_bytes(vector_bytes, plan->n_segments));

    if (!clv_replay_fits(&lengths, plan->n_sends, clv_replay_last_ns(arrival_ns, plan->n_ranks))) {
        return CLV_OVERFLOW;
    }
    return clv_sched_shares_place(place, plan->n_ranks)
               ? clv_sched_replay(plan, arrival_ns, place, &lengths, 0, estimate_p, exit_ns)
               : replay_in_order(plan, arrival_ns, &lengths, estimate_p, exit_ns);
}
