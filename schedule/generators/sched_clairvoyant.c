/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The reference form of the Clairvoyant schedule: Listing 2 of "Improving Clairvoyant" with the
 * open cases resolved (docs/design/schedule.md lists them). Start reading here. The same loop with
 * two other orders is latest-arrival-first.
 *
 * What: the oracle. Every faster generator must give exactly these sends in exactly this order.
 * Not: fast. O(rounds * ranks^2 * segments) at worst, 1 byte per (rank, segment).
 *
 * The idea: time passes in rounds of length d. The ranks that have arrived by a round form its
 * group. One of them is the sink (the root, once it has arrived), which is served first; then every
 * other member in turn looks for the lowest segment that it shares with a member still free to
 * send, and that peer sends it. In a round a rank sends once and receives once; it can pass on what
 * it receives in the next round. A rank that holds no segment any more is finished.
 *
 * A small example (section 4.2 of the paper): 4 ranks, 4 segments, root p0, d = 1, arrivals
 * 0, 0, 0 and 1.1. The table says in which round a rank sends a segment away:
 *
 * [drawing: plan of 02.txt]
 *         p0   p1   p2   p3
 *   s0     .    0    1    2
 *   s1     0    3    2    1
 *   s2     1    1    4    3
 *   s3     2    2    3    5
 * [end of drawing]
 *
 * In round 0 ranks p0 and p1 exchange s1 and s0 and p2 is left over; p3 joins in round 1, where p2
 * gives s0 to the root and p3 gives s1 to p1. The root sends too (s1, s2, s3): it serves others
 * while it waits, and as the sink it gets those segments back, combined with more, in rounds 3, 4
 * and 5.
 */
#define CLV_WITH_ORACLES

#include <stdlib.h>
#include <string.h>

#include "schedule/generators/sched_busy.h"
#include "schedule/sched_generators.h"
#include "schedule/sched_instance.h"
#include "schedule/sched_plan.h"
#include "util/util_alloc.h"

typedef struct rule {
    bool latest_first;     /* latest arrival first, instead of earliest availability */
    bool root_never_sends; /* once the root is in the group */
    bool waits_busily;     /* a lone rank searches in every round, as before section 5.1 */
} rule_t;

typedef struct search {
    const clv_instance_t *instance;
    rule_t rule;
    int64_t round_ns;
    int64_t round;
    int64_t round_limit;
    int64_t
        *avail_ns;   /* by rank: when it can take part in the next round, from the first arrival */
    bool *held;      /* by segment and rank: H of the design */
    int32_t *n_held; /* by rank */
    int32_t *got;    /* by rank: the segment received in this round (state P'), or -1 */
    int32_t *group;  /* ranks in the window, in order */
    int32_t *free;   /* those of the group that may still send in this round, in order */
    int32_t n_group;
    int32_t n_free;
    int32_t first_sink; /* latest-first: the sink until the root arrives */
    clv_builder_t builder;
} search_t;

static bool *held(const search_t *search, int32_t rank, int32_t segment)
{
    return &search->held[(size_t) segment * (size_t) search->instance->n_ranks + (size_t) rank];
}

/* The earliest availability among unfinished ranks other than `except`. */
static int64_t earliest_ns(const search_t *search, int32_t except)
{
    int64_t earliest = INT64_MAX;
    for (int32_t p = 0; p < search->instance->n_ranks; p++) {
        if (p != except && search->n_held[p] > 0 && search->avail_ns[p] < earliest) {
            earliest = search->avail_ns[p];
        }
    }
    return earliest;
}

static bool comes_before(const search_t *search, int32_t a, int32_t b)
{
    const clv_instance_t *instance = search->instance;
    int64_t key_a =
        search->rule.latest_first ? clv_sched_order_ns(instance, b) : search->avail_ns[a];
    int64_t key_b =
        search->rule.latest_first ? clv_sched_order_ns(instance, a) : search->avail_ns[b];
    if (key_a != key_b) {
        return key_a < key_b;
    }
    int64_t lead_a = search->rule.latest_first ? 0 : clv_sched_lead_ns(instance, a);
    int64_t lead_b = search->rule.latest_first ? 0 : clv_sched_lead_ns(instance, b);
    return lead_a != lead_b ? lead_a < lead_b : a < b;
}

/* Insertion sort: the group changes little from one round to the next. */
static void join_group(search_t *search, int32_t rank)
{
    int32_t at = search->n_group++;
    while (at > 0 && comes_before(search, rank, search->group[at - 1])) {
        search->group[at] = search->group[at - 1];
        at--;
    }
    search->group[at] = rank;
}

/* The ranks STRICTLY inside the window take part. Returns the number of unfinished ranks. */
static int32_t form_group(search_t *search)
{
    int64_t start_ns = earliest_ns(search, -1);
    int32_t n_unfinished = 0;

    search->n_group = 0;
    for (int32_t p = 0; p < search->instance->n_ranks; p++) {
        if (search->n_held[p] > 0) {
            n_unfinished++;
            if (search->avail_ns[p] - start_ns < search->round_ns) {
                join_group(search, p);
            }
        }
    }
    return n_unfinished;
}

/* A lone rank waits; the rounds that it waits are counted. */
static void skip_idle_rounds(search_t *search)
{
    int32_t lone = search->group[0];
    int64_t n_rounds = (earliest_ns(search, lone) - search->avail_ns[lone]) / search->round_ns;
    search->avail_ns[lone] += n_rounds * search->round_ns;
    search->round += n_rounds;
}

static bool in_group(const search_t *search, int32_t rank)
{
    for (int32_t k = 0; k < search->n_group; k++) {
        if (search->group[k] == rank) {
            return true;
        }
    }
    return false;
}

static int32_t choose_sink(const search_t *search)
{
    if (in_group(search, search->instance->root)) {
        return search->instance->root;
    }
    return search->rule.latest_first ? search->first_sink : search->group[0];
}

static void list_free(search_t *search)
{
    search->n_free = 0;
    for (int32_t k = 0; k < search->n_group; k++) {
        int32_t p = search->group[k];
        if (!search->rule.root_never_sends || p != search->instance->root) {
            search->free[search->n_free++] = p;
        }
    }
}

static void strike_out(search_t *search, int32_t sender)
{
    int32_t at = 0;
    while (search->free[at] != sender) {
        at++;
    }
    search->n_free--;
    memmove(&search->free[at], &search->free[at + 1],
            (size_t) (search->n_free - at) * sizeof *search->free);
}

/* The first member, in group order, that can send the segment to the receiver; -1: none. */
static int32_t find_peer(const search_t *search, int32_t receiver, int32_t segment)
{
    const bool *holds = held(search, 0, segment);
    for (int32_t k = 0; k < search->n_free; k++) {
        int32_t z = search->free[k];
        if (holds[z] && z != receiver) {
            return z;
        }
    }
    return -1;
}

static void send_segment(search_t *search, int32_t sender, int32_t receiver, int32_t segment)
{
    clv_builder_put(&search->builder, (int32_t) search->round, sender, receiver, segment);
    strike_out(search, sender);
    search->n_held[sender]--;
    search->n_held[receiver] -= *held(search, receiver, segment);
    *held(search, sender, segment) = false;
    *held(search, receiver, segment) = false; /* state P': not passed on in this round */
    search->got[receiver] = segment;
}

/* The sink takes any segment, even one that it gave away. Other ranks take only segments that they
 * hold. */
static void serve(search_t *search, int32_t receiver, bool is_sink)
{
    for (int32_t s = 0; s < search->instance->n_segments; s++) {
        if (is_sink || *held(search, receiver, s)) {
            int32_t peer = find_peer(search, receiver, s);
            if (peer >= 0) {
                send_segment(search, peer, receiver, s);
                return;
            }
        }
    }
}

static void play_round(search_t *search)
{
    int32_t sink = choose_sink(search);
    list_free(search);
    serve(search, sink, true);
    for (int32_t k = 0; k < search->n_group; k++) {
        if (search->group[k] != sink) {
            serve(search, search->group[k], false);
        }
    }
}

static void end_round(search_t *search)
{
    for (int32_t k = 0; k < search->n_group; k++) {
        int32_t p = search->group[k];
        if (search->got[p] >= 0) {
            *held(search, p, search->got[p]) = true;
            search->n_held[p]++;
            search->got[p] = -1;
        }
        search->avail_ns[p] += search->round_ns;
    }
    search->round++;
}

static clv_status_t play(search_t *search)
{
    while (form_group(search) > 1) {
        if (search->n_group == 1 && !search->rule.waits_busily) {
            skip_idle_rounds(search);
            continue;
        }
        if (search->round > search->round_limit) {
            return CLV_OVERFLOW;
        }
        if (clv_builder_reserve(&search->builder, search->n_group) != CLV_OK) {
            return CLV_NO_MEMORY;
        }
        play_round(search);
        end_round(search);
    }
    return CLV_OK;
}

static void start(search_t *search)
{
    const clv_instance_t *instance = search->instance;
    int64_t first_ns = clv_sched_first_ns(instance);

    search->round_ns = clv_sched_effective_round_ns(instance);
    search->round_limit = clv_sched_round_limit(instance);
    search->first_sink = clv_sched_first_rank(instance);
    for (int32_t p = 0; p < instance->n_ranks; p++) {
        search->avail_ns[p] = instance->arrival_ns[p] - first_ns;
        search->n_held[p] = instance->n_segments;
        search->got[p] = -1;
    }
    memset(search->held, 1, (size_t) instance->n_ranks * (size_t) instance->n_segments);
}

static clv_status_t allocate(search_t *search)
{
    size_t n_ranks = (size_t) search->instance->n_ranks;
    search->avail_ns = clv_alloc(n_ranks, sizeof *search->avail_ns);
    search->held = clv_alloc(n_ranks, (size_t) search->instance->n_segments);
    search->n_held = clv_alloc(n_ranks, sizeof *search->n_held);
    search->got = clv_alloc(n_ranks, sizeof *search->got);
    search->group = clv_alloc(n_ranks, sizeof *search->group);
    search->free = clv_alloc(n_ranks, sizeof *search->free);
    if (search->avail_ns == NULL || search->held == NULL || search->n_held == NULL ||
        search->got == NULL || search->group == NULL || search->free == NULL) {
        return CLV_NO_MEMORY;
    }
    return clv_builder_init(&search->builder, search->instance);
}

static void release(search_t *search)
{
    clv_builder_drop(&search->builder);
    clv_free(search->free);
    clv_free(search->group);
    clv_free(search->got);
    clv_free(search->n_held);
    clv_free(search->held);
    clv_free(search->avail_ns);
}

static clv_status_t generate(const clv_instance_t *instance, rule_t rule, clv_plan_t **plan_p)
{
    search_t search = {.instance = instance, .rule = rule};
    clv_status_t status = allocate(&search);
    if (status == CLV_OK) {
        start(&search);
        status = play(&search);
    }
    if (status == CLV_OK) {
        status = clv_builder_finish(&search.builder, instance, plan_p);
    }
    release(&search);
    return status;
}

clv_status_t clv_sched_linear_generate(const clv_instance_t *instance, clv_plan_t **plan_p)
{
    return generate(instance, (rule_t){false, false, false}, plan_p);
}

clv_status_t clv_sched_latest_linear_generate(const clv_instance_t *instance, clv_plan_t **plan_p)
{
    return generate(instance, (rule_t){true, false, false}, plan_p);
}

clv_status_t clv_sched_latest_rns_linear_generate(const clv_instance_t *instance,
                                                  clv_plan_t **plan_p)
{
    return generate(instance, (rule_t){true, true, false}, plan_p);
}

clv_status_t clv_sched_busy_generate(const clv_instance_t *instance, clv_plan_t **plan_p)
{
    return generate(instance, (rule_t){false, false, true}, plan_p);
}
