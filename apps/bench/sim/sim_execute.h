/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Steps of one rank run by the executor of the schedule module over public MPI point to point.
 *
 * What: the same executor as the component's with another table: MPI_Isend, MPI_Issend, MPI_Irecv,
 * and MPI_Waitany when idle, because polling would cost simulated time.
 * Not: buffers of the component; floats and MPI_SUM only. Cost: nothing is allocated while running.
 */
#ifndef CLV_SIM_EXECUTE_H
#define CLV_SIM_EXECUTE_H

#include "apps/bench/sim/sim_plan.h"

/* Combines the options' n_floats of all ranks into that of rank 0, in an allreduce of every rank;
 * else on the others it is spent. */
clv_status_t clv_sim_execute(const clv_sim_steps_t *steps, const clv_sim_options_t *options,
                             float *vector) CLV_MUST_CHECK;

#endif
