/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages out: to the parent what it may lack, to a child what it asked for; see
 * pap_agree_parts.h.
 */
#include "pap_predict/agree/pap_agree_parts.h"

static void send_bytes(clv_pap_agree_t *agree, const clv_pap_link_t *link, size_t n_bytes)
{
    agree->ops.send(agree->context, link->host, agree->message, n_bytes);
}

void clv_pap_agree_send_counts(clv_pap_agree_t *agree, const clv_pap_link_t *link,
                               clv_pap_wire_kind_t kind, int32_t reason)
{
    int64_t decided[CLV_PAP_MAX_STREAMS];
    for (int32_t i = 0; i < CLV_PAP_MAX_STREAMS; i++) {
        decided[i] = agree->slot[i].decided;
    }
    send_bytes(agree, link, clv_pap_wire_put_counts(agree->message, kind, reason, decided));
}

void clv_pap_agree_send_bare(clv_pap_agree_t *agree, const clv_pap_link_t *link,
                             clv_pap_wire_kind_t kind, int32_t reason)
{
    send_bytes(agree, link, clv_pap_wire_put_bare(agree->message, kind, reason));
}

void clv_pap_agree_send_set(clv_pap_agree_t *agree, const clv_pap_link_t *link, int32_t slot_index,
                            const clv_pap_held_set_t *held)
{
    send_bytes(agree, link,
               clv_pap_wire_put_records(agree->message, CLV_PAP_WIRE_DOWN, slot_index,
                                        held->generation, held->sequence, held->records,
                                        agree->n_ranks));
}

void clv_pap_agree_send_slot(clv_pap_agree_t *agree, const clv_pap_link_t *link,
                             clv_pap_wire_kind_t kind, int32_t slot_index, int64_t sequence)
{
    send_bytes(agree, link, clv_pap_wire_put_slot(agree->message, kind, slot_index, sequence));
}

void clv_pap_agree_expect_answer(clv_pap_agree_t *agree, int64_t now_ns)
{
    if (agree->retry_at_ns == INT64_MAX) {
        agree->retry_at_ns = now_ns + agree->retry_step_ns;
    }
}

void clv_pap_agree_send_subtree(clv_pap_agree_t *agree, int64_t now_ns, int32_t slot_index,
                                const clv_pap_held_set_t *held)
{
    clv_pap_slot_t *slot = &agree->slot[slot_index];
    if (agree->left || agree->parent_is_through || !agree->parent.up) {
        return;
    }
    send_bytes(agree, &agree->parent,
               clv_pap_wire_put_records(agree->message, CLV_PAP_WIRE_UP, slot_index,
                                        held->generation, held->sequence,
                                        held->records + agree->first, agree->end - agree->first));
    if (slot->sent_up <= held->sequence) {
        slot->sent_up = held->sequence + 1;
    }
    clv_pap_agree_expect_answer(agree, now_ns);
}

void clv_pap_agree_ask_parent(clv_pap_agree_t *agree, int64_t now_ns)
{
    clv_pap_agree_send_counts(agree, &agree->parent, CLV_PAP_WIRE_HELLO, 0);
    for (int32_t i = 0; i < CLV_PAP_MAX_STREAMS && !agree->lost; i++) {
        clv_pap_slot_t *slot = &agree->slot[i];
        for (int64_t ahead = 0; ahead < CLV_PAP_AGREE_OPEN; ahead++) {
            clv_pap_held_set_t *held = clv_pap_agree_find_held(slot, slot->decided + ahead);
            if (held != NULL && held->n_missing == 0) {
                clv_pap_agree_send_subtree(agree, now_ns, i, held);
            }
        }
    }
    if (agree->give_up_reason != 0) {
        clv_pap_agree_send_bare(agree, &agree->parent, CLV_PAP_WIRE_GIVE_UP, agree->give_up_reason);
    }
    clv_pap_agree_expect_answer(agree, now_ns);
}

void clv_pap_agree_send_missing(clv_pap_agree_t *agree, const clv_pap_link_t *child,
                                int32_t slot_index, int64_t decided)
{
    const clv_pap_slot_t *slot = &agree->slot[slot_index];
    while (decided < slot->decided) {
        const clv_pap_held_set_t *next = clv_pap_agree_find_kept(slot, decided);
        const int64_t void_end = next == NULL ? slot->decided : next->sequence;
        if (void_end > decided) {
            clv_pap_agree_send_slot(agree, child, CLV_PAP_WIRE_VOID, slot_index, void_end);
        }
        if (next != NULL) {
            clv_pap_agree_send_set(agree, child, slot_index, next);
        }
        decided = void_end + (next != NULL);
    }
}

void clv_pap_agree_try_bye(clv_pap_agree_t *agree)
{
    for (int32_t i = 0; i < agree->n_children; i++) {
        if (!agree->child[i].gone) {
            return;
        }
    }
    if (agree->freed && agree->parent.up) {
        clv_pap_agree_send_bare(agree, &agree->parent, CLV_PAP_WIRE_BYE, 0);
        agree->bye_sent = true;
    }
}
