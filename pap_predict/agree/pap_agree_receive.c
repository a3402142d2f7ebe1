/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages in: each is checked against all that a correct neighbour could send before anything
 * changes; see pap_agree_parts.h.
 */
#include "pap_predict/agree/pap_agree_parts.h"

#include <string.h>

static clv_status_t take_up(clv_pap_agree_t *agree, int64_t now_ns, const clv_pap_link_t *child,
                            const clv_pap_message_t *message)
{
    const clv_pap_layout_t *layout = agree->options.layout;
    clv_pap_slot_t *slot = &agree->slot[message->slot];
    int32_t first = layout->first[child->host];
    int32_t end = layout->first[clv_pap_tree_subtree_end(layout->n_hosts, child->host)];
    if (message->n_items != end - first ||
        message->sequence >= slot->decided + CLV_PAP_AGREE_OPEN) {
        return CLV_PROTOCOL;
    }
    if (agree->lost || message->sequence < slot->decided) {
        return CLV_OK; /* a repetition, answered before */
    }
    clv_pap_held_set_t *held =
        clv_pap_agree_hold(agree, now_ns, slot, message->sequence, message->generation);
    if (held == NULL) {
        clv_pap_agree_give_up(agree, now_ns, CLV_PAP_LOST_DISAGREE);
        return CLV_PROTOCOL;
    }
    if (held->given[first]) {
        return CLV_OK;
    }
    for (int32_t i = 0; i < message->n_items; i++) {
        clv_pap_record_t *record = &held->records[first + i];
        clv_pap_wire_get_record(message, i, record);
        if (message->generation < held->generation && !clv_pap_agree_make_stale(record)) {
            clv_pap_agree_give_up(agree, now_ns, CLV_PAP_LOST_DISAGREE);
            return CLV_PROTOCOL;
        }
    }
    memset(held->given + first, 1, (size_t) message->n_items);
    held->n_missing -= message->n_items;
    if (held->n_missing == 0) {
        clv_pap_agree_subtree_complete(agree, now_ns, message->slot, message->sequence);
    }
    return CLV_OK;
}

static clv_status_t take_down(clv_pap_agree_t *agree, int64_t now_ns,
                              const clv_pap_message_t *message)
{
    clv_pap_slot_t *slot = &agree->slot[message->slot];
    if (agree->lost || message->sequence < slot->decided) {
        return CLV_OK;
    }
    if (message->sequence > slot->decided) {
        return CLV_PROTOCOL; /* it would have announced void ones in between */
    }
    clv_pap_held_set_t *held = clv_pap_agree_find_held(slot, message->sequence);
    if (held == NULL || held->n_missing != 0) {
        return CLV_PROTOCOL; /* host 0 cannot have decided without this subtree */
    }
    if (held->generation > message->generation) {
        clv_pap_agree_give_up(agree, now_ns, CLV_PAP_LOST_DISAGREE);
        return CLV_PROTOCOL;
    }
    held->generation = message->generation;
    for (int32_t i = 0; i < message->n_items; i++) {
        clv_pap_wire_get_record(message, i, &held->records[i]);
    }
    clv_pap_agree_accept(agree, now_ns, message->slot, held);
    return CLV_OK;
}

static clv_status_t take_void(clv_pap_agree_t *agree, int64_t now_ns,
                              const clv_pap_message_t *message)
{
    if (!agree->lost && message->sequence > agree->slot[message->slot].decided) {
        clv_pap_agree_accept_void(agree, now_ns, message->slot, message->sequence);
    }
    return CLV_OK;
}

/* A child that waits for a record set has received all sets before it from here. */
static clv_status_t take_ask(clv_pap_agree_t *agree, int64_t now_ns,
                             const clv_pap_message_t *message)
{
    if (message->sequence > agree->slot[message->slot].decided) {
        return CLV_PROTOCOL;
    }
    clv_pap_agree_ask_void(agree, now_ns, message->slot, message->sequence);
    return CLV_OK;
}

/* Checks counts from a child, which never has more sets than this host. All sets that it lacks are
 * void, except for at most the next two, and those two are still kept here. */
static bool plausible_counts(const clv_pap_agree_t *agree, const clv_pap_message_t *message)
{
    for (int32_t i = 0; i < CLV_PAP_MAX_STREAMS; i++) {
        const clv_pap_slot_t *slot = &agree->slot[i];
        const int64_t theirs = clv_pap_wire_get_count(message, i);
        const clv_pap_held_set_t *oldest = clv_pap_agree_find_kept(slot, 0);
        const bool is_kept = slot->n_kept <= CLV_PAP_AGREE_KEPT || theirs >= oldest->sequence;
        if (theirs > slot->decided || !is_kept) {
            return false;
        }
    }
    return true;
}

static clv_status_t take_hello(clv_pap_agree_t *agree, clv_pap_link_t *child,
                               const clv_pap_message_t *message)
{
    if (!plausible_counts(agree, message)) {
        return CLV_PROTOCOL;
    }
    for (int32_t i = 0; i < CLV_PAP_MAX_STREAMS; i++) {
        clv_pap_agree_send_missing(agree, child, i, clv_pap_wire_get_count(message, i));
    }
    if (agree->lost) {
        clv_pap_agree_send_counts(agree, child, CLV_PAP_WIRE_LOST, agree->lost);
    } else {
        clv_pap_agree_send_counts(agree, child, CLV_PAP_WIRE_HELLO, 0);
    }
    return CLV_OK;
}

static clv_status_t take_lost(clv_pap_agree_t *agree, const clv_pap_message_t *message)
{
    for (int32_t i = 0; i < CLV_PAP_MAX_STREAMS && !agree->lost; i++) {
        if (clv_pap_wire_get_count(message, i) != agree->slot[i].decided) {
            return CLV_PROTOCOL;
        }
    }
    clv_pap_agree_end_here(agree, (clv_pap_lost_reason_t) message->reason);
    return CLV_OK;
}

static clv_status_t from_parent(clv_pap_agree_t *agree, int64_t now_ns,
                                const clv_pap_message_t *message)
{
    switch (message->kind) {
    case CLV_PAP_WIRE_HELLO:
        return CLV_OK; /* nothing was missing; the answer is the news */
    case CLV_PAP_WIRE_DOWN:
        return take_down(agree, now_ns, message);
    case CLV_PAP_WIRE_VOID:
        return take_void(agree, now_ns, message);
    case CLV_PAP_WIRE_LOST:
        return take_lost(agree, message);
    default:
        return CLV_PROTOCOL;
    }
}

static clv_status_t from_child(clv_pap_agree_t *agree, int64_t now_ns, clv_pap_link_t *child,
                               const clv_pap_message_t *message)
{
    if (message->kind == CLV_PAP_WIRE_HELLO) {
        return take_hello(agree, child, message);
    }
    if (!child->heard) {
        return CLV_PROTOCOL; /* what it has is unknown, so nothing was passed down to it */
    }
    switch (message->kind) {
    case CLV_PAP_WIRE_UP:
        return take_up(agree, now_ns, child, message);
    case CLV_PAP_WIRE_ASK:
        return take_ask(agree, now_ns, message);
    case CLV_PAP_WIRE_GIVE_UP:
        clv_pap_agree_give_up(agree, now_ns, (clv_pap_lost_reason_t) message->reason);
        return CLV_OK;
    case CLV_PAP_WIRE_BYE:
        child->gone = true;
        clv_pap_agree_try_bye(agree);
        return CLV_OK;
    default:
        return CLV_PROTOCOL;
    }
}

clv_status_t clv_pap_agree_message(clv_pap_agree_t *agree, int64_t now_ns, int32_t from_host,
                                   const void *bytes, size_t n_bytes)
{
    clv_pap_message_t message;
    clv_pap_link_t *link = clv_pap_agree_find_link(agree, from_host);
    if (link == NULL || !link->up) {
        return CLV_PROTOCOL;
    }
    clv_status_t status = clv_pap_wire_decode(bytes, n_bytes, agree->n_ranks, &message);
    if (status != CLV_OK) {
        return status;
    }
    if (link == &agree->parent) {
        agree->asked = 0;
        status = from_parent(agree, now_ns, &message);
    } else {
        status = from_child(agree, now_ns, link, &message);
    }
    if (status == CLV_OK) {
        link->heard = true;
    }
    if (!clv_pap_agree_is_answer_due(agree)) {
        agree->retry_at_ns = INT64_MAX; /* an idle group causes no wake-ups */
    }
    return status;
}
