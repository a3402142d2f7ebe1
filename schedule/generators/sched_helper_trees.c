/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Helper trees, an allreduce for many ranks: the early ranks, the helpers, combine each segment
 * along a binomial tree and distribute it along the same tree; a late rank only sends its part to
 * the tree's root and gets the result from one of the helpers.
 *
 *     helper 0 <- helper 1              late rank -> root of the tree
 *              <- helper 2 <- helper 3  late rank <- some helper, the last ones first
 *
 * From segment to segment the tree is rotated by one helper, so that each helper is the root in
 * turn and all send and receive equally much. A segment reaches every rank 2 log2(helpers) messages
 * after the last arrival, where a ring takes 2 (P - 1). Each link carries two vectors as in a ring,
 * or one if all others have combined theirs before a single late rank arrives.
 *
 * The generator finds the number of late ranks by replaying the plan in its own rounds for none, 1,
 * 2, 4, ... of the latest. A rank sends first what was ready first, parts before results.
 * Cost: O(sends * log sends) per replay as a rule; at most log2(ranks) + 2 replays, or 3 from
 * MANY_CELLS on; 80 bytes per (rank, segment) while it is made, beside the plan.
 */
#include <stdlib.h>

#include "schedule/sched_generators.h"
#include "schedule/sched_instance.h"
#include "schedule/sched_plan.h"
#include "util/util_alloc.h"
#include "util/util_min_max.h"

#define GAIN       995   /* permille: more late ranks must be below this part of the best */
#define MANY_CELLS 16384 /* ranks * segments from which ... */
#define N_FEW      3     /* ... only this many numbers of late ranks are tried */
#define NONE       (-1)

/* A send that could leave, in the queue of its rank; smallest key first. */
typedef struct wish {
    int64_t key; /* the round it was ready in, parts before results, segment */
    int32_t next;
    int32_t to;
    int32_t segment;
    int32_t kind; /* clv_send_kind_t */
} wish_t;

typedef struct member {
    int64_t order_ns;
    int32_t rank;
    int32_t arrived; /* its first round */
    int32_t first;   /* of its queue; NONE: it is empty */
    int32_t last;
    bool has_entered;
    int32_t takes_in; /* the round in which it last received */
} member_t;

typedef struct trees {
    int32_t n_ranks, n_segments;
    int32_t n_helpers;
    int32_t top;       /* the smallest power of two >= n_helpers */
    member_t *members; /* earliest first: the helpers, then the late ranks */
    int32_t *missing;  /* [member * n_segments + segment]: parts still to come */
    wish_t *wishes;
    int32_t n_wishes;
    int32_t *done; /* wishes fulfilled in this round */
} trees_t;

/* ---- who stands where ------------------------------------------------------------------------ */

static int compare_members(const void *a, const void *b)
{
    const member_t *x = a, *y = b;
    const int order = clv_compare(x->order_ns, y->order_ns);
    return order != 0 ? order : clv_compare(x->rank, y->rank);
}

static void take_members(const clv_instance_t *instance, const trees_t *trees)
{
    const clv_rounds_t rounds = clv_sched_rounds(instance);

    for (int32_t p = 0; p < trees->n_ranks; p++) {
        trees->members[p] = (member_t){.order_ns = clv_sched_order_ns(instance, p),
                                       .rank = p,
                                       .arrived = clv_sched_arrival_round(instance, rounds, p)};
    }
    qsort(trees->members, (size_t) trees->n_ranks, sizeof *trees->members, compare_members);
}

/* The node of a helper in the segment's tree, 0 being the root; below, the helper at a node. */
static int32_t node_of(const trees_t *trees, int32_t member, int32_t segment)
{
    return (member + trees->n_helpers - segment % trees->n_helpers) % trees->n_helpers;
}

static int32_t member_at(const trees_t *trees, int32_t node, int32_t segment)
{
    return (int32_t) (((int64_t) node + segment) % trees->n_helpers);
}

/* The children of a node are node + 1, node + 2, node + 4 ... below node + span. */
static int32_t span_of(const trees_t *trees, int32_t node)
{
    return node == 0 ? trees->top : node & -node;
}

static int32_t count_children(const trees_t *trees, int32_t node)
{
    int32_t n = 0;
    for (int32_t b = 1; b < span_of(trees, node); b *= 2) {
        n += node + b < trees->n_helpers;
    }
    return n;
}

/* ---- queues ---------------------------------------------------------------------------------- */

/* Behind all with the same key; usually that is the end. */
static void put_in(member_t *from, wish_t *wishes, int32_t wish)
{
    int32_t *link = &from->first;

    if (from->first != NONE && wishes[from->last].key <= wishes[wish].key) {
        link = &wishes[from->last].next;
    }
    while (*link != NONE && wishes[*link].key <= wishes[wish].key) {
        link = &wishes[*link].next;
    }
    wishes[wish].next = *link;
    *link = wish;
    if (wishes[wish].next == NONE) {
        from->last = wish;
    }
}

static void want(trees_t *trees, int32_t from, int32_t to, int32_t segment, clv_send_kind_t kind,
                 int32_t round)
{
    const int64_t key = ((int64_t) round * 2 + (kind == CLV_COPY)) * CLV_SCHED_MAX_SEGMENTS;

    trees->wishes[trees->n_wishes] =
        (wish_t){.key = key + segment, .to = to, .segment = segment, .kind = (int32_t) kind};
    put_in(&trees->members[from], trees->wishes, trees->n_wishes++);
}

/* Takes out the first wish whose receiver can receive in this round; NONE. */
static int32_t take_out(const trees_t *trees, member_t *from, int32_t round)
{
    int32_t before = NONE;

    for (int32_t i = from->first; i != NONE; before = i, i = trees->wishes[i].next) {
        const member_t *to = &trees->members[trees->wishes[i].to];
        if (to->arrived > round || to->takes_in == round) {
            continue;
        }
        if (before == NONE) {
            from->first = trees->wishes[i].next;
        } else {
            trees->wishes[before].next = trees->wishes[i].next;
        }
        if (from->last == i) {
            from->last = before;
        }
        return i;
    }
    return NONE;
}

/* ---- what follows from what ------------------------------------------------------------------ */

/* A helper has the result: sends it to its children, largest subtree first, and to its late
 * ranks. */
static void hand_out(trees_t *trees, int32_t member, int32_t segment, int32_t round)
{
    const int32_t node = node_of(trees, member, segment), n_helpers = trees->n_helpers;

    for (int32_t b = span_of(trees, node) / 2; b > 0; b /= 2) {
        if (node + b < n_helpers) {
            want(trees, member, member_at(trees, node + b, segment), segment, CLV_COPY, round);
        }
    }
    for (int32_t late = 2 * n_helpers - 1 - node; late < trees->n_ranks; late += n_helpers) {
        want(trees, member, late, segment, CLV_COPY, round);
    }
}

/* The member has received all parts that it waits for. */
static void pass_on(trees_t *trees, int32_t member, int32_t segment, int32_t round)
{
    const int32_t node = member < trees->n_helpers ? node_of(trees, member, segment) : NONE;

    if (node == 0) {
        hand_out(trees, member, segment, round);
        return;
    }
    want(trees, member, member_at(trees, node == NONE ? 0 : node & (node - 1), segment), segment,
         CLV_MOVE, round);
}

static void take_in(trees_t *trees, const wish_t *wish, int32_t round)
{
    int32_t *missing =
        &trees->missing[(size_t) wish->to * (size_t) trees->n_segments + (size_t) wish->segment];

    if (wish->kind == CLV_MOVE) {
        if (--*missing == 0) {
            pass_on(trees, wish->to, wish->segment, round);
        }
    } else if (wish->to < trees->n_helpers) {
        hand_out(trees, wish->to, wish->segment, round);
    }
}

/* ---- the rounds ------------------------------------------------------------------------------ */

static void begin(trees_t *trees, int32_t n_late)
{
    trees->n_helpers = trees->n_ranks - n_late;
    trees->n_wishes = 0;
    for (trees->top = 1; trees->top < trees->n_helpers;) {
        trees->top *= 2;
    }
    for (int32_t m = 0; m < trees->n_ranks; m++) {
        member_t *member = &trees->members[m];
        int32_t *missing = &trees->missing[(size_t) m * (size_t) trees->n_segments];

        member->first = member->last = member->takes_in = NONE;
        member->has_entered = false;
        for (int32_t s = 0; s < trees->n_segments; s++) {
            const int32_t node = m < trees->n_helpers ? node_of(trees, m, s) : NONE;
            missing[s] = node == NONE ? 0 : count_children(trees, node) + (node == 0) * n_late;
        }
    }
}

static void enter(trees_t *trees, int32_t round)
{
    for (int32_t m = 0; m < trees->n_ranks; m++) {
        member_t *member = &trees->members[m];
        if (member->has_entered || member->arrived > round) {
            continue;
        }
        member->has_entered = true;
        for (int32_t s = 0; s < trees->n_segments; s++) {
            if (trees->missing[(size_t) m * (size_t) trees->n_segments + (size_t) s] == 0) {
                pass_on(trees, m, s, round);
            }
        }
    }
}

/* At most one send and one receive per member; returns the number of sends. */
static int32_t go_round(trees_t *trees, int32_t round, clv_builder_t *builder)
{
    int32_t n_done = 0;

    for (int32_t i = 0; i < trees->n_ranks; i++) {
        const int32_t m = (int32_t) (((int64_t) i + round) % trees->n_ranks);
        const int32_t out = take_out(trees, &trees->members[m], round);
        const wish_t *wish = &trees->wishes[out == NONE ? 0 : out];

        if (out == NONE) {
            continue;
        }
        trees->members[wish->to].takes_in = round;
        trees->done[n_done++] = out;
        if (builder != NULL) {
            builder->sends[builder->n_sends++] =
                clv_send_of(round, trees->members[m].rank, trees->members[wish->to].rank,
                            wish->segment, (clv_send_kind_t) wish->kind);
        }
    }
    for (int32_t i = 0; i < n_done; i++) {
        const wish_t wish = trees->wishes[trees->done[i]];
        take_in(trees, &wish, round + 1);
    }
    return n_done;
}

static int32_t next_arrival(const trees_t *trees, int32_t round)
{
    int32_t next = INT32_MAX;
    for (int32_t m = 0; m < trees->n_ranks; m++) {
        const int32_t arrived = trees->members[m].arrived;
        next = arrived > round && arrived < next ? arrived : next;
    }
    return next;
}

/* Makes all sends with n_late late ranks; returns the number of rounds. builder NULL: only
 * counts. */
static int32_t replay(trees_t *trees, int32_t n_late, clv_builder_t *builder)
{
    int64_t left = 2 * (int64_t) (trees->n_ranks - 1) * trees->n_segments;
    int32_t round = 0;

    begin(trees, n_late);
    while (left > 0) {
        enter(trees, round);
        const int32_t n_sent = go_round(trees, round, builder);
        left -= n_sent;
        round = n_sent > 0 ? round + 1 : next_arrival(trees, round);
    }
    return round;
}

static int32_t choose_late(trees_t *trees)
{
    const int64_t n_cells = (int64_t) trees->n_ranks * trees->n_segments;
    int32_t last = 0, best = 0;
    int64_t least = INT64_MAX;

    for (int32_t m = 0; m < trees->n_ranks; m++) {
        last = trees->members[m].arrived > last ? trees->members[m].arrived : last;
    }
    for (int32_t late = 0, n = 0; late < trees->n_ranks - 1; late = late == 0 ? 1 : 2 * late) {
        const int64_t after = replay(trees, late, NULL) - last;
        if (least == INT64_MAX || after * 1000 < least * GAIN) {
            least = after;
            best = late;
        }
        if (last == 0 || (++n == N_FEW && n_cells >= MANY_CELLS)) {
            break; /* no rank is late, or enough was tried */
        }
    }
    return best;
}

/* ---- the plan -------------------------------------------------------------------------------- */

static clv_status_t allocate(const clv_instance_t *instance, trees_t *trees, clv_builder_t *builder)
{
    const size_t n_ranks = (size_t) instance->n_ranks, n_segments = (size_t) instance->n_segments;

    *trees = (trees_t){.n_ranks = instance->n_ranks,
                       .n_segments = instance->n_segments,
                       .members = clv_alloc(n_ranks, sizeof *trees->members),
                       .missing = clv_alloc_unset(n_ranks, n_segments * sizeof *trees->missing),
                       .wishes = clv_alloc_unset(n_ranks, 2 * n_segments * sizeof *trees->wishes),
                       .done = clv_alloc(n_ranks, sizeof *trees->done)};
    if (trees->members == NULL || trees->missing == NULL || trees->wishes == NULL ||
        trees->done == NULL) {
        return CLV_NO_MEMORY;
    }
    return clv_builder_reserve(builder, 2 * (int64_t) (n_ranks - 1) * (int64_t) n_segments + 1);
}

clv_status_t clv_sched_helper_trees_generate(const clv_instance_t *instance, clv_plan_t **plan_p)
{
    clv_builder_t builder = {0};
    trees_t trees;
    clv_status_t status = allocate(instance, &trees, &builder);

    if (status == CLV_OK) {
        take_members(instance, &trees);
        (void) replay(&trees, choose_late(&trees), &builder);
        status = clv_builder_finish(&builder, instance, plan_p);
    }
    clv_builder_drop(&builder);
    clv_free(trees.done);
    clv_free(trees.wishes);
    clv_free(trees.missing);
    clv_free(trees.members);
    return status;
}
