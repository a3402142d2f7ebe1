/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Estimates the remaining offsets between the hosts' clocks from the messages of the trace.
 *
 * No message arrives before it was sent, in either direction. In a window of time, the messages of
 * both directions leave a corridor that contains the line between two clocks (clc_latency.h). Its
 * middle is the offset, with an error of at most half its width. An error of the middle widens the
 * corridor by twice as much, so narrow corridors have more weight, and wide ones little against the
 * present stamps. The corridors of all pairs of a window are solved together for one offset per
 * host, relative to the host with most messages, and smoothed over neighbouring windows. A window
 * with too few messages gives no offset.
 *
 * Use: new, see every message, begin, take every message (in any order), solve, points of hosts.
 * Not: a first synchronisation. Stamps must be right to a quarter of CLV_CLC_REFINE_STEP_NS; else
 *   messages of one time lie in different windows.
 * Cost: about 10 ns per message; solve O(cells), 16 bytes per cell; cells only where messages are.
 *
 * Units: ticks; a positive offset means the host is ahead.
 * Errors: CLV_NO_MEMORY; more than CLV_CLC_REFINE_MOST_HOSTS: CLV_LIMIT.
 * Memory: clv_clc_refine_free frees all, points included.
 * Threads: one at a time; the result does not depend on the order of messages. Of more than 8
 *   pairs of hosts per host, those with most messages are used.
 */
#ifndef CLV_CLC_REFINE_H
#define CLV_CLC_REFINE_H

#include <stddef.h>
#include <stdint.h>

#include "apps/clc/clc_latency.h"
#include "apps/clc/clc_presync.h"
#include "util/util_status.h"

#define CLV_CLC_REFINE_STEP_NS    INT64_C(250000000) /* of windows; each uses its neighbours */
#define CLV_CLC_REFINE_MOST_HOSTS 1024

typedef struct clv_clc_refine clv_clc_refine_t;

/* All times lie between first_ns and last_ns. most_cells limits the memory, approximately. */
CLV_MUST_CHECK clv_status_t clv_clc_refine_new(uint32_t n_hosts, int64_t first_ns, int64_t last_ns,
                                               int64_t most_cells, clv_clc_refine_t **refine_p);
void clv_clc_refine_free(clv_clc_refine_t *refine);

/* Adds a message, or a dependence inside a collective. Those inside a host are ignored. */
void clv_clc_refine_see(clv_clc_refine_t *refine, int32_t from, int32_t to, int64_t sent_ns,
                        int64_t received_ns);
/* Called when all have been seen. CLV_NO_MEMORY. */
CLV_MUST_CHECK clv_status_t clv_clc_refine_begin(clv_clc_refine_t *refine);
void clv_clc_refine_take(clv_clc_refine_t *refine, int32_t from, int32_t to, int64_t sent_ns,
                         int64_t received_ns);

/* Partial results, for processes that each saw or took a part: before begin combine the maximum of
 * has and the sum of n_seen; before solve the minimum of each cell and the sum of n_taken. */
typedef struct clv_clc_refine_parts {
    int64_t *has; /* per step of time: whether it has messages */
    int64_t *n_seen;
    clv_clc_delay_t *cells;
    int64_t *n_taken;
    size_t n_steps, n_pairs, n_cells, n_hosts;
} clv_clc_refine_parts_t;
clv_clc_refine_parts_t clv_clc_refine_parts(const clv_clc_refine_t *refine);
void clv_clc_refine_lesser(clv_clc_delay_t *cell, clv_clc_delay_t other);

/* trust_ns: approximate error of the stamps; corridors much wider than this have little weight. */
void clv_clc_refine_solve(clv_clc_refine_t *refine, int64_t trust_ns);

/* The length of a window: more than CLV_CLC_REFINE_STEP_NS if cells were short. */
int64_t clv_clc_refine_step(const clv_clc_refine_t *refine);

/* How far the host is ahead of the reference, at rising times. No points for the reference, and for
 * hosts not connected to it by messages. bound_ns: the error that the corridors in between
 * allow. */
int64_t clv_clc_refine_points(const clv_clc_refine_t *refine, uint32_t host,
                              const clv_clc_point_t **points_p);

#endif
