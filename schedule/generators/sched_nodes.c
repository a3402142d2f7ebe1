/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Plans for ranks that share hosts, by composition. In each host a chain by arrival ends at its
 * latest rank (in the root's host: at the root), which represents the host; any generator plans
 * among the representatives. So each link carries only the traffic of the inter-host plan, however
 * many ranks share it, and an early rank leaves after sending its part within its host.
 *
 *     place 0: earliest -> ... -> latest --.
 *     place 1: earliest -> ... -> latest --+-- a plan of places --> root <- ... <- earliest
 *     place 2: earliest -> ... -> latest --'
 *
 * If the root arrives after most of the work could be over without it, the latest other rank of its
 * host represents the host and sends it one whole result. So the root does not receive two vectors,
 * one from its host and one from outside, while all others wait for it.
 *
 * Rounds: an inter-host round is as long as SLOTS rounds of the whole plan. A send between hosts
 * takes the last of these, sends within a host take the others. So no rank sends or receives twice
 * in a round, and a representative alternates between the two levels. An inter-host round is
 * delayed until all that it sends has come from inside.
 *
 * A host may have one rank, all hosts one, or one host all ranks; where no host is shared, the plan
 * is that of the inter-host generator.
 * Cost: that of the inter-host plan, and O(ranks * log ranks + sends), 24 bytes a send. A fast
 * estimate (sched_fast_estimate.h) has only the sends between hosts, and none for a chain.
 */
#include <string.h>

#include "schedule/sched_generators.h"
#include "schedule/sched_instance.h"
#include "schedule/sched_fast_estimate.h"
#include "schedule/sched_plan.h"
#include "schedule/sched_host_order.h"
#include "util/util_alloc.h"
#include "util/util_divide.h"
#include "util/util_min_max.h"

#define SLOTS        8
#define SPREAD_SLOTS (INT64_C(1) << 27) /* slots between first and last arrival, at most */
#define LATEST_ROUND (INT32_MAX - 1)

/* The composition under way. Hosts are those of the host order. */
typedef struct house {
    const clv_instance_t *instance;
    const clv_host_order_t *host_order;
    clv_host_order_t *own_host_order; /* NULL: the instance's */
    int64_t first_ns;
    int64_t last_ns;
    int64_t slot_ns;
    clv_divisor_t slot;
    int32_t n_hosts;
    int32_t root_host;
    bool hands_over;      /* 1: the root does not represent its host */
    bool is_fast;         /* 1: sends inside hosts are not written */
    int32_t *members;     /* ranks, host after host, each in the order of its chain */
    const int32_t *first; /* of each host in members; [n_hosts]: the end */
    int32_t *ready;       /* [host * n_segments + segment]: first slot after it came from inside */
    int64_t *speaks_ns;   /* when the host's representative has something from inside */
    int64_t *speaks_order_ns;
    clv_builder_t builder;
} house_t;

/* ---- who lives where ------------------------------------------------------------------------- */

/* Lists the members in this instance's order. */
static clv_status_t list_members(house_t *house)
{
    const clv_instance_t *instance = house->instance;

    if (instance->host_order == NULL) {
        const clv_status_t status = clv_host_order_make(instance, &house->own_host_order);
        if (status != CLV_OK) {
            return status;
        }
    }
    house->host_order = instance->host_order != NULL ? instance->host_order : house->own_host_order;
    house->n_hosts = house->host_order->n_hosts;
    house->root_host = house->host_order->root_host;
    house->first = house->host_order->first;
    house->members = clv_alloc_unset((size_t) instance->n_ranks, sizeof *house->members);
    return house->members == NULL
               ? CLV_NO_MEMORY
               : clv_host_order_sort(house->host_order, instance, house->members);
}

/* The index in members of the host's representative. */
static int32_t representative_at(const house_t *house, int32_t host)
{
    return house->first[host + 1] - 1 - (host == house->root_host ? house->hands_over : 0);
}

static int32_t representative(const house_t *house, int32_t host)
{
    return house->members[representative_at(house, host)];
}

/* Whether the root arrives so late that most of the others' vectors could already be combined: half
 * a round per segment and host after the last of them. The instance may already say so. */
static bool is_root_far_late(const house_t *house)
{
    const clv_instance_t *instance = house->instance;
    const int64_t n_rounds = (int64_t) instance->n_segments + house->n_hosts;
    const int64_t root_ns = instance->arrival_ns[instance->root];
    int64_t last_ns = house->first_ns;

    if (instance->is_far_late || root_ns < house->last_ns) {
        return instance->is_far_late;
    }
    for (int32_t p = 0; p < instance->n_ranks; p++) {
        last_ns = clv_larger(last_ns, p == instance->root ? 0 : instance->arrival_ns[p]);
    }
    return (root_ns - last_ns) / n_rounds > house->slot_ns * SLOTS / 2;
}

static bool has_company(const house_t *house, int32_t host)
{
    return house->first[host + 1] - house->first[host] > 1;
}

/* ---- inside ---------------------------------------------------------------------------------- */

/* The first slot from this one on that is not a link slot. */
static int32_t inner_slot(int32_t slot)
{
    return slot % SLOTS == SLOTS - 1 ? slot + 1 : slot;
}

/* The slot in which both a member and the next one in its chain have arrived. */
static int32_t both_slot(const house_t *house, const int32_t *from)
{
    const int64_t *arrival_ns = house->instance->arrival_ns;
    const int64_t both_ns = clv_larger(arrival_ns[from[0]], arrival_ns[from[1]]);

    return (int32_t) clv_divide(both_ns - house->first_ns, house->slot);
}

/* Sends all segments from one rank of a host to the next, from slot free_from on. ready: of the
 * host. */
static void fill_hop(house_t *house, int32_t free_from, int32_t from, int32_t to, int32_t *ready)
{
    for (int32_t s = 0; s < house->instance->n_segments; s++) {
        const int32_t slot = inner_slot((int32_t) clv_larger(free_from, ready[s]));
        clv_builder_put(&house->builder, slot, from, to, s);
        free_from = slot + 1;
        ready[s] = slot + 1;
    }
}

/* Sets ready[] as fill_hop would for these members' hops one after another, without writing sends:
 * each hop uses consecutive inner slots from its first segment on. at: the number of inner slots
 * before that segment. */
static void skip_hops(const house_t *house, int32_t from, int32_t until, int32_t *ready)
{
    int64_t at = -1;
    for (int32_t i = from; i < until; i++) {
        const int32_t both = both_slot(house, &house->members[i]);
        at = clv_larger(both - both / SLOTS, at + 1);
    }
    for (int32_t s = 0; from < until && s < house->instance->n_segments; s++, at++) {
        ready[s] = (int32_t) (at + at / (SLOTS - 1) + 1);
    }
}

static void fill_host(house_t *house, int32_t host)
{
    const clv_instance_t *instance = house->instance;
    int32_t *ready = &house->ready[(size_t) host * (size_t) instance->n_segments];
    const int32_t rank = representative(house, host);

    if (house->is_fast) {
        skip_hops(house, house->first[host], representative_at(house, host), ready);
    }
    for (int32_t i = house->first[host]; !house->is_fast && i < representative_at(house, host);
         i++) {
        const int32_t *from = &house->members[i];
        fill_hop(house, both_slot(house, from), from[0], from[1], ready);
    }
    house->speaks_ns[host] = instance->arrival_ns[rank];
    if (host != house->root_host) { /* the root's host sends nothing out, so it need not wait */
        house->speaks_ns[host] =
            clv_larger(house->speaks_ns[host], house->first_ns + ready[0] * house->slot_ns);
    }
    house->speaks_order_ns[host] = clv_sched_order_ns(instance, rank);
}

/* ---- between --------------------------------------------------------------------------------- */

/* The first slot of the first round between hosts. Moves the first representative's time to a full
 * round, so that rounds between hosts are whole rounds of SLOTS. */
static int64_t first_slot(house_t *house)
{
    const int64_t round_ns = house->slot_ns * SLOTS;
    int32_t first = 0;
    for (int32_t host = 1; host < house->n_hosts; host++) {
        first = house->speaks_ns[host] < house->speaks_ns[first] ? host : first;
    }
    house->speaks_ns[first] -= (house->speaks_ns[first] - house->first_ns) % round_ns;
    return (house->speaks_ns[first] - house->first_ns) / house->slot_ns;
}

/* The first slot from this one on that is a link slot. */
static int64_t link_slot(int64_t slot)
{
    return slot - slot % SLOTS + SLOTS - 1;
}

/* The slot of the round of sends[0], from this slot on: all segments of the round must have come
 * from inside. */
static int64_t round_slot(const house_t *house, int64_t slot, const clv_send_t *sends,
                          int64_t n_sends)
{
    const size_t n_segments = (size_t) house->instance->n_segments;
    for (int64_t k = 0; k < n_sends && sends[k].round == sends[0].round; k++) {
        const int64_t ready = house->ready[sends[k].sender * n_segments + sends[k].segment];
        slot = clv_larger(slot, ready);
    }
    return link_slot(slot);
}

/* A segment has reached the root's host; it is handed to the root later. */
static void came_from_outside(house_t *house, int32_t segment, int32_t slot)
{
    const size_t n_segments = (size_t) house->instance->n_segments;
    int32_t *ready = &house->ready[(size_t) house->root_host * n_segments + (size_t) segment];

    *ready = (int32_t) clv_larger(*ready, slot + 1);
}

/* In a fast estimate, ranks are hosts, followed by the root. */
static clv_status_t hand_over(house_t *house)
{
    const int32_t n_segments = house->instance->n_segments, host = house->root_host;
    int32_t *ready = &house->ready[(size_t) host * (size_t) n_segments];
    const int32_t at = representative_at(house, host);

    if (!house->hands_over) {
        return CLV_OK;
    }
    for (int32_t s = 0; s < n_segments; s++) {
        if (ready[s] > LATEST_ROUND - 2 * n_segments) {
            return CLV_OVERFLOW;
        }
    }
    fill_hop(house, both_slot(house, &house->members[at]),
             house->is_fast ? host : representative(house, host),
             house->is_fast ? house->n_hosts : house->instance->root, ready);
    return CLV_OK;
}

/* The rank that stands for a host in sends. */
static int32_t voice(const house_t *house, int32_t host)
{
    return house->is_fast ? host : representative(house, host);
}

static clv_status_t put_between(house_t *house, const clv_plan_t *plan, int64_t slot)
{
    int32_t round = -1;
    slot -= SLOTS;
    for (int64_t k = 0; k < plan->n_sends; k++) {
        const clv_send_t *send = &plan->sends[k];
        if (send->round != round) {
            slot += (int64_t) (send->round - round) * SLOTS;
            slot = round_slot(house, slot, send, plan->n_sends - k);
            round = send->round;
        }
        if (slot > LATEST_ROUND) {
            return CLV_OVERFLOW;
        }
        clv_builder_put(&house->builder, (int32_t) slot, voice(house, send->sender),
                        voice(house, send->receiver), send->segment);
        if (send->receiver == house->root_host) {
            came_from_outside(house, send->segment, (int32_t) slot);
        }
    }
    return CLV_OK;
}

/* The instance whose ranks are hosts. */
static clv_instance_t hosts_of(const house_t *house)
{
    return (clv_instance_t){.n_ranks = house->n_hosts,
                            .n_segments = house->instance->n_segments,
                            .root = house->root_host,
                            .round_ns = house->slot_ns * SLOTS,
                            .arrival_ns = house->speaks_ns,
                            .order_ns = house->speaks_order_ns};
}

static clv_status_t fill_between(house_t *house, const clv_generator_t *between)
{
    const int64_t slot = first_slot(house);
    const clv_instance_t hosts = hosts_of(house);
    clv_plan_t *plan = NULL;
    clv_status_t status = clv_plan_make(between, &hosts, &plan);
    if (status == CLV_OK) {
        status = clv_builder_reserve(&house->builder, plan->n_sends + hosts.n_segments);
    }
    if (status == CLV_OK) {
        status = put_between(house, plan, slot);
    }
    clv_plan_free(plan);
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Whether times fit their type, although the pipeline inside a host takes a slot per rank to
 * fill. */
static bool fits_in_time(const house_t *house)
{
    return (INT64_MAX - house->last_ns) / house->slot_ns > 2 * (int64_t) house->instance->n_ranks;
}

/* 1, or 0 without memory. */
static bool reserve(house_t *house)
{
    const size_t n_hosts = (size_t) house->n_hosts;
    const size_t n_segments = (size_t) house->instance->n_segments;

    house->ready = clv_alloc(n_hosts * n_segments, sizeof *house->ready);
    house->speaks_ns = clv_alloc(n_hosts, sizeof *house->speaks_ns);
    house->speaks_order_ns = clv_alloc(n_hosts, sizeof *house->speaks_order_ns);
    return house->ready != NULL && house->speaks_ns != NULL && house->speaks_order_ns != NULL;
}

static void close_house(house_t *house)
{
    clv_builder_drop(&house->builder);
    clv_free(house->speaks_order_ns);
    clv_free(house->speaks_ns);
    clv_free(house->ready);
    clv_free(house->members);
    clv_host_order_free(house->own_host_order);
}

/* Fills in all that happens inside hosts. */
static clv_status_t fill_inside(house_t *house)
{
    clv_status_t status = list_members(house);

    if (status == CLV_OK) {
        status = !reserve(house) ? CLV_NO_MEMORY : fits_in_time(house) ? CLV_OK : CLV_OVERFLOW;
    }
    if (status == CLV_OK && !house->is_fast) {
        status = clv_builder_init(&house->builder, house->instance);
    }
    if (status == CLV_OK) {
        house->hands_over = has_company(house, house->root_host) && is_root_far_late(house);
    }
    for (int32_t host = 0; host < house->n_hosts && status == CLV_OK; host++) {
        fill_host(house, host);
    }
    return status;
}

/* Makes all sends, in plan order. */
static clv_status_t fill(house_t *house, const clv_generator_t *between)
{
    clv_status_t status = fill_inside(house);

    if (status == CLV_OK) {
        status = fill_between(house, between);
    }
    if (status == CLV_OK) {
        status = hand_over(house);
    }
    return status == CLV_OK ? clv_builder_sort(&house->builder) : status;
}

static house_t open_house(const clv_instance_t *instance)
{
    const clv_span_t span = clv_sched_span(instance->arrival_ns, instance->n_ranks);
    const int64_t spread_ns = span.last_ns - span.first_ns;
    const int64_t round_ns = instance->round_ns > spread_ns ? spread_ns + 1 : instance->round_ns;
    const int64_t slot_ns = clv_larger(round_ns / SLOTS, spread_ns / SPREAD_SLOTS + 1);

    return (house_t){.instance = instance,
                     .first_ns = span.first_ns,
                     .last_ns = span.last_ns,
                     .slot_ns = slot_ns,
                     .slot = clv_divisor_of(slot_ns)};
}

static clv_status_t compose(const clv_instance_t *instance, const char *between,
                            clv_plan_t **plan_p)
{
    house_t house;
    clv_status_t status;

    if (!clv_sched_instance_shares_place(instance)) {
        return clv_generator_find(between)->generate(instance, plan_p);
    }
    house = open_house(instance);
    status = fill(&house, clv_generator_find(between));
    if (status == CLV_OK) {
        status = clv_builder_finish(&house.builder, instance, plan_p);
    }
    close_house(&house);
    return status;
}

/* ---- its fast estimate ----------------------------------------------------------------------- */

/* Rank k of the inter-host part represents this host; after all hosts comes the root. */
static void list_chain(const house_t *house, int32_t host, int32_t k, clv_fast_estimate_t *fast)
{
    const int32_t n_segments = fast->n_segments;
    const int32_t first = house->first[host], last = representative_at(house, host);
    const size_t n_bytes = (size_t) n_segments * sizeof *house->ready;

    fast->chains[host] = (clv_chain_t){first, last, k};
    fast->n_sends += (int64_t) (last - first) * n_segments;
    fast->interhost.rank[k] = house->members[last];
    if (first < last) {
        memcpy(fast->interhost.near_slot + (size_t) k * (size_t) n_segments,
               house->ready + (size_t) host * (size_t) n_segments, n_bytes);
    }
}

/* order: of hosts in the inter-host part; NULL: by number. */
static clv_status_t list_chains(const house_t *house, const int32_t *order,
                                clv_fast_estimate_t *fast)
{
    const int32_t n_interhost = house->n_hosts + house->hands_over;
    clv_status_t status = clv_interhost_init(&fast->interhost, n_interhost, fast->n_segments);

    for (int32_t k = 0; k < house->n_hosts && status == CLV_OK; k++) {
        list_chain(house, order == NULL ? k : order[k], k, fast);
    }
    if (status == CLV_OK && house->hands_over) {
        fast->interhost.rank[house->n_hosts] = house->instance->root;
    }
    fast->interhost.hands_over = house->hands_over;
    fast->n_chains = house->n_hosts;
    return status;
}

/* For hosts that wait for links: lists all sends between hosts, and those to a root that is handed
 * all. */
static clv_status_t fast_between(house_t *house, const clv_generator_t *between,
                                 clv_fast_estimate_t *fast)
{
    clv_builder_t *builder = &house->builder;
    clv_status_t status = list_chains(house, NULL, fast);

    if (status == CLV_OK) {
        status = fill_between(house, between);
    }
    if (status == CLV_OK) {
        status = hand_over(house);
    }
    if (status == CLV_OK && house->hands_over) {
        status = clv_builder_sort(builder);
    }
    fast->n_sends += builder->n_sends;
    return status == CLV_OK
               ? clv_interhost_set_sends(&fast->interhost, builder->sends, builder->n_sends)
               : status;
}

/* The slot of the first segment on each hop of a chain of hosts: the round in which both have
 * arrived, after that of the hop before. Rounds are never moved back, because a representative
 * counts as arrived when its first segment has come from inside, and the others follow faster than
 * rounds. */
static clv_status_t find_slots(const house_t *house, const clv_instance_t *hosts, int64_t slot,
                               const int32_t *order, int32_t *far_slot)
{
    const clv_rounds_t rounds = clv_sched_rounds(hosts);
    int64_t round = -1;

    far_slot[0] = 0;
    for (int32_t k = 1; k < house->n_hosts; k++) {
        const int64_t both = clv_larger(clv_sched_arrival_round(hosts, rounds, order[k - 1]),
                                        clv_sched_arrival_round(hosts, rounds, order[k]));
        round = clv_larger(both, round + 1);
        if (link_slot(slot + (round + house->instance->n_segments) * SLOTS) > LATEST_ROUND) {
            return CLV_OVERFLOW;
        }
        far_slot[k] = (int32_t) link_slot(slot + round * SLOTS);
    }
    return CLV_OK;
}

static clv_status_t set_order(house_t *house, const clv_instance_t *hosts, int64_t slot,
                              int32_t *order, clv_fast_estimate_t *fast)
{
    clv_interhost_t *interhost = &fast->interhost;
    clv_status_t status = clv_sched_chain_order(hosts, order);

    if (status == CLV_OK) {
        status = list_chains(house, order, fast);
    }
    interhost->slots_per_round = SLOTS;
    interhost->far_slot = clv_alloc((size_t) house->n_hosts + 1, sizeof *interhost->far_slot);
    if (status != CLV_OK || interhost->far_slot == NULL) {
        return status != CLV_OK ? status : CLV_NO_MEMORY;
    }
    fast->n_sends += (int64_t) (interhost->n_ranks - 1) * interhost->n_segments;
    return find_slots(house, hosts, slot, order, interhost->far_slot);
}

/* For hosts in a chain, where no host waits for a link: only their order, no sends. */
static clv_status_t fast_chain(house_t *house, clv_fast_estimate_t *fast)
{
    const int64_t slot = first_slot(house);
    const clv_instance_t hosts = hosts_of(house);
    int32_t *order = clv_alloc_unset((size_t) house->n_hosts, sizeof *order);
    clv_status_t status =
        order == NULL ? CLV_NO_MEMORY : set_order(house, &hosts, slot, order, fast);

    clv_free(order);
    return status;
}

static clv_status_t compose_fast(const clv_instance_t *instance, const char *name,
                                 clv_fast_estimate_t **fast_p)
{
    const clv_generator_t *between = clv_generator_find(name);
    house_t house = open_house(instance);
    clv_fast_estimate_t *fast = clv_fast_estimate_new(instance);
    clv_status_t status = CLV_NO_MEMORY;

    house.is_fast = true;
    if (fast != NULL) {
        status = fill_inside(&house);
    }
    if (status == CLV_OK) {
        status = between->generate == clv_sched_chain_generate
                     ? fast_chain(&house, fast)
                     : fast_between(&house, between, fast);
    }
    if (status == CLV_OK) {
        memcpy(fast->ranks, house.members, (size_t) instance->n_ranks * sizeof *fast->ranks);
        *fast_p = fast;
    } else {
        clv_fast_estimate_free(fast);
    }
    close_house(&house);
    return status;
}

#define COMPOSE(stem, between)                                                                     \
    clv_status_t clv_sched_##stem##_generate(const clv_instance_t *instance, clv_plan_t **plan_p)  \
    {                                                                                              \
        return compose(instance, between, plan_p);                                                 \
    }                                                                                              \
    clv_status_t clv_sched_##stem##_fast(const clv_instance_t *instance,                           \
                                         clv_fast_estimate_t **fast_p)                             \
    {                                                                                              \
        return compose_fast(instance, between, fast_p);                                            \
    }

COMPOSE(node_sorted, "chain")
COMPOSE(node_latest, "latest-first-rns")
COMPOSE(node_bitset, "bitset")
