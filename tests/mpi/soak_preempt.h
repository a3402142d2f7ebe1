/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads that lose the processor at any place: a timer of each thread's own processor time, whose
 * handler sleeps now and then. What two threads do wrong only when one of them stands still between
 * two certain instructions, which on a busy machine takes days, is then seen in minutes.
 *
 * Not: anything that a kernel could not do to a program.
 *
 * Units: us.
 * Errors: a thread without a timer runs as ever.
 * Memory: none.
 * Threads: each for itself.
 */
#ifndef CLV_SOAK_PREEMPT_H
#define CLV_SOAK_PREEMPT_H

/* Before the first thread begins: a thread that has run for every_us sleeps, one time in four, up
 * to most_us. 0: nothing happens, ever. */
void soak_preempt_open(int every_us, int most_us);

/* From here on, for the calling thread. */
void soak_preempt_begin(unsigned long long seed);

#endif
