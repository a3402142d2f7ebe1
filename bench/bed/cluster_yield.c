/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A preload library that lets waiting MPI ranks sleep: sched_yield becomes poll on the epoll
 * descriptor of the thread's own event loop.
 *
 * What: Open MPI with mpi_yield_when_idle 1 calls sched_yield whenever a turn of its progress
 * engine found nothing. With more ranks than cores that is still a busy loop. Here the thread
 * sleeps until a socket of its event loop is ready, at most MAX_SLEEP_MS: other sources of progress
 * (timers, another thread completing a request) are looked at that often.
 * Not: a way to speed anything up when every rank has a core of its own. Do not use it there.
 * Cost: one poll per idle turn, about 1 us when a socket is ready; memory: one int per thread.
 * Needs: opal_event_include epoll. A thread that never ran an epoll loop yields as before.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_SLEEP_MS 1

/* Each thread runs its own event loop, so the descriptor it last waited on is the right one. */
static _Thread_local int own_epoll = -1;

/* The progress engine yields even after a turn in which sockets were served, and the caller looks
 * at its request only afterwards: sleeping then would add MAX_SLEEP_MS to every message. */
static _Thread_local int just_served;

typedef int (*epoll_wait_t)(int, struct epoll_event *, int, int);

static epoll_wait_t next_epoll_wait;

__attribute__((constructor)) static void find_next(void)
{
    /* ISO C has no conversion from object to function pointer; POSIX promises this one. */
    *(void **) &next_epoll_wait = dlsym(RTLD_NEXT, "epoll_wait");
}

int epoll_wait(int epoll, struct epoll_event *events, int n_events, int timeout_ms)
{
    own_epoll = epoll;
    if (!next_epoll_wait) {
        errno = ENOSYS;
        return -1;
    }
    const int n_ready = next_epoll_wait(epoll, events, n_events, timeout_ms);
    just_served |= n_ready > 0;
    return n_ready;
}

int sched_yield(void)
{
    struct pollfd ready = {.fd = own_epoll, .events = POLLIN};

    if (own_epoll < 0) {
        return (int) syscall(SYS_sched_yield);
    }
    if (just_served) {
        just_served = 0;
        return 0;
    }
    const int saved = errno;
    if (poll(&ready, 1, MAX_SLEEP_MS) < 0 && errno == EBADF) {
        own_epoll = -1; /* the loop is gone: MPI was finalized */
    }
    errno = saved;
    return 0;
}
