/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One host's agreement: its memory, and the queries of its other files; see pap_agree.h and
 * pap_agree_parts.h.
 */
#include "pap_predict/agree/pap_agree_parts.h"

#include "util/util_alloc.h"

const char *clv_pap_lost_text(int reason)
{
    static const char *const texts[] = {
#define LOST_TEXT(name, value, text) [value] = text,
        CLV_PAP_LOST_REASON_MAP(LOST_TEXT)
#undef LOST_TEXT
    };
    return reason >= 1 && reason <= CLV_PAP_LOST_LAST ? texts[reason] : "unknown";
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void free_held(clv_pap_held_set_t *held)
{
    clv_free(held->records);
    clv_free(held->given);
}

static void free_slot(clv_pap_slot_t *slot)
{
    for (int i = 0; i < CLV_PAP_AGREE_OPEN; i++) {
        free_held(&slot->open[i]);
    }
    for (int i = 0; i < CLV_PAP_AGREE_KEPT; i++) {
        free_held(&slot->kept[i]);
    }
}

void clv_pap_agree_free(clv_pap_agree_t *agree)
{
    if (agree == NULL) {
        return;
    }
    for (int32_t i = 0; i < CLV_PAP_MAX_STREAMS; i++) {
        free_slot(&agree->slot[i]);
    }
    clv_free(agree->by_rank);
    clv_free(agree->message);
    clv_free(agree);
}

static bool alloc_held(clv_pap_held_set_t *held, size_t n_ranks)
{
    held->sequence = -1;
    held->records = clv_alloc(n_ranks, sizeof *held->records);
    held->given = clv_alloc(n_ranks, 1);
    return held->records != NULL && held->given != NULL;
}

static bool alloc_slot(clv_pap_slot_t *slot, size_t n_ranks)
{
    bool ok = true;
    for (int i = 0; i < CLV_PAP_AGREE_OPEN; i++) {
        ok &= alloc_held(&slot->open[i], n_ranks);
    }
    for (int i = 0; i < CLV_PAP_AGREE_KEPT; i++) {
        ok &= alloc_held(&slot->kept[i], n_ranks);
    }
    return ok;
}

static bool alloc_buffers(clv_pap_agree_t *agree)
{
    size_t n_ranks = (size_t) agree->n_ranks;
    agree->by_rank = clv_alloc(n_ranks, sizeof *agree->by_rank);
    agree->message = clv_alloc(clv_pap_wire_max_bytes(agree->n_ranks), 1);
    if (agree->by_rank == NULL || agree->message == NULL) {
        return false;
    }
    for (int32_t i = 0; i < CLV_PAP_MAX_STREAMS; i++) {
        if (!alloc_slot(&agree->slot[i], n_ranks)) {
            return false;
        }
    }
    return true;
}

static void set_up_tree(clv_pap_agree_t *agree, int64_t now_ns)
{
    const clv_pap_layout_t *layout = agree->options.layout;
    int32_t host = agree->options.host;
    agree->first = layout->first[host];
    agree->end = layout->first[clv_pap_tree_subtree_end(layout->n_hosts, host)];
    agree->n_children = clv_pap_tree_n_children(layout->n_hosts, host);
    agree->parent = (clv_pap_link_t){.host = clv_pap_tree_parent(host), .silent_since_ns = now_ns};
    for (int32_t i = 0; i < agree->n_children; i++) {
        agree->child[i] =
            (clv_pap_link_t){.host = clv_pap_tree_child(host, i), .silent_since_ns = now_ns};
    }
}

static bool valid_options(const clv_pap_agree_options_t *options)
{
    return options->layout != NULL && options->host >= 0 &&
           options->host < options->layout->n_hosts && options->lost_ns > 0 &&
           options->retry_ns > 0 && options->abandon_ns >= options->lost_ns;
}

clv_status_t clv_pap_agree_create(const clv_pap_agree_options_t *options,
                                  const clv_pap_agree_ops_t *ops, void *context, int64_t now_ns,
                                  clv_pap_agree_t **agree_p)
{
    if (!valid_options(options)) {
        return CLV_INVALID;
    }
    clv_pap_agree_t *agree = clv_alloc(1, sizeof *agree);
    if (agree == NULL) {
        return CLV_NO_MEMORY;
    }
    agree->options = *options;
    agree->ops = *ops;
    agree->context = context;
    agree->n_ranks = options->layout->n_ranks;
    agree->due_since_ns = INT64_MAX;
    agree->retry_at_ns = INT64_MAX;
    agree->retry_step_ns = options->retry_ns;
    set_up_tree(agree, now_ns);
    if (!alloc_buffers(agree)) {
        clv_pap_agree_free(agree);
        return CLV_NO_MEMORY;
    }
    *agree_p = agree;
    return CLV_OK;
}

/* ---- looking --------------------------------------------------------------------------------- */

int64_t clv_pap_agree_n_versions(const clv_pap_agree_t *agree, int32_t slot)
{
    return agree->slot[slot].decided;
}

int64_t clv_pap_agree_due_ns(const clv_pap_agree_t *agree)
{
    return agree->due_since_ns;
}

bool clv_pap_agree_is_cut_off(const clv_pap_agree_t *agree)
{
    return agree->left && !agree->lost && !agree->parent.up;
}

bool clv_pap_agree_is_gone(clv_pap_agree_t *agree, int32_t host)
{
    const clv_pap_link_t *link = clv_pap_agree_find_link(agree, host);
    return link != NULL && link->gone;
}

bool clv_pap_agree_is_heard(clv_pap_agree_t *agree, int32_t host)
{
    const clv_pap_link_t *link = clv_pap_agree_find_link(agree, host);
    return link != NULL && link->up && link->heard;
}

bool clv_pap_agree_is_top(const clv_pap_agree_t *agree)
{
    return agree->parent.host < 0;
}

clv_pap_link_t *clv_pap_agree_find_link(clv_pap_agree_t *agree, int32_t host)
{
    if (host >= 0 && host == agree->parent.host) {
        return &agree->parent;
    }
    for (int32_t i = 0; i < agree->n_children; i++) {
        if (agree->child[i].host == host) {
            return &agree->child[i];
        }
    }
    return NULL;
}

clv_pap_held_set_t *clv_pap_agree_find_held(clv_pap_slot_t *slot, int64_t sequence)
{
    clv_pap_held_set_t *held = &slot->open[sequence % CLV_PAP_AGREE_OPEN];
    return held->sequence == sequence ? held : NULL;
}

const clv_pap_held_set_t *clv_pap_agree_find_kept(const clv_pap_slot_t *slot, int64_t sequence)
{
    const clv_pap_held_set_t *oldest = NULL;
    for (int i = 0; i < CLV_PAP_AGREE_KEPT; i++) {
        const clv_pap_held_set_t *held = &slot->kept[i];
        if (held->sequence >= sequence && (oldest == NULL || held->sequence < oldest->sequence)) {
            oldest = held;
        }
    }
    return oldest;
}

bool clv_pap_agree_is_due(clv_pap_agree_t *agree)
{
    for (int32_t i = 0; i < CLV_PAP_MAX_STREAMS; i++) {
        clv_pap_slot_t *slot = &agree->slot[i];
        for (int64_t ahead = 0; ahead < CLV_PAP_AGREE_OPEN; ahead++) {
            if (clv_pap_agree_find_held(slot, slot->decided + ahead) != NULL) {
                return true;
            }
        }
    }
    return false;
}

bool clv_pap_agree_is_unsure(const clv_pap_agree_t *agree)
{
    for (int32_t i = 0; i < CLV_PAP_MAX_STREAMS; i++) {
        if (agree->slot[i].sent_up > agree->slot[i].decided) {
            return true;
        }
    }
    return false;
}

bool clv_pap_agree_is_answer_due(const clv_pap_agree_t *agree)
{
    bool asking =
        agree->give_up_reason != 0 || clv_pap_agree_is_unsure(agree) || !agree->parent.heard;
    return agree->parent.up && !agree->lost && asking;
}
