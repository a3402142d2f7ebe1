/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How long one round takes on this machine, measured: the paper's d, and the cost model from it.
 *
 * Every rank sends one segment to its right and receives one from its left; the slowest rank's time
 * counts. Measured rather than computed because a message's time need not be linear in its bytes:
 * SimGrid's Ethernet has one bandwidth for each range of sizes.
 */
#ifndef CLV_SIM_ROUND_H
#define CLV_SIM_ROUND_H

#include "schedule/sched_cost.h"

/* Collective; the same result on every rank. The model is exact for segments of this size only.
 * CLV_NO_MEMORY (on any rank, then not collective: give up). */
clv_status_t clv_sim_measure_round(int32_t n_floats, clv_cost_t *cost_p) CLV_MUST_CHECK;

#endif
