/* SPDX-License-Identifier: BSD-3-Clause
 *
 * LEARN_CLOCK_MODEL (HCA3 paper, Algorithm 2): fit points, a line, and optionally a second
 * measurement of the intercept. The client's half; the reference's is clv_cs_pair_serve.
 */
#include "clocksync/methods/cs_pair.h"
#include "util/util_alloc.h"
#include "util/util_time.h"

bool clv_cs_is_offset_only(clv_cs_algorithm_t algorithm)
{
    static const bool table[CLV_CS_N_ALGORITHMS] = {
#define CS_ROW(name, label, offset_only, fit, exchanges, where) [CLV_CS_##name] = offset_only,
        CLV_CS_ALGORITHM_MAP(CS_ROW)
#undef CS_ROW
    };
    return table[algorithm];
}

void clv_cs_fit_of_point(const clv_cs_point_t *point, clv_cs_fit_t *fit_p)
{
    const clv_cs_fit_how_t how = {.drift_prior_ppb = CLV_CS_DRIFT_PRIOR_PPB};
    clv_cs_fit_line(point, 1, &how, fit_p);
}

/* A point lies before a step if it contradicts the sharpest point after it. Its neighbour would not
 * do: a ping that straddles the step proves so little that it agrees with both sides. */
static int first_after_step(const clv_cs_point_t *points, int n_points)
{
    int first = n_points - 1, sharpest = first;
    while (first > 0 &&
           clv_cs_points_agree(&points[first - 1], &points[sharpest], CLV_CS_DRIFT_PRIOR_PPB)) {
        first--;
        if (points[first].error_ns < points[sharpest].error_ns) {
            sharpest = first;
        }
    }
    return first;
}

void clv_cs_fit_of_points(const cs_pair_t *pair, const clv_cs_point_t *points, int n_points,
                          clv_cs_fit_t *fit_p)
{
    const int first = first_after_step(points, n_points);
    const clv_cs_fit_how_t how = {CLV_CS_DRIFT_PRIOR_PPB, pair->reference_ppb,
                                  pair->method->plain_fit};
    clv_cs_fit_line(points + first, n_points - first, &how, fit_p);
}

void clv_cs_fit_set_intercept(clv_cs_fit_t *fit, const clv_cs_point_t *point)
{
    fit->model.origin_ns = point->local_ns;
    fit->model.offset_ns = point->offset_ns;
    fit->model.error_ns = point->error_ns;
}

static void rest(const cs_pair_t *pair)
{
    const clv_cs_group_t *group = pair->group;
    const int64_t ns = pair->method->pause_us * CLV_NS_PER_US;
    if (ns > 0 && group->sleep != NULL) {
        group->sleep(group->link, ns);
    } else if (ns > 0) {
        const struct timespec pause = {ns / CLV_NS_PER_S, ns % CLV_NS_PER_S};
        (void) nanosleep(&pause, NULL); /* a signal may shorten it, without harm */
    }
}

static clv_status_t learn_line(cs_pair_t *pair, clv_cs_point_t *points, clv_cs_fit_t *fit_p)
{
    clv_cs_fit_t fit;
    clv_status_t status = CLV_OK;
    const int32_t n_points = pair->method->n_fit_points;
    for (int32_t i = 0; status == CLV_OK && i < n_points; i++) {
        if (i > 0) {
            rest(pair);
        }
        status = clv_cs_pair_offset(pair, &points[i]);
    }
    if (status != CLV_OK) {
        return status;
    }
    clv_cs_fit_of_points(pair, points, n_points, &fit);
    if (pair->method->recompute_intercept) {
        status = clv_cs_pair_offset(pair, &points[0]);
        if (status != CLV_OK) {
            return status;
        }
        clv_cs_fit_set_intercept(&fit, &points[0]);
    }
    *fit_p = fit;
    return CLV_OK;
}

clv_status_t clv_cs_pair_learn(cs_pair_t *pair, clv_cs_fit_t *fit_p)
{
    clv_cs_point_t point;
    clv_status_t status;
    if (clv_cs_is_offset_only(pair->method->algorithm)) {
        status = clv_cs_pair_offset(pair, &point);
        if (status == CLV_OK) {
            clv_cs_fit_of_point(&point, fit_p);
        }
        return clv_cs_pair_done(pair, status);
    }
    clv_cs_point_t *points = clv_alloc((size_t) pair->method->n_fit_points, sizeof *points);
    status = points != NULL ? learn_line(pair, points, fit_p) : CLV_NO_MEMORY;
    clv_free(points);
    return clv_cs_pair_done(pair, status);
}
