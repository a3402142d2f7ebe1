/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An inter-host part that is a chain: each rank passes all segments on to the next (see
 * sched_interhost.h).
 *
 * No rank waits for a link that another rank holds, and segments leave in order. So the code
 * processes one rank after the other and merges its two incoming streams by time. A segment's parts
 * are combined in plan order: a part that comes too early waits for the other one.
 *
 * Cost: O(ranks * segments).
 */
#include "schedule/sched_interhost.h"
#include "util/util_alloc.h"
#include "util/util_min_max.h"

/* A rank while it receives. */
typedef struct taking {
    const clv_interhost_stream_t *stream;
    const int32_t *near_slot;
    const int64_t *here_ns; /* arrival over the link, by segment */
    int64_t *ready_ns;      /* by segment */
    int64_t far_slot;
    int32_t slots_per_round;
    int32_t n_segments;
    int64_t combine_ns;
    int64_t core_free_ns;
    bool near_is_first; /* tie-break that overrides the plan: segments from inside come first */
} taking_t;

static int64_t near_here_ns(const clv_interhost_stream_t *stream, int32_t segment)
{
    return clv_larger(stream->first_ns[0] + segment * stream->step_ns[0],
                      stream->first_ns[1] + segment * stream->step_ns[1]);
}

/* Whether the plan has this segment come from inside before that one over the link. */
static inline bool is_planned_first(const taking_t *taking, int32_t near, int32_t far)
{
    return taking->near_slot[near] <= taking->far_slot + (int64_t) far * taking->slots_per_round;
}

/* When the processor is free after it has combined n_parts parts of a segment. */
static inline int64_t combine(int64_t free_ns, int64_t now_ns, int n_parts, int64_t combine_ns)
{
    return n_parts == 0 ? free_ns : clv_larger(free_ns, now_ns) + n_parts * combine_ns;
}

/* Combines parts as they come. The part that is first in the plan is combined at once, the second
 * one when both are there. So if the first one comes second, both are combined. */
static void take_both(taking_t *taking)
{
    const int32_t n = taking->n_segments;
    int32_t near = 0, far = 0;
    int64_t near_ns = near_here_ns(taking->stream, 0), free_ns = taking->core_free_ns;

    while (near < n || far < n) {
        const int64_t far_ns = far < n ? taking->here_ns[far] : INT64_MAX;
        const bool takes_near = near_ns != far_ns
                                    ? near_ns < far_ns
                                    : taking->near_is_first || is_planned_first(taking, near, far);
        if (takes_near) {
            const int n_parts = is_planned_first(taking, near, near) + (near < far);
            free_ns = combine(free_ns, near_ns, n_parts, taking->combine_ns);
            taking->ready_ns[near++] = free_ns;
            near_ns = near < n ? near_here_ns(taking->stream, near) : INT64_MAX;
        } else {
            const int n_parts = !is_planned_first(taking, far, far) + (far < near);
            free_ns = combine(free_ns, far_ns, n_parts, taking->combine_ns);
            taking->ready_ns[far++] = free_ns;
        }
    }
    taking->core_free_ns = free_ns;
}

/* Combines one stream: from inside, or over the link, or none. */
static void take_one(taking_t *taking, bool comes_near, bool comes_far)
{
    int64_t free_ns = taking->core_free_ns;

    for (int32_t s = 0; s < taking->n_segments; s++) {
        const int64_t now_ns = comes_near  ? near_here_ns(taking->stream, s)
                               : comes_far ? taking->here_ns[s]
                                           : 0;
        free_ns = combine(free_ns, now_ns, comes_near || comes_far, taking->combine_ns);
        taking->ready_ns[s] = free_ns;
    }
    taking->core_free_ns = free_ns;
}

static void take_all(taking_t *taking, bool comes_far)
{
    const bool comes_near = taking->stream->first_ns[0] >= 0;

    if (comes_near && comes_far) {
        take_both(taking);
    } else {
        take_one(taking, comes_near, comes_far);
    }
}

/* A way from one rank to the next. */
typedef struct way {
    int64_t wire_ns;
    int64_t latency_ns;
    int64_t gap_ns;
} way_t;

/* Sets here_ns[], when segments arrive; returns when the last one has left. */
static int64_t send_all(const taking_t *taking, int64_t first_ns, way_t way, int64_t *here_ns)
{
    const int64_t busy_ns = clv_larger(way.wire_ns, way.gap_ns);
    int64_t free_ns = first_ns, start_ns = 0;

    for (int32_t s = 0; s < taking->n_segments; s++) {
        start_ns = clv_larger(free_ns, taking->ready_ns[s]);
        free_ns = start_ns + busy_ns;
        here_ns[s] = start_ns + way.wire_ns + way.latency_ns;
    }
    return start_ns + way.wire_ns;
}

static way_t way_to(const clv_interhost_t *interhost, const clv_replay_lengths_t *lengths,
                    int32_t k)
{
    const way_t far = {lengths->far_wire_ns, lengths->far_latency_ns, lengths->gap_ns};
    const way_t near = {lengths->near_wire_ns, lengths->near_latency_ns, lengths->gap_ns};

    return clv_interhost_is_handed(interhost, k) ? near : far;
}

static taking_t taking_of(const clv_interhost_t *interhost, const clv_interhost_stream_t *stream,
                          int32_t k, const clv_replay_lengths_t *lengths)
{
    return (taking_t){.stream = stream,
                      .near_slot =
                          interhost->near_slot + (size_t) k * (size_t) interhost->n_segments,
                      .far_slot = interhost->far_slot[k],
                      .slots_per_round = interhost->slots_per_round,
                      .n_segments = interhost->n_segments,
                      .combine_ns = lengths->combine_ns,
                      .near_is_first = lengths->far_wire_ns + lengths->far_latency_ns == 0};
}

clv_status_t clv_interhost_run_chain(const clv_interhost_t *interhost,
                                     const clv_interhost_stream_t *streams,
                                     const int64_t *arrival_ns, const clv_replay_lengths_t *lengths,
                                     int64_t *exit_ns)
{
    int64_t *times_ns = clv_alloc_unset(2 * (size_t) interhost->n_segments, sizeof *times_ns);

    if (times_ns == NULL) {
        return CLV_NO_MEMORY;
    }
    for (int32_t k = 0; k < interhost->n_ranks; k++) {
        taking_t taking = taking_of(interhost, &streams[k], k, lengths);
        taking.here_ns = times_ns;
        taking.ready_ns = times_ns + interhost->n_segments;
        taking.core_free_ns = arrival_ns[k];
        take_all(&taking, k > 0);
        exit_ns[k] = taking.core_free_ns;
        if (k + 1 < interhost->n_ranks) {
            exit_ns[k] = send_all(&taking, clv_larger(arrival_ns[k], arrival_ns[k + 1]),
                                  way_to(interhost, lengths, k + 1), times_ns);
        }
    }
    clv_free(times_ns);
    return CLV_OK;
}
