/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The inside of an agreement (pap_agree.h), for the files that share it: pap_agree.c memory and
 * looking, pap_agree_send.c messages out, pap_agree_receive.c messages in, pap_agree_records.c
 * records and record sets, pap_agree_links.c links and time, pap_agree_end.c the ends. For nobody
 * else.
 *
 * A slot keeps four record sets: the two newest that were decided complete, which a child may still
 * lack, and the two that ranks may have given records for (decided, decided + 1). More can not be
 * in flight, because a rank gives record q only after it had version q - 1: of all that a child
 * with n decisions lacks, only n and n + 1 can be complete, however many were decided void since.
 */
#ifndef CLV_PAP_AGREE_PARTS_H
#define CLV_PAP_AGREE_PARTS_H

#include "pap_predict/agree/pap_agree.h"
#include "pap_predict/agree/pap_wire.h"

#define CLV_PAP_AGREE_OPEN 2 /* sequences from decided on that can have records */
#define CLV_PAP_AGREE_KEPT 2 /* the newest complete ones */

typedef struct clv_pap_held_set {
    int64_t sequence; /* -1: unused */
    uint32_t generation;
    int32_t n_missing;         /* of the subtree */
    clv_pap_record_t *records; /* by position, all ranks */
    unsigned char *given;      /* by position */
} clv_pap_held_set_t;

typedef struct clv_pap_slot {
    int64_t decided; /* record sets complete or void; the next to decide */
    int64_t sent_up; /* one past the newest record message given to the parent's link */
    int64_t n_kept;  /* record sets that were complete */
    clv_pap_held_set_t open[CLV_PAP_AGREE_OPEN];
    clv_pap_held_set_t kept[CLV_PAP_AGREE_KEPT];
} clv_pap_slot_t;

typedef struct clv_pap_link {
    int32_t node;
    int32_t up;
    int32_t heard;           /* since it came up */
    int32_t gone;            /* said BYE */
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
    clv_pap_link_t parent; /* node -1 at the top */
    clv_pap_link_t child[CLV_PAP_MAX_CHILDREN];
    clv_pap_slot_t slot[CLV_PAP_MAX_STREAMS];
    clv_pap_record_t *by_rank; /* scratch for publish */
    unsigned char *message;    /* scratch for send */
    int lost;                  /* no more record sets, final */
    int left;                  /* cut off from node 0: no record goes up any more */
    int parent_is_through;     /* the same, as nothing comes of it */
    int freed;
    int bye_sent;
    int32_t give_up_reason; /* asked for, not yet decided */
    int64_t due_since_ns;   /* INT64_MAX: no record waits for its set */
    int64_t retry_at_ns;    /* INT64_MAX: no answer is expected */
    int64_t retry_step_ns;
    int32_t asked; /* nothing heard from the parent since this many questions */
};

/* ---- looking --------------------------------------------------------------------------------- */

int clv_pap_agree_is_top(const clv_pap_agree_t *agree);

/* The parent or a child; NULL: that node is no neighbour. */
clv_pap_link_t *clv_pap_agree_find_link(clv_pap_agree_t *agree, int32_t node);

/* The set of an open sequence, NULL when there is no record of it. */
clv_pap_held_set_t *clv_pap_agree_find_held(clv_pap_slot_t *slot, int64_t sequence);

/* The oldest complete record set from sequence on, NULL: there is none. */
const clv_pap_held_set_t *clv_pap_agree_find_kept(const clv_pap_slot_t *slot, int64_t sequence);

/* A record here waits for its set. */
int clv_pap_agree_is_due(clv_pap_agree_t *agree);

/* Some record went up and its set has not come down: node 0 may or may not have decided it. */
int clv_pap_agree_is_unsure(const clv_pap_agree_t *agree);

/* The parent owes a word: a record set, the end, or any sign of life on a new connection. */
int clv_pap_agree_is_answer_due(const clv_pap_agree_t *agree);

/* ---- messages out, to links that are up ------------------------------------------------------ */

void clv_pap_agree_send_counts(clv_pap_agree_t *agree, const clv_pap_link_t *link,
                               clv_pap_wire_kind_t kind, int32_t reason);
void clv_pap_agree_send_bare(clv_pap_agree_t *agree, const clv_pap_link_t *link,
                             clv_pap_wire_kind_t kind, int32_t reason);
void clv_pap_agree_send_set(clv_pap_agree_t *agree, const clv_pap_link_t *link, int32_t slot_index,
                            const clv_pap_held_set_t *held);

/* VOID to a child: all before `end` that it lacks. ASK to the parent. */
void clv_pap_agree_send_slot(clv_pap_agree_t *agree, const clv_pap_link_t *link,
                             clv_pap_wire_kind_t kind, int32_t slot_index, int64_t sequence);

/* This node's subtree of a set to the parent, which owes an answer then; nothing without a parent
 * that is up, to one that is through, or after leave. */
void clv_pap_agree_send_subtree(clv_pap_agree_t *agree, int64_t now_ns, int32_t slot_index,
                                const clv_pap_held_set_t *held);

/* What a child that has `decided` record sets of a slot lacks: at most two, and void ones. */
void clv_pap_agree_send_missing(clv_pap_agree_t *agree, const clv_pap_link_t *child,
                                int32_t slot_index, int64_t decided);

/* Everything the parent may not have, on a new connection or after a silence. */
void clv_pap_agree_ask_parent(clv_pap_agree_t *agree, int64_t now_ns);

/* Sets the time of the next question, where none is set. */
void clv_pap_agree_expect_answer(clv_pap_agree_t *agree, int64_t now_ns);

/* BYE to the parent, once the whole subtree has said so. */
void clv_pap_agree_try_bye(clv_pap_agree_t *agree);

/* ---- records --------------------------------------------------------------------------------- */

/* A held record set is complete, by node 0's word: use it and pass it on. Its memory
 * is another one afterwards. */
void clv_pap_agree_accept(clv_pap_agree_t *agree, int64_t now_ns, int32_t slot_index,
                          clv_pap_held_set_t *held);

/* All record sets before `end` that are not decided yet never come, by node 0's word. */
void clv_pap_agree_accept_void(clv_pap_agree_t *agree, int64_t now_ns, int32_t slot_index,
                               int64_t end);

/* A subtree completed a record set: node 0 decides, the others tell their parent. */
void clv_pap_agree_subtree_complete(clv_pap_agree_t *agree, int64_t now_ns, int32_t slot_index,
                                    int64_t sequence);

/* Marks a record of an older generation invalid. 0: it was not announced, so ranks disagree. */
int clv_pap_agree_make_stale(clv_pap_record_t *record);

/* The set for an open sequence; NULL: ranks do not agree on their calls. */
clv_pap_held_set_t *clv_pap_agree_hold(clv_pap_agree_t *agree, int64_t now_ns, clv_pap_slot_t *slot,
                                       int64_t sequence, uint32_t generation);

/* ---- the end of predictions ------------------------------------------------------------------ */

/* Final on this node. Children hear it behind the record sets that were decided before. */
void clv_pap_agree_end_here(clv_pap_agree_t *agree, clv_pap_lost_reason_t reason);

/* Cut off from node 0 for too long: nothing goes up any more. */
void clv_pap_agree_leave(clv_pap_agree_t *agree, int64_t now_ns);

#endif
