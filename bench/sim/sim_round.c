/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A few rounds around a ring, after one that is not counted.
 */
#include "bench/sim/sim_round.h"

#include <mpi.h>

#include "util/util_alloc.h"

#define TAG      20
#define N_ROUNDS 3

static void one_round(int32_t n_floats, const float *out, float *in)
{
    int rank, n_ranks;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    MPI_Sendrecv(out, n_floats, MPI_FLOAT, (rank + 1) % n_ranks, TAG, in, n_floats, MPI_FLOAT,
                 (rank + n_ranks - 1) % n_ranks, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* ns */
static double measure_round(int32_t n_floats, float *buffer)
{
    double start, spent, longest;

    one_round(n_floats, buffer, buffer + n_floats);
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    for (int i = 0; i < N_ROUNDS; i++) {
        one_round(n_floats, buffer, buffer + n_floats);
    }
    spent = (MPI_Wtime() - start) / N_ROUNDS;
    MPI_Allreduce(&spent, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return longest * 1e9;
}

clv_status_t clv_sim_measure_cost(clv_cost_t *cost_p)
{
    const int32_t n_floats = CLV_SIM_SEGMENT_BYTES / (int32_t) sizeof(float);
    float *buffer = clv_alloc(2 * (size_t) n_floats, sizeof *buffer);
    double small_ns, large_ns;

    if (buffer == NULL) {
        return CLV_NO_MEMORY;
    }
    small_ns = measure_round(1, buffer);
    large_ns = measure_round(n_floats, buffer);
    clv_free(buffer);
    *cost_p = (clv_cost_t){.latency_ns = 1 + (int64_t) small_ns,
                           .byte_ps =
                               1 + (int64_t) ((large_ns - small_ns) * 1e3 / CLV_SIM_SEGMENT_BYTES)};
    return CLV_OK;
}
