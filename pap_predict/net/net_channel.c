/* SPDX-License-Identifier: BSD-3-Clause
 * See net_channel.h.
 */
#include "pap_predict/net/net_channel.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>

#include "util/util_bytes.h"
#include "pap_predict/net/net_mac.h"
#include "util/util_alloc.h"
#include "util/util_secret.h"
#include "util/util_time.h"

#define HELLO_MAGIC     UINT32_C(0x48766c63) /* "clvH" */
#define HELLO_VERSION   1
#define NONCE_BYTES     16
#define HELLO_BYTES     48 /* magic, version, group id, host, 0, nonce */
#define CHALLENGE_BYTES (NONCE_BYTES + CLV_NET_MAC_BYTES)
#define PROOF_BYTES     CLV_NET_MAC_BYTES
#define HEADER_BYTES    48 /* payload bytes, kind, has_global, 4 times, tag */
#define TAG_AT          40
#define MAX_READS       8  /* per io call, so that one busy peer does not delay the others */
#define QUEUE_FRAMES    40 /* two record sets of 16 slots again, and pings, after a reconnect */
#define QUEUE_MIN_BYTES 4096

typedef enum channel_state {
    CONNECTING,     /* client: waiting for the connection */
    WAIT_CHALLENGE, /* client */
    WAIT_HELLO,     /* server */
    WAIT_PROOF,     /* server */
    UP,
} channel_state_t;

typedef struct queue {
    unsigned char *bytes;
    size_t capacity, first, end; /* waiting: first .. end */
} queue_t;

/* In memory that core files leave out. */
typedef struct channel_keys {
    unsigned char group[CLV_NET_KEY_BYTES];
    unsigned char send[CLV_NET_SIPHASH_BYTES], recv[CLV_NET_SIPHASH_BYTES];
} channel_keys_t;

_Static_assert(sizeof(channel_keys_t) <= CLV_SECRET_BYTES, "a channel's keys are one secret");

struct clv_net_channel {
    int fd;
    bool is_client;
    channel_state_t state;
    uint32_t host;
    size_t max_payload;
    channel_keys_t *keys;
    unsigned char group_id[CLV_NET_GROUP_ID_BYTES];
    unsigned char transcript[HELLO_BYTES + NONCE_BYTES];
    uint64_t n_sent, n_received; /* frames; part of the tag */
    int64_t sent_bytes, received_bytes;
    unsigned char hello[64]; /* the input before the channel is up */
    unsigned char *in;
    size_t in_capacity, in_used;
    queue_t out;
};

_Static_assert(CHALLENGE_BYTES <= 64 && HELLO_BYTES <= 64, "handshakes fit the small buffer");

/* ---- handshake pieces --------------------------------------------------------------------- */

void clv_net_group_id(const unsigned char *key, unsigned char group_id[CLV_NET_GROUP_ID_BYTES])
{
    unsigned char mac[CLV_NET_MAC_BYTES];
    clv_net_hmac(key, CLV_NET_KEY_BYTES, "clv group 1", 11, NULL, 0, mac);
    memcpy(group_id, mac, CLV_NET_GROUP_ID_BYTES);
}

static void transcript_mac(const clv_net_channel_t *channel, const char *label,
                           unsigned char mac[CLV_NET_MAC_BYTES])
{
    clv_net_hmac(channel->keys->group, CLV_NET_KEY_BYTES, label, strlen(label), channel->transcript,
                 sizeof channel->transcript, mac);
}

static void make_frame_keys(clv_net_channel_t *channel)
{
    unsigned char keys[CLV_NET_MAC_BYTES];
    transcript_mac(channel, "clv frames 1", keys);
    memcpy(channel->is_client ? channel->keys->send : channel->keys->recv, keys, 16);
    memcpy(channel->is_client ? channel->keys->recv : channel->keys->send, keys + 16, 16);
    explicit_bzero(keys, sizeof keys);
}

static clv_status_t fill_nonce(unsigned char nonce[NONCE_BYTES])
{
    return getrandom(nonce, NONCE_BYTES, 0) == NONCE_BYTES ? CLV_OK : CLV_SYSTEM;
}

/* ---- sockets ------------------------------------------------------------------------------ */

/* Small messages leave at once. The kernel notices a host that silently went away; a stopped
 * process, whose kernel still answers, only counts as slow. */
static void set_socket_options(int fd)
{
    static const struct {
        int level, name, value;
    } options[] = {
        {IPPROTO_TCP, TCP_NODELAY, 1},   {SOL_SOCKET, SO_KEEPALIVE, 1},
        {IPPROTO_TCP, TCP_KEEPIDLE, 10}, {IPPROTO_TCP, TCP_KEEPINTVL, 5},
        {IPPROTO_TCP, TCP_KEEPCNT, 4},   {IPPROTO_TCP, TCP_USER_TIMEOUT, 30000},
    };
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        (void) setsockopt(fd, options[i].level, options[i].name, &options[i].value, sizeof(int));
    }
}

static clv_net_channel_t *new_channel(int fd, bool is_client)
{
    clv_net_channel_t *channel = clv_alloc(1, sizeof *channel);
    channel_keys_t *keys = channel == NULL ? NULL : clv_secret_new();
    if (keys == NULL) {
        clv_free(channel);
        return NULL;
    }
    channel->keys = keys;
    channel->fd = fd;
    channel->is_client = is_client;
    channel->state = is_client ? CONNECTING : WAIT_HELLO;
    channel->in = channel->hello;
    channel->in_capacity = is_client ? CHALLENGE_BYTES : HELLO_BYTES;
    set_socket_options(fd);
    return channel;
}

clv_status_t clv_net_channel_accept(int fd, clv_net_channel_t **channel_p)
{
    clv_net_channel_t *channel = new_channel(fd, false);
    if (channel == NULL) {
        return CLV_NO_MEMORY;
    }
    *channel_p = channel;
    return CLV_OK;
}

clv_status_t clv_net_channel_connect(const clv_net_address_t *address, uint16_t port,
                                     const unsigned char *key, uint32_t host, size_t max_payload,
                                     clv_net_channel_t **channel_p)
{
    struct sockaddr_storage to;
    const socklen_t to_bytes = clv_net_address_to_sockaddr(address, port, &to);
    int fd = socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return CLV_SYSTEM;
    }
    clv_net_channel_t *channel = new_channel(fd, true);
    if (channel == NULL) {
        (void) close(fd);
        return CLV_NO_MEMORY;
    }
    memcpy(channel->keys->group, key, CLV_NET_KEY_BYTES);
    clv_net_group_id(key, channel->group_id);
    channel->host = host;
    channel->max_payload = max_payload;
    if (connect(fd, (struct sockaddr *) &to, to_bytes) != 0 && errno != EINPROGRESS) {
        clv_net_channel_close(channel);
        return CLV_LOST;
    }
    *channel_p = channel;
    return CLV_OK;
}

void clv_net_channel_close(clv_net_channel_t *channel)
{
    if (channel == NULL) {
        return;
    }
    /* The connection ends even if a forked child holds a copy of the descriptor. */
    (void) shutdown(channel->fd, SHUT_RDWR);
    (void) close(channel->fd);
    if (channel->in != channel->hello) {
        clv_free(channel->in);
    }
    clv_free(channel->out.bytes);
    clv_secret_free(channel->keys);
    clv_free(channel);
}

int clv_net_channel_fd(const clv_net_channel_t *channel)
{
    return channel->fd;
}

bool clv_net_channel_is_up(const clv_net_channel_t *channel)
{
    return channel->state == UP;
}

void clv_net_channel_set_patience(clv_net_channel_t *channel, int64_t patience_ns)
{
    const int ms = (int) (patience_ns / CLV_NS_PER_MS) + 1;
    (void) setsockopt(channel->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
}

bool clv_net_channel_is_unacknowledged(const clv_net_channel_t *channel)
{
    int n_bytes = 0;
    return channel->out.first < channel->out.end ||
           (ioctl(channel->fd, SIOCOUTQ, &n_bytes) == 0 && n_bytes > 0);
}

uint32_t clv_net_channel_host(const clv_net_channel_t *channel)
{
    return channel->host;
}

const unsigned char *clv_net_channel_group_id(const clv_net_channel_t *channel)
{
    return channel->group_id;
}

int64_t clv_net_channel_sent_bytes(const clv_net_channel_t *channel)
{
    return channel->sent_bytes;
}

int64_t clv_net_channel_received_bytes(const clv_net_channel_t *channel)
{
    return channel->received_bytes;
}

uint32_t clv_net_channel_events(const clv_net_channel_t *channel)
{
    const bool wants_out = channel->state == CONNECTING || channel->out.first < channel->out.end;
    return EPOLLIN | (wants_out ? (uint32_t) EPOLLOUT : 0);
}

/* ---- output ------------------------------------------------------------------------------- */

static size_t queue_bound(const clv_net_channel_t *channel)
{
    return QUEUE_MIN_BYTES + QUEUE_FRAMES * (HEADER_BYTES + channel->max_payload);
}

/* Makes room for n_bytes at the end of the queue; NULL: there is none. */
static unsigned char *queue_room(queue_t *queue, size_t n_bytes, size_t bound)
{
    const size_t waiting = queue->end - queue->first;
    if (queue->first > 0 && queue->end + n_bytes > queue->capacity) {
        memmove(queue->bytes, queue->bytes + queue->first, waiting);
        queue->first = 0;
        queue->end = waiting;
    }
    if (waiting + n_bytes > bound) {
        return NULL;
    }
    if (waiting + n_bytes > queue->capacity) {
        size_t capacity = 2 * (waiting + n_bytes);
        unsigned char *bytes = clv_alloc(1, capacity);
        if (bytes == NULL) {
            return NULL;
        }
        if (waiting > 0) {
            memcpy(bytes, queue->bytes, waiting);
        }
        clv_free(queue->bytes);
        queue->bytes = bytes;
        queue->capacity = capacity;
    }
    return queue->bytes + queue->end;
}

static clv_status_t flush(clv_net_channel_t *channel)
{
    queue_t *out = &channel->out;
    while (out->first < out->end) {
        const ssize_t n = send(channel->fd, out->bytes + out->first, out->end - out->first,
                               MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            return CLV_OK;
        }
        if (n < 0 && errno != EINTR) {
            return CLV_LOST;
        }
        out->first += n > 0 ? (size_t) n : 0;
        channel->sent_bytes += n > 0 ? n : 0;
    }
    out->first = out->end = 0;
    return CLV_OK;
}

static clv_status_t put(clv_net_channel_t *channel, const void *bytes, size_t n_bytes)
{
    unsigned char *room = queue_room(&channel->out, n_bytes, queue_bound(channel));
    if (room == NULL) {
        return CLV_LIMIT;
    }
    memcpy(room, bytes, n_bytes);
    channel->out.end += n_bytes;
    return flush(channel);
}

static uint64_t frame_tag(const unsigned char *key, uint64_t number, const unsigned char *header,
                          const void *payload, size_t payload_bytes)
{
    unsigned char tagged[TAG_AT + 8];
    memcpy(tagged, header, TAG_AT);
    clv_put_u64(tagged + TAG_AT, number);
    return clv_net_siphash(key, tagged, sizeof tagged, payload, payload_bytes);
}

static void put_header(unsigned char *header, clv_net_frame_kind_t kind,
                       const clv_net_stamp_t *stamp, size_t payload_bytes)
{
    memset(header, 0, HEADER_BYTES);
    clv_put_u32(header, (uint32_t) payload_bytes);
    header[4] = (unsigned char) kind;
    header[5] = stamp->has_global != 0;
    clv_put_u64(header + 8, (uint64_t) stamp->sent_ns);
    clv_put_u64(header + 16, (uint64_t) stamp->echo_sent_ns);
    clv_put_u64(header + 24, (uint64_t) stamp->echo_recv_ns);
    clv_put_u64(header + 32, (uint64_t) stamp->error_ns);
}

clv_status_t clv_net_channel_send(clv_net_channel_t *channel, clv_net_frame_kind_t kind,
                                  const clv_net_stamp_t *stamp, const void *payload,
                                  size_t payload_bytes)
{
    unsigned char header[HEADER_BYTES];
    if (channel->state != UP) {
        return CLV_LOST;
    }
    unsigned char *room =
        queue_room(&channel->out, HEADER_BYTES + payload_bytes, queue_bound(channel));
    if (payload_bytes > channel->max_payload || room == NULL) {
        return CLV_LIMIT;
    }
    put_header(header, kind, stamp, payload_bytes);
    clv_put_u64(header + TAG_AT,
                frame_tag(channel->keys->send, channel->n_sent++, header, payload, payload_bytes));
    memcpy(room, header, HEADER_BYTES);
    if (payload_bytes > 0) {
        memcpy(room + HEADER_BYTES, payload, payload_bytes);
    }
    channel->out.end += HEADER_BYTES + payload_bytes;
    return flush(channel);
}

/* ---- handshake ---------------------------------------------------------------------------- */

static clv_status_t send_hello(clv_net_channel_t *channel)
{
    unsigned char *hello = channel->transcript;
    clv_put_u32(hello, HELLO_MAGIC);
    clv_put_u32(hello + 4, HELLO_VERSION);
    memcpy(hello + 8, channel->group_id, CLV_NET_GROUP_ID_BYTES);
    clv_put_u32(hello + 24, channel->host);
    clv_put_u32(hello + 28, 0);
    if (fill_nonce(hello + 32) != CLV_OK) {
        return CLV_SYSTEM;
    }
    channel->state = WAIT_CHALLENGE;
    return put(channel, hello, HELLO_BYTES);
}

static clv_status_t finish_connect(clv_net_channel_t *channel)
{
    int error = 0;
    socklen_t error_bytes = sizeof error;
    struct sockaddr_storage peer;
    socklen_t peer_bytes = sizeof peer;
    if (getsockopt(channel->fd, SOL_SOCKET, SO_ERROR, &error, &error_bytes) != 0 || error != 0) {
        return CLV_LOST;
    }
    if (getpeername(channel->fd, (struct sockaddr *) &peer, &peer_bytes) != 0) {
        return CLV_OK; /* still connecting */
    }
    return send_hello(channel);
}

static clv_status_t go_up(clv_net_channel_t *channel, const clv_net_channel_ops_t *ops,
                          void *context)
{
    const size_t capacity = HEADER_BYTES + channel->max_payload;
    unsigned char *in = clv_alloc(1, capacity);
    if (in == NULL) {
        return CLV_NO_MEMORY;
    }
    channel->in = in;
    channel->in_capacity = capacity;
    make_frame_keys(channel);
    channel->state = UP;
    return ops->up(context, channel) == 0 ? CLV_OK : CLV_PROTOCOL;
}

static clv_status_t take_hello(clv_net_channel_t *channel, const clv_net_channel_ops_t *ops,
                               void *context)
{
    unsigned char challenge[CHALLENGE_BYTES];
    const unsigned char *hello = channel->in;
    if (clv_get_u32(hello) != HELLO_MAGIC || clv_get_u32(hello + 4) != HELLO_VERSION) {
        return CLV_PROTOCOL;
    }
    channel->host = clv_get_u32(hello + 24);
    memcpy(channel->group_id, hello + 8, CLV_NET_GROUP_ID_BYTES);
    const unsigned char *key =
        ops->find(context, channel->group_id, channel->host, &channel->max_payload);
    if (key == NULL) {
        return CLV_PROTOCOL;
    }
    memcpy(channel->keys->group, key, CLV_NET_KEY_BYTES);
    memcpy(channel->transcript, hello, HELLO_BYTES);
    if (fill_nonce(channel->transcript + HELLO_BYTES) != CLV_OK) {
        return CLV_SYSTEM;
    }
    memcpy(challenge, channel->transcript + HELLO_BYTES, NONCE_BYTES);
    transcript_mac(channel, "clv server 1", challenge + NONCE_BYTES);
    channel->state = WAIT_PROOF;
    channel->in_capacity = PROOF_BYTES;
    return put(channel, challenge, sizeof challenge);
}

static clv_status_t take_challenge(clv_net_channel_t *channel, const clv_net_channel_ops_t *ops,
                                   void *context)
{
    unsigned char mac[CLV_NET_MAC_BYTES];
    memcpy(channel->transcript + HELLO_BYTES, channel->in, NONCE_BYTES);
    transcript_mac(channel, "clv server 1", mac);
    if (!clv_net_mac_equal(mac, channel->in + NONCE_BYTES, sizeof mac)) {
        return CLV_PROTOCOL;
    }
    transcript_mac(channel, "clv client 1", mac);
    clv_status_t status = put(channel, mac, PROOF_BYTES);
    return status == CLV_OK ? go_up(channel, ops, context) : status;
}

static clv_status_t take_proof(clv_net_channel_t *channel, const clv_net_channel_ops_t *ops,
                               void *context)
{
    unsigned char mac[CLV_NET_MAC_BYTES];
    transcript_mac(channel, "clv client 1", mac);
    if (!clv_net_mac_equal(mac, channel->in, sizeof mac)) {
        return CLV_PROTOCOL;
    }
    return go_up(channel, ops, context);
}

static clv_status_t take_handshake(clv_net_channel_t *channel, const clv_net_channel_ops_t *ops,
                                   void *context)
{
    channel->in_used = 0; /* each handshake message is taken as a whole */
    switch (channel->state) {
    case WAIT_HELLO:
        return take_hello(channel, ops, context);
    case WAIT_CHALLENGE:
        return take_challenge(channel, ops, context);
    case WAIT_PROOF:
        return take_proof(channel, ops, context);
    default:
        return CLV_PROTOCOL;
    }
}

/* ---- input -------------------------------------------------------------------------------- */

static void get_stamp(const unsigned char *header, clv_net_stamp_t *stamp)
{
    stamp->has_global = header[5];
    stamp->sent_ns = (int64_t) clv_get_u64(header + 8);
    stamp->echo_sent_ns = (int64_t) clv_get_u64(header + 16);
    stamp->echo_recv_ns = (int64_t) clv_get_u64(header + 24);
    stamp->error_ns = (int64_t) clv_get_u64(header + 32);
}

/* The length of the frame at the front of the input. CLV_AGAIN: it is not complete yet. */
static clv_status_t whole_frame(const clv_net_channel_t *channel, const unsigned char *at,
                                size_t n_bytes, size_t *frame_bytes_p)
{
    if (n_bytes < HEADER_BYTES) {
        return CLV_AGAIN;
    }
    const uint32_t payload_bytes = clv_get_u32(at);
    if (payload_bytes > channel->max_payload || at[4] < CLV_NET_FRAME_PING ||
        at[4] > CLV_NET_FRAME_THROUGH || at[5] > 1 || at[6] != 0 || at[7] != 0) {
        return CLV_PROTOCOL;
    }
    *frame_bytes_p = HEADER_BYTES + payload_bytes;
    return n_bytes < *frame_bytes_p ? CLV_AGAIN : CLV_OK;
}

static clv_status_t take_frame(clv_net_channel_t *channel, const clv_net_channel_ops_t *ops,
                               void *context, int64_t received_ns, const unsigned char *at,
                               size_t frame_bytes)
{
    clv_net_stamp_t stamp;
    const uint64_t tag = frame_tag(channel->keys->recv, channel->n_received++, at,
                                   at + HEADER_BYTES, frame_bytes - HEADER_BYTES);
    if (clv_get_u64(at + TAG_AT) != tag) {
        return CLV_PROTOCOL;
    }
    get_stamp(at, &stamp);
    return ops->frame(context, channel, (clv_net_frame_kind_t) at[4], &stamp, received_ns,
                      at + HEADER_BYTES, frame_bytes - HEADER_BYTES);
}

static clv_status_t take_frames(clv_net_channel_t *channel, const clv_net_channel_ops_t *ops,
                                void *context, int64_t received_ns)
{
    size_t at = 0, frame_bytes = 0;
    clv_status_t status;
    while ((status = whole_frame(channel, channel->in + at, channel->in_used - at, &frame_bytes)) ==
           CLV_OK) {
        status = take_frame(channel, ops, context, received_ns, channel->in + at, frame_bytes);
        if (status != CLV_OK) {
            return status;
        }
        at += frame_bytes;
    }
    memmove(channel->in, channel->in + at, channel->in_used - at);
    channel->in_used -= at;
    return status == CLV_AGAIN ? CLV_OK : status;
}

/* One read, and the frames that it completes. CLV_AGAIN: there was nothing to read. */
static clv_status_t read_some(clv_net_channel_t *channel, const clv_net_channel_ops_t *ops,
                              void *context)
{
    const ssize_t n = recv(channel->fd, channel->in + channel->in_used,
                           channel->in_capacity - channel->in_used, MSG_DONTWAIT);
    const int64_t received_ns = clv_local_now_ns();
    if (n < 0) {
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? CLV_AGAIN : CLV_LOST;
    }
    if (n == 0) {
        return CLV_LOST;
    }
    const int now = 1;
    (void) setsockopt(channel->fd, IPPROTO_TCP, TCP_QUICKACK, &now, sizeof now);
    channel->in_used += (size_t) n;
    channel->received_bytes += n;
    if (channel->state == UP) {
        return take_frames(channel, ops, context, received_ns);
    }
    return channel->in_used == channel->in_capacity ? take_handshake(channel, ops, context)
                                                    : CLV_OK;
}

clv_status_t clv_net_channel_io(clv_net_channel_t *channel, const clv_net_channel_ops_t *ops,
                                void *context)
{
    if (channel->state == CONNECTING) {
        const clv_status_t connected = finish_connect(channel);
        if (connected != CLV_OK || channel->state == CONNECTING) {
            return connected;
        }
    }
    /* A failed send does not invalidate what was received before: read it first. */
    const clv_status_t sent = flush(channel);
    clv_status_t status = CLV_OK;
    for (int i = 0; status == CLV_OK && (i < MAX_READS || sent != CLV_OK); i++) {
        status = read_some(channel, ops, context);
    }
    return status == CLV_OK || status == CLV_AGAIN ? sent : status;
}
