/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Private to schedule/: the generators behind the table clv_generators, one row each.
 *
 * XX(name, function stem, meaning). The first row is the default. The instance has passed
 * clv_instance_check when a generator is called through clv_plan_make.
 */
#ifndef CLV_SCHED_GENERATORS_H
#define CLV_SCHED_GENERATORS_H

#include "schedule/schedule.h"

/* Only for tools and tests, whose table sched_oracles.c has. */
#ifdef CLV_WITH_ORACLES
#define CLV_ORACLE(...) __VA_ARGS__
#else
#define CLV_ORACLE(...)
#endif

#define CLV_GENERATOR_MAP(XX)                                                                      \
    XX("bitset", bitset, "Clairvoyant by dual bit sets, the default")                              \
    CLV_ORACLE(XX("segtree", segtree, "Clairvoyant by segment tree, the paper's own"))             \
    CLV_ORACLE(XX("linear", linear, "Clairvoyant by linear search, the oracle"))                   \
    XX("latest-first", latest, "like Clairvoyant, but serves the latest arrivals first")           \
    XX("latest-first-rns", latest_rns, "latest-first whose root never sends once it has arrived")  \
    CLV_ORACLE(XX("latest-first-linear", latest_linear, "latest-first by linear search"))          \
    CLV_ORACLE(XX("latest-first-rns-linear", latest_rns_linear, "the same for latest-first-rns"))  \
    XX("chain", chain, "one pipelined chain sorted by arrival, latest nearest the root")           \
    XX("chain-by-rank", chain_by_rank, "pipelined chain by rank")                                  \
    XX("binomial", binomial, "binomial tree, whole vectors")                                       \
    XX("binomial-pipelined", binomial_pipelined, "binomial tree, segment by segment")              \
    XX("binary-tree", binary_tree, "binary tree, segment by segment")                              \
    XX("double-tree", double_tree, "two mirrored binary trees, every second segment each")         \
    XX("ring", ring, "ring reduce-scatter, then gather")                                           \
    XX("rabenseifner", rabenseifner, "recursive halving, then binomial gather")

/* Generators that use places: XX(name, function stem, the generator they replace where ranks share
 * places, meaning). Without shared places they make that generator's plan. */
#define CLV_PLACE_GENERATOR_MAP(XX)                                                                \
    XX("node-chain", node_chain, "chain-by-rank", "pipelined chain by rank, place after place")    \
    XX("node-sorted", node_sorted, "chain",                                                        \
       "inside a place a chain to its latest, who joins a chain of places by latest arrival")      \
    XX("node-latest", node_latest, "latest-first-rns", "the same with latest-first-rns between")   \
    XX("node-bitset", node_bitset, "bitset", "the same with Clairvoyant between")

/* The same for generators with another goal than reduce: XX(name, function stem, goal, meaning). */
#define CLV_OTHER_GENERATOR_MAP(XX)                                                                \
    XX("plain-ring", plain_ring, ALLREDUCE, "a ring by rank, the same whatever the arrivals")      \
    XX("cut-ring", cut_ring, ALLREDUCE, "a ring whose segments start behind the latest ranks")     \
    XX("helper-trees", helper_trees, ALLREDUCE,                                                    \
       "trees of the early ranks, another root for each segment; late ranks hand theirs in")       \
    XX("bcast-chain", bcast_chain, BCAST, "one pipelined chain from the root to the latest")

#define CLV_GENERATOR_DECLARE(name, stem, meaning)                                                 \
    clv_status_t clv_sched_##stem##_generate(const clv_instance_t *instance, clv_plan_t **plan_p);
#define CLV_OTHER_GENERATOR_DECLARE(name, stem, goal, meaning)                                     \
    CLV_GENERATOR_DECLARE(name, stem, meaning)
#define CLV_PLACE_GENERATOR_DECLARE(name, stem, flat, meaning)                                     \
    CLV_GENERATOR_DECLARE(name, stem, meaning)                                                     \
    clv_status_t clv_sched_##stem##_fast(const clv_instance_t *instance,                           \
                                         clv_fast_estimate_t **fast_p);
CLV_GENERATOR_MAP(CLV_GENERATOR_DECLARE)
CLV_PLACE_GENERATOR_MAP(CLV_PLACE_GENERATOR_DECLARE)
#undef CLV_PLACE_GENERATOR_DECLARE
CLV_OTHER_GENERATOR_MAP(CLV_OTHER_GENERATOR_DECLARE)
#undef CLV_OTHER_GENERATOR_DECLARE
#undef CLV_GENERATOR_DECLARE

/* The ranks in the order of the generator "chain", the root last. CLV_NO_MEMORY. */
clv_status_t clv_sched_chain_order(const clv_instance_t *instance, int32_t *ranks) CLV_MUST_CHECK;

#endif
