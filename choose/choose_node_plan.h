/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The module's entry: (config, keys, forecast, memory) -> node plans, which are stored beside a
 * forecast in the host's table. For each plan key of the stream, a node plan holds a decision and
 * the steps of this host's ranks. The background thread makes it before any rank asks.
 *
 * Layout: the list of keys, most recently used first, then their node plans in that order. All
 * ranks find the same keys: on every rank, a call with a missing key runs as without a forecast. A
 * node plan is its header, an index of n_listed + 1 offsets in rank order, then the steps. A node
 * plan whose steps did not fit has n_listed 0: the ranks then make the plan themselves, from the
 * same forecast and decision. PURE.
 *
 * Units: int64 ns; sizes in bytes, steps counted.
 * Errors: in the node plan's status, so that every rank of the host sees them; a plan that does
 *   not fit goes without steps.
 * Memory: all in the caller's node_plans (clv_node_plans_capacity gives the size); the chooser's
 *   ranks and cache stay their owner's.
 * Threads: one chooser is used by one thread at a time; counters are summed over all choosers.
 */
#ifndef CLV_CHOOSE_NODE_PLAN_H
#define CLV_CHOOSE_NODE_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "choose/choose.h"
#include "choose/choose_keys.h"
#include "schedule/schedule.h"

/* What a host chooses with; fixed before the first forecast. */
typedef struct clv_chooser {
    clv_choose_config_t config;
    const int32_t *host_ranks; /* increasing; the steps of these are listed */
    int32_t n_host_ranks;
    clv_plan_cache_t *plans; /* the thread's alone; NULL: all plans are made anew */
    int64_t *n_last;         /* by rank: how often last at a sampled call; NULL: nobody asks */
    int64_t n_sets;          /* sampled calls that the two are about */
} clv_chooser_t;

typedef struct clv_node_plan {
    int32_t status;   /* CLV_OK, or CLV_NO_MEMORY: this host could not decide */
    int32_t n_listed; /* ranks with steps */
    clv_choose_decision_t decision;
    int64_t first[]; /* n_listed + 1 indices of steps, which follow the index */
} clv_node_plan_t;

typedef struct clv_node_plan_place {
    clv_pap_stream_key_t key;
    int64_t at; /* byte offset of its node plan from the clv_node_plans_t */
} clv_node_plan_place_t;

/* What lies beside a forecast: the places, and behind them, close as a call finds them in cold
 * memory, the node plans. */
typedef struct clv_node_plans {
    int64_t n_keys;
    clv_node_plan_place_t places[]; /* n_keys of them */
} clv_node_plans_t;

/* Decides for a forecast and writes the node plans; returns the bytes used. A
 * clv_pap_make_node_plans_t: chooser is a clv_chooser_t, key_table a clv_choose_keys_t (NULL:
 * none), memory a clv_choose_memory_t, node_plans a clv_node_plans_t of n_bytes. stream_key is not
 * looked at: the plan keys say it all.
 */
size_t clv_choose_node_plan(void *chooser, const clv_pap_stream_key_t *stream_key,
                            const clv_pap_forecast_t *forecast, const clv_pap_progress_t *progress,
                            const void *key_table, void *memory, void *node_plans, size_t n_bytes);

/* The node plan of a plan key; NULL: there is no decision for it. */
const clv_node_plan_t *clv_node_plans_find(const clv_node_plans_t *node_plans,
                                           const clv_pap_stream_key_t *key);

/* Bytes of a node plan that lists n_listed ranks with n_steps steps in all. */
size_t clv_node_plan_bytes(int32_t n_listed, int64_t n_steps);

/* Bytes before the node plans of n_keys plan keys. */
size_t clv_host_places_bytes(int32_t n_keys);

/* Room for the node plans of a stream over so many ranks: decisions for all keys, and steps for as
 * many as have room together; a plan that needs more goes without steps. */
size_t clv_node_plans_capacity(int32_t n_ranks);

/* Writes the steps of ranks[0 .. n_ranks_listed) (increasing) of the plan; returns the bytes used.
 * plan NULL: a node plan without steps. */
size_t clv_node_plan_write(clv_node_plan_t *node_plan, size_t capacity,
                           const clv_choose_decision_t *decision, const clv_plan_t *plan,
                           const int32_t *ranks, int32_t n_ranks_listed);

/* The steps of the index-th listed rank; NULL when there are none. */
const clv_step_t *clv_node_plan_steps(const clv_node_plan_t *node_plan, int32_t index,
                                      int64_t *n_steps_p);

/* Time that trials of the previous function lost in the streams this process decides for, ns; any
 * thread at any time. */
int64_t clv_choose_regret_ns(void);

/* What was gained in the streams that this process decides for, since its start. Any thread at any
 * time; no lock. */
void clv_choose_gains(clv_choose_gains_t *sum);

#endif
