/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A few rounds around rings, after one that is not counted.
 */
#include "apps/bench/sim/sim_round.h"

#include <mpi.h>

#include "util/util_alloc.h"

#define TAG      20
#define N_ROUNDS 3

static void one_round(MPI_Comm comm, int32_t n_floats, const float *out, float *in)
{
    int rank, n_ranks;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n_ranks);
    MPI_Sendrecv(out, n_floats, MPI_FLOAT, (rank + 1) % n_ranks, TAG, in, n_floats, MPI_FLOAT,
                 (rank + n_ranks - 1) % n_ranks, TAG, comm, MPI_STATUS_IGNORE);
}

/* ns */
static double measure_round(MPI_Comm comm, int32_t n_floats, float *buffer)
{
    double start, spent, longest;

    one_round(comm, n_floats, buffer, buffer + n_floats);
    MPI_Barrier(comm);
    start = MPI_Wtime();
    for (int i = 0; i < N_ROUNDS; i++) {
        one_round(comm, n_floats, buffer, buffer + n_floats);
    }
    spent = (MPI_Wtime() - start) / N_ROUNDS;
    MPI_Allreduce(&spent, &longest, 1, MPI_DOUBLE, MPI_MAX, comm);
    return longest * 1e9;
}

static clv_status_t measure_ring(MPI_Comm comm, int64_t *latency_ns, int64_t *byte_ps)
{
    const int32_t n_floats = CLV_SIM_SEGMENT_BYTES / (int32_t) sizeof(float);
    float *buffer = clv_alloc(2 * (size_t) n_floats, sizeof *buffer);
    double small_ns, large_ns;

    if (buffer == NULL) {
        return CLV_NO_MEMORY;
    }
    small_ns = measure_round(comm, 1, buffer);
    large_ns = measure_round(comm, n_floats, buffer);
    clv_free(buffer);
    *latency_ns = 1 + (int64_t) small_ns;
    *byte_ps = 1 + (int64_t) ((large_ns - small_ns) * 1e3 / CLV_SIM_SEGMENT_BYTES);
    return CLV_OK;
}

/* The ring of those of one colour; the others wait. */
static clv_status_t measure_part(int colour, int takes_part, int64_t *latency_ns, int64_t *byte_ps)
{
    clv_status_t status = CLV_OK;
    MPI_Comm part;

    MPI_Comm_split(MPI_COMM_WORLD, takes_part ? colour : MPI_UNDEFINED, 0, &part);
    if (takes_part) {
        status = measure_ring(part, latency_ns, byte_ps);
        MPI_Comm_free(&part);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return status;
}

clv_status_t clv_sim_measure_cost(const int32_t *place, clv_cost_t *cost_p)
{
    clv_status_t status;
    int rank;

    *cost_p = (clv_cost_t){0};
    if (place == NULL) {
        return measure_ring(MPI_COMM_WORLD, &cost_p->latency_ns, &cost_p->byte_ps);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    status = measure_part(0, place[rank] == rank, &cost_p->latency_ns, &cost_p->byte_ps);
    if (status == CLV_OK) {
        status = measure_part(place[rank], 1, &cost_p->near_latency_ns, &cost_p->near_byte_ps);
    }
    return status;
}
