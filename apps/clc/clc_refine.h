/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is left between the clocks of hosts, from the messages of the trace themselves.
 *
 * A message cannot arrive before it was sent, nor the answer: in a window of time the messages of
 * both directions leave a corridor in which the line between two clocks must lie (clc_latency.h).
 * Its middle is the offset, wrong by no more than half its width; and since what makes a middle
 * wrong makes a corridor wider by twice as much, narrow ones count more, and wide ones little
 * against the stamps as they are. Corridors of all pairs of a window are solved together for one
 * offset per host against the host that has most messages, and smoothed over neighbouring windows.
 * Where a window has too few messages nothing is said.
 *
 * Use: new, see every message, begin, take every message (in any order), solve, points of hosts.
 * Not: a first synchronisation. Stamps must be right to a quarter of CLV_CLC_REFINE_STEP_NS, or
 *   messages of one time lie in different windows.
 * Cost: a message some 10 ns; solve O(cells), 16 bytes a cell; cells only where messages are.
 *
 * Units: ticks; a positive offset means the host is ahead.
 * Errors: CLV_NO_MEMORY; more than CLV_CLC_REFINE_MOST_HOSTS: CLV_LIMIT.
 * Memory: all is freed by clv_clc_refine_free; points stay its own.
 * Threads: one at a time; the result depends on what was taken, not on its order. Of more than 8
 *   pairs of hosts per host, those with most messages are looked at.
 */
#ifndef CLV_CLC_REFINE_H
#define CLV_CLC_REFINE_H

#include <stddef.h>
#include <stdint.h>

#include "apps/clc/clc_latency.h"
#include "apps/clc/clc_presync.h"
#include "util/util_status.h"

#define CLV_CLC_REFINE_STEP_NS    INT64_C(250000000) /* of windows; each looks at its neighbours */
#define CLV_CLC_REFINE_MOST_HOSTS 1024

typedef struct clv_clc_refine clv_clc_refine_t;

/* first_ns, last_ns: between them lie all times. most_cells: about, for the memory. */
CLV_MUST_CHECK clv_status_t clv_clc_refine_new(uint32_t n_hosts, int64_t first_ns, int64_t last_ns,
                                               int64_t most_cells, clv_clc_refine_t **refine_p);
void clv_clc_refine_free(clv_clc_refine_t *refine);

/* A message, or what waited for another in a collective. Those inside a host say nothing. */
void clv_clc_refine_see(clv_clc_refine_t *refine, int32_t from, int32_t to, int64_t sent_ns,
                        int64_t received_ns);
/* All have been seen. CLV_NO_MEMORY. */
CLV_MUST_CHECK clv_status_t clv_clc_refine_begin(clv_clc_refine_t *refine);
void clv_clc_refine_take(clv_clc_refine_t *refine, int32_t from, int32_t to, int64_t sent_ns,
                         int64_t received_ns);

/* What messages left in it, for processes that saw or took a part each: before begin the greatest
 * of has and the sum of n_seen, before solve the lesser of each cell and the sum of n_taken. */
typedef struct clv_clc_refine_parts {
    int64_t *has; /* of each step of time: whether there are any */
    int64_t *n_seen;
    clv_clc_delay_t *cells;
    int64_t *n_taken;
    size_t n_steps, n_pairs, n_cells, n_hosts;
} clv_clc_refine_parts_t;
clv_clc_refine_parts_t clv_clc_refine_parts(const clv_clc_refine_t *refine);
void clv_clc_refine_lesser(clv_clc_delay_t *cell, clv_clc_delay_t other);

/* trust_ns: how far stamps are off, about: corridors much wider than that say little. */
void clv_clc_refine_solve(clv_clc_refine_t *refine, int64_t trust_ns);

/* The length of a window, which is more than CLV_CLC_REFINE_STEP_NS where cells were too few. */
int64_t clv_clc_refine_step(const clv_clc_refine_t *refine);

/* How far the host is ahead of the reference, at rising times; none for the reference and for
 * hosts whose messages do not reach it. bound_ns: what the corridors on the way there allow. */
int64_t clv_clc_refine_points(const clv_clc_refine_t *refine, uint32_t host,
                              const clv_clc_point_t **points_p);

#endif
