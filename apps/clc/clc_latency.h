/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The minimum delay of a message, from a trace whose clocks disagree.
 *
 * A message from host a to host b seems to take delay + theta, one from b to a delay - theta. theta
 * is the clock error left by the presynchronisation; within a window it is a straight line. The
 * result is the greatest delay L for which a line theta exists with  L + theta(t) <= d  for all
 * messages of a and  L - theta(t) <= d  for all messages of b. By linear programming duality it is
 * half the least sum of the two lower hulls, where they overlap. Offset and drift cancel, and no
 * message contradicts L.
 *
 * Pure. Cost: O(samples), if sorted by time.
 *
 * Units: ticks.
 * Errors: none; INT64_MAX: no answer.
 * Memory: none of its own; the lists are the caller's and overwritten.
 * Threads: safe on distinct lists.
 */
#ifndef CLV_CLC_LATENCY_H
#define CLV_CLC_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

typedef struct clv_clc_delay {
    int64_t time_ns; /* of the send */
    int64_t delay_ns;
} clv_clc_delay_t;

/* Length of a window, and the messages it must have in each direction to count. */
#define CLV_CLC_WINDOW_NS    INT64_C(500000000)
#define CLV_CLC_WINDOW_LEAST 8

/* One window. Both lists by rising time; overwritten (by the hulls). INT64_MAX: the two directions
 * do not overlap in time. Negative: theta was not a line, the clocks wander too fast. */
int64_t clv_clc_least_delay(clv_clc_delay_t *there, int64_t n_there, clv_clc_delay_t *back,
                            int64_t n_back);

/* The minimum over all windows of a pair of clocks. Lists by rising time, both overwritten.
 * INT64_MAX: no window has an answer. */
int64_t clv_clc_least_delay_of_pair(clv_clc_delay_t *there, int64_t n_there, clv_clc_delay_t *back,
                                    int64_t n_back);

/* The corridor of one window at time_ns: how far the clock that received `there` is ahead, and half
 * the corridor's width. False: too few messages, or none before or after that time. Lists as
 * above. */
bool clv_clc_corridor(clv_clc_delay_t *there, int64_t n_there, clv_clc_delay_t *back,
                      int64_t n_back, int64_t time_ns, double *offset_ns, double *half_ns);

#endif
