/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A host's leader in one group: the thread's work for that group. It collects the records of the
 * host's ranks from the table, runs the agreement over the connections to its tree neighbours,
 * keeps the clock, and publishes forecasts. Private to the pap_predict module.
 *
 * It outlives the group on its own rank: other hosts may still need what it passes on. All
 * functions run under the thread's lock.
 * Memory: agreement, histories and state for node plans, all at create: O(ranks * window).
 */
#ifndef CLV_PAP_LEADER_H
#define CLV_PAP_LEADER_H

#include <stdbool.h>
#include <stdint.h>

#include "pap_predict/pap_endpoint.h"
#include "pap_predict/pap_process.h"
#include "pap_predict/agree/pap_table.h"
#include "pap_predict/agree/pap_tree.h"

typedef struct clv_pap_leader_options {
    clv_pap_t *pap;
    clv_pap_table_t *table; /* owned by the leader after create */
    clv_pap_hooks_t hooks;
    int32_t host;                         /* of the layout */
    const clv_pap_endpoints_t *endpoints; /* copied as needed */
} clv_pap_leader_options_t;

/* On success the leader owns layout's arrays. */
clv_status_t clv_pap_leader_create(const clv_pap_leader_options_t *options,
                                   const clv_pap_layout_t *layout,
                                   clv_pap_leader_t **leader_p) CLV_MUST_CHECK;
/* The leader's host, and the number of hosts. */
int32_t clv_pap_leader_host(const clv_pap_leader_t *leader, int32_t *n_hosts_p);
/* Closes its connections and the table. */
void clv_pap_leader_free(clv_pap_leader_t *leader);

/* Hands the leader to the thread, which connects and serves. */
void clv_pap_leader_start(clv_pap_leader_t *leader);
/* The leader's rank has freed the group: hooks.make is not called any more. The thread passes
 * messages on until the neighbours need nothing or a bounded time is over, then frees the leader
 * (at once if it was never started or is_needed is 0). */
void clv_pap_leader_leave(clv_pap_leader_t *leader, bool is_needed);

/* The leader's part of the thread's round: does everything that is due; returns the next
 * deadline. */
int64_t clv_pap_leader_work(clv_pap_leader_t *leader, int64_t now_ns, int rung);
bool clv_pap_leader_is_done(const clv_pap_leader_t *leader);
clv_pap_leader_t **clv_pap_leader_next(clv_pap_leader_t *leader); /* in the process's list */

/* ---- called by the process's thread of MPI: clv_pap_group_relay and its relatives ----------- */

void clv_pap_leader_relay(clv_pap_leader_t *leader, const clv_pap_relay_ops_t *ops, void *context);
void clv_pap_leader_relay_take(clv_pap_leader_t *leader, int32_t rank, const void *bytes,
                               size_t n_bytes);
bool clv_pap_leader_is_owing(clv_pap_leader_t *leader);
bool clv_pap_leader_is_apart(clv_pap_leader_t *leader);

/* ---- called by connections ---------------------------------------------------------------- */

/* The key, if this is the leader of that group and host is one of its children; else NULL. */
const unsigned char *clv_pap_leader_expects(const clv_pap_leader_t *leader,
                                            const unsigned char *group_id, uint32_t host,
                                            int32_t *neighbour_p, size_t *max_payload_p);
/* A connection has finished its handshake; it replaces an older one of that neighbour. */
void clv_pap_leader_conn_up(clv_pap_leader_t *leader, clv_net_conn_t *conn);
/* It ended (the caller closes it). */
void clv_pap_leader_conn_lost(clv_pap_leader_t *leader, clv_net_conn_t *conn);
clv_status_t clv_pap_leader_frame(clv_pap_leader_t *leader, clv_net_conn_t *conn,
                                  clv_net_frame_kind_t kind, const clv_net_stamp_t *stamp,
                                  int64_t received_ns, const unsigned char *payload,
                                  size_t payload_bytes) CLV_MUST_CHECK;

#endif
