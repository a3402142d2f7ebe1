/* SPDX-License-Identifier: BSD-3-Clause
 * See pap_process.h: open and close, the thread's periodic work, bells, counters.
 */
#include "pap_predict/pap_process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pap_predict/pap_leader.h"
#include "pap_predict/predict/pap_predictors.h"
#include "util/util_alloc.h"
#include "util/util_limit.h"
#include "util/util_log.h"
#include "util/util_time.h"

#define CLOSE_NS CLV_NS_PER_S /* how long close waits for leaders that other hosts need */

/* ---- the thread's round ------------------------------------------------------------------- */

static int64_t work(void *context, int64_t now_ns, int rung)
{
    clv_pap_t *pap = context;
    int64_t deadline_ns = clv_net_listen_work(&pap->server, now_ns);
    clv_pap_leader_t *leader = pap->leaders, *next;
    for (; leader; leader = next) {
        next = *clv_pap_leader_next(leader);
        const int64_t one_ns = clv_pap_leader_work(leader, now_ns, rung);
        deadline_ns = one_ns < deadline_ns ? one_ns : deadline_ns;
        if (clv_pap_leader_is_done(leader)) {
            clv_pap_leader_free(leader);
        }
    }
    return deadline_ns;
}

static const clv_net_thread_ops_t thread_ops = {work};

/* ---- which leader a connection is for ----------------------------------------------------- */

static clv_pap_leader_t *find_leader(const clv_pap_t *pap, const unsigned char *group_id,
                                     uint32_t host, const unsigned char **key_p,
                                     int32_t *neighbour_p, size_t *max_payload_p)
{
    for (clv_pap_leader_t *one = pap->leaders; one; one = *clv_pap_leader_next(one)) {
        *key_p = clv_pap_leader_expects(one, group_id, host, neighbour_p, max_payload_p);
        if (*key_p) {
            return one;
        }
    }
    return NULL;
}

static const unsigned char *server_find(void *context, const unsigned char *group_id, uint32_t host,
                                        size_t *max_payload_p)
{
    const unsigned char *key = NULL;
    int32_t ignored;
    return find_leader(context, group_id, host, &key, &ignored, max_payload_p) ? key : NULL;
}

static void *server_adopt(void *context, const unsigned char *group_id, uint32_t host,
                          int32_t *place_p)
{
    const unsigned char *key;
    size_t ignored;
    return find_leader(context, group_id, host, &key, place_p, &ignored);
}

static void server_up(void *owner, clv_net_conn_t *conn)
{
    clv_pap_leader_conn_up(owner, conn);
}

static void server_lost(void *owner, clv_net_conn_t *conn)
{
    clv_pap_leader_conn_lost(owner, conn);
}

static clv_status_t server_frame(void *owner, clv_net_conn_t *conn, clv_net_frame_kind_t kind,
                                 const clv_net_stamp_t *stamp, int64_t received_ns,
                                 const unsigned char *payload, size_t payload_bytes)
{
    return clv_pap_leader_frame(owner, conn, kind, stamp, received_ns, payload, payload_bytes);
}

static void server_count(void *context, clv_net_counter_t what, int64_t more)
{
    static const clv_pap_counter_t counters[] = {[CLV_NET_REJECTED] = CLV_PAP_COUNT_rejected,
                                                 [CLV_NET_SENT_BYTES] = CLV_PAP_COUNT_sent_bytes,
                                                 [CLV_NET_RECEIVED_BYTES] =
                                                     CLV_PAP_COUNT_received_bytes};
    clv_pap_count(context, counters[what], more);
}

static const clv_net_server_ops_t server_ops = {server_find, server_adopt, server_up,
                                                server_lost, server_frame, server_count};

/* ---- open and close ----------------------------------------------------------------------- */

static bool are_options_valid(const clv_pap_options_t *options)
{
    return options->sma_window >= 1 && options->sma_window <= CLV_PAP_MAX_WINDOW &&
           options->predictor >= 0 && options->predictor < CLV_PAP_N_PREDICTORS &&
           options->connect_timeout_ns > 0 && options->patience_ns >= 0 && options->port_min >= 0 &&
           options->port_min <= UINT16_MAX &&
           (options->port_min == 0 || options->port_range >= 1) &&
           (options->interface == NULL || strlen(options->interface) < CLV_PAP_INTERFACE_BYTES);
}

/* A job on one host needs no interface; only a named one that does not exist is an error here. */
static clv_status_t find_addresses(clv_pap_t *pap)
{
    clv_status_t status = clv_net_interface_list(pap->options.interface, &pap->server.addresses,
                                                 &pap->server.n_addresses);
    return pap->options.interface || status == CLV_NO_MEMORY ? status : CLV_OK;
}

static void free_process(clv_pap_t *pap)
{
    clv_free(pap->server.addresses);
    clv_free(pap);
}

static clv_status_t make_thread(clv_pap_t *pap)
{
    const clv_status_t status = clv_net_thread_create(&thread_ops, pap, &pap->thread);

    if (status == CLV_NO_MEMORY) {
        clv_limit_tell(errno == ENOMEM ? "memory" : "descriptor", pap->options.records, errno);
    }
    return status;
}

clv_status_t clv_pap_open(const clv_pap_options_t *options, clv_pap_t **pap_p)
{
    if (!are_options_valid(options)) {
        return CLV_INVALID;
    }
    clv_pap_t *pap = clv_alloc_line(sizeof *pap);
    if (pap == NULL) {
        return CLV_NO_MEMORY;
    }
    pap->options = *options;
    if (options->interface) {
        (void) snprintf(pap->interface, sizeof pap->interface, "%s", options->interface);
        pap->options.interface = pap->interface;
    }
    clv_status_t status = find_addresses(pap);
    status = status == CLV_OK ? make_thread(pap) : status;
    if (status != CLV_OK) {
        free_process(pap);
        return status;
    }
    clv_net_server_init(&pap->server, pap->thread, &server_ops, pap);
    pap->server.port_min = options->port_min;
    pap->server.port_range = options->port_range;
    *pap_p = pap;
    return CLV_OK;
}

static bool has_leaders(clv_pap_t *pap)
{
    clv_net_thread_lock(pap->thread);
    const bool has = pap->leaders != NULL;
    clv_net_thread_unlock(pap->thread);
    return has;
}

/* Leaders whose rank has left end by themselves when no other host needs them. */
static void wait_for_leaders(clv_pap_t *pap)
{
    const struct timespec pause = {0, 200000};
    const int64_t until_ns = clv_local_now_ns() + CLOSE_NS;
    while (has_leaders(pap) && clv_local_now_ns() < until_ns) {
        clv_net_thread_ring(pap->thread);
        (void) nanosleep(&pause, NULL);
    }
}

void clv_pap_close(clv_pap_t *pap)
{
    if (pap == NULL || !clv_net_thread_is_ours(pap->thread)) {
        return;
    }
    wait_for_leaders(pap);
    clv_net_thread_stop(pap->thread);
    while (pap->leaders) {
        clv_pap_leader_free(pap->leaders);
    }
    clv_net_listen_close(&pap->server);
    clv_net_thread_free(pap->thread);
    free_process(pap);
}

void clv_pap_pretend_host(clv_pap_t *pap, uint32_t host)
{
    pap->pretend_host = host;
}

/* ---- bells -------------------------------------------------------------------------------- */

/* Opened for reading and writing: we are a reader, too, so a dead owner never causes SIGPIPE. */
static clv_status_t open_bell(uint32_t pid, uint32_t fd, clv_pap_bell_t *bell)
{
    char path[64];
    struct stat status;
    (void) snprintf(path, sizeof path, "/proc/%u/fd/%u", (unsigned) pid, (unsigned) fd);
    bell->fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (bell->fd < 0) {
        return CLV_SYSTEM;
    }
    if (fstat(bell->fd, &status) != 0 || !S_ISFIFO(status.st_mode)) {
        (void) close(bell->fd);
        return CLV_PROTOCOL;
    }
    bell->device = (uint64_t) status.st_dev;
    bell->inode = (uint64_t) status.st_ino;
    return CLV_OK;
}

static clv_pap_bell_t *same_bell(clv_pap_t *pap, const clv_pap_bell_t *bell)
{
    clv_pap_bell_t *one = pap->bells;
    while (one && (one->device != bell->device || one->inode != bell->inode)) {
        one = one->next;
    }
    return one;
}

clv_status_t clv_pap_bell_acquire(clv_pap_t *pap, uint32_t pid, uint32_t fd,
                                  clv_pap_bell_t **bell_p)
{
    clv_pap_bell_t *bell = clv_alloc(1, sizeof *bell);
    if (bell == NULL) {
        return CLV_NO_MEMORY;
    }
    clv_status_t status = open_bell(pid, fd, bell);
    if (status != CLV_OK) {
        clv_free(bell);
        return status;
    }
    clv_pap_bell_t *known = same_bell(pap, bell);
    if (known) {
        (void) close(bell->fd);
        clv_free(bell);
        bell = known;
    } else {
        bell->next = pap->bells;
        pap->bells = bell;
    }
    bell->n_users++;
    *bell_p = bell;
    return CLV_OK;
}

void clv_pap_bell_release(clv_pap_t *pap, clv_pap_bell_t *bell)
{
    if (bell == NULL || --bell->n_users > 0) {
        return;
    }
    clv_pap_bell_t **at = &pap->bells;
    while (*at != bell) {
        at = &(*at)->next;
    }
    *at = bell->next;
    (void) close(bell->fd);
    clv_free(bell);
}

int32_t clv_pap_relays(const clv_pap_t *pap)
{
    return pap == NULL ? 0 : atomic_load_explicit(&pap->n_troubled, memory_order_relaxed);
}

/* ---- counters ----------------------------------------------------------------------------- */

void clv_pap_read_counters(const clv_pap_t *pap, clv_pap_counters_t *counters)
{
    memset(counters, 0, sizeof *counters);
    if (pap == NULL) {
        return;
    }
#define READ_COUNTER(name)                                                                         \
    counters->name =                                                                               \
        atomic_load_explicit(&pap->counters[CLV_PAP_COUNT_##name], memory_order_relaxed);
    CLV_PAP_COUNTER_MAP(READ_COUNTER)
#undef READ_COUNTER
    counters->thread_cpu_ns = clv_net_thread_cpu_ns(pap->thread);
}

int64_t clv_pap_longest_wait_ns(const clv_pap_t *pap)
{
    return pap == NULL ? 0 : atomic_load_explicit(&pap->longest_wait_ns, memory_order_relaxed);
}
