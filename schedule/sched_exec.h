/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs one rank's steps over a table of functions: the in-order window executor.
 *
 *   plan order    R(s0) R(s1) S(s0) R(s2) S(s1) ...
 *                 |<- recv_window ->|          receives are posted ahead, oldest first
 *                       |<- send_window ->|    sends start oldest first, each when the receives of
 *                                              its segment before it in plan order are combined
 *
 * A slow source must not keep receives from other sources from being posted: at most source_window
 * receives of one source are open; further ones are put off and posted first once there is room.
 *
 * What: there are no rounds and no barriers; a step waits only for what it needs. Receives of one
 * segment are combined in plan order, so the same plan gives the same bits in every run. A segment
 * that comes back after it was sent is stored, not combined, once that send is out of its buffer.
 * A SEND gives this rank's copy away, a SEND_COPY keeps it; a RECV_COPY brings a complete segment
 * and is only for a rank without a copy. So every goal of schedule.h runs here in the same way.
 * Not: MPI. The table hides it; the component, the tests and the benchmarks each bring their own.
 *
 * Why it cannot hang (for a plan that passes clv_plan_validate, on every rank at once): take the
 * first message in plan order that is not done at both ends. Everything before it is done, so its
 * receive is the oldest of its rank and posted, and its send is the oldest of its rank and may
 * start. The receive is posted because one is put off only while source_window older ones of its
 * source are open, and slots that these free go to the source's put-off receives before the cursor
 * gets any.
 *
 * Unexpected messages: the first send to a peer and then every sync_every-th is synchronous, and a
 * synchronous send waits for the previous one to the same peer. So a peer that has not arrived
 * finds at most sync_every segments from each sender, a slow one 2 * sync_every - 1.
 * Alternatively no send is synchronous, and post_send refuses sends for which the peer has not
 * promised memory (sched_credit.h). The argument above then holds if a rank's oldest receive, once
 * posted, allows its sender to send.
 *
 * With the policy ROUNDS a send also waits for all steps of earlier rounds. The argument holds: of
 * the messages that are not done take one of the lowest round; its sender waits for nothing.
 *
 * Messages between a pair of ranks must not overtake each other; then no tag is needed.
 * Cost: O(recv_window + send_window + receives put off) per turn.
 *
 * Units: segments and steps counted; a round as in the plan.
 * Errors: CLV_INVALID at begin; then the table's: a status below CLV_OK ends the execution.
 * Memory: no allocation ever; steps and arrays are the caller's and in use until the end.
 * Threads: one per execution.
 */
#ifndef CLV_SCHED_EXEC_H
#define CLV_SCHED_EXEC_H

#include <stdbool.h>

#include "schedule/schedule.h"

#define CLV_EXEC_MAX_WINDOW 64

/* sync_every where something else bounds what lies unexpected: post_send asks it. */
#define CLV_EXEC_NEVER_SYNC (-1)

/* The outside world of one execution. Slots are 0 .. recv_window - 1 for receives and
 * 0 .. send_window - 1 for sends, two separate sets. A receive slot is taken from post_recv until
 * its combine returns, a send slot from post_send until test_send said CLV_OK.
 * Any status < 0 ends the execution with it. */
typedef struct clv_exec_ops {
    clv_status_t (*post_recv)(void *context, int32_t slot, int32_t peer, int32_t segment);
    /* post_send: CLV_AGAIN when it may not go yet; nothing has happened then. */
    clv_status_t (*post_send)(void *context, int32_t slot, int32_t peer, int32_t segment,
                              bool synchronous);
    /* CLV_OK: complete, and not asked again; CLV_AGAIN: not yet. */
    clv_status_t (*test_recv)(void *context, int32_t slot);
    clv_status_t (*test_send)(void *context, int32_t slot);
    /* Takes the segment received in the slot into this rank's copy: combined with it when this
     * rank holds one, else it becomes the copy. No send of the segment is then outstanding. */
    clv_status_t (*combine)(void *context, int32_t slot, int32_t segment, bool holds);
    /* Nothing can be done until the world has moved: lets it, and may sleep meanwhile. */
    clv_status_t (*progress)(void *context);
} clv_exec_ops_t;

typedef struct clv_exec_limits {
    int32_t recv_window; /* 1 .. CLV_EXEC_MAX_WINDOW */
    int32_t send_window; /* 1 .. CLV_EXEC_MAX_WINDOW */
    int32_t sync_every;  /* >= 1; 0: only the first send to each peer; CLV_EXEC_NEVER_SYNC */
    clv_exec_policy_t policy;
    int32_t source_window; /* receives open from one peer: 1 .. recv_window; 0: recv_window */
} clv_exec_limits_t;

/* What is counted per segment. "passed" counts the steps a cursor has gone by, "done" the ones
 * that have taken effect; a step may take effect when the other kind has caught up with it. */
typedef struct clv_exec_segment {
    int32_t recvs_passed;      /* passed by the receive cursor */
    int32_t sends_before_recv; /* passed by the receive cursor */
    int32_t recvs_before_send; /* passed by the send cursor */
    int32_t recvs_done;        /* combined */
    int32_t sends_done;        /* completed */
    int32_t holds;             /* this rank has a copy now */
} clv_exec_segment_t;

typedef struct clv_exec_peer {
    int32_t n_sent;
    int32_t credit_open; /* a synchronous send to this peer is outstanding */
    int32_t recvs_open;  /* from this peer */
} clv_exec_peer_t;

/* A posted receive, one that is put off (without a slot) or a started send. */
typedef struct clv_exec_entry {
    int32_t slot;
    int32_t peer;
    int32_t segment;
    int32_t round;
    bool arrived;         /* receive: test_recv has said CLV_OK */
    int32_t recvs_before; /* receive: of the same segment, to be combined first */
    int32_t sends_before; /* receive: of the same segment, to be completed first */
    bool synchronous;     /* send */
} clv_exec_entry_t;

/* Open entries oldest first, and the slots that are free. */
typedef struct clv_exec_window {
    int32_t n_open;
    int32_t n_free;
    clv_exec_entry_t open[CLV_EXEC_MAX_WINDOW];
    int32_t free_slots[CLV_EXEC_MAX_WINDOW];
} clv_exec_window_t;

/* One execution; lives on the caller's stack. To be read, not written, from outside. */
typedef struct clv_exec {
    const clv_step_t *steps;
    int64_t n_steps;
    clv_exec_limits_t limits;
    const clv_exec_ops_t *ops;
    void *context;
    clv_exec_segment_t *segments;
    clv_exec_peer_t *peers;
    int64_t next_recv; /* cursors into steps */
    int64_t next_send;
    clv_exec_window_t recvs;
    clv_exec_window_t sends;
    int32_t n_put_off; /* receives that the cursor has passed, oldest first; full, it stands */
    clv_exec_entry_t put_off[CLV_EXEC_MAX_WINDOW];
} clv_exec_t;

/* Checks the limits and the steps (ranges, known kinds, nothing sent that is not held, nothing
 * copied over what is) and prepares the execution; nothing is posted yet. holds: whether this rank
 * has a copy of its segments before the first step (clv_goal_has_at_start). The arrays stay the
 * caller's and in use until the end: segments[n_segments] and peers[n_ranks] may have any content.
 * CLV_INVALID. O(steps). */
clv_status_t clv_exec_begin(clv_exec_t *exec, const clv_step_t *steps, int64_t n_steps,
                            const clv_exec_limits_t *limits, const clv_exec_ops_t *ops,
                            void *context, clv_exec_segment_t *segments, int32_t n_segments,
                            clv_exec_peer_t *peers, int32_t n_ranks, bool holds) CLV_MUST_CHECK;

/* Does what can be done now without waiting, and combines at most one segment, so that the caller
 * can keep the network moving in between. *moved_p tells whether anything happened.
 * CLV_OK: all steps are done; CLV_AGAIN: call again; < 0: what the table said, requests of the open
 * entries are left to the caller. */
clv_status_t clv_exec_turn(clv_exec_t *exec, bool *moved_p) CLV_MUST_CHECK;

/* Turns until the steps are done, with ops->progress after each that moved nothing. */
clv_status_t clv_exec_run(clv_exec_t *exec) CLV_MUST_CHECK;

#endif
