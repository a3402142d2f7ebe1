/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The algorithms that a call can run, as a table: one row each. The row generates codes, words of
 * coll_clv_<collective>_algorithm, counters coll_clv_ran_<word>, the chooser's candidates and
 * docs/guide/params.md.
 *
 * PURE: a row names the component's own functions, but only the component expands that column.
 * Thread-safe: constants.
 */
#ifndef CLV_CHOOSE_ALGORITHMS_H
#define CLV_CHOOSE_ALGORITHMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "choose/choose_collectives.h"
#include "schedule/schedule.h"

/* The column "collectives". */
#define CLV_OF(code) (1U << CLV_COLLECTIVE_##code)
#define CLV_OF_ALL   (~0U)

typedef enum clv_order { CLV_ORDER_FIXED, CLV_ORDER_BY_RANKING, CLV_ORDER_BY_TIMES } clv_order_t;

/* The column "traits". */
enum {
    CLV_TRAIT_SYNCHRONISES = 1, /* ranks wait for each other: only a trial takes it, and only if it
                                 * passes the guard with equal arrivals */
    CLV_TRAIT_BOUNDED = 2,      /* its shape bounds the cost of wrong times, so it may treat one
                                 * sigma as certain */
    CLV_TRAIT_LATE = 4,         /* has a form for one rank far later than all others */
    CLV_TRAIT_HOSTS = 8, /* for hosts of several ranks; else it is another one of the table */
    CLV_TRAIT_MANY = 16  /* for many ranks, whose messages take longer than the vector's bytes */
};

/* how: PLAN(generator of schedule.h, policy that its plans are run with), OWN(function
 * coll_clv_run_... of the component), or BOTH(function and generator, policy): if forced, the
 * function, which needs no group and no forecast; if auto chooses it, plans of the same schedule.
 * order: FIXED: the same plan in each call; BY_RANKING: by the ranking of the predicted arrivals;
 * BY_TIMES: by the times themselves. Where there is no plan the order says nothing.
 * traits: bits CLV_TRAIT_..., 0: none.
 * unfit: the rule unfit_... of choose_tables.c that gives the reason against a call.
 * Order is the code, the order in which the chooser tries plans, and that of the documentation. */
/* clang-format off */
/*     code          word          collectives        how                              order
 *     traits                                  unfit     meaning */
#define CLV_ALGORITHM_MAP(XX) \
    XX(PREVIOUS,     previous,     CLV_OF_ALL,        OWN(previous),                   BY_RANKING, \
       0,                                      never,    "the function installed before this component") \
    XX(RANK_CHAIN,   rank_chain,   CLV_OF(REDUCE),    PLAN("chain-by-rank", AHEAD),    FIXED, \
       0,                                      order,    "a pipelined chain by rank, the same in each call") \
    XX(CHAIN,        chain,        CLV_OF(REDUCE),    PLAN("chain", AHEAD),            BY_RANKING, \
       0,                                      order,    "a pipelined chain, latest arrival nearest the root") \
    XX(LATEST_FIRST, latest_first, CLV_OF(REDUCE),    PLAN("latest-first-rns", AHEAD), BY_TIMES, \
       0,                                      order,    "the latest-arrival-first plan") \
    XX(CLAIRVOYANT,  clairvoyant,  CLV_OF(REDUCE),    PLAN("bitset", ROUNDS),          BY_TIMES, \
       0,                                      order,    "the clairvoyant plan for the predicted arrivals") \
    XX(BINOMIAL,     binomial,     CLV_OF(REDUCE),    BOTH(binomial, AHEAD),           FIXED, \
       CLV_TRAIT_SYNCHRONISES,                 order,    "binomial tree; if forced, Open MPI's own") \
    XX(RABENSEIFNER, rabenseifner, CLV_OF(REDUCE),    BOTH(rabenseifner, AHEAD),       FIXED, \
       CLV_TRAIT_SYNCHRONISES,                 halving,  "reduce-scatter and gather by halving; if forced, Open MPI's own") \
    XX(RING,         ring,         CLV_OF(REDUCE),    BOTH(ring, AHEAD),               FIXED, \
       CLV_TRAIT_SYNCHRONISES,                 order,    "reduce-scatter on a ring, then gather to the root") \
    XX(PLAIN_RING,   plain_ring,   CLV_OF(ALLREDUCE), PLAN("plain-ring", AHEAD),       FIXED, \
       0,                                      order,    "a ring that combines and distributes, the same in each call") \
    XX(CUT_RING,     cut_ring,     CLV_OF(ALLREDUCE), PLAN("cut-ring", AHEAD),         BY_TIMES, \
       CLV_TRAIT_BOUNDED | CLV_TRAIT_LATE,     order,    "a ring whose segments start behind the ranks predicted to come last") \
    XX(OUT_CHAIN,    out_chain,    CLV_OF(BCAST),     PLAN("bcast-chain", AHEAD),      BY_RANKING, \
       0,                                      empty,    "a pipelined chain from the root, latest arrival last") \
    XX(HELPER_TREES, helper_trees, CLV_OF(ALLREDUCE), PLAN("helper-trees", AHEAD),     BY_TIMES, \
       CLV_TRAIT_MANY,                         order,    "trees of the early ranks, to which late ranks send their vectors; for many ranks") \
    XX(HOST_CHAINS,  host_chains,  CLV_OF(REDUCE),    PLAN("node-sorted", AHEAD),      FIXED, \
       CLV_TRAIT_HOSTS | CLV_TRAIT_LATE,       order,    "a chain inside each host and one between hosts, the same in each call") \
    XX(TWO_LEVELS,   two_levels,   CLV_OF_ALL,        OWN(two_levels),                 BY_RANKING, \
       0,                                      order,    "collectives inside each host and between the hosts' leaders, each with its own plans; for many ranks")
/* clang-format on */

/* The word that stands for none of them. */
#define CLV_ALGORITHM_AUTO_MEANING "choose by prediction and cost"

typedef enum clv_algorithm {
    CLV_ALGORITHM_AUTO = -1,
#define CLV_ALGORITHM_ENUM(code, word, collectives, how, order, traits, unfit, meaning)            \
    CLV_ALGORITHM_##code,
    CLV_ALGORITHM_MAP(CLV_ALGORITHM_ENUM)
#undef CLV_ALGORITHM_ENUM
        CLV_N_ALGORITHMS
} clv_algorithm_t;

/* The facts that decide whether an algorithm suits a call; equal on all ranks. */
typedef struct clv_call_facts {
    int32_t collective; /* a clv_collective_t */
    int32_t n_ranks;
    size_t count;  /* elements; bytes where only those are equal */
    bool commutes; /* the operation; true where there is none */
} clv_call_facts_t;

typedef struct clv_algorithm_row {
    const char *word;
    uint32_t collectives;  /* bits of clv_collective_t */
    const char *generator; /* of its plans; NULL: it has none */
    clv_exec_policy_t policy;
    clv_order_t order;
    unsigned traits; /* CLV_TRAIT_... */
    int (*unfit)(const clv_call_facts_t *facts);
} clv_algorithm_row_t;

/* By code, without AUTO. */
extern const clv_algorithm_row_t clv_algorithms[CLV_N_ALGORITHMS];

/* "auto", or "unknown" for an invalid code. */
const char *clv_algorithm_word(int algorithm);

/* Whether the collective can run it; AUTO: always. */
bool clv_algorithm_runs(int algorithm, int collective);

/* Whether it makes plans for the collective. */
bool clv_algorithm_plans(int algorithm, int collective);

static inline bool clv_algorithm_has(int algorithm, unsigned trait)
{
    return (clv_algorithms[algorithm].traits & trait) != 0;
}

/* A classic algorithm: it ignores arrivals and synchronises the ranks. */
static inline bool clv_algorithm_synchronises(int algorithm)
{
    return clv_algorithm_has(algorithm, CLV_TRAIT_SYNCHRONISES);
}

/* The same order in each call, under which decoupled ranks keep their distances. */
static inline bool clv_algorithm_is_static(int algorithm)
{
    return clv_algorithms[algorithm].order == CLV_ORDER_FIXED &&
           !clv_algorithm_synchronises(algorithm);
}

static inline bool clv_algorithm_needs_times(int algorithm)
{
    return clv_algorithms[algorithm].order == CLV_ORDER_BY_TIMES;
}

/* The algorithm of a clv_fallback_t for the collective; auto and the previous function apply to
 * all. */
int32_t clv_algorithm_of_fallback(int32_t fallback, int collective);

/* CLV_FIT if the algorithm (AUTO: one of the plans) suits the call, else a clv_reason_t. */
int clv_algorithm_unfit(int algorithm, const clv_call_facts_t *facts);

#endif
