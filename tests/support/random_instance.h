/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random instances for tests and benchmarks: reproducible from a seed, in families that hit the
 * corners of the schedule. Header only. The instance's arrays live in the draw and stay valid
 * until the next draw into it. Not thread-safe on one object.
 */
#ifndef CLV_TESTS_RANDOM_INSTANCE_H
#define CLV_TESTS_RANDOM_INSTANCE_H

#include <stdint.h>

#include "schedule/schedule.h"
#include "util/util_time.h"

/* xorshift64*: 64 random bits per call, any state but 0. */
static inline uint64_t clv_random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/* Uniform in [low, high]. The bias of the remainder is too small for a test to detect. */
static inline int64_t clv_random_between(uint64_t *state, int64_t low, int64_t high)
{
    return low + (int64_t) (clv_random_next(state) % (uint64_t) (high - low + 1));
}

/* The one goal that a generator makes plans for. */
static inline clv_goal_t clv_goal_of(const clv_generator_t *generator)
{
    int goal = 0;
    while ((generator->goals >> goal & 1) == 0) {
        goal++;
    }
    return (clv_goal_t) goal;
}

#define CLV_FAMILY_MAP(XX)                                                                         \
    XX(UNIFORM, "uniform")     /* spread over about one round per rank */                          \
    XX(BALANCED, "balanced")   /* all at the same time */                                          \
    XX(SKEWED, "skewed")       /* all but one at the same time */                                  \
    XX(TIES, "ties")           /* few distinct times */                                            \
    XX(MULTIPLES, "multiples") /* multiples of d: equal phases */                                  \
    XX(ROOT_LATE, "root late") /* the root long after everyone */                                  \
    XX(TINY, "tiny integers")  /* times and d are single digits */                                 \
    XX(WIDE, "wide")           /* long gaps: idle rounds, heads that finish */

typedef enum clv_family {
#define CLV_FAMILY_ENUM(name, text) CLV_FAMILY_##name,
    CLV_FAMILY_MAP(CLV_FAMILY_ENUM)
#undef CLV_FAMILY_ENUM
        CLV_N_FAMILIES
} clv_family_t;

typedef struct clv_draw {
    clv_instance_t instance;
    int64_t arrival_ns[CLV_SCHED_MAX_RANKS];
    int64_t order_ns[CLV_SCHED_MAX_RANKS];
} clv_draw_t;

static inline int64_t clv_draw_arrival(uint64_t *state, clv_family_t family, int32_t rank,
                                       const clv_instance_t *instance)
{
    int64_t d = instance->round_ns;
    switch (family) {
    case CLV_FAMILY_UNIFORM:
        return clv_random_between(state, 0, d * instance->n_ranks);
    case CLV_FAMILY_BALANCED:
        return d / 3;
    case CLV_FAMILY_SKEWED:
        return rank == instance->n_ranks - 1 ? d * instance->n_segments : 0;
    case CLV_FAMILY_TIES:
        return clv_random_between(state, 0, 4) * (d * instance->n_ranks / 7);
    case CLV_FAMILY_MULTIPLES:
        return clv_random_between(state, 0, instance->n_ranks) * d;
    case CLV_FAMILY_ROOT_LATE:
        return rank == instance->root ? d * (instance->n_ranks + 2 * instance->n_segments) + 1
                                      : clv_random_between(state, 0, 2 * d);
    case CLV_FAMILY_TINY:
        return clv_random_between(state, 0, 9);
    default:
        return clv_random_between(state, 0, 20) * d * instance->n_ranks / 4 +
               clv_random_between(state, 0, d - 1);
    }
}

/* n_ranks, n_segments as given; root, d and arrivals at random. */
static inline void clv_draw_instance(clv_draw_t *draw, uint64_t *state, clv_family_t family,
                                     int32_t n_ranks, int32_t n_segments)
{
    clv_instance_t *instance = &draw->instance;
    *instance = (clv_instance_t){.n_ranks = n_ranks,
                                 .n_segments = n_segments,
                                 .root = (int32_t) clv_random_between(state, 0, n_ranks - 1),
                                 .round_ns = family == CLV_FAMILY_TINY
                                                 ? clv_random_between(state, 1, 4)
                                                 : clv_random_between(state, 10, 1000000),
                                 .arrival_ns = draw->arrival_ns};
    for (int32_t p = 0; p < n_ranks; p++) {
        draw->arrival_ns[p] = clv_draw_arrival(state, family, p, instance);
    }
}

/* The clip rule of the design: every rank is expected clip_ns later, none after the last. */
static inline void clv_draw_clip(clv_draw_t *draw, int64_t clip_ns)
{
    int64_t last_ns = 0;
    for (int32_t p = 0; p < draw->instance.n_ranks; p++) {
        draw->order_ns[p] = draw->arrival_ns[p];
        last_ns = draw->arrival_ns[p] > last_ns ? draw->arrival_ns[p] : last_ns;
    }
    for (int32_t p = 0; p < draw->instance.n_ranks; p++) {
        draw->arrival_ns[p] =
            draw->order_ns[p] + clip_ns < last_ns ? draw->order_ns[p] + clip_ns : last_ns;
    }
    draw->instance.order_ns = draw->order_ns;
}

/* 1 to max_ranks ranks on 1 to 6 hosts with gaps in their numbers. Rising k covers all families,
 * some of them clipped. place is the caller's, and must live as long as the instance. */
static inline void clv_draw_places(clv_draw_t *draw, int32_t *place, uint64_t *state, int k,
                                   int32_t max_ranks)
{
    const int32_t n_ranks = (int32_t) clv_random_between(state, 1, max_ranks);
    const int32_t n_places = (int32_t) clv_random_between(state, 1, 6);
    clv_draw_instance(draw, state, (clv_family_t) (k % CLV_N_FAMILIES), n_ranks,
                      (int32_t) clv_random_between(state, 1, 20));
    if (k % 3 == 0) {
        clv_draw_clip(draw, clv_random_between(state, 0, 3 * draw->instance.round_ns));
    }
    for (int32_t p = 0; p < n_ranks; p++) {
        place[p] = (int32_t) clv_random_between(state, 0, n_places - 1) * 5 % n_ranks;
    }
    draw->instance.place = place;
}

/* The two cases of the paper's Table 1, in units of a millisecond: d uniform in [0.001, 1];
 * uniform: arrivals in [0, P + 0.1], any root; skewed: all at 0, the last at N, root 0. */
static inline void clv_draw_paper(clv_draw_t *draw, uint64_t *state, int skewed, int32_t n_ranks,
                                  int32_t n_segments)
{
    clv_instance_t *instance = &draw->instance;
    *instance =
        (clv_instance_t){.n_ranks = n_ranks,
                         .n_segments = n_segments,
                         .root = skewed ? 0 : (int32_t) clv_random_between(state, 0, n_ranks - 1),
                         .round_ns = clv_random_between(state, CLV_NS_PER_MS / 1000, CLV_NS_PER_MS),
                         .arrival_ns = draw->arrival_ns};
    for (int32_t p = 0; p < n_ranks; p++) {
        draw->arrival_ns[p] =
            skewed ? (p == n_ranks - 1 ? n_segments * CLV_NS_PER_MS : 0)
                   : clv_random_between(state, 0, n_ranks * CLV_NS_PER_MS + CLV_NS_PER_MS / 10);
    }
}

#endif
