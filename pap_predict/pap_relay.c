/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The relay of a leader: if a connection stays away although MPI works, the agreement's messages go
 * over MPI; see clv_pap_group_relay in pap_predict.h and docs/design/protocol.md.
 *
 * A child that was cut off in doubt takes it, with its parent (clv_pap_agree_is_cut_off). To the
 * agreement this is a new link that is never lost. A parent whose child's connection is away for
 * connect_timeout_ns listens, without knowing whether the child is in doubt. Once the relay is
 * taken, the connection is not used again: two paths side by side would not keep the order.
 */
#include "pap_predict/pap_leader_parts.h"

#include <string.h>

#include "util/util_alloc.h"
#include "util/util_log.h"
#include "util/util_min_max.h"
#include "util/util_time.h"

static bool is_child(const clv_pap_leader_t *leader, const clv_pap_neighbour_t *neighbour)
{
    return neighbour->host > leader->host;
}

static int32_t rank_of(const clv_pap_leader_t *leader, int32_t host)
{
    return leader->layout.rank_at[leader->layout.first[host]];
}

static void set_troubled(clv_pap_leader_t *leader, bool is_troubled)
{
    if (leader->is_troubled != is_troubled) {
        leader->is_troubled = is_troubled;
        (void) atomic_fetch_add(&leader->pap->n_troubled, is_troubled ? 1 : -1);
    }
}

/* ---- which neighbours use it ----------------------------------------------------------------- */

static void take(clv_pap_leader_t *leader, clv_pap_neighbour_t *neighbour, int64_t now_ns)
{
    clv_log(CLV_LOG_INFO, "host %d: no connection with host %d: asking over MPI", leader->host,
            neighbour->host);
    clv_pap_route_close(leader, neighbour);
    if (!is_child(leader, neighbour)) {
        leader->route.next_try_ns = INT64_MAX;
    }
    neighbour->by_relay = true;
    neighbour->is_awaited = true;
    set_troubled(leader, true);
    clv_pap_agree_link_up(leader->agree, now_ns, neighbour->host);
}

static void await(clv_pap_leader_t *leader, clv_pap_neighbour_t *neighbour)
{
    neighbour->is_awaited = true;
    set_troubled(leader, true);
}

/* Whether host 0 may have decided something unheard. Not if the parent is through: it had told us
 * all that we need before. */
static bool is_in_doubt(const clv_pap_leader_t *leader)
{
    return clv_pap_agree_is_cut_off(leader->agree) && !leader->neighbours[0].is_through;
}

/* From when on a child that is away is listened to over MPI. */
static int64_t awaited_ns(const clv_pap_leader_t *leader, const clv_pap_neighbour_t *neighbour)
{
    if (!is_child(leader, neighbour) || neighbour->is_up || neighbour->is_awaited ||
        clv_pap_agree_is_gone(leader->agree, neighbour->host)) {
        return INT64_MAX;
    }
    return neighbour->heard_ns + leader->pap->options.connect_timeout_ns;
}

int64_t clv_pap_relay_watch(clv_pap_leader_t *leader, int64_t now_ns)
{
    int64_t next_ns = INT64_MAX;
    if (!leader->pap->options.has_relay || leader->has_left) {
        return next_ns;
    }
    if (is_in_doubt(leader)) {
        take(leader, &leader->neighbours[0], now_ns);
    }
    for (int32_t i = 0; i < leader->n_neighbours; i++) {
        clv_pap_neighbour_t *neighbour = &leader->neighbours[i];
        if (now_ns >= awaited_ns(leader, neighbour)) {
            await(leader, neighbour);
        }
        next_ns = clv_smaller(next_ns, awaited_ns(leader, neighbour));
    }
    return next_ns;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* A message dropped for lack of memory is asked for again, as after any silence. */
void clv_pap_relay_post(clv_pap_leader_t *leader, int32_t host, const void *bytes, size_t n_bytes)
{
    clv_pap_parcel_t *parcel = clv_alloc(1, sizeof *parcel + n_bytes);
    if (parcel == NULL) {
        return;
    }
    parcel->host = host;
    parcel->n_bytes = n_bytes;
    if (n_bytes > 0) {
        memcpy(parcel->bytes, bytes, n_bytes);
    }
    *leader->outbox_end = parcel;
    leader->outbox_end = &parcel->next;
}

static clv_pap_parcel_t *next_parcel(clv_pap_leader_t *leader)
{
    clv_pap_parcel_t *parcel = leader->outbox;
    if (parcel != NULL) {
        leader->outbox = parcel->next;
        leader->outbox_end = leader->outbox == NULL ? &leader->outbox : leader->outbox_end;
    }
    return parcel;
}

void clv_pap_leader_relay(clv_pap_leader_t *leader, const clv_pap_relay_ops_t *ops, void *context)
{
    clv_pap_parcel_t *parcel;
    for (int32_t i = 0; i < leader->n_neighbours; i++) {
        clv_pap_neighbour_t *neighbour = &leader->neighbours[i];
        if (neighbour->is_awaited && !neighbour->is_reported) {
            neighbour->is_reported = true;
            ops->listen(context, rank_of(leader, neighbour->host));
        }
    }
    while ((parcel = next_parcel(leader)) != NULL) {
        ops->send(context, rank_of(leader, parcel->host), parcel->bytes, parcel->n_bytes);
        clv_free(parcel);
    }
}

/* The first message shows that a child has given up its connection. An empty message only says that
 * the neighbour needs nothing more. */
void clv_pap_leader_relay_take(clv_pap_leader_t *leader, int32_t rank, const void *bytes,
                               size_t n_bytes)
{
    const int64_t now_ns = clv_local_now_ns();
    for (int32_t i = 0; i < leader->n_neighbours && !leader->has_left; i++) {
        clv_pap_neighbour_t *neighbour = &leader->neighbours[i];
        if (rank_of(leader, neighbour->host) != rank) {
            continue;
        }
        if (n_bytes == 0) {
            neighbour->is_through = true;
            continue;
        }
        if (!neighbour->by_relay) {
            take(leader, neighbour, now_ns);
        }
        if (clv_pap_agree_message(leader->agree, now_ns, neighbour->host, bytes, n_bytes) !=
            CLV_OK) {
            clv_pap_agree_link_lost(leader->agree, now_ns, neighbour->host); /* it asks again */
            clv_pap_agree_link_up(leader->agree, now_ns, neighbour->host);
        }
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Each host tells its neighbours that it is through, and stays until their kernels have
 * acknowledged that and all before it. A child first asks for what it lacks, so the parent waits to
 * hear from it. A child that is away may be in doubt while its rank is busy elsewhere: its parent
 * stays until it is back, asks, or says that it is through (over MPI, if it has no connection). A
 * child that never connected has given no record, so it lacks nothing that was decided. */
static bool owes(clv_pap_leader_t *leader, clv_pap_neighbour_t *neighbour)
{
    if (neighbour->by_relay || clv_pap_agree_is_gone(leader->agree, neighbour->host)) {
        return false;
    }
    if (neighbour->is_up) {
        if (is_child(leader, neighbour) &&
            !clv_pap_agree_is_heard(leader->agree, neighbour->host)) {
            return true;
        }
        clv_pap_route_tell_through(leader, neighbour);
        return clv_net_channel_is_unacknowledged(neighbour->conn->channel);
    }
    if (!neighbour->was_up || neighbour->is_through) {
        return false;
    }
    if (is_child(leader, neighbour)) {
        await(leader, neighbour);
        return true;
    }
    if (!neighbour->reported_through) {
        neighbour->reported_through = true;
        set_troubled(leader, true);
        clv_pap_relay_post(leader, neighbour->host, NULL, 0);
    }
    return false;
}

bool clv_pap_leader_is_owing(clv_pap_leader_t *leader)
{
    bool is_owing = is_in_doubt(leader);
    leader->is_leaving = true;
    for (int32_t i = 0; i < leader->n_neighbours; i++) {
        is_owing |= owes(leader, &leader->neighbours[i]);
    }
    return is_owing || leader->outbox != NULL;
}

/* Also for a neighbour that is back: messages that it sent over MPI may still be under way. */
bool clv_pap_leader_is_apart(clv_pap_leader_t *leader)
{
    for (int32_t i = 0; i < leader->n_neighbours; i++) {
        if (leader->neighbours[i].by_relay || leader->neighbours[i].was_lost) {
            return true;
        }
    }
    return false;
}

void clv_pap_relay_end(clv_pap_leader_t *leader)
{
    clv_pap_parcel_t *parcel;
    while ((parcel = next_parcel(leader)) != NULL) {
        clv_free(parcel);
    }
    set_troubled(leader, false);
}
