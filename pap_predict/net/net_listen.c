/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The listener, pending connections in their handshake, and connections' sockets in the loop; see
 * net_listen.h.
 *
 * A pending connection costs at most one small struct, for at most two seconds. If all entries are
 * taken, the oldest is dropped after 0.1 s, so a peer that answers at once always gets through.
 * Each accept takes a token from a bucket that refills with time, and a proved key returns the
 * token: a flood cannot take more than about 1 % of a core.
 */
#include "pap_predict/net/net_listen.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/util_alloc.h"
#include "util/util_log.h"
#include "util/util_time.h"

#define HANDSHAKE_NS  (2 * CLV_NS_PER_S)
#define PATIENCE_NS   (100 * CLV_NS_PER_MS) /* a pending connection keeps its slot this long */
#define ACCEPT_NS     (4 * CLV_NS_PER_MS)   /* on average one accept per ACCEPT_NS ... */
#define ACCEPT_MAX_NS (64 * ACCEPT_NS)      /* ... and at most 64 at once: a parent's children */
#define BACKLOG       128

/* ---- a connection's events ---------------------------------------------------------------- */

static const unsigned char *conn_find(void *context, const unsigned char *group_id, uint32_t host,
                                      size_t *max_payload_p)
{
    const clv_net_server_t *server = ((clv_net_conn_t *) context)->server;
    return server->ops.find(server->context, group_id, host, max_payload_p);
}

static void forget_pending(clv_net_conn_t *conn)
{
    for (int i = 0; i < CLV_NET_MAX_PENDING; i++) {
        if (conn->server->pending[i] == conn) {
            conn->server->pending[i] = NULL;
        }
    }
}

/* The peer has proved that it knows the key. The leader that it wants may be gone since the
 * hello. */
static int adopt(clv_net_conn_t *conn)
{
    clv_net_server_t *server = conn->server;
    conn->owner = server->ops.adopt(server->context, clv_net_channel_group_id(conn->channel),
                                    clv_net_channel_host(conn->channel), &conn->place);
    if (conn->owner == NULL) {
        return -1;
    }
    server->accept_tokens_ns += ACCEPT_NS; /* only connections without a proof use up tokens */
    forget_pending(conn);
    return 0;
}

static int conn_up(void *context, clv_net_channel_t *channel)
{
    clv_net_conn_t *conn = context;
    (void) channel;
    if (conn->owner == NULL && adopt(conn) != 0) {
        return -1;
    }
    conn->deadline_ns = INT64_MAX;
    conn->server->ops.up(conn->owner, conn);
    return 0;
}

static clv_status_t conn_frame(void *context, clv_net_channel_t *channel, clv_net_frame_kind_t kind,
                               const clv_net_stamp_t *stamp, int64_t received_ns,
                               const unsigned char *payload, size_t payload_bytes)
{
    clv_net_conn_t *conn = context;
    (void) channel;
    return conn->server->ops.frame(conn->owner, conn, kind, stamp, received_ns, payload,
                                   payload_bytes);
}

static const clv_net_channel_ops_t conn_ops = {conn_find, conn_up, conn_frame};

static void count(const clv_net_server_t *server, clv_net_counter_t what, int64_t more)
{
    server->ops.count(server->context, what, more);
}

static void drop(clv_net_conn_t *conn, clv_status_t status)
{
    /* A pending connection that ends by itself may be one of ours that had to start again. */
    if ((conn->owner == NULL && status != CLV_LOST) || status == CLV_PROTOCOL) {
        count(conn->server, CLV_NET_REJECTED, 1);
        clv_log(CLV_LOG_DEBUG, "connection closed: %s", clv_status_text(status));
    }
    if (conn->owner) {
        conn->server->ops.lost(conn->owner, conn);
    } else {
        forget_pending(conn);
    }
    clv_net_conn_close(conn);
}

static void conn_ready(void *owner, uint32_t events)
{
    clv_net_conn_t *conn = owner;
    (void) events; /* errors show as a failing read or write */
    clv_status_t status = clv_net_channel_io(conn->channel, &conn_ops, conn);
    if (status != CLV_OK) {
        drop(conn, status);
    } else {
        clv_net_conn_rewatch(conn);
    }
}

clv_net_conn_t *clv_net_conn_new(clv_net_server_t *server, clv_net_channel_t *channel, void *owner,
                                 int32_t place, int64_t deadline_ns)
{
    clv_net_conn_t *conn = clv_alloc(1, sizeof *conn);
    if (conn) {
        *conn = (clv_net_conn_t){.server = server,
                                 .channel = channel,
                                 .owner = owner,
                                 .place = place,
                                 .deadline_ns = deadline_ns};
        if (clv_net_thread_watch(server->thread, clv_net_channel_fd(channel),
                                 clv_net_channel_events(channel), conn_ready, conn,
                                 &conn->watch) == CLV_OK) {
            return conn;
        }
    }
    clv_free(conn);
    clv_net_channel_close(channel);
    return NULL;
}

static void count_bytes(clv_net_conn_t *conn)
{
    const int64_t sent = clv_net_channel_sent_bytes(conn->channel);
    const int64_t received = clv_net_channel_received_bytes(conn->channel);
    count(conn->server, CLV_NET_SENT_BYTES, sent - conn->sent_bytes);
    count(conn->server, CLV_NET_RECEIVED_BYTES, received - conn->received_bytes);
    conn->sent_bytes = sent;
    conn->received_bytes = received;
}

void clv_net_conn_rewatch(clv_net_conn_t *conn)
{
    count_bytes(conn);
    clv_net_thread_rewatch(conn->server->thread, conn->watch,
                           clv_net_channel_events(conn->channel));
}

void clv_net_conn_drain(clv_net_conn_t *conn)
{
    if (clv_net_channel_is_up(conn->channel) &&
        clv_net_channel_io(conn->channel, &conn_ops, conn) != CLV_OK) {
        conn->is_broken = true;
    }
}

void clv_net_conn_close(clv_net_conn_t *conn)
{
    if (conn) {
        count_bytes(conn);
        clv_net_thread_unwatch(conn->server->thread, conn->watch);
        clv_net_channel_close(conn->channel);
        clv_free(conn);
    }
}

/* ---- pending connections --------------------------------------------------------------------- */

/* A free slot, or that of a connection that had enough time and did not use it; -1: none. */
static int pending_place(clv_net_server_t *server, int64_t now_ns)
{
    int oldest = 0;
    for (int i = 0; i < CLV_NET_MAX_PENDING; i++) {
        if (server->pending[i] == NULL) {
            return i;
        }
        if (server->pending[i]->deadline_ns < server->pending[oldest]->deadline_ns) {
            oldest = i;
        }
    }
    if (now_ns < server->pending[oldest]->deadline_ns - HANDSHAKE_NS + PATIENCE_NS) {
        return -1;
    }
    drop(server->pending[oldest], CLV_LIMIT);
    return oldest;
}

/* Refuses connections that came in over an interface we do not use. */
static bool came_to_our_address(const clv_net_server_t *server, int fd)
{
    struct sockaddr_storage local;
    socklen_t local_bytes = sizeof local;
    clv_net_address_t address;
    return getsockname(fd, (struct sockaddr *) &local, &local_bytes) == 0 &&
           clv_net_address_from_sockaddr((struct sockaddr *) &local, &address) == CLV_OK &&
           clv_net_interface_is_own(server->addresses, server->n_addresses, &address);
}

static void let_in(clv_net_server_t *server, int fd, int place, int64_t now_ns)
{
    clv_net_channel_t *channel = NULL;
    if (!came_to_our_address(server, fd) || clv_net_channel_accept(fd, &channel) != CLV_OK) {
        count(server, CLV_NET_REJECTED, 1);
        (void) close(fd);
        return;
    }
    server->pending[place] = clv_net_conn_new(server, channel, NULL, -1, now_ns + HANDSHAKE_NS);
}

/* ---- the listener ------------------------------------------------------------------------- */

static bool may_accept(clv_net_server_t *server, int64_t now_ns)
{
    server->accept_tokens_ns += now_ns - server->accept_filled_ns;
    server->accept_filled_ns = now_ns;
    if (server->accept_tokens_ns > ACCEPT_MAX_NS) {
        server->accept_tokens_ns = ACCEPT_MAX_NS;
    }
    return server->accept_tokens_ns >= ACCEPT_NS;
}

static void listener_ready(void *owner, uint32_t events)
{
    clv_net_server_t *server = owner;
    int fd = -1, place = -1;
    (void) events;
    const int64_t now_ns = clv_local_now_ns();
    while (may_accept(server, now_ns) && (place = pending_place(server, now_ns)) >= 0 &&
           (fd = accept4(server->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        server->accept_tokens_ns -= ACCEPT_NS;
        let_in(server, fd, place, now_ns);
    }
    /* Also when descriptors ran out: look again later instead of spinning on a full backlog. */
    if (place < 0 || !may_accept(server, now_ns) ||
        (fd < 0 && errno != EAGAIN && errno != EWOULDBLOCK)) {
        server->accept_again_ns = now_ns + 4 * ACCEPT_NS;
        clv_net_thread_rewatch(server->thread, server->listen_watch, 0);
    }
}

/* Listens on a port (0: any): IPv6 that also takes IPv4, or IPv4. A port of a range may be reused
 * while connections of an earlier job on it time out, but never while another socket listens. */
static int listening_socket(int family, uint16_t port, int is_in_range)
{
    const int off = 0;
    const clv_net_address_t any = {.family = family == AF_INET6 ? 6 : 4};
    struct sockaddr_storage local;
    const socklen_t local_bytes = clv_net_address_to_sockaddr(&any, port, &local);
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 ||
        ((family != AF_INET6 || setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0) &&
         setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &is_in_range, sizeof is_in_range) == 0 &&
         bind(fd, (struct sockaddr *) &local, local_bytes) == 0 && listen(fd, BACKLOG) == 0)) {
        return fd;
    }
    (void) close(fd);
    return -1;
}

/* The first free port of the range, or one chosen by the kernel; IPv4 if there is no IPv6. */
static int open_listener(const clv_net_server_t *server)
{
    static const int families[] = {AF_INET6, AF_INET};
    const bool is_in_range = server->port_min > 0;
    const int32_t n_ports = is_in_range ? server->port_range : 1;
    for (int f = 0; f < 2; f++) {
        for (int32_t port = server->port_min;
             port < server->port_min + n_ports && port <= UINT16_MAX; port++) {
            const int fd = listening_socket(families[f], (uint16_t) port, is_in_range);
            if (fd >= 0) {
                return fd;
            }
        }
    }
    if (is_in_range) {
        clv_log(CLV_LOG_HOST, "none of the %d ports from %d on is free", (int) n_ports,
                (int) server->port_min);
    }
    return -1;
}

static uint16_t port_of(int fd)
{
    struct sockaddr_storage local;
    socklen_t local_bytes = sizeof local;
    struct sockaddr_in in;
    if (getsockname(fd, (struct sockaddr *) &local, &local_bytes) != 0) {
        return 0;
    }
    memcpy(&in, &local, sizeof in); /* both families have the port at the same offset */
    return ntohs(in.sin_port);
}

void clv_net_server_init(clv_net_server_t *server, clv_net_thread_t *thread,
                         const clv_net_server_ops_t *ops, void *context)
{
    server->thread = thread;
    server->ops = *ops;
    server->context = context;
    server->listen_fd = -1;
}

clv_status_t clv_net_listen_acquire(clv_net_server_t *server)
{
    if (server->n_listen_users > 0) {
        server->n_listen_users++;
        return CLV_OK;
    }
    int fd = open_listener(server);
    if (fd < 0) {
        return server->port_min > 0 ? CLV_SYSTEM : CLV_NO_MEMORY;
    }
    if (clv_net_thread_watch(server->thread, fd, EPOLLIN, listener_ready, server,
                             &server->listen_watch) != CLV_OK) {
        (void) close(fd);
        return CLV_SYSTEM;
    }
    server->listen_fd = fd;
    server->port = port_of(fd);
    server->accept_again_ns = INT64_MAX;
    server->accept_tokens_ns = ACCEPT_MAX_NS;
    server->accept_filled_ns = clv_local_now_ns();
    server->n_listen_users = 1;
    return CLV_OK;
}

void clv_net_listen_release(clv_net_server_t *server)
{
    if (--server->n_listen_users == 0) {
        clv_net_listen_close(server);
    }
}

void clv_net_listen_close(clv_net_server_t *server)
{
    for (int i = 0; i < CLV_NET_MAX_PENDING; i++) {
        if (server->pending[i]) {
            drop(server->pending[i], CLV_LOST);
        }
    }
    if (server->listen_fd >= 0) {
        clv_net_thread_unwatch(server->thread, server->listen_watch);
        (void) close(server->listen_fd);
        server->listen_fd = -1;
    }
}

int64_t clv_net_listen_work(clv_net_server_t *server, int64_t now_ns)
{
    if (server->listen_fd < 0) {
        return INT64_MAX;
    }
    if (now_ns >= server->accept_again_ns) {
        server->accept_again_ns = INT64_MAX;
        clv_net_thread_rewatch(server->thread, server->listen_watch, EPOLLIN);
    }
    int64_t deadline_ns = server->accept_again_ns;
    for (int i = 0; i < CLV_NET_MAX_PENDING; i++) {
        clv_net_conn_t *one = server->pending[i];
        if (one && now_ns >= one->deadline_ns) {
            drop(one, CLV_TIMEOUT);
        } else if (one && one->deadline_ns < deadline_ns) {
            deadline_ns = one->deadline_ns;
        }
    }
    return deadline_ns;
}
