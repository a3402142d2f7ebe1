/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The pretend job; see pap_net.h.
 *
 * A connection is a number; each side believes in one, or in none (0). Only the newest number of an
 * edge is alive, and only until it is cut. Sides learn of a cut at their own times: that is what a
 * half-open connection is.
 */
#include "tests/sim/pap_net.h"

#include <stdlib.h>
#include <string.h>

#include "pap_predict/predict/pap_history.h"
#include "pap_predict/agree/pap_stream.h"
#include "tests/sim/cs_random.h"
#include "util/util_time.h"

#define MS CLV_NS_PER_MS
#define S  CLV_NS_PER_S

enum { PARENT_SIDE, CHILD_SIDE };

typedef enum kind {
    RANK_BEGIN,
    RANK_LOOK,
    RANK_END,
    RANK_ASK,
    RECORD,
    DELIVER,
    CUT,
    SIDE_LOST,
    CONNECT,
    SIDE_UP,
    RELAY,
    ACK,
    LETTER,
    LIMIT,
    CLOSE,
    TICK
} kind_t;

typedef struct event {
    int64_t at_ns;
    int64_t order;
    kind_t kind;
    int32_t who; /* rank, host, or edge (the child's number) */
    int32_t side;
    int64_t number; /* of the connection, or a tick's deadline */
    int32_t n_bytes;
    void *data;
} event_t;

typedef struct edge {
    int64_t alive; /* newest connection while it lives, else 0 */
    int64_t newest;
    int64_t believes[2];
    int64_t last_ns[2];  /* newest delivery to a side, to keep order */
    int64_t grace_ns[2]; /* what is delivered to a side later than this after the cut is lost */
    int64_t cut_at_ns;
    int32_t dead; /* never again */
    int32_t by_relay;
    int32_t relay_comes;   /* on its way */
    int64_t seen;          /* newest connection that the parent had */
    int64_t reported[2];   /* connection on which a side said that it is through; -1: over MPI */
    int64_t known[2];      /* the same, and the other side's kernel has it */
    int32_t is_through[2]; /* what a side knows of the other */
    int32_t was_up[2];
    int32_t was_lost[2];
    int64_t heard; /* connection on which the parent had a question from the child */
} edge_t;

typedef struct store {
    int64_t decided; /* versions that are there or never will be */
    int64_t version[2];
    clv_pap_forecast_t forecast[2];
    int64_t *predicted_ns[2];
    clv_pap_history_t *history;
} store_t;

typedef struct host {
    clv_pap_agree_t *agree;
    store_t store[CLV_PAP_MAX_STREAMS];
    int64_t n_versions[CLV_PAP_MAX_STREAMS];
    int64_t tick_at_ns;
    int64_t busy_until_ns;
    uint32_t latency_ns;
    int32_t lost;
    int32_t must_disagree; /* give up as soon as the callback is over */
    int32_t stale;         /* close the link to the parent as soon as the callback is over */
    int32_t closed;
    int32_t n_running; /* ranks */
    int64_t leaves_ns; /* in MPI_Comm_free since; 0: not */
    int32_t out;       /* that is over; or the host died */
    int32_t stays;     /* it serves MPI all the same */
    int32_t kept;      /* the communicator is not another one meanwhile */
    int32_t dies;
} host_t;

#define MAX_OPEN         4
#define MAX_FREE_NS      (100 * S)
#define ALL_CONNECTED_NS (60 * MS) /* connections come up within 50 ms */

/* A call of one rank from begin to end. */
typedef struct open_call {
    int32_t in_use;
    int32_t number;  /* in the program */
    int32_t blocked; /* waits for its forecast */
    int32_t waited;
    int64_t waits_since_ns;
    int32_t n_asked;
    int32_t sleeping; /* in a synchronous call, not all are in */
    clv_pap_call_t call;
    const clv_pap_forecast_t *held;
} open_call_t;

typedef struct rank {
    clv_pap_streams_t streams;
    int32_t host;
    int32_t next; /* call to begin */
    int32_t n_open;
    int32_t n_ended;
    int32_t comes; /* its next begin is on its way */
    open_call_t open[MAX_OPEN];
    int64_t last_record_ns;
    int64_t base_ns; /* its usual lateness */
    int32_t away_at; /* call before which it is away */
    clv_cs_model_t clock;
} rank_t;

typedef struct truth {
    int32_t known;
    int32_t status;
    int32_t sampled;
    int64_t number;
    uint32_t hash;
    int32_t n_in;
} truth_t;

typedef struct world {
    const pap_net_options_t *options;
    pap_net_result_t *result;
    cs_random_t random;
    int64_t now_ns;
    int64_t order;
    event_t *heap;
    int64_t n_events;
    int64_t max_events;
    clv_pap_layout_t layout;
    int32_t n_ranks;
    host_t *host;
    rank_t *rank;
    edge_t *edge; /* by child */
    truth_t *truth;
    int32_t *key_of_call;
    int32_t *sync_of_call;
    int32_t n_reported;
    int64_t reported_slot_version;
    int64_t last_given_ns;
} world_t;

static void broken(world_t *world, const char *text)
{
    if (world->result->broken == NULL) {
        world->result->broken = text;
    }
}

static int64_t random_between(world_t *world, int64_t low, int64_t high)
{
    return cs_random_range(&world->random, low, high);
}

static int chance(world_t *world, int percent)
{
    return random_between(world, 1, 100) <= percent;
}

/* ---- the queue: a binary heap ordered by time, then by age --------------------------------- */

static int earlier(const event_t *a, const event_t *b)
{
    return a->at_ns < b->at_ns || (a->at_ns == b->at_ns && a->order < b->order);
}

static void push_event(world_t *world, event_t event)
{
    if (world->n_events == world->max_events) {
        world->max_events = world->max_events == 0 ? 256 : 2 * world->max_events;
        world->heap = realloc(world->heap, (size_t) world->max_events * sizeof *world->heap);
        if (world->heap == NULL) {
            abort();
        }
    }
    event.order = world->order++;
    int64_t i = world->n_events++;
    for (; i > 0 && earlier(&event, &world->heap[(i - 1) / 2]); i = (i - 1) / 2) {
        world->heap[i] = world->heap[(i - 1) / 2];
    }
    world->heap[i] = event;
}

static event_t pop_event(world_t *world)
{
    event_t *heap = world->heap;
    const event_t first = heap[0], last = heap[--world->n_events];
    int64_t i = 0, child;
    while ((child = 2 * i + 1) < world->n_events) {
        child += child + 1 < world->n_events && earlier(&heap[child + 1], &heap[child]);
        if (!earlier(&heap[child], &last)) {
            break;
        }
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = last;
    return first;
}

static void later(world_t *world, int64_t after_ns, kind_t kind, int32_t who, int32_t side,
                  int64_t number)
{
    push_event(world, (event_t){.at_ns = world->now_ns + after_ns,
                                .kind = kind,
                                .who = who,
                                .side = side,
                                .number = number});
}

/* ---- connections ----------------------------------------------------------------------------- */

static int32_t side_host(int32_t edge, int32_t side)
{
    return side == CHILD_SIDE ? edge : clv_pap_tree_parent(edge);
}

/* The edge between two neighbours is named by the child, which has the higher number. */
static void send_message(void *context, int32_t to, const void *message, size_t n_bytes);

static int64_t message_delay(world_t *world)
{
    int64_t delay_ns = world->options->delay_ns;
    return random_between(world, delay_ns / 2, delay_ns + delay_ns / 2);
}

/* The sender's link is busy for the message's length, so that a wide fan-out costs what it costs.
 */
static int64_t departure(world_t *world, host_t *host, size_t n_bytes)
{
    if (world->options->bytes_per_ns <= 0.0) {
        return world->now_ns;
    }
    int64_t start_ns = host->busy_until_ns > world->now_ns ? host->busy_until_ns : world->now_ns;
    host->busy_until_ns = start_ns + (int64_t) ((double) n_bytes / world->options->bytes_per_ns);
    return host->busy_until_ns;
}

static void count_message(world_t *world, int32_t from, size_t n_bytes)
{
    pap_net_result_t *result = world->result;
    result->messages++;
    result->bytes += (int64_t) n_bytes;
    result->top_bytes += from == 0 ? (int64_t) n_bytes : 0;
    if ((int64_t) n_bytes > result->max_message_bytes) {
        result->max_message_bytes = (int64_t) n_bytes;
    }
}

typedef struct sender {
    world_t *world;
    int32_t host;
} sender_t;

static void send_message(void *context, int32_t to, const void *message, size_t n_bytes)
{
    sender_t *sender = context;
    world_t *world = sender->world;
    int32_t name = to > sender->host ? to : sender->host;
    int32_t to_side = to > sender->host ? CHILD_SIDE : PARENT_SIDE;
    edge_t *edge = &world->edge[name];
    int64_t number = edge->believes[1 - to_side];
    if (number == 0) {
        broken(world, "a message was sent on a link that is down");
        return;
    }
    count_message(world, sender->host, n_bytes);
    if (number != edge->alive) {
        return;
    }
    int64_t at_ns = departure(world, &world->host[sender->host], n_bytes) + message_delay(world);
    at_ns = at_ns > edge->last_ns[to_side] ? at_ns : edge->last_ns[to_side];
    edge->last_ns[to_side] = at_ns;
    void *copy = malloc(n_bytes + 1);
    if (copy == NULL) {
        abort();
    }
    if (n_bytes > 0) {
        memcpy(copy, message, n_bytes);
    }
    push_event(world, (event_t){.at_ns = at_ns,
                                .kind = DELIVER,
                                .who = name,
                                .side = to_side,
                                .number = number,
                                .n_bytes = (int32_t) n_bytes,
                                .data = copy});
}

/* One in three only much later; where there is a relay, the kernel finds it in bounded time. */
static int64_t time_to_learn(world_t *world)
{
    if (!chance(world, 33)) {
        return random_between(world, 0, 20 * MS);
    }
    return world->options->relay ? random_between(world, 0, PAP_NET_FIND_NS)
                                 : random_between(world, 5 * S, 40 * S);
}

/* After a cut both sides learn of it, each at its own time. */
static void cut_edge(world_t *world, int32_t name)
{
    edge_t *edge = &world->edge[name];
    if (edge->alive == 0 || edge->by_relay) {
        return;
    }
    for (int side = 0; side < 2; side++) {
        int64_t learns_ns = time_to_learn(world);
        edge->grace_ns[side] = world->now_ns + random_between(world, 0, world->options->delay_ns);
        later(world, learns_ns, SIDE_LOST, name, side, edge->alive);
    }
    edge->alive = 0;
}

static void host_lost_parent(world_t *world, int32_t name)
{
    world->edge[name].believes[CHILD_SIDE] = 0;
    later(world, random_between(world, 1 * MS, 500 * MS), CONNECT, name, 0, 0);
}

static void side_lost(world_t *world, int32_t name, int32_t side, int64_t number)
{
    edge_t *edge = &world->edge[name];
    host_t *host = &world->host[side_host(name, side)];
    if (edge->believes[side] != number || host->closed) {
        return;
    }
    edge->was_lost[side] = 1;
    clv_pap_agree_link_lost(host->agree, world->now_ns, side_host(name, 1 - side));
    if (side == CHILD_SIDE) {
        host_lost_parent(world, name);
    } else {
        edge->believes[PARENT_SIDE] = 0;
    }
}

static void hear_first_word(world_t *world, int32_t name, int side, int64_t number);

/* Its rank looks for messages of this communicator. */
static int serves(const host_t *host)
{
    return !host->out || host->stays;
}

static void connect_edge(world_t *world, int32_t name)
{
    edge_t *edge = &world->edge[name];
    if (edge->dead || edge->by_relay || world->host[name].closed ||
        world->host[side_host(name, PARENT_SIDE)].closed) {
        return;
    }
    edge->alive = ++edge->newest;
    later(world, world->options->delay_ns, SIDE_UP, name, PARENT_SIDE, edge->alive);
    later(world, 2 * world->options->delay_ns, SIDE_UP, name, CHILD_SIDE, edge->alive);
}

/* A connection that died on its way up is seen up and then lost, as with real sockets; but a child
 * counts on one only after a word of its parent. */
static void side_up(world_t *world, int32_t name, int32_t side, int64_t number)
{
    edge_t *edge = &world->edge[name];
    host_t *host = &world->host[side_host(name, side)];
    int32_t other = side_host(name, 1 - side);
    if (host->closed || (edge->by_relay && number != edge->alive)) {
        return;
    }
    if (edge->believes[side] != 0) {
        edge->was_lost[side] = 1;
        clv_pap_agree_link_lost(host->agree, world->now_ns, other);
    }
    if (side == CHILD_SIDE && world->options->frees && number != edge->alive) {
        host_lost_parent(world, name);
        return;
    }
    hear_first_word(world, name, side, number);
    edge->believes[side] = number;
    edge->was_up[side] = 1;
    edge->last_ns[side] = world->now_ns;
    clv_pap_agree_link_up(host->agree, world->now_ns, other);
    if (number != edge->alive) {
        later(world, random_between(world, 0, 20 * MS), SIDE_LOST, name, side, number);
    }
}

/* The child's messages go over MPI from now on: a connection that nothing cuts. Its parent makes
 * progress in MPI some time later, and then hears of it. */
static void relay_later(world_t *world, int32_t name)
{
    edge_t *edge = &world->edge[name];
    if (!world->options->relay || edge->relay_comes || name == 0 || edge->is_through[CHILD_SIDE] ||
        !clv_pap_agree_is_cut_off(world->host[name].agree)) {
        return;
    }
    edge->relay_comes = 1;
    later(world, random_between(world, 0, PAP_NET_RELAY_NS), RELAY, name, 0, 0);
}

static void take_relay(world_t *world, int32_t name)
{
    edge_t *edge = &world->edge[name];
    const host_t *parent = &world->host[side_host(name, PARENT_SIDE)];
    if (!clv_pap_agree_is_cut_off(world->host[name].agree) || edge->is_through[CHILD_SIDE]) {
        edge->relay_comes = 0;
        return;
    }
    if (!serves(&world->host[name])) {
        return;
    }
    if (!serves(parent)) { /* it asks in vain, and waits forever */
        if (!parent->kept && !parent->dies) {
            broken(world, "a question over MPI came to a communicator that was freed");
        }
        return;
    }
    edge->relay_comes = 0;
    world->result->n_late += parent->leaves_ns > 0;
    if (edge->alive != 0) {
        side_lost(world, name, CHILD_SIDE, edge->believes[CHILD_SIDE]);
    }
    edge->by_relay = 1;
    edge->alive = ++edge->newest;
    world->result->relays++;
    side_up(world, name, PARENT_SIDE, edge->alive);
    side_up(world, name, CHILD_SIDE, edge->alive);
}

/* ---- the end of a communicator ----------------------------------------------------------------
 *
 * As pap_relay.c has it. A frame without bytes says that its sender is through.
 */

/* A parent that has left says so first. */
static void hear_first_word(world_t *world, int32_t name, int side, int64_t number)
{
    edge_t *edge = &world->edge[name];
    const host_t *parent = &world->host[side_host(name, PARENT_SIDE)];
    if (side == PARENT_SIDE) {
        edge->seen = number;
    } else if (!serves(parent) && number == edge->alive) {
        edge->is_through[CHILD_SIDE] = 1;
        clv_pap_agree_parent_is_through(world->host[name].agree);
    }
}

static void hear_through(world_t *world, const event_t *event)
{
    edge_t *edge = &world->edge[event->who];
    edge->is_through[event->side] = 1;
    if (event->side == CHILD_SIDE) {
        clv_pap_agree_parent_is_through(world->host[event->who].agree);
    }
    later(world, message_delay(world), ACK, event->who, 1 - event->side, event->number);
}

static void hear_ack(world_t *world, const event_t *event)
{
    edge_t *edge = &world->edge[event->who];
    if (event->number == edge->alive) {
        edge->known[event->side] = event->number;
    }
}

static void hear_letter(world_t *world, int32_t name)
{
    const host_t *parent = &world->host[side_host(name, PARENT_SIDE)];
    if (serves(parent)) {
        world->edge[name].is_through[PARENT_SIDE] = 1;
    } else if (!parent->kept && !parent->dies) {
        broken(world, "a message over MPI came to a communicator that was freed");
    }
}

/* Over a connection; 1: something is owed. */
static int tell_through(world_t *world, int32_t name, int side)
{
    edge_t *edge = &world->edge[name];
    sender_t at = {world, side_host(name, side)};
    if (side == PARENT_SIDE && edge->heard != edge->believes[side]) {
        return 1; /* its question comes first */
    }
    if (edge->reported[side] != edge->believes[side]) {
        edge->reported[side] = edge->believes[side];
        send_message(&at, side_host(name, 1 - side), NULL, 0);
    }
    return edge->known[side] != edge->believes[side];
}

static int owes_child(world_t *world, int32_t name)
{
    edge_t *edge = &world->edge[name];
    if (edge->by_relay) {
        return edge->heard != edge->believes[PARENT_SIDE];
    }
    if (edge->believes[PARENT_SIDE] != 0) {
        return tell_through(world, name, PARENT_SIDE);
    }
    return edge->was_up[PARENT_SIDE] && !edge->is_through[PARENT_SIDE] &&
           world->options->plant != 3;
}

static int owes_parent(world_t *world, int32_t name)
{
    edge_t *edge = &world->edge[name];
    if (edge->by_relay) {
        return 0;
    }
    if (edge->believes[CHILD_SIDE] != 0) {
        return tell_through(world, name, CHILD_SIDE);
    }
    if (!edge->was_up[CHILD_SIDE] || edge->is_through[CHILD_SIDE]) {
        return 0;
    }
    if (edge->reported[CHILD_SIDE] != -1) {
        edge->reported[CHILD_SIDE] = -1;
        world->result->n_letters++;
        later(world, random_between(world, 0, PAP_NET_RELAY_NS), LETTER, name, 0, 0);
    }
    return clv_pap_agree_is_cut_off(world->host[name].agree);
}

static int is_apart(const edge_t *edge, int side)
{
    return edge->by_relay || edge->was_lost[side];
}

static void get_out(world_t *world, int32_t index, int stays)
{
    host_t *host = &world->host[index];
    const int64_t took_ns = world->now_ns - host->leaves_ns;
    for (int32_t name = 1; name < world->layout.n_hosts; name++) {
        host->kept |=
            (name == index && is_apart(&world->edge[name], CHILD_SIDE)) ||
            (side_host(name, PARENT_SIDE) == index && is_apart(&world->edge[name], PARENT_SIDE));
    }
    host->out = 1;
    host->stays = stays;
    world->result->n_out++;
    world->result->n_stays += stays;
    if (took_ns > world->result->worst_free_ns) {
        world->result->worst_free_ns = took_ns;
    }
    if (!stays) {
        clv_pap_agree_bye(host->agree, world->now_ns);
        later(world, random_between(world, 0, 2 * S), CLOSE, index, 0, 0);
    }
}

static void try_to_get_out(world_t *world, int32_t index)
{
    const host_t *host = &world->host[index];
    int owes = 0;
    if (host->leaves_ns == 0 || host->out) {
        return;
    }
    for (int32_t name = 1; name < world->layout.n_hosts; name++) {
        if (name == index) {
            owes |= owes_parent(world, name);
        } else if (side_host(name, PARENT_SIDE) == index) {
            owes |= owes_child(world, name);
        }
    }
    if (!owes) {
        get_out(world, index, 0);
    }
}

static void close_host(world_t *world, int32_t index)
{
    world->host[index].closed = 1;
    for (int32_t name = 1; name < world->layout.n_hosts; name++) {
        if (name == index || side_host(name, PARENT_SIDE) == index) {
            cut_edge(world, name);
        }
    }
}

/* Its ranks have ended all their calls. */
static void begin_to_free(world_t *world, int32_t index)
{
    host_t *host = &world->host[index];
    host->leaves_ns = world->now_ns;
    if (host->dies) {
        host->out = 1;
        world->result->n_out++;
        close_host(world, index);
        return;
    }
    for (int32_t name = 1; name < world->layout.n_hosts; name++) {
        world->result->n_away += side_host(name, PARENT_SIDE) == index &&
                                 world->edge[name].was_up[PARENT_SIDE] &&
                                 world->edge[name].alive == 0;
    }
    if (world->options->limit_ns > 0) {
        later(world, world->options->limit_ns, LIMIT, index, 0, 0);
    }
}

static void deliver(world_t *world, event_t *event)
{
    edge_t *edge = &world->edge[event->who];
    host_t *host = &world->host[side_host(event->who, event->side)];
    int survives = event->number == edge->alive ||
                   (event->number == edge->newest && event->at_ns <= edge->grace_ns[event->side]);
    const int is_taken = survives && edge->believes[event->side] == event->number && !host->closed;
    if (is_taken && edge->by_relay && !serves(host)) {
        survives = 0; /* the communicator may be there, but nobody listens */
    }
    if (is_taken && event->n_bytes == 0) {
        hear_through(world, event);
    } else if (survives && is_taken) {
        edge->heard = event->side == PARENT_SIDE ? event->number : edge->heard;
        clv_status_t status = clv_pap_agree_message(host->agree, world->now_ns,
                                                    side_host(event->who, 1 - event->side),
                                                    event->data, (size_t) event->n_bytes);
        if (status != CLV_OK && world->options->plant == 0) {
            broken(world, "a correct neighbour's message was refused");
        }
        if (status != CLV_OK) {
            side_lost(world, event->who, event->side, event->number);
        }
    }
    free(event->data);
}

/* ---- what the agreement tells a host --------------------------------------------------------- */

/* In any order: who looks too early is told to come again. */
static void wake_rank(world_t *world, int32_t index)
{
    for (int i = 0; i < MAX_OPEN; i++) {
        open_call_t *open = &world->rank[index].open[i];
        if (open->in_use && open->blocked) {
            open->blocked = 0;
            later(world, random_between(world, 0, 5000), RANK_LOOK, index, i, 0);
        }
    }
}

static void wake_ranks(world_t *world, int32_t host)
{
    for (int32_t rank = 0; rank < world->n_ranks; rank++) {
        if (world->rank[rank].host == host) {
            wake_rank(world, rank);
        }
    }
}

/* Nobody on the host may still hold the forecast whose place is taken now. */
static void check_unused(world_t *world, int32_t host, int32_t slot,
                         const clv_pap_forecast_t *forecast)
{
    for (int32_t rank = 0; rank < world->n_ranks; rank++) {
        const rank_t *other = &world->rank[rank];
        for (int i = 0; i < MAX_OPEN && other->host == host; i++) {
            const open_call_t *open = &other->open[i];
            if (open->in_use && open->held == forecast) {
                broken(world, "a forecast was overwritten while a rank used it");
            }
            if (open->in_use && open->call.stream == slot && open->call.is_answered &&
                forecast->version > 0 && open->call.held_version == forecast->version) {
                broken(world, "a forecast was overwritten before a rank had left it");
            }
        }
    }
}

/* How long after the last record the last host knows: the exchange's own time. */
static void measure(world_t *world, int32_t host, const clv_pap_record_set_t *set)
{
    int64_t name = set->sequence * CLV_PAP_MAX_STREAMS + set->slot;
    world->result->record_sets += host == 0;
    if (host == 0) {
        world->reported_slot_version = name;
        world->n_reported = 0;
    }
    if (world->reported_slot_version == name && ++world->n_reported == world->layout.n_hosts) {
        int64_t latency_ns = world->now_ns - world->last_given_ns;
        world->result->last_latency_ns = latency_ns;
        if (latency_ns > world->result->worst_latency_ns) {
            world->result->worst_latency_ns = latency_ns;
        }
    }
}

static void publish_set(void *context, const clv_pap_record_set_t *set)
{
    sender_t *sender = context;
    world_t *world = sender->world;
    host_t *host = &world->host[sender->host];
    store_t *store = &host->store[set->slot];
    int64_t version = set->sequence + 1;
    int place = (int) (version & 1);
    if (store->decided != version - 1) {
        broken(world, "record sets came with a gap");
    }
    check_unused(world, sender->host, set->slot, &store->forecast[place]);
    clv_pap_history_feed(store->history, set, &store->forecast[place], store->predicted_ns[place]);
    store->version[place] = version;
    store->decided = version;
    if (world->options->plant == 2 && sender->host == world->layout.n_hosts - 1 && version == 5) {
        store->forecast[place].hash ^= 1;
    }
    if (store->forecast[place].disagree) {
        world->result->disagreements++;
        host->must_disagree = 1;
    }
    if (store->forecast[place].sample_every > world->result->max_sample_every) {
        world->result->max_sample_every = store->forecast[place].sample_every;
    }
    int64_t latency_ns = world->now_ns - clv_pap_record_set_last_given(set);
    host->latency_ns = clv_pap_latency_update(host->latency_ns, latency_ns);
    measure(world, sender->host, set);
    wake_ranks(world, sender->host);
}

static void void_sets(void *context, int32_t slot, int64_t first, int64_t end)
{
    sender_t *sender = context;
    world_t *world = sender->world;
    store_t *store = &world->host[sender->host].store[slot];
    if (store->decided != first || end <= first) {
        broken(world, "void record sets came with a gap");
    }
    clv_pap_history_feed_void(store->history, end - first);
    store->decided = end;
    world->result->voids += sender->host == 0 ? end - first : 0;
    wake_ranks(world, sender->host);
}

static void host_lost(void *context, clv_pap_lost_reason_t reason, const int64_t *n_versions)
{
    sender_t *sender = context;
    world_t *world = sender->world;
    host_t *host = &world->host[sender->host];
    if (host->lost) {
        broken(world, "the end was told twice");
    }
    host->lost = (int32_t) reason;
    memcpy(host->n_versions, n_versions, sizeof host->n_versions);
    if (sender->host == 0) {
        world->result->lost_reason = (int32_t) reason;
    }
    wake_ranks(world, sender->host);
}

static void link_stale(void *context, int32_t neighbour)
{
    sender_t *sender = context;
    (void) neighbour;
    sender->world->host[sender->host].stale = 1;
    sender->world->result->stale_links++;
}

static const clv_pap_agree_ops_t agree_ops = {send_message, publish_set, void_sets, host_lost,
                                              link_stale};

/* What a caller does once the machine has returned: act on flags, set the next alarm. */
static void settle(world_t *world, int32_t index)
{
    host_t *host = &world->host[index];
    if (host->closed) {
        return;
    }
    if (host->must_disagree) {
        host->must_disagree = 0;
        clv_pap_agree_give_up(host->agree, world->now_ns, CLV_PAP_LOST_DISAGREE);
    }
    if (host->stale) {
        host->stale = 0;
        host_lost_parent(world, index);
    }
    relay_later(world, index);
    int64_t deadline_ns = clv_pap_agree_deadline(host->agree);
    if (deadline_ns != INT64_MAX && deadline_ns != host->tick_at_ns) {
        host->tick_at_ns = deadline_ns;
        int64_t after_ns = deadline_ns > world->now_ns ? deadline_ns - world->now_ns : 0;
        later(world, after_ns, TICK, index, 0, deadline_ns);
    }
    try_to_get_out(world, index);
    if (host->n_running == 0 && clv_pap_agree_may_close(host->agree) &&
        (!world->options->frees || !serves(host))) {
        host->closed = 1;
    }
}

/* ---- ranks ----------------------------------------------------------------------------------- */

static const clv_pap_forecast_t *find_forecast(void *context, int32_t slot, int64_t version)
{
    sender_t *at = context;
    store_t *store = &at->world->host[at->host].store[slot];
    int place = (int) (version & 1);
    if (store->version[place] > version) {
        broken(at->world, "a forecast was asked for after its place was taken");
    }
    return store->version[place] == version ? &store->forecast[place] : NULL;
}

static bool is_void(void *context, int32_t slot, int64_t version)
{
    sender_t *at = context;
    const store_t *store = &at->world->host[at->host].store[slot];
    return store->decided >= version && store->version[version & 1] != version;
}

static int64_t slot_versions(void *context, int32_t slot)
{
    sender_t *at = context;
    const host_t *host = &at->world->host[at->host];
    return host->lost ? host->n_versions[slot] : INT64_MAX;
}

/* A guess is counted here, where the library would refuse. */
static const clv_pap_store_ops_t store_ops = {find_forecast, slot_versions, is_void, NULL};

/* Records of one rank reach its leader in order, a little later. */
static void hand_over(world_t *world, int32_t index, const clv_pap_local_record_t *given)
{
    rank_t *rank = &world->rank[index];
    clv_pap_local_record_t *copy = malloc(sizeof *copy);
    if (copy == NULL) {
        abort();
    }
    *copy = *given;
    int64_t at_ns = world->now_ns + random_between(world, 100, 2000);
    at_ns = at_ns > rank->last_record_ns ? at_ns : rank->last_record_ns;
    rank->last_record_ns = at_ns;
    push_event(world, (event_t){.at_ns = at_ns, .kind = RECORD, .who = index, .data = copy});
}

static void take_record(world_t *world, event_t *event)
{
    rank_t *rank = &world->rank[event->who];
    host_t *host = &world->host[rank->host];
    const clv_pap_local_record_t *given = event->data;
    clv_pap_record_t record;
    int ready = rank->streams.calls > world->options->invalid_calls;
    clv_pap_local_to_record(given, ready ? &rank->clock : NULL, host->latency_ns, &record);
    clv_status_t status =
        clv_pap_agree_local_record(host->agree, world->now_ns, event->who, given->slot,
                                   given->generation, given->sequence, &record);
    if (status != CLV_OK && world->options->plant == 0) {
        broken(world, "a correct rank's record was refused");
    }
    if (world->now_ns > world->last_given_ns) {
        world->last_given_ns = world->now_ns;
    }
    free(event->data);
}

static int64_t rank_local_ns(const world_t *world, const rank_t *rank)
{
    return clv_cs_model_local(&rank->clock, world->now_ns);
}

static clv_pap_stream_key_t key_of(int32_t number)
{
    return (clv_pap_stream_key_t){
        .collective = (int16_t) (number % 3), .root = number % 3, .total_bytes = 8 * number};
}

static void begin_later(world_t *world, int32_t index);

static void begin_call(world_t *world, int32_t index)
{
    rank_t *rank = &world->rank[index];
    clv_pap_local_record_t given;
    clv_pap_stream_key_t key = key_of(world->key_of_call[rank->next]);
    int place = 0;
    while (rank->open[place].in_use) {
        place++;
    }
    open_call_t *open = &rank->open[place];
    *open = (open_call_t){.in_use = 1, .number = rank->next++};
    world->result->overlapped += rank->n_open++ > 0;
    rank->comes = 0;
    if (clv_pap_streams_begin(&rank->streams, &key, rank_local_ns(world, rank), &open->call,
                              &given)) {
        hand_over(world, index, &given);
    }
    world->result->late_turns += open->call.stream < 0;
    later(world, 0, RANK_LOOK, index, place, 0);
    if (rank->n_open < world->options->max_open && chance(world, 70)) {
        begin_later(world, index);
    }
}

/* All ranks get the same answer for one call, except those of a host that said it cannot know. */
static void compare(world_t *world, const rank_t *rank, const open_call_t *open,
                    clv_status_t status, const clv_pap_forecast_t *forecast)
{
    truth_t *truth = &world->truth[open->number];
    uint32_t hash = status == CLV_OK ? forecast->hash : 0;
    const clv_pap_call_t *call = &open->call;
    world->result->calls++;
    world->result->with_forecast += status == CLV_OK;
    world->result->waits += open->waited;
    world->result->announced += status == CLV_OK && forecast->version > call->forecast_version;
    /* Who knows the end gives no records, where others still give some for forecasts that never
     * come. */
    const int other_sampling = truth->sampled != call->sampled && status == CLV_OK;
    int differs = truth->known && (truth->status != (int32_t) status || truth->hash != hash ||
                                   other_sampling || truth->number != call->number);
    if (world->host[rank->host].lost == CLV_PAP_LOST_ABANDONED) {
        world->result->wrong_guesses += differs; /* it said that it can not know */
        return;
    }
    if (!truth->known) {
        *truth = (truth_t){.known = 1,
                           .status = status,
                           .sampled = call->sampled,
                           .number = call->number,
                           .hash = hash,
                           .n_in = truth->n_in};
    } else if (differs && world->options->plant == 0) {
        broken(world, "two ranks had different forecasts for one call");
    }
}

static void leave_together(world_t *world, int32_t number)
{
    for (int32_t other = 0; other < world->n_ranks; other++) {
        for (int i = 0; i < MAX_OPEN; i++) {
            open_call_t *open = &world->rank[other].open[i];
            if (open->in_use && open->sleeping && open->number == number) {
                open->sleeping = 0;
                later(world, random_between(world, 1000, 100000), RANK_END, other, i, 0);
            }
        }
    }
}

static void enter(world_t *world, int32_t index, int32_t place)
{
    open_call_t *open = &world->rank[index].open[place];
    truth_t *truth = &world->truth[open->number];
    truth->n_in++;
    if (!world->sync_of_call[open->number]) {
        later(world, random_between(world, 1000, 100000), RANK_END, index, place, 0);
        return;
    }
    open->sleeping = 1;
    if (truth->n_in == world->n_ranks) {
        leave_together(world, open->number);
    }
}

/* Its number tells whether it is still the same call that waits. A long wait is one for a
 * connection: two of three events would be its questions if they did not become rarer. */
static void ask_later(world_t *world, int32_t index, int32_t place)
{
    open_call_t *open = &world->rank[index].open[place];
    if (world->options->patience_ns > 0) {
        int64_t after_ns = world->options->patience_ns * (1 + open->n_asked++ / 16);
        later(world, after_ns, RANK_ASK, index, place, open->number);
    }
}

static void ask(world_t *world, const event_t *event)
{
    rank_t *rank = &world->rank[event->who];
    const open_call_t *open = &rank->open[event->side];
    host_t *host = &world->host[rank->host];
    if (!open->in_use || open->number != event->number || open->call.is_answered || host->closed) {
        return;
    }
    if (open->call.awaited_version > 0) {
        clv_pap_agree_ask_void(host->agree, world->now_ns, open->call.stream,
                               open->call.awaited_version - 1);
    }
    ask_later(world, event->who, event->side);
}

static void note_wait(world_t *world, const open_call_t *open)
{
    const int64_t waited_ns = open->waited ? world->now_ns - open->waits_since_ns : 0;
    const int is_connected = open->waits_since_ns > ALL_CONNECTED_NS;
    if (is_connected && waited_ns > world->result->worst_wait_ns) {
        world->result->worst_wait_ns = waited_ns;
    }
}

static void look(world_t *world, int32_t index, int32_t place)
{
    rank_t *rank = &world->rank[index];
    open_call_t *open = &rank->open[place];
    sender_t at = {world, rank->host};
    const clv_pap_forecast_t *forecast = NULL;
    clv_pap_local_record_t given;
    if (clv_pap_streams_enter(&rank->streams, &open->call, &given)) {
        hand_over(world, index, &given);
    }
    clv_status_t status =
        clv_pap_streams_forecast(&rank->streams, &open->call, &store_ops, &at, &forecast);
    if (status == CLV_AGAIN) {
        if (open->call.stream >= 0 && !open->call.sampled) {
            broken(world, "a call that is not sampled had to wait");
        }
        if (!open->waited) {
            open->waits_since_ns = world->now_ns;
            ask_later(world, index, place);
        }
        open->blocked = 1;
        open->waited = 1;
        return;
    }
    note_wait(world, open);
    open->held = status == CLV_OK ? forecast : NULL;
    compare(world, rank, open, status, forecast);
    enter(world, index, place);
    wake_rank(world, index); /* the next one's turn */
}

static int64_t compute_time(world_t *world, const rank_t *rank)
{
    int64_t mean_ns = world->options->compute_ns;
    int64_t time_ns = rank->base_ns + random_between(world, 0, mean_ns);
    if (world->options->away_ns > 0 && rank->next == rank->away_at) {
        time_ns += random_between(world, 0, world->options->away_ns);
    }
    return chance(world, 1) ? time_ns + 20 * mean_ns : time_ns;
}

static void maybe_hint(world_t *world, int32_t index, int64_t compute_ns)
{
    clv_pap_local_record_t given;
    rank_t *rank = &world->rank[index];
    int hints = world->options->hints;
    if ((hints == 2 || (hints == 1 && chance(world, 60))) &&
        clv_pap_streams_hint(&rank->streams, rank_local_ns(world, rank), compute_ns, &given) ==
            CLV_PAP_HEARD_GIVEN) {
        hand_over(world, index, &given);
    }
}

static void rank_done(world_t *world, rank_t *rank)
{
    host_t *host = &world->host[rank->host];
    if (--host->n_running > 0) {
        return;
    }
    if (world->options->frees) {
        begin_to_free(world, rank->host);
    } else {
        clv_pap_agree_bye(host->agree, world->now_ns);
    }
}

static void begin_later(world_t *world, int32_t index)
{
    rank_t *rank = &world->rank[index];
    if (rank->comes || rank->next == world->options->n_calls) {
        return;
    }
    int64_t compute_ns = compute_time(world, rank);
    rank->comes = 1;
    maybe_hint(world, index, compute_ns);
    later(world, compute_ns, RANK_BEGIN, index, 0, 0);
}

static void end_call(world_t *world, int32_t index, int32_t place)
{
    rank_t *rank = &world->rank[index];
    open_call_t *open = &rank->open[place];
    int lies =
        world->options->plant == 1 && index == 0 && open->number == world->options->n_calls / 2;
    clv_pap_streams_end(&rank->streams, &open->call, lies ? 77 : 3, rank_local_ns(world, rank));
    open->in_use = 0;
    rank->n_open--;
    if (++rank->n_ended == world->options->n_calls) {
        rank_done(world, rank);
        return;
    }
    wake_rank(world, index); /* one may have waited for the forecast that this one used */
    if (rank->n_open == 0) {
        begin_later(world, index);
    }
}

/* ---- the world ------------------------------------------------------------------------------- */

static void *new_items(size_t n_items, size_t item_bytes)
{
    void *items = calloc(n_items, item_bytes);
    if (items == NULL) {
        abort();
    }
    return items;
}

static void make_layout(world_t *world)
{
    const pap_net_options_t *options = world->options;
    int32_t max_ranks = options->ranks_per_host > 0 ? options->ranks_per_host : 4;
    int32_t *host_of = new_items((size_t) (options->n_hosts * max_ranks), sizeof *host_of);
    int32_t n_ranks = 0;
    for (int32_t host = 0; host < options->n_hosts; host++) {
        int64_t n_local = options->ranks_per_host > 0 ? max_ranks : random_between(world, 1, 4);
        for (int64_t i = 0; i < n_local; i++) {
            host_of[n_ranks++] = host;
        }
    }
    for (int32_t i = n_ranks - 1; i > 0 && options->ranks_per_host == 0; i--) {
        int32_t j = (int32_t) random_between(world, 0, i);
        int32_t keep = host_of[i];
        host_of[i] = host_of[j];
        host_of[j] = keep;
    }
    world->n_ranks = n_ranks;
    if (clv_pap_layout_init(host_of, n_ranks, options->n_hosts, &world->layout) != CLV_OK) {
        broken(world, "no layout");
    }
    world->rank = new_items((size_t) n_ranks, sizeof *world->rank);
    for (int32_t rank = 0; rank < n_ranks; rank++) {
        world->rank[rank].host = host_of[rank];
    }
    free(host_of);
}

static void make_ranks(world_t *world)
{
    world->host = new_items((size_t) world->layout.n_hosts, sizeof *world->host);
    for (int32_t index = 0; index < world->n_ranks; index++) {
        rank_t *rank = &world->rank[index];
        clv_pap_streams_init(&rank->streams);
        rank->base_ns = random_between(world, 0, world->options->compute_ns);
        rank->clock = (clv_cs_model_t){.offset_ns = random_between(world, -S, S), .error_ns = 500};
        world->host[rank->host].n_running++;
        rank->away_at = -1;
        if (world->options->away_ns > 0 && chance(world, 25)) {
            rank->away_at = (int32_t) random_between(world, 1, world->options->n_calls);
        }
        later(world, compute_time(world, rank), RANK_BEGIN, index, 0, 0);
    }
}

static void make_host(world_t *world, int32_t index, sender_t *sender)
{
    host_t *host = &world->host[index];
    clv_pap_agree_options_t options = {.layout = &world->layout,
                                       .host = index,
                                       .lost_ns = world->options->relay ? PAP_NET_LOST_NS : 10 * S,
                                       .retry_ns = 1 * S,
                                       .abandon_ns =
                                           world->options->relay ? INT64_MAX / 4 : 60 * S};
    int32_t window = (int32_t) (world->options->seed % 7 + 1);
    clv_pap_predictor_t predictor =
        (clv_pap_predictor_t) (world->options->seed % CLV_PAP_N_PREDICTORS);
    if (clv_pap_agree_create(&options, &agree_ops, sender, 0, &host->agree) != CLV_OK) {
        broken(world, "no agreement");
    }
    for (int32_t slot = 0; slot < CLV_PAP_MAX_STREAMS; slot++) {
        store_t *store = &host->store[slot];
        store->version[1] = -1;
        store->predicted_ns[0] = new_items((size_t) world->n_ranks, sizeof(int64_t));
        store->predicted_ns[1] = new_items((size_t) world->n_ranks, sizeof(int64_t));
        if (clv_pap_history_create(world->n_ranks, window, predictor, &store->history) != CLV_OK) {
            broken(world, "no history");
        }
    }
}

static void free_host(host_t *host)
{
    clv_pap_agree_free(host->agree);
    for (int32_t slot = 0; slot < CLV_PAP_MAX_STREAMS; slot++) {
        clv_pap_history_free(host->store[slot].history);
        free(host->store[slot].predicted_ns[0]);
        free(host->store[slot].predicted_ns[1]);
    }
}

static void make_program(world_t *world)
{
    const pap_net_options_t *options = world->options;
    int32_t key = 0;
    world->key_of_call = new_items((size_t) options->n_calls, sizeof *world->key_of_call);
    world->sync_of_call = new_items((size_t) options->n_calls, sizeof *world->sync_of_call);
    world->truth = new_items((size_t) options->n_calls, sizeof *world->truth);
    for (int32_t call = 0; call < options->n_calls; call++) {
        if (random_between(world, 1, options->key_burst) == 1) {
            key = (int32_t) random_between(world, 0, options->n_keys - 1);
        }
        world->key_of_call[call] = key;
        world->sync_of_call[call] = chance(world, options->synchronous_percent);
    }
}

static void make_links(world_t *world)
{
    const pap_net_options_t *options = world->options;
    int64_t span_ns = 2 * options->n_calls * options->compute_ns;
    int32_t last = options->n_hosts - 1;
    world->edge = new_items((size_t) options->n_hosts, sizeof *world->edge);
    for (int32_t name = 1; name < options->n_hosts; name++) {
        later(world, random_between(world, 0, 50 * MS), CONNECT, name, 0, 0);
    }
    for (int32_t i = 0; i < options->n_cuts && last > 0; i++) {
        later(world, random_between(world, 0, span_ns), CUT,
              (int32_t) random_between(world, 1, last), 0, 0);
    }
    for (int32_t i = 0; i < options->lose_for_good && last > 0; i++) {
        later(world, random_between(world, 0, span_ns), CUT,
              (int32_t) random_between(world, 1, last), 1, 0);
    }
}

static void tick(world_t *world, const event_t *event)
{
    host_t *host = &world->host[event->who];
    if (host->tick_at_ns == event->number) {
        host->tick_at_ns = 0;
    }
    if (!host->closed) {
        clv_pap_agree_tick(host->agree, world->now_ns);
    }
}

static void handle_relay(world_t *world, const event_t *event)
{
    switch (event->kind) {
    case RELAY:
        take_relay(world, event->who);
        break;
    case ACK:
        hear_ack(world, event);
        break;
    case LETTER:
        hear_letter(world, event->who);
        break;
    case LIMIT:
        if (!world->host[event->who].out) {
            get_out(world, event->who, 1);
        }
        break;
    case CLOSE:
        close_host(world, event->who);
        break;
    default:
        break;
    }
}

static void handle(world_t *world, event_t *event)
{
    switch (event->kind) {
    case RANK_BEGIN:
        begin_call(world, event->who);
        break;
    case RANK_LOOK:
        look(world, event->who, event->side);
        break;
    case RANK_END:
        end_call(world, event->who, event->side);
        break;
    case RANK_ASK:
        ask(world, event);
        break;
    case RECORD:
        take_record(world, event);
        break;
    case DELIVER:
        deliver(world, event);
        break;
    case CUT:
        world->edge[event->who].dead |= event->side;
        cut_edge(world, event->who);
        break;
    case SIDE_LOST:
        side_lost(world, event->who, event->side, event->number);
        break;
    case CONNECT:
        connect_edge(world, event->who);
        break;
    case SIDE_UP:
        side_up(world, event->who, event->side, event->number);
        break;
    case TICK:
        tick(world, event);
        break;
    default:
        handle_relay(world, event);
    }
}

/* Both ends of an edge, or the host of a rank, may have something to do afterwards. */
static void settle_all(world_t *world, const event_t *event)
{
    switch (event->kind) {
    case RANK_BEGIN:
    case RANK_LOOK:
        break;
    case RANK_END:
    case RANK_ASK:
    case RECORD:
        settle(world, world->rank[event->who].host);
        break;
    case LIMIT:
    case CLOSE:
    case TICK:
        settle(world, event->who);
        break;
    default:
        settle(world, event->who);
        settle(world, clv_pap_tree_parent(event->who));
    }
}

static void check_end(world_t *world)
{
    for (int32_t rank = 0; rank < world->n_ranks; rank++) {
        if (world->rank[rank].n_ended != world->options->n_calls) {
            broken(world, "a rank waits forever");
        }
    }
    for (int32_t slot = 0; slot < CLV_PAP_MAX_STREAMS; slot++) {
        world->result->evictions += (int32_t) world->rank[0].streams.slot[slot].generation;
    }
    if (world->options->frees && world->result->n_out < world->layout.n_hosts) {
        broken(world, "MPI_Comm_free waits forever");
    }
    for (int32_t host = 0; host < world->layout.n_hosts; host++) {
        world->result->open_hosts += !world->host[host].closed;
        world->result->abandoned_hosts += world->host[host].lost == CLV_PAP_LOST_ABANDONED;
    }
    world->result->virtual_ns = world->now_ns;
}

static void free_world(world_t *world)
{
    while (world->n_events > 0) {
        event_t event = pop_event(world);
        free(event.data);
    }
    for (int32_t host = 0; host < world->layout.n_hosts; host++) {
        free_host(&world->host[host]);
    }
    free(world->heap);
    free(world->host);
    free(world->rank);
    free(world->edge);
    free(world->truth);
    free(world->key_of_call);
    free(world->sync_of_call);
    clv_pap_layout_clear(&world->layout);
}

/* One of those that nobody else needs: without fault tolerance its children's calls would not end.
 */
static void let_die(world_t *world)
{
    const int32_t last = world->layout.n_hosts - 1;
    const int32_t host = (int32_t) random_between(world, 1, last);
    const int is_leaf = clv_pap_tree_n_children(world->layout.n_hosts, host) == 0;
    world->host[is_leaf ? host : last].dies = 1;
}

void pap_net_run(const pap_net_options_t *options, pap_net_result_t *result)
{
    world_t world = {.options = options, .result = result, .random = {options->seed}};
    memset(result, 0, sizeof *result);
    make_layout(&world);
    make_program(&world);
    make_ranks(&world);
    sender_t *senders = new_items((size_t) options->n_hosts, sizeof *senders);
    for (int32_t host = 0; host < options->n_hosts; host++) {
        senders[host] = (sender_t){&world, host};
        make_host(&world, host, &senders[host]);
    }
    make_links(&world);
    for (int32_t i = 0; i < options->n_deaths; i++) {
        let_die(&world);
    }
    /* Who asks in vain asks for ever. */
    while (world.n_events > 0 && result->broken == NULL &&
           (!options->frees || world.heap[0].at_ns < MAX_FREE_NS)) {
        event_t event = pop_event(&world);
        world.now_ns = event.at_ns;
        handle(&world, &event);
        settle_all(&world, &event);
    }
    if (result->broken == NULL) {
        check_end(&world);
    }
    free_world(&world);
    free(senders);
}
