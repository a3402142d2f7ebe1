/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reduces and allreduces that are not plans, to compare plans with.
 *
 *   library   MPI_Reduce; smpirun's --cfg=smpi/reduce says which of SimGrid's; so MPI_Allreduce
 *   bound     only the last arriver sends its vector to the root; nobody can be faster. In an
 *             allreduce it gets another vector at the same time
 *   radix-k   reduces only: groups of k ranks share their vectors out, digit by digit, then all
 *             send to the root
 *
 * Floats, MPI_SUM, root 0. Units: ns. Cost: memory is taken inside, which is free in a simulation.
 */
#ifndef CLV_SIM_DIRECT_H
#define CLV_SIM_DIRECT_H

#include <stdint.h>

#include "util/util_status.h"

typedef struct clv_sim_call {
    int rank;
    int n_ranks;
    int32_t n_floats;
    int is_allreduce;
    double combine_ps;         /* radix-k combines for nothing */
    const int64_t *arrival_ns; /* by rank */
    float *vector;             /* radix-k spends it */
    float *sum;                /* on every rank: some of SimGrid's reduces write it on all */
} clv_sim_call_t;

typedef struct clv_sim_direct {
    const char *name;
    clv_status_t (*run)(const clv_sim_call_t *call);
    int sums; /* 0: only one vector arrives */
    int allreduces;
    int prepares; /* the first call also makes what later ones use: it does not count */
} clv_sim_direct_t;

/* NULL for another name. */
const clv_sim_direct_t *clv_sim_direct_find(const char *name);

#endif
