/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tracker: HCA3's pair of processes (Algorithm 2), fed one ping at a time.
 *
 * The background thread runs it. It is not a loop and not a protocol: the owner of the connection
 * sends pings when it likes and feeds the answers to the tracker. Fast pings at the start make a
 * clock within milliseconds (drift unknown, bounded by a prior); slow ones keep it accurate, since
 * the points kept always cover the last half minute.
 *
 * One thread, no heap, no system call except in clv_cs_suspended_ns.
 */
#include <string.h>
#include <time.h>

#include "clocksync/cs_internal.h"
#include "util/util_time.h"

/* A clock's offset is linear for 10 to 20 s (HCA3 paper, section III-C2). With sparse pings a few
 * older points stay. */
#define TRACKER_WINDOW_NS     (30 * CLV_NS_PER_S)
#define TRACKER_KEEP          8
#define TRACKER_FIRST_BURST   8
#define TRACKER_MAX_PRIOR_PPB 1000000

void clv_cs_tracker_init(clv_cs_tracker_t *tracker, int32_t burst_length)
{
    memset(tracker, 0, sizeof *tracker);
    tracker->burst_length = burst_length > 0 ? burst_length : 1;
    tracker->drift_prior_ppb = CLV_CS_DRIFT_PRIOR_PPB;
}

void clv_cs_tracker_restart(clv_cs_tracker_t *tracker)
{
    tracker->n_points = 0;
    tracker->burst_count = 0;
    tracker->n_restarts++;
    if (tracker->drift_prior_ppb < TRACKER_MAX_PRIOR_PPB) {
        tracker->drift_prior_ppb *= 2;
    }
}

void clv_cs_tracker_doubt(clv_cs_tracker_t *tracker)
{
    tracker->is_doubted = 1;
}

/* The part of the bound that grows with time is statistical. It counts twice here: mistaking bad
 * luck for a step costs the clock for a burst, and real steps are seldom that small. */
static bool agrees_with_model(const clv_cs_tracker_t *tracker, const clv_cs_point_t *point)
{
    const clv_cs_model_t *model = &tracker->model;
    const int64_t age = cs_distance(point->local_ns, model->origin_ns);
    const int64_t bound =
        cs_add(clv_cs_model_error(model, point->local_ns), cs_run_off(age, model->error_ppb));
    return cs_miss(model, point) <= cs_add(bound, point->error_ns);
}

/* A clock that was set back needs no rule of its own. Bounds grow with the distance in time, but
 * only by a ten thousandth of it. */
static bool is_step(const clv_cs_tracker_t *tracker, const clv_cs_point_t *point)
{
    if (tracker->n_points > 0 && !agrees_with_model(tracker, point)) {
        return true;
    }
    return tracker->burst_count > 0 &&
           !clv_cs_points_agree(&tracker->best, point, tracker->drift_prior_ppb);
}

/* A full table drops the worse of the two neighbours that lie closest together. So the points stay
 * spread over the window however fast the pings come. */
static int crowded_point(const clv_cs_tracker_t *tracker)
{
    const clv_cs_point_t *point = tracker->point;
    int closest = 1;
    for (int i = 1; i < tracker->n_points; i++) {
        if (cs_distance(point[i].local_ns, point[i - 1].local_ns) <
            cs_distance(point[closest].local_ns, point[closest - 1].local_ns)) {
            closest = i;
        }
    }
    return point[closest].error_ns > point[closest - 1].error_ns ? closest : closest - 1;
}

static void drop_points(clv_cs_tracker_t *tracker, int first, int n)
{
    clv_cs_point_t *to = &tracker->point[first];
    memmove(to, to + n, (size_t) (tracker->n_points - first - n) * sizeof *to);
    tracker->n_points -= n;
}

static void add_point(clv_cs_tracker_t *tracker, const clv_cs_point_t *point)
{
    while (tracker->n_points >= TRACKER_KEEP &&
           cs_distance(point->local_ns, tracker->point[0].local_ns) > TRACKER_WINDOW_NS) {
        drop_points(tracker, 0, 1);
    }
    if (tracker->n_points == CLV_CS_TRACKER_POINTS) {
        drop_points(tracker, crowded_point(tracker), 1);
    }
    tracker->point[tracker->n_points++] = *point;
}

/* A line outside a point's hard bound is no line: the drift changed within the window. The older
 * half of the points is then dropped, as chrony does on a run of residuals of one sign. */
static void refit(clv_cs_tracker_t *tracker)
{
    const clv_cs_fit_how_t how = {.drift_prior_ppb = tracker->drift_prior_ppb};
    clv_cs_fit_t fit;
    for (;;) {
        clv_cs_fit_line(tracker->point, tracker->n_points, &how, &fit);
        if (fit.is_consistent || tracker->n_points < 2) {
            break;
        }
        drop_points(tracker, 0, (tracker->n_points + 1) / 2);
    }
    tracker->model = fit.model;
}

static bool burst_is_complete(const clv_cs_tracker_t *tracker)
{
    const bool is_first = tracker->n_points == 0 && tracker->burst_length > TRACKER_FIRST_BURST;
    return tracker->burst_count >= (is_first ? TRACKER_FIRST_BURST : tracker->burst_length);
}

clv_status_t clv_cs_tracker_feed(clv_cs_tracker_t *tracker, const clv_cs_sample_t *sample)
{
    clv_cs_point_t point;
    const clv_status_t status = clv_cs_point_of_sample(sample, tracker->drift_prior_ppb, &point);
    if (status != CLV_OK) {
        return status;
    }
    if (is_step(tracker, &point)) {
        clv_cs_tracker_restart(tracker);
    }
    if (tracker->burst_count == 0 || point.error_ns < tracker->best.error_ns) {
        tracker->best = point;
    }
    tracker->is_doubted = 0;
    tracker->burst_count++;
    if (!burst_is_complete(tracker)) {
        return CLV_AGAIN;
    }
    tracker->burst_count = 0;
    add_point(tracker, &tracker->best);
    refit(tracker);
    return CLV_OK;
}

clv_status_t clv_cs_tracker_model(const clv_cs_tracker_t *tracker, clv_cs_model_t *model_p)
{
    if (tracker->n_points == 0 || tracker->is_doubted) {
        return CLV_AGAIN;
    }
    *model_p = tracker->model;
    return CLV_OK;
}

int64_t clv_cs_suspended_ns(void)
{
    struct timespec boot;
    (void) clock_gettime(CLOCK_BOOTTIME, &boot);
    return (int64_t) boot.tv_sec * CLV_NS_PER_S + boot.tv_nsec - clv_local_now_ns();
}
