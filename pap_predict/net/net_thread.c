/* SPDX-License-Identifier: BSD-3-Clause
 * See net_thread.h.
 */
#include "pap_predict/net/net_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "util/util_alloc.h"
#include "util/util_time.h"

#define MAX_EVENTS 32
/* Plans are made on this stack; small, for programs that lock all memory. */
#define STACK_BYTES ((size_t) 1 << 20)
#define LEND_NS     CLV_NS_PER_MS /* longest wait for the holder of the lock */
#define BELL        UINT64_MAX    /* the bell's datum in epoll */
#define TIMER       (UINT64_MAX - 1)

typedef struct watch {
    int fd; /* -1: free */
    uint32_t events;
    uint32_t generation; /* tells events of a closed descriptor from those of a new one */
    clv_net_ready_t ready;
    void *owner;
} watch_t;

struct clv_net_thread {
    clv_net_thread_t *next; /* of all threads, for fork */
    clv_net_thread_ops_t ops;
    void *context;
    pthread_mutex_t mutex;
    pthread_t id;
    bool runs;
    bool stops;
    bool forked; /* this is a copy in a forked child */
    int epoll_fd;
    int timer_fd; /* epoll's own timeout has only milliseconds */
    int64_t armed_ns;
    int bell[2];
    watch_t *watches;
    int32_t n_watches;
    void (*deferred)(void *context); /* NULL: no deferred work */
    void *deferred_context;
    bool is_deferring; /* the thread runs it now, without the lock */
    pthread_cond_t has_deferred;
};

/* ---- fork --------------------------------------------------------------------------------- */

static pthread_mutex_t all_mutex = PTHREAD_MUTEX_INITIALIZER;
static clv_net_thread_t *all_threads;

static void before_fork(void)
{
    (void) pthread_mutex_lock(&all_mutex);
    for (clv_net_thread_t *one = all_threads; one; one = one->next) {
        (void) pthread_mutex_lock(&one->mutex);
    }
}

static void after_fork_in_parent(void)
{
    for (clv_net_thread_t *one = all_threads; one; one = one->next) {
        (void) pthread_mutex_unlock(&one->mutex);
    }
    (void) pthread_mutex_unlock(&all_mutex);
}

static void close_own(const clv_net_thread_t *thread)
{
    const int fds[] = {thread->epoll_fd, thread->timer_fd, thread->bell[0], thread->bell[1]};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
        if (fds[i] >= 0) {
            (void) close(fds[i]);
        }
    }
}

/* A connection lives as long as any copy of its descriptor, so the child must close its copies. */
static void close_all(clv_net_thread_t *thread)
{
    for (int32_t i = 0; i < thread->n_watches; i++) {
        if (thread->watches[i].fd >= 0) {
            (void) close(thread->watches[i].fd);
        }
    }
    close_own(thread);
}

/* A thread that waits for the mutex lends its priority to the holder. */
static void make_mutex(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attributes;

    (void) pthread_mutexattr_init(&attributes);
    (void) pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    (void) pthread_mutex_init(mutex, &attributes);
    (void) pthread_mutexattr_destroy(&attributes);
}

/* To the kernel, the parent's thread still holds the mutex, which stores its owner: make a new
 * one. */
static void after_fork_in_child(void)
{
    for (clv_net_thread_t *one = all_threads; one; one = one->next) {
        one->forked = true;
        close_all(one);
        make_mutex(&one->mutex);
    }
    all_threads = NULL;
    (void) pthread_mutex_unlock(&all_mutex);
}

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void register_fork(void)
{
    (void) pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

static void enlist(clv_net_thread_t *thread)
{
    (void) pthread_once(&fork_once, register_fork);
    (void) pthread_mutex_lock(&all_mutex);
    thread->next = all_threads;
    all_threads = thread;
    (void) pthread_mutex_unlock(&all_mutex);
}

static void delist(clv_net_thread_t *thread)
{
    (void) pthread_mutex_lock(&all_mutex);
    for (clv_net_thread_t **at = &all_threads; *at; at = &(*at)->next) {
        if (*at == thread) {
            *at = thread->next;
            break;
        }
    }
    (void) pthread_mutex_unlock(&all_mutex);
}

/* ---- life --------------------------------------------------------------------------------- */

static bool listen_to(const clv_net_thread_t *thread, int fd, uint64_t which)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = which};
    return epoll_ctl(thread->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

/* A pipe, not an eventfd: another process can open only a pipe through /proc. */
static clv_status_t open_own(clv_net_thread_t *thread)
{
    thread->armed_ns = INT64_MAX;
    thread->bell[0] = thread->bell[1] = -1;
    thread->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    thread->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (thread->epoll_fd >= 0 && thread->timer_fd >= 0 &&
        pipe2(thread->bell, O_CLOEXEC | O_NONBLOCK) == 0 &&
        listen_to(thread, thread->bell[0], BELL) && listen_to(thread, thread->timer_fd, TIMER)) {
        return CLV_OK;
    }
    const int error = errno;
    close_own(thread);
    errno = error;
    return CLV_NO_MEMORY;
}

clv_status_t clv_net_thread_create(const clv_net_thread_ops_t *ops, void *context,
                                   clv_net_thread_t **thread_p)
{
    clv_net_thread_t *thread = clv_alloc(1, sizeof *thread);
    if (thread == NULL) {
        return CLV_NO_MEMORY;
    }
    thread->ops = *ops;
    thread->context = context;
    clv_status_t status = open_own(thread);
    if (status != CLV_OK) {
        clv_free(thread);
        return status;
    }
    make_mutex(&thread->mutex);
    (void) pthread_cond_init(&thread->has_deferred, NULL);
    enlist(thread);
    *thread_p = thread;
    return CLV_OK;
}

void clv_net_thread_stop(clv_net_thread_t *thread)
{
    if (thread->forked) {
        return;
    }
    clv_net_thread_lock(thread);
    const bool ran = thread->runs;
    thread->stops = true;
    thread->runs = false;
    clv_net_thread_unlock(thread);
    clv_net_thread_ring(thread);
    if (ran) {
        (void) pthread_join(thread->id, NULL);
    }
}

void clv_net_thread_free(clv_net_thread_t *thread)
{
    if (thread == NULL) {
        return;
    }
    if (!thread->forked) {
        clv_net_thread_stop(thread);
        delist(thread);
        close_all(thread);
        (void) pthread_cond_destroy(&thread->has_deferred);
        (void) pthread_mutex_destroy(&thread->mutex);
    }
    clv_free(thread->watches);
    clv_free(thread);
}

void clv_net_thread_lock(clv_net_thread_t *thread)
{
    (void) pthread_mutex_lock(&thread->mutex);
}

void clv_net_thread_unlock(clv_net_thread_t *thread)
{
    (void) pthread_mutex_unlock(&thread->mutex);
}

bool clv_net_thread_is_ours(const clv_net_thread_t *thread)
{
    return !thread->forked;
}

void clv_net_thread_ring(const clv_net_thread_t *thread)
{
    /* A full pipe has been rung already. The read end is ours, so there is no SIGPIPE. */
    if (!thread->forked && write(thread->bell[1], "", 1) < 0) {
        return;
    }
}

int clv_net_thread_bell_fd(const clv_net_thread_t *thread)
{
    return thread->bell[1];
}

int64_t clv_net_thread_cpu_ns(clv_net_thread_t *thread)
{
    clockid_t clock;
    struct timespec time = {0, 0};
    if (!thread->forked) {
        clv_net_thread_lock(thread);
        if (thread->runs && pthread_getcpuclockid(thread->id, &clock) == 0) {
            (void) clock_gettime(clock, &time);
        }
        clv_net_thread_unlock(thread);
    }
    return (int64_t) time.tv_sec * CLV_NS_PER_S + time.tv_nsec;
}

/* ---- watches ------------------------------------------------------------------------------ */

static uint64_t datum(const clv_net_thread_t *thread, int32_t watch)
{
    return (uint64_t) thread->watches[watch].generation << 32 | (uint32_t) watch;
}

static clv_status_t grow(clv_net_thread_t *thread)
{
    const int32_t n_watches = 2 * thread->n_watches + 8;
    watch_t *watches = clv_alloc((size_t) n_watches, sizeof *watches);
    if (watches == NULL) {
        return CLV_NO_MEMORY;
    }
    for (int32_t i = 0; i < n_watches; i++) {
        watches[i] = i < thread->n_watches ? thread->watches[i] : (watch_t){.fd = -1};
    }
    clv_free(thread->watches);
    thread->watches = watches;
    thread->n_watches = n_watches;
    return CLV_OK;
}

static int32_t free_watch(const clv_net_thread_t *thread)
{
    int32_t watch = 0;
    while (watch < thread->n_watches && thread->watches[watch].fd >= 0) {
        watch++;
    }
    return watch;
}

clv_status_t clv_net_thread_watch(clv_net_thread_t *thread, int fd, uint32_t events,
                                  clv_net_ready_t ready, void *owner, int32_t *watch_p)
{
    const int32_t watch = free_watch(thread);
    if (watch == thread->n_watches && grow(thread) != CLV_OK) {
        return CLV_NO_MEMORY;
    }
    struct epoll_event event = {.events = events, .data.u64 = datum(thread, watch)};
    if (epoll_ctl(thread->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
        return CLV_SYSTEM;
    }
    thread->watches[watch].fd = fd;
    thread->watches[watch].events = events;
    thread->watches[watch].ready = ready;
    thread->watches[watch].owner = owner;
    *watch_p = watch;
    return CLV_OK;
}

void clv_net_thread_rewatch(clv_net_thread_t *thread, int32_t watch, uint32_t events)
{
    watch_t *one = &thread->watches[watch];
    struct epoll_event event = {.events = events, .data.u64 = datum(thread, watch)};
    if (one->events != events) {
        one->events = events;
        (void) epoll_ctl(thread->epoll_fd, EPOLL_CTL_MOD, one->fd, &event);
    }
}

void clv_net_thread_unwatch(clv_net_thread_t *thread, int32_t watch)
{
    watch_t *one = &thread->watches[watch];
    (void) epoll_ctl(thread->epoll_fd, EPOLL_CTL_DEL, one->fd, NULL);
    one->fd = -1;
    one->generation++;
}

/* ---- the loop ----------------------------------------------------------------------------- */

/* Empties the bell; non-zero if it was rung. */
static bool answer_bell(const clv_net_thread_t *thread)
{
    char bytes[64];
    bool rung = false;
    while (read(thread->bell[0], bytes, sizeof bytes) > 0) {
        rung = true;
    }
    return rung;
}

static bool dispatch(clv_net_thread_t *thread, const struct epoll_event *events, int n_events)
{
    bool rung = false;
    for (int i = 0; i < n_events; i++) {
        const int32_t watch = (int32_t) (uint32_t) events[i].data.u64;
        if (events[i].data.u64 == BELL) {
            rung = answer_bell(thread);
        } else if (events[i].data.u64 == TIMER) {
            thread->armed_ns = 0; /* setting it again empties it */
        } else if (thread->watches[watch].fd >= 0 && datum(thread, watch) == events[i].data.u64) {
            thread->watches[watch].ready(thread->watches[watch].owner, events[i].events);
        }
    }
    return rung;
}

/* Absolute, so that time between reading the clock and sleeping is not added. */
static void set_timer(clv_net_thread_t *thread, int64_t deadline_ns)
{
    struct itimerspec when = {{0, 0}, {0, 0}}; /* zero: off */
    if (deadline_ns == thread->armed_ns) {
        return;
    }
    if (deadline_ns != INT64_MAX) {
        const int64_t at_ns = deadline_ns > 0 ? deadline_ns : 1;
        when.it_value.tv_sec = (time_t) (at_ns / CLV_NS_PER_S);
        when.it_value.tv_nsec = (long) (at_ns % CLV_NS_PER_S);
    }
    (void) timerfd_settime(thread->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
    thread->armed_ns = deadline_ns;
}

/* With lends, waits for the lock for up to LEND_NS: its holder may have lost its processor to the
 * caller, or to a thread that only the caller can displace. */
static bool lock_for_turn(clv_net_thread_t *thread, bool lends)
{
    struct timespec until;

    if (pthread_mutex_trylock(&thread->mutex) == 0) {
        return true;
    }
    if (!lends || clock_gettime(CLOCK_REALTIME, &until) != 0) {
        return false;
    }
    until.tv_nsec += LEND_NS;
    if (until.tv_nsec >= CLV_NS_PER_S) {
        until.tv_sec++;
        until.tv_nsec -= CLV_NS_PER_S;
    }
    return pthread_mutex_timedlock(&thread->mutex, &until) == 0;
}

void clv_net_thread_turn(clv_net_thread_t *thread, bool lends)
{
    struct epoll_event events[MAX_EVENTS];
    if (thread->forked || !lock_for_turn(thread, lends)) {
        return;
    }
    if (thread->runs) {
        const int n_events = epoll_wait(thread->epoll_fd, events, MAX_EVENTS, 0);
        const bool rung = dispatch(thread, events, n_events);
        set_timer(thread, thread->ops.work(thread->context, clv_local_now_ns(), rung));
    }
    clv_net_thread_unlock(thread);
}

bool clv_net_thread_defer(clv_net_thread_t *thread, void (*what)(void *context), void *context)
{
    if (thread->deferred != NULL && thread->deferred_context != context) {
        return false;
    }
    thread->deferred = what;
    thread->deferred_context = context;
    return true;
}

void clv_net_thread_settle(clv_net_thread_t *thread)
{
    while (thread->is_deferring && !thread->forked) {
        (void) pthread_cond_wait(&thread->has_deferred, &thread->mutex);
    }
    thread->deferred = NULL;
}

/* Under the lock, which it releases meanwhile. */
static void do_deferred(clv_net_thread_t *thread)
{
    void (*what)(void *context) = thread->deferred;
    void *context = thread->deferred_context;
    if (what == NULL) {
        return;
    }
    thread->deferred = NULL;
    thread->is_deferring = true;
    clv_net_thread_unlock(thread);
    what(context);
    clv_net_thread_lock(thread);
    thread->is_deferring = false;
    (void) pthread_cond_broadcast(&thread->has_deferred);
}

static void *run(void *argument)
{
    clv_net_thread_t *thread = argument;
    struct epoll_event events[MAX_EVENTS];
    const struct sched_param no_priority = {0};
    bool rung = true; /* it may have been rung before it ran */
    (void) pthread_setschedparam(pthread_self(), SCHED_BATCH, &no_priority);
    clv_net_thread_lock(thread);
    while (!thread->stops) {
        const int64_t deadline_ns = thread->ops.work(thread->context, clv_local_now_ns(), rung);
        set_timer(thread, deadline_ns);
        do_deferred(thread);
        clv_net_thread_unlock(thread);
        const int n_events = epoll_wait(thread->epoll_fd, events, MAX_EVENTS, -1);
        clv_net_thread_lock(thread);
        rung = dispatch(thread, events, n_events);
    }
    clv_net_thread_unlock(thread);
    return NULL;
}

clv_status_t clv_net_thread_start(clv_net_thread_t *thread)
{
    pthread_attr_t attributes;
    sigset_t all_signals, old_signals;
    if (thread->runs || thread->forked) {
        return CLV_OK;
    }
    (void) pthread_attr_init(&attributes);
    (void) pthread_attr_setstacksize(&attributes, STACK_BYTES);
    /* Signals are blocked before the thread starts, so that it can never receive one. */
    (void) sigfillset(&all_signals);
    (void) pthread_sigmask(SIG_SETMASK, &all_signals, &old_signals);
    const int error = pthread_create(&thread->id, &attributes, run, thread);
    (void) pthread_sigmask(SIG_SETMASK, &old_signals, NULL);
    (void) pthread_attr_destroy(&attributes);
    if (error != 0) {
        errno = error;
        return CLV_NO_MEMORY;
    }
    (void) pthread_setname_np(thread->id, "clv");
    thread->runs = true;
    return CLV_OK;
}
