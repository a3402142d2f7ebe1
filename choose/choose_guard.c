/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The guard (see choose_guard.h).
 */
#include "choose/choose_guard.h"

#include "util/util_min_max.h"

#define MOST_PERMILLE 1000000 /* as coll_clv_guard_permille; keeps products in their type */

static int64_t more_by(int64_t balanced_ns, int64_t permille)
{
    return balanced_ns + balanced_ns / 1000 * permille;
}

/* After r right predictions in a row, the next one is wrong with a chance of about 1 / (r + 2). The
 * limit keeps this chance times the plan's loss at half of what other plans may lose for
 * certain. */
static int64_t trust_permille(const clv_choose_search_t *search)
{
    const int64_t guard = search->config->guard_permille, right = search->state->last_right;

    return right < CLV_POLICY_SURE_SETS ? guard
                                        : clv_smaller(guard * (right + 2) / 2, MOST_PERMILLE);
}

/* Plans that ignore arrivals are the same for each forecast, so they are checked once, and pass
 * always or never. */
static clv_status_t find_bound(const clv_choose_search_t *search, clv_choose_state_t *state)
{
    const int64_t limit_ns =
        more_by(state->balanced.predicted_after_ns, search->config->guard_permille);
    clv_status_t status = CLV_OK;

    for (int32_t a = 0; a < CLV_N_ALGORITHMS && status == CLV_OK; a++) {
        clv_choose_decision_t bound = {.n_segments = 0};

        if (clv_algorithm_synchronises(a) && clv_algorithm_plans(a, search->key->collective)) {
            status = clv_choose_balanced_of(search->config, search->key, a, &bound);
            status = status == CLV_LIMIT ? CLV_OK : status;
        }
        state->n_bound_segments[a] =
            bound.predicted_after_ns <= limit_ns ? (int16_t) bound.n_segments : 0;
    }
    return status;
}

/* Runs once per stream and length. A limit is the same on all ranks. */
static clv_status_t find_balanced(const clv_choose_search_t *search, clv_choose_state_t *state)
{
    clv_status_t status;

    if (state->balanced_bytes == search->key->total_bytes) {
        return CLV_OK;
    }
    status =
        clv_choose_balanced_and_fixed(search->config, search->key, &state->balanced, &state->fixed);
    if (status == CLV_LIMIT) {
        state->balanced = (clv_choose_decision_t){0};
        state->fixed = CLV_ALGORITHM_PREVIOUS;
        status = CLV_OK;
    }
    if (status == CLV_OK) {
        status = find_bound(search, state);
    }
    if (status == CLV_OK) {
        state->balanced_bytes = search->key->total_bytes;
    }
    return status;
}

clv_status_t clv_choose_guard_limit(clv_choose_search_t *search)
{
    const int64_t permille = search->config->guard_permille;
    clv_status_t status;
    int64_t balanced_ns;

    if (search->forced >= 0 || search->state == NULL) {
        return CLV_OK;
    }
    status = find_balanced(search, search->state);
    if (status == CLV_OK) {
        balanced_ns = clv_larger(search->state->balanced.predicted_after_ns, 1);
        search->limit_ns = more_by(balanced_ns, permille);
        search->trusted_ns = more_by(balanced_ns, trust_permille(search));
    }
    return status;
}

/* Without a limit all pass. A plan that is the same for each forecast passed when its segment count
 * was found. */
static bool has_passed(const clv_choose_search_t *search, int32_t algorithm)
{
    return search->limit_ns == 0 || clv_algorithm_synchronises(algorithm);
}

clv_status_t clv_choose_guard_check(const clv_choose_search_t *search, int32_t algorithm,
                                    const clv_choose_subject_t *subject, bool *passes_p)
{
    const bool is_bounded = clv_algorithm_has(algorithm, CLV_TRAIT_BOUNDED);
    clv_estimate_t balanced = {0};
    clv_status_t status = CLV_OK;

    if (!has_passed(search, algorithm)) {
        status = clv_choose_search_estimate(search, subject, search->times, &balanced);
    }
    *passes_p = balanced.after_ns <= (is_bounded ? search->trusted_ns : search->limit_ns);
    return status;
}
