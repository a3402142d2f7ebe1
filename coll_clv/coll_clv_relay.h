/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The relay of the background channel over MPI (clv_pap_group_relay): if a connection between two
 * hosts stays away although MPI works, their leaders' messages travel as messages of the
 * communicator. A progress function of Open MPI moves them, so it works wherever a rank is inside
 * MPI; the relay waits for a rank that computes.
 *
 * What: receives are posted, and messages sent, only once a connection is away; until then a turn
 * of progress (each eighth) costs one load.
 * Not: when the relay is taken, nor the meaning of its messages (pap_predict).
 *
 * Threads: any; one lock, never waited for while making progress.
 * Memory: per neighbour on the relay a receive of clv_pap_relay_bytes, and the outgoing messages.
 */
#ifndef COLL_CLV_RELAY_H
#define COLL_CLV_RELAY_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stdint.h>

#include "ompi/communicator/communicator.h"
#include "coll_clv/coll_clv_tags.h"
#include "pap_predict/pap_predict.h"

/* A communicator's relay: its messages under way. All zero before begin. */
typedef struct coll_clv_relay {
    struct coll_clv_relay *next;
    struct ompi_communicator_t *comm;
    clv_pap_group_t *pap;
    struct coll_clv_relay_message *messages;
    bool has_begun;
} coll_clv_relay_t;

/* Component open and close. timeout_ms: coll_clv_channel_timeout_ms. */
void coll_clv_relay_open(int timeout_ms);
void coll_clv_relay_close(void);
/* A connection that is away for this long is lost; the rest of the time-out is for the relay. */
int64_t coll_clv_relay_lost_ns(void);

/* Call when the communicator's group is active. */
void coll_clv_relay_begin(coll_clv_relay_t *relay, struct ompi_communicator_t *comm,
                          clv_pap_group_t *pap);
/* The user frees the communicator, which still works: sends neighbours what they may lack, within
 * the time-out. False: a neighbour was out of reach. The relay and the group must then go on until
 * Open MPI ends the communicator, which is kept alive as long as it may be sent anything, so that
 * no other communicator gets its number. */
bool coll_clv_relay_settle(coll_clv_relay_t *relay);
/* Ends the relay, before its group is freed; may be called more than once. */
void coll_clv_relay_end(coll_clv_relay_t *relay);

#endif
