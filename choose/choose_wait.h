/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How long a waiting rank may sleep in a collective, from its own waits in earlier calls of the
 * same kind, and from a forecast if there is one.
 *
 *      the call begins             expected - margin   expected   expected + margin
 *      |--- sleeps, in slices -------------|------- spins ------|-- sleeps, short slices ...
 *
 * What: a history of waits with a period of 1 to 4 calls, a prediction with its error, the length
 * of the next slice. A wait expected to be shorter than 1 ms is spun through: its sleep saves
 * little, and other ranks' messages wait for it. Results may differ between ranks.
 * Not: sleeping, clocks, MPI (coll_clv/coll_clv_sleep.h).
 *
 * Units: ns since the wait began, on any clock.
 * Errors: none; without history or forecast the slices are timeouts of a tenth of the time waited.
 * Memory: the caller's, no allocation.
 * Threads: one per history.
 * Cost: two stores for a call without a wait; some 60 additions for a prediction.
 */
#ifndef CLV_CHOOSE_WAIT_H
#define CLV_CHOOSE_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#define CLV_WAIT_KEPT     16 /* newest waits; a power of two */
#define CLV_WAIT_PERIODS  4
#define CLV_WAIT_SIZES    16               /* classes of vector sizes; see clv_wait_size_class */
#define CLV_WAIT_LEAST_NS INT64_C(20000)   /* shorter sleeps cost what they save */
#define CLV_WAIT_CAP_NS   INT64_C(100000)  /* how late a wake may be where arrivals last */
#define CLV_WAIT_MOST_NS  INT64_C(500000)  /* and where nothing is known */
#define CLV_WAIT_DEAF_NS  INT64_C(1000000) /* a sleep that a message ends lasts no longer */

/* Of calls of one kind; all zero at first. */
typedef struct clv_wait_history {
    int64_t n_calls;
    int64_t took_ns[CLV_WAIT_KEPT]; /* by number of the call; 0: it did not wait */
    int64_t forecast_error_ns;      /* absolute, moving mean of ... */
    int32_t n_forecasts;            /* ... so many */
    int32_t n_late;                 /* late wakes since the margin changed last */
    int32_t n_fine;                 /* calls since the last of them */
    int32_t widening;               /* the margin is 1 << so much times its usual width */
} clv_wait_history_t;

/* What is known of the wait that begins. */
typedef struct clv_wait_plan {
    int64_t expected_ns; /* -1: nothing */
    int64_t margin_ns;
    int64_t forecast_ns; /* as given to clv_wait_predict */
} clv_wait_plan_t;

/* Where a wait is. */
typedef struct clv_wait_now {
    int64_t elapsed_ns; /* since it began */
    int64_t idle_ns;    /* since something happened last */
    bool message_wakes; /* a message ends the sleep, whatever its length */
    bool has_sends;     /* that need this rank's processor, as far as is known */
} clv_wait_now_t;

/* 0 .. CLV_WAIT_SIZES - 1: two powers of two each. */
int32_t clv_wait_size_class(int64_t n_bytes);

/* The next call's wait. forecast_ns: the last arrival's time after this rank's, as was agreed; -1:
 * there is no forecast. */
clv_wait_plan_t clv_wait_predict(const clv_wait_history_t *history, int64_t forecast_ns);

/* Records a wait of took_ns. is_late: it ended right after a sleep that only its own timeout had
 * ended. */
void clv_wait_record(clv_wait_history_t *history, const clv_wait_plan_t *plan, int64_t took_ns,
                     bool is_late);

/* A call that did not wait. */
static inline void clv_wait_record_none(clv_wait_history_t *history)
{
    history->took_ns[history->n_calls++ % CLV_WAIT_KEPT] = 0;
}

/* How long it may sleep now; 0: not at all. Never more than CLV_WAIT_DEAF_NS; where no message
 * ends it, never more than CLV_WAIT_CAP_NS or a tenth of the time in which nothing has happened,
 * whichever is more, and CLV_WAIT_MOST_NS. */
int64_t clv_wait_slice(const clv_wait_plan_t *plan, const clv_wait_now_t *now);

#endif
