/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Failures that Open MPI knows of (ULFM: a rank died, the communicator was revoked), for all waits
 * inside this component: every loop that waits for another rank asks coll_clv_failure_of or
 * coll_clv_failure_or_broken, and every abandoned list of requests goes through coll_clv_give_up.
 *
 * What: the check of Open MPI's own waits (ompi_request_is_failed), per idle turn of a loop instead
 * of per request: a rank's death marks each communicator it was in, and every request of a
 * collective on a marked communicator has failed. And the buffers of abandoned requests: Open MPI
 * may still use them, so they are freed with the last of these requests.
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

/* Whether a request has ended. If so, all writes of the thread whose progress ended it are
 * visible. */
static inline bool coll_clv_is_over(const ompi_request_t *request)
{
    if (!REQUEST_COMPLETE(request)) {
        return false;
    }
    opal_atomic_rmb();
    return true;
}

/* OMPI_SUCCESS, or the error class with which every collective on comm ends from now on:
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

/* The same for a wait, which also ends with MPI_ERR_OTHER when another rank has reported a failed
 * call. is_broken may be NULL. */
static inline int coll_clv_failure_or_broken(struct ompi_communicator_t *comm,
                                             bool (*is_broken)(const void *), const void *context)
{
    const int failure = coll_clv_failure_of(comm);

    return OMPI_SUCCESS == failure && NULL != is_broken && is_broken(context) ? MPI_ERR_OTHER
                                                                              : failure;
}

/* Whether the job was started to survive failures. */
bool coll_clv_failure_is_survived(void);

/* The same for a rank that has lost its connection to another process and does not know why:
 * neighbours notice a dead process sooner than Open MPI. Makes MPI progress for at most
 * COLL_CLV_NOTICE_NS, and only if the job was started to survive failures. */
int coll_clv_failure_awaited(struct ompi_communicator_t *comm);

#define COLL_CLV_NOTICE_NS INT64_C(10000000000)

typedef void (*coll_clv_release_t)(struct ompi_communicator_t *comm, void *context);

/* Calls release with context when the user frees comm, while it can still send. Later is too late:
 * Open MPI may keep comm and its module alive for requests that have not ended, or is taking it
 * apart, and a request of ours would start that a second time. Works within MPI_Init. OMPI_SUCCESS
 * or an error. */
int coll_clv_failure_on_free(struct ompi_communicator_t *comm, coll_clv_release_t release,
                             void *context);

/* After an error: cancels receives that are not matched. NULL and MPI_REQUEST_NULL are fine. */
void coll_clv_take_back(ompi_request_t **requests, int n_requests);

/* Gives up requests after an error, with the memory that they use. Waits for at most
 * COLL_CLV_SETTLE_NS until they end; failed ones end at once. The memory is freed with the last of
 * them, now or when coll_clv_failure_collect finds that it has ended. Either block may be NULL. */
void coll_clv_give_up(ompi_request_t **requests, int n_requests, void *memory, void *more);

#define COLL_CLV_SETTLE_NS INT64_C(1000000000)

/* Frees what was given up and has ended since: a send to a rank that has not revoked yet ends when
 * that rank does. Called when requests are given up, and at begin and end of a communicator with
 * clv. */
void coll_clv_failure_collect(void);

#endif
