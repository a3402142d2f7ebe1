/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Seats, windows and idle rounds (see sched_front.h).
 */
#include "schedule/generators/sched_front.h"

#include <stdlib.h>

#include "schedule/sched_instance.h"
#include "util/util_alloc.h"
#include "util/util_min_max.h"

/* One rank while the seats are sorted. */
typedef struct guest {
    int64_t phase_ns;
    int64_t lead_ns;
    int64_t arrival_ns;
    int32_t rank;
    int32_t seat;
} guest_t;

static int compare_phase(const void *a, const void *b)
{
    const guest_t *x = a, *y = b;
    int order = clv_compare(x->phase_ns, y->phase_ns);
    order = order != 0 ? order : clv_compare(x->lead_ns, y->lead_ns);
    return order != 0 ? order : clv_compare(x->rank, y->rank);
}

static int compare_arrival(const void *a, const void *b)
{
    const guest_t *x = a, *y = b;
    const int order = clv_compare(x->arrival_ns, y->arrival_ns);
    return order != 0 ? order : clv_compare(x->seat, y->seat);
}

static void seat_guests(clv_front_t *front, guest_t *guests)
{
    for (int32_t k = 0; k < front->n_ranks; k++) {
        guest_t *guest = &guests[k];
        guest->seat = k;
        front->rank_at[k] = guest->rank;
        front->seat_of[guest->rank] = k;
        front->phase_ns[k] = guest->phase_ns;
        front->arrival_ns[k] = guest->arrival_ns;
        front->tie_first[k] =
            k > 0 && guests[k - 1].phase_ns == guest->phase_ns ? front->tie_first[k - 1] : k;
    }
}

static void sort_guests(clv_front_t *front, const clv_instance_t *instance, guest_t *guests)
{
    int64_t first_ns = clv_sched_first_ns(instance);
    for (int32_t p = 0; p < front->n_ranks; p++) {
        int64_t arrival_ns = instance->arrival_ns[p] - first_ns;
        guests[p] = (guest_t){arrival_ns % front->round_ns, clv_sched_lead_ns(instance, p),
                              arrival_ns, p, 0};
    }
    qsort(guests, (size_t) front->n_ranks, sizeof *guests, compare_phase);
    seat_guests(front, guests);
    qsort(guests, (size_t) front->n_ranks, sizeof *guests, compare_arrival);
    for (int32_t k = 0; k < front->n_ranks; k++) {
        front->arrived[k] = guests[k].seat;
    }
}

/* One block: two int64, four int32 and one bit per rank. */
static clv_status_t carve(clv_front_t *front)
{
    size_t n_ranks = (size_t) front->n_ranks;
    size_t n_bytes = n_ranks * (2 * sizeof(int64_t) + 4 * sizeof(int32_t)) +
                     (size_t) front->n_words * sizeof(uint64_t);
    front->memory = clv_alloc(n_bytes, 1);
    if (front->memory == NULL) {
        return CLV_NO_MEMORY;
    }
    front->members = front->memory;
    front->phase_ns = (int64_t *) (front->members + front->n_words);
    front->arrival_ns = front->phase_ns + n_ranks;
    front->arrived = (int32_t *) (front->arrival_ns + n_ranks);
    front->rank_at = front->arrived + n_ranks;
    front->seat_of = front->rank_at + n_ranks;
    front->tie_first = front->seat_of + n_ranks;
    return CLV_OK;
}

clv_status_t clv_front_init(clv_front_t *front, const clv_instance_t *instance)
{
    *front = (clv_front_t){.n_ranks = instance->n_ranks,
                           .n_words = (instance->n_ranks + 63) / 64,
                           .round_ns = clv_sched_effective_round_ns(instance),
                           .round_limit = clv_sched_round_limit(instance),
                           .n_unfinished = instance->n_ranks};
    guest_t *guests = clv_alloc((size_t) front->n_ranks, sizeof *guests);
    if (guests == NULL) {
        return CLV_NO_MEMORY;
    }
    clv_status_t status = carve(front);
    if (status == CLV_OK) {
        sort_guests(front, instance, guests);
    }
    clv_free(guests);
    return status;
}

void clv_front_drop(clv_front_t *front)
{
    clv_free(front->memory);
    front->memory = NULL;
}

static int64_t next_arrival_ns(const clv_front_t *front)
{
    return front->n_arrived < front->n_ranks ? front->arrival_ns[front->arrived[front->n_arrived]]
                                             : INT64_MAX;
}

/* The window starts at the earliest availability: the first member's, or a new arrival's. */
static void move_window(clv_front_t *front)
{
    int32_t first = front->n_members > 0 ? clv_bits_next_circular(front->members, front->n_words,
                                                                  front->tie_first[front->head])
                                         : -1;
    int64_t member_ns = INT64_MAX;
    if (first >= 0) {
        int64_t behind_ns = front->phase_ns[first] - front->phase_ns[front->head];
        member_ns = front->start_ns + (behind_ns < 0 ? behind_ns + front->round_ns : behind_ns);
    }
    if (next_arrival_ns(front) < member_ns) {
        first = front->arrived[front->n_arrived];
        member_ns = front->arrival_ns[first];
    }
    front->start_ns = member_ns;
    front->head = first;
}

static void admit(clv_front_t *front)
{
    while (next_arrival_ns(front) < front->start_ns + front->round_ns) {
        int32_t seat = front->arrived[front->n_arrived++];
        front->members[seat / 64] |= UINT64_C(1) << (seat % 64);
        front->n_members++;
        front->n_joined++;
    }
    /* Someone available at the same time may sit before the seat that set the window. */
    front->head =
        clv_bits_next_circular(front->members, front->n_words, front->tie_first[front->head]);
}

clv_status_t clv_front_next(clv_front_t *front)
{
    front->n_joined = 0;
    while (front->n_unfinished > 1) {
        move_window(front);
        admit(front);
        if (front->round > front->round_limit) {
            return CLV_OVERFLOW;
        }
        if (front->n_members > 1) {
            return CLV_OK;
        }
        int64_t n_idle = (next_arrival_ns(front) - front->start_ns) / front->round_ns;
        front->round += n_idle;
        front->start_ns += n_idle * front->round_ns;
    }
    return CLV_NONE;
}

void clv_front_end_round(clv_front_t *front)
{
    front->round++;
    front->start_ns += front->round_ns;
}

void clv_front_leave(clv_front_t *front, int32_t seat)
{
    front->members[seat / 64] &= ~(UINT64_C(1) << (seat % 64));
    front->n_members--;
    front->n_unfinished--;
}
