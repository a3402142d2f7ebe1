/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where a waiting call is: for tools (performance variable coll_clv_wait), and for the
 * user, in one line, when it lasts coll_clv_stall_seconds.
 *
 * What: the waiting call of this process that looked last; a program that reduces in one thread has
 * no other. Not: calls that run the previous function or another one of Open MPI's, which waits
 * by itself.
 *
 * Cost: a counter per idle turn of a loop; every COLL_CLV_WAIT_TURNS of them a look at the clock
 * and a lock. Nothing for a call that does not wait. Threads: any.
 */
#ifndef COLL_CLV_WAIT_H
#define COLL_CLV_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "coll_clv/coll_clv_tables.h"

#define COLL_CLV_WAIT_TURNS 64

typedef enum coll_clv_wait_for {
    COLL_CLV_WAIT_NOTHING = 0,
    COLL_CLV_WAIT_FORECAST = 1, /* another rank has not given its record */
    COLL_CLV_WAIT_MESSAGES = 2, /* of a plan */
} coll_clv_wait_for_t;

/* The wait of one call, on its stack; all zero at first. */
typedef struct coll_clv_wait {
    int64_t since_ns; /* local time at which it was first seen at this place */
    coll_clv_where_t where;
    int32_t turns;
    bool is_shown;
    bool has_reported;
} coll_clv_wait_t;

/* Says where the call is now (*where_p is zero), and the same in words for the user. */
typedef struct coll_clv_wait_ops {
    void (*where)(void *context, coll_clv_where_t *where_p);
    void (*words)(void *context, char *words, int n_bytes);
} coll_clv_wait_ops_t;

/* Applies to every wait from here on; 0: no report. */
void coll_clv_wait_set_stall(int seconds);

void coll_clv_wait_look(coll_clv_wait_t *wait, const coll_clv_wait_ops_t *ops, void *context);
void coll_clv_wait_unshow(coll_clv_wait_t *wait);

/* Call after a turn of progress without work. */
static inline void coll_clv_wait_turn(coll_clv_wait_t *wait, const coll_clv_wait_ops_t *ops,
                                      void *context)
{
    if (0 == ++wait->turns % COLL_CLV_WAIT_TURNS) {
        coll_clv_wait_look(wait, ops, context);
    }
}

/* The call waits no more. */
static inline void coll_clv_wait_end(coll_clv_wait_t *wait)
{
    if (wait->is_shown) {
        coll_clv_wait_unshow(wait);
    }
}

/* For performance variables: where the waiting call is, and for how long. */
void coll_clv_wait_read(coll_clv_where_t *where_p);

#endif
