/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A leader's life and its rounds; see pap_leader.h, and pap_leader_parts.h for its other files.
 */
#include "pap_predict/pap_leader_parts.h"

#include <stdatomic.h>
#include <string.h>

#include "pap_predict/net/net_place.h"
#include "pap_predict/net/net_thread.h"
#include "pap_predict/agree/pap_wire.h"
#include "util/util_alloc.h"
#include "util/util_log.h"
#include "util/util_min_max.h"
#include "util/util_secret.h"
#include "util/util_time.h"

/* TCP repeats lost segments. This finds half-open connections, but must not take a stopped process
 * for one. */
#define RESEND_NS      (4 * CLV_NS_PER_S)
#define ABANDON_FACTOR 4 /* times connect_timeout_ns */
#define NEVER_NS       (INT64_MAX / 4)
#define LINGER_NS      (60 * CLV_NS_PER_S) /* serve other hosts this long after our rank left */

clv_pap_leader_t **clv_pap_leader_next(clv_pap_leader_t *leader)
{
    return &leader->next;
}

/* ---- the round ------------------------------------------------------------------------------- */

/* After all sends of the round: sets the events that sockets wait for; returns the next
 * deadline. */
static int64_t settle(clv_pap_leader_t *leader, int64_t watch_ns)
{
    int64_t deadline_ns =
        clv_smaller(clv_pap_agree_deadline(leader->agree), leader->route.next_try_ns);
    for (int32_t i = 0; i < leader->n_neighbours; i++) {
        clv_net_conn_t *conn = leader->neighbours[i].conn;
        if (conn) {
            clv_net_conn_rewatch(conn);
            deadline_ns = clv_smaller(deadline_ns, conn->is_broken ? 0 : conn->deadline_ns);
        }
    }
    if (clv_pap_leader_has_parent(leader) && leader->neighbours[0].is_up) {
        deadline_ns = clv_smaller(deadline_ns, clv_pap_clock_deadline(&leader->clock));
    }
    deadline_ns = clv_smaller(deadline_ns, watch_ns);
    return clv_smaller(deadline_ns, leader->has_left
                                        ? leader->linger_ns
                                        : clv_smaller(leader->look_ns, leader->tend_ns));
}

/* Calls the caller's hook for the shares. A caller that keeps times of its own needs a good
 * clock. */
static void tend(clv_pap_leader_t *leader, int64_t now_ns, bool is_last)
{
    size_t share_bytes = 0;
    unsigned char *shares = clv_pap_table_shares(leader->table, &share_bytes);
    leader->tend_ns =
        leader->hooks.tend(leader->hooks.tend_context, shares, share_bytes,
                           leader->clock.is_ready ? &leader->clock.model : NULL, now_ns, is_last);
    if (leader->hooks.after_tend && !is_last) { /* if not now, after the next */
        (void) clv_net_thread_defer(leader->pap->thread, leader->hooks.after_tend,
                                    leader->hooks.tend_context);
    }
    if (clv_pap_leader_has_parent(leader)) {
        clv_pap_clock_used(&leader->clock, now_ns);
    }
}

/* Places the thread beside the ranks of the largest group that this process leads, usually
 * MPI_COMM_WORLD. */
static void place(clv_pap_leader_t *leader)
{
    const int32_t *first = &leader->layout.first[leader->host];
    const int32_t n_local = first[1] - first[0];
    if (leader->pids && n_local > leader->pap->n_placed_for) {
        leader->pap->n_placed_for = n_local;
        const int n_cpus = clv_net_place_beside(leader->pids, n_local);
        clv_log(CLV_LOG_DEBUG, "background thread: %d processors without a rank of ours", n_cpus);
    }
    clv_free(leader->pids);
    leader->pids = NULL;
}

/* The next allocation may fail, so all go on without predictions while there is a reserve. */
static void save_memory(clv_pap_leader_t *leader, int64_t now_ns)
{
    static atomic_flag has_reported = ATOMIC_FLAG_INIT;
    if (!clv_alloc_is_short()) {
        return;
    }
    if (!atomic_flag_test_and_set(&has_reported)) {
        clv_log(CLV_LOG_ERROR, "out of memory: the communicators of this process go on without "
                               "predictions");
    }
    clv_pap_agree_give_up(leader->agree, now_ns, CLV_PAP_LOST_REQUESTED);
}

/* A rank of this host, or another host, has broken the group; passed on once. */
static void pass_on_broken(clv_pap_leader_t *leader, int64_t now_ns)
{
    if (clv_pap_table_is_broken(leader->table)) {
        clv_pap_agree_give_up(leader->agree, now_ns, CLV_PAP_LOST_BROKEN);
    }
}

int64_t clv_pap_leader_work(clv_pap_leader_t *leader, int64_t now_ns, int rung)
{
    if (!leader->has_started) {
        return INT64_MAX;
    }
    place(leader);
    clv_pap_route_drop_broken(leader, now_ns);
    if ((rung || now_ns >= leader->look_ns) && !leader->has_left) {
        clv_pap_collect(leader, now_ns);
    }
    if (leader->hooks.tend && (rung || now_ns >= leader->tend_ns) && !leader->has_left) {
        tend(leader, now_ns, false);
    }
    if (now_ns >= leader->route.next_try_ns) {
        clv_pap_route_connect(leader, now_ns);
    }
    if (leader->must_give_up) {
        leader->must_give_up = false;
        clv_pap_agree_give_up(leader->agree, now_ns, CLV_PAP_LOST_DISAGREE);
    }
    pass_on_broken(leader, now_ns);
    save_memory(leader, now_ns);
    if (now_ns >= clv_pap_agree_deadline(leader->agree)) {
        clv_pap_agree_tick(leader->agree, now_ns);
    }
    clv_pap_route_ping(leader, now_ns);
    const int64_t beat_ns = clv_pap_route_beat(leader, now_ns);
    return settle(leader, clv_smaller(beat_ns, clv_pap_relay_watch(leader, now_ns)));
}

bool clv_pap_leader_is_done(const clv_pap_leader_t *leader)
{
    return leader->has_left &&
           ((clv_pap_agree_may_close(leader->agree) && clv_pap_route_is_flushed(leader)) ||
            clv_local_now_ns() >= leader->linger_ns);
}

/* ---- life ------------------------------------------------------------------------------------ */

static void agree_lost(void *context, clv_pap_lost_reason_t reason, const int64_t *n_versions)
{
    clv_pap_leader_t *leader = context;
    const bool is_first = clv_pap_table_n_versions(leader->table, 0) == INT64_MAX;
    if (is_first) {
        clv_pap_table_set_end(leader->table, n_versions, reason == CLV_PAP_LOST_ABANDONED);
    }
    if (reason == CLV_PAP_LOST_BROKEN) {
        clv_pap_table_set_broken(leader->table);
    }
    if (!is_first || leader->has_left || reason == CLV_PAP_LOST_LEFT) {
        return; /* ordinary end: no rank needs the record set under way */
    }
    clv_pap_count(leader->pap, CLV_PAP_COUNT_lost_groups, 1);
    clv_log(reason == CLV_PAP_LOST_ABANDONED ? CLV_LOG_ERROR : CLV_LOG_INFO,
            "no more predictions for a communicator of %d ranks: %s", leader->layout.n_ranks,
            clv_pap_lost_text((int) reason));
}

static const clv_pap_agree_ops_t agree_ops = {
    clv_pap_route_send, clv_pap_publish, clv_pap_publish_void, agree_lost, clv_pap_route_stale};

static clv_status_t create_agree(clv_pap_leader_t *leader)
{
    const int64_t lost_ns = leader->pap->options.connect_timeout_ns;
    const clv_pap_agree_options_t options = {
        .layout = &leader->layout,
        .host = leader->host,
        .lost_ns = lost_ns,
        .retry_ns = RESEND_NS,
        .abandon_ns = leader->pap->options.has_relay ? NEVER_NS : ABANDON_FACTOR * lost_ns};
    return clv_pap_agree_create(&options, &agree_ops, leader, clv_local_now_ns(), &leader->agree);
}

static clv_status_t list_pids(clv_pap_leader_t *leader, const clv_pap_endpoints_t *endpoints)
{
    clv_pap_endpoint_t one;
    clv_status_t status = CLV_OK;
    const int32_t first = leader->layout.first[leader->host];
    const int32_t n_local = leader->layout.first[leader->host + 1] - first;
    leader->pids = clv_alloc((size_t) n_local, sizeof *leader->pids);
    if (leader->pids == NULL) {
        return CLV_NO_MEMORY;
    }
    for (int32_t i = 0; i < n_local && status == CLV_OK; i++) {
        status = clv_pap_endpoint_of(endpoints, leader->layout.rank_at[first + i], &one);
        leader->pids[i] = status == CLV_OK ? (pid_t) one.pid : 0;
    }
    explicit_bzero(&one.key, sizeof one.key);
    return status;
}

/* Frees the leader's own memory; the table and the layout stay. */
static void release(clv_pap_leader_t *leader)
{
    clv_pap_relay_end(leader);
    clv_pap_agree_free(leader->agree);
    clv_pap_publish_free(leader);
    clv_free(leader->pids);
    clv_free(leader->route.addresses);
    clv_secret_free(leader->key);
    clv_free(leader);
}

static clv_status_t keep_key(clv_pap_leader_t *leader, const unsigned char *key)
{
    leader->key = clv_secret_new();
    if (leader->key == NULL) {
        return CLV_NO_MEMORY;
    }
    memcpy(leader->key, key, CLV_NET_KEY_BYTES);
    return CLV_OK;
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
    leader->hooks = options->hooks;
    leader->host = options->host;
    leader->layout = *layout;
    leader->max_payload = clv_pap_wire_max_bytes(layout->n_ranks);
    clv_net_group_id(clv_pap_endpoint_key(options->endpoints), leader->group_id);
    clv_pap_clock_init(&leader->clock, !clv_pap_leader_has_parent(leader));
    leader->look_ns = INT64_MAX;
    leader->outbox_end = &leader->outbox;
    leader->tend_ns = leader->hooks.tend ? 0 : INT64_MAX;
    for (int32_t slot = 0; slot < CLV_PAP_MAX_STREAMS; slot++) {
        clv_pap_polling_init(&leader->polling[slot]);
    }
    clv_status_t status = keep_key(leader, clv_pap_endpoint_key(options->endpoints));
    status = status == CLV_OK ? clv_pap_route_plan(leader, options->endpoints) : status;
    status = status == CLV_OK ? create_agree(leader) : status;
    status = status == CLV_OK ? clv_pap_publish_create(leader) : status;
    status = status == CLV_OK ? list_pids(leader, options->endpoints) : status;
    if (status != CLV_OK) {
        release(leader);
        return status;
    }
    if (leader->clock.is_ready) {
        clv_pap_table_set_clock(leader->table, &leader->clock.model);
    }
    enlist(leader); /* the server must know it before any child connects */
    *leader_p = leader;
    return CLV_OK;
}

int32_t clv_pap_leader_host(const clv_pap_leader_t *leader, int32_t *n_hosts_p)
{
    *n_hosts_p = leader->layout.n_hosts;
    return leader->host;
}

void clv_pap_leader_free(clv_pap_leader_t *leader)
{
    delist(leader);
    for (int32_t i = 0; i < leader->n_neighbours; i++) {
        clv_net_conn_close(leader->neighbours[i].conn);
    }
    if (leader->layout.n_hosts > 1) {
        clv_net_listen_release(&leader->pap->server);
    }
    clv_pap_table_close(leader->table);
    clv_pap_layout_clear(&leader->layout);
    release(leader);
}

void clv_pap_leader_start(clv_pap_leader_t *leader)
{
    leader->has_started = true;
    for (int32_t i = 0; i < leader->n_neighbours; i++) {
        leader->neighbours[i].heard_ns = clv_local_now_ns();
    }
    if (clv_pap_leader_has_parent(leader)) {
        leader->route.next_try_ns = clv_local_now_ns();
    }
}

void clv_pap_leader_leave(clv_pap_leader_t *leader, bool is_needed)
{
    const int64_t now_ns = clv_local_now_ns();
    if (!leader->has_started) {
        clv_pap_leader_free(leader);
        return;
    }
    if (leader->hooks.after_tend) {
        clv_net_thread_settle(leader->pap->thread);
    }
    if (leader->hooks.tend) {
        tend(leader, now_ns, true);
    }
    pass_on_broken(leader, now_ns);
    leader->has_left = true;
    leader->hooks.make = NULL;
    leader->hooks.tend = NULL;
    leader->linger_ns = now_ns + (!is_needed            ? 0
                                  : leader->is_troubled ? leader->pap->options.connect_timeout_ns
                                                        : LINGER_NS);
    clv_pap_relay_end(leader);
    clv_pap_agree_bye(leader->agree, now_ns);
}
