/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A leader's connections to its tree neighbours: connecting to the parent, links up and lost,
 * frames in and out with their timestamps, and with these the clock; see pap_leader_parts.h.
 */
#include "pap_predict/pap_leader_parts.h"

#include <string.h>
#include <sys/epoll.h>

#include "util/util_alloc.h"
#include "util/util_log.h"
#include "util/util_min_max.h"
#include "util/util_time.h"

#define CONNECT_NS     (2 * CLV_NS_PER_S)   /* one try at one address, handshake included */
#define TRY_MIN_NS     (20 * CLV_NS_PER_MS) /* until a kernel answers, in the first round */
#define RETRY_FIRST_NS (10 * CLV_NS_PER_MS) /* between rounds over the addresses; doubles ... */
#define RETRY_MAX_NS   (CLV_NS_PER_S)       /* ... up to this */
#define BEATS          6                    /* while a record waits, in connect_timeout_ns */

static clv_pap_neighbour_t *parent_of(clv_pap_leader_t *leader)
{
    return clv_pap_leader_has_parent(leader) ? &leader->neighbours[0] : NULL;
}

/* ---- frames out, and the clock --------------------------------------------------------------- */

/* Frames to the parent carry local time, frames to a child global time, if it is known. */
static clv_net_stamp_t stamp_for(const clv_pap_leader_t *leader, const clv_pap_neighbour_t *to)
{
    const int64_t now_ns = clv_local_now_ns();
    clv_net_stamp_t stamp = {.sent_ns = now_ns};
    if (to->host > leader->host && leader->clock.is_ready) {
        const clv_cs_model_t *model = &leader->clock.model;
        stamp.has_global = 1;
        stamp.sent_ns = clv_cs_model_global(model, now_ns);
        stamp.echo_sent_ns = to->echo_sent_ns;
        stamp.echo_recv_ns = clv_cs_model_global(model, to->echo_local_ns);
        stamp.error_ns = clv_cs_model_error(model, now_ns);
    }
    return stamp;
}

static void send_frame(clv_pap_leader_t *leader, clv_pap_neighbour_t *to, clv_net_frame_kind_t kind,
                       const void *payload, size_t payload_bytes)
{
    if (!to->is_up || to->conn->is_broken) {
        return;
    }
    const clv_net_stamp_t stamp = stamp_for(leader, to);
    if (clv_net_channel_send(to->conn->channel, kind, &stamp, payload, payload_bytes) != CLV_OK) {
        to->conn->is_broken =
            true; /* dropped in the next round, since callers are in the middle of something */
    }
}

static void announce_clock(clv_pap_leader_t *leader)
{
    clv_pap_table_set_clock(leader->table, leader->clock.is_ready ? &leader->clock.model : NULL);
    for (int32_t i = clv_pap_leader_has_parent(leader); i < leader->n_neighbours; i++) {
        if (leader->clock.is_ready) {
            send_frame(leader, &leader->neighbours[i], CLV_NET_FRAME_READY, NULL, 0);
        }
    }
}

static void take_clock(clv_pap_leader_t *leader, const clv_net_stamp_t *stamp, int64_t received_ns,
                       bool is_pong)
{
    const bool was_ready = leader->clock.is_ready;
    if (!clv_pap_clock_take(&leader->clock, stamp, received_ns, is_pong)) {
        return;
    }
    if (was_ready != leader->clock.is_ready) {
        clv_log(CLV_LOG_DEBUG, "host %d: clock %s, error bound %lld ns", leader->host,
                leader->clock.is_ready ? "ready" : "not ready any more",
                (long long) leader->clock.model.error_ns);
        announce_clock(leader);
    } else {
        clv_pap_table_set_clock(leader->table, &leader->clock.model);
    }
}

void clv_pap_route_ping(clv_pap_leader_t *leader, int64_t now_ns)
{
    clv_pap_neighbour_t *parent = parent_of(leader);
    if (parent && parent->is_up && clv_pap_clock_wants_ping(&leader->clock, now_ns)) {
        send_frame(leader, parent, CLV_NET_FRAME_PING, NULL, 0);
    }
}

void clv_pap_route_send(void *context, int32_t host, const void *message, size_t n_bytes)
{
    clv_pap_leader_t *leader = context;
    for (int32_t i = 0; i < leader->n_neighbours; i++) {
        if (leader->neighbours[i].host == host && leader->neighbours[i].by_relay) {
            clv_pap_relay_post(leader, host, message, n_bytes);
        } else if (leader->neighbours[i].host == host) {
            send_frame(leader, &leader->neighbours[i], CLV_NET_FRAME_DATA, message, n_bytes);
        }
    }
}

int64_t clv_pap_route_beat(clv_pap_leader_t *leader, int64_t now_ns)
{
    const int64_t beat_ns = leader->pap->options.connect_timeout_ns / BEATS;
    const int64_t due_ns = clv_pap_agree_due_ns(leader->agree);
    if (due_ns == INT64_MAX) {
        return INT64_MAX;
    }
    if (now_ns >= clv_larger(due_ns, leader->beaten_ns) + beat_ns) {
        leader->beaten_ns = now_ns;
        for (int32_t i = 0; i < leader->n_neighbours; i++) {
            send_frame(leader, &leader->neighbours[i], CLV_NET_FRAME_PING, NULL, 0);
        }
    }
    return clv_larger(due_ns, leader->beaten_ns) + beat_ns;
}

void clv_pap_route_tell_through(clv_pap_leader_t *leader, clv_pap_neighbour_t *neighbour)
{
    if (!neighbour->reported_through) {
        neighbour->reported_through = true;
        send_frame(leader, neighbour, CLV_NET_FRAME_THROUGH, NULL, 0);
    }
}

/* ---- links ----------------------------------------------------------------------------------- */

const unsigned char *clv_pap_leader_expects(const clv_pap_leader_t *leader,
                                            const unsigned char *group_id, uint32_t host,
                                            int32_t *neighbour_p, size_t *max_payload_p)
{
    if (memcmp(leader->group_id, group_id, CLV_NET_GROUP_ID_BYTES) != 0) {
        return NULL;
    }
    for (int32_t i = clv_pap_leader_has_parent(leader); i < leader->n_neighbours; i++) {
        if ((uint32_t) leader->neighbours[i].host == host && !leader->neighbours[i].by_relay) {
            *neighbour_p = i;
            *max_payload_p = leader->max_payload;
            return leader->key;
        }
    }
    return NULL;
}

static void retry_later(clv_pap_route_t *route, int64_t now_ns)
{
    route->next++;
    if (route->next < route->n_addresses) {
        route->next_try_ns = now_ns;
        return;
    }
    route->next = 0;
    route->try_ns = clv_smaller(2 * route->try_ns, CONNECT_NS);
    route->next_try_ns = now_ns + route->pause_ns;
    route->pause_ns = 2 * route->pause_ns < RETRY_MAX_NS ? 2 * route->pause_ns : RETRY_MAX_NS;
}

void clv_pap_leader_conn_lost(clv_pap_leader_t *leader, clv_net_conn_t *conn)
{
    clv_pap_neighbour_t *neighbour = &leader->neighbours[conn->place];
    const int64_t now_ns = clv_local_now_ns();
    if (neighbour->conn != conn) {
        return;
    }
    const bool was_up = neighbour->is_up;
    neighbour->was_lost |=
        neighbour->is_joined && !clv_pap_agree_is_gone(leader->agree, neighbour->host);
    neighbour->conn = NULL;
    neighbour->is_up = false;
    neighbour->is_joined = false;
    neighbour->reported_through = false;
    if (neighbour == parent_of(leader)) {
        clv_pap_clock_lost(&leader->clock);
        retry_later(&leader->route, now_ns);
    }
    if (was_up) {
        clv_log(CLV_LOG_DEBUG, "host %d: connection with host %d ended", leader->host,
                neighbour->host);
        /* Silent since the last frame: the kernel needs time to notice a broken path. */
        clv_pap_agree_link_lost(leader->agree, neighbour->heard_ns, neighbour->host);
    }
}

void clv_pap_route_close(clv_pap_leader_t *leader, clv_pap_neighbour_t *neighbour)
{
    clv_net_conn_t *conn = neighbour->conn;
    if (conn) {
        clv_pap_leader_conn_lost(leader, conn);
        clv_net_conn_close(conn);
    }
}

/* A child's side of the handshake is complete first. It must not rely on a connection that its
 * parent may never complete: records sent there would leave it in doubt, and no host would wait for
 * it. */
static void join(clv_pap_leader_t *leader, clv_pap_neighbour_t *neighbour)
{
    neighbour->is_joined = true;
    neighbour->was_up = true;
    clv_pap_agree_link_up(leader->agree, clv_local_now_ns(), neighbour->host);
}

/* A host that has left says so first: then a neighbour for which it did not wait is not in
 * doubt. */
static void tell_at_once(clv_pap_leader_t *leader, clv_pap_neighbour_t *neighbour)
{
    if (leader->has_left || (leader->is_leaving && neighbour == parent_of(leader))) {
        clv_pap_route_tell_through(leader, neighbour);
    }
}

void clv_pap_leader_conn_up(clv_pap_leader_t *leader, clv_net_conn_t *conn)
{
    clv_pap_neighbour_t *neighbour = &leader->neighbours[conn->place];
    const int64_t now_ns = clv_local_now_ns();
    if (neighbour->conn != conn) {
        clv_pap_route_close(leader, neighbour); /* the old connection is half open */
    }
    neighbour->conn = conn;
    neighbour->is_up = true;
    neighbour->echo_sent_ns = 0;
    neighbour->heard_ns = now_ns;
    clv_net_channel_set_patience(conn->channel, 2 * leader->pap->options.connect_timeout_ns / 3);
    if (neighbour == parent_of(leader)) {
        leader->route.pause_ns = RETRY_FIRST_NS;
        clv_pap_clock_connected(&leader->clock, now_ns); /* sends a ping, which is answered */
    } else {
        join(leader, neighbour);
    }
    tell_at_once(leader, neighbour);
}

void clv_pap_route_stale(void *context, int32_t host)
{
    clv_pap_leader_t *leader = context;
    for (int32_t i = 0; i < leader->n_neighbours; i++) {
        if (leader->neighbours[i].host == host && leader->neighbours[i].conn) {
            leader->neighbours[i].conn->is_broken = true;
        }
    }
}

/* The kernel at that address has answered in time; the process behind it may need longer. */
static void grant_handshake(clv_pap_route_t *route, clv_net_conn_t *conn, int64_t now_ns)
{
    if (now_ns >= conn->deadline_ns && !route->is_answered &&
        clv_net_channel_sent_bytes(conn->channel) > 0) {
        route->is_answered = true;
        conn->deadline_ns = now_ns + CONNECT_NS;
    }
}

void clv_pap_route_drop_broken(clv_pap_leader_t *leader, int64_t now_ns)
{
    for (int32_t i = 0; i < leader->n_neighbours; i++) {
        clv_net_conn_t *conn = leader->neighbours[i].conn;
        if (conn && &leader->neighbours[i] == parent_of(leader)) {
            grant_handshake(&leader->route, conn, now_ns);
        }
        if (conn && (conn->is_broken || now_ns >= conn->deadline_ns)) {
            clv_net_conn_drain(conn);
            clv_pap_route_close(leader, &leader->neighbours[i]);
        }
    }
}

bool clv_pap_route_is_flushed(const clv_pap_leader_t *leader)
{
    for (int32_t i = 0; i < leader->n_neighbours; i++) {
        const clv_pap_neighbour_t *one = &leader->neighbours[i];
        if (one->is_up && !one->conn->is_broken &&
            (clv_net_channel_events(one->conn->channel) & (uint32_t) EPOLLOUT)) {
            return false;
        }
    }
    return true;
}

/* ---- frames in ------------------------------------------------------------------------------- */

static void take_through(clv_pap_leader_t *leader, clv_pap_neighbour_t *from)
{
    from->is_through = true;
    if (from == parent_of(leader)) {
        clv_pap_agree_parent_is_through(leader->agree);
    }
}

clv_status_t clv_pap_leader_frame(clv_pap_leader_t *leader, clv_net_conn_t *conn,
                                  clv_net_frame_kind_t kind, const clv_net_stamp_t *stamp,
                                  int64_t received_ns, const unsigned char *payload,
                                  size_t payload_bytes)
{
    clv_pap_neighbour_t *from = &leader->neighbours[conn->place];
    const bool is_parent = from == parent_of(leader);
    from->echo_sent_ns = stamp->sent_ns;
    from->echo_local_ns = received_ns;
    from->heard_ns = received_ns;
    if (is_parent && (kind == CLV_NET_FRAME_PONG || kind == CLV_NET_FRAME_DATA)) {
        take_clock(leader, stamp, received_ns, kind == CLV_NET_FRAME_PONG);
    }
    if (kind == CLV_NET_FRAME_THROUGH) {
        take_through(leader, from);
    }
    if (!from->is_joined) {
        join(leader, from);
    }
    switch (kind) {
    case CLV_NET_FRAME_PING:
        send_frame(leader, from, CLV_NET_FRAME_PONG, NULL, 0);
        return CLV_OK;
    case CLV_NET_FRAME_READY:
        if (is_parent) {
            clv_pap_clock_connected(&leader->clock, received_ns);
        }
        return is_parent ? CLV_OK : CLV_PROTOCOL;
    case CLV_NET_FRAME_PONG:
    case CLV_NET_FRAME_THROUGH:
        return CLV_OK;
    case CLV_NET_FRAME_DATA:
        if (clv_pap_table_is_pending(leader->table)) {
            leader->look_ns = 0; /* the thread is awake, and others have come as far */
        }
        return clv_pap_agree_message(leader->agree, clv_local_now_ns(), from->host, payload,
                                     payload_bytes);
    }
    return CLV_PROTOCOL;
}

/* ---- the way to the parent ------------------------------------------------------------------- */

void clv_pap_route_connect(clv_pap_leader_t *leader, int64_t now_ns)
{
    clv_pap_route_t *route = &leader->route;
    clv_net_channel_t *channel;
    clv_pap_neighbour_t *parent = &leader->neighbours[0];
    route->next_try_ns = INT64_MAX;
    if (clv_net_channel_connect(&route->addresses[route->next], route->port, leader->key,
                                (uint32_t) leader->host, leader->max_payload, &channel) != CLV_OK) {
        retry_later(route, now_ns);
        return;
    }
    route->is_answered = false;
    parent->conn =
        clv_net_conn_new(&leader->pap->server, channel, leader, 0, now_ns + route->try_ns);
    if (parent->conn == NULL) {
        retry_later(route, now_ns);
    }
}

/* Whether the round of this score tries the parent's address. An address that this host has, too,
 * reaches the parent only on the same host; elsewhere it is one that many hosts have (a bridge). */
static bool is_sought(const clv_net_server_t *server, const clv_net_address_t *one, int score,
                      bool is_same_host)
{
    return clv_net_interface_score(server->addresses, server->n_addresses, one) == score &&
           (is_same_host || !clv_net_interface_is_own(server->addresses, server->n_addresses, one));
}

/* Lists the parent's addresses, those in a network of ours first. A round over all of them must fit
 * into the time that the connection is waited for. */
static clv_status_t plan_route(clv_pap_leader_t *leader, const clv_pap_endpoint_t *own,
                               const clv_pap_endpoint_t *parent)
{
    const clv_net_server_t *server = &leader->pap->server;
    clv_pap_route_t *route = &leader->route;
    const bool is_same_host =
        own->boot_hash == parent->boot_hash && own->net_ns_id == parent->net_ns_id;
    clv_net_address_t one;
    if (parent->port == 0) {
        return CLV_PROTOCOL;
    }
    route->port = parent->port;
    route->pause_ns = RETRY_FIRST_NS;
    route->addresses = clv_alloc((size_t) parent->n_addresses + 1, sizeof *route->addresses);
    if (route->addresses == NULL) {
        return CLV_NO_MEMORY;
    }
    for (int score = 2; score >= 0; score--) {
        for (int32_t i = 0; i < parent->n_addresses; i++) {
            if (clv_pap_endpoint_address(parent, i, &one) == CLV_OK &&
                is_sought(server, &one, score, is_same_host)) {
                route->addresses[route->n_addresses++] = one;
            }
        }
    }
    route->try_ns =
        leader->pap->options.connect_timeout_ns / (2 * clv_larger(route->n_addresses, 1));
    route->try_ns = clv_larger(TRY_MIN_NS, clv_smaller(route->try_ns, CONNECT_NS));
    return CLV_OK;
}

static clv_status_t find_parent(clv_pap_leader_t *leader, const clv_pap_endpoints_t *endpoints)
{
    const clv_pap_layout_t *layout = &leader->layout;
    const int32_t host = clv_pap_tree_parent(leader->host);
    clv_pap_endpoint_t own, parent;
    clv_status_t status =
        clv_pap_endpoint_of(endpoints, layout->rank_at[layout->first[leader->host]], &own);

    leader->neighbours[leader->n_neighbours++].host = host;
    status = status == CLV_OK
                 ? clv_pap_endpoint_of(endpoints, layout->rank_at[layout->first[host]], &parent)
                 : status;
    status = status == CLV_OK ? plan_route(leader, &own, &parent) : status;
    if (status == CLV_OK && leader->route.n_addresses == 0) {
        clv_log(CLV_LOG_ERROR,
                "no arrivals are predicted or recorded: none of the %d network addresses of "
                "host %d can be reached from host %d, because other hosts have the same ones; "
                "name the common network with coll_clv_interface",
                parent.n_addresses, host, leader->host);
        status = CLV_UNSUPPORTED;
    }
    explicit_bzero(&own.key, sizeof own.key);
    explicit_bzero(&parent.key, sizeof parent.key);
    return status;
}

clv_status_t clv_pap_route_plan(clv_pap_leader_t *leader, const clv_pap_endpoints_t *endpoints)
{
    const int32_t n_hosts = leader->layout.n_hosts;
    leader->route.next_try_ns = INT64_MAX;
    if (clv_pap_leader_has_parent(leader)) {
        const clv_status_t status = find_parent(leader, endpoints);
        if (status != CLV_OK) {
            return status;
        }
    }
    const int32_t n_children = clv_pap_tree_n_children(n_hosts, leader->host);
    for (int32_t i = 0; i < n_children; i++) {
        leader->neighbours[leader->n_neighbours++].host = clv_pap_tree_child(leader->host, i);
    }
    return CLV_OK;
}
