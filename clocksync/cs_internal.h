/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Private to the clocksync module: arithmetic on times without overflow, and the fit of a line.
 */
#ifndef CLV_CS_INTERNAL_H
#define CLV_CS_INTERNAL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "clocksync/clocksync.h"

static inline int64_t cs_add(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static inline int64_t cs_sub(int64_t a, int64_t b)
{
    int64_t difference;
    return __builtin_sub_overflow(a, b, &difference) ? (a < 0 ? INT64_MIN : INT64_MAX) : difference;
}

static inline int64_t cs_distance(int64_t a, int64_t b)
{
    return a < b ? cs_sub(b, a) : cs_sub(a, b);
}

/* Rounds to the nearest ns. NaN, which only an invalid slope can produce, becomes 0. */
static inline int64_t cs_round(double ns)
{
    if (ns >= 9.2e18) {
        return INT64_MAX;
    }
    if (ns <= -9.2e18) {
        return INT64_MIN;
    }
    return isnan(ns) ? 0 : (int64_t) llround(ns);
}

/* Largest error in elapsed_ns of a clock whose rate is wrong by ppb; rounded up, never negative. */
static inline int64_t cs_run_off(int64_t elapsed_ns, int64_t ppb)
{
    return cs_round(ceil(fabs((double) elapsed_ns) * 1e-9 * (double) ppb));
}

/* Distance of a point from the line of a model. */
static inline int64_t cs_miss(const clv_cs_model_t *model, const clv_cs_point_t *point)
{
    const int64_t global = clv_cs_model_global(model, point->local_ns);
    return cs_distance(cs_sub(point->local_ns, global), point->offset_ns);
}

/* A line through fit points. Its model has its origin at the last point. */
typedef struct clv_cs_fit {
    clv_cs_model_t model;
    double rms_ns;      /* weighted residual */
    double r_squared;   /* 1: the line explains everything; 0: nothing, or nothing to explain */
    bool is_consistent; /* the line passes within every point's bound */
} clv_cs_fit_t;

typedef struct clv_cs_fit_how {
    int64_t drift_prior_ppb;
    int64_t reference_ppb;
    bool is_plain; /* all points count the same, as in the papers */
} clv_cs_fit_how_t;

/* Weighted least squares over n >= 1 points, oldest first (HCA3 paper, Algorithm 2, line 13). A
 * slope known no better than the prior counts as 0, plus or minus the prior. reference_ppb: rate
 * error of the clock that the points were measured against. It adds to the error against the global
 * clock. */
void clv_cs_fit_line(const clv_cs_point_t *points, int n_points, const clv_cs_fit_how_t *how,
                     clv_cs_fit_t *fit_p);

/* The offset that one ping measures. CLV_PROTOCOL: the sample is invalid. */
clv_status_t clv_cs_point_of_sample(const clv_cs_sample_t *sample, int64_t drift_prior_ppb,
                                    clv_cs_point_t *point_p) CLV_MUST_CHECK;

/* Whether both points can be true of two clocks whose drift differs by at most ppb. */
bool clv_cs_points_agree(const clv_cs_point_t *a, const clv_cs_point_t *b, int64_t ppb);

#endif
