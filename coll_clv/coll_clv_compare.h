/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Checks that ranks make the same call: a rank that waits for long, or receives a message that is
 * too long, asks others for their arguments and reports both counts in one line. A wrong program
 * may run with Open MPI alone and hang with plans, because plans cut the vector by its length.
 *
 * What: each communicator keeps its newest calls' arguments. A progress function, run at most every
 * COLL_CLV_COMPARE_NS and so in any wait inside MPI, checks whether one of clv's calls has been
 * under way for coll_clv_stall_seconds. It asks and answers by messages of the communicator. So a
 * rank that has left the call, or waits in a function of Open MPI, answers, too.
 * Not: a rank outside MPI, or one that is COLL_CLV_COMPARE_CALLS calls further.
 *
 * Cost: a few stores per call, a counter per eighth turn of progress. Nothing is sent before a call
 * has waited for coll_clv_stall_seconds.
 * Threads: any; one lock, never waited for while making progress.
 */
#ifndef COLL_CLV_COMPARE_H
#define COLL_CLV_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "coll_clv/coll_clv_tags.h"

struct ompi_communicator_t;

#define COLL_CLV_COMPARE_CALLS   8 /* one of them may be being written */
#define COLL_CLV_COMPARE_NS      INT64_C(500000000)
#define COLL_CLV_COMPARE_RANKS   64 /* asked at most: the ranks that follow the one that asks */
#define COLL_CLV_COMPARE_WAIT_NS INT64_C(3000000000) /* running ranks look twice a second */

/* The arguments that a rank passed to a call. */
typedef struct coll_clv_passed {
    int64_t count;
    int64_t total_bytes;
    int32_t root;
    int32_t collective;
} coll_clv_passed_t;

/* The state of a communicator. All zero before begin. */
typedef struct coll_clv_compare {
    int64_t n_calls; /* the number of the newest call */
    coll_clv_passed_t newest[COLL_CLV_COMPARE_CALLS];
    int64_t under_way; /* number of the call under way; 0: none, or one left alone for its size */
    struct coll_clv_compare *next;
    struct ompi_communicator_t *comm;          /* NULL: coll_clv_stall_seconds is 0 */
    bool is_listed;                            /* progress looks at it */
    int64_t seen;                              /* the call under way at the last look, ... */
    int64_t since_ns;                          /* ... and since when */
    int64_t asked_call;                        /* that others were asked about last, ... */
    int64_t asked_ns;                          /* ... and when; 0: not in the call under way */
    bool has_reported;                         /* reported: the call waits ... */
    bool differs;                              /* ... and another rank passed other arguments */
    struct coll_clv_compare_message *messages; /* sends under way */
} coll_clv_compare_t;

/* The first call: from here on progress looks at the communicator, until its end. */
void coll_clv_compare_list(coll_clv_compare_t *compare);

/* A call begins. Another thread that makes progress may read it at the same time. */
static inline void coll_clv_compare_note(coll_clv_compare_t *compare, int32_t collective,
                                         int32_t root, int64_t count, int64_t total_bytes)
{
    const int64_t call = compare->n_calls;
    coll_clv_passed_t *passed = &compare->newest[call % COLL_CLV_COMPARE_CALLS];

    __atomic_store_n(&passed->count, count, __ATOMIC_RELAXED);
    __atomic_store_n(&passed->total_bytes, total_bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&passed->root, root, __ATOMIC_RELAXED);
    __atomic_store_n(&passed->collective, collective, __ATOMIC_RELAXED);
    __atomic_store_n(&compare->n_calls, call + 1, __ATOMIC_RELEASE);
    if (0 == call) {
        coll_clv_compare_list(compare);
    }
}

/* The call may wait for long: from enter to leave it is under way. */
static inline void coll_clv_compare_enter(coll_clv_compare_t *compare)
{
    __atomic_store_n(&compare->under_way, compare->n_calls, __ATOMIC_RELAXED);
}

static inline void coll_clv_compare_leave(coll_clv_compare_t *compare)
{
    __atomic_store_n(&compare->under_way, 0, __ATOMIC_RELAXED);
}

/* The call failed because a message was longer than expected. Asks the other ranks, and waits for
 * an answer that differs, at most COLL_CLV_COMPARE_WAIT_NS. */
void coll_clv_compare_failed(coll_clv_compare_t *compare);

/* Component open and close. stall_seconds: coll_clv_stall_seconds; 0: ranks never ask. */
void coll_clv_compare_open(int stall_seconds);
void coll_clv_compare_close(void);

/* Begin and end of a communicator with clv. end is fine without begin, and twice. Where a component
 * above replaced all of clv's functions, the user's MPI_Comm_free ends it, too. */
void coll_clv_compare_begin(coll_clv_compare_t *compare, struct ompi_communicator_t *comm);
void coll_clv_compare_end(coll_clv_compare_t *compare);

#endif
