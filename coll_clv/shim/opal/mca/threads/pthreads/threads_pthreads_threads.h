/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stand-in, like threads_pthreads_mutex.h: POSIX threads for opal/mca/threads/threads.h.
 */
#ifndef OPAL_MCA_THREADS_PTHREADS_THREADS_PTHREADS_THREADS_H
#define OPAL_MCA_THREADS_PTHREADS_THREADS_PTHREADS_THREADS_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>

#define OPAL_THREAD_YIELD_WHEN_IDLE_DEFAULT false

static inline void opal_thread_yield(void)
{
    (void) sched_yield();
}

#endif
