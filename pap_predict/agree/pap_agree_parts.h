/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The inside of an agreement (pap_agree.h), for the files that share it: pap_agree.c memory and
 * queries, pap_agree_send.c messages out, pap_agree_receive.c messages in, pap_agree_records.c
 * records and record sets, pap_agree_links.c links and time, pap_agree_end.c the ends. For nobody
 * else.
 *
 * A slot keeps four record sets: the two newest that were decided complete, which a child may still
 * lack, and the two that ranks may have records for (decided, decided + 1). No others are in
 * flight, because a rank publishes record q only after it had version q - 1. Of all that a child
 * with n decisions lacks, only n and n + 1 can be complete, however many were decided void since.
 */
#ifndef CLV_PAP_AGREE_PARTS_H
#define CLV_PAP_AGREE_PARTS_H

#include <stdbool.h>

#include "pap_predict/agree/pap_agree.h"
#include "pap_predict/agree/pap_wire.h"

#define CLV_PAP_AGREE_OPEN 2 /* sequences from `decided` on that may have records */
#define CLV_PAP_AGREE_KEPT 2 /* newest complete sets */

typedef struct clv_pap_held_set {
    int64_t sequence; /* -1: unused */
    uint32_t generation;
    int32_t n_missing;         /* of the subtree */
    clv_pap_record_t *records; /* by position, all ranks */
    unsigned char *given;      /* by position */
} clv_pap_held_set_t;

typedef struct clv_pap_slot {
    int64_t decided; /* record sets complete or void; the next sequence to decide */
    int64_t sent_up; /* one past the newest record message sent to the parent */
    int64_t n_kept;  /* record sets that were complete */
    clv_pap_held_set_t open[CLV_PAP_AGREE_OPEN];
    clv_pap_held_set_t kept[CLV_PAP_AGREE_KEPT];
} clv_pap_slot_t;

typedef struct clv_pap_link {
    int32_t host;
    bool up;
    bool heard;              /* since it came up */
    bool gone;               /* said BYE */
    int64_t silent_since_ns; /* last time it was up and heard; meaningful while it is not */
} clv_pap_link_t;

struct clv_pap_agree {
    clv_pap_agree_options_t options;
    clv_pap_agree_ops_t ops;
    void *context;
    int32_t n_ranks;
    int32_t first; /* the subtree's positions */
    int32_t end;
    int32_t n_children;
    clv_pap_link_t parent; /* host -1 at the top */
    clv_pap_link_t child[CLV_PAP_MAX_CHILDREN];
    clv_pap_slot_t slot[CLV_PAP_MAX_STREAMS];
    clv_pap_record_t *by_rank; /* scratch for publish */
    unsigned char *message;    /* scratch for send */
    int lost;                  /* no more record sets, final */
    bool left;                 /* cut off from host 0: sends no more records up */
    bool parent_is_through;    /* the same, since nothing comes of them */
    bool freed;
    bool bye_sent;
    int32_t give_up_reason; /* asked for, not yet decided */
    int64_t due_since_ns;   /* INT64_MAX: no record waits for its set */
    int64_t retry_at_ns;    /* INT64_MAX: no answer is expected */
    int64_t retry_step_ns;
    int32_t asked; /* questions since the parent was last heard */
};

/* ---- looking --------------------------------------------------------------------------------- */

bool clv_pap_agree_is_top(const clv_pap_agree_t *agree);

/* The link to the parent or a child; NULL: the host is not a neighbour. */
clv_pap_link_t *clv_pap_agree_find_link(clv_pap_agree_t *agree, int32_t host);

/* The set of an open sequence; NULL: it has no record yet. */
clv_pap_held_set_t *clv_pap_agree_find_held(clv_pap_slot_t *slot, int64_t sequence);

/* The oldest kept record set from sequence on; NULL: there is none. */
const clv_pap_held_set_t *clv_pap_agree_find_kept(const clv_pap_slot_t *slot, int64_t sequence);

/* Whether a record here waits for its set. */
bool clv_pap_agree_is_due(clv_pap_agree_t *agree);

/* Whether a record went up whose set has not come down: host 0 may have decided it or not. */
bool clv_pap_agree_is_unsure(const clv_pap_agree_t *agree);

/* Whether the parent owes a message: a record set, the end, or any message on a new connection. */
bool clv_pap_agree_is_answer_due(const clv_pap_agree_t *agree);

/* ---- messages out, to links that are up ------------------------------------------------------ */

void clv_pap_agree_send_counts(clv_pap_agree_t *agree, const clv_pap_link_t *link,
                               clv_pap_wire_kind_t kind, int32_t reason);
void clv_pap_agree_send_bare(clv_pap_agree_t *agree, const clv_pap_link_t *link,
                             clv_pap_wire_kind_t kind, int32_t reason);
void clv_pap_agree_send_set(clv_pap_agree_t *agree, const clv_pap_link_t *link, int32_t slot_index,
                            const clv_pap_held_set_t *held);

/* VOID to a child: all sets before `end` that it lacks are void. ASK to the parent. */
void clv_pap_agree_send_slot(clv_pap_agree_t *agree, const clv_pap_link_t *link,
                             clv_pap_wire_kind_t kind, int32_t slot_index, int64_t sequence);

/* Sends this host's subtree of a set to the parent, which then owes an answer. Sends nothing if the
 * parent's link is down, if the parent is through, or after leave. */
void clv_pap_agree_send_subtree(clv_pap_agree_t *agree, int64_t now_ns, int32_t slot_index,
                                const clv_pap_held_set_t *held);

/* Sends a child with `decided` record sets of a slot what it lacks: at most two sets, and void
 * ones. */
void clv_pap_agree_send_missing(clv_pap_agree_t *agree, const clv_pap_link_t *child,
                                int32_t slot_index, int64_t decided);

/* Sends everything that the parent may not have, on a new connection or after a silence. */
void clv_pap_agree_ask_parent(clv_pap_agree_t *agree, int64_t now_ns);

/* Sets the time of the next question, unless it is set. */
void clv_pap_agree_expect_answer(clv_pap_agree_t *agree, int64_t now_ns);

/* Sends BYE to the parent once the whole subtree has said it. */
void clv_pap_agree_try_bye(clv_pap_agree_t *agree);

/* ---- records --------------------------------------------------------------------------------- */

/* Host 0 has decided a held record set: publishes it, passes it on, and replaces its memory. */
void clv_pap_agree_accept(clv_pap_agree_t *agree, int64_t now_ns, int32_t slot_index,
                          clv_pap_held_set_t *held);

/* Host 0 has decided that all undecided record sets before `end` never come. */
void clv_pap_agree_accept_void(clv_pap_agree_t *agree, int64_t now_ns, int32_t slot_index,
                               int64_t end);

/* The subtree's part of a record set is complete: host 0 decides, other hosts send it up. */
void clv_pap_agree_subtree_complete(clv_pap_agree_t *agree, int64_t now_ns, int32_t slot_index,
                                    int64_t sequence);

/* Marks a record of an older generation invalid. 0: it was not announced, so ranks disagree. */
bool clv_pap_agree_make_stale(clv_pap_record_t *record);

/* The set for an open sequence; NULL: ranks disagree on their calls. */
clv_pap_held_set_t *clv_pap_agree_hold(clv_pap_agree_t *agree, int64_t now_ns, clv_pap_slot_t *slot,
                                       int64_t sequence, uint32_t generation);

/* ---- the end of predictions ------------------------------------------------------------------ */

/* Ends predictions on this host for good. Children hear it after all decided record sets. */
void clv_pap_agree_end_here(clv_pap_agree_t *agree, clv_pap_lost_reason_t reason);

/* This host was cut off from host 0 for too long: it sends no more records up. */
void clv_pap_agree_leave(clv_pap_agree_t *agree, int64_t now_ns);

#endif
