/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bounds of allreduce and broadcast over public point-to-point MPI: what no correct one can beat by
 * much, since the last arriver's vector must leave it and the result must reach it. They move
 * vectors and combine nothing. No memory of their own.
 */
#include "apps/bench/measure/bench_collectives.h"

enum { TAG_BOUND = 104 };

/* The last arriver, but not this rank; the highest of several. -1: there is nobody else. */
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
    return MPI_Sendrecv(call->send, call->count, type, peer, TAG_BOUND, call->recv, call->count,
                        type, peer, TAG_BOUND, call->comm, MPI_STATUS_IGNORE);
}

int clv_bench_bcast_bound(const clv_bench_call_t *call)
{
    const MPI_Datatype type = clv_element_kind(call->element).type;
    const int last = last_but(call, call->root);

    if (last >= 0 && call->rank == call->root) {
        return MPI_Send(call->recv, call->count, type, last, TAG_BOUND, call->comm);
    }
    if (call->rank == last) {
        return MPI_Recv(call->recv, call->count, type, call->root, TAG_BOUND, call->comm,
                        MPI_STATUS_IGNORE);
    }
    return MPI_SUCCESS;
}
