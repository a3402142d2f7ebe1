/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Radix-K: a reduce-scatter in groups of k, one digit of the rank after the other, then a gather.
 *
 *   48 ranks = 8 x 3 x 2      digit by digit, least first: a group are the ranks that differ in it
 *   piece = the whole vector
 *   for each digit            every member keeps its k-th of the piece and gets it from the others
 *   at the end                every rank has the sum of its 48th and sends it to the root
 *
 * A usual reduce of the Clairvoyant paper's comparison (its reference 13), as written there: no
 * segments, sizes of groups from a list of preferred ones.
 */
#ifndef CLV_SIM_RADIX_K_H
#define CLV_SIM_RADIX_K_H

#include "bench/sim/sim_direct.h"

/* CLV_NO_MEMORY (on any rank, then not collective: give up). */
clv_status_t clv_sim_radix_k(const clv_sim_call_t *call) CLV_MUST_CHECK;

#endif
