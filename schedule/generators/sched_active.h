/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Private to schedule/: which ranks take part in each round, without touching all ranks each round.
 *
 * Two facts make it cheap. A rank inside the window stays inside until it is finished, so the set
 * of members changes only by joins and leaves. And all members become available d later together,
 * so the order by availability is a circle, sorted once by arrival modulo d: only its head moves.
 *
 *        seats by (arrival mod d, lead, rank):   0 1 2 3 4 5 6 7
 *        members x, head h:                      x . x h . x x .     order h 5 6 0 2
 *
 * Time of the first arrival is 0. Cost: O(ranks log ranks) once, O(joins) per round and the words
 * of a bit set between head and next member. 37 bytes per rank.
 */
#ifndef CLV_SCHED_ACTIVE_H
#define CLV_SCHED_ACTIVE_H

#include "schedule/schedule.h"

typedef struct clv_active {
    int32_t n_ranks;
    int32_t n_words;  /* of a bit set over seats */
    int64_t round_ns; /* effective */
    int64_t round;    /* the current one */
    int64_t round_limit;
    int64_t start_ns; /* start of this round's window: availability of head */
    int32_t head;     /* seat of the first member */
    int32_t n_members;
    int32_t n_unfinished; /* members, and ranks still to arrive */
    int32_t n_arrived;
    int32_t n_joined;    /* those from [n_arrived - n_joined] on joined in the current round */
    int32_t *arrived;    /* seats in order of arrival */
    int32_t *rank_at;    /* seat -> rank */
    int32_t *seat_of;    /* rank -> seat */
    int32_t *tie_first;  /* seat -> first seat with the same phase */
    int64_t *phase_ns;   /* seat -> arrival mod d */
    int64_t *arrival_ns; /* seat -> arrival */
    uint64_t *members;   /* bit set over seats */
    void *memory;
} clv_active_t;

clv_status_t clv_active_init(clv_active_t *active, const clv_instance_t *instance) CLV_MUST_CHECK;
void clv_active_drop(clv_active_t *active);

/* Forms the group of the next round in which at least two ranks take part; skips idle rounds.
 * CLV_OK, CLV_NONE if at most one rank is unfinished, CLV_OVERFLOW. */
clv_status_t clv_active_next(clv_active_t *active) CLV_MUST_CHECK;

/* The current round is over: its members become available one round length later. */
void clv_active_end_round(clv_active_t *active);

/* The member holds nothing any more. Call between clv_active_end_round and clv_active_next. */
void clv_active_leave(clv_active_t *active, int32_t seat);

/* The first set bit at or after `from` on the circle, or -1. Bits beyond the set are zero. */
static inline int32_t clv_bits_next_circular(const uint64_t *bits, int32_t n_words, int32_t from)
{
    int32_t first = from / 64;
    uint64_t word = bits[first] & (~UINT64_C(0) << (from % 64));
    for (int32_t w = first;;) {
        if (word != 0) {
            return w * 64 + __builtin_ctzll(word);
        }
        if (++w == n_words) {
            break;
        }
        word = bits[w];
    }
    for (int32_t w = 0; w <= first; w++) {
        if (bits[w] != 0) {
            return w * 64 + __builtin_ctzll(bits[w]);
        }
    }
    return -1;
}

#endif
