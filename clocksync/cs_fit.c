/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From pings to points, and from points to a line with a proved bound.
 *
 * A ping proves an interval: the local clock read at least t1 when the reference read t2, and at
 * most t4 when it read t3, so t1 - t2 <= offset <= t4 - t3. Nothing is assumed about symmetry; the
 * middle is only the best guess. The bound of a line at its origin comes from these intervals and
 * is hard; the bound of its slope is statistical (the residuals), because asymmetry is the same
 * for all points and cancels.
 *
 * Not here: which rank measures which. Pure functions; a fit of n points costs about 40 n ns.
 */
#include "clocksync/cs_internal.h"

#include "util/util_time.h"

#define CS_MAX_ROUND_TRIP_NS (60 * CLV_NS_PER_S)

static bool difference(int64_t a, int64_t b, int64_t *difference_p)
{
    return !__builtin_sub_overflow(a, b, difference_p);
}

clv_status_t clv_cs_point_of_sample(const clv_cs_sample_t *sample, int64_t drift_prior_ppb,
                                    clv_cs_point_t *point_p)
{
    int64_t lowest, highest, elapsed, held;
    if (!difference(sample->client_send_ns, sample->reference_recv_ns, &lowest) ||
        !difference(sample->client_recv_ns, sample->reference_send_ns, &highest) ||
        !difference(sample->client_recv_ns, sample->client_send_ns, &elapsed) ||
        !difference(sample->reference_send_ns, sample->reference_recv_ns, &held)) {
        return CLV_PROTOCOL;
    }
    if (elapsed < 0 || elapsed > CS_MAX_ROUND_TRIP_NS || held < 0 ||
        sample->reference_error_ns < 0) {
        return CLV_PROTOCOL;
    }
    /* Clocks drift while the reference holds the ping. Only then can the trip look negative. */
    const int64_t drift = cs_run_off(elapsed, drift_prior_ppb);
    const int64_t round_trip = cs_sub(highest, lowest);
    if (cs_add(round_trip, drift) < 0) {
        return CLV_PROTOCOL;
    }
    const int64_t half = (round_trip > 0 ? round_trip : 0) / 2 + 1;
    point_p->local_ns = sample->client_send_ns + elapsed / 2;
    point_p->offset_ns = lowest + round_trip / 2;
    point_p->error_ns = cs_add(cs_add(half, drift), sample->reference_error_ns);
    return CLV_OK;
}

bool clv_cs_points_agree(const clv_cs_point_t *a, const clv_cs_point_t *b, int64_t ppb)
{
    const int64_t drift = cs_run_off(cs_distance(a->local_ns, b->local_ns), ppb);
    const int64_t allowed = cs_add(cs_add(a->error_ns, b->error_ns), drift);
    return cs_distance(a->offset_ns, b->offset_ns) <= allowed;
}

/* Two-sided 99.9 % quantile of Student's t, within 4 % from 3 degrees of freedom on. */
static double student(int freedom)
{
    static const double quantile[] = {12.9, 8.61, 6.87, 5.96, 5.41, 5.04, 4.78};
    const int n = (int) (sizeof quantile / sizeof quantile[0]);
    return freedom < n + 3 ? quantile[freedom - 3] : 3.3 + 13.0 / freedom;
}

/* Running sums of a weighted regression; x and y are differences to the last point. */
typedef struct sums {
    double w, ww, x, y, xx, xy, yy;
} sums_t;

/* Weight of a point. No trip is faster than the least round trip; anything above it is queueing,
 * and the offset is wrong by up to half of that. On a quiet path all points count. On a busy one
 * the fastest fifth decides: the others are wrong by 10 to 50 times as much and, worse, wrong alike
 * for as long as a queue lasts. */
typedef struct weighing {
    double least_ns;
    double scale_ns;
} weighing_t;

#define CS_LEAST_MEAN_WEIGHT 0.2
#define CS_LEAST_SCALE_NS    100.0

static double weight_of(const weighing_t *weighing, const clv_cs_point_t *point)
{
    const double excess = ((double) point->error_ns - weighing->least_ns) / weighing->scale_ns;
    return 1.0 / (1.0 + excess * excess);
}

static double mean_weight(const weighing_t *weighing, const clv_cs_point_t *points, int n_points)
{
    double total = 0.0;
    for (int i = 0; i < n_points; i++) {
        total += weight_of(weighing, &points[i]);
    }
    return total / n_points;
}

static weighing_t weighing_of(const clv_cs_point_t *points, int n_points)
{
    weighing_t weighing = {(double) points[0].error_ns, 0.0};
    double total = 0.0;
    for (int i = 0; i < n_points; i++) {
        total += (double) points[i].error_ns;
        weighing.least_ns = fmin(weighing.least_ns, (double) points[i].error_ns);
    }
    weighing.scale_ns = fmax(total / n_points - weighing.least_ns, CS_LEAST_SCALE_NS);
    while (weighing.scale_ns > CS_LEAST_SCALE_NS &&
           mean_weight(&weighing, points, n_points) > CS_LEAST_MEAN_WEIGHT) {
        weighing.scale_ns *= 0.5;
    }
    return weighing;
}

/* Centred in two passes, so that the sums of squares lose no digits. */
static sums_t centred_sums(const clv_cs_point_t *points, int n_points, const weighing_t *weighing)
{
    const clv_cs_point_t *last = &points[n_points - 1];
    sums_t s = {0};
    for (int i = 0; i < n_points; i++) {
        const double w = weight_of(weighing, &points[i]);
        s.w += w;
        s.ww += w * w;
        s.x += w * (double) cs_sub(points[i].local_ns, last->local_ns);
        s.y += w * (double) cs_sub(points[i].offset_ns, last->offset_ns);
    }
    s.x /= s.w;
    s.y /= s.w;
    for (int i = 0; i < n_points; i++) {
        const double w = weight_of(weighing, &points[i]);
        const double x = (double) cs_sub(points[i].local_ns, last->local_ns) - s.x;
        const double y = (double) cs_sub(points[i].offset_ns, last->offset_ns) - s.y;
        s.xx += w * x * x;
        s.xy += w * x * y;
        s.yy += w * y * y;
    }
    return s;
}

/* Residuals need degrees of freedom: three points that happen to lie on a line prove nothing. */
#define CS_MIN_FREEDOM 3
/* Neighbours often err alike, because a busy switch or processor outlasts a burst. So sums over
 * batches of points are examined, too. Single points alone would pass such noise off as n times as
 * much information. */
#define CS_MAX_BATCHES 10

/* How hard the residual of one point pulls at the slope. The line bends towards a point that stands
 * alone, so its residual is too small by its share h (HC3). */
static double pull_of(const clv_cs_point_t *point, const clv_cs_point_t *last,
                      const weighing_t *weighing, const sums_t *s, double slope)
{
    const double w = weight_of(weighing, point);
    const double x = (double) cs_sub(point->local_ns, last->local_ns) - s->x;
    const double y = (double) cs_sub(point->offset_ns, last->offset_ns) - s->y;
    const double h = fmin(w / s->w + w * x * x / s->xx, 0.9);
    return w * x * (y - slope * x) / (1.0 - h);
}

/* squares: of the pulls of n points or batches. This is the sandwich estimate, which needs no model
 * of the noise. */
static double slope_error_of(double squares, const sums_t *s, int n)
{
    const int freedom = n - 2;
    if (freedom < CS_MIN_FREEDOM) {
        return INFINITY;
    }
    return student(freedom) * sqrt(squares * n / freedom) / s->xx;
}

static double slope_error_by_residuals(const clv_cs_point_t *points, int n_points,
                                       const weighing_t *weighing, const sums_t *s, double slope)
{
    const int n_batches = n_points / 2 < CS_MAX_BATCHES ? n_points / 2 : CS_MAX_BATCHES;
    const int n_that_count = (int) (s->w * s->w / s->ww);
    double squares = 0.0, batch_squares = 0.0;
    if (s->xx <= 0.0) {
        return INFINITY;
    }
    for (int k = 0; k < n_batches; k++) {
        const int end = (int) ((int64_t) n_points * (k + 1) / n_batches);
        double batch = 0.0;
        for (int i = (int) ((int64_t) n_points * k / n_batches); i < end; i++) {
            const double pull = pull_of(&points[i], &points[n_points - 1], weighing, s, slope);
            squares += pull * pull;
            batch += pull;
        }
        batch_squares += batch * batch;
    }
    return fmax(slope_error_of(squares, s, n_that_count),
                slope_error_of(batch_squares, s, n_batches));
}

/* Noise may last as long as the whole fit, for instance from a neighbour that computes. Residuals
 * are then small although the line is wrong. But whatever makes an offset wrong makes the round
 * trip longer by twice as much. So a point is off by at most its excess over the least trip, apart
 * from an error that all points share. Takes the best point of each batch, and adds the scale of
 * the weights in case no trip was the least one possible. */
static double slope_error_by_trips(const clv_cs_point_t *points, int n_points,
                                   const weighing_t *weighing, double slope)
{
    const int n_batches = n_points / 2 < CS_MAX_BATCHES ? n_points / 2 : CS_MAX_BATCHES;
    const clv_cs_point_t *best[CS_MAX_BATCHES] = {NULL};
    double error = INFINITY;
    for (int i = 0; i < n_points && n_batches > 0; i++) {
        const clv_cs_point_t **its = &best[(int64_t) i * n_batches / n_points];
        if (*its == NULL || points[i].error_ns < (*its)->error_ns) {
            *its = &points[i];
        }
    }
    for (int i = 0; i < n_batches; i++) {
        for (int k = i + 1; k < n_batches; k++) {
            const double run = (double) cs_sub(best[k]->local_ns, best[i]->local_ns);
            const double rise = (double) cs_sub(best[k]->offset_ns, best[i]->offset_ns);
            const double above = (double) best[k]->error_ns + (double) best[i]->error_ns -
                                 2.0 * weighing->least_ns + weighing->scale_ns;
            if (run > 0.0) {
                error = fmin(error, fabs(rise / run - slope) + above / run);
            }
        }
    }
    return error;
}

/* Two points far apart with small bounds leave little room for the slope between them. This bound
 * is hard, and the better judge while points are few. With many points the residuals know more, and
 * this costs n^2 (3 us for a full tracker). */
#define CS_FEW_POINTS CLV_CS_TRACKER_POINTS

static double slope_error_by_bounds(const clv_cs_point_t *points, int n_points, double slope)
{
    double error = INFINITY;
    for (int i = 0; n_points <= CS_FEW_POINTS && i < n_points; i++) {
        for (int k = i + 1; k < n_points; k++) {
            const double run = (double) cs_sub(points[k].local_ns, points[i].local_ns);
            const double rise = (double) cs_sub(points[k].offset_ns, points[i].offset_ns);
            const double room = (double) cs_add(points[k].error_ns, points[i].error_ns);
            const double bound = (fabs(rise - slope * run) + room) / run;
            error = run > 0.0 && bound < error ? bound : error;
        }
    }
    return error;
}

/* At its origin the line is wrong by at most the sum of its distance from a point, that point's
 * bound, and what the slope may add in between. This holds for every point; the least sum is
 * taken. */
static int64_t bound_at_origin(const clv_cs_point_t *points, int n_points,
                               const clv_cs_model_t *model)
{
    int64_t least = INT64_MAX;
    for (int i = n_points - 1; i >= 0; i--) {
        const int64_t age = cs_distance(model->origin_ns, points[i].local_ns);
        const int64_t bound = cs_add(cs_add(cs_miss(model, &points[i]), points[i].error_ns),
                                     cs_run_off(age, model->error_ppb));
        least = bound < least ? bound : least;
    }
    return least;
}

static bool passes_every_bound(const clv_cs_point_t *points, int n_points,
                               const clv_cs_model_t *model)
{
    for (int i = 0; i < n_points; i++) {
        if (cs_miss(model, &points[i]) > points[i].error_ns) {
            return false;
        }
    }
    return true;
}

/* There is no slope yet. On a drifting clock, a mean of old offsets would lag by more than one
 * point is wrong. So the point with the smallest bound at the origin is carried there. */
static void carry_best_point(const clv_cs_point_t *points, int n_points, int64_t drift_prior_ppb,
                             clv_cs_model_t *model)
{
    int64_t least = INT64_MAX;
    model->slope = 0.0;
    model->error_ppb = drift_prior_ppb;
    for (int i = n_points - 1; i >= 0; i--) {
        const int64_t age = cs_distance(model->origin_ns, points[i].local_ns);
        const int64_t bound = cs_add(points[i].error_ns, cs_run_off(age, drift_prior_ppb));
        if (bound < least) {
            least = bound;
            model->offset_ns = points[i].offset_ns;
        }
    }
    model->error_ns = least;
}

/* The bound of the slope is the smaller of two. One is statistical: the larger of the residuals'
 * bound and the trips' bound (residuals may hide lasting noise), plus the error of the reference's
 * rate. The other follows from the points' bounds, which include the reference's error already. In
 * any case crystals that obey the prior are no further apart than the prior plus the slope. */
static double bound_of_slope(const clv_cs_point_t *points, int n_points, double by_residuals,
                             const weighing_t *weighing, double slope, double reference,
                             double prior)
{
    const double found =
        fmax(by_residuals, slope_error_by_trips(points, n_points, weighing, slope)) + reference;
    const double bound = fmin(found, slope_error_by_bounds(points, n_points, slope));
    return fmin(bound, prior + fabs(slope)) + CLV_CS_WANDER_PPB * 1e-9;
}

void clv_cs_fit_line(const clv_cs_point_t *points, int n_points, const clv_cs_fit_how_t *how,
                     clv_cs_fit_t *fit_p)
{
    const clv_cs_point_t *last = &points[n_points - 1];
    const weighing_t best = weighing_of(points, n_points);
    const weighing_t weighing = {best.least_ns, how->is_plain ? INFINITY : best.scale_ns};
    const sums_t s = centred_sums(points, n_points, &weighing);
    const double slope = s.xx > 0.0 ? s.xy / s.xx : 0.0;
    const double unexplained = fmax(s.yy - slope * s.xy, 0.0);
    const double prior = (double) how->drift_prior_ppb * 1e-9;
    const double by_residuals =
        slope_error_by_residuals(points, n_points, &weighing, &s, slope) + CLV_CS_WANDER_PPB * 1e-9;
    const double error = bound_of_slope(points, n_points, by_residuals, &best, slope,
                                        (double) how->reference_ppb * 1e-9, prior);
    clv_cs_model_t *model = &fit_p->model;
    fit_p->rms_ns = sqrt(unexplained / s.w);
    fit_p->r_squared = s.yy > 0.0 ? 1.0 - fmin(unexplained / s.yy, 1.0) : 0.0;
    model->origin_ns = last->local_ns;
    model->offset_ns = cs_add(last->offset_ns, cs_round(s.y - slope * s.x));
    model->slope = slope;
    model->error_ppb = cs_round(ceil(fmin(error, 1.0) * 1e9));
    model->error_ns = bound_at_origin(points, n_points, model);
    fit_p->is_consistent = passes_every_bound(points, n_points, model);
    if (by_residuals >= prior && error >= prior) {
        carry_best_point(points, n_points, how->drift_prior_ppb, model);
    }
}
