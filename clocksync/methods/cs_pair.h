/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two ranks of a group measure one clock against the other. Internal to the module.
 *
 * The client drives: it pings until it knows enough, then says that it is done. The reference
 * answers every ping (clv_cs_pair_serve). So no algorithm has to be programmed twice, and a client
 * that gives up early leaves no rank waiting.
 */
#ifndef CLV_CS_PAIR_H
#define CLV_CS_PAIR_H

#include <stdbool.h>

#include "clocksync/cs_internal.h"
#include "clocksync/methods/cs_methods.h"

typedef struct cs_pair {
    const clv_cs_group_t *group;
    const clv_cs_clock_t *clock; /* mine; NULL: none */
    const clv_cs_method_t *method;
    int32_t peer; /* index in the group */
    uint32_t sequence;
    int64_t mean_round_trip_ns;  /* Mean-RTT-Offset's; 0: not measured yet */
    int64_t least_round_trip_ns; /* of finished bursts; INT64_MAX: none */
    int64_t n_pings;
    int64_t reference_ppb; /* error of the rate of the reference's global clock */
} cs_pair_t;

cs_pair_t clv_cs_pair(const clv_cs_group_t *group, const clv_cs_clock_t *clock,
                      const clv_cs_method_t *method, int32_t peer);

/* ---- reference ---- */

/* Answers pings with the global time of model (NULL: I have no time to give) until the client is
 * done. CLV_NONE: the client gave up and will not come back. */
clv_status_t clv_cs_pair_serve(cs_pair_t *pair, const clv_cs_model_t *model) CLV_MUST_CHECK;

/* ---- client ---- */

/* CLV_UNSUPPORTED: the reference has no time. */
clv_status_t clv_cs_pair_ping(cs_pair_t *pair, clv_cs_sample_t *sample_p) CLV_MUST_CHECK;
/* Ends serving at the reference, for good unless status is CLV_OK. Returns status, or the error of
 * telling the reference so. */
clv_status_t clv_cs_pair_done(cs_pair_t *pair, clv_status_t status);
/* One offset, by the method's offset algorithm. */
clv_status_t clv_cs_pair_offset(cs_pair_t *pair, clv_cs_point_t *point_p) CLV_MUST_CHECK;
/* The client's half of LEARN_CLOCK_MODEL (HCA3 paper, Algorithm 2), including done. An offset-only
 * method measures one offset, and the prior bounds the drift. */
clv_status_t clv_cs_pair_learn(cs_pair_t *pair, clv_cs_fit_t *fit_p) CLV_MUST_CHECK;

bool clv_cs_is_offset_only(clv_cs_algorithm_t algorithm);
/* The model of a single offset: slope unknown. */
void clv_cs_fit_of_point(const clv_cs_point_t *point, clv_cs_fit_t *fit_p);
/* Fits a line through the points that a pair learnt. Points before a step of a clock are
 * dropped. */
void clv_cs_fit_of_points(const cs_pair_t *pair, const clv_cs_point_t *points, int n_points,
                          clv_cs_fit_t *fit_p);
/* The measured offset replaces the fitted one (HCA3 paper, Algorithm 2, line 21). */
void clv_cs_fit_set_intercept(clv_cs_fit_t *fit, const clv_cs_point_t *point);

/* ---- records ---- */

/* Models on their way between ranks. */
typedef struct cs_record {
    uint32_t magic;
    int32_t rank; /* virtual */
    clv_cs_model_t model;
    double rms_ns;
    double r_squared;
    uint64_t time_source;
    int32_t status;
    int32_t reserved;
} cs_record_t;

clv_status_t clv_cs_send_records(const clv_cs_group_t *group, int32_t peer,
                                 const cs_record_t *records, int32_t n_records) CLV_MUST_CHECK;
/* CLV_PROTOCOL unless record i is of rank first + i and sane. */
clv_status_t clv_cs_recv_records(const clv_cs_group_t *group, int32_t peer, cs_record_t *records_p,
                                 int32_t first, int32_t n_records) CLV_MUST_CHECK;
cs_record_t clv_cs_record(int32_t rank, clv_status_t status, const clv_cs_fit_t *fit);

#endif
