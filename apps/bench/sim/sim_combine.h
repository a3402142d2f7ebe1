/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Computing in the simulation: free, but for the time that combining is said to take.
 *
 * Outside SimGrid there is no simulated processor to charge, and nothing is.
 * Units: picoseconds a byte. Errors: none. Threads: one.
 */
#ifndef CLV_SIM_COMBINE_H
#define CLV_SIM_COMBINE_H

#include <stdint.h>

/* This rank's processor is busy with combining n_floats; 0 ps: it takes no time. */
void clv_sim_combining(double combine_ps, int32_t n_floats);

#endif
