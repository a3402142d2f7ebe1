/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The schedules of sched_clairvoyant.c from two bit matrices: the default generators.
 *
 *   rows     H: for each rank the segments it holds         (find the lowest segment)
 *   columns  R: for each segment the members that hold it   (find the first peer)
 *
 * Bits of a column are in processing order: for Clairvoyant the seats of the active set, a circle
 * read from its head; for latest-first a line, latest arrival first. A send is two searches for the
 * first common bit: the receiver's row against the segments that may have a free holder in this
 * round, then that segment's column against the members free to send. The generator finds those
 * segments by trying, or by counting holders, whichever the last round made look cheaper.
 *
 * Memory: 2 bits per (rank, segment), both sides rounded up to 512 when there are more than 64 of
 * either, tables of 65 bytes per rank and 5 bytes per segment, and the plan.
 * Time: a few vector instructions per send and per failed search, see docs/design/schedule.md.
 */
#include <stdlib.h>
#include <string.h>

#include "schedule/generators/sched_bitset.h"
#include "schedule/generators/sched_active.h"
#include "schedule/sched_generators.h"
#include "schedule/sched_instance.h"
#include "schedule/sched_plan.h"
#include "schedule/generators/sched_simd.h"
#include "util/util_alloc.h"
#include "util/util_min_max.h"

/* A bit that no set has. */
#define NO_BIT UINT32_MAX

/* Counting: the binary digit used as the purse, worth 16; two must stay in it, and a send takes up
 * to two. */
enum { PURSE = 4, DISCOUNTS_PER_REFILL = 7 };

#define ROUND_NAME(stem) stem##_plain
#define ROUND_TARGET
#define ROUND_LEVEL 0
#include "schedule/generators/sched_bitset_round.inc"

#if CLV_SIMD_X86
#include <immintrin.h>

#define ROUND_NAME(stem) stem##_avx2
#define ROUND_TARGET     __attribute__((target("avx2,bmi,bmi2")))
#define ROUND_LEVEL      1
#include "schedule/generators/sched_bitset_round.inc"

#define ROUND_NAME(stem) stem##_avx512
#define ROUND_TARGET     __attribute__((target("avx512f,avx512vl,avx2,bmi,bmi2")))
#define ROUND_LEVEL      2
#include "schedule/generators/sched_bitset_round.inc"
#endif

typedef void (*play_round_t)(clv_bitset_round_t *round, const uint64_t *members, int32_t sink);

static const play_round_t play_round[CLV_N_SIMD] = {
    [CLV_SIMD_PLAIN] = play_round_plain,
#if CLV_SIMD_X86
    [CLV_SIMD_AVX2] = play_round_avx2,
    [CLV_SIMD_AVX512] = play_round_avx512,
#endif
};

enum { BLOCK_WORDS = 8 };

typedef struct rule {
    bool latest_first;
    bool root_never_sends;
} rule_t;

typedef struct bitset {
    const clv_instance_t *instance;
    rule_t rule;
    clv_active_t active;
    clv_builder_t builder;
    clv_bitset_round_t at;
    clv_bitset_counts_t counts;
    uint64_t *members; /* by turn */
    uint64_t *joined;  /* members new in this round */
    uint64_t *all;
    int32_t *rank_at; /* turn -> rank */
    int32_t *seat_at; /* turn -> seat of the active set */
    int32_t *turn_at; /* seat -> turn */
    int32_t root;     /* turn of the root */
    int32_t first;    /* turn of the rank that arrives first */
    int32_t sink;     /* turn of the receiver served first in the last round */
    void *memory;
} bitset_t;

/* One word, or a multiple of the vector length. */
static uint32_t set_words(int32_t n_bits, bool one_word)
{
    return one_word ? 1 : ((uint32_t) n_bits + 511) / 512 * 8;
}

static void set_bit(uint64_t *set, int32_t bit)
{
    set[bit / 64] |= UINT64_C(1) << (bit % 64);
}

static void clear_bit(uint64_t *set, int32_t bit)
{
    set[bit / 64] &= ~(UINT64_C(1) << (bit % 64));
}

static bool has_bit(const uint64_t *set, int32_t bit)
{
    return set[bit / 64] >> (bit % 64) & 1;
}

/* ---- memory ------------------------------------------------------------------------------- */

static uint64_t *take_words(uint64_t **next, size_t n_words)
{
    uint64_t *words = *next;
    *next += n_words;
    return words;
}

static int32_t *take_ints(int32_t **next, size_t n_ints)
{
    int32_t *ints = *next;
    *next += n_ints;
    return ints;
}

static uint64_t *align_to_block(void *memory)
{
    uintptr_t address = (uintptr_t) memory;
    size_t block = BLOCK_WORDS * sizeof(uint64_t);
    return (uint64_t *) (address + (block - address % block) % block);
}

/* One block of memory: 2 bits per cell for the matrices, then sets and tables. */
static clv_status_t carve(bitset_t *bitset)
{
    clv_bitset_round_t *at = &bitset->at;
    clv_bitset_counts_t *counts = &bitset->counts;
    size_t n_ranks = (size_t) bitset->instance->n_ranks;
    size_t n_segments = (size_t) bitset->instance->n_segments;
    size_t row = (size_t) at->row_words, column = (size_t) at->column_words;
    size_t count_words = row * CLV_BITSET_DIGITS;
    size_t n_words = n_ranks * row + n_segments * column + 3 * column + 6 * row + 2 * count_words;

    bitset->memory = clv_alloc(n_words * sizeof(uint64_t) + 7 * n_ranks * sizeof(int32_t) +
                                   BLOCK_WORDS * sizeof(uint64_t),
                               1);
    if (bitset->memory == NULL) {
        return CLV_NO_MEMORY;
    }
    uint64_t *words = align_to_block(bitset->memory);
    at->counts = counts;
    counts->holders = take_words(&words, count_words);
    counts->free_holders = take_words(&words, count_words);
    counts->some = take_words(&words, row);
    counts->several = take_words(&words, row);
    at->rows = take_words(&words, n_ranks * row);
    at->columns = take_words(&words, n_segments * column);
    at->free = take_words(&words, column);
    at->live = take_words(&words, row);
    at->sink_wants = take_words(&words, row);
    counts->nothing = take_words(&words, row);
    bitset->all = take_words(&words, row);
    bitset->members = take_words(&words, column);
    bitset->joined = take_words(&words, column);
    int32_t *ints = (int32_t *) words;
    at->gifts = (clv_bitset_gift_t *) take_ints(&ints, 2 * n_ranks);
    at->emptied = take_ints(&ints, n_ranks);
    at->n_held = take_ints(&ints, n_ranks);
    bitset->rank_at = take_ints(&ints, n_ranks);
    bitset->seat_at = take_ints(&ints, n_ranks);
    bitset->turn_at = take_ints(&ints, n_ranks);
    at->all = bitset->all;
    at->rank_at = bitset->rank_at;
    return CLV_OK;
}

static clv_status_t allocate(bitset_t *bitset)
{
    const clv_instance_t *instance = bitset->instance;
    bool one_word = instance->n_ranks <= 64 && instance->n_segments <= 64;
    bitset->at.row_words = set_words(instance->n_segments, one_word);
    bitset->at.column_words = set_words(instance->n_ranks, one_word);
    clv_status_t status = clv_active_init(&bitset->active, bitset->instance);
    if (status == CLV_OK) {
        status = clv_builder_init(&bitset->builder, bitset->instance);
    }
    return status == CLV_OK ? carve(bitset) : status;
}

static void release(bitset_t *bitset)
{
    clv_free(bitset->memory);
    clv_builder_drop(&bitset->builder);
    clv_active_drop(&bitset->active);
}

/* ---- start -------------------------------------------------------------------------------- */

typedef struct candidate {
    int64_t order_ns;
    int32_t rank;
} candidate_t;

static int compare_latest_first(const void *a, const void *b)
{
    const candidate_t *x = a, *y = b;
    const int order = clv_compare(y->order_ns, x->order_ns);
    return order != 0 ? order : clv_compare(x->rank, y->rank);
}

static clv_status_t line_up_latest_first(bitset_t *bitset)
{
    const clv_instance_t *instance = bitset->instance;
    candidate_t *line = clv_alloc((size_t) instance->n_ranks, sizeof *line);
    if (line == NULL) {
        return CLV_NO_MEMORY;
    }
    for (int32_t p = 0; p < instance->n_ranks; p++) {
        line[p] = (candidate_t){clv_sched_order_ns(instance, p), p};
    }
    qsort(line, (size_t) instance->n_ranks, sizeof *line, compare_latest_first);
    for (int32_t turn = 0; turn < instance->n_ranks; turn++) {
        bitset->seat_at[turn] = bitset->active.seat_of[line[turn].rank];
    }
    clv_free(line);
    return CLV_OK;
}

/* Clairvoyant takes turns in the order of seats. */
static void line_up_by_seat(bitset_t *bitset)
{
    for (int32_t turn = 0; turn < bitset->instance->n_ranks; turn++) {
        bitset->seat_at[turn] = turn;
    }
}

static void assign_turns(bitset_t *bitset)
{
    const clv_instance_t *instance = bitset->instance;
    const clv_active_t *active = &bitset->active;

    for (int32_t turn = 0; turn < instance->n_ranks; turn++) {
        bitset->turn_at[bitset->seat_at[turn]] = turn;
        bitset->rank_at[turn] = active->rank_at[bitset->seat_at[turn]];
    }
    bitset->root = bitset->turn_at[active->seat_of[instance->root]];
    bitset->first = bitset->turn_at[active->seat_of[clv_sched_first_rank(instance)]];
}

/* Every rank holds every segment. A column lists its holders only once they have arrived. */
static void fill_rows(bitset_t *bitset)
{
    clv_bitset_round_t *at = &bitset->at;
    size_t row_words = (size_t) at->row_words;

    for (int32_t s = 0; s < bitset->instance->n_segments; s++) {
        set_bit(bitset->all, s);
    }
    for (size_t turn = 0; turn < (size_t) bitset->instance->n_ranks; turn++) {
        memcpy(at->rows + turn * row_words, bitset->all, row_words * sizeof *at->rows);
        at->n_held[turn] = bitset->instance->n_segments;
    }
}

/* ---- rounds ------------------------------------------------------------------------------- */

static void admit(bitset_t *bitset)
{
    clv_bitset_round_t *at = &bitset->at;
    size_t n_words = (size_t) at->column_words;
    const clv_active_t *active = &bitset->active;

    memset(bitset->joined, 0, n_words * sizeof *bitset->joined);
    for (int32_t k = active->n_arrived - active->n_joined; k < active->n_arrived; k++) {
        set_bit(bitset->joined, bitset->turn_at[active->arrived[k]]);
    }
    for (size_t w = 0; w < n_words; w++) {
        uint64_t joined = bitset->joined[w];
        bitset->members[w] |= joined;
        for (size_t s = 0; joined != 0 && s < (size_t) bitset->instance->n_segments; s++) {
            at->columns[s * n_words + w] |= joined;
        }
    }
}

/* The root, once it is a member; before that the head, or in latest-first the rank that arrived
 * first. */
static int32_t choose_sink(const bitset_t *bitset)
{
    if (has_bit(bitset->members, bitset->root)) {
        return bitset->root;
    }
    return bitset->rule.latest_first ? bitset->first : bitset->active.head;
}

/* The sink wants all segments, until serve_sink narrows that. */
static void prepare_sink(bitset_t *bitset)
{
    const clv_bitset_round_t *at = &bitset->at;
    int32_t sink = choose_sink(bitset);

    if (bitset->active.n_joined > 0 || sink != bitset->sink) {
        memcpy(at->sink_wants, at->all, at->row_words * sizeof *at->all);
    }
    bitset->sink = sink;
}

/* The members that may send: all, except a root that never sends. */
static void free_members(bitset_t *bitset)
{
    clv_bitset_round_t *at = &bitset->at;
    int32_t n_joined = bitset->active.n_joined;

    memcpy(at->free, bitset->members, (size_t) at->column_words * sizeof *at->free);
    at->n_free = bitset->active.n_members;
    if (bitset->rule.root_never_sends && has_bit(at->free, bitset->root)) {
        clear_bit(at->free, bitset->root);
        at->n_free--;
        n_joined -= n_joined > 0 && has_bit(bitset->joined, bitset->root);
    }
    at->counts->n_joined = n_joined;
    at->counts->n_digits = 32 - (uint32_t) __builtin_clz((uint32_t) at->n_free);
}

static void open_round(bitset_t *bitset)
{
    clv_bitset_round_t *at = &bitset->at;

    if (bitset->active.n_joined > 0) {
        admit(bitset);
    }
    prepare_sink(bitset);
    free_members(bitset);
    memcpy(at->live, bitset->all, (size_t) at->row_words * sizeof *at->live);
    at->n_gifts = 0;
    at->n_emptied = 0;
    at->lowest = UINT32_MAX;
    at->highest = 0;
    at->head = bitset->rule.latest_first ? 0 : (uint32_t) bitset->active.head;
    at->round = (int32_t) bitset->active.round;
    at->send = bitset->builder.sends + bitset->builder.n_sends;
}

/* The next round is likely to be like this one. If the segments sent span more than there are
 * sends, many segments between had no free holder: then counting is cheaper than probing. With a
 * single word, probing is always cheaper. */
static void choose_way(bitset_t *bitset, int32_t n_sends)
{
    clv_bitset_round_t *at = &bitset->at;

    if (n_sends > 0) {
        bool counting = at->row_words > 1 && at->highest - at->lowest >= (uint32_t) n_sends;
        at->counts->are_known = at->counting;
        at->counting = counting;
    }
}

static void close_round(bitset_t *bitset)
{
    const clv_bitset_round_t *at = &bitset->at;
    int64_t n_sends = at->send - bitset->builder.sends;

    choose_way(bitset, (int32_t) (n_sends - bitset->builder.n_sends));
    bitset->builder.n_sends = n_sends;
    clv_active_end_round(&bitset->active);
    for (int32_t k = 0; k < at->n_emptied; k++) {
        int32_t turn = at->emptied[k];
        if (at->n_held[turn] == 0) {
            clear_bit(bitset->members, turn);
            clv_active_leave(&bitset->active, bitset->seat_at[turn]);
        }
    }
}

static clv_status_t play(bitset_t *bitset)
{
    play_round_t play_one = play_round[clv_simd_level()];
    clv_status_t status;

    while ((status = clv_active_next(&bitset->active)) == CLV_OK) {
        if (clv_builder_reserve(&bitset->builder, bitset->active.n_members) != CLV_OK) {
            return CLV_NO_MEMORY;
        }
        open_round(bitset);
        play_one(&bitset->at, bitset->members, bitset->sink);
        close_round(bitset);
    }
    return status == CLV_NONE ? CLV_OK : status;
}

static clv_status_t prepare(bitset_t *bitset)
{
    clv_status_t status = allocate(bitset);
    if (status != CLV_OK) {
        return status;
    }
    if (bitset->rule.latest_first) {
        status = line_up_latest_first(bitset);
    } else {
        line_up_by_seat(bitset);
    }
    if (status == CLV_OK) {
        assign_turns(bitset);
        fill_rows(bitset);
    }
    return status;
}

static clv_status_t generate(const clv_instance_t *instance, rule_t rule, clv_plan_t **plan_p)
{
    bitset_t bitset = {.instance = instance, .rule = rule};
    clv_status_t status = prepare(&bitset);
    if (status == CLV_OK) {
        status = play(&bitset);
    }
    if (status == CLV_OK) {
        status = clv_builder_finish(&bitset.builder, instance, plan_p);
    }
    release(&bitset);
    return status;
}

clv_status_t clv_sched_bitset_generate(const clv_instance_t *instance, clv_plan_t **plan_p)
{
    return generate(instance, (rule_t){false, false}, plan_p);
}

clv_status_t clv_sched_latest_generate(const clv_instance_t *instance, clv_plan_t **plan_p)
{
    return generate(instance, (rule_t){true, false}, plan_p);
}

clv_status_t clv_sched_latest_rns_generate(const clv_instance_t *instance, clv_plan_t **plan_p)
{
    return generate(instance, (rule_t){true, true}, plan_p);
}
