/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which plan for which board (see choose.h for the rules).
 */
#include "choose/choose.h"

#include "choose/choose_score.h"
#include "choose/choose_search.h"

#define LEARN_CALLS     2   /* measured calls of the previous reduce before anything else */
#define LEAVE_PERMILLE  970 /* leave the previous reduce only below this share of its score */
#define SWITCH_PERMILLE 950 /* leave a running plan only below this share of its score */

static int64_t ceil_log2(int32_t n)
{
    int64_t log = 0;
    while (((int64_t) 1 << log) < n) {
        log++;
    }
    return log;
}

/* Open MPI's reduce of medium and long vectors is an unsegmented binomial tree. */
static void predict_previous(const clv_choose_config_t *config, int64_t n_bytes,
                             clv_choose_decision_t *decision)
{
    int64_t tree_ns =
        clv_smaller(clv_cost_round_ns(&config->cost, n_bytes), CLV_CHOOSE_SCORE_CEILING_NS / 64);

    decision->algorithm = CLV_ALGORITHM_PREVIOUS;
    decision->n_segments = 1;
    decision->round_ns = tree_ns;
    decision->predicted_after_ns = tree_ns * ceil_log2(config->n_ranks);
    decision->predicted_in_mpi_ns = decision->predicted_after_ns;
}

static void settle(clv_choose_search_t *search, const clv_choose_decision_t *previous,
                   clv_choose_decision_t *decision)
{
    int64_t previous_score =
        clv_choose_score(search->state, CLV_ALGORITHM_PREVIOUS, previous->predicted_after_ns,
                         previous->predicted_in_mpi_ns);

    if (search->best_score < 0) {
        *decision = *previous;
        decision->reason = CLV_REASON_NO_PLAN;
    } else if (search->best_score >= previous_score / 1000 * LEAVE_PERMILLE) {
        *decision = *previous;
        decision->reason = CLV_REASON_NO_GAIN;
    } else if (search->running_score >= 0 && search->best.algorithm != search->running.algorithm &&
               search->best_score >= search->running_score / 1000 * SWITCH_PERMILLE) {
        *decision = search->running;
        decision->reason = CLV_REASON_KEPT;
    } else {
        *decision = search->best;
        decision->reason = CLV_REASON_PREDICTED;
    }
}

static clv_status_t choose(clv_choose_search_t *search, const clv_pap_board_t *board,
                           clv_choose_decision_t *decision)
{
    clv_choose_decision_t previous = {0};
    clv_status_t status;

    predict_previous(search->config, search->key->total_bytes, &previous);
    if (search->forced < 0 &&
        search->state->score[CLV_ALGORITHM_PREVIOUS].n_measured < LEARN_CALLS) {
        *decision = previous;
        decision->reason = CLV_REASON_LEARNING;
        return CLV_OK;
    }
    status = clv_choose_search_plans(search, board);
    if (CLV_OK != status) {
        return status;
    }
    if (search->forced >= 0 && search->best_score >= 0) {
        *decision = search->best;
        decision->reason = CLV_REASON_FORCED;
    } else {
        settle(search, &previous, decision);
    }
    return CLV_OK;
}

clv_status_t clv_choose(const clv_choose_config_t *config, const clv_pap_stream_key_t *key,
                        const clv_pap_board_t *board, clv_choose_state_t *state,
                        clv_plan_cache_t *plans, clv_choose_decision_t *decision)
{
    clv_choose_search_t search;
    clv_status_t status = clv_choose_search_open(config, key, board, state, plans, &search);

    if (CLV_OK != status) {
        return status;
    }
    clv_choose_learn(state, board);
    status = choose(&search, board, decision);
    if (CLV_OK == status) {
        decision->sigma_ns = board->sigma_ns;
        decision->announced = board->announced;
        state->running = decision->algorithm;
        state->made[board->version % CLV_CHOOSE_RING] = *decision;
    }
    clv_choose_search_close(&search);
    return status;
}

clv_status_t clv_choose_plan(const clv_choose_config_t *config, const clv_pap_stream_key_t *key,
                             const clv_pap_board_t *board, const clv_choose_decision_t *decision,
                             clv_plan_t **plan_p)
{
    clv_choose_search_t search;
    clv_status_t status = clv_choose_search_open(config, key, board, NULL, NULL, &search);

    if (CLV_OK == status) {
        status = clv_choose_search_make(&search, decision, plan_p);
        clv_choose_search_close(&search);
    }
    return status;
}

clv_status_t clv_choose_kept_plan(const clv_choose_config_t *config,
                                  const clv_pap_stream_key_t *key, const clv_pap_board_t *board,
                                  const clv_choose_decision_t *decision, clv_plan_cache_t *plans,
                                  const clv_plan_t **plan_p)
{
    clv_choose_search_t search;
    clv_status_t status = clv_choose_search_open(config, key, board, NULL, plans, &search);

    if (CLV_OK == status) {
        status = clv_choose_search_keep(&search, decision, plan_p);
        clv_choose_search_close(&search);
    }
    return status;
}

/* Over equal arrivals, the algorithm forced or CLV_ALGORITHM_AUTO. */
static clv_status_t choose_blind(const clv_choose_config_t *config, const clv_pap_stream_key_t *key,
                                 int32_t forced, clv_choose_decision_t *decision)
{
    clv_choose_search_t search;
    clv_status_t status = clv_choose_search_open(config, key, NULL, NULL, NULL, &search);

    if (CLV_OK != status) {
        return status;
    }
    search.forced = forced;
    status = clv_choose_search_plans(&search, NULL);
    if (CLV_OK == status && search.best_score < 0) {
        status = CLV_LIMIT;
    }
    if (CLV_OK == status) {
        *decision = search.best;
    }
    clv_choose_search_close(&search);
    return status;
}

clv_status_t clv_choose_balanced(const clv_choose_config_t *config, const clv_pap_stream_key_t *key,
                                 clv_choose_decision_t *decision)
{
    clv_status_t status = choose_blind(config, key, CLV_ALGORITHM_AUTO, decision);

    decision->reason = CLV_REASON_PREDICTED;
    return status;
}

clv_status_t clv_choose_without_forecast(const clv_choose_config_t *config,
                                         const clv_pap_stream_key_t *key,
                                         clv_choose_decision_t *decision)
{
    clv_status_t status =
        choose_blind(config, key, clv_choose_forced(config, key->collective), decision);

    decision->reason = CLV_REASON_FORCED;
    return status;
}
