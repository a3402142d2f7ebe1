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

/* how: PLAN(generator of schedule.h, policy that its plans are run with), OWN(function
 * coll_clv_run_... of the component), or BOTH(function and generator, policy): if forced, the
 * function, which needs no group and no forecast; if auto chooses it, plans of the same schedule.
 * needs times: 1: the plan depends on the predicted times; 0: on their order; -1: on neither, so it
 * is the same in each call, and decoupled ranks keep their distances; 2: on the times, but its
 * shape bounds the cost of wrong ones, so it may treat one sigma as certain; -2: on neither, but it
 * makes ranks wait for each other: only a trial takes it, and only if it passes the guard with
 * equal arrivals.
 * unfit: the rule unfit_... of choose_tables.c that gives the reason against a call.
 * Order is the code, the order in which the chooser tries plans, and that of the documentation. */
/* clang-format off */
/*     code          word          collectives      how                              needs  unfit
 *     meaning
 *                                                                                   times */
#define CLV_ALGORITHM_MAP(XX)                                                                      \
    XX(PREVIOUS,     previous,     CLV_OF_ALL,      OWN(previous),                   0,     never,         \
       "the function installed before this component")                                             \
    XX(RANK_CHAIN,   rank_chain,   CLV_OF(REDUCE),  PLAN("chain-by-rank", AHEAD),    -1,    order,         \
       "a pipelined chain by rank, the same in each call")                                         \
    XX(CHAIN,        chain,        CLV_OF(REDUCE),  PLAN("chain", AHEAD),            0,     order,         \
       "a pipelined chain, latest arrival nearest the root")                                       \
    XX(LATEST_FIRST, latest_first, CLV_OF(REDUCE),  PLAN("latest-first-rns", AHEAD), 1,     order,         \
       "the latest-arrival-first plan")                                                            \
    XX(CLAIRVOYANT,  clairvoyant,  CLV_OF(REDUCE),  PLAN("bitset", ROUNDS),          1,     order,         \
       "the clairvoyant plan for the predicted arrivals")                                          \
    XX(BINOMIAL,     binomial,     CLV_OF(REDUCE),  BOTH(binomial, AHEAD),           -2,    order,         \
       "binomial tree; if forced, Open MPI's own")                                                 \
    XX(RABENSEIFNER, rabenseifner, CLV_OF(REDUCE),  BOTH(rabenseifner, AHEAD),       -2,    halving,       \
       "reduce-scatter and gather by halving; if forced, Open MPI's own")                          \
    XX(RING,         ring,         CLV_OF(REDUCE),  BOTH(ring, AHEAD),               -2,    order,         \
       "reduce-scatter on a ring, then gather to the root")                                        \
    XX(PLAIN_RING,   plain_ring,   CLV_OF(ALLREDUCE), PLAN("plain-ring", AHEAD),     -1,    order,         \
       "a ring that combines and distributes, the same in each call")                              \
    XX(CUT_RING,     cut_ring,     CLV_OF(ALLREDUCE), PLAN("cut-ring", AHEAD),       2,     order,         \
       "a ring whose segments start behind the ranks predicted to come last")                      \
    XX(OUT_CHAIN,    out_chain,    CLV_OF(BCAST),   PLAN("bcast-chain", AHEAD),      0,     empty,         \
       "a pipelined chain from the root, latest arrival last")                                     \
    XX(HELPER_TREES, helper_trees, CLV_OF(ALLREDUCE), PLAN("helper-trees", AHEAD),   1,     order,         \
       "trees of the early ranks, to which late ranks send their vectors; for many ranks")         \
    XX(HOST_CHAINS,  host_chains,  CLV_OF(REDUCE),  PLAN("node-sorted", AHEAD),      -1,    order,         \
       "a chain inside each host and one between hosts, the same in each call")
/* clang-format on */

/* The word that stands for none of them. */
#define CLV_ALGORITHM_AUTO_MEANING "choose by prediction and cost"

typedef enum clv_algorithm {
    CLV_ALGORITHM_AUTO = -1,
#define CLV_ALGORITHM_ENUM(code, word, collectives, how, needs_times, unfit, meaning)              \
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
    int needs_times; /* as above */
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

/* The same order in each call, under which decoupled ranks keep their distances. */
static inline bool clv_algorithm_is_static(int algorithm)
{
    return clv_algorithms[algorithm].needs_times == -1;
}

/* A classic algorithm: it ignores arrivals and synchronises the ranks. */
static inline bool clv_algorithm_synchronises(int algorithm)
{
    return clv_algorithms[algorithm].needs_times == -2;
}

/* The algorithm of a clv_fallback_t for the collective; auto and the previous function apply to
 * all. */
int32_t clv_algorithm_of_fallback(int32_t fallback, int collective);

/* CLV_FIT if the algorithm (AUTO: one of the plans) suits the call, else a clv_reason_t. */
int clv_algorithm_unfit(int algorithm, const clv_call_facts_t *facts);

#endif
