/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The place of a measurement as keys of a JSON line: hosts, binding, library, kernel, load.
 *
 * Units: none.
 * Errors: none; unknown values are 0 or empty.
 * Memory: nothing is allocated.
 * Threads: one per process; clv_bench_place_find is collective.
 */
#ifndef CLV_BENCH_PLACE_H
#define CLV_BENCH_PLACE_H

#include <mpi.h>

#include "apps/cli/cli_json.h"

typedef struct clv_bench_place {
    int n_ranks;
    int n_hosts;      /* number of groups of ranks that share memory */
    int n_bound;      /* ranks bound to a part of their host's processors */
    int n_cpus_least; /* least number of processors of a rank */
    int n_cpus_most;
    int n_processors; /* of rank 0's host */
} clv_bench_place_t;

/* Gives the same result on all ranks of the communicator. */
void clv_bench_place_find(MPI_Comm comm, clv_bench_place_t *place_p);

/* Ranks, hosts, binding, processors, load, library, kernel, compiler, parameters of Open MPI from
 * the environment (without those that name files), emulated hosts, and the properties of
 * bench_machine.h. Called by one rank. */
void clv_bench_place_json(clv_json_t *json, const clv_bench_place_t *place);

#endif
