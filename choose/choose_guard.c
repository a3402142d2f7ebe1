/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The guard (see choose_guard.h).
 */
#include "choose/choose_guard.h"

#include "util/util_min_max.h"

/* Once per stream and length. */
static clv_status_t find_balanced(const clv_choose_search_t *search, clv_choose_state_t *state)
{
    clv_status_t status = CLV_OK;

    if (state->balanced_bytes != search->key->total_bytes) {
        status = clv_choose_balanced(search->config, search->key, &state->balanced);
    }
    if (status == CLV_LIMIT) { /* equal on all ranks */
        state->balanced = (clv_choose_decision_t){0};
        status = CLV_OK;
    }
    if (status == CLV_OK) {
        state->balanced_bytes = search->key->total_bytes;
    }
    return status;
}

clv_status_t clv_choose_guard_limit(clv_choose_search_t *search)
{
    clv_status_t status;
    int64_t balanced_ns;

    if (search->forced >= 0 || search->state == NULL) {
        return CLV_OK;
    }
    status = find_balanced(search, search->state);
    if (status == CLV_OK) {
        balanced_ns = clv_larger(search->state->balanced.predicted_after_ns, 1);
        search->limit_ns = balanced_ns + balanced_ns / 1000 * search->config->guard_permille;
    }
    return status;
}

clv_status_t clv_choose_guard_check(const clv_choose_search_t *search, const clv_plan_t *plan,
                                    int *passes_p)
{
    clv_estimate_t balanced = {0};
    clv_status_t status = CLV_OK;

    if (search->limit_ns > 0) {
        status = clv_plan_estimate(plan, search->times, search->config->place,
                                   search->key->total_bytes, &search->config->cost, &balanced);
    }
    *passes_p = balanced.after_ns <= search->limit_ns;
    return status;
}
