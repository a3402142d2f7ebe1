/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Time is int64 nanoseconds everywhere.
 * A name says the kind: local_ns is one process's CLOCK_MONOTONIC, global_ns the job's clock.
 *
 * Units: int64 ns; doubles only for slopes and differences.
 * Errors: none on Linux.
 * Memory: none.
 * Threads: safe.
 */
#ifndef CLV_UTIL_TIME_H
#define CLV_UTIL_TIME_H

#include <stdint.h>
#include <time.h>

#define CLV_NS_PER_US INT64_C(1000)
#define CLV_NS_PER_MS INT64_C(1000000)
#define CLV_NS_PER_S  INT64_C(1000000000)

/* CLOCK_MONOTONIC of this process (of its time namespace); no error is possible on Linux. */
static inline int64_t clv_local_now_ns(void)
{
    struct timespec now;
    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * CLV_NS_PER_S + now.tv_nsec;
}

#endif
