/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Clocks that drift, for programs that judge a global clock.
 *
 * The program that links this defines clock_gettime, so that MPI, component and all see
 * CLOCK_MONOTONIC and CLOCK_BOOTTIME of rank i run fast by a constant share, from -PPM at rank 1 to
 * +PPM at the last; rank 0's runs right. It defines timerfd_settime, too: a timer that went by the
 * true clock would wake the thread before its time has come, and then again until it has.
 * CLOCK_REALTIME stays: on the hosts of apps/bench/cluster it is the truth.
 */
#ifndef CLOCK_DRIFT_H
#define CLOCK_DRIFT_H

#include <stdint.h>
#include <time.h>

#define CLV_DRIFT_NS_PER_S INT64_C(1000000000)

/* Before MPI_Init; from here on they drift. Ranks by what the launcher says. */
void clv_drift_set(double ppm);

int64_t clv_drift_ns(const struct timespec *time);

#endif
