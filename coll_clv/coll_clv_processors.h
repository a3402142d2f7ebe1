/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether ranks of a host share processors, and how ranks then wait.
 *
 * Where a host has more ranks than processors, a rank that spins while it waits delays the very
 * ranks that it waits for, by some milliseconds each time. Open MPI yields with
 * mpi_yield_when_idle, which its mpirun sets on such hosts. Other launchers do not, and mpirun
 * ignores quotas. So clv's calls yield, whatever the parameter says. A communicator whose ranks are
 * all on one such host runs the previous function: plans pass a segment from rank to rank, and each
 * rank must first get its time slice.
 *
 * Each process publishes for those of its host, before the fence of MPI_Init, what it may use; no
 * message is needed later. Processes of one job on one host read the same data, so they reach the
 * same answer. Not seen: affinities or quotas that change later, and other jobs' processes.
 *
 * Threads: any, but publish and close belong to MPI_Init and MPI_Finalize.
 * Cost: some 150 bytes for each process of a host, which stay there; one look at them each.
 */
#ifndef COLL_CLV_PROCESSORS_H
#define COLL_CLV_PROCESSORS_H

#include <stdbool.h>
#include <stdint.h>

struct ompi_communicator_t;

/* In component open. A component of priority 0 publishes nothing. */
void coll_clv_processors_publish(void);
void coll_clv_processors_close(void);

/* Whether ranks of this host share processors. setting: of coll_clv_shared_processors. */
bool coll_clv_processors_are_shared(int32_t setting);

/* Whether all ranks of the communicator are on this host and of this job: equal on all of them. */
bool coll_clv_processors_are_of(struct ompi_communicator_t *comm);

/* From enter to leave, Open MPI's waits yield the processor in all threads. May be nested. */
void coll_clv_processors_enter(void);
void coll_clv_processors_leave(void);

#endif
