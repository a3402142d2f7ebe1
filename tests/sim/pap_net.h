/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A pretend job for the protocol tests: ranks that make calls, host leaders that run the agreement,
 * and connections that delay, break, half-open and come back, all in virtual time.
 *
 * Everything random comes from one seed. The world watches the promises of docs/design/protocol.md
 * while it runs and stops at the first broken one, with a text. No threads, no sockets, no real
 * time.
 */
#ifndef PAP_NET_H
#define PAP_NET_H

#include <stdint.h>

#include "pap_predict/agree/pap_agree.h"

/* Where there is a relay, at most: until the kernel has found that a way is gone, until a
 * connection counts as lost from then on, until the parent's rank makes progress in MPI. */
#define PAP_NET_FIND_NS  INT64_C(1250000000)
#define PAP_NET_LOST_NS  INT64_C(500000000)
#define PAP_NET_RELAY_NS INT64_C(100000000)

typedef struct pap_net_options {
    uint64_t seed;
    int32_t n_hosts;
    int32_t ranks_per_host; /* at most; 0: a random number on each */
    int32_t n_calls;
    int32_t n_keys;        /* streams; more than 16 push each other out */
    int32_t key_burst;     /* calls on one stream in a row, about */
    int32_t n_cuts;        /* connections that break and come back */
    int32_t lose_for_good; /* one connection never comes back */
    int32_t relay;         /* who was cut off in doubt asks over MPI, which is always there */
    int32_t hints;         /* 0 none, 1 some ranks sometimes, 2 all ranks always */
    int32_t invalid_calls; /* clocks become ready after about so many calls */
    int32_t plant;         /* 0 nothing, 1 one rank lies about its choice, 2 a host's forecast,
                            * 3 who frees waits for no child that is away */
    int64_t compute_ns;    /* mean time between calls */
    int64_t delay_ns;      /* of a message: uniform in [delay / 2, 3 delay / 2] */
    double bytes_per_ns;   /* of each sender; 0: infinite */
    int32_t synchronous_percent; /* calls that nobody leaves before all are in */
    int64_t patience_ns;         /* who waits longer asks to go without; 0: never */
    int32_t max_open;            /* calls that a rank has open at once, at most; 0: 1 */
    int32_t frees;    /* at the end each host frees the communicator, as its ranks' leader does */
    int64_t away_ns;  /* before one call of each rank in four, at most */
    int32_t n_deaths; /* hosts that die when their calls are over, and free nothing */
    int64_t limit_ns; /* of waiting in that for a child that is away; 0: none */
} pap_net_options_t;

typedef struct pap_net_result {
    const char *broken;    /* NULL: every promise was kept */
    int64_t calls;         /* rank calls checked */
    int64_t with_forecast; /* of them */
    int64_t waits;         /* that had to wait */
    int64_t worst_wait_ns; /* of them, once connections were there */
    int64_t voids;         /* record sets that never came, at host 0 */
    int64_t overlapped;    /* begun while another was open */
    int64_t late_turns;    /* of them, whose turn came later */
    int64_t messages;
    int64_t bytes;
    int64_t record_sets; /* decided by host 0 */
    int64_t max_message_bytes;
    int64_t top_bytes;       /* sent by host 0 */
    int64_t last_latency_ns; /* last record given to last host told, newest set */
    int64_t worst_latency_ns;
    int64_t virtual_ns;
    int32_t max_sample_every;
    int32_t evictions;
    int32_t announced; /* calls that went by hints */
    int32_t abandoned_hosts;
    int32_t relays;        /* edges that took one */
    int32_t wrong_guesses; /* rank calls on them that differ from the others' */
    int32_t stale_links;
    int32_t lost_reason;   /* at host 0; 0: not lost */
    int32_t disagreements; /* forecasts that said so */
    int32_t open_hosts;    /* that could not close at the end */
    int32_t n_out;         /* hosts that ended MPI_Comm_free, or died */
    int32_t n_away;        /* of them, began it while a child was away */
    int32_t n_stays;       /* of them, ended it by the limit, and serve MPI on */
    int32_t n_letters;     /* said over MPI that they are through */
    int32_t n_late;        /* relays that were taken to a parent which had begun to free */
    int64_t worst_free_ns;
} pap_net_result_t;

/* A text also when memory runs out. */
void pap_net_run(const pap_net_options_t *options, pap_net_result_t *result);

#endif
