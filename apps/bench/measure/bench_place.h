/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where a measurement ran: hosts, binding, library, kernel, load; and that as keys of a JSON line.
 *
 * Units: none.
 * Errors: none; what a machine does not tell is 0 or empty.
 * Memory: nothing is allocated.
 * Threads: one per process; clv_bench_place_find is collective.
 */
#ifndef CLV_BENCH_PLACE_H
#define CLV_BENCH_PLACE_H

#include <mpi.h>

#include "apps/cli/cli_json.h"

typedef struct clv_bench_place {
    int n_ranks;
    int n_hosts;      /* that do not share memory with each other */
    int n_bound;      /* ranks that may not run on every processor of their host */
    int n_cpus_least; /* that a rank may run on */
    int n_cpus_most;
    int n_processors; /* of rank 0's host */
} clv_bench_place_t;

/* The same on all ranks of the communicator. */
void clv_bench_place_find(MPI_Comm comm, clv_bench_place_t *place_p);

/* Ranks, hosts, binding, processors, load, library, kernel, compiler, parameters of Open MPI from
 * the environment (without those that name files), emulated hosts, and what bench_machine.h tells.
 * By one rank. */
void clv_bench_place_json(clv_json_t *json, const clv_bench_place_t *place);

#endif
