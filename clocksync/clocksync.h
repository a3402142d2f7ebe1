/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The clocksync module: one clock for all ranks, with a bound on its error.
 *
 * Convention: offset > 0 means the local clock is AHEAD of the reference; global = local - offset.
 *
 * The background thread feeds the tracker one exchange of timestamps at a time. Blocking algorithms
 * over a link table, for programs: clocksync/methods/cs_methods.h.
 *
 * Units: int64 ns; doubles only for slopes and differences; drift in ppb.
 * Errors: CLV_PROTOCOL for impossible samples, CLV_AGAIN where there is no clock yet.
 * Memory: structs of fixed size, the caller's; nothing is allocated.
 * Threads: one at a time per tracker; else safe.
 */
#ifndef CLV_CLOCKSYNC_H
#define CLV_CLOCKSYNC_H

#include <stdint.h>

#include "util/util_status.h"

/* One ping: the client sends at t1 (its local clock), the reference stamps t2 on receipt and t3 on
 * reply (its global clock), the client receives at t4 (its local clock). reference_error_ns is the
 * reference's own bound. */
typedef struct clv_cs_sample {
    int64_t client_send_ns;
    int64_t reference_recv_ns;
    int64_t reference_send_ns;
    int64_t client_recv_ns;
    int64_t reference_error_ns;
} clv_cs_sample_t;

/* global(local) = local - (offset_ns + slope * (local - origin_ns)); the bound at origin_ns is
 * error_ns and grows by error_ppb ns per second of distance from it. */
typedef struct clv_cs_model {
    int64_t origin_ns; /* local */
    int64_t offset_ns;
    double slope; /* drift of the local clock against the reference; 1e-6 = 1 ppm */
    int64_t error_ns;
    int64_t error_ppb;
} clv_cs_model_t;

extern const clv_cs_model_t
    clv_cs_identity; /* the reference's own clock: global = local, error 0 */

/* Times and bounds that would not fit an int64 stay at its end; nothing overflows. */
int64_t clv_cs_model_global(const clv_cs_model_t *model, int64_t local_ns);
int64_t clv_cs_model_local(const clv_cs_model_t *model, int64_t global_ns);
int64_t clv_cs_model_error(const clv_cs_model_t *model, int64_t local_ns);

/* inner: c's clock against b's; outer: b's against a's; result: c's against a's (MBR, section 4.4,
 * Equation 1 without its dependence on time zero). Bounds add. Its origin is inner's. */
void clv_cs_model_compose(const clv_cs_model_t *outer, const clv_cs_model_t *inner,
                          clv_cs_model_t *model_p);

/* One measurement of the offset: at local_ns the local clock was offset_ns ahead of the reference,
 * plus or minus error_ns. The bound is hard as long as both clocks only drift. */
typedef struct clv_cs_point {
    int64_t local_ns;
    int64_t offset_ns;
    int64_t error_ns;
} clv_cs_point_t;

/* Until a pair's drift is measured it is bounded by this: two crystals at the edge of +-50 ppm. */
#define CLV_CS_DRIFT_PRIOR_PPB 100000
/* A measured drift is good for what was measured; crystals wander (HCA3 paper, section III-C2). */
#define CLV_CS_WANDER_PPB 250

/* The tracker keeps the model of one client against one reference up to date from pings that come
 * one at a time (HCA3's pair, Algorithm 2, turned inside out: fit points, each the best of a burst
 * by round trip). The reference answers with its own GLOBAL time, which is what makes it HCA3.
 *
 * It has a fixed size, allocates nothing, and never waits; a feed costs under 1 us, the one that
 * ends a burst about 2 us. One thread at a time. The fields are for clocksync/cs_tracker.c only. */
#define CLV_CS_TRACKER_POINTS 64

typedef struct clv_cs_tracker {
    int32_t burst_length; /* pings per fit point; the first point takes at most 8 */
    int32_t burst_count;
    int32_t n_points;
    int32_t n_restarts;
    int32_t is_doubted;
    int32_t reserved;
    int64_t drift_prior_ppb; /* doubled by each step: a clock that steps is trusted less */
    clv_cs_point_t best;     /* of the burst under way */
    clv_cs_point_t point[CLV_CS_TRACKER_POINTS]; /* oldest first */
    clv_cs_model_t model;
} clv_cs_tracker_t;

/* burst_length below 1 is taken as 1. */
void clv_cs_tracker_init(clv_cs_tracker_t *tracker, int32_t burst_length);

/* Nonsense samples (times that run backwards, a negative bound, a round trip above a minute) are
 * ignored: CLV_PROTOCOL. CLV_OK: the model changed; CLV_AGAIN: taken, no new point yet.
 *
 * A sample that contradicts the model by more than all bounds together shows that one of the clocks
 * stepped (or its host was suspended): the fit starts again from this sample, n_restarts counts it,
 * and clv_cs_tracker_model answers CLV_AGAIN until the next point. */
clv_status_t clv_cs_tracker_feed(clv_cs_tracker_t *tracker, const clv_cs_sample_t *sample);

/* Forgets everything but the doubt: for a caller that knows that a clock stepped or was suspended
 * (clv_cs_suspended_ns changed), or that the reference changed. */
void clv_cs_tracker_restart(clv_cs_tracker_t *tracker);

/* The reference says that it has no time just now (its own tracker started again). Until the next
 * sample clv_cs_tracker_model answers CLV_AGAIN: perhaps the reference's reference stepped, and we
 * are as wrong as it was. A sample that agrees clears the doubt, one that does not restarts. */
void clv_cs_tracker_doubt(clv_cs_tracker_t *tracker);

/* The newest model; CLV_AGAIN before the first point, and while in doubt. It stays usable without
 * further samples (a lost reference): only its bound grows. Its origin is the newest point. */
clv_status_t clv_cs_tracker_model(const clv_cs_tracker_t *tracker,
                                  clv_cs_model_t *model_p) CLV_MUST_CHECK;

/* How long this host was suspended since boot (CLOCK_BOOTTIME - CLOCK_MONOTONIC, plus a constant
 * of the time namespace). A change means CLOCK_MONOTONIC stood still: restart the tracker. Two
 * clock reads, about 50 ns; steady to some 100 us because the reads are not one. */
int64_t clv_cs_suspended_ns(void);

#endif
