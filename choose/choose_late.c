/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A late rank's own time in a call (see choose_late.h).
 */
#include "choose/choose_late.h"

#include "choose/choose_score.h"
#include "schedule/sched_exits.h"
#include "util/util_alloc.h"
#include "util/util_min_max.h"

/* An upper bound of the time of a call of the fixed ring. */
static int64_t least_gap(const clv_choose_search_t *search)
{
    return CLV_POLICY_LATE_VECTORS *
           clv_smaller(clv_cost_round_ns(&search->config->cost, search->key->total_bytes),
                       CLV_CHOOSE_SCORE_CEILING_NS);
}

static int32_t last_rank(const clv_choose_search_t *search)
{
    int32_t last = 0;

    for (int32_t p = 1; p < search->config->n_ranks; p++) {
        last = search->order_ns[p] > search->order_ns[last] ? p : last;
    }
    return last;
}

void clv_choose_late_find(clv_choose_search_t *search, const clv_pap_forecast_t *forecast)
{
    const clv_choose_config_t *config = search->config;
    const clv_choose_state_t *state = search->state;

    search->late_rank = -1;
    if (state != NULL && forecast != NULL && config->place == NULL && config->ahead_bytes > 0 &&
        config->objective == CLV_OBJECTIVE_PACE &&
        clv_collectives[search->key->collective].goal == CLV_GOAL_ALLREDUCE &&
        state->last_right >= CLV_POLICY_SURE_SETS && state->last_gap_ns >= least_gap(search)) {
        search->late_rank = last_rank(search);
    }
}

static bool is_root_far(const clv_choose_search_t *search)
{
    const int32_t root = search->key->root;
    int64_t last_ns = 0;

    for (int32_t p = 0; p < search->config->n_ranks; p++) {
        last_ns = p == root ? last_ns : clv_larger(last_ns, search->order_ns[p]);
    }
    return search->state != NULL && search->state->balanced.predicted_after_ns > 0 &&
           search->order_ns[root] > last_ns &&
           search->order_ns[root] - last_ns > search->state->balanced.predicted_after_ns / 2;
}

bool clv_choose_late_is_far(const clv_choose_search_t *search, int32_t algorithm)
{
    if (!clv_algorithm_has(algorithm, CLV_TRAIT_LATE)) {
        return false;
    }
    return clv_collectives[search->key->collective].goal == CLV_GOAL_REDUCE
               ? is_root_far(search)
               : search->late_rank >= 0;
}

/* A segment that already lies at the late rank costs it a message's latency and the combination. */
static clv_early_t early_of(const clv_choose_search_t *search, const clv_plan_t *plan)
{
    const int64_t n_bytes = clv_segment_bytes(search->key->total_bytes, plan->n_segments);
    const clv_cost_t *cost = &search->config->cost;
    const int64_t latency_ns = clv_smaller(cost->latency_ns, CLV_CHOOSE_SCORE_CEILING_NS / 1000);

    return (clv_early_t){.eager_bytes = cost->early_bytes,
                         .pair_bytes = search->key->total_bytes,
                         .take_ps = latency_ns * 1000 / clv_larger(n_bytes, 1) + cost->combine_ps};
}

static clv_status_t find_exits(const clv_choose_search_t *search, const clv_plan_t *plan,
                               int64_t *exit_ns)
{
    const clv_early_t early = early_of(search, plan);
    clv_exits_t *exits = NULL;
    clv_status_t status = clv_exits_create(plan->n_ranks, &early, &exits);

    if (status == CLV_OK) {
        status = clv_plan_exits(plan, search->order_ns, NULL, search->key->total_bytes,
                                &search->config->cost, exits, NULL, exit_ns);
    }
    clv_exits_free(exits);
    return status;
}

clv_status_t clv_choose_late_cost(const clv_choose_search_t *search, const clv_plan_t *plan,
                                  int64_t after_ns, int64_t *cost_p)
{
    int64_t *exit_ns = clv_alloc((size_t) plan->n_ranks, sizeof *exit_ns);
    clv_status_t status = exit_ns == NULL ? CLV_NO_MEMORY : find_exits(search, plan, exit_ns);

    if (status == CLV_OK) {
        const int64_t own_ns = exit_ns[search->late_rank] - search->order_ns[search->late_rank];
        *cost_p = clv_larger(own_ns, after_ns - search->state->last_gap_ns);
    }
    clv_free(exit_ns);
    return status;
}
