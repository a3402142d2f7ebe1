/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether ranks of a host share processors, and what ranks that wait do then.
 *
 * Where a host has more ranks than processors, a rank that waits without giving its processor away
 * keeps those from coming that it waits for, for some milliseconds each time. Open MPI gives it
 * away with mpi_yield_when_idle, which its mpirun sets on such hosts, and other launchers do not;
 * nor does mpirun know of quotas. So calls of clv's have it set while they last, whatever the
 * parameter says; and a communicator whose ranks are all on such a host runs the previous function:
 * plans pass a segment from rank to rank, each of which must have its turn first.
 *
 * Each process tells those of its host, before the fence of MPI_Init, what it may use; no message
 * is needed later. Processes of one job on one host read the same, so they answer alike. Not seen:
 * an affinity or a quota that changes later, and other jobs' processes.
 *
 * Threads: any, but for publish and close, which are MPI_Init's and MPI_Finalize's.
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
