/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which plan for which board (see coll_clv_decide.h for the rules).
 */
#include "choose/choose.h"

#include "choose/choose_score.h"
#include "choose/choose_search.h"

#define LEARN_CALLS     2   /* measured calls of the previous reduce before anything else */
#define LEAVE_PERMILLE  970 /* leave the previous reduce only below this share of its score */
#define SWITCH_PERMILLE 950 /* leave a running plan only below this share of its score */

static const char *const reasons[] = {
#define REASON_ROW(code, name, text) text,
    COLL_CLV_REASON_MAP(REASON_ROW)
#undef REASON_ROW
};

const char *coll_clv_choice_name(coll_clv_choice_t choice)
{
    return (unsigned) choice < COLL_CLV_N_CHOICES ? coll_clv_choices[choice].name : "unknown";
}

const char *coll_clv_reason_text(int reason)
{
    return (unsigned) reason < sizeof reasons / sizeof reasons[0] ? reasons[reason] : "unknown";
}

static int64_t ceil_log2(int32_t n)
{
    int64_t log = 0;
    while (((int64_t) 1 << log) < n) {
        log++;
    }
    return log;
}

/* Open MPI's reduce of medium and long vectors is an unsegmented binomial tree. */
static void predict_previous(const coll_clv_terms_t *terms, int64_t n_bytes,
                             coll_clv_decision_t *decision)
{
    int64_t tree_ns =
        clv_smaller(clv_cost_round_ns(&terms->cost, n_bytes), COLL_CLV_SCORE_CEILING_NS / 64);

    decision->choice = COLL_CLV_CHOICE_PREVIOUS;
    decision->n_segments = 1;
    decision->round_ns = tree_ns;
    decision->predicted_after_ns = tree_ns * ceil_log2(terms->n_ranks);
    decision->predicted_in_mpi_ns = decision->predicted_after_ns;
}

static void settle(coll_clv_search_t *search, const coll_clv_decision_t *previous,
                   coll_clv_decision_t *decision)
{
    int64_t previous_score =
        coll_clv_score(search->memory, COLL_CLV_CHOICE_PREVIOUS, previous->predicted_after_ns,
                       previous->predicted_in_mpi_ns);

    if (search->best_score < 0) {
        *decision = *previous;
        decision->reason = COLL_CLV_REASON_NO_PLAN;
    } else if (search->best_score >= previous_score / 1000 * LEAVE_PERMILLE) {
        *decision = *previous;
        decision->reason = COLL_CLV_REASON_NO_GAIN;
    } else if (search->running_score >= 0 && search->best.choice != search->running.choice &&
               search->best_score >= search->running_score / 1000 * SWITCH_PERMILLE) {
        *decision = search->running;
        decision->reason = COLL_CLV_REASON_KEPT;
    } else {
        *decision = search->best;
        decision->reason = COLL_CLV_REASON_PREDICTED;
    }
}

static clv_status_t choose(coll_clv_search_t *search, const clv_pap_board_t *board,
                           coll_clv_decision_t *decision)
{
    coll_clv_decision_t previous = {0};
    clv_status_t status;

    predict_previous(search->terms, search->key->total_bytes, &previous);
    if (search->terms->forced < 0 &&
        search->memory->score[COLL_CLV_CHOICE_PREVIOUS].n_measured < LEARN_CALLS) {
        *decision = previous;
        decision->reason = COLL_CLV_REASON_LEARNING;
        return CLV_OK;
    }
    status = coll_clv_search_plans(search, board);
    if (CLV_OK != status) {
        return status;
    }
    if (search->terms->forced >= 0 && search->best_score >= 0) {
        *decision = search->best;
        decision->reason = COLL_CLV_REASON_FORCED;
    } else {
        settle(search, &previous, decision);
    }
    return CLV_OK;
}

clv_status_t coll_clv_decide(const coll_clv_terms_t *terms, const clv_pap_stream_key_t *key,
                             const clv_pap_board_t *board, coll_clv_memory_t *memory,
                             clv_plan_cache_t *plans, coll_clv_decision_t *decision)
{
    coll_clv_search_t search;
    clv_status_t status = coll_clv_search_open(terms, key, board, memory, plans, &search);

    if (CLV_OK != status) {
        return status;
    }
    coll_clv_score_learn(memory, board);
    status = choose(&search, board, decision);
    if (CLV_OK == status) {
        decision->sigma_ns = board->sigma_ns;
        decision->announced = board->announced;
        memory->running = decision->choice;
        memory->made[board->version % COLL_CLV_DECIDE_RING] = *decision;
    }
    coll_clv_search_close(&search);
    return status;
}

clv_status_t coll_clv_decided_plan(const coll_clv_terms_t *terms, const clv_pap_stream_key_t *key,
                                   const clv_pap_board_t *board,
                                   const coll_clv_decision_t *decision, clv_plan_t **plan_p)
{
    coll_clv_search_t search;
    clv_status_t status = coll_clv_search_open(terms, key, board, NULL, NULL, &search);

    if (CLV_OK == status) {
        status = coll_clv_search_make(&search, decision, plan_p);
        coll_clv_search_close(&search);
    }
    return status;
}

clv_status_t coll_clv_kept_plan(const coll_clv_terms_t *terms, const clv_pap_stream_key_t *key,
                                const clv_pap_board_t *board, const coll_clv_decision_t *decision,
                                clv_plan_cache_t *plans, const clv_plan_t **plan_p)
{
    coll_clv_search_t search;
    clv_status_t status = coll_clv_search_open(terms, key, board, NULL, plans, &search);

    if (CLV_OK == status) {
        status = coll_clv_search_keep(&search, decision, plan_p);
        coll_clv_search_close(&search);
    }
    return status;
}

clv_status_t coll_clv_decide_blind(const coll_clv_terms_t *terms, const clv_pap_stream_key_t *key,
                                   coll_clv_decision_t *decision)
{
    coll_clv_search_t search;
    clv_status_t status = coll_clv_search_open(terms, key, NULL, NULL, NULL, &search);

    if (CLV_OK != status) {
        return status;
    }
    status = coll_clv_search_plans(&search, NULL);
    if (CLV_OK == status && search.best_score < 0) {
        status = CLV_LIMIT;
    }
    if (CLV_OK == status) {
        *decision = search.best;
        decision->reason = COLL_CLV_REASON_FORCED;
    }
    coll_clv_search_close(&search);
    return status;
}
