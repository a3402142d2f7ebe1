/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A simulated network of hosts with bad clocks, in virtual time. Deterministic for a seed.
 *
 * Every rank is a coroutine with its own true time. It runs until it waits for a message that was
 * not sent yet. Ranks meet only through messages from a named peer, so the order in which the
 * coroutines run cannot change what they see; random numbers belong to a pair and direction. When
 * all wait, the earliest deadline passes.
 *
 * The truth is known: cs_net_local gives any rank's clock at any true time.
 */
#ifndef CS_NET_H
#define CS_NET_H

#include "clocksync/methods/cs_methods.h"

#define CS_NET_MAX_RANKS 600   /* of tests, whose ways between ranks are all drawn at the start */
#define CS_NET_MOST      32768 /* with ways that are drawn when the first message goes there */
#define CS_NET_NEVER     INT64_MAX

typedef struct cs_net_host {
    int64_t ahead_ns; /* of its clock at true time 0 */
    double drift;
    double wander; /* amplitude of a drift that swings with a period of 5 minutes */
    int64_t step_at_ns;
    int64_t step_ns;
} cs_net_host_t;

typedef struct cs_net_config {
    int n_ranks;
    int ranks_per_host; /* consecutive ranks share a host: its clock, and short delays */
    uint64_t seed;
    int64_t start_ns; /* true time at which ranks start */
    int64_t least_delay_ns, least_delay_inside_ns;
    double queue_ns;  /* mean of exponential queueing on top */
    double asymmetry; /* 0..1: how far the least delays of a pair's two ways may differ */
    double outlier_probability;
    int64_t outlier_ns;
    double spell_ns; /* mean of what a direction takes longer in a busy spell, all of it alike */
    double spell_length_ns; /* mean; busy and calm ones take turns. 0: none */
    double max_drift;       /* hosts draw theirs from +- this */
    int64_t max_ahead_ns;
    double wander;
    int loss_is_reported; /* a finished or killed peer: CLV_LOST instead of CLV_TIMEOUT */
} cs_net_config_t;

typedef struct cs_net cs_net_t;

typedef struct cs_net_rank {
    cs_net_t *net;
    int rank;
    int64_t now_ns; /* true time here */
    clv_cs_clock_t clock;
    int64_t kill_at_ns; /* from then on its link is dead */
    /* Called on what this rank sends; may change it. */
    void (*corrupt)(struct cs_net_rank *rank, void *data, size_t n_bytes);
    uint64_t n_sent;
} cs_net_rank_t;

typedef void (*cs_net_body_t)(cs_net_rank_t *rank, void *context);

extern const clv_link_ops_t cs_net_link_ops; /* the link is a cs_net_rank_t */

cs_net_config_t cs_net_quiet(int n_ranks, uint64_t seed); /* a plain Ethernet cluster */
cs_net_t *cs_net_create(const cs_net_config_t *config);
void cs_net_destroy(cs_net_t *net);
cs_net_rank_t *cs_net_rank(cs_net_t *net, int rank);
cs_net_host_t *cs_net_host(cs_net_t *net, int rank);
/* Runs body on every rank to its end; may be called again, times go on. */
void cs_net_run(cs_net_t *net, cs_net_body_t body, void *context);
int64_t cs_net_local(const cs_net_t *net, int rank, int64_t true_ns);
/* The latest rank's true time. */
int64_t cs_net_now(const cs_net_t *net);
/* The process sleeps, its clock does not. */
void cs_net_sleep(cs_net_rank_t *rank, int64_t ns);

#endif
