/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A server in the thread's loop: the listener, pending connections whose peers have not yet proved
 * that they know a key, and the connections that the callbacks accept. It ignores their contents.
 *
 * Units: local ns; counted bytes.
 * Errors: CLV_SYSTEM, CLV_NO_MEMORY; an unauthenticated peer's fault closes its connection and is
 *   counted, never returned.
 * Memory: the struct is the caller's; one small struct and its channel per connection, at most
 *   CLV_NET_MAX_PENDING pending.
 * Threads: everything runs under the thread's lock; callbacks, too, and they may close
 *   connections.
 */
#ifndef CLV_NET_LISTEN_H
#define CLV_NET_LISTEN_H

#include <stdbool.h>
#include <stdint.h>

#include "pap_predict/net/net_channel.h"
#include "pap_predict/net/net_interface.h"
#include "pap_predict/net/net_thread.h"

#define CLV_NET_MAX_PENDING 16 /* connections that have not proved to know a key */

typedef struct clv_net_server clv_net_server_t;

/* A connection and whose it is: nobody's while pending, then its owner's. */
typedef struct clv_net_conn {
    clv_net_server_t *server;
    clv_net_channel_t *channel;
    int32_t watch;
    int32_t place;                      /* the owner's number for it */
    int64_t deadline_ns;                /* of the handshake */
    void *owner;                        /* NULL: pending */
    bool is_broken;                     /* a send failed; the owner drops it */
    int64_t sent_bytes, received_bytes; /* counted so far */
} clv_net_conn_t;

typedef enum clv_net_counter {
    CLV_NET_REJECTED, /* connections closed because of a wrong key or malformed data */
    CLV_NET_SENT_BYTES,
    CLV_NET_RECEIVED_BYTES
} clv_net_counter_t;

/* context is the server's, owner the connection's. */
typedef struct clv_net_server_ops {
    /* The key of that group if somebody expects that host, and the longest payload; else NULL. */
    const unsigned char *(*find)(void *context, const unsigned char *group_id, uint32_t host,
                                 size_t *max_payload_p);
    /* A pending connection has proved that it knows the key: whose it is, NULL: nobody's now. */
    void *(*adopt)(void *context, const unsigned char *group_id, uint32_t host, int32_t *place_p);
    void (*up)(void *owner, clv_net_conn_t *conn);   /* the handshake is over */
    void (*lost)(void *owner, clv_net_conn_t *conn); /* it ended, and is closed after this */
    /* CLV_PROTOCOL closes the connection. */
    clv_status_t (*frame)(void *owner, clv_net_conn_t *conn, clv_net_frame_kind_t kind,
                          const clv_net_stamp_t *stamp, int64_t received_ns,
                          const unsigned char *payload, size_t payload_bytes);
    void (*count)(void *context, clv_net_counter_t what, int64_t more);
} clv_net_server_ops_t;

struct clv_net_server {
    clv_net_thread_t *thread;
    clv_net_server_ops_t ops;
    void *context;
    int listen_fd; /* -1: nobody needs it now */
    int32_t listen_watch;
    int32_t n_listen_users;
    uint16_t port;
    int32_t port_min;             /* the first port it may take; 0: any, the kernel's choice */
    int32_t port_range;           /* and how many from there */
    clv_net_address_t *addresses; /* ours: others are not let in over */
    int32_t n_addresses;
    int64_t accept_tokens_ns; /* accepting is paid from this; see net_listen.c */
    int64_t accept_filled_ns;
    int64_t accept_again_ns; /* INT64_MAX: accepting now */
    clv_net_conn_t *pending[CLV_NET_MAX_PENDING];
};

/* Of a zeroed server; its addresses and which ports it may take are the caller's to fill, and the
 * list of addresses to free. */
void clv_net_server_init(clv_net_server_t *server, clv_net_thread_t *thread,
                         const clv_net_server_ops_t *ops, void *context);

/* Opens the listener unless it is open (CLV_SYSTEM: no port of the range, said in the log;
 * CLV_NO_MEMORY: none at all, errno says why); release closes it when nobody needs it. */
clv_status_t clv_net_listen_acquire(clv_net_server_t *server) CLV_MUST_CHECK;
void clv_net_listen_release(clv_net_server_t *server);
/* Looks after handshakes that take too long; returns the next deadline. */
int64_t clv_net_listen_work(clv_net_server_t *server, int64_t now_ns);
void clv_net_listen_close(clv_net_server_t *server);

/* Wraps a channel and watches its socket; on failure the channel is closed. */
clv_net_conn_t *clv_net_conn_new(clv_net_server_t *server, clv_net_channel_t *channel, void *owner,
                                 int32_t place, int64_t deadline_ns);
/* Takes what has come on one that is about to be closed: its sender may count on that. */
void clv_net_conn_drain(clv_net_conn_t *conn);
void clv_net_conn_close(clv_net_conn_t *conn);   /* NULL is fine; counts its bytes */
void clv_net_conn_rewatch(clv_net_conn_t *conn); /* after sends */

#endif
