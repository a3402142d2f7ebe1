/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A sleep that a message ends: in Open MPI's own event loop, with a timer in it.
 *
 * What: if the PML is ob1 and every active transport is TCP (or a process to itself), every event
 * comes through descriptors of the event loop, also for what this rank still has to send. A turn of
 * the loop that may block then ends with the first event, or by a timerfd.
 * Not: transports through memory or a device, threads that progress by themselves, or programs with
 * MPI_THREAD_MULTIPLE, whose other threads could not use the loop meanwhile.
 *
 * The loop's functions are libevent's, whose headers no Open MPI installs: clv looks them up by
 * name, once, and if one is missing no rank listens.
 *
 * Threads: one. Memory: a timerfd and its event, from the first listening sleep to close.
 */
#ifndef COLL_CLV_LISTEN_H
#define COLL_CLV_LISTEN_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a message can end a sleep. Decided once, after MPI_Init has chosen its transports. */
bool coll_clv_listen_can(void);

/* Sleeps until an event is handled or ns have passed. True: an event was handled. */
bool coll_clv_listen(int64_t ns);

/* Component close. */
void coll_clv_listen_close(void);

#endif
