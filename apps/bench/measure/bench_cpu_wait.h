/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What busy processors took from a thread. Threads: each asks for itself. Units: ns. Cost: reads a
 * file of /proc.
 */
#ifndef CLV_BENCH_CPU_WAIT_H
#define CLV_BENCH_CPU_WAIT_H

#include <stdint.h>

/* Time this thread was ready to run but had no processor; 0 where the kernel does not tell. */
int64_t clv_bench_cpu_wait_ns(void);

#endif
