/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ctrl-C: the first SIGINT or SIGTERM is noted, so that what has been measured can be told; the
 * second one ends the process as if there were none of this.
 *
 * mpirun passes Ctrl-C on as SIGTERM to every rank, and a second later ends them by force.
 * Threads: any.
 */
#ifndef CLV_BENCH_INTERRUPT_H
#define CLV_BENCH_INTERRUPT_H

/* From here on. */
void clv_bench_interrupt_catch(void);

/* The signal that came, or 0. */
int clv_bench_interrupted(void);

#endif
