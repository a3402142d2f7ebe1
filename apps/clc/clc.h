/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The controlled logical clock with collectives. It moves the time stamps of a trace, forward only,
 * until no message is received before it was sent.
 *
 * After Becker, Rabenseifner, Wolf, Linford: "Replay-based synchronization of timestamps in event
 * traces of massively parallel applications" (equations 4 and 4', section 3.2, section 4).
 * Differences from the paper, and why: docs/guide/trace-correction.md.
 *
 * Not: a reader of traces, a matcher of messages (clc_match.h), a synchroniser (clc_presync.h).
 * Cost: forward and backward O(events), and per collective O(members x members of the same host);
 *   prefix operations and clv_clc_count O(members^2) in the worst case.
 *
 * Units: ticks of the trace, of at most 1 ns; "ns" below means such ticks. Times are int64.
 * Errors: CLV_NO_MEMORY, CLV_OVERFLOW; clv_clc_check validates the trace, which the other
 *   functions trust.
 * Memory: all arrays belong to the caller, who may keep them in a file (apps/tools/correct/).
 * Threads: one caller; the passes may start threads of their own; the result does not depend on
 *   their number.
 */
#ifndef CLV_CLC_H
#define CLV_CLC_H

#include <stddef.h>
#include <stdint.h>

#include "util/util_status.h"

/* A stamp that is not known yet. */
#define CLV_CLC_UNKNOWN INT64_MIN

/* The role of an event in its message or collective. Enter events send, exit events receive. */
typedef enum clv_clc_role {
    CLV_CLC_INTERNAL,
    CLV_CLC_SEND,
    CLV_CLC_RECEIVE,
    CLV_CLC_ENTER,
    CLV_CLC_EXIT
} clv_clc_role_t;

/* 24 bytes; part holds the role and, for collectives, the member. */
typedef struct clv_clc_event {
    int64_t stamp;     /* C: presynchronised */
    int64_t corrected; /* LC': at least the stamp */
    uint32_t group;    /* index of the message or collective */
    uint32_t part;
} clv_clc_event_t;

#define CLV_CLC_MAX_MEMBERS (INT64_C(1) << 29)

static inline uint32_t clv_clc_part(clv_clc_role_t role, uint32_t member)
{
    return (uint32_t) role | member << 3;
}

static inline clv_clc_role_t clv_clc_role(const clv_clc_event_t *event)
{
    return (clv_clc_role_t) (event->part & 7);
}

static inline uint32_t clv_clc_member_of(const clv_clc_event_t *event)
{
    return event->part >> 3;
}

/* Events of one location in their order; stamps never decrease. */
typedef struct clv_clc_track {
    clv_clc_event_t *events;
    int64_t n_events;
} clv_clc_track_t;

/* All tracks that share one clock. Their events are ordered by stamp; equal stamps on different
 * tracks have no order. One line per host keeps the order of the threads and ranks of that host. */
typedef struct clv_clc_line {
    const uint32_t *tracks;
    uint32_t n_tracks;
} clv_clc_line_t;

typedef struct clv_clc_message {
    int64_t send, receive; /* stamps, as clv_clc_place set them */
    int32_t from, to;      /* hosts */
} clv_clc_message_t;

/* XX(name, which member waits for which; section 4 of the paper) */
#define CLV_CLC_FLAVOUR_MAP(XX)                                                                    \
    XX(ONE_TO_N, "receivers wait for the root")                                                    \
    XX(N_TO_ONE, "the root waits for all senders")                                                 \
    XX(N_TO_N, "receivers wait for all senders; a barrier if all are both")                        \
    XX(SCAN, "member i waits for senders k <= i")                                                  \
    XX(EXSCAN, "member i waits for senders k < i")                                                 \
    XX(FREE, "nobody waits")

typedef enum clv_clc_flavour {
#define CLV_CLC_FLAVOUR_ENUM(name, meaning) CLV_CLC_##name,
    CLV_CLC_FLAVOUR_MAP(CLV_CLC_FLAVOUR_ENUM)
#undef CLV_CLC_FLAVOUR_ENUM
} clv_clc_flavour_t;

#define CLV_CLC_SENDS    1u /* this member's enter is a logical send */
#define CLV_CLC_RECEIVES 2u /* its exit is a logical receive */
#define CLV_CLC_KNOWN    4u /* internal: exit is the limit set by a replay */

typedef struct clv_clc_member {
    int64_t enter, exit; /* in a replay (clc_replay.h), before and after the passes: limits */
    uint32_t flags;
} clv_clc_member_t;

/* The members of a communicator's collectives. */
typedef struct clv_clc_team {
    uint32_t n_members;
    int32_t *host;    /* of each member */
    uint32_t *beside; /* the next member on the same host, circular; clv_clc_team_ring sets it */
} clv_clc_team_t;

/* The extreme stamp of all members, and that of the members on other hosts than the first one's. */
typedef struct clv_clc_extreme {
    int64_t first, second;
    int32_t host;
} clv_clc_extreme_t;

typedef struct clv_clc_collective {
    uint64_t first; /* index of member 0 among the trace's members */
    uint32_t team;
    uint32_t root;       /* a member; used by ONE_TO_N and N_TO_ONE only */
    uint8_t flavour, op; /* op: the caller's number, below CLV_CLC_MAX_OPS; selects the counters */
    int32_t n_missing;   /* internal: logical sends without a time */
    clv_clc_extreme_t extreme; /* internal */
} clv_clc_collective_t;

/* Counters: row 0 is for messages, rows from 1 for the caller's operations. */
#define CLV_CLC_MAX_OPS 32

typedef struct clv_clc_trace {
    clv_clc_track_t *tracks;
    clv_clc_line_t *lines;
    clv_clc_message_t *messages;
    clv_clc_team_t *teams;
    clv_clc_collective_t *collectives;
    clv_clc_member_t *members;
    uint64_t n_messages, n_collectives, n_members;
    uint32_t n_tracks, n_lines, n_teams;
    const struct clv_clc_replay *replay; /* other programs with the rest of the trace; NULL: none */
} clv_clc_trace_t;

typedef struct clv_clc_config {
    int64_t inter_ns, intra_ns; /* minimum delays between and inside hosts, >= 0 */
    double gamma;               /* 0 to 1: share of an interval kept after a correction */
    double slope;               /* above 0: limits how fast a shift rises in the backward pass */
    int64_t look_back;          /* most events that the backward pass looks back at; 0: 65536 */
    int64_t look_ahead_ns;      /* receivers later than this count as unknown; 0: no limit */
    int32_t n_threads;          /* 0: one thread */
} clv_clc_config_t;

/* The paper's 0.01 ("a few percent"), and a gamma that fits its Table 4. */
#define CLV_CLC_GAMMA       0.99999
#define CLV_CLC_GAMMA_AGAIN 0.9999
#define CLV_CLC_SLOPE       0.01

/* Returns what is wrong with the trace (index out of range, falling stamps, an event in two groups,
 * ...) as static text, or NULL. *where is the track or group. O(events). */
const char *clv_clc_check(const clv_clc_trace_t *trace, uint64_t *where);
/* The same in parts: groups first, then the tracks, in any order and by several threads. */
const char *clv_clc_check_groups(const clv_clc_trace_t *trace, uint64_t *where);
const char *clv_clc_check_track(const clv_clc_trace_t *trace, uint32_t track);
const char *clv_clc_check_config(const clv_clc_config_t *config);

void clv_clc_team_ring(clv_clc_team_t *team);

typedef enum clv_clc_which { CLV_CLC_STAMP, CLV_CLC_CORRECTED } clv_clc_which_t;

/* Copies the stamps (or corrected stamps) of events into their messages and members, for
 * clv_clc_count. */
void clv_clc_place(const clv_clc_trace_t *trace, clv_clc_which_t which, int32_t n_threads);

typedef struct clv_clc_tally {
    int64_t n_messages; /* in collectives: pairs of a logical send and a logical receive */
    int64_t n_reversed; /* received before they were sent */
    int64_t n_violated; /* received before they can have arrived; includes the reversed ones */
    int64_t worst_ns;   /* the largest reversal */
    int64_t needed_ns;  /* the largest violation */
    double reversed_ns; /* sum over the reversed ones */
} clv_clc_tally_t;

/* Writes CLV_CLC_MAX_OPS tallies from the stamps that clv_clc_place copied, on config->n_threads
 * threads. */
void clv_clc_count(const clv_clc_trace_t *trace, const clv_clc_config_t *config,
                   clv_clc_tally_t *tallies);
clv_clc_tally_t clv_clc_sum(const clv_clc_tally_t *tallies);

/* An event that proceeded without a send it waits for, because the two wait for each other. */
typedef struct clv_clc_broken {
    uint32_t track;
    int64_t event;
} clv_clc_broken_t;

#define CLV_CLC_MAX_BROKEN 16

typedef struct clv_clc_forward_result {
    int64_t n_explicit; /* receives that their message moved */
    int64_t explicit_by_op[CLV_CLC_MAX_OPS];
    int64_t largest_shift_ns;
    int64_t shift_at_end_ns; /* the largest shift of a track's last event */
    int64_t n_broken;        /* cycles broken at their earliest event */
    clv_clc_broken_t broken[CLV_CLC_MAX_BROKEN];
} clv_clc_forward_result_t;

/* Forward amortisation (equations 4 and 4'). Sets corrected of every event, and the stamps of
 * messages and members to the corrected ones. Keeps the order of a line, moves nothing back, and
 * keeps intervals up to a share of 1 - gamma and 1 ns. CLV_NO_MEMORY; CLV_OVERFLOW: a time does not
 * fit. */
CLV_MUST_CHECK clv_status_t clv_clc_forward(const clv_clc_trace_t *trace,
                                            const clv_clc_config_t *config,
                                            clv_clc_forward_result_t *result);

/* Backward amortisation (section 3.2), after clv_clc_forward: the events before a corrected receive
 * follow it along the greatest convex function below the limits that their own receivers set.
 * Intervals only grow. *steepest: the largest slope used. CLV_NO_MEMORY. */
CLV_MUST_CHECK clv_status_t clv_clc_backward(const clv_clc_trace_t *trace,
                                             const clv_clc_config_t *config, double *steepest);

/* Table 4 of the paper: how the correction changed the distances of neighbouring events of a track,
 * and the positions of events in it. Leaves out distances above pause_ns (0: none). */
#define CLV_CLC_N_THRESHOLDS 6
extern const double clv_clc_thresholds[CLV_CLC_N_THRESHOLDS]; /* 0, 1e-4, 1e-3, .01, .1, 1 */

typedef struct clv_clc_table4 {
    int64_t n_intervals, n_above[CLV_CLC_N_THRESHOLDS];
    double total_ns, deviation_ns, above_ns[CLV_CLC_N_THRESHOLDS];
    double largest; /* relative to its interval */
    double position_relative;
    int64_t position_ns;
    int64_t largest_shift_ns;
} clv_clc_table4_t;

void clv_clc_measure(const clv_clc_trace_t *trace, int64_t pause_ns, int32_t n_threads,
                     clv_clc_table4_t *table);

#endif
