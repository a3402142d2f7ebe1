/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cut ring, an allreduce: every rank sends to its successor only, and the plan chooses for each
 * segment where it starts on the ring.
 *
 *     owner + 1 -> owner + 2 -> ... -> owner -> owner + 1 -> ... -> owner - 1      (seats, mod P)
 *     |<- P - 1 moves: combined on the way ->|<- P - 1 copies: the result goes round  ->|
 *
 * With owners spread evenly it is the ring of reduce-scatter and allgather: 2 (P - 1) / P vectors
 * over each link whatever the arrivals (plain ring). If the latest rank owns all segments, the
 * others' data is combined when it arrives, and one vector remains to be sent. Cuts in between are
 * weighted: the latest rank owns a share, the next latest ones own equal parts of the rest. The
 * generator replays these cuts in its own rounds and takes the shortest: the even one for equal
 * arrivals, all segments at the latest rank if it is far late. No link ever carries more than two
 * vectors, so a wrong prediction costs little: every plan ends within 2 (N + P - 2) rounds of the
 * last arrival.
 *
 * Seats are ranks by (lowest rank of the host, rank), so that a ring leaves each host once. A seat
 * sends its segments in the order in which it got them, as soon as both ends have arrived.
 * Cost: O(rounds with sends * ranks) per replay; at most 19 replays, or 4 from MANY_CELLS on; 16
 * bytes per (rank, segment) while it is made, beside the plan.
 */
#include <stdlib.h>

#include "schedule/sched_generators.h"
#include "schedule/sched_instance.h"
#include "schedule/sched_plan.h"
#include "util/util_alloc.h"
#include "util/util_min_max.h"

#define WHOLE      1000  /* of a share */
#define GAIN       995   /* permille: another cut must be below this part of the best one */
#define MANY_CELLS 16384 /* ranks * segments from which only the first cuts are replayed ... */
#define N_FEW      3     /* ... this many */

/* The `late` latest ranks own the segments, the very last one `share` of them. late 0: all ranks
 * own segments. share 0: equal parts. */
typedef struct cut {
    int32_t late;
    int32_t share;
} cut_t;

static const cut_t cuts[] = {{1, 0},   {2, 0},   {2, 850}, {2, 700}, {2, 550}, {3, 0},
                             {3, 850}, {3, 700}, {3, 550}, {3, 400}, {4, 0},   {4, 850},
                             {4, 700}, {4, 550}, {4, 400}, {0, 850}, {0, 700}, {0, 400}};
#define N_CUTS ((int32_t) (sizeof cuts / sizeof cuts[0]))

/* A segment under way. */
typedef struct parcel {
    int32_t segment;
    int32_t hop; /* 0 .. 2 P - 3; from P - 1 on it is complete */
} parcel_t;

typedef struct seat {
    int64_t order_ns;
    int32_t rank;
    int32_t place;   /* lowest rank of the place: their numbers do not matter */
    int32_t arrived; /* first round */
    int32_t sent;    /* parcels sent */
    int32_t got;     /* parcels received to be sent on */
    int32_t ready;   /* of these, received before this round */
} seat_t;

typedef struct ring {
    int32_t n_ranks, n_segments;
    seat_t *seats;
    int32_t *latest;   /* seats, latest arrival first */
    int32_t *owner;    /* by segment: the seat that owns it */
    int64_t *debt;     /* by lateness: what a rank owns too little */
    parcel_t *parcels; /* 2 n_segments for each seat */
} ring_t;

/* ---- seats ----------------------------------------------------------------------------------- */

static int compare_seats(const void *a, const void *b)
{
    const seat_t *x = a, *y = b;
    const int order = clv_compare(x->place, y->place);
    return order != 0 ? order : clv_compare(x->rank, y->rank);
}

static bool is_later(const seat_t *a, const seat_t *b)
{
    return a->order_ns > b->order_ns || (a->order_ns == b->order_ns && a->rank > b->rank);
}

/* Insertion sort by lateness. */
static void find_latest(const ring_t *ring)
{
    for (int32_t i = 0; i < ring->n_ranks; i++) {
        int32_t at = i;
        for (; at > 0 && is_later(&ring->seats[i], &ring->seats[ring->latest[at - 1]]); at--) {
            ring->latest[at] = ring->latest[at - 1];
        }
        ring->latest[at] = i;
    }
}

static void take_seats(const clv_instance_t *instance, const ring_t *ring)
{
    const clv_rounds_t rounds = clv_sched_rounds(instance);
    int32_t *lowest = ring->latest; /* by place; uses latest's memory before latest is set */

    clv_sched_lowest_ranks(instance, lowest);
    for (int32_t p = 0; p < ring->n_ranks; p++) {
        ring->seats[p] = (seat_t){.order_ns = clv_sched_order_ns(instance, p),
                                  .rank = p,
                                  .place = lowest[clv_sched_place(instance, p)],
                                  .arrived = clv_sched_arrival_round(instance, rounds, p)};
    }
    qsort(ring->seats, (size_t) ring->n_ranks, sizeof *ring->seats, compare_seats);
    find_latest(ring);
}

/* ---- owners ---------------------------------------------------------------------------------- */

static void own_evenly(const ring_t *ring)
{
    for (int32_t s = 0; s < ring->n_segments; s++) {
        ring->owner[s] = s % ring->n_ranks;
    }
}

/* Each segment goes to the rank that is owed most. */
static void own_by_share(const ring_t *ring, const cut_t *cut)
{
    const int32_t n_late = cut->late == 0 ? ring->n_ranks : cut->late;
    const int64_t last = cut->share == 0 ? WHOLE / n_late : cut->share;

    for (int32_t i = 0; i < n_late; i++) {
        ring->debt[i] = 0;
    }
    for (int32_t s = 0; s < ring->n_segments; s++) {
        int32_t most = 0;
        for (int32_t i = 0; i < n_late; i++) {
            ring->debt[i] += i == 0 ? last * (n_late - 1) : WHOLE - last;
            most = ring->debt[i] > ring->debt[most] ? i : most;
        }
        ring->debt[most] -= (int64_t) WHOLE * (n_late - 1);
        ring->owner[s] = ring->latest[most];
    }
}

/* ---- the rounds ------------------------------------------------------------------------------ */

static void give(const ring_t *ring, int32_t seat, parcel_t parcel)
{
    seat_t *to = &ring->seats[seat];
    ring->parcels[(size_t) seat * 2 * (size_t) ring->n_segments + (size_t) to->got++] = parcel;
}

/* Sends this seat's oldest parcel on, if it can go now. Returns whether it did. */
static bool hand_on(const ring_t *ring, int32_t seat, int32_t round, clv_builder_t *builder)
{
    const int32_t next = (seat + 1) % ring->n_ranks;
    seat_t *from = &ring->seats[seat];
    const seat_t *to = &ring->seats[next];
    parcel_t parcel;

    if (from->sent == from->ready || from->arrived > round || to->arrived > round) {
        return false;
    }
    parcel = ring->parcels[(size_t) seat * 2 * (size_t) ring->n_segments + (size_t) from->sent++];
    if (builder != NULL) {
        builder->sends[builder->n_sends++] =
            clv_send_of(round, from->rank, to->rank, parcel.segment,
                        parcel.hop < ring->n_ranks - 1 ? CLV_MOVE : CLV_COPY);
    }
    if (++parcel.hop < 2 * (ring->n_ranks - 1)) {
        give(ring, next, parcel);
    }
    return true;
}

static int32_t next_arrival(const ring_t *ring, int32_t round)
{
    int32_t next = INT32_MAX;
    for (int32_t i = 0; i < ring->n_ranks; i++) {
        const int32_t arrived = ring->seats[i].arrived;
        next = arrived > round && arrived < next ? arrived : next;
    }
    return next;
}

static void begin(const ring_t *ring)
{
    for (int32_t i = 0; i < ring->n_ranks; i++) {
        ring->seats[i].sent = ring->seats[i].got = 0;
    }
    for (int32_t s = 0; s < ring->n_segments; s++) {
        give(ring, (ring->owner[s] + 1) % ring->n_ranks, (parcel_t){s, 0});
    }
}

/* Makes all sends with the present owners; returns the number of rounds. builder NULL: only
 * counts. */
static int32_t replay(const ring_t *ring, clv_builder_t *builder)
{
    int64_t left = 2 * (int64_t) (ring->n_ranks - 1) * ring->n_segments;
    int32_t round = 0;

    begin(ring);
    while (left > 0) {
        int32_t n_sent = 0;
        for (int32_t i = 0; i < ring->n_ranks; i++) {
            ring->seats[i].ready = ring->seats[i].got;
        }
        for (int32_t i = 0; i < ring->n_ranks; i++) {
            n_sent += hand_on(ring, i, round, builder);
        }
        left -= n_sent;
        round = n_sent > 0 ? round + 1 : next_arrival(ring, round);
    }
    return round;
}

/* Sets the owners of the best cut. */
static void find_cut(const ring_t *ring)
{
    const int32_t last = ring->seats[ring->latest[0]].arrived;
    const int64_t n_cells = (int64_t) ring->n_ranks * ring->n_segments;
    const int32_t n_cuts = n_cells < MANY_CELLS ? N_CUTS : N_FEW;
    const cut_t *best = NULL;
    int64_t least;

    own_evenly(ring);
    least = replay(ring, NULL) - last;
    for (int32_t i = 0; i < n_cuts; i++) {
        int64_t after;
        if (cuts[i].late >= ring->n_ranks) {
            continue;
        }
        own_by_share(ring, &cuts[i]);
        after = replay(ring, NULL) - last;
        if (after * 1000 < least * GAIN) {
            least = after;
            best = &cuts[i];
        }
    }
    own_evenly(ring);
    if (best != NULL) {
        own_by_share(ring, best);
    }
}

static void choose_cut(const clv_instance_t *instance, const ring_t *ring)
{
    if (instance->is_far_late) {
        own_by_share(ring, &cuts[0]);
    } else {
        find_cut(ring);
    }
}

/* ---- the plans ------------------------------------------------------------------------------- */

static clv_status_t allocate(const clv_instance_t *instance, ring_t *ring, clv_builder_t *builder)
{
    const size_t n_ranks = (size_t) instance->n_ranks, n_segments = (size_t) instance->n_segments;

    *ring = (ring_t){.n_ranks = instance->n_ranks,
                     .n_segments = instance->n_segments,
                     .seats = clv_alloc(n_ranks, sizeof *ring->seats),
                     .latest = clv_alloc(n_ranks, sizeof *ring->latest),
                     .owner = clv_alloc(n_segments, sizeof *ring->owner),
                     .debt = clv_alloc(n_ranks, sizeof *ring->debt),
                     .parcels = clv_alloc_unset(n_ranks, 2 * n_segments * sizeof *ring->parcels)};
    if (ring->seats == NULL || ring->latest == NULL || ring->owner == NULL || ring->debt == NULL ||
        ring->parcels == NULL) {
        return CLV_NO_MEMORY;
    }
    return clv_builder_reserve(builder, 2 * (int64_t) (n_ranks - 1) * (int64_t) n_segments + 1);
}

static clv_status_t generate(const clv_instance_t *instance, bool cuts_it, clv_plan_t **plan_p)
{
    clv_builder_t builder = {0};
    ring_t ring;
    clv_status_t status = allocate(instance, &ring, &builder);

    if (status == CLV_OK) {
        take_seats(instance, &ring);
        own_evenly(&ring);
        if (cuts_it) {
            choose_cut(instance, &ring);
        }
        (void) replay(&ring, &builder);
        status = clv_builder_finish(&builder, instance, plan_p);
    }
    clv_builder_drop(&builder);
    clv_free(ring.parcels);
    clv_free(ring.debt);
    clv_free(ring.owner);
    clv_free(ring.latest);
    clv_free(ring.seats);
    return status;
}

clv_status_t clv_sched_plain_ring_generate(const clv_instance_t *instance, clv_plan_t **plan_p)
{
    return generate(instance, false, plan_p);
}

clv_status_t clv_sched_cut_ring_generate(const clv_instance_t *instance, clv_plan_t **plan_p)
{
    return generate(instance, true, plan_p);
}
