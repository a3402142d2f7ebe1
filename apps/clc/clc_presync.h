/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From what a host's clock showed to a common time: piecewise lines through measured offsets.
 *
 * Sign as everywhere in clv: a positive offset means the local clock is ahead, global = local -
 * offset. Units: ticks of the trace. One map per host: ranks of one host with offsets of their own
 * contradict their own messages. Read-only after it is made, so thread-safe.
 */
#ifndef CLV_CLC_PRESYNC_H
#define CLV_CLC_PRESYNC_H

#include <stdint.h>

typedef struct clv_clc_point {
    int64_t local_ns, offset_ns;
    int64_t bound_ns; /* half-width; 0: not known */
} clv_clc_point_t;

/* Points by rising local time. None: global = local. One: a constant offset. */
typedef struct clv_clc_map {
    const clv_clc_point_t *points;
    int64_t n_points;
} clv_clc_map_t;

/* Sorts points by local time and drops all but the last at equal times; returns how many are left.
 */
int64_t clv_clc_points_sort(clv_clc_point_t *points, int64_t n_points);

/* The offset at local_ns; outside the points the first or last line goes on. *hint is any number at
 * first, then what the call before left: rising times are found at once. */
double clv_clc_map_offset(const clv_clc_map_t *map, int64_t local_ns, int64_t *hint);
/* global = local - offset, rounded: never falls where local does not, as long as no offset rises by
 * more than local time does between two points. */
int64_t clv_clc_map_global(const clv_clc_map_t *map, int64_t local_ns, int64_t *hint);

/* How far the result may be off: the larger bound of the two neighbours; outside, also what both
 * bounds make of the slope, and CLV_CLC_WANDER_PPB for the way. -1 without points or bounds. */
#define CLV_CLC_WANDER_PPB 250
int64_t clv_clc_map_bound(const clv_clc_map_t *map, int64_t local_ns);

#endif
