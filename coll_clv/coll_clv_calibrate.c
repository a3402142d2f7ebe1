/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Measures links over the PML, and combining (see coll_clv_calibrate.h).
 */
#include "ompi_config.h"

#include "coll_clv/coll_clv_calibrate.h"

#include "ompi/constants.h"
#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/op/op.h"
#include "ompi/request/request.h"

#include "coll_clv/coll_clv_failure.h"
#include "util/util_time.h"

#define CALIBRATE_SEGMENT  COLL_CLV_CALIBRATE_SEGMENT
#define CALIBRATE_MESSAGES COLL_CLV_CALIBRATE_MESSAGES
#define CALIBRATE_PINGS    5
#define CALIBRATE_TRIES    3

/* One exchange with the ranks a distance up and down. */
typedef struct shift {
    struct ompi_communicator_t *comm;
    int to;
    int from;
    char *out;
    char *in;     /* CALIBRATE_MESSAGES segments */
    bool gave_up; /* after an error: the memory of both went with the requests */
} shift_t;

/* What an error leaves behind; the receives first. */
static int give_up(shift_t *shift, ompi_request_t **requests, int n_receives, int n_requests,
                   int rc)
{
    coll_clv_take_back(requests, n_receives);
    coll_clv_give_up(requests, n_requests, shift->out, NULL);
    shift->gave_up = true;
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

/* Picoseconds per byte of a stream, without its first n_before messages. */
static int measure_stream(shift_t *shift, int n_before, int64_t *byte_ps_p)
{
    ompi_request_t *requests[2 * CALIBRATE_MESSAGES] = {NULL};
    ompi_request_t **receives = requests;
    ompi_request_t **sends = requests + CALIBRATE_MESSAGES;
    const int n_counted = CALIBRATE_MESSAGES - n_before;
    int64_t start_ns = clv_local_now_ns();
    int rc = post_stream(shift, receives, sends);

    if (OMPI_SUCCESS == rc && n_before > 0) {
        rc = ompi_request_wait_all((size_t) n_before, receives, MPI_STATUSES_IGNORE);
        start_ns = clv_local_now_ns();
    }
    if (OMPI_SUCCESS == rc) {
        rc = ompi_request_wait_all((size_t) n_counted, receives + n_before, MPI_STATUSES_IGNORE);
    }
    *byte_ps_p = (clv_local_now_ns() - start_ns) * 1000 / ((int64_t) CALIBRATE_SEGMENT * n_counted);
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
        rc = measure_stream(shift, CALIBRATE_MESSAGES / 2, &cost.byte_ps);
    }
    if (cost.latency_ns > cost_p->latency_ns) {
        cost_p->latency_ns = cost.latency_ns;
    }
    if (cost.byte_ps > cost_p->byte_ps) {
        cost_p->byte_ps = cost.byte_ps;
    }
    return rc;
}

/* What a calibration goes by. place as in coll_clv_calibrate. */
typedef struct calibration {
    struct ompi_communicator_t *comm;
    char *buffer;
    const int32_t *place;
    bool gave_up;
    clv_cost_t cost;
} calibration_t;

/* The first rank of a place; of all ranks, where places do not count. */
static int first_of(const calibration_t *all, int32_t place)
{
    int p = place;

    while (NULL != all->place && all->place[p] != place) {
        p++;
    }
    return p;
}

static int32_t count_places(const calibration_t *all)
{
    const int n_ranks = ompi_comm_size(all->comm);
    int32_t last = NULL == all->place ? n_ranks - 1 : 0;

    for (int p = 0; NULL != all->place && p < n_ranks; p++) {
        last = all->place[p] > last ? all->place[p] : last;
    }
    return last + 1;
}

/* One rank of each place to that of the place half of them away, and to the next one's. */
static int measure_far(calibration_t *all)
{
    const int rank = ompi_comm_rank(all->comm);
    const int32_t mine = NULL == all->place ? rank : all->place[rank];
    const int32_t n_places = count_places(all);
    const int32_t distances[2] = {n_places / 2, 1};
    int rc = OMPI_SUCCESS;

    if (first_of(all, mine) != rank) {
        return OMPI_SUCCESS;
    }
    for (int i = 0; i < 2 && OMPI_SUCCESS == rc; i++) {
        shift_t shift = {.comm = all->comm,
                         .to = first_of(all, (mine + distances[i]) % n_places),
                         .from = first_of(all, (mine + n_places - distances[i]) % n_places),
                         .out = all->buffer,
                         .in = all->buffer + CALIBRATE_SEGMENT};
        if (0 == i || distances[0] != distances[1]) {
            rc = measure_shift(&shift, &all->cost);
            all->gave_up = shift.gave_up;
        }
    }
    return rc;
}

/* ---- where ranks share links ----------------------------------------------------------------- */

/* The next rank of this one's place, up (1) or down (-1); itself when there is no other. */
static int neighbour(const calibration_t *all, int step)
{
    const int n_ranks = ompi_comm_size(all->comm);
    const int rank = ompi_comm_rank(all->comm);
    int p = rank;

    do {
        p = (p + n_ranks + step) % n_ranks;
    } while (all->place[p] != all->place[rank]);
    return p;
}

/* Around each place, by all ranks at once. The whole stream counts: most of it is there before the
 * first look, and of three the quickest, since a rank may have lost its core. */
static int measure_near(calibration_t *all)
{
    shift_t shift = {.comm = all->comm,
                     .to = neighbour(all, 1),
                     .from = neighbour(all, -1),
                     .out = all->buffer,
                     .in = all->buffer + CALIBRATE_SEGMENT};
    int rc = OMPI_SUCCESS;

    if (shift.to == ompi_comm_rank(all->comm)) {
        return OMPI_SUCCESS;
    }
    rc = measure_latency(&shift, &all->cost.near_latency_ns);
    for (int i = 0; i < CALIBRATE_TRIES && OMPI_SUCCESS == rc; i++) {
        int64_t byte_ps = 0;
        rc = measure_stream(&shift, 0, &byte_ps);
        if (0 == i || byte_ps < all->cost.near_byte_ps) {
            all->cost.near_byte_ps = byte_ps;
        }
    }
    all->gave_up = shift.gave_up;
    return rc;
}

/* A segment of doubles into another one, by all ranks at once. */
static void measure_combine(calibration_t *all)
{
    const int count = CALIBRATE_SEGMENT / (int) sizeof(double);

    for (int i = 0; i < CALIBRATE_TRIES; i++) {
        const int64_t start_ns = clv_local_now_ns();
        int64_t byte_ps;
        ompi_op_reduce(MPI_SUM, all->buffer, all->buffer + CALIBRATE_SEGMENT, count, MPI_DOUBLE);
        byte_ps = (clv_local_now_ns() - start_ns) * 1000 / CALIBRATE_SEGMENT;
        if (0 == i || byte_ps < all->cost.combine_ps) {
            all->cost.combine_ps = byte_ps;
        }
    }
}

/* Everybody has done with what came before: nobody disturbs the others' next measure. */
static int wait_for_all(const calibration_t *all)
{
    return all->comm->c_coll->coll_barrier(all->comm, all->comm->c_coll->coll_barrier_module);
}

static int measure_places(calibration_t *all)
{
    int rc = measure_far(all);

    if (OMPI_SUCCESS == rc) {
        rc = wait_for_all(all);
    }
    if (OMPI_SUCCESS == rc) {
        rc = measure_near(all);
    }
    if (OMPI_SUCCESS == rc) {
        rc = wait_for_all(all);
    }
    if (OMPI_SUCCESS == rc) {
        measure_combine(all);
    }
    return rc;
}

int coll_clv_calibrate(struct ompi_communicator_t *comm, const int32_t *place, char **buffer_p,
                       clv_cost_t *cost_p)
{
    calibration_t all = {.comm = comm, .buffer = *buffer_p, .place = place};
    int rc;

    if (NULL != place) {
        all.cost = (clv_cost_t){-1, -1, -1, -1, -1};
    }
    rc = NULL == place ? measure_far(&all) : measure_places(&all);

    if (all.gave_up) {
        *buffer_p = NULL;
    }
    if (OMPI_SUCCESS == rc) {
        *cost_p = all.cost;
    }
    return rc;
}
