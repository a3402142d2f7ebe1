/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From records to record sets: what a host takes from its ranks, when its subtree is complete, what
 * host 0 has decided; see pap_agree_parts.h.
 */
#include "pap_predict/agree/pap_agree_parts.h"

#include <string.h>

static void publish(clv_pap_agree_t *agree, int32_t slot_index, const clv_pap_held_set_t *held)
{
    clv_pap_record_set_t set = {.slot = slot_index,
                                .n_ranks = agree->n_ranks,
                                .generation = held->generation,
                                .sequence = held->sequence,
                                .records = agree->by_rank};
    for (int32_t position = 0; position < agree->n_ranks; position++) {
        agree->by_rank[agree->options.layout->rank_at[position]] = held->records[position];
    }
    agree->ops.publish(agree->context, &set);
}

static void was_decided(clv_pap_agree_t *agree, int64_t now_ns)
{
    agree->due_since_ns = clv_pap_agree_is_due(agree) ? now_ns : INT64_MAX;
    agree->retry_step_ns = agree->options.retry_ns;
    agree->retry_at_ns = INT64_MAX;
    if (clv_pap_agree_is_unsure(agree)) {
        clv_pap_agree_expect_answer(agree, now_ns);
    }
}

/* Moves the set to the kept ones. The oldest kept set gives its memory to future records. */
static void keep(clv_pap_slot_t *slot, clv_pap_held_set_t *held)
{
    clv_pap_held_set_t *kept = &slot->kept[slot->n_kept++ % CLV_PAP_AGREE_KEPT];
    const clv_pap_held_set_t oldest = *kept;
    *kept = *held;
    *held = oldest;
    held->sequence = -1;
}

void clv_pap_agree_accept(clv_pap_agree_t *agree, int64_t now_ns, int32_t slot_index,
                          clv_pap_held_set_t *held)
{
    agree->slot[slot_index].decided = held->sequence + 1;
    publish(agree, slot_index, held);
    for (int32_t i = 0; i < agree->n_children; i++) {
        if (agree->child[i].up && agree->child[i].heard) {
            clv_pap_agree_send_set(agree, &agree->child[i], slot_index, held);
        }
    }
    keep(&agree->slot[slot_index], held);
    was_decided(agree, now_ns);
}

void clv_pap_agree_accept_void(clv_pap_agree_t *agree, int64_t now_ns, int32_t slot_index,
                               int64_t end)
{
    clv_pap_slot_t *slot = &agree->slot[slot_index];
    const int64_t first = slot->decided;
    slot->decided = end;
    for (int i = 0; i < CLV_PAP_AGREE_OPEN; i++) {
        if (slot->open[i].sequence < end) {
            slot->open[i].sequence = -1;
        }
    }
    agree->ops.voided(agree->context, slot_index, first, end);
    for (int32_t i = 0; i < agree->n_children; i++) {
        if (agree->child[i].up && agree->child[i].heard) {
            clv_pap_agree_send_slot(agree, &agree->child[i], CLV_PAP_WIRE_VOID, slot_index, end);
        }
    }
    was_decided(agree, now_ns);
}

static void decide_complete(clv_pap_agree_t *agree, int64_t now_ns, int32_t slot_index)
{
    clv_pap_slot_t *slot = &agree->slot[slot_index];
    clv_pap_held_set_t *held = clv_pap_agree_find_held(slot, slot->decided);
    while (held != NULL && held->n_missing == 0) {
        clv_pap_agree_accept(agree, now_ns, slot_index, held);
        held = clv_pap_agree_find_held(slot, slot->decided);
    }
}

/* Only the next set to be decided can be asked for: a rank that waits for it has all earlier
 * ones. */
void clv_pap_agree_ask_void(clv_pap_agree_t *agree, int64_t now_ns, int32_t slot_index,
                            int64_t sequence)
{
    if (agree->lost || agree->left || sequence != agree->slot[slot_index].decided) {
        return;
    }
    if (!clv_pap_agree_is_top(agree)) {
        if (agree->parent.up) {
            clv_pap_agree_send_slot(agree, &agree->parent, CLV_PAP_WIRE_ASK, slot_index, sequence);
        }
        return;
    }
    clv_pap_agree_accept_void(agree, now_ns, slot_index, sequence + 1);
    decide_complete(agree, now_ns, slot_index);
}

void clv_pap_agree_subtree_complete(clv_pap_agree_t *agree, int64_t now_ns, int32_t slot_index,
                                    int64_t sequence)
{
    clv_pap_slot_t *slot = &agree->slot[slot_index];
    if (!clv_pap_agree_is_top(agree)) {
        clv_pap_agree_send_subtree(agree, now_ns, slot_index,
                                   clv_pap_agree_find_held(slot, sequence));
        return;
    }
    decide_complete(agree, now_ns, slot_index);
}

/* Records of one sequence have the same generation, with one exception: a rank announced a call by
 * a hint, and the slot was recycled before that call came. Its record is then in the record set of
 * the younger generation, marked invalid so that no rank predicts from it. Any other difference is
 * a disagreement. */
bool clv_pap_agree_make_stale(clv_pap_record_t *record)
{
    if ((record->flags & CLV_PAP_RECORD_ANNOUNCED) == 0) {
        return false;
    }
    record->flags |= CLV_PAP_RECORD_INVALID;
    return true;
}

static bool raise_generation(clv_pap_agree_t *agree, clv_pap_held_set_t *held, uint32_t generation)
{
    for (int32_t position = agree->first; position < agree->end; position++) {
        if (held->given[position] && !clv_pap_agree_make_stale(&held->records[position])) {
            return false;
        }
    }
    held->generation = generation;
    return true;
}

/* The set for an open sequence; NULL: ranks disagree on their calls. */
clv_pap_held_set_t *clv_pap_agree_hold(clv_pap_agree_t *agree, int64_t now_ns, clv_pap_slot_t *slot,
                                       int64_t sequence, uint32_t generation)
{
    clv_pap_held_set_t *held = &slot->open[sequence % CLV_PAP_AGREE_OPEN];
    if (held->sequence == sequence) {
        bool fits = generation <= held->generation || raise_generation(agree, held, generation);
        return fits ? held : NULL;
    }
    held->sequence = sequence;
    held->generation = generation;
    held->n_missing = agree->end - agree->first;
    memset(held->given, 0, (size_t) agree->n_ranks);
    if (agree->due_since_ns == INT64_MAX) {
        agree->due_since_ns = now_ns;
    }
    return held;
}

static bool is_open(const clv_pap_slot_t *slot, int64_t sequence)
{
    return sequence >= slot->decided && sequence < slot->decided + CLV_PAP_AGREE_OPEN;
}

static bool valid_local(const clv_pap_agree_t *agree, int32_t rank, int32_t slot_index,
                        int64_t sequence, const clv_pap_record_t *record)
{
    const clv_pap_layout_t *layout = agree->options.layout;
    if (rank < 0 || rank >= agree->n_ranks || slot_index < 0 || slot_index >= CLV_PAP_MAX_STREAMS ||
        sequence >= CLV_PAP_MAX_SEQUENCE || clv_pap_record_problem(record) != NULL) {
        return false;
    }
    int32_t position = layout->position_of[rank];
    return position >= layout->first[agree->options.host] &&
           position < layout->first[agree->options.host + 1];
}

clv_status_t clv_pap_agree_local_record(clv_pap_agree_t *agree, int64_t now_ns, int32_t rank,
                                        int32_t slot_index, uint32_t generation, int64_t sequence,
                                        const clv_pap_record_t *record)
{
    if (!valid_local(agree, rank, slot_index, sequence, record)) {
        return CLV_INVALID;
    }
    clv_pap_slot_t *slot = &agree->slot[slot_index];
    if (agree->lost || (sequence >= 0 && sequence < slot->decided)) {
        return CLV_OK; /* decided without it, as void */
    }
    int32_t position = agree->options.layout->position_of[rank];
    clv_pap_held_set_t *held = NULL;
    if (is_open(slot, sequence)) {
        held = clv_pap_agree_hold(agree, now_ns, slot, sequence, generation);
        if (held == NULL) {
            clv_pap_agree_give_up(agree, now_ns, CLV_PAP_LOST_DISAGREE);
        }
    }
    if (held == NULL || held->given[position]) {
        return CLV_INVALID;
    }
    clv_pap_record_t taken = *record;
    if (generation < held->generation && !clv_pap_agree_make_stale(&taken)) {
        clv_pap_agree_give_up(agree, now_ns, CLV_PAP_LOST_DISAGREE);
        return CLV_INVALID;
    }
    held->records[position] = taken;
    held->given[position] = 1;
    if (--held->n_missing == 0) {
        clv_pap_agree_subtree_complete(agree, now_ns, slot_index, sequence);
    }
    return CLV_OK;
}
