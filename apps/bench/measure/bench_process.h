/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Disturbances of a measuring process: waits for a busy processor, and signals that end it.
 *
 * Ctrl-C: the first SIGINT or SIGTERM is recorded, so that the results so far can be reported. The
 * second one ends the process as by default. mpirun forwards Ctrl-C as SIGTERM to every rank, and
 * kills them a second later.
 * Units: ns. Threads: any; each gets its own time. Cost of a time: reads a file of /proc.
 */
#ifndef CLV_BENCH_PROCESS_H
#define CLV_BENCH_PROCESS_H

#include <stdint.h>

/* Time that this thread was ready to run but had no processor; 0 if the kernel does not provide
 * it. */
int64_t clv_bench_cpu_wait_ns(void);

/* From here on, signals are recorded. */
void clv_bench_interrupt_catch(void);

/* The signal received, or 0. */
int clv_bench_interrupted(void);

#endif
