/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two levels of communicators in place of a large one (coll_clv_two_level_ranks): the ranks of each
 * host, and one rank per host, its leader.
 *
 *      MPI_Reduce of 65,536 ranks on 512 hosts
 *       ├ host communicator, 128 ranks: reduce to the leader
 *       └ leaders' communicator, 512 ranks: reduce to the root's host
 *
 * Both are ordinary communicators, on which clv is selected as on any other.
 *
 * What: knowledge, agreement and plans are of hosts above and of one host's ranks below, so memory
 * and bytes grow with hosts and with a host's ranks, not with all ranks. To the leaders, a host
 * arrives when its vector is combined. Reduce and bcast do not send to the root's host and then on:
 * where the root is not its host's leader, the host's collective runs with that root, second in a
 * reduce and first in a bcast.
 * Not: pipelining across the levels; nonblocking collectives; operations that do not commute; jobs
 * that survive failures, as a revoked communicator does not revoke its levels.
 *
 * Every rank or none: both communicators are made inside a call, by Open MPI's own functions, whose
 * collectives then go to the previous functions (coll_clv_enter). If that fails on one rank, all
 * ranks go without. Per collective and size class, a trial compares them with the previous function
 * (choose/choose_levels.h).
 *
 * Memory: 9 kB, on a leader 4 bytes per rank and a vector more; and what clv takes for the two
 * communicators. Threads: as MPI demands of a communicator, one call at a time.
 */
#ifndef COLL_CLV_LEVELS_H
#define COLL_CLV_LEVELS_H

#include "coll_clv/coll_clv_call.h"

BEGIN_C_DECLS

typedef struct coll_clv_levels coll_clv_levels_t;

/* What a call runs that fits plans but for its number of ranks: CLV_ALGORITHM_TWO_LEVELS, or the
 * previous function, and why; AUTO: the same as without levels. Equal on all ranks. Collective the
 * first time. */
int32_t coll_clv_levels_choose(const coll_clv_call_t *call, int32_t forced, int *reason_p);

/* The communicator whose streams this rank's hints are for: the leaders', on other ranks the
 * host's. */
struct ompi_communicator_t *coll_clv_levels_hinted(const coll_clv_levels_t *levels);

void coll_clv_levels_free(coll_clv_levels_t *levels);

END_C_DECLS

#endif
