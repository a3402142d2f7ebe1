/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Makes, writes and reads the node plans beside a forecast (see choose_node_plan.h).
 */
#include "choose/choose_node_plan.h"

#include <stdatomic.h>

#include "choose/choose_gain.h"
#include "util/util_hot.h"

size_t clv_node_plan_bytes(int32_t n_listed, int64_t n_steps)
{
    return sizeof(clv_node_plan_t) + ((size_t) n_listed + 1) * sizeof(int64_t) +
           (size_t) n_steps * sizeof(clv_step_t);
}

static clv_step_t *steps_of(clv_node_plan_t *node_plan)
{
    return (clv_step_t *) (void *) &node_plan->first[node_plan->n_listed + 1];
}

size_t clv_node_plan_write(clv_node_plan_t *node_plan, size_t capacity,
                           const clv_choose_decision_t *decision, const clv_plan_t *plan,
                           const int32_t *ranks, int32_t n_ranks_listed)
{
    node_plan->status = CLV_OK;
    node_plan->decision = *decision;
    node_plan->n_listed = 0;
    node_plan->first[0] = 0;
    if (plan == NULL || clv_node_plan_bytes(n_ranks_listed, 0) > capacity) {
        return clv_node_plan_bytes(0, 0);
    }
    clv_plan_index_steps(plan, ranks, n_ranks_listed, node_plan->first);
    const size_t n_bytes = clv_node_plan_bytes(n_ranks_listed, node_plan->first[n_ranks_listed]);
    if (n_bytes > capacity) {
        return clv_node_plan_bytes(0, 0);
    }
    node_plan->n_listed = n_ranks_listed;
    clv_plan_list_steps(plan, ranks, n_ranks_listed, node_plan->first, steps_of(node_plan));
    return n_bytes;
}

CLV_HOT const clv_step_t *clv_node_plan_steps(const clv_node_plan_t *node_plan, int32_t index,
                                              int64_t *n_steps_p)
{
    if (index < 0 || index >= node_plan->n_listed) {
        return NULL;
    }
    *n_steps_p = node_plan->first[index + 1] - node_plan->first[index];
    return (const clv_step_t *) (const void *) &node_plan->first[node_plan->n_listed + 1] +
           node_plan->first[index];
}

size_t clv_host_places_bytes(int32_t n_keys)
{
    return sizeof(clv_node_plans_t) + (size_t) n_keys * sizeof(clv_node_plan_place_t);
}

size_t clv_node_plans_capacity(int32_t n_ranks)
{
    return clv_host_places_bytes(CLV_CHOOSE_MAX_KEYS) +
           CLV_CHOOSE_MAX_KEYS * clv_node_plan_bytes(n_ranks, 0) +
           2 * (size_t) CLV_CHOOSE_MAX_CELLS * sizeof(clv_step_t);
}

CLV_HOT const clv_node_plan_t *clv_node_plans_find(const clv_node_plans_t *node_plans,
                                                   const clv_pap_stream_key_t *key)
{
    for (int64_t i = 0; i < node_plans->n_keys; i++) {
        if (clv_choose_same_key(&node_plans->places[i].key, key)) {
            return (const void *) ((const char *) node_plans + node_plans->places[i].at);
        }
    }
    return NULL;
}

/* ---- what it offers ------------------------------------------------------------------------- */

/* Sums over all choosers, including freed ones. Relaxed: they are independent numbers. */
static atomic_llong regret_ns;
static atomic_llong took_ns, would_ns, unknown_ns, compared_calls, own_ns, previous_ns, spread;

static void add_to(atomic_llong *sum, int64_t now, int64_t before)
{
    atomic_fetch_add_explicit(sum, now - before, memory_order_relaxed);
}

static int64_t read_of(atomic_llong *sum)
{
    return atomic_load_explicit(sum, memory_order_relaxed);
}

static void count_gains(clv_choose_gains_t now, const clv_choose_gains_t *before)
{
    add_to(&took_ns, now.took_ns, before->took_ns);
    add_to(&would_ns, now.would_ns, before->would_ns);
    add_to(&unknown_ns, now.unknown_ns, before->unknown_ns);
    add_to(&compared_calls, now.n_calls, before->n_calls);
    add_to(&own_ns, now.own_ns, before->own_ns);
    add_to(&previous_ns, now.previous_ns, before->previous_ns);
    add_to(&spread, now.spread_permille, before->spread_permille);
}

void clv_choose_gains(clv_choose_gains_t *sum)
{
    *sum = (clv_choose_gains_t){.took_ns = read_of(&took_ns),
                                .would_ns = read_of(&would_ns),
                                .unknown_ns = read_of(&unknown_ns),
                                .n_calls = read_of(&compared_calls),
                                .own_ns = read_of(&own_ns),
                                .previous_ns = read_of(&previous_ns),
                                .spread_permille = read_of(&spread)};
}

int64_t clv_choose_regret_ns(void)
{
    return atomic_load_explicit(&regret_ns, memory_order_relaxed);
}

/* The plan of a decision: from the cache, or one in *made_p that the caller frees. */
static clv_status_t decided_plan(const clv_chooser_t *chooser, const clv_pap_stream_key_t *key,
                                 const clv_pap_forecast_t *forecast,
                                 const clv_choose_decision_t *decision, const clv_plan_t **plan_p,
                                 clv_plan_t **made_p)
{
    clv_status_t status;

    if (chooser->plans != NULL) {
        return clv_choose_cached_plan(&chooser->config, key, forecast, decision, chooser->plans,
                                      plan_p);
    }
    status = clv_choose_plan(&chooser->config, key, forecast, decision, made_p);
    *plan_p = *made_p;
    return status;
}

/* Plans for one key; returns the bytes used. status: a failure so far, which is passed on. */
static size_t plan_key(const clv_chooser_t *chooser, const clv_pap_stream_key_t *key,
                       const clv_pap_forecast_t *forecast, const clv_pap_progress_t *progress,
                       bool judges, clv_status_t status, clv_choose_state_t *state,
                       clv_node_plan_t *node_plan, size_t n_bytes)
{
    const int64_t regretted_ns = state->iterations.trial.regret_ns;
    const clv_choose_gains_t gained = clv_choose_gain_sum(&state->iterations);
    clv_choose_decision_t decision = {0};
    const clv_plan_t *plan = NULL;
    clv_plan_t *made = NULL;
    size_t used;

    if (status == CLV_OK) {
        status = clv_choose_shared(&chooser->config, key, forecast, progress, judges, state,
                                   chooser->plans, &decision);
    }
    atomic_fetch_add_explicit(&regret_ns, state->iterations.trial.regret_ns - regretted_ns,
                              memory_order_relaxed);
    count_gains(clv_choose_gain_sum(&state->iterations), &gained);
    if (status == CLV_OK && decision.algorithm != CLV_ALGORITHM_PREVIOUS) {
        status = decided_plan(chooser, key, forecast, &decision, &plan, &made);
    }
    used = clv_node_plan_write(node_plan, n_bytes, &decision, plan, chooser->host_ranks,
                               chooser->n_host_ranks);
    node_plan->status = status;
    clv_plan_free(made);
    return used;
}

/* The newest key is the one whose call the forecast measures. It gets space first; each further key
 * has space for a decision at least. */
static size_t plan_keys(const clv_chooser_t *chooser, const clv_pap_forecast_t *forecast,
                        const clv_pap_progress_t *progress, clv_status_t status,
                        clv_choose_memory_t *memory, clv_node_plans_t *node_plans, size_t n_bytes)
{
    int32_t slots[CLV_CHOOSE_MAX_KEYS] = {0};
    const int32_t n_keys = clv_choose_keys_order(&memory->keys, slots);
    size_t at = clv_host_places_bytes(n_keys);

    for (int32_t i = 0; i < n_keys; i++) {
        clv_choose_state_t *state = &memory->state[slots[i]];
        const size_t left = (size_t) (n_keys - 1 - i) * clv_node_plan_bytes(0, 0);

        clv_choose_share(&memory->state[slots[0]], state);
        node_plans->places[i] =
            (clv_node_plan_place_t){memory->keys.slot[slots[i]].key, (int64_t) at};
        at += plan_key(chooser, &node_plans->places[i].key, forecast, progress, i == 0, status,
                       state, (void *) ((char *) node_plans + at), n_bytes - at - left);
    }
    node_plans->n_keys = n_keys;
    return at;
}

static void count_last(clv_chooser_t *chooser, const clv_pap_progress_t *progress)
{
    if (chooser->n_last != NULL && progress->last_arrival_ns != 0) {
        chooser->n_sets++;
        if (progress->last_rank >= 0) {
            chooser->n_last[progress->last_rank]++;
        }
    }
}

size_t clv_choose_node_plan(void *context, const clv_pap_stream_key_t *stream_key,
                            const clv_pap_forecast_t *forecast, const clv_pap_progress_t *progress,
                            const void *key_table, void *memory, void *node_plans, size_t n_bytes)
{
    clv_chooser_t *chooser = context;
    clv_choose_memory_t *remembered = memory;
    clv_status_t status = CLV_OK;
    size_t used;

    (void) stream_key;
    count_last(chooser, progress);
    if (key_table != NULL) {
        status = clv_choose_memory_follow(&chooser->config, key_table, remembered);
    }
    used = plan_keys(chooser, forecast, progress, status, remembered, node_plans, n_bytes);
    remembered->announced[forecast->version % CLV_CHOOSE_RING] = forecast->announced;
    return used;
}
