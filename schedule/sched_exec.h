/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs one rank's steps over a table of functions: the in-order window executor.
 *
 * What: receives are posted ahead in plan order (recv_window), at most send_window sends are
 * outstanding in plan order, a segment leaves when every earlier receive of the same segment is
 * combined. There are no rounds and no barriers. Deadlock-free because both windows are in plan
 * order. The first send to a peer and then every sync_every-th is synchronous, which bounds what a
 * late receiver can find unexpected to sync_every segments per sender.
 * Not: MPI. The table hides it; the component, the tests and the benchmarks each bring their own.
 *
 * Memory: recv_window slots of one segment and, on a rank that forwards, one accumulation buffer
 * of a vector; all owned by the table's context. The executor itself allocates nothing after init.
 */
#ifndef CLV_SCHED_EXEC_H
#define CLV_SCHED_EXEC_H

#include "schedule/schedule.h"

/* The outside world of one execution. Slots are 0 .. recv_window - 1 for receives and
 * 0 .. send_window - 1 for sends; a slot is not reused before its request completed.
 * Any status < 0 ends the execution with it. */
typedef struct clv_exec_ops {
    clv_status_t (*post_recv)(void *context, int32_t slot, int32_t peer, int32_t segment);
    clv_status_t (*post_send)(void *context, int32_t slot, int32_t peer, int32_t segment,
                              int synchronous);
    /* CLV_OK: complete; CLV_AGAIN: not yet. */
    clv_status_t (*test_recv)(void *context, int32_t slot);
    clv_status_t (*test_send)(void *context, int32_t slot);
    /* Combines the received segment in the slot into this rank's copy. */
    clv_status_t (*combine)(void *context, int32_t slot, int32_t segment);
    /* Nothing moved: let the world progress (may sleep briefly). */
    clv_status_t (*progress)(void *context);
} clv_exec_ops_t;

typedef struct clv_exec_limits {
    int32_t recv_window; /* 1 .. CLV_EXEC_MAX_WINDOW */
    int32_t send_window; /* 1 .. CLV_EXEC_MAX_WINDOW */
    int32_t sync_every;  /* >= 1; 0 means only the first send to each peer */
} clv_exec_limits_t;

#define CLV_EXEC_MAX_WINDOW 64

/* Runs the steps to the end. Blocks in ops->progress. On error, outstanding requests are left to
 * the caller (it knows how to cancel or wait). scratch: one int32 per segment and one per rank of
 * the plan, owned by the caller, any content. */
clv_status_t clv_exec_run(const clv_step_t *steps, int64_t n_steps,
                          const clv_exec_limits_t *limits, const clv_exec_ops_t *ops,
                          void *context, int32_t *segment_scratch, int32_t n_segments,
                          int32_t *peer_scratch, int32_t n_ranks) CLV_MUST_CHECK;

#endif
