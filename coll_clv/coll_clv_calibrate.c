/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Measures latency and bandwidth over the PML (see coll_clv_calibrate.h).
 */
#include "ompi_config.h"

#include "coll_clv/coll_clv_calibrate.h"

#include "ompi/constants.h"
#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"

#include "coll_clv/coll_clv_failure.h"
#include "util/util_time.h"

#define CALIBRATE_SEGMENT  COLL_CLV_CALIBRATE_SEGMENT
#define CALIBRATE_MESSAGES COLL_CLV_CALIBRATE_MESSAGES
#define CALIBRATE_PINGS    5

/* One exchange with the ranks a distance up and down. */
typedef struct shift {
    struct ompi_communicator_t *comm;
    int to;
    int from;
    char *out;
    char *in;   /* CALIBRATE_MESSAGES segments */
    int n_lost; /* requests that would not end after an error; they may still use out and in */
} shift_t;

/* What an error leaves behind; the receives first. */
static int give_up(shift_t *shift, ompi_request_t **requests, int n_receives, int n_requests,
                   int rc)
{
    coll_clv_take_back(requests, n_receives);
    shift->n_lost += coll_clv_settle(requests, n_requests);
    return rc;
}

static int shift_once(shift_t *shift, size_t n_bytes)
{
    ompi_request_t *requests[2] = {NULL, NULL};
    int rc = MCA_PML_CALL(irecv(shift->in, n_bytes, MPI_BYTE, shift->from, MCA_COLL_BASE_TAG_REDUCE,
                                shift->comm, &requests[0]));
    if (OMPI_SUCCESS == rc) {
        rc = MCA_PML_CALL(isend(shift->out, n_bytes, MPI_BYTE, shift->to, MCA_COLL_BASE_TAG_REDUCE,
                                MCA_PML_BASE_SEND_STANDARD, shift->comm, &requests[1]));
    }
    if (OMPI_SUCCESS == rc) {
        rc = ompi_request_wait_all(2, requests, MPI_STATUSES_IGNORE);
    }
    return OMPI_SUCCESS == rc ? rc : give_up(shift, requests, 1, 2, rc);
}

/* The quickest of a few small exchanges; the first one may have to connect. */
static int measure_latency(shift_t *shift, int64_t *latency_ns_p)
{
    int64_t best_ns = INT64_MAX;

    for (int i = 0; i < CALIBRATE_PINGS; i++) {
        int64_t start_ns = clv_local_now_ns();
        int rc = shift_once(shift, 1);
        int64_t took_ns = clv_local_now_ns() - start_ns;
        if (OMPI_SUCCESS != rc) {
            return rc;
        }
        best_ns = took_ns < best_ns ? took_ns : best_ns;
    }
    *latency_ns_p = best_ns;
    return OMPI_SUCCESS;
}

static int post_stream(const shift_t *shift, ompi_request_t **receives, ompi_request_t **sends)
{
    int rc = OMPI_SUCCESS;

    for (int i = 0; i < CALIBRATE_MESSAGES && OMPI_SUCCESS == rc; i++) {
        rc = MCA_PML_CALL(irecv(shift->in + (size_t) i * CALIBRATE_SEGMENT, CALIBRATE_SEGMENT,
                                MPI_BYTE, shift->from, MCA_COLL_BASE_TAG_REDUCE, shift->comm,
                                &receives[i]));
    }
    for (int i = 0; i < CALIBRATE_MESSAGES && OMPI_SUCCESS == rc; i++) {
        rc = MCA_PML_CALL(isend(shift->out, CALIBRATE_SEGMENT, MPI_BYTE, shift->to,
                                MCA_COLL_BASE_TAG_REDUCE, MCA_PML_BASE_SEND_STANDARD, shift->comm,
                                &sends[i]));
    }
    return rc;
}

/* Picoseconds per byte over the later half of a stream. */
static int measure_bandwidth(shift_t *shift, int64_t *byte_ps_p)
{
    enum { HALF = CALIBRATE_MESSAGES / 2 };
    ompi_request_t *requests[2 * CALIBRATE_MESSAGES] = {NULL};
    ompi_request_t **receives = requests;
    ompi_request_t **sends = requests + CALIBRATE_MESSAGES;
    int64_t half_ns;
    int rc = post_stream(shift, receives, sends);

    if (OMPI_SUCCESS == rc) {
        rc = ompi_request_wait_all(HALF, receives, MPI_STATUSES_IGNORE);
    }
    half_ns = clv_local_now_ns();
    if (OMPI_SUCCESS == rc) {
        rc = ompi_request_wait_all(CALIBRATE_MESSAGES - HALF, receives + HALF, MPI_STATUSES_IGNORE);
    }
    *byte_ps_p = (clv_local_now_ns() - half_ns) * 1000 /
                 ((int64_t) CALIBRATE_SEGMENT * (CALIBRATE_MESSAGES - HALF));
    if (OMPI_SUCCESS == rc) {
        rc = ompi_request_wait_all(CALIBRATE_MESSAGES, sends, MPI_STATUSES_IGNORE);
    }
    return OMPI_SUCCESS == rc
               ? rc
               : give_up(shift, requests, CALIBRATE_MESSAGES, 2 * CALIBRATE_MESSAGES, rc);
}

static int measure_shift(shift_t *shift, clv_cost_t *cost_p)
{
    clv_cost_t cost = {0};
    int rc = measure_latency(shift, &cost.latency_ns);

    if (OMPI_SUCCESS == rc) {
        rc = measure_bandwidth(shift, &cost.byte_ps);
    }
    if (cost.latency_ns > cost_p->latency_ns) {
        cost_p->latency_ns = cost.latency_ns;
    }
    if (cost.byte_ps > cost_p->byte_ps) {
        cost_p->byte_ps = cost.byte_ps;
    }
    return rc;
}

static int measure_distances(struct ompi_communicator_t *comm, char *buffer, clv_cost_t *cost_p,
                             int *n_lost_p)
{
    int n_ranks = ompi_comm_size(comm);
    int rank = ompi_comm_rank(comm);
    const int distances[2] = {n_ranks / 2, 1};
    int rc = OMPI_SUCCESS;

    for (int i = 0; i < 2 && OMPI_SUCCESS == rc; i++) {
        shift_t shift = {.comm = comm,
                         .to = (rank + distances[i]) % n_ranks,
                         .from = (rank + n_ranks - distances[i]) % n_ranks,
                         .out = buffer,
                         .in = buffer + CALIBRATE_SEGMENT};
        if (0 == i || distances[0] != distances[1]) {
            rc = measure_shift(&shift, cost_p);
            *n_lost_p += shift.n_lost;
        }
    }
    return rc;
}

int coll_clv_calibrate(struct ompi_communicator_t *comm, char **buffer_p, clv_cost_t *cost_p)
{
    clv_cost_t cost = {0};
    int n_lost = 0;
    int rc = measure_distances(comm, *buffer_p, &cost, &n_lost);

    if (n_lost > 0) {
        *buffer_p = NULL;
    }
    if (OMPI_SUCCESS == rc) {
        *cost_p = cost;
    }
    return rc;
}
