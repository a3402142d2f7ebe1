/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The clock of these programs: CPU time of this thread, in us, which does not grow when other
 * programs compete for the processors. clv_stats_median (bench_stats.h) computes their medians.
 */
#ifndef CLV_BENCH_TIME_H
#define CLV_BENCH_TIME_H

#include <time.h>

static inline double clv_bench_cpu_us(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double) now.tv_sec * 1e6 + (double) now.tv_nsec / 1e3;
}

#endif
