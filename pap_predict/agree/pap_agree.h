/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The agreement of one host of one group, as a state machine. Private to the pap_predict module.
 *
 * In: records of this host's ranks, messages from the tree neighbours, links up and lost, time.
 * Out: messages to neighbours, complete record sets to publish, the end of all predictions.
 * Host 0 alone decides that a record set is complete; every host passes decisions on in order. The
 * rules, the proofs and the one window that cannot be closed are in docs/design/protocol.md.
 *
 * Not: sockets, threads, clocks. The caller serialises the calls of one state machine. Any
 * monotonic local clock will do for now_ns. Callbacks must not call back into the state machine.
 *
 * If a rank waits too long for a record set, host 0 decides that the set is void: it never comes.
 *
 * Memory: all of it at create, 4 * (48 + 1) bytes per rank and slot (pages of unused slots stay
 * untouched) plus 92 bytes per rank; nothing later. Cost: O(records) per message.
 */
#ifndef CLV_PAP_AGREE_H
#define CLV_PAP_AGREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pap_predict/agree/pap_tree.h"
#include "pap_predict/agree/pap_record_set.h"
#include "util/util_status.h"

/* Why there are no more predictions. */
#define CLV_PAP_LOST_REASON_MAP(XX)                                                                \
    XX(LINK, 1, "a connection was lost and did not come back")                                     \
    XX(LEFT, 2, "a host freed the group while others still gave records")                          \
    XX(REQUESTED, 3, "a host asked for it")                                                        \
    XX(DISAGREE, 4, "ranks reported different forecasts or choices for one call")                  \
    XX(ABANDONED, 5,                                                                               \
       "cut off just after giving a record; this host can not know what the others "               \
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
    const clv_pap_layout_t *layout; /* must outlive the agreement */
    int32_t host;                   /* this one */
    int64_t lost_ns;                /* a link down this long while a record set is due is lost */
    int64_t retry_ns;               /* unanswered this long: ask again, then doubling; see stale */
    int64_t abandon_ns;             /* cut off and unsure this long: go on without, log an error */
} clv_pap_agree_options_t;

typedef struct clv_pap_agree_ops {
    /* Sends to a tree neighbour whose link is up. The bytes are valid only during the call. They
     * are delivered in order, or link_lost is called; a message sent on a lost link may have
     * arrived or not. */
    void (*send)(void *context, int32_t host, const void *message, size_t n_bytes);
    /* The next record set of a slot, in sequence order without gaps, exactly once. The records are
     * valid only during the call. */
    void (*publish)(void *context, const clv_pap_record_set_t *set);
    /* Record sets first .. end - 1 of the slot never come; first is the next after those
     * published. */
    void (*voided)(void *context, int32_t slot, int64_t first, int64_t end);
    /* Slot l has n_versions[l] record sets and never gets another. Called once, and again with the
     * reason BROKEN after another reason; the numbers are then the same. */
    void (*lost)(void *context, clv_pap_lost_reason_t reason, const int64_t *n_versions);
    /* The link looks up but the neighbour does not answer (half-open): close it and connect again.
     * It already counts as lost here. May be NULL. */
    void (*stale)(void *context, int32_t host);
} clv_pap_agree_ops_t;

/* All links are down at first. CLV_INVALID, CLV_NO_MEMORY. */
clv_status_t clv_pap_agree_create(const clv_pap_agree_options_t *options,
                                  const clv_pap_agree_ops_t *ops, void *context, int64_t now_ns,
                                  clv_pap_agree_t **agree_p) CLV_MUST_CHECK;
void clv_pap_agree_free(clv_pap_agree_t *agree);

/* Adds a record of a rank of this host. The records of a rank and slot have sequences 0, 1, ...
 * CLV_INVALID: wrong order or range, or not a rank of this host; nothing has changed. */
clv_status_t clv_pap_agree_local_record(clv_pap_agree_t *agree, int64_t now_ns, int32_t rank,
                                        int32_t slot, uint32_t generation, int64_t sequence,
                                        const clv_pap_record_t *record) CLV_MUST_CHECK;

/* Takes a whole message from a neighbour whose link is up. CLV_PROTOCOL: no correct neighbour sends
 * it; the state is unchanged, and the caller closes that connection (and calls link_lost). */
clv_status_t clv_pap_agree_message(clv_pap_agree_t *agree, int64_t now_ns, int32_t from_host,
                                   const void *bytes, size_t n_bytes) CLV_MUST_CHECK;

/* A new authenticated connection with a neighbour (call link_lost for a replaced one first), or its
 * end. Other hosts than neighbours are ignored. */
void clv_pap_agree_link_up(clv_pap_agree_t *agree, int64_t now_ns, int32_t host);
void clv_pap_agree_link_lost(clv_pap_agree_t *agree, int64_t now_ns, int32_t host);

/* Call at the deadline or later, any number of times. A deadline of INT64_MAX: nothing is due. */
void clv_pap_agree_tick(clv_pap_agree_t *agree, int64_t now_ns);
int64_t clv_pap_agree_deadline(const clv_pap_agree_t *agree);

/* Since when a record of this host waits for its set; INT64_MAX: none waits. */
int64_t clv_pap_agree_due_ns(const clv_pap_agree_t *agree);
/* The link to the parent was down too long, and only a new link can tell what host 0 decided. */
bool clv_pap_agree_is_cut_off(const clv_pap_agree_t *agree);
/* Whether this neighbour has said that it needs nothing more. */
bool clv_pap_agree_is_gone(clv_pap_agree_t *agree, int32_t host);
/* Whether its link is up and was heard; a child has then been sent all that it lacked. */
bool clv_pap_agree_is_heard(clv_pap_agree_t *agree, int32_t host);

/* The parent's ranks have ended all calls, and it has sent what they had. No more records go to it,
 * since nothing that this host needs can come of them. */
void clv_pap_agree_parent_is_through(clv_pap_agree_t *agree);

/* Asks host 0 to end predictions for the whole group; with the reason BROKEN even after they
 * ended. */
void clv_pap_agree_give_up(clv_pap_agree_t *agree, int64_t now_ns, clv_pap_lost_reason_t reason);

/* A rank of this host has waited too long for a record set: asks host 0 to declare it void. Without
 * effect once the set is decided. The request may be lost with a connection, so a rank that still
 * waits must repeat it. */
void clv_pap_agree_ask_void(clv_pap_agree_t *agree, int64_t now_ns, int32_t slot, int64_t sequence);

/* All ranks of this host have freed the group. A subtree says so upward once all its hosts have;
 * until then this host still passes on what the hosts below it need. The caller may close when
 * may_close is true, or when it does not want to wait any longer. */
void clv_pap_agree_bye(clv_pap_agree_t *agree, int64_t now_ns);
bool clv_pap_agree_may_close(const clv_pap_agree_t *agree);

/* Decided record sets of a slot, as far as known here, void ones included. */
int64_t clv_pap_agree_n_versions(const clv_pap_agree_t *agree, int32_t slot);

#endif
