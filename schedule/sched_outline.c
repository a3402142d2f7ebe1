/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Outlines: chains in closed form, and a replay of the core behind them (see sched_outline.h).
 *
 * A chain hands S segments on, one hop after the other. When segment s is ready at a rank is a
 * maximum of straight lines, offset + s * step. A hop of period p (how soon the next segment
 * follows), w (the way) and c (combining it) to a rank that arrives at a turns that into
 *
 *     leaves(s) = max(ready(s), leaves(s - 1) + p, a)     offset, max(step, p); and a, p
 *     done(s)   = max(leaves(s) + w, done(s - 1)) + c     offset + w + c, max(step, c)
 *
 * Hops are near or far, so there are three steps at most, and a line for each: those that either
 * kind leaves behind, and the period of this hop.
 */
#include "schedule/sched_outline.h"

#include <string.h>

#include "schedule/sched_instance.h"
#include "schedule/sched_plan.h"
#include "schedule/sched_replay.h"
#include "util/util_alloc.h"
#include "util/util_divide.h"
#include "util/util_min_max.h"

clv_status_t clv_outline_make(const clv_generator_t *generator, const clv_instance_t *instance,
                              clv_outline_t **outline_p)
{
    const char *reason;
    clv_status_t status = clv_instance_check(instance, &reason);

    if (status == CLV_OK && (generator->outline == NULL || instance->goal != CLV_GOAL_REDUCE ||
                             !clv_sched_instance_shares_place(instance))) {
        status = CLV_UNSUPPORTED;
    }
    return status == CLV_OK ? generator->outline(instance, outline_p) : status;
}

/* ---- making one ------------------------------------------------------------------------------ */

clv_outline_t *clv_outline_new(const clv_instance_t *instance)
{
    const size_t n_ranks = (size_t) instance->n_ranks;
    clv_outline_t *outline = clv_alloc(1, sizeof *outline);

    if (outline == NULL) {
        return NULL;
    }
    outline->n_ranks = instance->n_ranks;
    outline->n_segments = instance->n_segments;
    outline->first = clv_alloc(n_ranks + 1, sizeof *outline->first);
    outline->ranks = clv_alloc(n_ranks, sizeof *outline->ranks);
    outline->feeds = clv_alloc(n_ranks, sizeof *outline->feeds);
    outline->place = clv_alloc_unset(n_ranks, sizeof *outline->place);
    if (outline->first == NULL || outline->ranks == NULL || outline->feeds == NULL ||
        outline->place == NULL) {
        clv_outline_free(outline);
        return NULL;
    }
    memcpy(outline->place, instance->place, n_ranks * sizeof *outline->place);
    return outline;
}

void clv_outline_free(clv_outline_t *outline)
{
    if (outline != NULL) {
        clv_plan_free(outline->core);
        clv_free(outline->core_place);
        clv_free(outline->core_rank);
        clv_free(outline->place);
        clv_free(outline->feeds);
        clv_free(outline->ranks);
        clv_free(outline->first);
        clv_free(outline);
    }
}

/* The ranks that the sends name, counted anew in rising order: number[rank], -1 for all others. */
static int32_t number_ranks(const clv_send_t *sends, int64_t n_sends, int32_t n_ranks,
                            int32_t *number)
{
    int32_t n_core = 0;

    for (int32_t p = 0; p < n_ranks; p++) {
        number[p] = -1;
    }
    for (int64_t k = 0; k < n_sends; k++) {
        number[sends[k].sender] = number[sends[k].receiver] = 0;
    }
    for (int32_t p = 0; p < n_ranks; p++) {
        number[p] = number[p] < 0 ? -1 : n_core++;
    }
    return n_core;
}

/* What places are called in the core: the number of the first of its ranks there. lowest: by place
 * of the whole, -1 at first. */
static void place_core(clv_outline_t *outline, int32_t *lowest)
{
    for (int32_t p = 0; p < outline->n_ranks; p++) {
        lowest[p] = -1;
    }
    for (int32_t i = 0; i < outline->n_core; i++) {
        int32_t *first = &lowest[outline->place[outline->core_rank[i]]];
        *first = *first < 0 ? i : *first;
        outline->core_place[i] = *first;
    }
}

/* Chains end at ranks of the core. */
static void join_chains(clv_outline_t *outline, const int32_t *number)
{
    for (int32_t c = 0; c < outline->n_chains; c++) {
        outline->feeds[c] = number[outline->ranks[outline->first[c + 1] - 1]];
    }
}

static clv_status_t fill_core(clv_outline_t *outline, int32_t *number, clv_send_t *sends,
                              int64_t n_sends, const clv_instance_t *instance)
{
    const int32_t n_core = number_ranks(sends, n_sends, instance->n_ranks, number);
    clv_instance_t core = {.n_ranks = n_core, .n_segments = instance->n_segments};
    clv_builder_t builder = {.sends = sends, .n_sends = n_sends, .capacity = n_sends};

    outline->n_core = n_core;
    outline->core_rank = clv_alloc((size_t) n_core, sizeof *outline->core_rank);
    outline->core_place = clv_alloc((size_t) n_core, sizeof *outline->core_place);
    if (outline->core_rank == NULL || outline->core_place == NULL) {
        return CLV_NO_MEMORY;
    }
    for (int32_t p = 0; p < instance->n_ranks; p++) {
        if (number[p] >= 0) {
            outline->core_rank[number[p]] = p;
        }
    }
    for (int64_t k = 0; k < n_sends; k++) {
        sends[k].sender = (uint16_t) number[sends[k].sender];
        sends[k].receiver = (uint16_t) number[sends[k].receiver];
    }
    core.root = number[instance->root];
    join_chains(outline, number);
    place_core(outline, number);
    return clv_builder_finish(&builder, &core, &outline->core);
}

clv_status_t clv_outline_set_core(clv_outline_t *outline, clv_send_t *sends, int64_t n_sends,
                                  const clv_instance_t *instance)
{
    int32_t *number = clv_alloc_unset((size_t) instance->n_ranks, sizeof *number);
    clv_status_t status =
        number == NULL ? CLV_NO_MEMORY : fill_core(outline, number, sends, n_sends, instance);

    clv_free(number);
    if (status != CLV_OK) {
        clv_free(sends);
    }
    return status;
}

/* ---- chains ---------------------------------------------------------------------------------- */

typedef struct line {
    int64_t offset_ns; /* -1: none */
    int64_t step_ns;
} line_t;

enum { N_LINES = 3 };

/* When the segments are ready at a rank of a chain: the largest of these. */
typedef struct front {
    line_t line[N_LINES];
} front_t;

static int64_t at_ns(const front_t *front, int32_t segment)
{
    int64_t ns = -1;
    for (int i = 0; i < N_LINES; i++) {
        if (front->line[i].offset_ns >= 0) {
            ns = clv_larger(ns, front->line[i].offset_ns + segment * front->line[i].step_ns);
        }
    }
    return ns;
}

/* Among lines of one step the later one counts. */
static void add_line(front_t *front, int64_t offset_ns, int64_t step_ns)
{
    for (int i = 0; i < N_LINES; i++) {
        line_t *line = &front->line[i];
        if (line->offset_ns < 0 || line->step_ns == step_ns) {
            *line = (line_t){clv_larger(line->offset_ns, offset_ns), step_ns};
            return;
        }
    }
}

static const front_t nothing = {{{-1, 0}, {-1, 0}, {-1, 0}}};

/* Every line as steep as the period at least, and none before the arrival. */
static front_t leave(const front_t *ready, int64_t period_ns, int64_t arrival_ns)
{
    front_t left = nothing;
    for (int i = 0; i < N_LINES; i++) {
        if (ready->line[i].offset_ns >= 0) {
            add_line(&left, ready->line[i].offset_ns,
                     clv_larger(ready->line[i].step_ns, period_ns));
        }
    }
    add_line(&left, arrival_ns, period_ns);
    return left;
}

static front_t combine(const front_t *left, int64_t way_ns, int64_t combine_ns)
{
    front_t done = nothing;
    for (int i = 0; i < N_LINES; i++) {
        if (left->line[i].offset_ns >= 0) {
            add_line(&done, left->line[i].offset_ns + way_ns + combine_ns,
                     clv_larger(left->line[i].step_ns, combine_ns));
        }
    }
    return done;
}

/* What all chains and the core add up to. */
typedef struct sum {
    const clv_outline_t *outline;
    const int64_t *arrival_ns;
    const clv_replay_lengths_t *lengths;
    clv_divisor_t n_ranks;
    int64_t end_ns;
    int64_t in_mpi_ns;
} sum_t;

static void count_exit(sum_t *sum, int32_t rank, int64_t exit_ns)
{
    sum->end_ns = clv_larger(sum->end_ns, exit_ns);
    sum->in_mpi_ns += clv_divide(exit_ns - sum->arrival_ns[rank], sum->n_ranks);
}

/* From one rank of a chain to the next, and the first one's exit. */
static front_t hop(sum_t *sum, const front_t *ready, int32_t from, int32_t to)
{
    const clv_replay_lengths_t *lengths = sum->lengths;
    const int near = sum->outline->place[from] == sum->outline->place[to];
    const int64_t wire_ns = near ? lengths->near_wire_ns : lengths->far_wire_ns;
    const int64_t latency_ns = near ? lengths->near_latency_ns : lengths->far_latency_ns;
    const front_t left = leave(ready, clv_larger(wire_ns, lengths->gap_ns), sum->arrival_ns[to]);

    count_exit(sum, from, at_ns(&left, sum->outline->n_segments - 1) + wire_ns);
    return combine(&left, wire_ns + latency_ns, lengths->combine_ns);
}

/* When the segments are ready at the end of the chain. */
static front_t run_chain(sum_t *sum, int32_t chain)
{
    const clv_outline_t *outline = sum->outline;
    const int32_t last = outline->first[chain + 1] - 1;
    front_t ready = nothing;

    add_line(&ready, sum->arrival_ns[outline->ranks[outline->first[chain]]], 0);
    for (int32_t i = outline->first[chain]; i < last; i++) {
        ready = hop(sum, &ready, outline->ranks[i], outline->ranks[i + 1]);
    }
    return ready;
}

/* ---- the estimate ---------------------------------------------------------------------------- */

/* What the chains bring to the core. */
static void run_chains(sum_t *sum, clv_replay_given_t *given)
{
    const clv_outline_t *outline = sum->outline;

    for (int32_t c = 0; c < outline->n_chains; c++) {
        const front_t ready = run_chain(sum, c);
        if (outline->feeds[c] >= 0) { /* all its hops are near ones: one line */
            given[outline->feeds[c]] =
                (clv_replay_given_t){ready.line[0].offset_ns, ready.line[0].step_ns};
        } else {
            count_exit(sum, outline->ranks[outline->first[c + 1] - 1],
                       at_ns(&ready, outline->n_segments - 1));
        }
    }
}

static clv_status_t replay_core(sum_t *sum, int64_t *core_arrival_ns, int64_t *core_exit_ns,
                                const clv_replay_given_t *given)
{
    const clv_outline_t *outline = sum->outline;
    clv_estimate_t of_core;
    clv_status_t status;

    for (int32_t i = 0; i < outline->n_core; i++) {
        core_arrival_ns[i] = sum->arrival_ns[outline->core_rank[i]];
    }
    status = clv_sched_replay(outline->core, core_arrival_ns, outline->core_place, sum->lengths, 0,
                              given, &of_core, core_exit_ns);
    for (int32_t i = 0; i < outline->n_core && status == CLV_OK; i++) {
        count_exit(sum, outline->core_rank[i], core_exit_ns[i]);
    }
    return status;
}

static clv_status_t estimate(sum_t *sum)
{
    const size_t n_core = (size_t) sum->outline->n_core;
    clv_replay_given_t *given = clv_alloc(n_core + 1, sizeof *given);
    int64_t *times_ns = clv_alloc(2 * n_core + 1, sizeof *times_ns);
    clv_status_t status = CLV_NO_MEMORY;

    if (given != NULL && times_ns != NULL) {
        run_chains(sum, given);
        status = sum->outline->core == NULL ? CLV_OK
                                            : replay_core(sum, times_ns, times_ns + n_core, given);
    }
    clv_free(times_ns);
    clv_free(given);
    return status;
}

clv_status_t clv_outline_estimate(const clv_outline_t *outline, const int64_t *arrival_ns,
                                  int64_t vector_bytes, const clv_cost_t *cost,
                                  clv_estimate_t *estimate_p)
{
    const clv_replay_lengths_t lengths =
        clv_replay_lengths_of(cost, clv_segment_bytes(vector_bytes, outline->n_segments));
    const int64_t last_ns = clv_replay_last_ns(arrival_ns, outline->n_ranks);
    sum_t sum = {.outline = outline,
                 .arrival_ns = arrival_ns,
                 .lengths = &lengths,
                 .n_ranks = clv_divisor_of(outline->n_ranks)};
    clv_status_t status = CLV_OVERFLOW;

    if (clv_replay_fits(&lengths, outline->n_sends, last_ns)) {
        status = estimate(&sum);
    }
    if (status == CLV_OK) {
        *estimate_p = (clv_estimate_t){sum.end_ns, sum.end_ns - last_ns, sum.in_mpi_ns};
    }
    return status;
}
