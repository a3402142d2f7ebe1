/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Links up and lost, and time: when to ask again, and when a silent link counts as lost; see
 * pap_agree_parts.h.
 */
#include "pap_predict/agree/pap_agree_parts.h"

#include "util/util_min_max.h"

#define MAX_RETRY_STEP 64

void clv_pap_agree_link_up(clv_pap_agree_t *agree, int64_t now_ns, int32_t host)
{
    clv_pap_link_t *link = clv_pap_agree_find_link(agree, host);
    if (link == NULL) {
        return;
    }
    if (link->up) {
        clv_pap_agree_link_lost(agree, now_ns, host);
    }
    link->up = true;
    link->heard = false;
    if (link == &agree->parent) {
        agree->asked = 0;
        agree->retry_at_ns = INT64_MAX;
        agree->retry_step_ns = agree->options.retry_ns;
        clv_pap_agree_ask_parent(agree, now_ns);
        clv_pap_agree_try_bye(agree);
    }
}

/* A link that came up and was not heard does not count as an end of the silence. */
void clv_pap_agree_link_lost(clv_pap_agree_t *agree, int64_t now_ns, int32_t host)
{
    clv_pap_link_t *link = clv_pap_agree_find_link(agree, host);
    if (link == NULL || !link->up) {
        return;
    }
    if (link->heard) {
        link->silent_since_ns = now_ns;
    }
    link->up = false;
    link->heard = false;
    if (link == &agree->parent) {
        agree->retry_at_ns = INT64_MAX;
    }
}

void clv_pap_agree_parent_is_through(clv_pap_agree_t *agree)
{
    agree->parent_is_through = true;
}

/* ---- time ------------------------------------------------------------------------------------ */

/* When a silent link counts as lost; never while no record here waits for its set. */
static int64_t link_deadline(const clv_pap_agree_t *agree, const clv_pap_link_t *link)
{
    if (agree->lost || agree->due_since_ns == INT64_MAX || (link->up && link->heard)) {
        return INT64_MAX;
    }
    return clv_larger(link->silent_since_ns, agree->due_since_ns) + agree->options.lost_ns;
}

static int64_t children_deadline(const clv_pap_agree_t *agree, clv_pap_lost_reason_t *reason_p)
{
    int64_t first_ns = INT64_MAX;
    for (int32_t i = 0; i < agree->n_children && agree->give_up_reason == 0; i++) {
        int64_t deadline_ns = link_deadline(agree, &agree->child[i]);
        if (deadline_ns < first_ns) {
            first_ns = deadline_ns;
            *reason_p = agree->child[i].gone ? CLV_PAP_LOST_LEFT : CLV_PAP_LOST_LINK;
        }
    }
    return first_ns;
}

/* First leave. If host 0 may then have decided something that this host has not heard, go on alone,
 * much later. */
static int64_t parent_deadline(const clv_pap_agree_t *agree)
{
    int64_t leave_ns =
        clv_pap_agree_is_top(agree) ? INT64_MAX : link_deadline(agree, &agree->parent);
    if (leave_ns == INT64_MAX || !agree->left || !clv_pap_agree_is_unsure(agree)) {
        return leave_ns;
    }
    return leave_ns - agree->options.lost_ns + agree->options.abandon_ns;
}

int64_t clv_pap_agree_deadline(const clv_pap_agree_t *agree)
{
    clv_pap_lost_reason_t reason;
    int64_t first_ns = clv_smaller(children_deadline(agree, &reason), parent_deadline(agree));
    return clv_smaller(first_ns, agree->retry_at_ns);
}

/* After two questions in a row without an answer the connection counts as dead, even if it looks
 * up. */
static void retry(clv_pap_agree_t *agree, int64_t now_ns)
{
    agree->retry_at_ns = INT64_MAX;
    if (!clv_pap_agree_is_answer_due(agree)) {
        return;
    }
    if (agree->asked >= 2 && agree->ops.stale != NULL) {
        clv_pap_agree_link_lost(agree, now_ns, agree->parent.host);
        agree->ops.stale(agree->context, agree->parent.host);
        return;
    }
    agree->asked++;
    agree->retry_step_ns =
        clv_smaller(2 * agree->retry_step_ns, MAX_RETRY_STEP * agree->options.retry_ns);
    clv_pap_agree_ask_parent(agree, now_ns);
}

void clv_pap_agree_tick(clv_pap_agree_t *agree, int64_t now_ns)
{
    clv_pap_lost_reason_t reason = CLV_PAP_LOST_LINK;
    if (now_ns >= agree->retry_at_ns) {
        retry(agree, now_ns);
    }
    if (now_ns >= children_deadline(agree, &reason)) {
        clv_pap_agree_give_up(agree, now_ns, reason);
    }
    if (now_ns >= parent_deadline(agree)) {
        if (agree->left) {
            clv_pap_agree_end_here(agree, clv_pap_agree_is_unsure(agree) ? CLV_PAP_LOST_ABANDONED
                                                                         : CLV_PAP_LOST_LINK);
        } else {
            clv_pap_agree_leave(agree, now_ns);
        }
    }
}
