/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Radix-K as clv-bench has it; see sim_radix_k.h.
 */
#include "apps/bench/sim/sim_radix_k.h"

#include "apps/bench/measure/bench_radix.h"

clv_status_t clv_sim_radix_k(const clv_sim_call_t *call)
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
