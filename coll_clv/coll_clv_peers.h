/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether all ranks of a communicator have this component, with the same parameters
 * (coll_clv_peers.c gives the reason and the method). Calls the runtime's modex.
 */
#ifndef COLL_CLV_PEERS_H
#define COLL_CLV_PEERS_H

#include "coll_clv/coll_clv.h"

/* In component open, before the fence of MPI_Init. A component of priority 0 publishes nothing. */
void coll_clv_peers_publish(void);

/* After that fence: whether the job's first process was given the same misspelt parameters and so
 * tells the user of them. False on that process itself. */
bool coll_clv_peers_first_tells(void);

/* In component close: frees what is known of peers. */
void coll_clv_peers_close(void);

/* Not collective. Gives the same answer on every rank of comm, whenever it asks. If the answer is
 * no, the user is told once. If it is yes, *devices_p is set: collectives in which any rank may
 * pass device memory, bits 1 << clv_collective_t. Any thread. */
bool coll_clv_peers_are_equal(struct ompi_communicator_t *comm, uint32_t *devices_p);

/* Finds which ranks of comm share a link; the ranks must be equal as above. place[p]: numbered from
 * 0 in the order of their first ranks; *n_places_p: their number, 0 if some rank does not know its
 * own. The same on every rank, without a message. Fails only with CLV_NO_MEMORY. O(ranks) if the
 * ranks of a place follow each other, else at most O(ranks * places). Any thread. */
clv_status_t coll_clv_peers_places(struct ompi_communicator_t *comm, int32_t *place,
                                   int32_t *n_places_p) CLV_MUST_CHECK;

#endif
