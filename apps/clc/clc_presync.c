/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Piecewise lines through measured offsets.
 */
#include "apps/clc/clc_presync.h"

#include <math.h>
#include <stdlib.h>

static int by_local(const void *left, const void *right)
{
    const clv_clc_point_t *a = left, *b = right;
    return (a->local_ns > b->local_ns) - (a->local_ns < b->local_ns);
}

int64_t clv_clc_points_sort(clv_clc_point_t *points, int64_t n_points)
{
    int64_t n = 0;
    if (n_points > 1) {
        qsort(points, (size_t) n_points, sizeof *points, by_local);
    }
    for (int64_t i = 0; i < n_points; i++) {
        n -= n > 0 && points[n - 1].local_ns == points[i].local_ns;
        points[n++] = points[i];
    }
    return n;
}

/* The point at which the line for local_ns begins. */
static int64_t line_of(const clv_clc_map_t *map, int64_t local_ns, int64_t hint)
{
    int64_t k = hint < 0 ? 0 : hint;
    k = k > map->n_points - 2 ? map->n_points - 2 : k;
    while (k > 0 && local_ns < map->points[k].local_ns) {
        k--;
    }
    while (k < map->n_points - 2 && local_ns >= map->points[k + 1].local_ns) {
        k++;
    }
    return k;
}

double clv_clc_map_offset(const clv_clc_map_t *map, int64_t local_ns, int64_t *hint)
{
    if (map->n_points < 2) {
        return map->n_points == 0 ? 0 : (double) map->points[0].offset_ns;
    }
    *hint = line_of(map, local_ns, *hint);
    const clv_clc_point_t *p = &map->points[*hint];
    const double slope =
        (double) (p[1].offset_ns - p[0].offset_ns) / (double) (p[1].local_ns - p[0].local_ns);
    return (double) p[0].offset_ns + slope * (double) (local_ns - p[0].local_ns);
}

/* Subtracts the point's whole offset as an integer: a double cannot hold hours in ns. */
int64_t clv_clc_map_global(const clv_clc_map_t *map, int64_t local_ns, int64_t *hint)
{
    if (map->n_points < 2) {
        return map->n_points == 0 ? local_ns : local_ns - map->points[0].offset_ns;
    }
    *hint = line_of(map, local_ns, *hint);
    const clv_clc_point_t *p = &map->points[*hint];
    const double slope =
        (double) (p[1].offset_ns - p[0].offset_ns) / (double) (p[1].local_ns - p[0].local_ns);
    return local_ns - p[0].offset_ns - llround(slope * (double) (local_ns - p[0].local_ns));
}

int64_t clv_clc_map_bound(const clv_clc_map_t *map, int64_t local_ns)
{
    const int64_t n = map->n_points;
    if (n == 0 || map->points[0].bound_ns <= 0) {
        return -1;
    }
    const clv_clc_point_t *p = &map->points[n < 2 ? 0 : line_of(map, local_ns, 0)];
    const clv_clc_point_t *q = n < 2 ? p : p + 1;
    const double bound = (double) (p->bound_ns > q->bound_ns ? p->bound_ns : q->bound_ns);
    const int64_t before = p->local_ns - local_ns, after = local_ns - q->local_ns;
    const double way = (double) (before > 0 ? before : after > 0 ? after : 0);
    const double span = (double) (q->local_ns - p->local_ns);
    const double tilt = span > 0 ? (double) (p->bound_ns + q->bound_ns) / span : 0;
    return llround(bound + way * (tilt + CLV_CLC_WANDER_PPB * 1e-9));
}
