/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A group on one rank: the three steps of its life and the calls; see pap_predict.h.
 *
 * A call touches only the rank's own streams and the host's table: no lock, no heap. It makes at
 * most one system call, and none in a program that calls regularly: the host's last rank to publish
 * a record rings its leader's thread, unless the thread polls (pap_polling.h).
 */
#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "pap_predict/pap_endpoint.h"
#include "pap_predict/pap_leader.h"
#include "pap_predict/pap_process.h"
#include "pap_predict/agree/pap_record.h"
#include "pap_predict/agree/pap_stream.h"
#include "pap_predict/agree/pap_table.h"
#include "pap_predict/agree/pap_tree.h"
#include "pap_predict/agree/pap_wire.h"
#include "pap_predict/agree/pap_work.h"
#include "util/util_alloc.h"
#include "util/util_hot.h"
#include "util/util_limit.h"
#include "util/util_log.h"
#include "util/util_min_max.h"
#include "util/util_time.h"

#define LEND_AFTER_NS                                                                              \
    (100 * CLV_NS_PER_US) /* of waiting: by then a thread with a processor is done */

/* A forecast of the table, as this process sees it. */
typedef struct view {
    clv_pap_forecast_t forecast;
    const void *node_plans;
    size_t node_plans_bytes;
} view_t;

/* The key table after a stream's newest call; with one key, it is one cache line. */
typedef struct key_table {
    _Alignas(CLV_LINE_BYTES) uint64_t n_bytes;
    unsigned char bytes[CLV_PAP_KEY_TABLE_BYTES];
} key_table_t;

_Static_assert(sizeof(view_t) == 2 * CLV_LINE_BYTES, "a view is two cache lines");

/* What each call reads comes first: a cache line of the group, then two lines per stream. */
struct clv_pap_group {
    clv_pap_t *pap;
    clv_pap_table_t *table;
    int64_t waiting_since_ns; /* 0: not waiting */
    int32_t n_local, local_rank;
    clv_pap_leader_t *leader; /* on the host's first rank */
    clv_pap_streams_t streams;
    view_t views[CLV_PAP_HALVES];
    clv_pap_bell_t *bell; /* where there is no leader */
    int64_t asked_ns;     /* when we last asked to go without a forecast; see lose_patience */
    int32_t n_ranks;
    int32_t rank;
    clv_pap_hooks_t hooks;
    key_table_t *key_tables; /* by stream; NULL: none */
    int table_fd;            /* -1 once the others have opened it */
    bool owns_table;         /* else the leader does */
    bool listens;            /* holds the listener for the endpoint record */
    int32_t *host_ranks;
    clv_pap_work_t work;
    bool is_hearing; /* a hint or a report of progress is under way */
};

_Static_assert(offsetof(clv_pap_group_t, streams.slot) == CLV_LINE_BYTES &&
                   sizeof(clv_pap_stream_t) == 2 * CLV_LINE_BYTES,
               "streams do not share cache lines");

/* ---- step 1: create ----------------------------------------------------------------------- */

static clv_pap_table_shape_t table_shape(const clv_pap_group_t *group)
{
    return (clv_pap_table_shape_t){.n_ranks = group->n_ranks,
                                   .node_plans_bytes = group->hooks.node_plans_bytes,
                                   .key_table_bytes = group->hooks.key_table_bytes,
                                   .share_bytes = group->hooks.share_bytes};
}

static clv_status_t fill_endpoint(clv_pap_group_t *group, uint64_t token,
                                  clv_pap_endpoint_t *endpoint)
{
    const clv_pap_t *pap = group->pap;
    const clv_pap_table_shape_t shape = table_shape(group);
    clv_status_t status = clv_pap_endpoint_host(endpoint);
    if (status != CLV_OK) {
        return status;
    }
    endpoint->table_fd = (uint32_t) group->table_fd;
    endpoint->wake_fd = (uint32_t) clv_net_thread_bell_fd(pap->thread);
    endpoint->table_bytes = clv_pap_table_bytes(&shape);
    endpoint->table_token = token;
    endpoint->pretend_host = pap->pretend_host;
    endpoint->port = pap->server.port;
    endpoint->n_addresses = pap->server.n_addresses;
    for (int32_t i = 0; i < endpoint->n_addresses && i < CLV_PAP_ENDPOINT_ADDRESSES; i++) {
        endpoint->addresses[i] = pap->server.addresses[i];
    }
    if (group->rank == 0 &&
        getrandom(endpoint->key, sizeof endpoint->key, 0) != (ssize_t) sizeof endpoint->key) {
        return CLV_SYSTEM;
    }
    return CLV_OK;
}

/* errno says why; only the recorder's groups have shares. */
static void tell_refused(const clv_pap_group_t *group, const char *what)
{
    clv_limit_tell(what, group->hooks.share_bytes > 0, errno);
}

static clv_status_t hold_listener(clv_pap_group_t *group)
{
    clv_net_thread_lock(group->pap->thread);
    clv_status_t status = clv_net_listen_acquire(&group->pap->server);
    clv_net_thread_unlock(group->pap->thread);
    group->listens = status == CLV_OK;
    if (status == CLV_NO_MEMORY) {
        tell_refused(group, "port");
    }
    return status;
}

static void let_listener_go(clv_pap_group_t *group)
{
    if (group->listens) {
        clv_net_thread_lock(group->pap->thread);
        clv_net_listen_release(&group->pap->server);
        clv_net_thread_unlock(group->pap->thread);
        group->listens = false;
    }
}

static clv_status_t reserve_key_tables(clv_pap_group_t *group)
{
    const size_t n_bytes = group->hooks.key_table_bytes;
    if (n_bytes > CLV_PAP_KEY_TABLE_BYTES) {
        return CLV_INVALID;
    }
    if (n_bytes > 0) {
        group->key_tables = clv_alloc_line(CLV_PAP_MAX_STREAMS * sizeof *group->key_tables);
    }
    return n_bytes == 0 || group->key_tables != NULL ? CLV_OK : CLV_NO_MEMORY;
}

static clv_status_t prepare(clv_pap_group_t *group, unsigned char *endpoint_bytes)
{
    uint64_t token = 0;
    clv_pap_endpoint_t endpoint = {0};
    const clv_pap_table_shape_t shape = table_shape(group);
    if (getrandom(&token, sizeof token, 0) != (ssize_t) sizeof token) {
        return CLV_SYSTEM;
    }
    clv_status_t status = reserve_key_tables(group);
    status = status == CLV_OK ? clv_pap_table_create(&shape, token, &group->table, &group->table_fd)
                              : status;
    group->owns_table = status == CLV_OK;
    status = status == CLV_OK ? hold_listener(group) : status;
    status = status == CLV_OK ? fill_endpoint(group, token, &endpoint) : status;
    if (status == CLV_OK) {
        clv_pap_endpoint_encode(&endpoint, endpoint_bytes);
    }
    explicit_bzero(&endpoint, sizeof endpoint);
    return status;
}

clv_status_t clv_pap_group_create(clv_pap_t *pap, int32_t n_ranks, int32_t rank,
                                  const clv_pap_hooks_t *hooks, unsigned char *endpoint,
                                  clv_pap_group_t **group_p)
{
    if (n_ranks < 1 || n_ranks >= CLV_PAP_MAX_RANKS || rank < 0 || rank >= n_ranks) {
        return CLV_INVALID;
    }
    clv_pap_group_t *group = clv_alloc_line(sizeof *group);
    if (group == NULL) {
        return CLV_NO_MEMORY;
    }
    group->pap = pap;
    group->n_ranks = n_ranks;
    group->rank = rank;
    group->table_fd = -1;
    if (hooks) {
        group->hooks = *hooks;
    }
    clv_pap_streams_init(&group->streams);
    clv_status_t status = prepare(group, endpoint);
    if (status != CLV_OK) {
        clv_pap_group_free(group);
        return status;
    }
    *group_p = group;
    return CLV_OK;
}

/* ---- step 2: attach ----------------------------------------------------------------------- */

/* A malformed endpoint record is an error of attach, not of this function. */
size_t clv_pap_more_bytes(const unsigned char *endpoints, size_t stride, int32_t n_ranks)
{
    int32_t most = 0;
    for (int32_t rank = 0; rank < n_ranks; rank++) {
        const int32_t n = clv_pap_endpoint_n_addresses(endpoints + (size_t) rank * stride);
        most = n > most ? n : most;
    }
    return clv_pap_endpoint_more_bytes(most);
}

void clv_pap_group_more(const clv_pap_group_t *group, unsigned char *more, size_t n_bytes)
{
    const clv_net_server_t *server = &group->pap->server;
    clv_pap_endpoint_encode_more(server->addresses, server->n_addresses, more, n_bytes);
}

/* The hosts, by first appearance, during attach. */
typedef struct hosts {
    int32_t *of_rank;
    int32_t *leader; /* by host: its first rank */
    int32_t n;
} hosts_t;

static void hosts_clear(hosts_t *hosts)
{
    clv_free(hosts->of_rank);
    clv_free(hosts->leader);
}

static int32_t host_of(const hosts_t *hosts, const clv_pap_endpoints_t *endpoints, int32_t rank)
{
    const unsigned char *record = clv_pap_endpoint_record(endpoints, rank);
    int32_t host = 0;
    while (host < hosts->n &&
           !clv_pap_endpoint_same_host(clv_pap_endpoint_record(endpoints, hosts->leader[host]),
                                       record)) {
        host++;
    }
    return host;
}

/* Every record is decoded once, here, so later no decode fails. */
static clv_status_t find_hosts(hosts_t *hosts, const clv_pap_endpoints_t *endpoints,
                               int32_t n_ranks)
{
    clv_pap_endpoint_t endpoint;
    clv_status_t status = CLV_OK;
    hosts->of_rank = clv_alloc((size_t) n_ranks, sizeof *hosts->of_rank);
    hosts->leader = clv_alloc((size_t) n_ranks, sizeof *hosts->leader);
    if (hosts->of_rank == NULL || hosts->leader == NULL) {
        return CLV_NO_MEMORY;
    }
    for (int32_t rank = 0; rank < n_ranks && status == CLV_OK; rank++) {
        status = clv_pap_endpoint_of(endpoints, rank, &endpoint);
        if (status != CLV_OK) {
            clv_log(CLV_LOG_ERROR, "the endpoint of rank %d is malformed", rank);
            break;
        }
        hosts->of_rank[rank] = host_of(hosts, endpoints, rank);
        if (hosts->of_rank[rank] == hosts->n) {
            hosts->leader[hosts->n++] = rank;
        }
    }
    explicit_bzero(&endpoint.key, sizeof endpoint.key);
    return status;
}

static clv_status_t list_host_ranks(clv_pap_group_t *group, const clv_pap_layout_t *layout,
                                    int32_t host)
{
    const int32_t first = layout->first[host];
    group->n_local = layout->first[host + 1] - first;
    group->host_ranks = clv_alloc((size_t) group->n_local, sizeof *group->host_ranks);
    if (group->host_ranks == NULL) {
        return CLV_NO_MEMORY;
    }
    memcpy(group->host_ranks, layout->rank_at + first,
           (size_t) group->n_local * sizeof *group->host_ranks);
    while (group->host_ranks[group->local_rank] != group->rank) {
        group->local_rank++;
    }
    return CLV_OK;
}

static clv_status_t become_leader(clv_pap_group_t *group, const clv_pap_endpoints_t *endpoints,
                                  int32_t host, clv_pap_layout_t *layout)
{
    const clv_pap_leader_options_t options = {.pap = group->pap,
                                              .table = group->table,
                                              .hooks = group->hooks,
                                              .host = host,
                                              .endpoints = endpoints};
    /* Here, not in activate: whatever can fail must fail while all ranks can still go without. */
    clv_status_t status = clv_pap_table_reserve(group->table, group->table_fd, 0);
    if (status != CLV_OK) {
        return status;
    }
    clv_net_thread_lock(group->pap->thread);
    status = clv_net_thread_start(group->pap->thread);
    if (status == CLV_OK) {
        status = clv_pap_leader_create(&options, layout, &group->leader);
    } else {
        tell_refused(group, "thread");
    }
    clv_net_thread_unlock(group->pap->thread);
    if (status != CLV_OK) {
        return status;
    }
    group->owns_table = false;
    if (layout->n_hosts > 1) {
        group->listens = false; /* the leader holds it now */
    }
    memset(layout, 0, sizeof *layout);
    return CLV_OK;
}

static clv_status_t follow_leader(clv_pap_group_t *group, const clv_pap_endpoints_t *endpoints,
                                  int32_t leader)
{
    clv_pap_endpoint_t endpoint;
    const clv_pap_table_shape_t shape = table_shape(group);
    clv_status_t status = clv_pap_endpoint_of(endpoints, leader, &endpoint);
    if (status != CLV_OK) {
        return status;
    }
    explicit_bzero(&endpoint.key, sizeof endpoint.key);
    clv_pap_table_close(group->table);
    (void) close(group->table_fd);
    group->table = NULL;
    group->table_fd = -1;
    group->owns_table = false;
    status = clv_pap_table_open(&shape, endpoint.table_token, endpoint.pid, endpoint.table_fd,
                                &group->table);
    if (status != CLV_OK) {
        clv_log(CLV_LOG_ERROR, "rank %d cannot open the table of process %u on its host: %s",
                group->rank, (unsigned) endpoint.pid, clv_status_text(status));
        return status;
    }
    group->owns_table = true;
    clv_net_thread_lock(group->pap->thread);
    status = clv_pap_bell_acquire(group->pap, endpoint.pid, endpoint.wake_fd, &group->bell);
    clv_net_thread_unlock(group->pap->thread);
    return status;
}

static clv_status_t take_place(clv_pap_group_t *group, const clv_pap_endpoints_t *endpoints,
                               const hosts_t *hosts)
{
    clv_pap_layout_t layout = {0};
    const int32_t host = hosts->of_rank[group->rank], leader = hosts->leader[host];
    clv_status_t status = clv_pap_layout_init(hosts->of_rank, group->n_ranks, hosts->n, &layout);
    if (status != CLV_OK) {
        return status;
    }
    status = list_host_ranks(group, &layout, host);
    if (status == CLV_OK) {
        status = leader == group->rank ? become_leader(group, endpoints, host, &layout)
                                       : follow_leader(group, endpoints, leader);
    }
    let_listener_go(group);
    clv_pap_layout_clear(&layout);
    return status;
}

clv_status_t clv_pap_group_attach(clv_pap_group_t *group, const unsigned char *endpoints,
                                  size_t stride, const unsigned char *more)
{
    const clv_pap_endpoints_t all = {endpoints, stride, more,
                                     clv_pap_more_bytes(endpoints, stride, group->n_ranks)};
    hosts_t hosts = {0};
    clv_status_t status = find_hosts(&hosts, &all, group->n_ranks);
    status = status == CLV_OK ? take_place(group, &all, &hosts) : status;
    hosts_clear(&hosts);
    return status;
}

const int32_t *clv_pap_group_host_ranks(const clv_pap_group_t *group, int32_t *n_p)
{
    *n_p = group->n_local;
    return group->host_ranks;
}

unsigned char *clv_pap_group_share(const clv_pap_group_t *group)
{
    size_t share_bytes = 0;
    unsigned char *shares = clv_pap_table_shares(group->table, &share_bytes);
    return share_bytes == 0 ? NULL : shares + (size_t) group->local_rank * share_bytes;
}

int32_t clv_pap_group_leads(const clv_pap_group_t *group, int32_t *n_hosts_p)
{
    return group->leader ? clv_pap_leader_host(group->leader, n_hosts_p) : -1;
}

/* ---- step 3: activate, and the end -------------------------------------------------------- */

clv_status_t clv_pap_group_activate(clv_pap_group_t *group)
{
    if (group->leader == NULL) {
        return CLV_OK;
    }
    (void) close(group->table_fd); /* every rank of the host has opened it */
    group->table_fd = -1;
    clv_net_thread_lock(group->pap->thread);
    clv_pap_leader_start(group->leader);
    clv_net_thread_unlock(group->pap->thread);
    clv_net_thread_ring(group->pap->thread);
    return CLV_OK;
}

static void leave_leader(clv_pap_group_t *group, bool is_needed)
{
    clv_net_thread_lock(group->pap->thread);
    clv_pap_leader_leave(group->leader, is_needed);
    clv_net_thread_unlock(group->pap->thread);
    clv_net_thread_ring(group->pap->thread);
}

static void end(clv_pap_group_t *group, bool is_needed)
{
    if (group == NULL || !clv_net_thread_is_ours(group->pap->thread)) {
        return;
    }
    if (group->leader) {
        leave_leader(group, is_needed);
    }
    if (group->owns_table) {
        clv_pap_table_close(group->table);
    }
    if (group->table_fd >= 0) {
        (void) close(group->table_fd);
    }
    let_listener_go(group);
    clv_net_thread_lock(group->pap->thread);
    clv_pap_bell_release(group->pap, group->bell);
    clv_net_thread_unlock(group->pap->thread);
    clv_free(group->host_ranks);
    clv_free(group->key_tables);
    clv_free(group);
}

void clv_pap_group_free(clv_pap_group_t *group)
{
    end(group, true);
}

void clv_pap_group_abandon(clv_pap_group_t *group)
{
    end(group, false);
}

/* ---- calls -------------------------------------------------------------------------------- */

static CLV_COLD void ring_leader(const clv_pap_group_t *group)
{
    if (!clv_pap_table_pull_bell(group->table)) {
        return; /* it has been rung already */
    }
    if (group->leader) {
        clv_net_thread_ring(group->pap->thread);
    } else if (write(group->bell->fd, "", 1) < 0) {
        return; /* the pipe is full, so it was rung */
    }
}

void clv_pap_group_wake(const clv_pap_group_t *group)
{
    ring_leader(group);
}

/* The key table is equal on all ranks, so only the rank whose record the leader reads gives it. */
static void give_key_table(clv_pap_group_t *group, const clv_pap_local_record_t *given)
{
    const bool is_known = (given->flags & CLV_PAP_RECORD_PREVIOUS) != 0;
    if (group->key_tables != NULL && group->local_rank == 0) {
        const key_table_t *key_table = &group->key_tables[given->slot];
        clv_pap_table_set_keys(group->table, given->slot, given->sequence + 1,
                               is_known ? key_table->bytes : NULL, key_table->n_bytes);
    }
}

static CLV_HOT void give(clv_pap_group_t *group, const clv_pap_local_record_t *given)
{
    give_key_table(group, given);
    if (clv_pap_record_give(group->table, group->local_rank, group->n_local, given,
                            &group->streams.slot[given->slot].key)) {
        ring_leader(group);
    }
    clv_pap_count(group->pap, CLV_PAP_COUNT_sampled, 1);
}

static void fetch_view(const clv_pap_group_t *group, int32_t slot, int64_t version)
{
    const view_t *view = &group->views[clv_pap_half(slot, version)];
    clv_fetch_to_write(view);
    clv_fetch_to_write((const unsigned char *) view + CLV_LINE_BYTES);
}

static void fetch_key_table(const clv_pap_group_t *group, int32_t slot)
{
    if (group->key_tables != NULL && group->local_rank == 0) {
        clv_fetch_to_write(&group->key_tables[slot]);
    }
}

/* Prefetches the memory of the next call at once, before waiting for the first of it. Assumes the
 * stream used last, or the first one if there is none; a call of another stream is only slower. */
CLV_HOT void clv_pap_call_fetch(const clv_pap_group_t *group)
{
    clv_fetch_to_write(&group->streams.slot[0]);
    clv_fetch_to_write(&group->streams.slot[0].generation);
    const int32_t slot = group->streams.last_slot;
    if (slot < 0) {
        return;
    }
    clv_fetch_to_read(group->table);
    clv_fetch_to_write(&group->pap->counters[CLV_PAP_COUNT_calls]);
    const clv_pap_stream_t *stream = &group->streams.slot[slot];
    if (stream->calls == stream->next_sample) {
        fetch_view(group, slot, stream->sequence);
        fetch_key_table(group, slot);
        clv_pap_table_fetch(group->table, group->local_rank, slot, stream->sequence + 1);
    } else {
        fetch_view(group, slot, stream->version);
    }
}

/* Counts streams that replace others: with more kinds of calls than slots, those that take turns
 * are never predicted. */
static CLV_HOT void count_displaced(clv_pap_group_t *group, const clv_pap_call_t *call)
{
    if (call->number == 0 && call->generation > 0) {
        clv_pap_count(group->pap, CLV_PAP_COUNT_displaced, 1);
    }
}

CLV_HOT void clv_pap_call_begin(clv_pap_group_t *group, const clv_pap_stream_key_t *key,
                                int64_t local_ns, clv_pap_call_t *call)
{
    clv_pap_local_record_t given;
    const bool gives = clv_pap_streams_begin(&group->streams, key, local_ns, call, &given);
    clv_pap_count(group->pap, CLV_PAP_COUNT_calls, 1);
    count_displaced(group, call);
    if (gives) {
        give(group, &given);
    }
}

/* A version is published once, so a view that has it is still valid: no look at the table. */
static CLV_HOT const clv_pap_forecast_t *find_forecast(void *context, int32_t slot, int64_t version)
{
    clv_pap_group_t *group = context;
    view_t *view = &group->views[clv_pap_half(slot, version)];
    if (version > 0 && view->forecast.version == version) {
        return &view->forecast;
    }
    return clv_pap_table_forecast(group->table, slot, version, &view->forecast, &view->node_plans,
                                  &view->node_plans_bytes) == CLV_OK
               ? &view->forecast
               : NULL;
}

static int64_t count_versions(void *context, int32_t slot)
{
    const clv_pap_group_t *group = context;
    return clv_pap_table_n_versions(group->table, slot);
}

static bool is_unsure(void *context)
{
    const clv_pap_group_t *group = context;
    return clv_pap_table_is_unsure(group->table);
}

static bool is_void(void *context, int32_t slot, int64_t version)
{
    const clv_pap_group_t *group = context;
    return clv_pap_table_is_void(group->table, slot, version);
}

static const clv_pap_store_ops_t store_ops = {find_forecast, count_versions, is_void, is_unsure};

/* At a sampled call a forecast is new to its rank; it then says how good the one before was. */
static void count_error(clv_pap_group_t *group, const clv_pap_forecast_t *forecast)
{
    if (forecast->mean_error_ns >= 0) {
        clv_pap_count(group->pap, CLV_PAP_COUNT_judged, 1);
        clv_pap_count(group->pap, CLV_PAP_COUNT_judged_error_ns, forecast->mean_error_ns);
    }
}

static CLV_COLD void begin_waiting(clv_pap_group_t *group)
{
    group->waiting_since_ns = clv_local_now_ns();
    clv_pap_count(group->pap, CLV_PAP_COUNT_forecast_waits, 1);
}

/* Several threads may end waits at the same time. */
static void keep_longest(_Atomic int64_t *longest, int64_t ns)
{
    int64_t known = atomic_load_explicit(longest, memory_order_relaxed);

    while (ns > known && !atomic_compare_exchange_weak_explicit(
                             longest, &known, ns, memory_order_relaxed, memory_order_relaxed)) {
    }
}

static CLV_COLD void end_waiting(clv_pap_group_t *group)
{
    const int64_t waited_ns = clv_local_now_ns() - group->waiting_since_ns;

    clv_pap_count(group->pap, CLV_PAP_COUNT_forecast_wait_ns, waited_ns);
    keep_longest(&group->pap->longest_wait_ns, waited_ns);
    group->waiting_since_ns = 0;
}

static void count_answer(clv_pap_group_t *group, clv_status_t status)
{
    if (status == CLV_AGAIN && group->waiting_since_ns == 0) {
        begin_waiting(group);
    } else if (status != CLV_AGAIN && group->waiting_since_ns != 0) {
        end_waiting(group);
    }
    if (status == CLV_OK) {
        clv_pap_count(group->pap, CLV_PAP_COUNT_forecasts, 1);
    }
}

/* Repeated, since the request may be lost with a connection. */
static CLV_COLD void lose_patience(clv_pap_group_t *group, const clv_pap_call_t *call,
                                   int64_t now_ns)
{
    const int64_t patience_ns = group->pap->options.patience_ns;
    const int64_t since_ns = clv_larger(group->waiting_since_ns, group->asked_ns);
    if (call->awaited_version == 0 || patience_ns == 0 || now_ns - since_ns < patience_ns) {
        return;
    }
    group->asked_ns = now_ns;
    clv_pap_table_ask(group->table, call->stream, call->awaited_version);
    ring_leader(group);
}

/* The forecast is needed now, but the thread may have planned to look later or have no
 * processor. */
static CLV_COLD void drive(clv_pap_group_t *group, const clv_pap_call_t *call)
{
    const int64_t now_ns = clv_local_now_ns();

    if (clv_pap_table_is_pending(group->table)) {
        ring_leader(group);
    }
    lose_patience(group, call, now_ns);
    if (group->leader != NULL) {
        clv_net_thread_turn(group->pap->thread, now_ns - group->waiting_since_ns > LEND_AFTER_NS);
    }
}

/* Gives its turn to a call that began while earlier ones had no answer yet. */
static CLV_COLD void enter(clv_pap_group_t *group, clv_pap_call_t *call)
{
    clv_pap_local_record_t given;
    if (clv_pap_streams_enter(&group->streams, call, &given)) {
        give(group, &given);
    }
}

CLV_HOT clv_status_t clv_pap_call_forecast(clv_pap_group_t *group, clv_pap_call_t *call,
                                           const clv_pap_forecast_t **forecast_p,
                                           const void **node_plans_p, size_t *node_plans_bytes_p)
{
    const clv_pap_forecast_t *forecast = NULL;
    if (call->stream < 0) {
        enter(group, call);
    }
    clv_status_t status =
        clv_pap_streams_forecast(&group->streams, call, &store_ops, group, &forecast);
    count_answer(group, status);
    if (status == CLV_AGAIN) {
        drive(group, call);
    }
    if (status == CLV_OK) {
        const view_t *view = &group->views[clv_pap_half(call->stream, forecast->version)];
        if (call->sampled) {
            count_error(group, forecast);
        }
        *forecast_p = forecast;
        *node_plans_p = view->node_plans;
        *node_plans_bytes_p = view->node_plans_bytes;
    }
    return status;
}

/* Keeps the key table of the stream's newest call, the same call whose choice and times the next
 * record carries. */
static void keep_key_table(clv_pap_group_t *group, const clv_pap_call_t *call,
                           const void *key_table, size_t n_bytes)
{
    if (group->key_tables == NULL || group->local_rank != 0 || key_table == NULL ||
        call->stream < 0 || n_bytes > group->hooks.key_table_bytes) {
        return;
    }
    const clv_pap_stream_t *stream = &group->streams.slot[call->stream];
    if (call->generation == stream->generation && call->number == stream->previous_number) {
        group->key_tables[call->stream].n_bytes = n_bytes;
        memcpy(group->key_tables[call->stream].bytes, key_table, n_bytes);
    }
}

CLV_HOT void clv_pap_call_end(clv_pap_group_t *group, clv_pap_call_t *call, int32_t choice,
                              const void *key_table, size_t n_bytes, int64_t local_ns)
{
    clv_pap_streams_end(&group->streams, call, choice, local_ns);
    keep_key_table(group, call, key_table, n_bytes);
}

static bool hear_hint(clv_pap_group_t *group, int64_t local_now_ns, int64_t ns_from_now)
{
    clv_pap_local_record_t given;
    clv_pap_heard_t heard =
        clv_pap_streams_hint(&group->streams, local_now_ns, ns_from_now, &given);
    if (heard == CLV_PAP_HEARD_GIVEN) {
        give(group, &given);
    }
    return heard != CLV_PAP_HEARD_NOT;
}

static bool hear_progress(clv_pap_group_t *group, double done, double total)
{
    int64_t begun_ns;
    if (!clv_pap_streams_can_hear(&group->streams, &begun_ns) ||
        !clv_pap_work_report(&group->work, group->streams.calls, done, total)) {
        return false;
    }
    const int64_t now_ns = clv_local_now_ns();
    const int64_t left_ns = clv_pap_work_arrival(&group->work, begun_ns, now_ns);
    return left_ns >= 0 && hear_hint(group, now_ns, left_ns);
}

static bool start_hearing(clv_pap_group_t *group)
{
    return !__atomic_exchange_n(&group->is_hearing, 1, __ATOMIC_ACQUIRE);
}

static void stop_hearing(clv_pap_group_t *group)
{
    __atomic_store_n(&group->is_hearing, 0, __ATOMIC_RELEASE);
}

/* Waits for reports of progress by other threads: this hint is more exact than theirs. */
bool clv_pap_hint(clv_pap_group_t *group, int64_t local_now_ns, int64_t ns_from_now)
{
    while (!start_hearing(group)) {
        sched_yield();
    }
    const bool is_taken = hear_hint(group, local_now_ns, ns_from_now);
    stop_hearing(group);
    return is_taken;
}

CLV_HOT bool clv_pap_hint_progress(clv_pap_group_t *group, double done, double total)
{
    if (!start_hearing(group)) {
        return false;
    }
    const bool is_reported = hear_progress(group, done, total);
    stop_hearing(group);
    return is_reported;
}

/* ---- the relay --------------------------------------------------------------------------- */

void clv_pap_group_relay(clv_pap_group_t *group, const clv_pap_relay_ops_t *ops, void *context)
{
    if (group->leader == NULL || !clv_net_thread_is_ours(group->pap->thread)) {
        return;
    }
    clv_net_thread_lock(group->pap->thread);
    clv_pap_leader_relay(group->leader, ops, context);
    clv_net_thread_unlock(group->pap->thread);
}

void clv_pap_group_relay_take(clv_pap_group_t *group, int32_t rank, const void *bytes,
                              size_t n_bytes)
{
    if (group->leader == NULL || !clv_net_thread_is_ours(group->pap->thread)) {
        return;
    }
    clv_net_thread_lock(group->pap->thread);
    clv_pap_leader_relay_take(group->leader, rank, bytes, n_bytes);
    clv_net_thread_unlock(group->pap->thread);
    clv_net_thread_ring(group->pap->thread); /* its content may have to be passed on */
}

/* Under the thread's lock. 0 without a leader or in a forked child. */
static bool ask_leader(clv_pap_group_t *group, bool (*question)(clv_pap_leader_t *))
{
    if (group->leader == NULL || !clv_net_thread_is_ours(group->pap->thread)) {
        return false;
    }
    clv_net_thread_lock(group->pap->thread);
    const bool answer = question(group->leader);
    clv_net_thread_unlock(group->pap->thread);
    return answer;
}

bool clv_pap_group_is_owing(clv_pap_group_t *group)
{
    return ask_leader(group, clv_pap_leader_is_owing);
}

bool clv_pap_group_is_apart(clv_pap_group_t *group)
{
    return ask_leader(group, clv_pap_leader_is_apart);
}

size_t clv_pap_relay_bytes(int32_t n_ranks)
{
    return clv_pap_wire_max_bytes(n_ranks);
}

/* ---- a call that failed ------------------------------------------------------------------- */

void clv_pap_group_break(clv_pap_group_t *group)
{
    clv_pap_table_set_broken(group->table);
    ring_leader(group);
}

bool clv_pap_group_is_broken(const clv_pap_group_t *group)
{
    return clv_pap_table_is_broken(group->table);
}

/* ---- looking ------------------------------------------------------------------------------ */

bool clv_pap_group_is_lost(const clv_pap_group_t *group)
{
    return clv_pap_table_n_versions(group->table, 0) != INT64_MAX;
}

clv_status_t clv_pap_global_time(clv_pap_group_t *group, int64_t local_ns, int64_t *global_ns_p,
                                 int64_t *error_ns_p)
{
    clv_cs_model_t model;
    clv_status_t status = clv_pap_table_clock(group->table, &model);
    if (status == CLV_OK) {
        *global_ns_p = clv_cs_model_global(&model, local_ns);
        *error_ns_p = clv_cs_model_error(&model, local_ns);
    }
    return status;
}
