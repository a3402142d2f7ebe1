/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Exchanges in ceil(log2(ranks)) rounds: in each round a rank receives from the rank a distance
 * above it, and the distance doubles (see coll_clv_gather.h).
 */
#include "ompi_config.h"

#include "coll_clv/coll_clv_gather.h"

#include <sched.h>
#include <string.h>

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"
#include "opal/runtime/opal_progress.h"

#include "coll_clv/coll_clv_failure.h"
#include "util/util_min_max.h"

/* Messages of a round: receives, then sends. A share that wraps around takes two. */
#define N_PIECES   2
#define N_MESSAGES (2 * N_PIECES)

typedef struct messages {
    struct ompi_communicator_t *comm;
    ompi_request_t *requests[N_MESSAGES];
    size_t n_bytes[N_MESSAGES]; /* received */
} messages_t;

static int receive(messages_t *messages, int i, void *bytes, size_t n_bytes, int from)
{
    return MCA_PML_CALL(irecv(bytes, n_bytes, MPI_BYTE, from, COLL_CLV_TAG_GATHER, messages->comm,
                              &messages->requests[i]));
}

static int send_to(messages_t *messages, int i, const void *bytes, size_t n_bytes, int to)
{
    return MCA_PML_CALL(isend(bytes, n_bytes, MPI_BYTE, to, COLL_CLV_TAG_GATHER,
                              MCA_PML_BASE_SEND_STANDARD, messages->comm,
                              &messages->requests[N_PIECES + i]));
}

/* Leaves a failed request to end_round. Yields whatever Open MPI does: while UCX connects, its
 * progress always has work, and Open MPI then never yields. */
static int wait_for(messages_t *messages, int i)
{
    ompi_request_t **request = &messages->requests[i];
    int rc = OMPI_SUCCESS;

    while (!coll_clv_is_over(*request)) {
        rc = coll_clv_failure_of(messages->comm);
        if (OMPI_SUCCESS != rc) {
            return rc;
        }
        opal_progress();
        (void) sched_yield();
    }
    rc = (*request)->req_status.MPI_ERROR;
    messages->n_bytes[i] = (*request)->req_status._ucount;
    if (OMPI_SUCCESS == rc) {
        rc = ompi_request_free(request);
        *request = NULL;
    }
    return rc;
}

/* Ends the round that begin_round started with rc. memory goes with requests that do not end. */
static int end_round(messages_t *messages, int rc, void **memory_p)
{
    for (int i = 0; i < N_MESSAGES && OMPI_SUCCESS == rc; i++) {
        rc = NULL == messages->requests[i] ? OMPI_SUCCESS : wait_for(messages, i);
    }
    if (OMPI_SUCCESS != rc) {
        coll_clv_take_back(messages->requests, N_PIECES);
        coll_clv_give_up(messages->requests, N_MESSAGES, NULL == memory_p ? NULL : *memory_p, NULL);
        if (NULL != memory_p) {
            *memory_p = NULL;
        }
    }
    return rc;
}

/* ---- bytes from each rank ------------------------------------------------------------------- */

typedef struct shares {
    unsigned char *all;
    size_t n_bytes; /* of one rank */
    int n_ranks;
} shares_t;

/* Of n shares from first on, wrapping around: i = 0 is the part before the end, 1 the part after
 * it. */
static unsigned char *piece(const shares_t *shares, int first, int n, int i, size_t *n_bytes_p)
{
    const int before = (int) clv_smaller(n, shares->n_ranks - first);

    *n_bytes_p = (size_t) (0 == i ? before : n - before) * shares->n_bytes;
    return 0 == i ? shares->all + (size_t) first * shares->n_bytes : shares->all;
}

/* This rank has `distance` shares from its own on, sends them, and receives those that follow. */
static int begin_round(messages_t *messages, const shares_t *shares, int distance)
{
    const int rank = ompi_comm_rank(messages->comm), n_ranks = shares->n_ranks;
    const int n = (int) clv_smaller(distance, n_ranks - distance);
    const int above = (rank + distance) % n_ranks;
    const int below = (rank + n_ranks - distance) % n_ranks;
    int rc = OMPI_SUCCESS;

    for (int i = 0; i < N_MESSAGES && OMPI_SUCCESS == rc; i++) {
        const bool receives = i < N_PIECES;
        size_t n_bytes;
        unsigned char *bytes = piece(shares, receives ? above : rank, n, i % N_PIECES, &n_bytes);

        if (0 < n_bytes) {
            rc = receives ? receive(messages, i, bytes, n_bytes, above)
                          : send_to(messages, i - N_PIECES, bytes, n_bytes, below);
        }
    }
    return rc;
}

int coll_clv_gather(struct ompi_communicator_t *comm, const void *mine, void **all_p,
                    size_t n_bytes)
{
    const shares_t shares = {.all = *all_p, .n_bytes = n_bytes, .n_ranks = ompi_comm_size(comm)};
    int rc = OMPI_SUCCESS;

    memcpy(shares.all + (size_t) ompi_comm_rank(comm) * n_bytes, mine, n_bytes);
    for (int distance = 1; distance < shares.n_ranks && OMPI_SUCCESS == rc; distance *= 2) {
        messages_t messages = {.comm = comm};
        rc = end_round(&messages, begin_round(&messages, &shares, distance), all_p);
    }
    return rc;
}

/* ---- one answer from all --------------------------------------------------------------------- */

/* A "no" has one byte, a "yes" none, and all read or write this array: after an error no other
 * memory of ours is in use. */
static unsigned char no[2];

static int ask_all(struct ompi_communicator_t *comm, bool *answer_p)
{
    const int rank = ompi_comm_rank(comm), n_ranks = ompi_comm_size(comm);
    int rc = OMPI_SUCCESS;

    for (int distance = 1; distance < n_ranks && OMPI_SUCCESS == rc; distance *= 2) {
        messages_t messages = {.comm = comm};
        rc = receive(&messages, 0, &no[0], 1, (rank + distance) % n_ranks);
        if (OMPI_SUCCESS == rc) {
            rc = send_to(&messages, 0, &no[1], *answer_p ? 0 : 1,
                         (rank + n_ranks - distance) % n_ranks);
        }
        rc = end_round(&messages, rc, NULL);
        *answer_p = *answer_p && 0 == messages.n_bytes[0];
    }
    return rc;
}

bool coll_clv_agree(struct ompi_communicator_t *comm, bool mine)
{
    bool all = mine;

    return OMPI_SUCCESS == ask_all(comm, &all) && all;
}

int coll_clv_meet(struct ompi_communicator_t *comm)
{
    bool all = true;

    return ask_all(comm, &all);
}
