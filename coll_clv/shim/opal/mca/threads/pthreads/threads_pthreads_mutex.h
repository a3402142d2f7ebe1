/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stand-in for a header that Debian's packages of Open MPI 5 and 6 leave out although
 * opal/mca/threads/mutex.h includes it. Last on the include path: a real one is preferred.
 *
 * Its locks and conditions must be those of POSIX, like the library's; the functions only have to
 * exist for the inline functions of mutex.h and condition.h.
 */
#ifndef OPAL_MCA_THREADS_PTHREADS_THREADS_PTHREADS_MUTEX_H
#define OPAL_MCA_THREADS_PTHREADS_THREADS_PTHREADS_MUTEX_H

#include "opal_config.h"

#include <pthread.h>
#include <stdbool.h>

#include "opal/constants.h"

typedef pthread_mutex_t opal_thread_internal_mutex_t;
typedef pthread_cond_t opal_thread_internal_cond_t;

#define OPAL_THREAD_INTERNAL_COND_INITIALIZER            PTHREAD_COND_INITIALIZER
#define OPAL_THREAD_INTERNAL_MUTEX_INITIALIZER           PTHREAD_MUTEX_INITIALIZER
#define OPAL_THREAD_INTERNAL_RECURSIVE_MUTEX_INITIALIZER PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP

static inline int opal_thread_internal_mutex_init(opal_thread_internal_mutex_t *lock,
                                                  bool recursive)
{
    pthread_mutexattr_t kind;
    int error = pthread_mutexattr_init(&kind);

    if (0 == error && recursive) {
        error = pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    }
    if (0 == error) {
        error = pthread_mutex_init(lock, &kind);
        (void) pthread_mutexattr_destroy(&kind);
    }
    return 0 == error ? OPAL_SUCCESS : OPAL_ERR_IN_ERRNO;
}

static inline void opal_thread_internal_mutex_lock(opal_thread_internal_mutex_t *lock)
{
    (void) pthread_mutex_lock(lock);
}

/* 0: taken. */
static inline int opal_thread_internal_mutex_trylock(opal_thread_internal_mutex_t *lock)
{
    return 0 != pthread_mutex_trylock(lock);
}

static inline void opal_thread_internal_mutex_unlock(opal_thread_internal_mutex_t *lock)
{
    (void) pthread_mutex_unlock(lock);
}

static inline void opal_thread_internal_mutex_destroy(opal_thread_internal_mutex_t *lock)
{
    (void) pthread_mutex_destroy(lock);
}

static inline int opal_thread_internal_cond_init(opal_thread_internal_cond_t *condition)
{
    return 0 == pthread_cond_init(condition, NULL) ? OPAL_SUCCESS : OPAL_ERR_IN_ERRNO;
}

static inline void opal_thread_internal_cond_wait(opal_thread_internal_cond_t *condition,
                                                  opal_thread_internal_mutex_t *lock)
{
    (void) pthread_cond_wait(condition, lock);
}

static inline void opal_thread_internal_cond_broadcast(opal_thread_internal_cond_t *condition)
{
    (void) pthread_cond_broadcast(condition);
}

static inline void opal_thread_internal_cond_signal(opal_thread_internal_cond_t *condition)
{
    (void) pthread_cond_signal(condition);
}

static inline void opal_thread_internal_cond_destroy(opal_thread_internal_cond_t *condition)
{
    (void) pthread_cond_destroy(condition);
}

#endif
