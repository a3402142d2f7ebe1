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

/* The same answers on every rank of comm that asks, at whatever time; not collective. Where the
 * answer is no, the user is told once. *devices_p: in which collectives a rank may give us device
 * memory, bits 1 << clv_collective_t; set where the answer is yes. Any thread. */
bool coll_clv_peers_are_equal(struct ompi_communicator_t *comm, uint32_t *devices_p);

#endif
