/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The clocksync room: one clock for all ranks, with a bound on its error.
 *
 * Convention: offset > 0 means the local clock is AHEAD of the reference; global = local - offset.
 * Time is int64 ns; doubles only for slopes and differences.
 *
 * Two ways to use it: blocking algorithms over a link table (tools, benchmarks, simulation), and
 * the tracker, fed one exchange of timestamps at a time (the background thread).
 */
#ifndef CLV_CLOCKSYNC_H
#define CLV_CLOCKSYNC_H

#include <stdint.h>

#include "util/util_link.h"
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
    double slope;      /* drift of the local clock against the reference; 1e-6 = 1 ppm */
    int64_t error_ns;
    int64_t error_ppb;
} clv_cs_model_t;

extern const clv_cs_model_t clv_cs_identity; /* the reference's own clock: global = local, error 0 */

int64_t clv_cs_model_global(const clv_cs_model_t *model, int64_t local_ns);
int64_t clv_cs_model_local(const clv_cs_model_t *model, int64_t global_ns);
int64_t clv_cs_model_error(const clv_cs_model_t *model, int64_t local_ns);

/* The tracker keeps the model of one client against one reference up to date from pings that come
 * one at a time (HCA3's pair of section 4: fit points, each the best of a burst by round trip). It
 * has a fixed size, allocates nothing, and never waits. */
#define CLV_CS_TRACKER_POINTS 64

typedef struct clv_cs_tracker {
    int32_t n_points;
    int32_t burst_length;   /* pings per fit point */
    int32_t burst_count;
    int64_t best_rtt_ns;
    clv_cs_sample_t best;
    int64_t point_local_ns[CLV_CS_TRACKER_POINTS]; /* a ring, oldest first after next */
    int64_t point_offset_ns[CLV_CS_TRACKER_POINTS];
    int64_t point_error_ns[CLV_CS_TRACKER_POINTS];
    int32_t next;
} clv_cs_tracker_t;

void clv_cs_tracker_init(clv_cs_tracker_t *tracker, int32_t burst_length);
/* Nonsense samples (times that run backwards) are ignored: CLV_PROTOCOL. CLV_OK: the model
 * changed; CLV_AGAIN: taken, no new point yet. A step of either clock restarts the fit. */
clv_status_t clv_cs_tracker_feed(clv_cs_tracker_t *tracker, const clv_cs_sample_t *sample);
/* CLV_AGAIN before the second point. */
clv_status_t clv_cs_tracker_model(const clv_cs_tracker_t *tracker,
                                  clv_cs_model_t *model_p) CLV_MUST_CHECK;

#endif
