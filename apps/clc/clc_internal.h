/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the passes of the controlled logical clock: which member of a collective waits for
 * which, and the walk along a line. Not for other modules.
 */
#ifndef CLV_CLC_INTERNAL_H
#define CLV_CLC_INTERNAL_H

#include <stdbool.h>

#include "apps/clc/clc.h"
#include "apps/clc/clc_parallel.h"
#include "apps/clc/clc_replay.h"

#define CLV_CLC_LOOK_BACK 65536

/* Work over messages or tracks is cut into this many pieces for any number of threads, so that sums
 * of doubles are the same. Piece i of n items begins here and ends where the next begins. */
#define CLV_CLC_PIECES 32

static inline uint64_t clv_clc_piece(uint64_t n, uint32_t i)
{
    return n * i / CLV_CLC_PIECES;
}

static inline int64_t clv_clc_delay(const clv_clc_config_t *config, int32_t a, int32_t b)
{
    return a == b ? config->intra_ns : config->inter_ns;
}

static inline int64_t clv_clc_which(const clv_clc_event_t *event, clv_clc_which_t which)
{
    return which == CLV_CLC_STAMP ? event->stamp : event->corrected;
}

/* Whether the enter of member k is a logical send, and the exit of i a logical receive. */
bool clv_clc_sends(const clv_clc_collective_t *collective, const clv_clc_member_t *members,
                   uint32_t k);
bool clv_clc_receives(const clv_clc_collective_t *collective, const clv_clc_member_t *members,
                      uint32_t i);
bool clv_clc_is_prefix(const clv_clc_collective_t *collective);

/* Whether the exit of member i waits for the enter of member k, i != k. */
bool clv_clc_depends(const clv_clc_collective_t *collective, const clv_clc_member_t *members,
                     uint32_t k, uint32_t i);

/* Number of logical sends of a collective for which a receiver waits. */
int32_t clv_clc_count_sends(const clv_clc_trace_t *trace, const clv_clc_collective_t *collective);

/* Set the greatest enter of all senders, and the least exit of all receivers. */
void clv_clc_last_enter(const clv_clc_trace_t *trace, clv_clc_collective_t *collective);
void clv_clc_first_exit(const clv_clc_trace_t *trace, clv_clc_collective_t *collective);

/* The limits that other members set: the earliest time of a receive, and the latest of a send.
 * Extremes are set. CLV_CLC_UNKNOWN and INT64_MAX: no limit. */
int64_t clv_clc_earliest_exit(const clv_clc_trace_t *trace, const clv_clc_config_t *config,
                              const clv_clc_collective_t *collective, uint32_t member);
int64_t clv_clc_latest_enter(const clv_clc_trace_t *trace, const clv_clc_config_t *config,
                             const clv_clc_collective_t *collective, uint32_t member);

/* ---- the clock of a line ----
 *
 * The events of a line form batches of equal stamp. The local term of equation 4 for a batch
 * follows from the batches before it, so the order in which its events are computed does not
 * matter. */
typedef struct clv_clc_clock {
    int64_t stamp;     /* of this batch */
    double shift;      /* at the begin of this batch; not rounded */
    double next_shift; /* largest so far in this batch */
    int64_t floor;     /* lower bound of this batch's events */
    int64_t top;       /* largest corrected stamp so far */
    bool is_started;
} clv_clc_clock_t;

/* Advances to the batch at stamp (later than the previous one). */
void clv_clc_clock_turn(clv_clc_clock_t *clock, const clv_clc_config_t *config, int64_t stamp);
/* The local term: the time of this batch's events without messages. */
int64_t clv_clc_clock_local(const clv_clc_clock_t *clock);
/* Records the corrected time of an event of this batch. */
void clv_clc_clock_note(clv_clc_clock_t *clock, int64_t corrected);

/* A walk along the line, batch by batch. Tracks whose next event belongs to the batch are open. */
typedef struct clv_clc_walk {
    const clv_clc_track_t *tracks;
    const clv_clc_line_t *line;
    int64_t *next;  /* next event of each track of the line */
    uint32_t *heap; /* the other tracks with events left; the smallest stamp on top */
    uint32_t *open;
    uint32_t n_heap, n_open;
    int64_t stamp; /* of the batch */
} clv_clc_walk_t;

CLV_MUST_CHECK clv_status_t clv_clc_walk_open(clv_clc_walk_t *walk, const clv_clc_trace_t *trace,
                                              const clv_clc_line_t *line);
void clv_clc_walk_close(clv_clc_walk_t *walk);

/* Opens the tracks of the next batch; none may be open. False at the end of the line. */
bool clv_clc_walk_turn(clv_clc_walk_t *walk);
/* Completes the event of an open track. The slot then holds that track's next event of the batch,
 * or another open track, or no longer exists. */
void clv_clc_walk_pass(clv_clc_walk_t *walk, uint32_t slot);

static inline clv_clc_event_t *clv_clc_walk_event(const clv_clc_walk_t *walk, uint32_t slot)
{
    const uint32_t at = walk->open[slot];
    return &walk->tracks[walk->line->tracks[at]].events[walk->next[at]];
}

/* The greatest convex function below points, as corners from right to left. x counts to the left,
 * from the time that the corrected receive would have without its message. */
typedef struct clv_clc_hull {
    double *x, *y;
    int64_t n;
} clv_clc_hull_t;

/* Computes the hull of the points in x and y, in place; x may be in any order. n is at least 1. */
void clv_clc_hull_make(clv_clc_hull_t *hull);
/* Its value at x. *right: a corner near x where the search begins; set to that of x. */
double clv_clc_hull_at(const clv_clc_hull_t *hull, int64_t *right, double x);
/* The steepest of its slopes. */
double clv_clc_hull_steepest(const clv_clc_hull_t *hull);

#endif
