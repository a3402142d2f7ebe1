/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plan as a value: built, hashed, split into the steps of each rank, freed.
 *
 * Not: making sends (the generators), nor checking them (sched_validate.c).
 * Cost: linear in the sends everywhere. Thread-safe on distinct plans; a finished plan is
 * read-only and may be shared.
 */
#include "schedule/sched_plan.h"

#include <string.h>

#include "util/util_alloc.h"
#include "util/util_hash.h"

enum { RADIX_MIN_BITS = 4, RADIX_MAX_BITS = 16 };

clv_status_t clv_builder_init(clv_builder_t *builder, const clv_instance_t *instance)
{
    int64_t n_cells = (int64_t) (instance->n_ranks - 1) * instance->n_segments;
    /* Segments that the sink takes back: half as many again in tiny cases, 3 % in large ones. */
    int64_t n_extra = n_cells / 16 + 4 * (int64_t) instance->n_segments + instance->n_ranks;

    builder->n_sends = 0;
    builder->capacity = n_cells + n_extra;
    builder->sends = clv_alloc_unset((size_t) builder->capacity, sizeof *builder->sends);
    return builder->sends == NULL ? CLV_NO_MEMORY : CLV_OK;
}

void clv_builder_drop(clv_builder_t *builder)
{
    clv_free(builder->sends);
    builder->sends = NULL;
}

clv_status_t clv_builder_reserve(clv_builder_t *builder, int64_t n_more)
{
    if (builder->n_sends + n_more <= builder->capacity) {
        return CLV_OK;
    }
    int64_t capacity = builder->capacity + builder->capacity / 2 + n_more;
    clv_send_t *sends = clv_alloc_unset((size_t) capacity, sizeof *sends);
    if (sends == NULL) {
        return CLV_NO_MEMORY;
    }
    if (builder->n_sends > 0) {
        memcpy(sends, builder->sends, (size_t) builder->n_sends * sizeof *sends);
    }
    clv_free(builder->sends);
    builder->sends = sends;
    builder->capacity = capacity;
    return CLV_OK;
}

/* The table of a pass is about as long as the input: clearing 2^16 entries for a plan of a hundred
 * sends would take longer than making the plan. */
static int radix_bits(int64_t n_sends)
{
    int bits = RADIX_MIN_BITS;
    while (bits < RADIX_MAX_BITS && (INT64_C(1) << bits) < n_sends) {
        bits++;
    }
    return bits;
}

/* One pass of a least-significant-digit radix sort by round. starts has 2^bits + 1 entries. */
static void sort_by_digit(const clv_send_t *from, clv_send_t *to, int64_t n_sends, int shift,
                          int bits, int64_t *starts)
{
    const uint32_t n_digits = UINT32_C(1) << bits;
    memset(starts, 0, (n_digits + 1) * sizeof *starts);
    for (int64_t k = 0; k < n_sends; k++) {
        starts[(((uint32_t) from[k].round >> shift) & (n_digits - 1)) + 1]++;
    }
    for (uint32_t digit = 0; digit < n_digits; digit++) {
        starts[digit + 1] += starts[digit];
    }
    for (int64_t k = 0; k < n_sends; k++) {
        to[starts[((uint32_t) from[k].round >> shift) & (n_digits - 1)]++] = from[k];
    }
}

/* All bits that occur in any round. */
static uint32_t used_bits(const clv_builder_t *builder)
{
    uint32_t used = 0;
    for (int64_t k = 0; k < builder->n_sends; k++) {
        used |= (uint32_t) builder->sends[k].round;
    }
    return used;
}

clv_status_t clv_builder_sort(clv_builder_t *builder)
{
    const int bits = radix_bits(builder->n_sends);
    const uint32_t used = used_bits(builder);
    clv_status_t status = CLV_NO_MEMORY;
    clv_send_t *other = clv_alloc_unset((size_t) builder->capacity, sizeof *other);
    int64_t *starts = clv_alloc(((size_t) 1 << bits) + 1, sizeof *starts);

    if (other != NULL && starts != NULL) {
        for (int shift = 0; shift < 32 && used >> shift != 0; shift += bits) {
            clv_send_t *const sorted = other;
            sort_by_digit(builder->sends, sorted, builder->n_sends, shift, bits, starts);
            other = builder->sends;
            builder->sends = sorted;
        }
        status = CLV_OK;
    }
    clv_free(starts);
    clv_free(other);
    return status;
}

clv_status_t clv_builder_finish(clv_builder_t *builder, const clv_instance_t *instance,
                                clv_plan_t **plan_p)
{
    clv_plan_t *plan = clv_alloc(1, sizeof *plan);
    if (plan == NULL) {
        return CLV_NO_MEMORY;
    }
    plan->n_ranks = instance->n_ranks;
    plan->n_segments = instance->n_segments;
    plan->root = instance->root;
    plan->n_sends = builder->n_sends;
    plan->n_rounds = builder->n_sends > 0 ? builder->sends[builder->n_sends - 1].round + 1 : 0;
    plan->sends = builder->sends;
    plan->goal = instance->goal;
    builder->sends = NULL;
    *plan_p = plan;
    return CLV_OK;
}

void clv_plan_free(clv_plan_t *plan)
{
    if (plan != NULL) {
        clv_free(plan->sends);
        clv_free(plan);
    }
}

uint64_t clv_plan_hash(const clv_plan_t *plan)
{
    uint64_t hash = CLV_FNV1A64_BASIS;
    for (int64_t k = 0; k < plan->n_sends; k++) {
        hash = clv_fnv1a64_u32(hash, (uint32_t) plan->sends[k].round);
        hash = clv_fnv1a64_u32(hash, plan->sends[k].sender);
        hash = clv_fnv1a64_u32(hash, plan->sends[k].receiver);
        hash = clv_fnv1a64_u32(hash, plan->sends[k].segment);
        if (plan->sends[k].kind != CLV_MOVE) {
            hash = clv_fnv1a64_u32(hash, plan->sends[k].kind);
        }
    }
    return hash;
}

/* The index of each rank in the list; -1: not listed. */
static void number_listed(const clv_plan_t *plan, const int32_t *ranks, int32_t n_listed,
                          int16_t *number)
{
    for (int32_t p = 0; p < plan->n_ranks; p++) {
        number[p] = -1;
    }
    for (int32_t i = 0; i < n_listed; i++) {
        number[ranks[i]] = (int16_t) i;
    }
}

void clv_plan_index_steps(const clv_plan_t *plan, const int32_t *ranks, int32_t n_listed,
                          int64_t *first)
{
    int16_t number[CLV_SCHED_MAX_RANKS];

    number_listed(plan, ranks, n_listed, number);
    memset(first, 0, ((size_t) n_listed + 1) * sizeof *first);
    for (int64_t k = 0; k < plan->n_sends; k++) {
        const int16_t sender = number[plan->sends[k].sender];
        const int16_t receiver = number[plan->sends[k].receiver];
        if ((sender & receiver) == -1) { /* neither is listed, the usual case */
            continue;
        }
        first[sender + 1] += sender >= 0;
        first[receiver + 1] += receiver >= 0;
    }
    for (int32_t i = 0; i < n_listed; i++) {
        first[i + 1] += first[i];
    }
}

int64_t clv_plan_count_steps(const clv_plan_t *plan, int32_t rank)
{
    int64_t first[2];

    clv_plan_index_steps(plan, &rank, 1, first);
    return first[1];
}

/* Indexed by clv_send_kind_t. */
static const int32_t kind_there[] = {CLV_STEP_SEND, CLV_STEP_SEND_COPY};
static const int32_t kind_here[] = {CLV_STEP_RECV_REDUCE, CLV_STEP_RECV_COPY};

/* Adds a receive step to a rank whose steps begin at first and end before *next_p. Within a round
 * it goes before the send, so that posting it never waits for that send. */
static void put_recv(clv_step_t *steps, int64_t first, int64_t *next_p, clv_step_t step)
{
    const int64_t at = (*next_p)++;

    if (at > first && steps[at - 1].round == step.round) {
        steps[at] = steps[at - 1];
        steps[at - 1] = step;
    } else {
        steps[at] = step;
    }
}

void clv_plan_list_steps(const clv_plan_t *plan, const int32_t *ranks, int32_t n_listed,
                         const int64_t *first, clv_step_t *steps)
{
    int16_t number[CLV_SCHED_MAX_RANKS];
    int64_t next[CLV_SCHED_MAX_RANKS]; /* by listed rank: index of its next step */

    number_listed(plan, ranks, n_listed, number);
    memcpy(next, first, (size_t) n_listed * sizeof *next);
    for (int64_t k = 0; k < plan->n_sends; k++) {
        const clv_send_t *send = &plan->sends[k];
        const int16_t sender = number[send->sender], receiver = number[send->receiver];
        if (sender >= 0) {
            steps[next[sender]++] =
                (clv_step_t){send->round, send->receiver, send->segment, kind_there[send->kind]};
        }
        if (receiver >= 0) {
            put_recv(steps, first[receiver], &next[receiver],
                     (clv_step_t){send->round, send->sender, send->segment, kind_here[send->kind]});
        }
    }
}

void clv_plan_copy_steps(const clv_plan_t *plan, int32_t rank, clv_step_t *steps)
{
    const int64_t first = 0;

    clv_plan_list_steps(plan, &rank, 1, &first, steps);
}
