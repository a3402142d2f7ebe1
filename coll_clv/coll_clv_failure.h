/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Failures that Open MPI knows of (ULFM: a rank died, the communicator was revoked), for all waits
 * inside this component: every loop that waits for another rank asks coll_clv_failure_of or
 * coll_clv_failure_or_broken, and every abandoned list of requests goes through coll_clv_give_up.
 *
 * What: the same as Open MPI's own waits do (ompi_request_is_failed), once per idle turn of a loop
 * instead of once per request: a rank's death marks each communicator it was in, and every request
 * of a collective on a marked communicator has failed. And what requests that are given up use of
 * our memory: Open MPI may still read or write there, so it is freed with the last of them.
 * Not: detecting a failure (Open MPI's launcher and transports), nor reacting to it (the caller of
 * MPI, which revokes and shrinks).
 *
 * Where Open MPI has no ULFM (4.1), or the job was started without it, nothing ever fails here.
 * Threads: any. Cost: two loads.
 */
#ifndef COLL_CLV_FAILURE_H
#define COLL_CLV_FAILURE_H

#include "coll_clv/coll_clv_compat.h"

#include <stdint.h>

#include "ompi/constants.h"
#include "ompi/request/request.h"
#include "opal/sys/atomic.h"

/* Whether a request has ended; then all that the thread wrote whose progress ended it is seen. */
static inline bool coll_clv_is_over(const ompi_request_t *request)
{
    if (!REQUEST_COMPLETE(request)) {
        return false;
    }
    opal_atomic_rmb();
    return true;
}

/* OMPI_SUCCESS, or the class of error with which every collective on comm ends from now on:
 * MPI_ERR_REVOKED or MPI_ERR_PROC_FAILED. */
static inline int coll_clv_failure_of(struct ompi_communicator_t *comm)
{
#if COLL_CLV_HAS_ULFM
    if (ompi_comm_is_revoked(comm)) {
        return MPI_ERR_REVOKED;
    }
    if (ompi_comm_coll_revoked(comm)) {
        return MPI_ERR_PROC_FAILED;
    }
#else
    (void) comm;
#endif
    return OMPI_SUCCESS;
}

/* The same for a wait, which also ends when some rank has told that its call failed: MPI_ERR_OTHER.
 * is_broken may be NULL. */
static inline int coll_clv_failure_or_broken(struct ompi_communicator_t *comm,
                                             bool (*is_broken)(const void *), const void *context)
{
    const int failure = coll_clv_failure_of(comm);

    return OMPI_SUCCESS == failure && NULL != is_broken && is_broken(context) ? MPI_ERR_OTHER
                                                                              : failure;
}

/* The same for one who was cut off from another process and does not know why: a process that died
 * is known to its neighbours sooner than to Open MPI. Makes MPI progress for COLL_CLV_NOTICE_NS at
 * most, and only where the job was started to survive failures. */
int coll_clv_failure_awaited(struct ompi_communicator_t *comm);

#define COLL_CLV_NOTICE_NS INT64_C(10000000000)

typedef void (*coll_clv_release_t)(struct ompi_communicator_t *comm, void *context);

/* Has release called with context when the user frees comm, while it can still send. Afterwards it
 * may live on in Open MPI, for the sake of requests that have not ended, and its module with it; or
 * it is being taken apart, and a request of ours would do that twice. Also within MPI_Init.
 * OMPI_SUCCESS or why it cannot be had. */
int coll_clv_failure_on_free(struct ompi_communicator_t *comm, coll_clv_release_t release,
                             void *context);

/* After an error: takes receives back that are not matched. NULL and MPI_REQUEST_NULL are fine. */
void coll_clv_take_back(ompi_request_t **requests, int n_requests);

/* Gives requests up after an error, and with them what they use: waits COLL_CLV_SETTLE_NS at most
 * until they end by themselves, failed ones at once. The memory goes with the last of them, now or
 * when coll_clv_failure_collect finds that it has ended; either block may be NULL. */
void coll_clv_give_up(ompi_request_t **requests, int n_requests, void *memory, void *more);

#define COLL_CLV_SETTLE_NS INT64_C(1000000000)

/* Frees what was given up and has ended since: a send to a rank that has not revoked yet ends when
 * it does. Called when requests are given up, and when a communicator begins or ends with us. */
void coll_clv_failure_collect(void);

#endif
