/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives over public point-to-point MPI for comparison: the ring, Radix-K and the butterfly
 * (bench_radix.h), which no library offers for reduce, and the bound, which no correct reduce can
 * beat by much. Not for inter-communicators; only the bound supports operations that do not
 * commute. Scratch: one vector and one block, allocated per call (negligible: 2 MiB take under 0.2
 * ms).
 */
#include <string.h>

#include "apps/bench/measure/bench_collectives.h"
#include "apps/bench/measure/bench_radix.h"
#include "util/util_alloc.h"

enum { TAG_RING = 101, TAG_GATHER = 102, TAG_BOUND = 103, TAG_OTHER_BOUND = 104 };

/* Start of block b of n: the first count % n blocks have one element more. */
static int block_start(const clv_bench_call_t *call, int block)
{
    const int base = call->count / call->n_ranks;
    const int more = call->count % call->n_ranks;

    return block * base + (block < more ? block : more);
}

static int block_count(const clv_bench_call_t *call, int block)
{
    return block_start(call, block + 1) - block_start(call, block);
}

static char *block_at(const clv_bench_call_t *call, void *buffer, int block)
{
    return (char *) buffer +
           (size_t) block_start(call, block) * clv_element_kind(call->element).size;
}

/* After n - 1 steps rank r holds the combined block r. */
static int ring_reduce_scatter(const clv_bench_call_t *call, char *vector, char *block)
{
    const int n = call->n_ranks;
    const int next = (call->rank + 1) % n;
    const int previous = (call->rank + n - 1) % n;
    const MPI_Datatype type = clv_element_kind(call->element).type;
    int status = MPI_SUCCESS;

    for (int step = 1; step < n && status == MPI_SUCCESS; step++) {
        const int out = (call->rank + n - step) % n;
        const int in = (call->rank + 2 * n - step - 1) % n;
        status = MPI_Sendrecv(block_at(call, vector, out), block_count(call, out), type, next,
                              TAG_RING, block, block_count(call, in), type, previous, TAG_RING,
                              call->comm, MPI_STATUS_IGNORE);
        if (status == MPI_SUCCESS) {
            status = MPI_Reduce_local(block, block_at(call, vector, in), block_count(call, in),
                                      type, clv_operation_op(call->operation));
        }
    }
    return status;
}

static int gather_blocks(const clv_bench_call_t *call, char *vector, MPI_Request *requests)
{
    const MPI_Datatype type = clv_element_kind(call->element).type;
    int n_requests = 0;

    if (call->rank != call->root) {
        return MPI_Send(block_at(call, vector, call->rank), block_count(call, call->rank), type,
                        call->root, TAG_GATHER, call->comm);
    }
    memcpy(block_at(call, call->recv, call->rank), block_at(call, vector, call->rank),
           (size_t) block_count(call, call->rank) * clv_element_kind(call->element).size);
    for (int r = 0; r < call->n_ranks; r++) {
        if (r != call->root) {
            MPI_Irecv(block_at(call, call->recv, r), block_count(call, r), type, r, TAG_GATHER,
                      call->comm, &requests[n_requests++]);
        }
    }
    return MPI_Waitall(n_requests, requests, MPI_STATUSES_IGNORE);
}

int clv_bench_reduce_ring(const clv_bench_call_t *call)
{
    const size_t item = clv_element_kind(call->element).size;
    const size_t n_bytes = (size_t) call->count * item;
    char *vector = clv_alloc(n_bytes + item, 1);
    char *block = clv_alloc((size_t) block_count(call, 0) * item + item, 1);
    MPI_Request *requests = clv_alloc((size_t) call->n_ranks, sizeof *requests);
    int status = MPI_ERR_NO_MEM;

    if (vector && block && requests) {
        memcpy(vector, call->send, n_bytes);
        status = ring_reduce_scatter(call, vector, block);
        if (status == MPI_SUCCESS) {
            status = gather_blocks(call, vector, requests);
        }
    }
    clv_free(requests);
    clv_free(block);
    clv_free(vector);
    return status;
}

int clv_bench_reduce_bound(const clv_bench_call_t *call)
{
    const MPI_Datatype type = clv_element_kind(call->element).type;
    int last = -1;

    for (int r = 0; r < call->n_ranks; r++) {
        if (r != call->root && (last < 0 || call->delay_ns[r] >= call->delay_ns[last])) {
            last = r;
        }
    }
    if (call->rank == last) {
        return MPI_Send(call->send, call->count, type, call->root, TAG_BOUND, call->comm);
    }
    if (call->rank == call->root && last >= 0) {
        return MPI_Recv(call->recv, call->count, type, last, TAG_BOUND, call->comm,
                        MPI_STATUS_IGNORE);
    }
    return MPI_SUCCESS;
}

static int reduce_in_groups(const clv_bench_call_t *call, int largest_group)
{
    const clv_element_kind_t kind = clv_element_kind(call->element);
    const size_t n_bytes = (size_t) call->count * kind.size;
    clv_radix_t radix = {.comm = call->comm,
                         .rank = call->rank,
                         .n_ranks = call->n_ranks,
                         .root = call->root,
                         .largest_group = largest_group,
                         .count = call->count,
                         .type = kind.type,
                         .item = kind.size,
                         .operation = clv_operation_op(call->operation),
                         .vector = clv_alloc(n_bytes + kind.size, 1),
                         .sum = call->recv};
    int status = MPI_ERR_NO_MEM;

    if (radix.vector) {
        memcpy(radix.vector, call->send, n_bytes);
        status = clv_radix_reduce(&radix);
    }
    clv_free(radix.vector);
    return status;
}

int clv_bench_reduce_radix_k(const clv_bench_call_t *call)
{
    return reduce_in_groups(call, CLV_RADIX_K);
}

int clv_bench_reduce_butterfly(const clv_bench_call_t *call)
{
    return reduce_in_groups(call, CLV_RADIX_BUTTERFLY);
}

/* ---- bounds of allreduce and broadcast. No correct algorithm is much faster, since the last
 * rank's vector must leave it and the result must reach it. They move vectors and combine nothing.
 * No memory of their own. */

/* The last rank to arrive other than `rank`, the highest of several. -1: there is no other rank. */
static int last_but(const clv_bench_call_t *call, int rank)
{
    int last = -1;

    for (int r = 0; r < call->n_ranks; r++) {
        if (r != rank && (last < 0 || call->delay_ns[r] >= call->delay_ns[last])) {
            last = r;
        }
    }
    return last;
}

int clv_bench_allreduce_bound(const clv_bench_call_t *call)
{
    const MPI_Datatype type = clv_element_kind(call->element).type;
    const int last = last_but(call, -1), other = (last + 1) % call->n_ranks;
    const int peer = call->rank == last ? other : last;

    if (last == other || (call->rank != last && call->rank != other)) {
        return MPI_SUCCESS;
    }
    return MPI_Sendrecv(call->send, call->count, type, peer, TAG_OTHER_BOUND, call->recv,
                        call->count, type, peer, TAG_OTHER_BOUND, call->comm, MPI_STATUS_IGNORE);
}

int clv_bench_bcast_bound(const clv_bench_call_t *call)
{
    const MPI_Datatype type = clv_element_kind(call->element).type;
    const int last = last_but(call, call->root);

    if (last >= 0 && call->rank == call->root) {
        return MPI_Send(call->recv, call->count, type, last, TAG_OTHER_BOUND, call->comm);
    }
    if (call->rank == last) {
        return MPI_Recv(call->recv, call->count, type, call->root, TAG_OTHER_BOUND, call->comm,
                        MPI_STATUS_IGNORE);
    }
    return MPI_SUCCESS;
}
