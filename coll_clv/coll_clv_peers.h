/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether all ranks of a communicator have this component, with the same parameters (see
 * coll_clv_peers.c for why and how). Glue: calls the runtime's modex.
 */
#ifndef COLL_CLV_PEERS_H
#define COLL_CLV_PEERS_H

#include "coll_clv/coll_clv.h"

/* In component open, before the fence of MPI_Init. A component of priority 0 stays unseen. */
void coll_clv_peers_publish(void);

/* After that fence: whether the job's first process was given the same misspelt parameters, and so
 * tells of them; not of that process itself. */
bool coll_clv_peers_first_tells(void);

/* In component close: frees what is remembered of peers. */
void coll_clv_peers_close(void);

/* The same answers on every rank of comm that asks, at whatever time; not collective. Where the
 * answer is no, the user is told once. *devices_p: in which collectives a rank may give us device
 * memory, bits 1 << clv_collective_t; set where the answer is yes. Any thread. */
bool coll_clv_peers_are_equal(struct ompi_communicator_t *comm, uint32_t *devices_p);

/* Which ranks of comm, whose ranks are equal by the above, share a link: place[p] for each of them,
 * numbers from 0 on in the order of their first ranks, *n_places_p of them; 0: some rank does not
 * know its own. The same on every rank, without a message. The only failure is CLV_NO_MEMORY.
 * O(ranks) where a place's ranks follow each other, O(ranks * places) at worst. Any thread. */
clv_status_t coll_clv_peers_places(struct ompi_communicator_t *comm, int32_t *place,
                                   int32_t *n_places_p) CLV_MUST_CHECK;

#endif
