/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The agreement of one node of one group, as a state machine. Private to the pap_predict module.
 *
 * In: records of this node's ranks, messages from the tree neighbours, links up and lost, time.
 * Out: messages to neighbours, complete record sets to publish, the end of all predictions.
 * Node 0 alone decides that a record set is complete; every node passes decisions on in order. The
 * rules, the proofs and the one window that cannot be closed are in docs/design/protocol.md.
 *
 * What it is not: sockets, threads, clocks. The caller serialises the calls of one machine. Any
 * monotonic local clock will do for now_ns. Callbacks must not call back into the machine.
 *
 * A record set that some rank waits for too long is decided to be void: it never comes.
 *
 * Memory: all of it at create, 4 * (48 + 1) bytes per rank and slot (pages of unused slots stay
 * untouched) plus 92 bytes per rank; nothing later. Cost: O(records) per message.
 */
#ifndef CLV_PAP_AGREE_H
#define CLV_PAP_AGREE_H

#include <stddef.h>
#include <stdint.h>

#include "pap_predict/agree/pap_tree.h"
#include "pap_predict/agree/pap_record_set.h"
#include "util/util_status.h"

/* Why there are no more predictions. */
#define CLV_PAP_LOST_REASON_MAP(XX)                                                                \
    XX(LINK, 1, "a connection was lost and did not come back")                                     \
    XX(LEFT, 2, "a node freed the group while others still gave records")                          \
    XX(REQUESTED, 3, "a node asked for it")                                                        \
    XX(DISAGREE, 4, "ranks reported different forecasts or choices for one call")                  \
    XX(ABANDONED, 5,                                                                               \
       "cut off just after giving a record; this node can not know what the others "               \
       "decided")                                                                                  \
    XX(BROKEN, 6, "a call failed on a rank, and with it every call that waits for that rank")

typedef enum clv_pap_lost_reason {
#define CLV_PAP_LOST_ENUM(name, value, text) CLV_PAP_LOST_##name = value,
    CLV_PAP_LOST_REASON_MAP(CLV_PAP_LOST_ENUM)
#undef CLV_PAP_LOST_ENUM
} clv_pap_lost_reason_t;
#define CLV_PAP_LOST_LAST CLV_PAP_LOST_BROKEN
const char *clv_pap_lost_text(int reason);

typedef struct clv_pap_agree clv_pap_agree_t;

typedef struct clv_pap_agree_options {
    const clv_pap_layout_t *layout; /* must outlive the machine */
    int32_t node;                   /* this one */
    int64_t lost_ns;                /* a link down this long while a record set is due is lost */
    int64_t retry_ns;               /* unanswered this long: ask again, then doubling; see stale */
    int64_t abandon_ns;             /* cut off in the window this long: go on without, loudly */
} clv_pap_agree_options_t;

typedef struct clv_pap_agree_ops {
    /* To a tree neighbour whose link is up. The bytes are only valid during the call. Delivery in
     * order or link_lost; what was sent on a lost link may or may not have arrived. */
    void (*send)(void *context, int32_t node, const void *message, size_t n_bytes);
    /* The next record set of a slot, in sequence order without gaps, exactly once. The records are
     * only valid during the call. */
    void (*publish)(void *context, const clv_pap_record_set_t *set);
    /* Of a slot, record sets first .. end - 1 will never be: the next one after those published. */
    void (*voided)(void *context, int32_t slot, int64_t first, int64_t end);
    /* Slot l has n_versions[l] record sets and will never have another. Once; with the reason
     * BROKEN also after another reason, the numbers being the same. */
    void (*lost)(void *context, clv_pap_lost_reason_t reason, const int64_t *n_versions);
    /* The link looks up but nobody answers (half-open): close it and connect again. The machine
     * has counted it as lost already. May be NULL. */
    void (*stale)(void *context, int32_t node);
} clv_pap_agree_ops_t;

/* All links are down at first. CLV_INVALID, CLV_NO_MEMORY. */
clv_status_t clv_pap_agree_create(const clv_pap_agree_options_t *options,
                                  const clv_pap_agree_ops_t *ops, void *context, int64_t now_ns,
                                  clv_pap_agree_t **agree_p) CLV_MUST_CHECK;
void clv_pap_agree_free(clv_pap_agree_t *agree);

/* A record of a rank of this node; the records of one rank and slot come with sequence 0, 1, ...
 * CLV_INVALID: out of order or range, or not a rank of this node; nothing happened. */
clv_status_t clv_pap_agree_local_record(clv_pap_agree_t *agree, int64_t now_ns, int32_t rank,
                                        int32_t slot, uint32_t generation, int64_t sequence,
                                        const clv_pap_record_t *record) CLV_MUST_CHECK;

/* One whole message from a neighbour whose link is up. CLV_PROTOCOL: it can not come from a correct
 * neighbour; the machine is unchanged, the caller closes that connection (and tells link_lost). */
clv_status_t clv_pap_agree_message(clv_pap_agree_t *agree, int64_t now_ns, int32_t from_node,
                                   const void *bytes, size_t n_bytes) CLV_MUST_CHECK;

/* A new authenticated connection with a neighbour (a replaced one is lost first), or its end.
 * Numbers that are no neighbours are ignored. */
void clv_pap_agree_link_up(clv_pap_agree_t *agree, int64_t now_ns, int32_t node);
void clv_pap_agree_link_lost(clv_pap_agree_t *agree, int64_t now_ns, int32_t node);

/* Time passes: call at the deadline or later, any number of times. INT64_MAX: nothing is due. */
void clv_pap_agree_tick(clv_pap_agree_t *agree, int64_t now_ns);
int64_t clv_pap_agree_deadline(const clv_pap_agree_t *agree);

/* Since when a record here waits for its set; INT64_MAX: none does. */
int64_t clv_pap_agree_due_ns(const clv_pap_agree_t *agree);
/* The link to the parent was down for too long, and only a new one can tell what node 0 decided. */
int clv_pap_agree_is_cut_off(const clv_pap_agree_t *agree);
/* This neighbour has said that it needs nothing more. */
int clv_pap_agree_is_gone(clv_pap_agree_t *agree, int32_t node);
/* It is up and has been heard: a child has been sent all that it lacked. */
int clv_pap_agree_is_heard(clv_pap_agree_t *agree, int32_t node);

/* The parent's ranks have ended all calls, and it has told what they had: no record is sent to it
 * from now on, since nothing that this node needs can come of one. */
void clv_pap_agree_parent_is_through(clv_pap_agree_t *agree);

/* Asks node 0 to end predictions for the whole group. For the reason BROKEN also where they have
 * ended. */
void clv_pap_agree_give_up(clv_pap_agree_t *agree, int64_t now_ns, clv_pap_lost_reason_t reason);

/* A rank of this node waits too long for a record set of a slot: asks node 0 to decide that it
 * never comes. Once decided, whichever way, asking changes nothing. What is asked may be lost with
 * a connection: who still waits asks again. */
void clv_pap_agree_ask_void(clv_pap_agree_t *agree, int64_t now_ns, int32_t slot, int64_t sequence);

/* All ranks of this node have freed the group. The subtree says so upward once every node of it
 * has; until then this node still passes on what the nodes below it need. The caller may close
 * once may_close says so, or when it no longer wants to wait. */
void clv_pap_agree_bye(clv_pap_agree_t *agree, int64_t now_ns);
int clv_pap_agree_may_close(const clv_pap_agree_t *agree);

/* Record sets of a slot decided, as far as known here, with those that never come. */
int64_t clv_pap_agree_n_versions(const clv_pap_agree_t *agree, int32_t slot);

#endif
