/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What messages cost on this machine, measured in rounds: the cost model that the chooser is told.
 *
 * Every rank sends one segment to its right and receives one from its left; the slowest rank's time
 * counts. As the component does: small messages give the latency, CLV_SIM_SEGMENT_BYTES the rate;
 * where a message's time is not linear in its bytes, the model is exact for these two only. Where
 * ranks share hosts, one rank of each host goes around the hosts, then all around their own.
 */
#ifndef CLV_SIM_ROUND_H
#define CLV_SIM_ROUND_H

#include "schedule/sched_cost.h"

#define CLV_SIM_SEGMENT_BYTES 32768

/* Collective; right on rank 0. place: of each rank, NULL: each has its own. CLV_NO_MEMORY (on any
 * rank, then not collective: give up). */
clv_status_t clv_sim_measure_cost(const int32_t *place, clv_cost_t *cost_p) CLV_MUST_CHECK;

#endif
