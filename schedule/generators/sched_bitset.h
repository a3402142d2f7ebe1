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

#include <stdbool.h>

#include "schedule/schedule.h"

/* A segment received in the current round by a rank that may still send in it. */
typedef struct clv_bitset_gift {
    uint32_t receiver; /* turn */
    uint32_t segment;
} clv_bitset_gift_t;

/* Sets per count of members: its binary digits and one more (see sched_bitset_counts.inc). */
enum { CLV_BITSET_DIGITS = 14 };
_Static_assert(CLV_SCHED_MAX_RANKS < 1 << (CLV_BITSET_DIGITS - 1), "room for all ranks");

/* See sched_bitset_counts.inc. */
typedef struct clv_bitset_counts {
    bool are_known;         /* holders is valid, from the round before */
    int32_t n_joined;       /* of those free at the start of the round, how many joined in it */
    uint32_t n_digits;      /* a count may have in this round */
    uint32_t n_discounts;   /* since the purses were last filled */
    uint64_t *holders;      /* counts */
    uint64_t *free_holders; /* counts */
    uint64_t *some;         /* segments with a free holder */
    uint64_t *several;      /* segments with more than one */
    const uint64_t *nothing;
} clv_bitset_counts_t;

typedef struct clv_bitset_round {
    uint32_t row_words;
    uint32_t column_words;
    uint64_t *rows;         /* H: turn -> the segments it holds */
    uint64_t *columns;      /* R: segment -> the members that hold it, by turn */
    uint64_t *free;         /* members that may still send in this round */
    const uint64_t *all;    /* every segment */
    uint64_t *sink_wants;   /* segments that another rank than the sink may hold */
    uint64_t *live;         /* probing: segments that may still have a free holder */
    const int32_t *rank_at; /* turn -> rank */
    clv_send_t *send;       /* place of the next send */
    clv_bitset_gift_t *gifts;
    int32_t *n_held;  /* turn -> number of segments, gifts included */
    int32_t *emptied; /* turns that sent their last segment; a gift may refill them */
    int32_t n_gifts;
    int32_t n_emptied;
    int32_t n_free;
    uint32_t first_word; /* word of `free` at which the circle from head on begins now */
    uint64_t first_mask; /* its bits on this part of the circle */
    uint32_t head;       /* first turn to be processed, after the sink */
    int32_t round;
    uint32_t lowest;  /* segment sent in this round */
    uint32_t highest; /* segment sent in this round */
    bool counting;    /* the round is played by counting */
    int sink_sends;   /* the sink was free at the start of the round */
    clv_bitset_counts_t *counts;
} clv_bitset_round_t;

#endif
