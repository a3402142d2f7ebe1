/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What befalls a process that measures: busy processors take time from it, and a signal ends it.
 *
 * Ctrl-C: the first SIGINT or SIGTERM is noted, so that what has been measured can be told; the
 * second one ends the process as if there were none of this. mpirun passes Ctrl-C on as SIGTERM to
 * every rank, and a second later ends them by force.
 * Units: ns. Threads: any; each asks for its own time. Cost of a time: reads a file of /proc.
 */
#ifndef CLV_BENCH_PROCESS_H
#define CLV_BENCH_PROCESS_H

#include <stdint.h>

/* Time this thread was ready to run but had no processor; 0 where the kernel does not tell. */
int64_t clv_bench_cpu_wait_ns(void);

/* From here on signals are noted. */
void clv_bench_interrupt_catch(void);

/* The signal that came, or 0. */
int clv_bench_interrupted(void);

#endif
