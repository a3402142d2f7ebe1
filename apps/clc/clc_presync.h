/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Converts a host's clock to a common time: piecewise lines through measured offsets.
 *
 * Sign as everywhere in clv: a positive offset means the local clock is ahead, global = local -
 * offset. Units: ticks of the trace. One map per host: with different offsets, ranks of one host
 * would contradict their own messages. Read-only once made, so thread-safe.
 */
#ifndef CLV_CLC_PRESYNC_H
#define CLV_CLC_PRESYNC_H

#include <stdint.h>

typedef struct clv_clc_point {
    int64_t local_ns, offset_ns;
    int64_t bound_ns; /* half-width; 0: unknown */
} clv_clc_point_t;

/* Points by rising local time. None: global = local. One: a constant offset. */
typedef struct clv_clc_map {
    const clv_clc_point_t *points;
    int64_t n_points;
} clv_clc_map_t;

/* Sorts points by local time and keeps only the last of those at equal times; returns how many are
 * left. */
int64_t clv_clc_points_sort(clv_clc_point_t *points, int64_t n_points);

/* The offset at local_ns; outside the points, the first or last line is extended. *hint: any number
 * in the first call, then the value left by the previous call, which makes rising times O(1). */
double clv_clc_map_offset(const clv_clc_map_t *map, int64_t local_ns, int64_t *hint);
/* global = local - offset, rounded. Does not decrease with rising local time, as long as no offset
 * rises by more than local time does between two points. */
int64_t clv_clc_map_global(const clv_clc_map_t *map, int64_t local_ns, int64_t *hint);

/* Error bound of the result: the larger bound of the two neighbours; outside the points also the
 * error that both bounds allow in the slope, and CLV_CLC_WANDER_PPB of the distance. -1 without
 * points or bounds. */
#define CLV_CLC_WANDER_PPB 250
int64_t clv_clc_map_bound(const clv_clc_map_t *map, int64_t local_ns);

#endif
