/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Radix-K (bench_radix.h, where the picture is) as one of the simulation's reduces
 * that are no plan.
 */
#ifndef CLV_SIM_RADIX_K_H
#define CLV_SIM_RADIX_K_H

#include "apps/bench/sim/sim_direct.h"

/* CLV_NO_MEMORY (on any rank, then not collective: give up). */
clv_status_t clv_sim_radix_k(const clv_sim_call_t *call) CLV_MUST_CHECK;

#endif
