/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Measures which messages leave without their receiver (see coll_clv_early.h).
 */
#include "ompi_config.h"

#include "coll_clv/coll_clv_early.h"

#include <time.h>

#include "ompi/constants.h"
#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"
#include "opal/runtime/opal_progress.h"

#include "coll_clv/coll_clv_failure.h"
#include "coll_clv/coll_clv_gather.h"
#include "util/util_time.h"

static const size_t sizes[] = {4096, 8192, 16384, 32768};
#define N_SIZES     ((int) (sizeof sizes / sizeof sizes[0]))
#define LEAST_NS    1000000 /* for a rank whose processor another one uses at the moment ... */
#define LEAST_TURNS 64      /* ... and for one that had no processor at all */

static int64_t patience_ns(const coll_clv_early_t *early)
{
    return 2 * (early->latency_ns + COLL_CLV_EARLY_BYTES * early->byte_ps / 1000) + LEAST_NS;
}

/* All messages are sent from the same memory. */
static int post_sends(const coll_clv_early_t *early, ompi_request_t **sends)
{
    int rc = OMPI_SUCCESS;

    for (int i = 0; i < N_SIZES && OMPI_SUCCESS == rc; i++) {
        rc = MCA_PML_CALL(isend(early->buffer, sizes[i], MPI_BYTE, early->receiver,
                                MCA_COLL_BASE_TAG_REDUCE, MCA_PML_BASE_SEND_STANDARD, early->comm,
                                &sends[i]));
    }
    return rc;
}

static int post_receives(const coll_clv_early_t *early, ompi_request_t **receives)
{
    char *in = early->buffer;
    int rc = OMPI_SUCCESS;

    for (int i = 0; i < N_SIZES && OMPI_SUCCESS == rc; i++) {
        rc = MCA_PML_CALL(irecv(in, sizes[i], MPI_BYTE, early->sender, MCA_COLL_BASE_TAG_REDUCE,
                                early->comm, &receives[i]));
        in += sizes[i];
    }
    return rc;
}

/* The size up to which all sends are complete. */
static int64_t watch(const coll_clv_early_t *early, ompi_request_t *const *sends)
{
    const int64_t end_ns = clv_local_now_ns() + patience_ns(early);
    int n_early = 0;

    for (int turn = 0; n_early < N_SIZES && (turn < LEAST_TURNS || clv_local_now_ns() < end_ns);
         turn++) {
        opal_progress();
        while (n_early < N_SIZES && coll_clv_is_over(sends[n_early])) {
            n_early++;
        }
    }
    return 0 == n_early ? 0 : (int64_t) sizes[n_early - 1];
}

/* Waits outside of MPI: some transports move nothing until the receiver is in MPI. */
static void stay_away(const coll_clv_early_t *early)
{
    const int64_t ns = patience_ns(early);

    (void) nanosleep(&(struct timespec){.tv_sec = ns / CLV_NS_PER_S, .tv_nsec = ns % CLV_NS_PER_S},
                     NULL);
}

static int wait_all(ompi_request_t **requests)
{
    int rc = OMPI_SUCCESS;

    for (int i = 0; i < N_SIZES && OMPI_SUCCESS == rc; i++) {
        if (NULL != requests[i]) {
            rc = ompi_request_wait(&requests[i], MPI_STATUS_IGNORE);
        }
    }
    return rc;
}

int coll_clv_early_measure(coll_clv_early_t *early, int64_t *bytes_p)
{
    const bool has_pair = 0 <= early->sender && 0 <= early->receiver;
    const int rank = ompi_comm_rank(early->comm);
    const bool sends = has_pair && rank == early->sender;
    const bool receives = has_pair && rank == early->receiver;
    ompi_request_t *requests[N_SIZES] = {NULL};
    int rc = coll_clv_meet(early->comm);

    *bytes_p = -1;
    if (OMPI_SUCCESS == rc && sends) {
        rc = post_sends(early, requests);
        *bytes_p = OMPI_SUCCESS == rc ? watch(early, requests) : -1;
    } else if (OMPI_SUCCESS == rc && receives) {
        stay_away(early);
    }
    if (OMPI_SUCCESS == rc) {
        rc = coll_clv_meet(early->comm);
    }
    if (OMPI_SUCCESS == rc && receives) {
        rc = post_receives(early, requests);
    }
    if (OMPI_SUCCESS == rc) {
        rc = wait_all(requests);
    }
    if (OMPI_SUCCESS != rc) {
        if (receives) {
            coll_clv_take_back(requests, N_SIZES);
        }
        coll_clv_give_up(requests, N_SIZES, early->buffer, NULL);
        early->gave_up = true;
    }
    return rc;
}
