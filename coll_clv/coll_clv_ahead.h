/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Credit for running ahead, over the PML: one communicator's credit (schedule/sched_credit.h) and
 * the credit messages between its ranks.
 *
 * What: asks for credit before a send, reports posted receives to the senders, keeps the pool.
 * Not: the rules and their proofs (docs/decisions/0008-run-ahead.md), nor the data.
 *
 * A credit message is 24 bytes with COLL_CLV_TAG_CREDIT on the communicator itself. It is sent when
 * a call begins, or during the call if too many bytes would lack credit. A rank looks for one when
 * a send lacks credit, and once in a call when a peer owes 64; none is left when the communicator
 * is freed. Memory: 136 bytes per rank of the communicator.
 *
 * Threads: one at a time per communicator, as its collectives; the pool is shared and locked.
 */
#ifndef COLL_CLV_AHEAD_H
#define COLL_CLV_AHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coll_clv/coll_clv_tables.h"
#include "schedule/schedule.h"

#include "coll_clv/coll_clv_tags.h"

struct ompi_communicator_t;

/* A grant that is not renewed expires after this many calls. */
#define COLL_CLV_GRANT_CALLS 32

typedef struct coll_clv_ahead coll_clv_ahead_t;

/* ---- the process ---- */

/* Sets the pool's bytes, before any communicator has credit. 0: there is no credit. */
void coll_clv_ahead_budget(int64_t n_bytes);
void coll_clv_ahead_gauges(coll_clv_ahead_gauges_t *gauges);

/* ---- a communicator ---- */

/* Collective. *ahead_p becomes NULL if the pool has no bytes, which must be so on all ranks or on
 * none. OMPI_SUCCESS or the error of the PML, attributes or memory. ahead_p must stay valid:
 * *ahead_p becomes NULL when the communicator is freed after a failure.
 * MPI_Comm_free waits for the credit messages that peers still owe. It waits without limit, unless
 * something has failed here, or on another rank as is_broken says (may be NULL; called until the
 * communicator is freed). MPI_Finalize waits for at most a second. */
int coll_clv_ahead_open(struct ompi_communicator_t *comm, bool (*is_broken)(const void *),
                        const void *context, coll_clv_ahead_t **ahead_p);

/* After the communicator was freed. NULL is fine, here only. */
void coll_clv_ahead_free(coll_clv_ahead_t *ahead);

/* ---- a call, the same on all ranks ---- */

void coll_clv_ahead_enter(coll_clv_ahead_t *ahead);

/* Call after posting a receive of n_bytes from the peer, in plan order. */
void coll_clv_ahead_posted(coll_clv_ahead_t *ahead, int peer, size_t n_bytes);

/* Whether the next message to the peer, of n_bytes, may be sent: CLV_OK, CLV_AGAIN, or CLV_LOST
 * with *rc_p. */
clv_status_t coll_clv_ahead_ask(coll_clv_ahead_t *ahead, int peer, size_t n_bytes, int *rc_p);
/* Call after sending it. */
void coll_clv_ahead_sent(coll_clv_ahead_t *ahead, int peer, size_t n_bytes);

/* The call has failed: from now on no wait is without limit. The caller still calls posted and sent
 * for the rest of its steps, so that its credit agrees with that of its peers. */
void coll_clv_ahead_fail(coll_clv_ahead_t *ahead);

/* The call ends; returns when its credit messages have left. */
void coll_clv_ahead_leave(coll_clv_ahead_t *ahead);

#endif
