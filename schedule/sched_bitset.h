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
    uint32_t receiver; /* turn */
    uint32_t segment;
} clv_bitset_gift_t;

typedef struct clv_bitset_round {
    uint32_t row_words;
    uint32_t column_words;
    uint64_t *rows;         /* H: turn -> the segments it holds */
    uint64_t *columns;      /* R: segment -> the members that hold it, by turn */
    uint64_t *free;         /* members that may still send in this round */
    const uint64_t *all;    /* every segment */
    uint64_t *live;         /* segments not known to be without a free holder in this round */
    const int32_t *rank_at; /* turn -> rank */
    clv_send_t *send;       /* where the next send goes */
    clv_bitset_gift_t *gifts;
    int32_t *n_held;  /* turn -> number of segments, gifts included */
    int32_t *emptied; /* turns that sent their last segment; a gift may refill them */
    int32_t n_gifts;
    int32_t n_emptied;
    int32_t n_free;
    uint32_t front;      /* the word of `free` where the circle from head on begins now */
    uint64_t front_mask; /* its bits on this part of the circle */
    uint32_t head;       /* the turn that is processed first, the sink apart */
    int32_t round;
} clv_bitset_round_t;

#endif
