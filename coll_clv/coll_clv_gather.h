/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The exchanges between ranks before they can run plans, over the PML: an allgather of bytes, a
 * logical AND, and a barrier.
 *
 * clv does not use the communicator's own allgather, allreduce or barrier. Their component may
 * build them from a reduce, allreduce or broadcast of the same communicator, which clv has taken
 * over and which may be the very call that waits for this. So clv calls no collective of a
 * communicator, except the previous function when it hands a call over.
 *
 * Collective over the communicator, in the same order on all ranks. Messages have their own tag,
 * since the call that needs this may be part of another component's collective with messages under
 * way. ceil(log2(ranks)) messages, one after the other, or twice as many if a rank's share wraps
 * around. Returns OMPI_SUCCESS, or the error of the PML or the communicator.
 * Threads: one at a time per communicator, as its collectives.
 */
#ifndef COLL_CLV_GATHER_H
#define COLL_CLV_GATHER_H

#include <stdbool.h>
#include <stddef.h>

#include "coll_clv/coll_clv_tags.h"

struct ompi_communicator_t;

/* Gathers the n_bytes at mine of each rank to *all_p on every rank, in rank order. *all_p is from
 * clv_alloc. It becomes NULL if Open MPI may still use it after an error; then nobody frees it. */
int coll_clv_gather(struct ompi_communicator_t *comm, const void *mine, void **all_p,
                    size_t n_bytes);

/* Whether all ranks say yes. Allocates nothing, so that a rank without memory can call it. False
 * after an error. */
bool coll_clv_agree(struct ompi_communicator_t *comm, bool mine);

/* A barrier: returns when all ranks have called it. */
int coll_clv_meet(struct ompi_communicator_t *comm);

#endif
