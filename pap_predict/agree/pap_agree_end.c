/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The two ends. Host 0 decides the end of all predictions, or a cut-off host finds it certain; the
 * end of the group goes up the tree as BYE. See pap_agree_parts.h.
 */
#include "pap_predict/agree/pap_agree_parts.h"

/* Predictions end once. But all ranks must hear that a call is broken, even after that end. */
static bool is_news(int reason, int known)
{
    return known == 0 || (reason == CLV_PAP_LOST_BROKEN && known != CLV_PAP_LOST_BROKEN);
}

void clv_pap_agree_end_here(clv_pap_agree_t *agree, clv_pap_lost_reason_t reason)
{
    int64_t n_versions[CLV_PAP_MAX_STREAMS];
    if (!is_news((int) reason, agree->lost)) {
        return;
    }
    for (int32_t i = 0; i < CLV_PAP_MAX_STREAMS; i++) {
        n_versions[i] = agree->slot[i].decided;
    }
    agree->lost = (int) reason;
    agree->due_since_ns = INT64_MAX;
    agree->ops.lost(agree->context, reason, n_versions);
    for (int32_t i = 0; i < agree->n_children; i++) {
        if (agree->child[i].up && agree->child[i].heard) {
            clv_pap_agree_send_counts(agree, &agree->child[i], CLV_PAP_WIRE_LOST, agree->lost);
        }
    }
}

void clv_pap_agree_give_up(clv_pap_agree_t *agree, int64_t now_ns, clv_pap_lost_reason_t reason)
{
    if (!is_news((int) reason, agree->lost) || !is_news((int) reason, agree->give_up_reason)) {
        return;
    }
    agree->give_up_reason = (int32_t) reason;
    if (clv_pap_agree_is_top(agree)) {
        clv_pap_agree_end_here(agree, reason);
    } else if (agree->parent.up) {
        clv_pap_agree_send_bare(agree, &agree->parent, CLV_PAP_WIRE_GIVE_UP, agree->give_up_reason);
        clv_pap_agree_expect_answer(agree, now_ns);
    }
}

/* This host was cut off from host 0 for too long. It sends no more records up, so host 0 can decide
 * only from those already sent. If none of them is undecided, the end is certain here at once. A
 * link that has just come up, and has not been heard, asks for the end of predictions now; a later
 * link asks when it comes up. */
void clv_pap_agree_leave(clv_pap_agree_t *agree, int64_t now_ns)
{
    agree->left = true;
    if (agree->give_up_reason == 0) {
        agree->give_up_reason = CLV_PAP_LOST_LINK;
    }
    if (agree->parent.up) {
        clv_pap_agree_send_bare(agree, &agree->parent, CLV_PAP_WIRE_GIVE_UP, agree->give_up_reason);
        clv_pap_agree_expect_answer(agree, now_ns);
    }
    if (!clv_pap_agree_is_unsure(agree)) {
        clv_pap_agree_end_here(agree, CLV_PAP_LOST_LINK);
    }
}

/* ---- the end of the group -------------------------------------------------------------------- */

void clv_pap_agree_bye(clv_pap_agree_t *agree, int64_t now_ns)
{
    (void) now_ns;
    agree->freed = true;
    clv_pap_agree_try_bye(agree);
}

bool clv_pap_agree_may_close(const clv_pap_agree_t *agree)
{
    for (int32_t i = 0; i < agree->n_children; i++) {
        if (!agree->child[i].gone) {
            return false;
        }
    }
    return agree->freed && (clv_pap_agree_is_top(agree) || agree->bye_sent);
}
