/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Waiting without using the processor: a rank that waits in a collective sleeps until shortly
 * before the awaited message can come (coll_clv_wait sleep), or yields its processor (yield).
 *
 *      MPI_Allreduce      coll_clv_sleep_begin
 *       └ the function that runs, clv's or not, calls opal_progress while it waits
 *          └ clv's progress function: turns counted, then the clock, then slices
 *                         coll_clv_sleep_end: the wait goes into this kind's history
 *
 * What: a progress function that sleeps inside calls that clv sees, MPI_Barrier included, and only
 * in the thread that made the call. choose/choose_wait.h decides how long. A message ends the sleep
 * if all of Open MPI's events come through the descriptors of its event loop (ob1 over TCP, one
 * thread); otherwise slices are short.
 * Not: the calls themselves. Nothing is sent, the calls do not change, and no rank needs to know
 * what another one does. No lock is held during a sleep.
 *
 * Threads: any; with MPI_THREAD_MULTIPLE each thread has its own state, and slices are short, as
 *   other threads may wait for this one's progress.
 * Cost: where waits spin, a pointer that is read twice a call. Else some 10 ns a call, a look at
 *   the clock every eighth turn of its first 40 us, and one per turn from then on.
 * Memory: a history of 200 bytes per kind of call (operation and size class) of a communicator.
 */
#ifndef COLL_CLV_SLEEP_H
#define COLL_CLV_SLEEP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "ompi/communicator/communicator.h"

#include "choose/choose.h"
#include "choose/choose_wait.h"

/* Operations are the collectives, and MPI_Barrier. */
#define COLL_CLV_SLEEP_BARRIER CLV_N_COLLECTIVES
#define COLL_CLV_SLEEP_KINDS   ((CLV_N_COLLECTIVES + 1) * CLV_WAIT_SIZES)

typedef struct coll_clv_kind {
    clv_wait_history_t history;
    int32_t next; /* the kind that followed last; at first the kind itself */
} coll_clv_kind_t;

/* The waits of a communicator. */
typedef struct coll_clv_waits {
    int32_t mode; /* clv_wait_t */
    int32_t last; /* kind of its newest call */
    coll_clv_kind_t *kinds[COLL_CLV_SLEEP_KINDS];
    /* For coll_clv_sleep_expected, which any thread may call. */
    bool is_asked;
    int64_t end_ns;  /* expected end of the wait under way, local; 0: none, -1: not known */
    int64_t next_ns; /* how long the next call is expected to wait; -1: not known */
} coll_clv_waits_t;

/* A call under way: one per process, or one per thread with MPI_THREAD_MULTIPLE. */
typedef struct coll_clv_nap {
    coll_clv_waits_t *waits;
    coll_clv_kind_t *kind; /* NULL: no memory */
    int32_t depth;         /* nesting of calls */
    int32_t turns;         /* turns of progress since the clock was read */
    int32_t rest;          /* turns until the next sleep */
    bool is_asleep;        /* asleep, or handling what woke it, or not allowed to sleep */
    pthread_t thread;      /* the thread that made the call */
    bool is_large;         /* a vector moved by Open MPI's function, whose progress is not seen */
    bool has_sends;        /* open sends, which need this rank's processor */
    bool was_timed;        /* the last sleep ended by its time, not by an event, ... */
    int64_t slept_ns;      /* ... and lasted this long */
    int64_t begun_ns;      /* local; 0: the clock was not read */
    bool is_wait;          /* it has lasted long enough to count as a wait */
    int64_t idle_since_ns; /* since then nothing has moved */
    int64_t turned_ns;     /* end of the last turn or sleep */
    int64_t asleep_ns;     /* in this call */
    int64_t forecast_ns;   /* until the last predicted arrival, from this rank's; -1: none */
    int slack_ns;          /* the thread's timer slack before; 0: not changed */
    clv_wait_plan_t plan;
} coll_clv_nap_t;

/* Makes the waits of a communicator; NULL: they spin, or there is no memory. */
coll_clv_waits_t *coll_clv_sleep_waits(int32_t mode);
void coll_clv_sleep_free(coll_clv_waits_t *waits);
/* Component close. */
void coll_clv_sleep_close(void);

/* Begin and end of a call (operation: a clv_collective_t, or COLL_CLV_SLEEP_BARRIER). May be
 * nested: inner calls belong to the outer one. */
void coll_clv_sleep_begin(coll_clv_waits_t *waits, int32_t operation, int64_t n_bytes);
void coll_clv_sleep_end(void);

/* The state of the call under way in this thread. */
coll_clv_nap_t *coll_clv_sleep_nap(void);
/* While paused, the call does not sleep: it measures, or waits for what does not come by a message.
 * Returns the previous setting. */
bool coll_clv_sleep_pause(bool is_paused);
/* The call runs by plan, and the last rank arrives this long after this one; -1: not known. */
void coll_clv_sleep_expect(int64_t forecast_ns);

/* For a call by plan; nap may be NULL. A message has come or left. */
static inline void coll_clv_sleep_moved(coll_clv_nap_t *nap)
{
    if (0 != nap) {
        nap->idle_since_ns = 0;
    }
}

/* n_open of its sends are open. */
static inline void coll_clv_sleep_sends(coll_clv_nap_t *nap, int32_t n_open)
{
    if (0 != nap) {
        nap->has_sends = n_open > 0;
    }
}

/* How much longer this rank will wait in the call under way or, outside of calls, in the next one,
 * ns; -1: not known. Any thread, while the communicator lives. The first call turns prediction
 * on. */
int64_t coll_clv_sleep_expected(coll_clv_waits_t *waits);

/* The same for a communicator of any component: clv.h looks this up by name, and the performance
 * variable uses it. */
OMPI_DECLSPEC long long coll_clv_expected_wait_ns(struct ompi_communicator_t *comm);

#endif
