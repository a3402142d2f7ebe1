/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs a call by the choice made for it: an algorithm that makes no plan, or this rank's steps of
 * one. Counts what ran and why.
 *
 * Errors: MPI's. Memory: none. Threads: as MPI demands of a communicator, one call at a time.
 */
#ifndef COLL_CLV_RUN_H
#define COLL_CLV_RUN_H

#include "coll_clv/coll_clv_call.h"
#include "coll_clv/coll_clv_group.h"

BEGIN_C_DECLS

/* Whether this algorithm runs by plan, even if forced. */
bool coll_clv_is_planned(int32_t algorithm);

/* What runs without a forecast or plan, for a reason that is the same on all ranks: the algorithm
 * that coll_clv_fallback names, if it fits the call, else the previous function. */
int coll_clv_fallback(const coll_clv_call_t *call, int reason);

int coll_clv_run_without_plan(const coll_clv_call_t *call, int algorithm, int reason);
int coll_clv_run_node_plan(const coll_clv_call_t *call, const coll_clv_node_plan_t *node_plan);

END_C_DECLS

#endif
