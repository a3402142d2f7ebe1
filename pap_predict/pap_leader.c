/* SPDX-License-Identifier: BSD-3-Clause
 * See pap_leader.h.
 */
#include "pap_predict/pap_leader.h"

#include <string.h>
#include <sys/epoll.h>

#include "pap_predict/agree/pap_agree.h"
#include "pap_predict/predict/pap_history.h"
#include "pap_predict/pap_clock.h"
#include "pap_predict/pap_pace.h"
#include "net/net_place.h"
#include "pap_predict/agree/pap_record.h"
#include "pap_predict/agree/pap_wire.h"
#include "util/util_alloc.h"
#include "util/util_log.h"
#include "util/util_min_max.h"
#include "util/util_time.h"

#define CONNECT_NS     (2 * CLV_NS_PER_S)   /* one try at one address, handshake included */
#define RETRY_FIRST_NS (10 * CLV_NS_PER_MS) /* between rounds over the addresses; doubles ... */
#define RETRY_MAX_NS   (CLV_NS_PER_S)       /* ... up to this */
#define RESEND_NS      (4 * CLV_NS_PER_S)   /* TCP repeats what is lost; this finds half-open ends, but
                                               must not take a stopped process for one */
#define ABANDON_FACTOR 4                    /* times connect_timeout_ns */
#define LINGER_NS      (60 * CLV_NS_PER_S)  /* serve others so long after our rank has left */

typedef struct neighbour {
    int32_t node;
    int32_t is_up;
    clv_net_conn_t *conn;  /* perhaps still connecting */
    int64_t echo_sent_ns;  /* of the last frame from it */
    int64_t echo_local_ns; /* when that came */
} neighbour_t;

/* How to reach the parent. */
typedef struct route {
    clv_net_address_t addresses[CLV_NET_MAX_ADDRESSES]; /* best first */
    int32_t n_addresses;
    int32_t next;
    uint16_t port;
    int64_t next_try_ns; /* INT64_MAX: not now */
    int64_t pause_ns;
} route_t;

struct clv_pap_leader {
    clv_pap_leader_t *next;
    clv_pap_t *pap;
    clv_pap_table_t *table;
    clv_pap_attach_ops_t attach;
    clv_pap_layout_t layout;
    int32_t node;
    unsigned char key[CLV_NET_KEY_BYTES];
    unsigned char group_id[CLV_NET_GROUP_ID_BYTES];
    size_t max_payload;
    clv_pap_agree_t *agree;
    clv_pap_history_t *histories[CLV_PAP_MAX_STREAMS];
    unsigned char *memories; /* the caller's state, attach.memory_bytes per lane */
    uint32_t generations[CLV_PAP_MAX_STREAMS]; /* whose state that is */
    int64_t *predicted_ns;   /* scratch */
    clv_pap_clock_t clock;
    clv_pap_pace_t pace[CLV_PAP_MAX_STREAMS];
    uint32_t expected; /* lanes where we look by ourselves; the table has it, too */
    int64_t look_ns;   /* the first of those looks */
    uint32_t latency_ns;
    uint32_t older_latency_ns; /* before the newest set, which was known ... */
    int64_t measured_ns;       /* ... at this local time */
    int32_t n_neighbours; /* the parent first, if there is one */
    neighbour_t neighbours[CLV_PAP_MAX_CHILDREN + 1];
    route_t route;
    int has_started;
    int has_left;
    int must_give_up;    /* found within a callback; asked for outside */
    int64_t linger_ns;   /* when to go, after has_left */
    pid_t *pids;         /* of the node's ranks, until the thread has placed itself */
};

static int has_parent(const clv_pap_leader_t *leader)
{
    return leader->node > 0;
}

static neighbour_t *parent_of(clv_pap_leader_t *leader)
{
    return has_parent(leader) ? &leader->neighbours[0] : NULL;
}

clv_pap_leader_t **clv_pap_leader_next(clv_pap_leader_t *leader)
{
    return &leader->next;
}

/* ---- timestamps --------------------------------------------------------------------------- */

/* Towards the parent we speak our local time, towards a child the global one, if we know it. */
static clv_net_stamp_t stamp_for(const clv_pap_leader_t *leader, const neighbour_t *to)
{
    const int64_t now_ns = clv_local_now_ns();
    clv_net_stamp_t stamp = {.sent_ns = now_ns};
    if (to->node > leader->node && leader->clock.is_ready) {
        const clv_cs_model_t *model = &leader->clock.model;
        stamp.has_global = 1;
        stamp.sent_ns = clv_cs_model_global(model, now_ns);
        stamp.echo_sent_ns = to->echo_sent_ns;
        stamp.echo_recv_ns = clv_cs_model_global(model, to->echo_local_ns);
        stamp.error_ns = clv_cs_model_error(model, now_ns);
    }
    return stamp;
}

static void send_frame(clv_pap_leader_t *leader, neighbour_t *to, clv_net_frame_kind_t kind,
                       const void *payload, size_t payload_bytes)
{
    if (!to->is_up || to->conn->is_broken) {
        return;
    }
    const clv_net_stamp_t stamp = stamp_for(leader, to);
    if (clv_net_channel_send(to->conn->channel, kind, &stamp, payload, payload_bytes) != CLV_OK) {
        to->conn->is_broken = 1; /* dropped in the next round: callers are in the middle of things */
    }
}

static void announce_clock(clv_pap_leader_t *leader)
{
    clv_pap_table_set_clock(leader->table, leader->clock.is_ready ? &leader->clock.model : NULL);
    for (int32_t i = has_parent(leader); i < leader->n_neighbours; i++) {
        if (leader->clock.is_ready) {
            send_frame(leader, &leader->neighbours[i], CLV_NET_FRAME_READY, NULL, 0);
        }
    }
}

static void take_clock(clv_pap_leader_t *leader, const clv_net_stamp_t *stamp, int64_t received_ns,
                       int is_pong)
{
    const int was_ready = leader->clock.is_ready;
    if (!clv_pap_clock_take(&leader->clock, stamp, received_ns, is_pong)) {
        return;
    }
    if (was_ready != leader->clock.is_ready) {
        clv_log(CLV_LOG_DEBUG, "node %d: clock %s, error bound %lld ns", leader->node,
                leader->clock.is_ready ? "ready" : "not ready any more",
                (long long) leader->clock.model.error_ns);
        announce_clock(leader);
    } else {
        clv_pap_table_set_clock(leader->table, &leader->clock.model);
    }
}

/* ---- the agreement's callbacks ------------------------------------------------------------ */

static void agree_send(void *context, int32_t node, const void *message, size_t n_bytes)
{
    clv_pap_leader_t *leader = context;
    for (int32_t i = 0; i < leader->n_neighbours; i++) {
        if (leader->neighbours[i].node == node) {
            send_frame(leader, &leader->neighbours[i], CLV_NET_FRAME_DATA, message, n_bytes);
        }
    }
}

static int has_invalid_record(const clv_pap_record_set_t *set)
{
    for (int32_t i = 0; i < set->n_ranks; i++) {
        if (set->records[i].flags & CLV_PAP_RECORD_INVALID) {
            return 1;
        }
    }
    return 0;
}

static void measure_latency(clv_pap_leader_t *leader, const clv_pap_record_set_t *set)
{
    if (!leader->clock.is_ready) {
        return;
    }
    leader->measured_ns = clv_local_now_ns();
    const int64_t now_ns = clv_cs_model_global(&leader->clock.model, leader->measured_ns);
    leader->older_latency_ns = leader->latency_ns;
    leader->latency_ns =
        clv_pap_latency_update(leader->latency_ns, now_ns - clv_pap_record_set_last_given(set));
}

static void *memory_of(clv_pap_leader_t *leader, int32_t lane, uint32_t generation)
{
    const size_t n_bytes = leader->attach.memory_bytes;
    if (n_bytes == 0) {
        return NULL;
    }
    unsigned char *memory = leader->memories + (size_t) lane * n_bytes;
    if (leader->generations[lane] != generation) {
        leader->generations[lane] = generation;
        memset(memory, 0, n_bytes);
    }
    return memory;
}

/* One rank's word for all: only where all had ended the call that it is about. */
static const void *note_of(const clv_pap_leader_t *leader, const clv_pap_record_set_t *set)
{
    static const unsigned char none[CLV_PAP_NOTE_BYTES];
    const int is_known = (clv_pap_record_set_common_flags(set) & CLV_PAP_RECORD_PREVIOUS) != 0;
    const void *note = clv_pap_table_note(leader->table, set->lane, set->sequence + 1);
    return note == NULL || is_known ? note : none;
}

static size_t make_attachment(clv_pap_leader_t *leader, const clv_pap_record_set_t *set,
                              const clv_pap_board_t *board)
{
    const clv_pap_attach_ops_t *attach = &leader->attach;
    void *attachment = clv_pap_table_attachment(leader->table, set->lane, board->version);
    /* A board behind no valid record set is never shown. It is also the only one whose records may
     * name different streams (a hint, then the lane was given away), on which nothing may be
     * built. */
    if (attach->make == NULL || board->n_record_sets == 0) {
        return 0;
    }
    const clv_pap_stream_key_t key = clv_pap_record_key(leader->table, set->lane, board->version);
    const size_t used = attach->make(attach->context, &key, board, note_of(leader, set),
                                     memory_of(leader, set->lane, set->generation), attachment,
                                     attach->attachment_bytes);
    return used < attach->attachment_bytes ? used : attach->attachment_bytes;
}

static void agree_publish(void *context, const clv_pap_record_set_t *set)
{
    clv_pap_leader_t *leader = context;
    clv_pap_board_t board;
    if (leader->has_left) {
        return; /* every rank of the node that could ask has the boards it needs */
    }
    clv_pap_history_feed(leader->histories[set->lane], set, &board, leader->predicted_ns);
    const size_t used = make_attachment(leader, set, &board);
    clv_pap_table_publish(leader->table, set->lane, &board, used);
    measure_latency(leader, set); /* deciding is a part of it */
    leader->must_give_up |= board.disagree;
    if (has_invalid_record(set)) {
        clv_pap_count(leader->pap, CLV_PAP_COUNT_invalid_record_sets, 1);
    }
}

static void agree_lost(void *context, clv_pap_lost_reason_t reason, const int64_t *n_versions)
{
    clv_pap_leader_t *leader = context;
    clv_pap_table_set_end(leader->table, n_versions, reason == CLV_PAP_LOST_ABANDONED);
    if (leader->has_left || reason == CLV_PAP_LOST_LEFT) {
        return; /* the ordinary end: nobody will need the record set that some gave records for */
    }
    clv_pap_count(leader->pap, CLV_PAP_COUNT_lost_groups, 1);
    clv_log(reason == CLV_PAP_LOST_ABANDONED ? CLV_LOG_ERROR : CLV_LOG_INFO,
            "no more predictions for a communicator of %d ranks: %s",
            leader->layout.n_ranks, clv_pap_lost_text((int) reason));
}

static void agree_stale(void *context, int32_t node)
{
    clv_pap_leader_t *leader = context;
    for (int32_t i = 0; i < leader->n_neighbours; i++) {
        if (leader->neighbours[i].node == node && leader->neighbours[i].conn) {
            leader->neighbours[i].conn->is_broken = 1;
        }
    }
}

static const clv_pap_agree_ops_t agree_ops = {agree_send, agree_publish, agree_lost, agree_stale};

/* ---- records of this node's ranks --------------------------------------------------------- */

/* Records that were announced do not say when they were given. */
static void set_pace(clv_pap_leader_t *leader, int32_t lane, int64_t last_ns, uint32_t flags)
{
    if ((flags & (CLV_PAP_RECORD_INVALID | CLV_PAP_RECORD_ANNOUNCED)) == 0) {
        clv_pap_pace_found(&leader->pace[lane], last_ns);
    } else {
        clv_pap_pace_init(&leader->pace[lane]);
    }
}

/* What was known when a record was given: a slow exchange, or a late look that finds two records,
 * does not say in both how slow it was. */
static uint32_t latency_at(const clv_pap_leader_t *leader, int64_t local_ns)
{
    return local_ns < leader->measured_ns ? leader->older_latency_ns : leader->latency_ns;
}

/* The record of one of our ranks, in global time; false: not usable. */
static int hand_in_one(clv_pap_leader_t *leader, int32_t rank, const clv_pap_local_record_t *given,
                       int64_t now_ns)
{
    const clv_cs_model_t *model = leader->clock.is_ready ? &leader->clock.model : NULL;
    clv_pap_record_t record;
    clv_pap_local_to_record(given, model, latency_at(leader, given->arrival_ns), &record);
    return clv_pap_agree_local_record(leader->agree, now_ns, rank, given->lane, given->generation,
                                      given->sequence, &record) == CLV_OK;
}

static void hand_in(clv_pap_leader_t *leader, int32_t lane, int64_t version, int64_t now_ns)
{
    const int32_t first = leader->layout.first[leader->node];
    const int32_t n_local = leader->layout.first[leader->node + 1] - first;
    int64_t last_ns = INT64_MIN;
    uint32_t flags = 0;
    clv_pap_clock_used(&leader->clock, now_ns);
    for (int32_t i = 0; i < n_local; i++) {
        clv_pap_local_record_t given = {.flags = CLV_PAP_RECORD_INVALID};
        if (clv_pap_record_take(leader->table, i, lane, version, &given) != CLV_OK ||
            !hand_in_one(leader, leader->layout.rank_at[first + i], &given, now_ns)) {
            clv_log(CLV_LOG_DEBUG, "node %d: lane %d, record %lld of local rank %d is not usable",
                    leader->node, lane, (long long) version, i);
        }
        last_ns = given.arrival_ns > last_ns ? given.arrival_ns : last_ns;
        flags |= given.flags;
    }
    set_pace(leader, lane, last_ns, flags);
}

static void hand_in_lane(clv_pap_leader_t *leader, int32_t lane, uint32_t pending, int64_t now_ns)
{
    int64_t versions[2] = {0, 0};
    int32_t ignored;
    for (int half = 0; half < 2; half++) {
        if (pending >> (2 * lane + half) & 1) {
            versions[half] = clv_pap_table_given(leader->table, 2 * lane + half, &ignored);
        }
    }
    /* Both can be waiting; the agreement takes them in order. */
    const int older = versions[0] > versions[1];
    for (int i = 0; i < 2; i++) {
        const int64_t version = versions[i == 0 ? older : !older];
        if (version > 0) {
            hand_in(leader, lane, version, now_ns);
        }
    }
}

static void collect(clv_pap_leader_t *leader, int64_t now_ns)
{
    const uint32_t pending = clv_pap_table_answer(leader->table);
    for (int32_t lane = 0; pending != 0 && lane < CLV_PAP_MAX_STREAMS; lane++) {
        if (pending >> (2 * lane) & 3) {
            hand_in_lane(leader, lane, pending, now_ns);
        }
    }
}

/* Plans the next looks, after one. Returns the lanes that ranks ring for from now on, and did not
 * before. */
static uint32_t plan_looks(clv_pap_leader_t *leader, int64_t now_ns)
{
    const uint32_t before = leader->expected;
    leader->expected = 0;
    leader->look_ns = INT64_MAX;
    for (int32_t lane = 0; lane < CLV_PAP_MAX_STREAMS; lane++) {
        clv_pap_pace_t *pace = &leader->pace[lane];
        if (pace->look_ns <= now_ns) {
            clv_pap_pace_missed(pace, now_ns);
        }
        leader->expected |= (uint32_t) (pace->look_ns != INT64_MAX) << lane;
        leader->look_ns = pace->look_ns < leader->look_ns ? pace->look_ns : leader->look_ns;
    }
    if (leader->expected != before) {
        clv_pap_table_expect(leader->table, leader->expected);
    }
    return before & ~leader->expected;
}

/* Takes what there is; again when it was our last look at some lane (see clv_pap_table_expect). */
static void look(clv_pap_leader_t *leader, int64_t now_ns)
{
    do {
        collect(leader, now_ns);
    } while (plan_looks(leader, now_ns) != 0);
}

/* ---- connections -------------------------------------------------------------------------- */

const unsigned char *clv_pap_leader_expects(const clv_pap_leader_t *leader,
                                            const unsigned char *group_id, uint32_t node,
                                            int32_t *neighbour_p, size_t *max_payload_p)
{
    if (memcmp(leader->group_id, group_id, CLV_NET_GROUP_ID_BYTES) != 0) {
        return NULL;
    }
    for (int32_t i = has_parent(leader); i < leader->n_neighbours; i++) {
        if ((uint32_t) leader->neighbours[i].node == node) {
            *neighbour_p = i;
            *max_payload_p = leader->max_payload;
            return leader->key;
        }
    }
    return NULL;
}

static void retry_later(route_t *route, int64_t now_ns)
{
    route->next++;
    if (route->next < route->n_addresses) {
        route->next_try_ns = now_ns;
        return;
    }
    route->next = 0;
    route->next_try_ns = now_ns + route->pause_ns;
    route->pause_ns = 2 * route->pause_ns < RETRY_MAX_NS ? 2 * route->pause_ns : RETRY_MAX_NS;
}

void clv_pap_leader_conn_lost(clv_pap_leader_t *leader, clv_net_conn_t *conn)
{
    neighbour_t *neighbour = &leader->neighbours[conn->place];
    const int64_t now_ns = clv_local_now_ns();
    if (neighbour->conn != conn) {
        return;
    }
    const int was_up = neighbour->is_up;
    neighbour->conn = NULL;
    neighbour->is_up = 0;
    if (neighbour == parent_of(leader)) {
        clv_pap_clock_lost(&leader->clock);
        retry_later(&leader->route, now_ns);
    }
    if (was_up) {
        clv_log(CLV_LOG_DEBUG, "node %d: connection with node %d ended", leader->node,
                neighbour->node);
        clv_pap_agree_link_lost(leader->agree, now_ns, neighbour->node);
    }
}

static void close_neighbour(clv_pap_leader_t *leader, neighbour_t *neighbour)
{
    clv_net_conn_t *conn = neighbour->conn;
    if (conn) {
        clv_pap_leader_conn_lost(leader, conn);
        clv_net_conn_close(conn);
    }
}

void clv_pap_leader_conn_up(clv_pap_leader_t *leader, clv_net_conn_t *conn)
{
    neighbour_t *neighbour = &leader->neighbours[conn->place];
    const int64_t now_ns = clv_local_now_ns();
    if (neighbour->conn != conn) {
        close_neighbour(leader, neighbour); /* the old one is half open */
    }
    neighbour->conn = conn;
    neighbour->is_up = 1;
    neighbour->echo_sent_ns = 0;
    if (neighbour == parent_of(leader)) {
        leader->route.pause_ns = RETRY_FIRST_NS;
        clv_pap_clock_connected(&leader->clock, now_ns);
    }
    clv_pap_agree_link_up(leader->agree, now_ns, neighbour->node);
}

static clv_status_t take_ping(clv_pap_leader_t *leader, neighbour_t *from, int is_parent)
{
    if (is_parent) {
        return CLV_PROTOCOL;
    }
    send_frame(leader, from, CLV_NET_FRAME_PONG, NULL, 0);
    return CLV_OK;
}

clv_status_t clv_pap_leader_frame(clv_pap_leader_t *leader, clv_net_conn_t *conn,
                                  clv_net_frame_kind_t kind, const clv_net_stamp_t *stamp,
                                  int64_t received_ns, const unsigned char *payload,
                                  size_t payload_bytes)
{
    neighbour_t *from = &leader->neighbours[conn->place];
    const int is_parent = from == parent_of(leader);
    from->echo_sent_ns = stamp->sent_ns;
    from->echo_local_ns = received_ns;
    if (is_parent && (kind == CLV_NET_FRAME_PONG || kind == CLV_NET_FRAME_DATA)) {
        take_clock(leader, stamp, received_ns, kind == CLV_NET_FRAME_PONG);
    }
    switch (kind) {
    case CLV_NET_FRAME_PING:
        return take_ping(leader, from, is_parent);
    case CLV_NET_FRAME_READY:
        if (is_parent) {
            clv_pap_clock_connected(&leader->clock, received_ns);
        }
        return is_parent ? CLV_OK : CLV_PROTOCOL;
    case CLV_NET_FRAME_PONG:
        return is_parent ? CLV_OK : CLV_PROTOCOL;
    case CLV_NET_FRAME_DATA:
        if (clv_pap_table_is_pending(leader->table)) {
            leader->look_ns = 0; /* awake anyway, and others have come as far */
        }
        return clv_pap_agree_message(leader->agree, clv_local_now_ns(), from->node, payload,
                                     payload_bytes);
    }
    return CLV_PROTOCOL;
}

static void try_connect(clv_pap_leader_t *leader, int64_t now_ns)
{
    route_t *route = &leader->route;
    clv_net_channel_t *channel;
    neighbour_t *parent = &leader->neighbours[0];
    route->next_try_ns = INT64_MAX;
    if (clv_net_channel_connect(&route->addresses[route->next], route->port, leader->key,
                                (uint32_t) leader->node, leader->max_payload,
                                &channel) != CLV_OK) {
        retry_later(route, now_ns);
        return;
    }
    parent->conn = clv_net_conn_new(&leader->pap->server, channel, leader, 0, now_ns + CONNECT_NS);
    if (parent->conn == NULL) {
        retry_later(route, now_ns);
    }
}

/* ---- the round ---------------------------------------------------------------------------- */

static void drop_broken(clv_pap_leader_t *leader, int64_t now_ns)
{
    for (int32_t i = 0; i < leader->n_neighbours; i++) {
        clv_net_conn_t *conn = leader->neighbours[i].conn;
        if (conn && (conn->is_broken || now_ns >= conn->deadline_ns)) {
            close_neighbour(leader, &leader->neighbours[i]);
        }
    }
}

static void ping(clv_pap_leader_t *leader, int64_t now_ns)
{
    neighbour_t *parent = parent_of(leader);
    if (parent && parent->is_up && clv_pap_clock_wants_ping(&leader->clock, now_ns)) {
        send_frame(leader, parent, CLV_NET_FRAME_PING, NULL, 0);
    }
}

/* After all sends of the round: what the sockets wait for, and when to look again. */
static int64_t settle(clv_pap_leader_t *leader)
{
    int64_t deadline_ns = clv_smaller(clv_pap_agree_deadline(leader->agree), leader->route.next_try_ns);
    for (int32_t i = 0; i < leader->n_neighbours; i++) {
        clv_net_conn_t *conn = leader->neighbours[i].conn;
        if (conn) {
            clv_net_conn_rewatch(conn);
            deadline_ns = clv_smaller(deadline_ns, conn->is_broken ? 0 : conn->deadline_ns);
        }
    }
    if (has_parent(leader) && leader->neighbours[0].is_up) {
        deadline_ns = clv_smaller(deadline_ns, clv_pap_clock_deadline(&leader->clock));
    }
    return clv_smaller(deadline_ns, leader->has_left ? leader->linger_ns : leader->look_ns);
}

/* Beside the ranks of the largest group that this process leads: usually MPI_COMM_WORLD. */
static void place(clv_pap_leader_t *leader)
{
    const int32_t *first = &leader->layout.first[leader->node];
    const int32_t n_local = first[1] - first[0];
    if (leader->pids && n_local > leader->pap->n_placed_for) {
        leader->pap->n_placed_for = n_local;
        const int n_cpus = clv_net_place_beside(leader->pids, n_local);
        clv_log(CLV_LOG_DEBUG, "background thread: %d processors without a rank of ours", n_cpus);
    }
    clv_free(leader->pids);
    leader->pids = NULL;
}

int64_t clv_pap_leader_work(clv_pap_leader_t *leader, int64_t now_ns, int rung)
{
    if (!leader->has_started) {
        return INT64_MAX;
    }
    place(leader);
    drop_broken(leader, now_ns);
    if ((rung || now_ns >= leader->look_ns) && !leader->has_left) {
        look(leader, now_ns);
    }
    if (now_ns >= leader->route.next_try_ns) {
        try_connect(leader, now_ns);
    }
    if (leader->must_give_up) {
        leader->must_give_up = 0;
        clv_pap_agree_give_up(leader->agree, now_ns, CLV_PAP_LOST_DISAGREE);
    }
    if (now_ns >= clv_pap_agree_deadline(leader->agree)) {
        clv_pap_agree_tick(leader->agree, now_ns);
    }
    ping(leader, now_ns);
    return settle(leader);
}

static int is_flushed(const clv_pap_leader_t *leader)
{
    for (int32_t i = 0; i < leader->n_neighbours; i++) {
        const neighbour_t *one = &leader->neighbours[i];
        if (one->is_up && !one->conn->is_broken &&
            (clv_net_channel_events(one->conn->channel) & (uint32_t) EPOLLOUT)) {
            return 0;
        }
    }
    return 1;
}

int clv_pap_leader_is_done(const clv_pap_leader_t *leader)
{
    return leader->has_left &&
           ((clv_pap_agree_may_close(leader->agree) && is_flushed(leader)) ||
            clv_local_now_ns() >= leader->linger_ns);
}

/* ---- life --------------------------------------------------------------------------------- */

/* The parent's addresses, those in a network of ours first. An address that we have as well is its
 * only on the same host; elsewhere it is one of those that every host has (a bridge). */
static void plan_route(clv_pap_leader_t *leader, const clv_pap_card_t *own,
                       const clv_pap_card_t *parent)
{
    const clv_pap_t *pap = leader->pap;
    route_t *route = &leader->route;
    const int same_host = own->boot_hash == parent->boot_hash && own->net_ns_id == parent->net_ns_id;
    route->port = parent->port;
    route->pause_ns = RETRY_FIRST_NS;
    for (int score = 2; score >= 0; score--) {
        for (int32_t i = 0; i < parent->n_addresses; i++) {
            const clv_net_address_t *one = &parent->addresses[i];
            const int is_own = clv_net_interface_is_own(pap->server.addresses, pap->server.n_addresses, one);
            if (clv_net_interface_score(pap->server.addresses, pap->server.n_addresses, one) == score &&
                (same_host || !is_own)) {
                route->addresses[route->n_addresses++] = *one;
            }
        }
    }
}

static clv_status_t find_neighbours(clv_pap_leader_t *leader, const clv_pap_card_t *cards)
{
    const int32_t n_nodes = leader->layout.n_nodes;
    leader->route.next_try_ns = INT64_MAX;
    if (has_parent(leader)) {
        const int32_t parent = clv_pap_tree_parent(leader->node);
        leader->neighbours[leader->n_neighbours++].node = parent;
        plan_route(leader, &cards[leader->node], &cards[parent]);
        if (leader->route.n_addresses == 0 || leader->route.port == 0) {
            clv_log(CLV_LOG_ERROR, "node %d has no network address that node %d could reach",
                    parent, leader->node);
            return CLV_UNSUPPORTED;
        }
    }
    const int32_t n_children = clv_pap_tree_n_children(n_nodes, leader->node);
    for (int32_t i = 0; i < n_children; i++) {
        leader->neighbours[leader->n_neighbours++].node = clv_pap_tree_child(leader->node, i);
    }
    return CLV_OK;
}

static clv_status_t create_agree(clv_pap_leader_t *leader)
{
    const int64_t lost_ns = leader->pap->options.connect_timeout_ns;
    const clv_pap_agree_options_t options = {.layout = &leader->layout,
                                             .node = leader->node,
                                             .lost_ns = lost_ns,
                                             .retry_ns = RESEND_NS,
                                             .abandon_ns = ABANDON_FACTOR * lost_ns};
    return clv_pap_agree_create(&options, &agree_ops, leader, clv_local_now_ns(), &leader->agree);
}

static clv_status_t create_histories(clv_pap_leader_t *leader)
{
    const clv_pap_options_t *options = &leader->pap->options;
    const size_t n_ranks = (size_t) leader->layout.n_ranks;
    clv_status_t status = CLV_OK;
    for (int32_t lane = 0; lane < CLV_PAP_MAX_STREAMS && status == CLV_OK; lane++) {
        status = clv_pap_history_create(leader->layout.n_ranks, options->sma_window,
                                        (clv_pap_predictor_t) options->predictor,
                                        &leader->histories[lane]);
    }
    leader->predicted_ns = clv_alloc(n_ranks, sizeof *leader->predicted_ns);
    if (leader->attach.memory_bytes > 0) {
        leader->memories = clv_alloc(CLV_PAP_MAX_STREAMS, leader->attach.memory_bytes);
    }
    if (leader->predicted_ns == NULL || (leader->attach.memory_bytes > 0 && !leader->memories)) {
        return CLV_NO_MEMORY;
    }
    return status;
}

static clv_status_t list_pids(clv_pap_leader_t *leader, const clv_pap_card_t *rank_cards)
{
    const int32_t first = leader->layout.first[leader->node];
    const int32_t n_local = leader->layout.first[leader->node + 1] - first;
    leader->pids = clv_alloc((size_t) n_local, sizeof *leader->pids);
    for (int32_t i = 0; leader->pids && i < n_local; i++) {
        leader->pids[i] = (pid_t) rank_cards[leader->layout.rank_at[first + i]].pid;
    }
    return leader->pids ? CLV_OK : CLV_NO_MEMORY;
}

/* Frees what is the leader's own; the table and the layout stay. */
static void release(clv_pap_leader_t *leader)
{
    clv_pap_agree_free(leader->agree);
    for (int32_t lane = 0; lane < CLV_PAP_MAX_STREAMS; lane++) {
        clv_pap_history_free(leader->histories[lane]);
    }
    clv_free(leader->predicted_ns);
    clv_free(leader->memories);
    clv_free(leader->pids);
    explicit_bzero(leader->key, sizeof leader->key);
    clv_free(leader);
}

static void enlist(clv_pap_leader_t *leader)
{
    leader->next = leader->pap->leaders;
    leader->pap->leaders = leader;
}

static void delist(clv_pap_leader_t *leader)
{
    clv_pap_leader_t **at = &leader->pap->leaders;
    while (*at != leader) {
        at = &(*at)->next;
    }
    *at = leader->next;
}

clv_status_t clv_pap_leader_create(const clv_pap_leader_options_t *options,
                                   const clv_pap_layout_t *layout, clv_pap_leader_t **leader_p)
{
    clv_pap_leader_t *leader = clv_alloc(1, sizeof *leader);
    if (leader == NULL) {
        return CLV_NO_MEMORY;
    }
    leader->pap = options->pap;
    leader->table = options->table;
    leader->attach = options->attach;
    leader->node = options->node;
    leader->layout = *layout;
    leader->max_payload = clv_pap_wire_max_bytes(layout->n_ranks);
    memcpy(leader->key, options->key, CLV_NET_KEY_BYTES);
    clv_net_group_id(leader->key, leader->group_id);
    clv_pap_clock_init(&leader->clock, !has_parent(leader));
    leader->look_ns = INT64_MAX;
    for (int32_t lane = 0; lane < CLV_PAP_MAX_STREAMS; lane++) {
        clv_pap_pace_init(&leader->pace[lane]);
    }
    clv_status_t status = find_neighbours(leader, options->cards);
    status = status == CLV_OK ? create_agree(leader) : status;
    status = status == CLV_OK ? create_histories(leader) : status;
    status = status == CLV_OK ? list_pids(leader, options->rank_cards) : status;
    if (status != CLV_OK) {
        release(leader);
        return status;
    }
    if (leader->clock.is_ready) {
        clv_pap_table_set_clock(leader->table, &leader->clock.model);
    }
    enlist(leader); /* known to the server before any child connects */
    *leader_p = leader;
    return CLV_OK;
}

void clv_pap_leader_free(clv_pap_leader_t *leader)
{
    delist(leader);
    for (int32_t i = 0; i < leader->n_neighbours; i++) {
        clv_net_conn_close(leader->neighbours[i].conn);
    }
    if (leader->layout.n_nodes > 1) {
        clv_net_listen_release(&leader->pap->server);
    }
    clv_pap_table_close(leader->table);
    clv_pap_layout_clear(&leader->layout);
    release(leader);
}

void clv_pap_leader_start(clv_pap_leader_t *leader)
{
    leader->has_started = 1;
    if (has_parent(leader)) {
        leader->route.next_try_ns = clv_local_now_ns();
    }
}

void clv_pap_leader_leave(clv_pap_leader_t *leader, int is_needed)
{
    const int64_t now_ns = clv_local_now_ns();
    if (!leader->has_started) {
        clv_pap_leader_free(leader);
        return;
    }
    leader->has_left = 1;
    leader->attach.make = NULL;
    leader->linger_ns = now_ns + (is_needed ? LINGER_NS : 0);
    clv_pap_agree_bye(leader->agree, now_ns);
}
