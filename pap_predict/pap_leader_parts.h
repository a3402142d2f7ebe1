/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The inside of a leader (pap_leader.h), for the files that share it: pap_leader.c its life and its
 * periodic work, pap_route.c connections, frames and the clock, pap_relay.c the relay over MPI if a
 * connection stays away, pap_collect.c records in, pap_publish.c forecasts out. For nobody else.
 * All of it runs under the thread's lock.
 */
#ifndef CLV_PAP_LEADER_PARTS_H
#define CLV_PAP_LEADER_PARTS_H

#include <sys/types.h>
#include <stdbool.h>

#include "pap_predict/agree/pap_agree.h"
#include "pap_predict/pap_clock.h"
#include "pap_predict/pap_leader.h"
#include "pap_predict/pap_polling.h"
#include "pap_predict/predict/pap_history.h"

typedef struct clv_pap_neighbour {
    int32_t host;
    bool is_up;
    clv_net_conn_t *conn;  /* may still be connecting */
    int64_t echo_sent_ns;  /* of the last frame from it */
    int64_t echo_local_ns; /* when that frame came */
    int64_t heard_ns;      /* the same, or when the connection came up */
    bool is_joined;        /* the agreement uses conn; a parent was heard on it first */
    bool was_up;           /* joined, once */
    bool was_lost;         /* a joined connection ended before the neighbour said BYE */
    bool by_relay;         /* its messages go over MPI from now on; conn stays NULL */
    bool is_awaited;       /* it may use the relay: its connection is down for too long */
    bool is_reported;      /* the caller listens to it */
    bool is_through;       /* its ranks have freed the group */
    bool reported_through; /* it was told the same of us, over this connection or over MPI */
} clv_pap_neighbour_t;

/* A message for the relay. */
typedef struct clv_pap_parcel {
    struct clv_pap_parcel *next;
    int32_t host;
    size_t n_bytes;
    unsigned char bytes[];
} clv_pap_parcel_t;

/* How to reach the parent. */
typedef struct clv_pap_route {
    clv_net_address_t *addresses; /* best first */
    int32_t n_addresses;
    int32_t next;
    uint16_t port;
    int64_t try_ns;      /* per address; doubles from round to round */
    bool is_answered;    /* the address tried now answers: only the handshake is missing */
    int64_t next_try_ns; /* INT64_MAX: not now */
    int64_t pause_ns;
} clv_pap_route_t;

struct clv_pap_leader {
    clv_pap_leader_t *next;
    clv_pap_t *pap;
    clv_pap_table_t *table;
    clv_pap_hooks_t hooks;
    clv_pap_layout_t layout;
    int32_t host;
    unsigned char *key; /* CLV_NET_KEY_BYTES, a secret */
    unsigned char group_id[CLV_NET_GROUP_ID_BYTES];
    size_t max_payload;
    clv_pap_agree_t *agree;
    clv_pap_history_t *histories[CLV_PAP_MAX_STREAMS];
    unsigned char *memories;                   /* the caller's state, hooks.memory_bytes per slot */
    uint32_t generations[CLV_PAP_MAX_STREAMS]; /* generation that the state belongs to */
    int64_t *predicted_ns;                     /* scratch */
    clv_pap_clock_t clock;
    clv_pap_polling_t polling[CLV_PAP_MAX_STREAMS];
    uint32_t expected; /* bits of the slots at which we look by ourselves; also in the table */
    int64_t look_ns;   /* the first of those looks */
    int64_t tend_ns;   /* when the caller's shares are processed next */
    uint32_t latency_ns;
    uint32_t older_latency_ns; /* before the newest set, which was known ... */
    int64_t measured_ns;       /* ... at this local time */
    int32_t n_neighbours;      /* the parent first, if there is one */
    clv_pap_neighbour_t neighbours[CLV_PAP_MAX_CHILDREN + 1];
    clv_pap_route_t route;
    int64_t beaten_ns; /* when the neighbours were last pinged while a record waited */
    clv_pap_parcel_t *outbox, **outbox_end;
    bool is_troubled; /* a neighbour uses the relay, or may: counted in the process */
    bool has_started;
    bool is_leaving; /* its rank is freeing the group, and waits until it owes nothing */
    bool has_left;
    bool must_give_up; /* found in a callback, done in the next round */
    int64_t linger_ns; /* when to end, after has_left */
    pid_t *pids;       /* of the host's ranks, until the thread has placed itself */
};

static inline bool clv_pap_leader_has_parent(const clv_pap_leader_t *leader)
{
    return leader->host > 0;
}

/* ---- pap_route.c ----------------------------------------------------------------------------- */

/* Determines the neighbours and the addresses of the parent. CLV_UNSUPPORTED: the parent has no
 * address that this host can reach. CLV_NO_MEMORY. */
clv_status_t clv_pap_route_plan(clv_pap_leader_t *leader,
                                const clv_pap_endpoints_t *endpoints) CLV_MUST_CHECK;
/* Tries the next address of the parent. */
void clv_pap_route_connect(clv_pap_leader_t *leader, int64_t now_ns);
/* Closes connections that failed or whose handshake takes too long. */
void clv_pap_route_drop_broken(clv_pap_leader_t *leader, int64_t now_ns);
/* Pings the parent if the clock wants it. */
void clv_pap_route_ping(clv_pap_leader_t *leader, int64_t now_ns);
/* Whether everything sent has left this process. */
bool clv_pap_route_is_flushed(const clv_pap_leader_t *leader);
/* The agreement's send and stale; context is the leader. */
void clv_pap_route_send(void *context, int32_t host, const void *message, size_t n_bytes);
void clv_pap_route_stale(void *context, int32_t host);

/* Pings the neighbours while a record waits; returns when to do so next. */
int64_t clv_pap_route_beat(clv_pap_leader_t *leader, int64_t now_ns);
/* Tells a neighbour whose link is up, once per connection, that this host's ranks freed the
 * group. */
void clv_pap_route_tell_through(clv_pap_leader_t *leader, clv_pap_neighbour_t *neighbour);
/* Closes the connection with a neighbour, if there is one. */
void clv_pap_route_close(clv_pap_leader_t *leader, clv_pap_neighbour_t *neighbour);

/* ---- pap_relay.c ---------------------------------------------------------------------------- */

/* Decides which neighbours use the relay, and which may; returns when to look again. */
int64_t clv_pap_relay_watch(clv_pap_leader_t *leader, int64_t now_ns);
/* Queues a message for a neighbour on the relay. */
void clv_pap_relay_post(clv_pap_leader_t *leader, int32_t host, const void *bytes, size_t n_bytes);
void clv_pap_relay_end(clv_pap_leader_t *leader);

/* ---- pap_collect.c --------------------------------------------------------------------------- */

/* Takes all pending records and plans the next looks. Repeats if it stops looking at some slot (see
 * clv_pap_table_expect). */
void clv_pap_collect(clv_pap_leader_t *leader, int64_t now_ns);

/* ---- pap_publish.c --------------------------------------------------------------------------- */

/* Histories and the caller's state, O(ranks * window). After CLV_NO_MEMORY, free frees the rest. */
clv_status_t clv_pap_publish_create(clv_pap_leader_t *leader) CLV_MUST_CHECK;
void clv_pap_publish_free(clv_pap_leader_t *leader);
/* The agreement's publish and voided; context is the leader. */
void clv_pap_publish(void *context, const clv_pap_record_set_t *set);
void clv_pap_publish_void(void *context, int32_t slot, int64_t first, int64_t end);

#endif
