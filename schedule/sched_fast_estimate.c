/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fast estimates: chains in closed form, and the inter-host part behind them (see
 * sched_fast_estimate.h).
 *
 * A chain passes S segments on, hop by hop. Segment s is ready at a rank at a maximum of straight
 * lines, offset + s * step. A hop of period p (between segments), travel time w and combining time
 * c, to a rank that arrives at a, turns that into
 *
 *     leaves(s) = max(ready(s), leaves(s - 1) + p, a)     offset, max(step, p); and a, p
 *     done(s)   = max(leaves(s) + w, done(s - 1)) + c     offset + w + c, max(step, c)
 *
 * Behind a hop no line is flatter than q = max(p, c). So one line is enough if all hops are alike,
 * and two if there are two kinds of hops, near and far: one for the q of each. A hop of the steeper
 * kind merges them.
 */
#include "schedule/sched_fast_estimate.h"

#include "schedule/sched_instance.h"
#include "schedule/sched_replay.h"
#include "util/util_alloc.h"
#include "util/util_divide.h"
#include "util/util_min_max.h"

clv_status_t clv_fast_estimate_make(const clv_generator_t *generator,
                                    const clv_instance_t *instance, clv_fast_estimate_t **fast_p)
{
    const char *reason;
    clv_status_t status = clv_instance_check(instance, &reason);

    return status == CLV_OK ? clv_fast_estimate_make_checked(generator, instance, fast_p) : status;
}

clv_status_t clv_fast_estimate_make_checked(const clv_generator_t *generator,
                                            const clv_instance_t *instance,
                                            clv_fast_estimate_t **fast_p)
{
    if (generator->fast == NULL || instance->goal != CLV_GOAL_REDUCE ||
        !clv_sched_instance_shares_place(instance)) {
        return CLV_UNSUPPORTED;
    }
    return generator->fast(instance, fast_p);
}

/* ---- making one ------------------------------------------------------------------------------ */

clv_fast_estimate_t *clv_fast_estimate_new(const clv_instance_t *instance)
{
    const size_t n_ranks = (size_t) instance->n_ranks;
    clv_fast_estimate_t *fast = clv_alloc(1, sizeof *fast);

    if (fast == NULL) {
        return NULL;
    }
    fast->n_ranks = instance->n_ranks;
    fast->n_segments = instance->n_segments;
    fast->chains = clv_alloc_unset(n_ranks, sizeof *fast->chains);
    fast->ranks = clv_alloc_unset(n_ranks, sizeof *fast->ranks);
    if (fast->chains == NULL || fast->ranks == NULL) {
        clv_fast_estimate_free(fast);
        return NULL;
    }
    return fast;
}

void clv_fast_estimate_free(clv_fast_estimate_t *fast)
{
    if (fast != NULL) {
        clv_interhost_drop(&fast->interhost);
        clv_free(fast->place);
        clv_free(fast->ranks);
        clv_free(fast->chains);
        clv_free(fast);
    }
}

/* ---- the estimate ---------------------------------------------------------------------------- */

/* Durations of a hop, near or far. */
typedef struct kind {
    int64_t wire_ns;
    int64_t way_ns;         /* until the receiver has the segment */
    int64_t done_ns;        /* until it has combined it */
    int64_t period_ns;      /* p */
    int64_t step_ns;        /* q, of the line after it */
    int64_t last_period_ns; /* of the last segment: p and q times the segments after the first */
    int64_t last_step_ns;
} kind_t;

/* The sum over all chains and the inter-host part. */
typedef struct sum {
    const clv_fast_estimate_t *fast;
    const int64_t *arrival_ns;
    const clv_replay_lengths_t *lengths;
    kind_t near, far;
    clv_divisor_t n_ranks;
    int64_t end_ns;
    int64_t in_mpi_ns;
} sum_t;

static kind_t kind_of(int64_t wire_ns, int64_t latency_ns, const clv_replay_lengths_t *lengths,
                      int32_t n_segments)
{
    const int64_t period_ns = clv_larger(wire_ns, lengths->gap_ns);
    const int64_t step_ns = clv_larger(period_ns, lengths->combine_ns);

    return (kind_t){.wire_ns = wire_ns,
                    .way_ns = wire_ns + latency_ns,
                    .done_ns = wire_ns + latency_ns + lengths->combine_ns,
                    .period_ns = period_ns,
                    .step_ns = step_ns,
                    .last_period_ns = (n_segments - 1) * period_ns,
                    .last_step_ns = (n_segments - 1) * step_ns};
}

/* Counts a rank that leaves. */
static inline void count_exit(sum_t *sum, int64_t arrival_ns, int64_t exit_ns)
{
    sum->end_ns = clv_larger(sum->end_ns, exit_ns);
    sum->in_mpi_ns += clv_divide(exit_ns - arrival_ns, sum->n_ranks);
}

/* All hops are near. Returns the stream to the last rank, and counts the exits of all others. */
static clv_interhost_stream_t run_near_chain(sum_t *sum, const clv_chain_t *chain)
{
    const kind_t near = sum->near;
    const int32_t *ranks = sum->fast->ranks;
    int64_t ready_ns = sum->arrival_ns[ranks[chain->first]], here_ns = ready_ns;
    int64_t last_step_ns = near.last_period_ns, step_ns = near.period_ns;
    sum_t of = *sum; /* a local copy, which the compiler can keep in registers */

    for (int32_t i = chain->first; i < chain->last; i++) {
        const int64_t arrival_ns = here_ns;
        here_ns = of.arrival_ns[ranks[i + 1]];
        count_exit(&of, arrival_ns,
                   clv_larger(ready_ns + last_step_ns, here_ns + near.last_period_ns) +
                       near.wire_ns);
        if (i + 1 < chain->last) {
            ready_ns = clv_larger(ready_ns, here_ns) + near.done_ns;
            last_step_ns = near.last_step_ns;
            step_ns = near.step_ns;
        }
    }
    *sum = of;
    return (clv_interhost_stream_t){
        {chain->first < chain->last ? ready_ns + near.way_ns : -1, here_ns + near.way_ns},
        {step_ns, near.period_ns}};
}

/* Two lines: one of the steeper kind, and one of the flatter kind, whose step is zero before the
 * first hop. A line at about NO_LINE_NS does not exist. */
typedef struct lines {
    int64_t steep_ns;
    int64_t flat_ns;
    int64_t last_flat_ns; /* from its first segment to its last */
} lines_t;

#define NO_LINE_NS (INT64_MIN / 2)

/* One hop; returns when the sender has finished. */
static int64_t hop(lines_t *ready, const kind_t *kind, const kind_t *steep, int64_t arrival_ns)
{
    const int64_t flat_ns = ready->flat_ns + clv_larger(ready->last_flat_ns, kind->last_period_ns);
    const int64_t exit_ns = clv_larger(clv_larger(ready->steep_ns + steep->last_step_ns, flat_ns),
                                       arrival_ns + kind->last_period_ns) +
                            kind->wire_ns;
    const int64_t later_ns = clv_larger(ready->flat_ns, arrival_ns);

    if (kind == steep) {
        ready->steep_ns = clv_larger(ready->steep_ns, later_ns) + kind->done_ns;
        ready->flat_ns = NO_LINE_NS;
    } else {
        ready->steep_ns += kind->done_ns;
        ready->flat_ns = later_ns + kind->done_ns;
    }
    ready->last_flat_ns = kind->last_step_ns;
    return exit_ns;
}

/* Hops of both kinds; all ranks leave. */
static void run_mixed_chain(sum_t *sum, const clv_chain_t *chain)
{
    const int32_t *ranks = sum->fast->ranks, *place = sum->fast->place;
    const kind_t *steep = sum->near.step_ns > sum->far.step_ns ? &sum->near : &sum->far;
    lines_t ready = {NO_LINE_NS, sum->arrival_ns[ranks[chain->first]], 0};

    for (int32_t i = chain->first; i < chain->last; i++) {
        const kind_t *kind = place[ranks[i]] == place[ranks[i + 1]] ? &sum->near : &sum->far;
        count_exit(sum, sum->arrival_ns[ranks[i]],
                   hop(&ready, kind, steep, sum->arrival_ns[ranks[i + 1]]));
    }
    count_exit(
        sum, sum->arrival_ns[ranks[chain->last]],
        clv_larger(ready.steep_ns + steep->last_step_ns, ready.flat_ns + ready.last_flat_ns));
}

/* Runs all chains; streams are what they pass to the inter-host part. */
static void run_chains(sum_t *sum, clv_interhost_stream_t *streams)
{
    for (int32_t c = 0; c < sum->fast->n_chains; c++) {
        const clv_chain_t *chain = &sum->fast->chains[c];
        if (chain->representative >= 0) {
            streams[chain->representative] = run_near_chain(sum, chain);
        } else {
            run_mixed_chain(sum, chain);
        }
    }
}

static clv_status_t run_interhost(sum_t *sum, const clv_interhost_stream_t *streams,
                                  int64_t *arrival_ns, int64_t *exit_ns)
{
    const clv_interhost_t *interhost = &sum->fast->interhost;
    clv_status_t status;

    for (int32_t i = 0; i < interhost->n_ranks; i++) {
        arrival_ns[i] = sum->arrival_ns[interhost->rank[i]];
    }
    status = interhost->far_slot != NULL
                 ? clv_interhost_run_chain(interhost, streams, arrival_ns, sum->lengths, exit_ns)
                 : clv_interhost_run(interhost, streams, arrival_ns, sum->lengths, exit_ns);
    for (int32_t i = 0; i < interhost->n_ranks && status == CLV_OK; i++) {
        count_exit(sum, arrival_ns[i], exit_ns[i]);
    }
    return status;
}

static clv_status_t estimate(sum_t *sum)
{
    const size_t n_interhost = (size_t) sum->fast->interhost.n_ranks;
    clv_interhost_stream_t *streams = clv_alloc_unset(n_interhost + 1, sizeof *streams);
    int64_t *times_ns = clv_alloc_unset(2 * n_interhost + 1, sizeof *times_ns);
    clv_status_t status = CLV_NO_MEMORY;

    if (streams != NULL && times_ns != NULL) {
        for (size_t i = 0; i < n_interhost; i++) {
            streams[i] = (clv_interhost_stream_t){{-1, -1}, {0, 0}};
        }
        run_chains(sum, streams);
        status = n_interhost == 0 ? CLV_OK
                                  : run_interhost(sum, streams, times_ns, times_ns + n_interhost);
    }
    clv_free(times_ns);
    clv_free(streams);
    return status;
}

clv_status_t clv_fast_estimate_run(const clv_fast_estimate_t *fast, const int64_t *arrival_ns,
                                   int64_t vector_bytes, const clv_cost_t *cost,
                                   clv_estimate_t *estimate_p)
{
    const int32_t n_segments = fast->n_segments;
    const clv_replay_lengths_t of =
        clv_replay_lengths_of(cost, clv_segment_bytes(vector_bytes, n_segments));
    const int64_t last_ns = clv_replay_last_ns(arrival_ns, fast->n_ranks);
    clv_status_t status = CLV_OVERFLOW;

    if (clv_replay_fits(&of, fast->n_sends, last_ns)) {
        sum_t sum = {.fast = fast,
                     .arrival_ns = arrival_ns,
                     .lengths = &of,
                     .near = kind_of(of.near_wire_ns, of.near_latency_ns, &of, n_segments),
                     .far = kind_of(of.far_wire_ns, of.far_latency_ns, &of, n_segments),
                     .n_ranks = clv_divisor_of(fast->n_ranks)};
        status = estimate(&sum);
        if (status == CLV_OK) {
            *estimate_p = (clv_estimate_t){sum.end_ns, sum.end_ns - last_ns, sum.in_mpi_ns};
        }
    }
    return status;
}
