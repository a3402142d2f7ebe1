/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Seats, windows and idle rounds (see sched_active.h).
 */
#include "schedule/generators/sched_active.h"

#include <stdlib.h>

#include "schedule/sched_instance.h"
#include "util/util_alloc.h"
#include "util/util_min_max.h"

/* A rank while seats are sorted. */
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

static void seat_guests(clv_active_t *active, guest_t *guests)
{
    for (int32_t k = 0; k < active->n_ranks; k++) {
        guest_t *guest = &guests[k];
        guest->seat = k;
        active->rank_at[k] = guest->rank;
        active->seat_of[guest->rank] = k;
        active->phase_ns[k] = guest->phase_ns;
        active->arrival_ns[k] = guest->arrival_ns;
        active->tie_first[k] =
            k > 0 && guests[k - 1].phase_ns == guest->phase_ns ? active->tie_first[k - 1] : k;
    }
}

static void sort_guests(clv_active_t *active, const clv_instance_t *instance, guest_t *guests)
{
    int64_t first_ns = clv_sched_first_ns(instance);
    for (int32_t p = 0; p < active->n_ranks; p++) {
        int64_t arrival_ns = instance->arrival_ns[p] - first_ns;
        guests[p] = (guest_t){arrival_ns % active->round_ns, clv_sched_lead_ns(instance, p),
                              arrival_ns, p, 0};
    }
    qsort(guests, (size_t) active->n_ranks, sizeof *guests, compare_phase);
    seat_guests(active, guests);
    qsort(guests, (size_t) active->n_ranks, sizeof *guests, compare_arrival);
    for (int32_t k = 0; k < active->n_ranks; k++) {
        active->arrived[k] = guests[k].seat;
    }
}

/* One block of memory: two int64, four int32 and one bit per rank. */
static clv_status_t carve(clv_active_t *active)
{
    size_t n_ranks = (size_t) active->n_ranks;
    size_t n_bytes = n_ranks * (2 * sizeof(int64_t) + 4 * sizeof(int32_t)) +
                     (size_t) active->n_words * sizeof(uint64_t);
    active->memory = clv_alloc(n_bytes, 1);
    if (active->memory == NULL) {
        return CLV_NO_MEMORY;
    }
    active->members = active->memory;
    active->phase_ns = (int64_t *) (active->members + active->n_words);
    active->arrival_ns = active->phase_ns + n_ranks;
    active->arrived = (int32_t *) (active->arrival_ns + n_ranks);
    active->rank_at = active->arrived + n_ranks;
    active->seat_of = active->rank_at + n_ranks;
    active->tie_first = active->seat_of + n_ranks;
    return CLV_OK;
}

clv_status_t clv_active_init(clv_active_t *active, const clv_instance_t *instance)
{
    *active = (clv_active_t){.n_ranks = instance->n_ranks,
                             .n_words = (instance->n_ranks + 63) / 64,
                             .round_ns = clv_sched_effective_round_ns(instance),
                             .round_limit = clv_sched_round_limit(instance),
                             .n_unfinished = instance->n_ranks};
    guest_t *guests = clv_alloc((size_t) active->n_ranks, sizeof *guests);
    if (guests == NULL) {
        return CLV_NO_MEMORY;
    }
    clv_status_t status = carve(active);
    if (status == CLV_OK) {
        sort_guests(active, instance, guests);
    }
    clv_free(guests);
    return status;
}

void clv_active_drop(clv_active_t *active)
{
    clv_free(active->memory);
    active->memory = NULL;
}

static int64_t next_arrival_ns(const clv_active_t *active)
{
    return active->n_arrived < active->n_ranks
               ? active->arrival_ns[active->arrived[active->n_arrived]]
               : INT64_MAX;
}

/* The window starts at the earliest availability: that of the first member or of a new arrival. */
static void move_window(clv_active_t *active)
{
    int32_t first = active->n_members > 0 ? clv_bits_next_circular(active->members, active->n_words,
                                                                   active->tie_first[active->head])
                                          : -1;
    int64_t member_ns = INT64_MAX;
    if (first >= 0) {
        int64_t behind_ns = active->phase_ns[first] - active->phase_ns[active->head];
        member_ns = active->start_ns + (behind_ns < 0 ? behind_ns + active->round_ns : behind_ns);
    }
    if (next_arrival_ns(active) < member_ns) {
        first = active->arrived[active->n_arrived];
        member_ns = active->arrival_ns[first];
    }
    active->start_ns = member_ns;
    active->head = first;
}

static void admit(clv_active_t *active)
{
    while (next_arrival_ns(active) < active->start_ns + active->round_ns) {
        int32_t seat = active->arrived[active->n_arrived++];
        active->members[seat / 64] |= UINT64_C(1) << (seat % 64);
        active->n_members++;
        active->n_joined++;
    }
    /* A member available at the same time may have a seat before this one. */
    active->head =
        clv_bits_next_circular(active->members, active->n_words, active->tie_first[active->head]);
}

clv_status_t clv_active_next(clv_active_t *active)
{
    active->n_joined = 0;
    while (active->n_unfinished > 1) {
        move_window(active);
        admit(active);
        if (active->round > active->round_limit) {
            return CLV_OVERFLOW;
        }
        if (active->n_members > 1) {
            return CLV_OK;
        }
        int64_t n_idle = (next_arrival_ns(active) - active->start_ns) / active->round_ns;
        active->round += n_idle;
        active->start_ns += n_idle * active->round_ns;
    }
    return CLV_NONE;
}

void clv_active_end_round(clv_active_t *active)
{
    active->round++;
    active->start_ns += active->round_ns;
}

void clv_active_leave(clv_active_t *active, int32_t seat)
{
    active->members[seat / 64] &= ~(UINT64_C(1) << (seat % 64));
    active->n_members--;
    active->n_unfinished--;
}
