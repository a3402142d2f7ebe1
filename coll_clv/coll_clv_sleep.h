/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Waiting that costs nothing: a rank that waits in a collective sleeps until shortly before what it
 * waits for can come (coll_clv_wait sleep), or gives its processor away (yield).
 *
 *      MPI_Allreduce      coll_clv_sleep_begin
 *       └ whatever runs, ours or not, calls opal_progress while it waits
 *          └ progress function of ours: turns counted, then the clock, then slices
 *                         coll_clv_sleep_end: the wait goes into this kind's history
 *
 * What: a function of Open MPI's progress that sleeps inside calls which clv sees, MPI_Barrier
 * included, and only in the thread that made the call. How long is choose/choose_wait.h's.
 * A message ends the sleep where all of Open MPI's comes through the descriptors of its event loop
 * (ob1 over TCP, one thread); else slices are short.
 * Not: the calls themselves. Nothing is sent, nothing that runs changes, and no rank needs to know
 * what another one does. No lock is held during a sleep.
 *
 * Threads: any; with MPI_THREAD_MULTIPLE each thread has its own state, and slices are short, as
 *   other threads may wait for this one's progress.
 * Cost: where waits spin, a pointer that is looked at twice a call. Else some 10 ns a call, a look
 *   at the clock every eighth turn of its first 40 us, and one per turn from then on.
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

/* Operations: the collectives, and MPI_Barrier. */
#define COLL_CLV_SLEEP_BARRIER CLV_N_COLLECTIVES
#define COLL_CLV_SLEEP_KINDS   ((CLV_N_COLLECTIVES + 1) * CLV_WAIT_SIZES)

typedef struct coll_clv_kind {
    clv_wait_history_t history;
    int32_t next; /* the kind that followed last; itself at first */
} coll_clv_kind_t;

/* Of a communicator. */
typedef struct coll_clv_waits {
    int32_t mode; /* clv_wait_t */
    int32_t last; /* kind of the newest call */
    coll_clv_kind_t *kinds[COLL_CLV_SLEEP_KINDS];
    /* For coll_clv_sleep_expected, which any thread may call. */
    bool is_asked;
    int64_t end_ns;  /* expected end of the wait under way, local; 0: none, -1: not known */
    int64_t next_ns; /* how long the next call is expected to wait; -1: not known */
} coll_clv_waits_t;

/* A call under way; of the process, or of each thread where several may call at once. */
typedef struct coll_clv_nap {
    coll_clv_waits_t *waits;
    coll_clv_kind_t *kind; /* NULL: no memory */
    int32_t depth;         /* calls within calls */
    int32_t turns;         /* of progress, before it looks at the clock */
    int32_t rest;          /* turns until the next sleep */
    bool is_asleep;        /* or handles what woke it, or must not sleep */
    pthread_t thread;      /* that made the call */
    bool is_large;         /* a vector that no plan of ours carries: it flows unseen */
    bool has_sends;        /* that need this rank's processor */
    bool was_timed;        /* only its end ended the last sleep, ... */
    int64_t slept_ns;      /* ... which took so long */
    int64_t begun_ns;      /* local; 0: the clock was not looked at */
    bool is_wait;          /* it has lasted long enough to be one */
    int64_t idle_since_ns; /* nothing has happened */
    int64_t turned_ns;     /* the last turn, or the end of the last sleep */
    int64_t asleep_ns;     /* of this call */
    int64_t forecast_ns;   /* the last arrival after this rank's, as agreed; -1: none */
    int slack_ns;          /* of the thread's timers before; 0: not changed */
    clv_wait_plan_t plan;
} coll_clv_nap_t;

/* Of a communicator whose waits are to be like that; NULL: they spin, or there is no memory. */
coll_clv_waits_t *coll_clv_sleep_waits(int32_t mode);
void coll_clv_sleep_free(coll_clv_waits_t *waits);
/* Component close. */
void coll_clv_sleep_close(void);

/* A call of ours begins (operation: a clv_collective_t, or COLL_CLV_SLEEP_BARRIER) and ends. May be
 * nested: what the call makes of others belongs to it. */
void coll_clv_sleep_begin(coll_clv_waits_t *waits, int32_t operation, int64_t n_bytes);
void coll_clv_sleep_end(void);

/* The call under way in this thread. */
coll_clv_nap_t *coll_clv_sleep_nap(void);
/* Between two of these nobody sleeps in it: what is measured, or does not come by messages. Returns
 * what it was before. */
bool coll_clv_sleep_pause(bool is_paused);
/* A plan of ours runs it, and everybody will be there so long after this rank; -1: not known. */
void coll_clv_sleep_expect(int64_t forecast_ns);

/* Of a plan of ours; nap may be NULL. A message has come or gone. */
static inline void coll_clv_sleep_moved(coll_clv_nap_t *nap)
{
    if (0 != nap) {
        nap->idle_since_ns = 0;
    }
}

/* So many of its sends are open. */
static inline void coll_clv_sleep_sends(coll_clv_nap_t *nap, int32_t n_open)
{
    if (0 != nap) {
        nap->has_sends = n_open > 0;
    }
}

/* How long this rank will wait yet in the call under way or, outside, in the next one, ns; -1: not
 * known. Any thread, while the communicator lives. The first one to ask turns it on. */
int64_t coll_clv_sleep_expected(coll_clv_waits_t *waits);

/* The same of a communicator, of any component's: what clv.h looks up by name, and the performance
 * variable. */
OMPI_DECLSPEC long long coll_clv_expected_wait_ns(struct ompi_communicator_t *comm);

#endif
