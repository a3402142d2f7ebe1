/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The one background thread of the process: an epoll loop that sleeps unless a descriptor is ready,
 * a deadline passes, or a bell rings. The only pthread_create of the project.
 *
 * One lock guards everything the thread touches. The thread holds it except while it sleeps or does
 * deferred work that may block. Callbacks run under it, and any other thread may take it
 * (communicators come and go, calls do not take it). SCHED_BATCH, because under the default policy
 * a busy machine delays the thread by 100 us and more, and under SCHED_IDLE by 58 ms. It blocks all
 * signals: handlers belong to the application.
 *
 * A fork takes the lock, so that the child finds everything in order. The child has no thread, its
 * watched descriptors are closed, and all functions here do nothing.
 *
 * Units: local ns (CLOCK_MONOTONIC).
 * Errors: CLV_NO_MEMORY, also for threads and descriptors, which the log reports, and CLV_SYSTEM;
 *   a failure leaves nothing behind.
 * Memory: the thread is freed by clv_net_thread_free; watched descriptors stay their owners'.
 * Threads: as each function says: under the lock, without it, or any.
 */
#ifndef CLV_NET_THREAD_H
#define CLV_NET_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "util/util_status.h"

typedef struct clv_net_thread clv_net_thread_t;

typedef struct clv_net_thread_ops {
    /* After each batch of events and at the deadline, under the lock. rung: somebody rang since.
     * Returns the next deadline (local ns), INT64_MAX: none. */
    int64_t (*work)(void *context, int64_t now_ns, int rung);
} clv_net_thread_ops_t;

/* CLV_NO_MEMORY of these two: errno says what the host refuses, memory or descriptors, a thread. */
clv_status_t clv_net_thread_create(const clv_net_thread_ops_t *ops, void *context,
                                   clv_net_thread_t **thread_p) CLV_MUST_CHECK;
/* Starts it unless it runs. Under the lock. */
clv_status_t clv_net_thread_start(clv_net_thread_t *thread) CLV_MUST_CHECK;
/* Joins it, if it runs; no lock held. */
void clv_net_thread_stop(clv_net_thread_t *thread);
/* Stops and frees. NULL is fine. In a forked child only the memory goes. */
void clv_net_thread_free(clv_net_thread_t *thread);

void clv_net_thread_lock(clv_net_thread_t *thread);
void clv_net_thread_unlock(clv_net_thread_t *thread);
bool clv_net_thread_is_ours(const clv_net_thread_t *thread); /* zero in a forked child */

/* Wakes it; from any thread, also through the descriptor from another process. */
void clv_net_thread_ring(const clv_net_thread_t *thread);
int clv_net_thread_bell_fd(const clv_net_thread_t *thread);
/* The caller, which waits for the thread, does one round of the thread's work, in case the
 * thread has no processor. Does nothing while another thread does the work; lends: waits up to 1
 * ms for that thread, which has the caller's priority meanwhile (real-time, under Linux). The
 * thread looks at events again that it has seen before: a callback may find that there is
 * nothing to do. */
void clv_net_thread_turn(clv_net_thread_t *thread, bool lends);
int64_t clv_net_thread_cpu_ns(clv_net_thread_t *thread);

/* Under the lock: the thread calls what(context), without it, before it sleeps next. One at a time:
 * 0, and nothing happens, while one with another context waits. */
bool clv_net_thread_defer(clv_net_thread_t *thread, void (*what)(void *context), void *context);
/* Under the lock, which it may give away meanwhile: nothing that was deferred is at work or waits
 * after it. */
void clv_net_thread_settle(clv_net_thread_t *thread);

/* ready is called, under the lock, when fd has one of events; owner may be unwatched or unwatch
 * others in it. The watch's number stays until unwatch. Under the lock, all three. */
typedef void (*clv_net_ready_t)(void *owner, uint32_t events);
clv_status_t clv_net_thread_watch(clv_net_thread_t *thread, int fd, uint32_t events,
                                  clv_net_ready_t ready, void *owner,
                                  int32_t *watch_p) CLV_MUST_CHECK;
void clv_net_thread_rewatch(clv_net_thread_t *thread, int32_t watch, uint32_t events);
void clv_net_thread_unwatch(clv_net_thread_t *thread, int32_t watch);

#endif
