/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ring reduce: a reduce-scatter around the ring of ranks, then a gather to the root.
 *
 *   chunk c starts at rank c + 1, each rank combines its own part into the passing chunk, and after
 *   n_ranks - 1 steps chunk c is complete at rank c:
 *
 *     step k:  rank r sends chunk r - k - 1 to r + 1, receives chunk r - k - 2 from r - 1
 *
 * Bandwidth-optimal, latency 2 (n_ranks - 1): for long vectors. Commutative operations only,
 * because a chunk is combined in the order of the ring from wherever it starts.
 * Memory: two chunks; a partial result only ever waits to be sent on.
 */
#include "coll_clv/coll_clv_call.h"

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/coll/base/coll_base_functions.h"
#include "ompi/mca/coll/base/coll_base_util.h"
#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/op/op.h"
#include "ompi/request/request.h"

#include "coll_clv/coll_clv_buffers.h"
#include "util/util_alloc.h"

typedef struct ring {
    const char *own; /* this rank's contribution */
    char *result;    /* rbuf at the root, else NULL */
    size_t count;
    struct ompi_datatype_t *dtype;
    struct ompi_op_t *op;
    ptrdiff_t extent;
    int root;
    int rank;
    int n_ranks;
    struct ompi_communicator_t *comm;
    char *memory;     /* memory of both partial results */
    char *partial[2]; /* the addresses of their first elements */
} ring_t;

/* The first count % n_ranks chunks have one element more. */
static size_t chunk_start(const ring_t *ring, int chunk)
{
    const size_t each = ring->count / (size_t) ring->n_ranks;
    const size_t more = ring->count % (size_t) ring->n_ranks;
    return (size_t) chunk * each + ((size_t) chunk < more ? (size_t) chunk : more);
}

static size_t chunk_count(const ring_t *ring, int chunk)
{
    return chunk_start(ring, chunk + 1) - chunk_start(ring, chunk);
}

static ptrdiff_t chunk_offset(const ring_t *ring, int chunk)
{
    return (ptrdiff_t) chunk_start(ring, chunk) * ring->extent;
}

static int chunk_back(const ring_t *ring, int steps)
{
    return (ring->rank - steps + 2 * ring->n_ranks) % ring->n_ranks;
}

static int reserve_partials(ring_t *ring)
{
    const size_t longest = chunk_count(ring, 0); /* >= 1: the caller has no empty vectors */
    const coll_clv_buffers_t layout =
        coll_clv_buffers_for(ring->dtype, longest, ring->op, ring->own);

    ring->memory = clv_alloc(coll_clv_buffers_bytes(&layout, 2), 1);
    if (NULL == ring->memory) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    ring->partial[0] = coll_clv_buffers_first(&layout, ring->memory);
    ring->partial[1] = ring->partial[0] + layout.stride;
    return OMPI_SUCCESS;
}

/* Combines this rank's part of the chunk into a partial result. */
static void combine_own(const ring_t *ring, int chunk, char *partial)
{
    const size_t n_elements = chunk_count(ring, chunk);

    if (0 != n_elements) {
        ompi_op_reduce(ring->op, (char *) ring->own + chunk_offset(ring, chunk), partial,
                       n_elements, ring->dtype);
    }
}

/* Leaves the complete chunk of this rank in *complete_p. */
static int scatter_around(const ring_t *ring, char **complete_p)
{
    const int next = (ring->rank + 1) % ring->n_ranks;
    const int sends_first = chunk_back(ring, 1);
    char *outgoing = (char *) ring->own + chunk_offset(ring, sends_first);

    for (int step = 0; step < ring->n_ranks - 1; step++) {
        const int sent = chunk_back(ring, step + 1);
        const int received = chunk_back(ring, step + 2);
        char *incoming = ring->partial[step % 2];
        const int status = ompi_coll_base_sendrecv_actual(
            outgoing, chunk_count(ring, sent), ring->dtype, next, MCA_COLL_BASE_TAG_REDUCE,
            incoming, chunk_count(ring, received), ring->dtype, chunk_back(ring, 1),
            MCA_COLL_BASE_TAG_REDUCE, ring->comm, MPI_STATUS_IGNORE);
        if (OMPI_SUCCESS != status) {
            return status;
        }
        combine_own(ring, received, incoming);
        outgoing = incoming;
    }
    *complete_p = outgoing;
    return OMPI_SUCCESS;
}

/* Posts all receives before waiting for any: senders finish in any order. */
static int post_gather(const ring_t *ring, struct ompi_request_t **requests, int *n_posted_p)
{
    for (int peer = 0; peer < ring->n_ranks; peer++) {
        const size_t n_elements = chunk_count(ring, peer);
        if (peer != ring->rank && 0 != n_elements) {
            const int status = MCA_PML_CALL(
                irecv(ring->result + chunk_offset(ring, peer), n_elements, ring->dtype, peer,
                      MCA_COLL_BASE_TAG_REDUCE, ring->comm, &requests[*n_posted_p]));
            if (OMPI_SUCCESS != status) {
                return status;
            }
            (*n_posted_p)++;
        }
    }
    return OMPI_SUCCESS;
}

static int gather_at_root(const ring_t *ring, char *complete)
{
    struct ompi_request_t **requests = clv_alloc((size_t) ring->n_ranks, sizeof *requests);
    const size_t n_elements = chunk_count(ring, ring->rank);
    int n_posted = 0;
    int status;

    if (NULL == requests) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    status = post_gather(ring, requests, &n_posted);
    if (OMPI_SUCCESS == status) {
        status = ompi_request_wait_all((size_t) n_posted, requests, MPI_STATUSES_IGNORE);
    }
    if (OMPI_SUCCESS != status) {
        ompi_coll_base_free_reqs(requests, n_posted);
    } else if (0 != n_elements) {
        status = ompi_datatype_copy_content_same_ddt(
            ring->dtype, n_elements, ring->result + chunk_offset(ring, ring->rank), complete);
    }
    clv_free(requests);
    return status;
}

static int gather_from_here(const ring_t *ring, char *complete)
{
    const size_t n_elements = chunk_count(ring, ring->rank);

    if (0 == n_elements) {
        return OMPI_SUCCESS;
    }
    return MCA_PML_CALL(send(complete, n_elements, ring->dtype, ring->root,
                             MCA_COLL_BASE_TAG_REDUCE, MCA_PML_BASE_SEND_STANDARD, ring->comm));
}

int coll_clv_run_ring(const coll_clv_call_t *call)
{
    const int rank = ompi_comm_rank(call->comm);
    ring_t ring = {
        .own = MPI_IN_PLACE == call->sbuf ? call->rbuf : call->sbuf,
        .result = rank == call->root ? call->rbuf : NULL,
        .count = (size_t) call->count,
        .dtype = call->dtype,
        .op = call->op,
        .root = call->root,
        .rank = rank,
        .n_ranks = ompi_comm_size(call->comm),
        .comm = call->comm,
    };
    ptrdiff_t lower_bound;
    char *complete = NULL;
    int status;

    if (0 == call->count) {
        return OMPI_SUCCESS;
    }
    ompi_datatype_get_extent(call->dtype, &lower_bound, &ring.extent);
    status = reserve_partials(&ring);
    if (OMPI_SUCCESS == status) {
        status = scatter_around(&ring, &complete);
    }
    if (OMPI_SUCCESS == status) {
        status = rank == call->root ? gather_at_root(&ring, complete)
                                    : gather_from_here(&ring, complete);
    }
    clv_free(ring.memory);
    return status;
}
