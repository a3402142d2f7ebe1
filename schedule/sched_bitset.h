/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Private to schedule/: the state of one run of the dual bit set generator, shared by the file
 * that sets it up (sched_bitset.c) and the round that is compiled per SIMD level
 * (sched_bitset_round.inc).
 *
 * A rank's turn is its place in the processing order, and its bit in a column.
 */
#ifndef CLV_SCHED_BITSET_H
#define CLV_SCHED_BITSET_H

#include "schedule/schedule.h"

/* A segment received in the current round by a rank that may still send in it. */
typedef struct clv_bitset_gift {
    int32_t receiver; /* turn */
    int32_t segment;
} clv_bitset_gift_t;

typedef struct clv_bitset_round {
    int32_t row_words;
    int32_t column_words;
    uint64_t *rows;           /* H: turn -> the segments it holds */
    uint64_t *columns;        /* R: segment -> the members that hold it, by turn */
    uint64_t *row_summary;    /* turn -> non-empty words of its row */
    uint64_t *column_summary; /* segment -> non-empty words of its column */
    uint64_t *free;           /* members that may still send in this round */
    uint64_t free_summary;
    const uint64_t *all; /* every segment */
    uint64_t *live;      /* segments not known to be without a free holder in this round */
    uint64_t live_summary;
    const int32_t *rank_at; /* turn -> rank */
    clv_send_t *send;       /* where the next send goes */
    clv_bitset_gift_t *gifts;
    int32_t *emptied; /* turns that sent their last segment; a gift may refill them */
    int32_t n_gifts;
    int32_t n_emptied;
    int32_t n_free;
    int32_t head; /* the turn that is processed first, the sink apart */
    int32_t round;
} clv_bitset_round_t;

/* The rank holds the segment. */
static inline __attribute__((always_inline)) void
clv_bitset_keep(clv_bitset_round_t *at, int32_t turn, int32_t segment, int one_word)
{
    int32_t w = one_word ? 0 : segment / 64, t = one_word ? 0 : turn / 64;
    size_t row = one_word ? (size_t) turn : (size_t) turn * (size_t) at->row_words + (size_t) w;
    size_t column =
        one_word ? (size_t) segment : (size_t) segment * (size_t) at->column_words + (size_t) t;

    at->rows[row] |= UINT64_C(1) << (segment % 64);
    at->columns[column] |= UINT64_C(1) << (turn % 64);
    if (!one_word) {
        at->row_summary[turn] |= UINT64_C(1) << w;
        at->column_summary[segment] |= UINT64_C(1) << t;
    }
}

#endif
