/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the process has once: the thread, the listener with its crowd of strangers, counters, and
 * the leaders it runs. Private to the pap_predict room.
 *
 * Lock: clv_net_thread_lock(pap->thread) guards everything here but the counters.
 */
#ifndef CLV_PAP_PROCESS_H
#define CLV_PAP_PROCESS_H

#include <stdatomic.h>
#include <stdint.h>

#include "net/net_channel.h"
#include "net/net_interface.h"
#include "pap_predict/pap_predict.h"
#include "net/net_thread.h"

#define CLV_PAP_MAX_STRANGERS 16 /* connections that have not proved to know a key */

typedef struct clv_pap_leader clv_pap_leader_t; /* pap_leader.h */

/* A connection and who it belongs to: first a stranger, then a leader's neighbour. */
typedef struct clv_pap_conn {
    clv_pap_t *pap;
    clv_net_channel_t *channel;
    int32_t watch;
    int64_t deadline_ns;      /* of the handshake */
    clv_pap_leader_t *leader; /* NULL: a stranger */
    int32_t neighbour;        /* of the leader */
    int is_broken;            /* a send failed; the leader drops it */
    int64_t sent_bytes, received_bytes; /* counted so far */
} clv_pap_conn_t;

/* The way to wake the thread of another process, shared by all groups led by it. */
typedef struct clv_pap_bell {
    struct clv_pap_bell *next;
    int fd;
    int32_t n_users;
    uint64_t device, inode; /* of the pipe */
} clv_pap_bell_t;

typedef enum clv_pap_counter {
#define CLV_PAP_COUNTER_ENUM(name, meaning) CLV_PAP_COUNT_##name,
    CLV_PAP_COUNTER_MAP(CLV_PAP_COUNTER_ENUM)
#undef CLV_PAP_COUNTER_ENUM
    CLV_PAP_N_COUNTERS
} clv_pap_counter_t;

struct clv_pap {
    clv_pap_options_t options;
    char interface[32];
    uint32_t pretend_node; /* tests: see clv_pap_pretend_node */
    clv_net_thread_t *thread;
    clv_pap_leader_t *leaders;
    int32_t n_placed_for; /* ranks beside which the thread has found its place */
    int listen_fd; /* -1: nobody needs it now */
    int32_t listen_watch;
    int32_t n_listen_users;
    uint16_t port;
    clv_net_address_t addresses[CLV_NET_MAX_ADDRESSES];
    int32_t n_addresses;
    int64_t accept_tokens_ns; /* accepting is paid from this; see pap_listen.c */
    int64_t accept_filled_ns;
    int64_t accept_again_ns;  /* INT64_MAX: accepting now */
    clv_pap_conn_t *strangers[CLV_PAP_MAX_STRANGERS];
    clv_pap_bell_t *bells; /* of other processes' threads */
    _Atomic int64_t counters[CLV_PAP_N_COUNTERS];
};

static inline void clv_pap_count(clv_pap_t *pap, clv_pap_counter_t counter, int64_t more)
{
    (void) atomic_fetch_add_explicit(&pap->counters[counter], more, memory_order_relaxed);
}

/* Tests: ranks with different numbers behave as if on different nodes. Before group_create. */
void clv_pap_pretend_node(clv_pap_t *pap, uint32_t node);

/* Opens descriptor fd of process pid, which must be a pipe. Under the lock, both. */
clv_status_t clv_pap_bell_acquire(clv_pap_t *pap, uint32_t pid, uint32_t fd,
                                  clv_pap_bell_t **bell_p) CLV_MUST_CHECK;
void clv_pap_bell_release(clv_pap_t *pap, clv_pap_bell_t *bell); /* NULL is fine */

/* ---- connections (pap_listen.c) ----------------------------------------------------------- */

/* Opens the listener unless it is open; release closes it when nobody needs it. Under the lock. */
clv_status_t clv_pap_listen_acquire(clv_pap_t *pap) CLV_MUST_CHECK;
void clv_pap_listen_release(clv_pap_t *pap);
/* The thread looks after handshakes that take too long; returns the next deadline. */
int64_t clv_pap_listen_work(clv_pap_t *pap, int64_t now_ns);
void clv_pap_listen_close(clv_pap_t *pap);

/* Wraps a channel and watches its socket; on failure the channel is closed. */
clv_pap_conn_t *clv_pap_conn_new(clv_pap_t *pap, clv_net_channel_t *channel,
                                 clv_pap_leader_t *leader, int32_t neighbour, int64_t deadline_ns);
void clv_pap_conn_close(clv_pap_conn_t *conn); /* NULL is fine; counts its bytes */
void clv_pap_conn_rewatch(clv_pap_conn_t *conn); /* after sends */

#endif
