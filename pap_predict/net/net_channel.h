/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One connection between two host leaders: handshake, frames, and queues of bounded length, over a
 * non-blocking stream socket.
 *
 *      client (tree child)                     server (tree parent)
 *      HELLO: group, host, nonce_c    ----->   looks the group up
 *      checks                         <-----   CHALLENGE: nonce_s, HMAC("server", HELLO nonce_s)
 *      PROOF: HMAC("client", same)    ----->   checks; both are up
 *      frames, each with a SipHash tag of a key made for this connection and of its number
 *
 * The key never crosses the wire. An attacker without it learns nothing by connecting; one on the
 * wire can cut the connection, but cannot change or repeat a frame. Everything before the
 * handshake's end is of fixed size; a frame above max_payload_bytes ends the connection, as does a
 * queue above its bound.
 *
 * Not: epoll, retries, the meaning of payloads.
 *
 * Units: local or global ns as has_global says; lengths in bytes.
 * Errors: CLV_LOST, CLV_PROTOCOL, CLV_LIMIT, CLV_NO_MEMORY, CLV_SYSTEM: then close it.
 * Memory: the channel owns its socket and its queues of bounded length; key and payload are
 *   copied.
 * Threads: one at a time per channel.
 */
#ifndef CLV_NET_CHANNEL_H
#define CLV_NET_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pap_predict/net/net_interface.h"
#include "util/util_status.h"

#define CLV_NET_KEY_BYTES      32 /* of the random per-group key */
#define CLV_NET_GROUP_ID_BYTES 16

typedef struct clv_net_channel clv_net_channel_t;

/* Beside each frame travel timestamps, so that any exchange is also an offset measurement. */
typedef struct clv_net_stamp {
    int64_t sent_ns;      /* sender's clock when it wrote this frame; global if has_global */
    int64_t echo_sent_ns; /* sent_ns of the last frame it got from us; 0: none */
    int64_t echo_recv_ns; /* when it got that, in the same clock as sent_ns */
    int64_t error_ns;     /* of sent_ns as a global time */
    int32_t has_global;   /* sent_ns and echo_recv_ns are global times */
} clv_net_stamp_t;

typedef enum clv_net_frame_kind {
    CLV_NET_FRAME_PING = 1, /* wants a PONG */
    CLV_NET_FRAME_PONG = 2,
    CLV_NET_FRAME_READY = 3,   /* my clock is ready now: ping me */
    CLV_NET_FRAME_DATA = 4,    /* a message of the agreement */
    CLV_NET_FRAME_THROUGH = 5, /* my host needs nothing of yours any more */
} clv_net_frame_kind_t;

typedef struct clv_net_channel_ops {
    /* Server: who has this group and expects this host? The key (CLV_NET_KEY_BYTES) and the
     * longest payload, or NULL. */
    const unsigned char *(*find)(void *context, const unsigned char *group_id, uint32_t host,
                                 size_t *max_payload_p);
    /* The handshake is done. Non-zero: refuse after all. */
    int (*up)(void *context, clv_net_channel_t *channel);
    /* CLV_PROTOCOL closes the connection. payload is valid during the call. */
    clv_status_t (*frame)(void *context, clv_net_channel_t *channel, clv_net_frame_kind_t kind,
                          const clv_net_stamp_t *stamp, int64_t received_ns,
                          const unsigned char *payload, size_t payload_bytes);
} clv_net_channel_ops_t;

/* Group id from the key: names the group to those who have the key, says nothing to others. */
void clv_net_group_id(const unsigned char *key, unsigned char group_id[CLV_NET_GROUP_ID_BYTES]);

/* Begins to connect; the outcome shows in clv_net_channel_io. key is copied. */
clv_status_t clv_net_channel_connect(const clv_net_address_t *address, uint16_t port,
                                     const unsigned char *key, uint32_t host, size_t max_payload,
                                     clv_net_channel_t **channel_p) CLV_MUST_CHECK;
/* Takes an accepted socket; on failure it stays the caller's. */
clv_status_t clv_net_channel_accept(int fd, clv_net_channel_t **channel_p) CLV_MUST_CHECK;
void clv_net_channel_close(clv_net_channel_t *channel); /* NULL is fine */

/* Ends when the peer's kernel has not acknowledged something for so long: the way there is gone. A
 * peer that is merely stopped acknowledges. 30 s without. */
void clv_net_channel_set_patience(clv_net_channel_t *channel, int64_t patience_ns);
/* Something that was sent is not acknowledged. */
bool clv_net_channel_is_unacknowledged(const clv_net_channel_t *channel);

int clv_net_channel_fd(const clv_net_channel_t *channel);
bool clv_net_channel_is_up(const clv_net_channel_t *channel);
/* The client's host and group; server: once known. */
uint32_t clv_net_channel_host(const clv_net_channel_t *channel);
const unsigned char *clv_net_channel_group_id(const clv_net_channel_t *channel);
uint32_t clv_net_channel_events(const clv_net_channel_t *channel); /* epoll events it wants now */
int64_t clv_net_channel_sent_bytes(const clv_net_channel_t *channel);
int64_t clv_net_channel_received_bytes(const clv_net_channel_t *channel);

/* The socket is ready (or may be). CLV_LOST: it ended, and all that had come was taken;
 * CLV_PROTOCOL: the peer is not one of us or said nonsense; CLV_NO_MEMORY, CLV_SYSTEM. Anything but
 * CLV_OK: close it. */
clv_status_t clv_net_channel_io(clv_net_channel_t *channel, const clv_net_channel_ops_t *ops,
                                void *context) CLV_MUST_CHECK;

/* Sends or queues one frame of a channel that is up. CLV_LIMIT: the queue is full; CLV_LOST. */
clv_status_t clv_net_channel_send(clv_net_channel_t *channel, clv_net_frame_kind_t kind,
                                  const clv_net_stamp_t *stamp, const void *payload,
                                  size_t payload_bytes) CLV_MUST_CHECK;

#endif
