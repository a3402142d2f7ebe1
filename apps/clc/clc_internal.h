/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the passes of the controlled logical clock share: who waits for whom, and the walk along a
 * line. Not for other modules.
 */
#ifndef CLV_CLC_INTERNAL_H
#define CLV_CLC_INTERNAL_H

#include <stdbool.h>

#include "apps/clc/clc.h"
#include "apps/clc/clc_parallel.h"
#include "apps/clc/clc_replay.h"

#define CLV_CLC_LOOK_BACK 65536

/* Work over messages or tracks is cut into so many pieces, however many threads there are: sums of
 * doubles are the same. Piece i of n things begins here and ends where the next begins. */
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

/* Is the enter of member k a logical send, the exit of i a logical receive? */
bool clv_clc_sends(const clv_clc_collective_t *collective, const clv_clc_member_t *members,
                   uint32_t k);
bool clv_clc_receives(const clv_clc_collective_t *collective, const clv_clc_member_t *members,
                      uint32_t i);
bool clv_clc_is_prefix(const clv_clc_collective_t *collective);

/* Does the exit of member i wait for the enter of member k, i != k? */
bool clv_clc_depends(const clv_clc_collective_t *collective, const clv_clc_member_t *members,
                     uint32_t k, uint32_t i);

/* Number of logical sends of a collective that somebody waits for. */
int32_t clv_clc_count_sends(const clv_clc_trace_t *trace, const clv_clc_collective_t *collective);

/* The greatest enter of all senders, and the least exit of all receivers. */
void clv_clc_last_enter(const clv_clc_trace_t *trace, clv_clc_collective_t *collective);
void clv_clc_first_exit(const clv_clc_trace_t *trace, clv_clc_collective_t *collective);

/* Where event stands between what comes from others: the earliest time a receive may have, or the
 * latest a send may have. Extremes are set. CLV_CLC_UNKNOWN and INT64_MAX: no limit. */
int64_t clv_clc_earliest_exit(const clv_clc_trace_t *trace, const clv_clc_config_t *config,
                              const clv_clc_collective_t *collective, uint32_t member);
int64_t clv_clc_latest_enter(const clv_clc_trace_t *trace, const clv_clc_config_t *config,
                             const clv_clc_collective_t *collective, uint32_t member);

/* ---- the clock of a line ----
 *
 * Events of a line come in batches of equal stamp. The local term of equation 4 for a batch follows
 * from the batches before it, so the order in which its events are computed does not matter. */
typedef struct clv_clc_clock {
    int64_t stamp;     /* of this batch */
    double shift;      /* that this batch begins with; with its fraction */
    double next_shift; /* largest so far in this batch */
    int64_t floor;     /* no event of this batch lies before it */
    int64_t top;       /* largest corrected stamp so far */
    bool is_started;
} clv_clc_clock_t;

/* Goes on to the batch at stamp (later than the one before). */
void clv_clc_clock_turn(clv_clc_clock_t *clock, const clv_clc_config_t *config, int64_t stamp);
/* The local term: where an event of this batch would lie without messages. */
int64_t clv_clc_clock_local(const clv_clc_clock_t *clock);
/* Tells where an event of this batch lies. */
void clv_clc_clock_note(clv_clc_clock_t *clock, int64_t corrected);

/* A walk along the line, batch by batch. Tracks whose next event is of the batch are open. */
typedef struct clv_clc_walk {
    const clv_clc_track_t *tracks;
    const clv_clc_line_t *line;
    int64_t *next;  /* event of each track of the line */
    uint32_t *heap; /* the other tracks with events left, the smallest stamp on top */
    uint32_t *open;
    uint32_t n_heap, n_open;
    int64_t stamp; /* of the batch */
} clv_clc_walk_t;

CLV_MUST_CHECK clv_status_t clv_clc_walk_open(clv_clc_walk_t *walk, const clv_clc_trace_t *trace,
                                              const clv_clc_line_t *line);
void clv_clc_walk_close(clv_clc_walk_t *walk);

/* Opens the tracks of the next batch, of which there must be none now; false when the line has
 * ended. */
bool clv_clc_walk_turn(clv_clc_walk_t *walk);
/* The event of an open track is done. The slot then holds that track's next event of the batch, or
 * another open track, or is no more. */
void clv_clc_walk_pass(clv_clc_walk_t *walk, uint32_t slot);

static inline clv_clc_event_t *clv_clc_walk_event(const clv_clc_walk_t *walk, uint32_t slot)
{
    const uint32_t at = walk->open[slot];
    return &walk->tracks[walk->line->tracks[at]].events[walk->next[at]];
}

/* The greatest convex function below points: its corners from right to left. x counts to
 * the left, from where the corrected receive would be without its message. */
typedef struct clv_clc_hull {
    double *x, *y;
    int64_t n;
} clv_clc_hull_t;

/* Makes the hull of points in x and y, in their place; x need not be in order. n must be at
 * least 1. */
void clv_clc_hull_make(clv_clc_hull_t *hull);
/* Its value at x; *right is where the search begins, a corner near x, and is left at that of x. */
double clv_clc_hull_at(const clv_clc_hull_t *hull, int64_t *right, double x);
/* The steepest of its lines. */
double clv_clc_hull_steepest(const clv_clc_hull_t *hull);

#endif
