/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Measures links over the PML, and the time of combining (see coll_clv_calibrate.h).
 */
#include "ompi_config.h"

#include "coll_clv/coll_clv_calibrate.h"

#include "ompi/constants.h"
#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/op/op.h"
#include "ompi/request/request.h"

#include "coll_clv/coll_clv_early.h"
#include "coll_clv/coll_clv_failure.h"
#include "coll_clv/coll_clv_gather.h"
#include "util/util_min_max.h"
#include "util/util_time.h"

#define CALIBRATE_SEGMENT  COLL_CLV_CALIBRATE_SEGMENT
#define CALIBRATE_MESSAGES COLL_CLV_CALIBRATE_MESSAGES
#define CALIBRATE_LEAST    11 /* messages */
#define CALIBRATE_SHARE    10 /* of the vector */
#define CALIBRATE_NEAR     4  /* messages: all ranks of a place send at once */
#define CALIBRATE_PINGS    5
#define CALIBRATE_SHORT    1024 /* bytes of a message whose cost does not depend on its size */
#define CALIBRATE_BURST    4    /* short messages at a time, as many as the executor sends */
#define CALIBRATE_BURSTS   4
/* What a segment of a plan costs, in short messages: it is combined, its credit is sent, and it is
 * searched for among others (docs/decisions/0010). */
#define CALIBRATE_OF_A_SEGMENT 3
#define CALIBRATE_TRIES        3

/* One exchange with the ranks at a distance up and down. */
typedef struct shift {
    struct ompi_communicator_t *comm;
    int to;
    int from;
    char *out;
    char *in;     /* CALIBRATE_MESSAGES segments */
    bool gave_up; /* after an error: the memory of out and in went with the requests */
} shift_t;

/* Gives up what an error leaves open; receives come first in requests. */
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

/* Takes the fastest of a few small exchanges; the first one may have to connect. */
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

static int post_stream(const shift_t *shift, int n_messages, size_t n_bytes,
                       ompi_request_t **receives, ompi_request_t **sends)
{
    int rc = OMPI_SUCCESS;

    for (int i = 0; i < n_messages && OMPI_SUCCESS == rc; i++) {
        rc = MCA_PML_CALL(irecv(shift->in + (size_t) i * n_bytes, n_bytes, MPI_BYTE, shift->from,
                                MCA_COLL_BASE_TAG_REDUCE, shift->comm, &receives[i]));
    }
    for (int i = 0; i < n_messages && OMPI_SUCCESS == rc; i++) {
        rc = MCA_PML_CALL(isend(shift->out, n_bytes, MPI_BYTE, shift->to, MCA_COLL_BASE_TAG_REDUCE,
                                MCA_PML_BASE_SEND_STANDARD, shift->comm, &sends[i]));
    }
    return rc;
}

/* at_ns[0]: start of the stream; at_ns[i]: arrival of segment i. */
static int time_stream(shift_t *shift, int n_messages, size_t n_bytes,
                       int64_t at_ns[CALIBRATE_MESSAGES + 1])
{
    ompi_request_t *requests[2 * CALIBRATE_MESSAGES] = {NULL};
    ompi_request_t **receives = requests;
    ompi_request_t **sends = requests + CALIBRATE_MESSAGES;
    int rc;

    at_ns[0] = clv_local_now_ns();
    rc = post_stream(shift, n_messages, n_bytes, receives, sends);
    for (int i = 0; i < n_messages && OMPI_SUCCESS == rc; i++) {
        rc = ompi_request_wait(&receives[i], MPI_STATUS_IGNORE);
        at_ns[i + 1] = clv_local_now_ns();
    }
    if (OMPI_SUCCESS == rc) {
        rc = ompi_request_wait_all((size_t) n_messages, sends, MPI_STATUSES_IGNORE);
    }
    return OMPI_SUCCESS == rc
               ? rc
               : give_up(shift, requests, CALIBRATE_MESSAGES, 2 * CALIBRATE_MESSAGES, rc);
}

/* Picoseconds per byte of the whole stream, from its beginning on. */
static int64_t whole_ps(const int64_t *at_ns, int n_messages)
{
    return (at_ns[n_messages] - at_ns[0]) * 1000 / ((int64_t) CALIBRATE_SEGMENT * n_messages);
}

/* The time between two segments, by least squares: segments arrive in pairs (segmentation offload),
 * which would distort a slope taken from the first and the last only. */
static double mean_gap_ns(const int64_t *at_ns, int n_points)
{
    const double n = n_points;
    double sum = 0;

    for (int i = 0; i < n_points; i++) {
        sum += (i - (n - 1) / 2) * (double) (at_ns[i] - at_ns[0]);
    }
    return sum * 12 / (n * (n * n - 1));
}

/* State of a calibration. place: as in coll_clv_calibrate. */
typedef struct calibration {
    struct ompi_communicator_t *comm;
    char *buffer;
    const int32_t *place;
    int n_messages; /* of a stream */
    bool gave_up;
    clv_cost_t cost;
} calibration_t;

/* The n-th rank of a place, from 0; -1: it has fewer. Without places each rank is its own place. */
static int rank_of_place(const calibration_t *all, int32_t place, int n)
{
    for (int p = 0; p < ompi_comm_size(all->comm); p++) {
        if ((NULL == all->place ? p : all->place[p]) == place && 0 == n--) {
            return p;
        }
    }
    return -1;
}

static int first_of(const calibration_t *all, int32_t place)
{
    return rank_of_place(all, place, 0);
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

/* Measures between ranks that may be far apart. The latency is the larger one of two distances. The
 * stream uses one distance: a second stream would meet ranks still busy with the first. Its first
 * third is skipped, because traffic shapers usually let a burst of less than three segments pass.
 * If all of it has arrived at the first look, as in memory, the rate of the whole stream is
 * better. */
static int measure_shifts(calibration_t *all, shift_t *shifts, int n_shifts)
{
    const int n_before = all->n_messages / 3;
    int64_t at_ns[CALIBRATE_MESSAGES + 1];
    int rc = OMPI_SUCCESS;

    for (int i = 0; i < n_shifts && OMPI_SUCCESS == rc; i++) {
        int64_t latency_ns = 0;
        rc = measure_latency(&shifts[i], &latency_ns);
        all->cost.latency_ns = clv_larger(latency_ns, all->cost.latency_ns);
        all->gave_up = shifts[i].gave_up;
    }
    if (OMPI_SUCCESS == rc) {
        rc = time_stream(&shifts[0], all->n_messages, CALIBRATE_SEGMENT, at_ns);
        all->gave_up = shifts[0].gave_up;
    }
    if (OMPI_SUCCESS == rc) {
        const double gap_ns = mean_gap_ns(at_ns + n_before, all->n_messages + 1 - n_before);
        all->cost.byte_ps = clv_larger((int64_t) (gap_ns * 1000 / CALIBRATE_SEGMENT),
                                       whole_ps(at_ns, all->n_messages));
    }
    return rc;
}

/* One rank of each place sends to the place half of them away, and to the next place. */
static int measure_far(calibration_t *all)
{
    const int rank = ompi_comm_rank(all->comm);
    const int32_t mine = NULL == all->place ? rank : all->place[rank];
    const int32_t n_places = count_places(all);
    const int32_t distances[2] = {n_places / 2, 1};
    shift_t shifts[2];

    if (first_of(all, mine) != rank) {
        return OMPI_SUCCESS;
    }
    for (int i = 0; i < 2; i++) {
        shifts[i] = (shift_t){.comm = all->comm,
                              .to = first_of(all, (mine + distances[i]) % n_places),
                              .from = first_of(all, (mine + n_places - distances[i]) % n_places),
                              .out = all->buffer,
                              .in = all->buffer + CALIBRATE_SEGMENT};
    }
    return measure_shifts(all, shifts, distances[0] == distances[1] ? 1 : 2);
}

/* ---- sends that complete without their receiver ---------------------------------------------- */

/* Measures between places 2i and 2i + 1, and then, where ranks share places, inside each place. */
static int measure_both_early(calibration_t *all)
{
    const int rank = ompi_comm_rank(all->comm);
    const int32_t mine = NULL == all->place ? rank : all->place[rank];
    const int32_t even = mine - mine % 2;
    const bool is_pair = even + 1 < count_places(all);
    coll_clv_early_t early = {.comm = all->comm,
                              .sender = is_pair ? first_of(all, even) : -1,
                              .receiver = is_pair ? first_of(all, even + 1) : -1,
                              .buffer = all->buffer,
                              .latency_ns = all->cost.latency_ns,
                              .byte_ps = all->cost.byte_ps};
    int rc = coll_clv_early_measure(&early, &all->cost.early_bytes);

    all->cost.near_early_bytes = -1;
    if (OMPI_SUCCESS == rc && NULL != all->place) {
        early.sender = rank_of_place(all, mine, 0);
        early.receiver = rank_of_place(all, mine, 1);
        early.latency_ns = all->cost.near_latency_ns;
        early.byte_ps = all->cost.near_byte_ps;
        rc = coll_clv_early_measure(&early, &all->cost.near_early_bytes);
    }
    all->gave_up = all->gave_up || early.gave_up;
    return rc;
}

/* ---- where ranks share links ----------------------------------------------------------------- */

/* The next rank of this rank's place, up (1) or down (-1); this rank if it is alone. */
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

/* Around each place, by all of its ranks at once. The rate is that of the whole stream, since most
 * of it arrives before the first look. Of three streams the fastest counts: a rank may have lost
 * its core. */
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
        int64_t at_ns[CALIBRATE_MESSAGES + 1] = {0};
        int64_t byte_ps;
        rc = time_stream(&shift, CALIBRATE_NEAR, CALIBRATE_SEGMENT, at_ns);
        byte_ps = whole_ps(at_ns, CALIBRATE_NEAR);
        if (0 == i || byte_ps < all->cost.near_byte_ps) {
            all->cost.near_byte_ps = byte_ps;
        }
    }
    all->gave_up = shift.gave_up;
    return rc;
}

/* Combines one segment of doubles into another, on all ranks at once. */
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

/* Short messages around all ranks at once, as in a chain: where ranks share cores, this measures
 * what they cost together. All bursts are timed as one, because a whole burst may have arrived at
 * the first look. */
static int measure_gap(calibration_t *all)
{
    const int n_ranks = ompi_comm_size(all->comm);
    const int rank = ompi_comm_rank(all->comm);
    shift_t shift = {.comm = all->comm,
                     .to = (rank + 1) % n_ranks,
                     .from = (rank + n_ranks - 1) % n_ranks,
                     .out = all->buffer,
                     .in = all->buffer + CALIBRATE_SEGMENT};
    int64_t at_ns[CALIBRATE_MESSAGES + 1];
    int rc = coll_clv_meet(all->comm); /* ranks must not disturb each other's next measurement */
    const int64_t start_ns = clv_local_now_ns();

    for (int i = 0; i < CALIBRATE_BURSTS && OMPI_SUCCESS == rc; i++) {
        rc = time_stream(&shift, CALIBRATE_BURST, CALIBRATE_SHORT, at_ns);
    }
    all->cost.gap_ns = (clv_local_now_ns() - start_ns) * CALIBRATE_OF_A_SEGMENT /
                       (CALIBRATE_BURSTS * CALIBRATE_BURST);
    all->gave_up = all->gave_up || shift.gave_up;
    return rc;
}

static int measure_places(calibration_t *all)
{
    int rc = measure_far(all);

    if (OMPI_SUCCESS == rc) {
        rc = coll_clv_meet(all->comm);
    }
    if (OMPI_SUCCESS == rc) {
        rc = measure_near(all);
    }
    if (OMPI_SUCCESS == rc) {
        rc = coll_clv_meet(all->comm);
    }
    if (OMPI_SUCCESS == rc) {
        measure_combine(all);
    }
    return rc;
}

int coll_clv_calibrate_messages(int64_t vector_bytes)
{
    const int64_t share = vector_bytes / CALIBRATE_SHARE / CALIBRATE_SEGMENT;
    return (int) clv_larger(CALIBRATE_LEAST, clv_smaller(share, CALIBRATE_MESSAGES));
}

int coll_clv_calibrate(struct ompi_communicator_t *comm, const int32_t *place, int64_t vector_bytes,
                       char **buffer_p, clv_cost_t *cost_p)
{
    calibration_t all = {.comm = comm,
                         .buffer = *buffer_p,
                         .place = place,
                         .n_messages = coll_clv_calibrate_messages(vector_bytes)};
    int rc;

    if (NULL != place) {
        all.cost = (clv_cost_t){-1, -1, -1, -1, -1, -1, -1, -1};
    }
    rc = NULL == place ? measure_far(&all) : measure_places(&all);
    if (OMPI_SUCCESS == rc) {
        rc = measure_both_early(&all);
    }
    if (OMPI_SUCCESS == rc) {
        rc = measure_gap(&all);
    }

    if (all.gave_up) {
        *buffer_p = NULL;
    }
    if (OMPI_SUCCESS == rc) {
        *cost_p = all.cost;
    }
    return rc;
}
