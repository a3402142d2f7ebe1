/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The door: the listener, strangers in their handshake, and connections' sockets in the loop.
 * See pap_process.h; everything here runs under the thread's lock.
 *
 * A stranger costs at most one small struct, for at most two seconds; when all places are taken
 * the oldest stranger goes after 0.1 s, so a peer that answers at once always gets through. Accepting is paid
 * from a bucket that fills with time and that a proved key pays back: a flood cannot take more than
 * about 1 % of a core.
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pap_predict/pap_leader.h"
#include "pap_predict/pap_process.h"
#include "util/util_alloc.h"
#include "util/util_log.h"
#include "util/util_time.h"

#define HANDSHAKE_NS  (2 * CLV_NS_PER_S)
#define PATIENCE_NS   (100 * CLV_NS_PER_MS) /* a stranger keeps its place so long at least */
#define ACCEPT_NS     (4 * CLV_NS_PER_MS) /* one accept each so often in the long run ... */
#define ACCEPT_MAX_NS (64 * ACCEPT_NS)    /* ... and so many at once: a parent's children */
#define BACKLOG       128

/* ---- a connection's events ---------------------------------------------------------------- */

static const unsigned char *conn_find(void *context, const unsigned char *group_id, uint32_t node,
                                      size_t *max_payload_p)
{
    const clv_pap_conn_t *conn = context;
    int32_t neighbour;
    for (clv_pap_leader_t *one = conn->pap->leaders; one; one = *clv_pap_leader_next(one)) {
        const unsigned char *key =
            clv_pap_leader_expects(one, group_id, node, &neighbour, max_payload_p);
        if (key) {
            return key;
        }
    }
    return NULL;
}

static void forget_stranger(clv_pap_conn_t *conn)
{
    for (int i = 0; i < CLV_PAP_MAX_STRANGERS; i++) {
        if (conn->pap->strangers[i] == conn) {
            conn->pap->strangers[i] = NULL;
        }
    }
}

/* A stranger has proved that it knows the key; its leader may have gone since the hello. */
static int adopt(clv_pap_conn_t *conn)
{
    size_t ignored;
    for (clv_pap_leader_t *one = conn->pap->leaders; one; one = *clv_pap_leader_next(one)) {
        if (clv_pap_leader_expects(one, clv_net_channel_group_id(conn->channel),
                                   clv_net_channel_node(conn->channel), &conn->neighbour,
                                   &ignored)) {
            conn->leader = one;
            conn->pap->accept_tokens_ns += ACCEPT_NS; /* only those who prove nothing pay */
            forget_stranger(conn);
            return 0;
        }
    }
    return -1;
}

static int conn_up(void *context, clv_net_channel_t *channel)
{
    clv_pap_conn_t *conn = context;
    (void) channel;
    if (conn->leader == NULL && adopt(conn) != 0) {
        return -1;
    }
    conn->deadline_ns = INT64_MAX;
    clv_pap_leader_conn_up(conn->leader, conn);
    return 0;
}

static clv_status_t conn_frame(void *context, clv_net_channel_t *channel, clv_net_frame_kind_t kind,
                               const clv_net_stamp_t *stamp, int64_t received_ns,
                               const unsigned char *payload, size_t payload_bytes)
{
    clv_pap_conn_t *conn = context;
    (void) channel;
    return clv_pap_leader_frame(conn->leader, conn, kind, stamp, received_ns, payload,
                                payload_bytes);
}

static const clv_net_channel_ops_t conn_ops = {conn_find, conn_up, conn_frame};

static void drop(clv_pap_conn_t *conn, clv_status_t status)
{
    /* A stranger that just goes away again may be one of ours that had to start anew. */
    if ((conn->leader == NULL && status != CLV_LOST) || status == CLV_PROTOCOL) {
        clv_pap_count(conn->pap, CLV_PAP_COUNT_rejected, 1);
        clv_log(CLV_LOG_DEBUG, "connection closed: %s", clv_status_text(status));
    }
    if (conn->leader) {
        clv_pap_leader_conn_lost(conn->leader, conn);
    } else {
        forget_stranger(conn);
    }
    clv_pap_conn_close(conn);
}

static void conn_ready(void *owner, uint32_t events)
{
    clv_pap_conn_t *conn = owner;
    (void) events; /* errors show as a failing read or write */
    clv_status_t status = clv_net_channel_io(conn->channel, &conn_ops, conn);
    if (status != CLV_OK) {
        drop(conn, status);
    } else {
        clv_pap_conn_rewatch(conn);
    }
}

clv_pap_conn_t *clv_pap_conn_new(clv_pap_t *pap, clv_net_channel_t *channel,
                                 clv_pap_leader_t *leader, int32_t neighbour, int64_t deadline_ns)
{
    clv_pap_conn_t *conn = clv_alloc(1, sizeof *conn);
    if (conn) {
        *conn = (clv_pap_conn_t){.pap = pap,
                                 .channel = channel,
                                 .leader = leader,
                                 .neighbour = neighbour,
                                 .deadline_ns = deadline_ns};
        if (clv_net_thread_watch(pap->thread, clv_net_channel_fd(channel),
                                 clv_net_channel_events(channel), conn_ready, conn,
                                 &conn->watch) == CLV_OK) {
            return conn;
        }
    }
    clv_free(conn);
    clv_net_channel_close(channel);
    return NULL;
}

static void count_bytes(clv_pap_conn_t *conn)
{
    const int64_t sent = clv_net_channel_sent_bytes(conn->channel);
    const int64_t received = clv_net_channel_received_bytes(conn->channel);
    clv_pap_count(conn->pap, CLV_PAP_COUNT_sent_bytes, sent - conn->sent_bytes);
    clv_pap_count(conn->pap, CLV_PAP_COUNT_received_bytes, received - conn->received_bytes);
    conn->sent_bytes = sent;
    conn->received_bytes = received;
}

void clv_pap_conn_rewatch(clv_pap_conn_t *conn)
{
    count_bytes(conn);
    clv_net_thread_rewatch(conn->pap->thread, conn->watch, clv_net_channel_events(conn->channel));
}

void clv_pap_conn_close(clv_pap_conn_t *conn)
{
    if (conn) {
        count_bytes(conn);
        clv_net_thread_unwatch(conn->pap->thread, conn->watch);
        clv_net_channel_close(conn->channel);
        clv_free(conn);
    }
}

/* ---- strangers ---------------------------------------------------------------------------- */

/* A free place, or that of a stranger who has had time enough and did not use it; -1: none. */
static int stranger_place(clv_pap_t *pap, int64_t now_ns)
{
    int oldest = 0;
    for (int i = 0; i < CLV_PAP_MAX_STRANGERS; i++) {
        if (pap->strangers[i] == NULL) {
            return i;
        }
        if (pap->strangers[i]->deadline_ns < pap->strangers[oldest]->deadline_ns) {
            oldest = i;
        }
    }
    if (now_ns < pap->strangers[oldest]->deadline_ns - HANDSHAKE_NS + PATIENCE_NS) {
        return -1;
    }
    drop(pap->strangers[oldest], CLV_LIMIT);
    return oldest;
}

/* A connection that came in over an interface we do not use is not let in. */
static int came_to_our_address(const clv_pap_t *pap, int fd)
{
    struct sockaddr_storage local;
    socklen_t local_bytes = sizeof local;
    clv_net_address_t address;
    return getsockname(fd, (struct sockaddr *) &local, &local_bytes) == 0 &&
           clv_net_address_from_sockaddr((struct sockaddr *) &local, &address) == CLV_OK &&
           clv_net_interface_is_own(pap->addresses, pap->n_addresses, &address);
}

static void let_in(clv_pap_t *pap, int fd, int place, int64_t now_ns)
{
    clv_net_channel_t *channel = NULL;
    if (!came_to_our_address(pap, fd) || clv_net_channel_accept(fd, &channel) != CLV_OK) {
        clv_pap_count(pap, CLV_PAP_COUNT_rejected, 1);
        (void) close(fd);
        return;
    }
    pap->strangers[place] = clv_pap_conn_new(pap, channel, NULL, -1, now_ns + HANDSHAKE_NS);
}

/* ---- the listener ------------------------------------------------------------------------- */

static int may_accept(clv_pap_t *pap, int64_t now_ns)
{
    pap->accept_tokens_ns += now_ns - pap->accept_filled_ns;
    pap->accept_filled_ns = now_ns;
    if (pap->accept_tokens_ns > ACCEPT_MAX_NS) {
        pap->accept_tokens_ns = ACCEPT_MAX_NS;
    }
    return pap->accept_tokens_ns >= ACCEPT_NS;
}

static void listener_ready(void *owner, uint32_t events)
{
    clv_pap_t *pap = owner;
    int fd = -1, place = -1;
    (void) events;
    const int64_t now_ns = clv_local_now_ns();
    while (may_accept(pap, now_ns) && (place = stranger_place(pap, now_ns)) >= 0 &&
           (fd = accept4(pap->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        pap->accept_tokens_ns -= ACCEPT_NS;
        let_in(pap, fd, place, now_ns);
    }
    /* Also when descriptors ran out: look again later instead of spinning on a full backlog. */
    if (place < 0 || !may_accept(pap, now_ns) ||
        (fd < 0 && errno != EAGAIN && errno != EWOULDBLOCK)) {
        pap->accept_again_ns = now_ns + 4 * ACCEPT_NS;
        clv_net_thread_rewatch(pap->thread, pap->listen_watch, 0);
    }
}

/* IPv6 that also takes IPv4, or IPv4 alone where there is no IPv6. Any port. */
static int bound_socket(void)
{
    const int off = 0;
    struct sockaddr_in6 any6 = {.sin6_family = AF_INET6};
    struct sockaddr_in any4 = {.sin_family = AF_INET};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        if (setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0 &&
            bind(fd, (struct sockaddr *) &any6, sizeof any6) == 0) {
            return fd;
        }
        (void) close(fd);
    }
    fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *) &any4, sizeof any4) != 0) {
        (void) close(fd);
        fd = -1;
    }
    return fd;
}

static uint16_t port_of(int fd)
{
    struct sockaddr_storage local;
    socklen_t local_bytes = sizeof local;
    struct sockaddr_in in;
    if (getsockname(fd, (struct sockaddr *) &local, &local_bytes) != 0) {
        return 0;
    }
    memcpy(&in, &local, sizeof in); /* the port is at the same place in both families */
    return ntohs(in.sin_port);
}

clv_status_t clv_pap_listen_acquire(clv_pap_t *pap)
{
    if (pap->n_listen_users > 0) {
        pap->n_listen_users++;
        return CLV_OK;
    }
    int fd = bound_socket();
    if (fd < 0) {
        return CLV_SYSTEM;
    }
    if (listen(fd, BACKLOG) != 0 ||
        clv_net_thread_watch(pap->thread, fd, EPOLLIN, listener_ready, pap, &pap->listen_watch) !=
            CLV_OK) {
        (void) close(fd);
        return CLV_SYSTEM;
    }
    pap->listen_fd = fd;
    pap->port = port_of(fd);
    pap->accept_again_ns = INT64_MAX;
    pap->accept_tokens_ns = ACCEPT_MAX_NS;
    pap->accept_filled_ns = clv_local_now_ns();
    pap->n_listen_users = 1;
    return CLV_OK;
}

void clv_pap_listen_release(clv_pap_t *pap)
{
    if (--pap->n_listen_users == 0) {
        clv_pap_listen_close(pap);
    }
}

void clv_pap_listen_close(clv_pap_t *pap)
{
    for (int i = 0; i < CLV_PAP_MAX_STRANGERS; i++) {
        if (pap->strangers[i]) {
            drop(pap->strangers[i], CLV_LOST);
        }
    }
    if (pap->listen_fd >= 0) {
        clv_net_thread_unwatch(pap->thread, pap->listen_watch);
        (void) close(pap->listen_fd);
        pap->listen_fd = -1;
    }
}

int64_t clv_pap_listen_work(clv_pap_t *pap, int64_t now_ns)
{
    if (pap->listen_fd < 0) {
        return INT64_MAX;
    }
    if (now_ns >= pap->accept_again_ns) {
        pap->accept_again_ns = INT64_MAX;
        clv_net_thread_rewatch(pap->thread, pap->listen_watch, EPOLLIN);
    }
    int64_t deadline_ns = pap->accept_again_ns;
    for (int i = 0; i < CLV_PAP_MAX_STRANGERS; i++) {
        clv_pap_conn_t *one = pap->strangers[i];
        if (one && now_ns >= one->deadline_ns) {
            drop(one, CLV_TIMEOUT);
        } else if (one && one->deadline_ns < deadline_ns) {
            deadline_ns = one->deadline_ns;
        }
    }
    return deadline_ns;
}
