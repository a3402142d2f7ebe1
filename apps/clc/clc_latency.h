/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The least delay of a message, from a trace whose clocks disagree.
 *
 * A message of host a to host b seems to take delay + theta, one of b to a delay - theta, theta
 * being what the presynchronisation left. Within a window theta is a straight line. The greatest
 * delay L for which some line theta exists with  L + theta(t) <= d  for all that a sent, and
 * L - theta(t) <= d  for all that b sent, is half the least sum of the two lower hulls where both
 * are (linear programming duality): offset and drift cancel, and no message contradicts it.
 *
 * Pure. Cost: O(samples), if they come by time.
 *
 * Units: ticks.
 * Errors: none: INT64_MAX where there is no answer.
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

/* Windows are this long, and count if each direction has so many messages in them. */
#define CLV_CLC_WINDOW_NS    INT64_C(500000000)
#define CLV_CLC_WINDOW_LEAST 8

/* One window: both lists by rising time; overwritten (they become the hulls). INT64_MAX: the two
 * directions do not overlap in time. Negative: the line did not hold, the clocks wander too fast.
 */
int64_t clv_clc_least_delay(clv_clc_delay_t *there, int64_t n_there, clv_clc_delay_t *back,
                            int64_t n_back);

/* All windows of a pair of clocks: the least that any of them gives. Lists by rising time, both
 * overwritten. INT64_MAX: there is none. */
int64_t clv_clc_least_delay_of_pair(clv_clc_delay_t *there, int64_t n_there, clv_clc_delay_t *back,
                                    int64_t n_back);

/* The corridor of one window at time_ns: how far the receiver of what went there is ahead, and half
 * the corridor's width. 0: too few messages, or none before or after that time. Lists as above. */
bool clv_clc_corridor(clv_clc_delay_t *there, int64_t n_there, clv_clc_delay_t *back,
                      int64_t n_back, int64_t time_ns, double *offset_ns, double *half_ns);

#endif
