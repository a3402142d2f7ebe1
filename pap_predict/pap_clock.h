/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One node's global clock, kept by its leader's thread: when to ping the tree parent, and what its
 * answers say. The tree's edges are HCA3's pairs (child i and i without its lowest bit): each node
 * learns the global time of its parent once the parent knows its own, level by level.
 *
 * A burst at the start, a few more while the drift is being learnt, then one every few seconds, or
 * every half minute while nobody uses the clock: an idle thread is to cost nothing that could be
 * measured. Every other frame between the two carries timestamps as well and is taken along.
 * Not: sockets. Pure but for one look at the suspend counter per burst. One thread at a time.
 */
#ifndef CLV_PAP_CLOCK_H
#define CLV_PAP_CLOCK_H

#include <stdint.h>

#include "clocksync/clocksync.h"
#include "pap_predict/net/net_channel.h"

typedef struct clv_pap_clock {
    int is_ready; /* model may be used */
    clv_cs_model_t model;
    clv_cs_tracker_t tracker;
    int64_t suspended_ns;
    int64_t next_burst_ns;  /* INT64_MAX: none due (no connection, or the parent is not ready) */
    int64_t last_burst_ns;  /* when it began */
    int32_t is_used;        /* since then */
    int64_t taken_until_ns; /* when the last sample that was taken ended */
    int32_t n_bursts;       /* begun */
    int32_t n_left;         /* pings of the burst under way, beyond the one outstanding */
    int32_t is_outstanding; /* a ping without its answer yet */
} clv_pap_clock_t;

/* is_reference: the top of the tree, whose own clock is the global one. */
void clv_pap_clock_init(clv_pap_clock_t *clock, int is_reference);

/* The connection to the parent is there, or the parent says its clock is ready now: ping soon. */
void clv_pap_clock_connected(clv_pap_clock_t *clock, int64_t now_ns);
void clv_pap_clock_lost(clv_pap_clock_t *clock);

/* Somebody is about to ask for the time: what this node's ranks did is being told to others. */
void clv_pap_clock_used(clv_pap_clock_t *clock, int64_t now_ns);

/* Non-zero: send a ping now. */
int clv_pap_clock_wants_ping(clv_pap_clock_t *clock, int64_t now_ns);
int64_t clv_pap_clock_deadline(const clv_pap_clock_t *clock);

/* What a frame from the parent, received at local time received_ns, says. is_pong: it answers a
 * ping. Non-zero: the model changed or became (un)ready. */
int clv_pap_clock_take(clv_pap_clock_t *clock, const clv_net_stamp_t *stamp, int64_t received_ns,
                       int is_pong);

#endif
