/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Drifting clocks, for programs that check a global clock.
 *
 * The program that links this defines clock_gettime, so that MPI, component and all see
 * CLOCK_MONOTONIC and CLOCK_BOOTTIME of rank i run fast by a constant share, from -PPM at rank 1 to
 * +PPM at the last; rank 0's is exact. It also defines timerfd_settime: a timer by the true clock
 * would wake the thread too early, again and again. CLOCK_REALTIME is unchanged: on the hosts of
 * apps/bench/cluster it is the truth.
 */
#ifndef CLOCK_DRIFT_H
#define CLOCK_DRIFT_H

#include <stdint.h>
#include <time.h>

#define CLV_DRIFT_NS_PER_S INT64_C(1000000000)

/* Called before MPI_Init; from here on the clocks drift. Takes the rank from the launcher. */
void clv_drift_set(double ppm);

int64_t clv_drift_ns(const struct timespec *time);

#endif
