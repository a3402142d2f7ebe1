/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The library's reduce and allreduce, the bounds, and Radix-K; and the simulated time of combining.
 */
#include "apps/bench/sim/sim.h"

#include <mpi.h>
#include <string.h>

#ifdef SMPI_H
#include <smpi/smpi.h>
#else
#define smpi_execute(seconds) ((void) (seconds))
#endif

#include "apps/bench/measure/bench_radix.h"

#define TAG 19

/* SMPI counts seconds at smpi/host-speed; apps/bench/sim/run sets that to the speed of its
 * hosts. */
void clv_sim_combining(double combine_ps, int32_t n_floats)
{
    if (combine_ps > 0) {
        smpi_execute(combine_ps / 1e12 * sizeof(float) * n_floats);
    }
}

static double combine_ps; /* an MPI_Op has no context; equal on all simulated ranks */

static void add(void *in, void *inout, int *n_floats, MPI_Datatype *type)
{
    const float *restrict from = in;
    float *restrict to = inout;

    (void) type;
    clv_sim_combining(combine_ps, *n_floats);
    for (int i = 0; i < *n_floats; i++) {
        to[i] += from[i];
    }
}

static clv_status_t run_library(const clv_sim_call_t *call)
{
    MPI_Op op = MPI_SUM;
    int rc;

    combine_ps = call->combine_ps;
    if (combine_ps > 0) {
        MPI_Op_create(add, 1, &op);
    }
    rc =
        call->is_allreduce
            ? MPI_Allreduce(call->vector, call->sum, call->n_floats, MPI_FLOAT, op, MPI_COMM_WORLD)
            : MPI_Reduce(call->vector, call->sum, call->n_floats, MPI_FLOAT, op, 0, MPI_COMM_WORLD);
    if (combine_ps > 0) {
        MPI_Op_free(&op);
    }
    return rc == MPI_SUCCESS ? CLV_OK : CLV_LOST;
}

/* The last rank's vector must leave it, and the sum of the others must reach it. */
static clv_status_t run_exchange(const clv_sim_call_t *call, int last)
{
    const int partner = (last + 1) % call->n_ranks;

    if (call->rank == last || call->rank == partner) {
        const int other = call->rank == last ? partner : last;
        MPI_Sendrecv(call->vector, call->n_floats, MPI_FLOAT, other, TAG, call->sum, call->n_floats,
                     MPI_FLOAT, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return CLV_OK;
}

/* The last rank other than the root sends, even if the root arrives later. */
static clv_status_t run_bound(const clv_sim_call_t *call)
{
    int sender = 1 % call->n_ranks;

    for (int p = 1; p < call->n_ranks; p++) {
        sender = call->arrival_ns[p] > call->arrival_ns[sender] ? p : sender;
    }
    if (call->is_allreduce) {
        return run_exchange(call, sender);
    }
    if (call->rank == 0 && sender > 0) {
        MPI_Recv(call->sum, call->n_floats, MPI_FLOAT, sender, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    } else if (sender == call->rank && sender > 0) {
        MPI_Send(call->vector, call->n_floats, MPI_FLOAT, 0, TAG, MPI_COMM_WORLD);
    }
    return CLV_OK;
}

/* CLV_NO_MEMORY on any rank: the call was not collective, so give up. */
static clv_status_t run_radix_k(const clv_sim_call_t *call)
{
    const clv_radix_t radix = {.comm = MPI_COMM_WORLD,
                               .rank = call->rank,
                               .n_ranks = call->n_ranks,
                               .largest_group = CLV_RADIX_K,
                               .count = call->n_floats,
                               .type = MPI_FLOAT,
                               .item = sizeof(float),
                               .operation = MPI_SUM,
                               .vector = call->vector,
                               .sum = call->sum};

    return clv_radix_reduce(&radix) == MPI_SUCCESS ? CLV_OK : CLV_NO_MEMORY;
}

/* SimGrid's MPICH and MVAPICH2 determine in their first reduce which ranks share a host. */
static const clv_sim_direct_t directs[] = {
    {"library", run_library, .sums = true, .allreduces = true, .prepares = true},
    {"bound", run_bound, .sums = false, .allreduces = true, .prepares = false},
    {"radix-k", run_radix_k, .sums = true, .allreduces = false, .prepares = false},
};

const clv_sim_direct_t *clv_sim_direct_find(const char *name)
{
    for (size_t i = 0; i < sizeof directs / sizeof directs[0]; i++) {
        if (strcmp(directs[i].name, name) == 0) {
            return &directs[i];
        }
    }
    return NULL;
}
