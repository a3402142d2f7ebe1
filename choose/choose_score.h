/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a candidate counts: its estimate times what measured calls say about estimates of its kind.
 * PURE and private to the decider; units ns.
 *
 * Not: estimates (sched_cost.h), nor the choice between scores (coll_clv_decide.c).
 */
#ifndef COLL_CLV_SCORE_H
#define COLL_CLV_SCORE_H

#include "choose/choose.h"

#include "util/util_order.h"

#define COLL_CLV_RATIO_MAX_PERMILLE 100000
#define COLL_CLV_SCORE_CEILING_NS   (INT64_MAX / COLL_CLV_RATIO_MAX_PERMILLE) /* of an estimate */
#define COLL_CLV_CLIP_SIGMAS        4 /* the clip rule, and what is a surprise */

/* Of a choice that is estimated to end after_ns after the last arrival, with in_mpi_ns in MPI on
 * average. memory NULL: no experience. */
int64_t coll_clv_score(const coll_clv_memory_t *memory, int32_t choice, int64_t after_ns,
                       int64_t in_mpi_ns);

/* Takes in what a new board says about the calls before it, before anything is decided for it:
 * measured times, and whether the newest arrivals were a surprise. */
void coll_clv_score_learn(coll_clv_memory_t *memory, const clv_pap_board_t *board);

#endif
