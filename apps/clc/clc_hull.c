/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lower hulls: the greatest convex function below points, by the monotone chain. O(points), since
 * only points of equal stamp are out of order.
 */
#include "apps/clc/clc_internal.h"

/* By rising x; at equal x the lower point first. */
static void sort(clv_clc_hull_t *hull)
{
    for (int64_t i = 1; i < hull->n; i++) {
        const double x = hull->x[i], y = hull->y[i];
        int64_t k = i;
        for (; k > 0 && (hull->x[k - 1] > x || (hull->x[k - 1] >= x && hull->y[k - 1] > y)); k--) {
            hull->x[k] = hull->x[k - 1];
            hull->y[k] = hull->y[k - 1];
        }
        hull->x[k] = x;
        hull->y[k] = y;
    }
}

/* Whether corner n - 1 is on or above the line from corner n - 2 to the new point. */
static bool is_hidden(const clv_clc_hull_t *hull, int64_t n, double x, double y)
{
    const double *hx = &hull->x[n - 2], *hy = &hull->y[n - 2];
    return (hy[1] - hy[0]) * (x - hx[0]) >= (y - hy[0]) * (hx[1] - hx[0]);
}

void clv_clc_hull_make(clv_clc_hull_t *hull)
{
    int64_t n = 1;
    sort(hull);
    for (int64_t i = 1; i < hull->n; i++) {
        const double x = hull->x[i], y = hull->y[i];
        if (x <= hull->x[n - 1]) {
            continue; /* the lower point is already in */
        }
        while (n >= 2 && is_hidden(hull, n, x, y)) {
            n--;
        }
        hull->x[n] = x;
        hull->y[n] = y;
        n++;
    }
    hull->n = n;
}

double clv_clc_hull_at(const clv_clc_hull_t *hull, int64_t *right, double x)
{
    int64_t k = *right;
    while (k > 0 && hull->x[k - 1] >= x) {
        k--;
    }
    while (k < hull->n - 1 && hull->x[k] < x) {
        k++;
    }
    *right = k;
    if (k == 0 || hull->x[k] <= x) {
        return hull->y[k];
    }
    const double share = (hull->x[k] - x) / (hull->x[k] - hull->x[k - 1]);
    return hull->y[k] + (hull->y[k - 1] - hull->y[k]) * share;
}

double clv_clc_hull_steepest(const clv_clc_hull_t *hull)
{
    return hull->n < 2 ? 0 : (hull->y[0] - hull->y[1]) / (hull->x[1] - hull->x[0]);
}
