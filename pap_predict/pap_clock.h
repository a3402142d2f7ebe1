/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One host's global clock, kept by its leader's thread: when to ping the tree parent, and what its
 * answers mean. The tree's edges are HCA3's pairs (child i and i without its lowest bit): each host
 * learns the global time of its parent once the parent knows its own, level by level.
 *
 * A burst at the start, a few more pings while the drift is learnt, then one every few seconds, or
 * every half minute while the clock is not in use: an idle thread must have no measurable cost.
 * Every other frame between the two also carries timestamps, which are used, too.
 * Not: sockets. Pure but for one look at the suspend counter per burst. One thread at a time.
 */
#ifndef CLV_PAP_CLOCK_H
#define CLV_PAP_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "clocksync/clocksync.h"
#include "pap_predict/net/net_channel.h"

typedef struct clv_pap_clock {
    bool is_ready; /* model may be used */
    clv_cs_model_t model;
    clv_cs_tracker_t tracker;
    int64_t suspended_ns;
    int64_t next_burst_ns;  /* INT64_MAX: none due (no connection, or the parent is not ready) */
    int64_t last_burst_ns;  /* when it began */
    bool is_used;           /* since that burst began */
    int64_t taken_until_ns; /* end of the last sample taken */
    int32_t n_bursts;       /* begun */
    int32_t n_left;         /* further pings in the present burst */
    bool is_outstanding;    /* a ping has no answer yet */
} clv_pap_clock_t;

/* is_reference: the top of the tree, whose own clock is the global one. */
void clv_pap_clock_init(clv_pap_clock_t *clock, bool is_reference);

/* The parent is connected, or says that its clock is ready: ping soon. */
void clv_pap_clock_connected(clv_pap_clock_t *clock, int64_t now_ns);
void clv_pap_clock_lost(clv_pap_clock_t *clock);

/* The time is about to be used: records of this host's ranks are being sent. Keeps the clock
 * fresh. */
void clv_pap_clock_used(clv_pap_clock_t *clock, int64_t now_ns);

/* Non-zero: send a ping now. */
bool clv_pap_clock_wants_ping(clv_pap_clock_t *clock, int64_t now_ns);
int64_t clv_pap_clock_deadline(const clv_pap_clock_t *clock);

/* Takes a frame from the parent, received at local time received_ns. is_pong: it answers a ping.
 * Non-zero: the model changed, or became ready or unready. */
bool clv_pap_clock_take(clv_pap_clock_t *clock, const clv_net_stamp_t *stamp, int64_t received_ns,
                        bool is_pong);

#endif
