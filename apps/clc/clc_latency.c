/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Minimum delays from the gap between two lower hulls.
 */
#include "apps/clc/clc_latency.h"

#include <math.h>

/* Computes the lower hull in place; returns the number of corners. */
static int64_t lower_hull(clv_clc_delay_t *points, int64_t n_points)
{
    int64_t n = 0;
    for (int64_t i = 0; i < n_points; i++) {
        const clv_clc_delay_t p = points[i];
        if (n > 0 && points[n - 1].time_ns == p.time_ns) {
            if (points[n - 1].delay_ns <= p.delay_ns) {
                continue;
            }
            n--;
        }
        while (n >= 2) {
            const clv_clc_delay_t *a = &points[n - 2], *b = &points[n - 1];
            if ((double) (b->delay_ns - a->delay_ns) * (double) (p.time_ns - a->time_ns) <
                (double) (p.delay_ns - a->delay_ns) * (double) (b->time_ns - a->time_ns)) {
                break;
            }
            n--;
        }
        points[n++] = p;
    }
    return n;
}

/* The height of a hull at a time within its ends. *k is set to the corner before. */
static double height(const clv_clc_delay_t *hull, int64_t n, int64_t time_ns, int64_t *k)
{
    while (*k < n - 2 && hull[*k + 1].time_ns < time_ns) {
        (*k)++;
    }
    const clv_clc_delay_t *p = &hull[*k];
    if (n == 1 || time_ns <= p->time_ns) {
        return (double) p->delay_ns;
    }
    const double share = (double) (time_ns - p[0].time_ns) / (double) (p[1].time_ns - p[0].time_ns);
    return (double) p[0].delay_ns + share * (double) (p[1].delay_ns - p[0].delay_ns);
}

/* A sum of convex functions is least at a corner of one of them, or at an end of one. */
static double least_at_corners(const clv_clc_delay_t *corners, int64_t n_corners,
                               const clv_clc_delay_t *other, int64_t n_other)
{
    double least = HUGE_VAL;
    int64_t k = 0;
    for (int64_t i = 0; i < n_corners; i++) {
        const int64_t time_ns = corners[i].time_ns;
        if (time_ns >= other[0].time_ns && time_ns <= other[n_other - 1].time_ns) {
            least = fmin(least, (double) corners[i].delay_ns + height(other, n_other, time_ns, &k));
        }
    }
    return least;
}

int64_t clv_clc_least_delay(clv_clc_delay_t *there, int64_t n_there, clv_clc_delay_t *back,
                            int64_t n_back)
{
    if (n_there == 0 || n_back == 0) {
        return INT64_MAX;
    }
    n_there = lower_hull(there, n_there);
    n_back = lower_hull(back, n_back);
    const double sum = fmin(least_at_corners(there, n_there, back, n_back),
                            least_at_corners(back, n_back, there, n_there));
    return isfinite(sum) ? (int64_t) floor(sum / 2) : INT64_MAX;
}

static bool is_around(const clv_clc_delay_t *points, int64_t n, int64_t time_ns)
{
    return n >= CLV_CLC_WINDOW_LEAST && points[0].time_ns <= time_ns &&
           points[n - 1].time_ns >= time_ns;
}

bool clv_clc_corridor(clv_clc_delay_t *there, int64_t n_there, clv_clc_delay_t *back,
                      int64_t n_back, int64_t time_ns, double *offset_ns, double *half_ns)
{
    int64_t k = 0, m = 0;
    if (!is_around(there, n_there, time_ns) || !is_around(back, n_back, time_ns)) {
        return false;
    }
    n_there = lower_hull(there, n_there);
    n_back = lower_hull(back, n_back);
    const double above = height(there, n_there, time_ns, &k);
    const double below = height(back, n_back, time_ns, &m);
    *offset_ns = (above - below) / 2;
    *half_ns = (above + below) / 2;
    return true;
}

static int64_t n_before(const clv_clc_delay_t *points, int64_t n_points, int64_t end_ns)
{
    int64_t n = 0;
    while (n < n_points && points[n].time_ns < end_ns) {
        n++;
    }
    return n;
}

int64_t clv_clc_least_delay_of_pair(clv_clc_delay_t *there, int64_t n_there, clv_clc_delay_t *back,
                                    int64_t n_back)
{
    int64_t least = INT64_MAX;
    while (n_there > 0 && n_back > 0) {
        const int64_t begin_ns = there->time_ns > back->time_ns ? there->time_ns : back->time_ns;
        const int64_t n = n_before(there, n_there, begin_ns + CLV_CLC_WINDOW_NS);
        const int64_t m = n_before(back, n_back, begin_ns + CLV_CLC_WINDOW_NS);
        if (n >= CLV_CLC_WINDOW_LEAST && m >= CLV_CLC_WINDOW_LEAST) {
            const int64_t own = clv_clc_least_delay(there, n, back, m);
            least = own < least ? own : least;
        }
        there += n;
        n_there -= n;
        back += m;
        n_back -= m;
    }
    return least;
}
