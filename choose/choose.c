/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Selects the plan for a forecast (see choose.h for the rules).
 */
#include "choose/choose.h"

#include "choose/choose_previous.h"
#include "choose/choose_score.h"
#include "choose/choose_search.h"
#include "choose/choose_try.h"

/* Arrivals cannot rank static orders against each other, so only the one that is best with equal
 * arrivals competes. */
static bool is_dominated(const clv_choose_search_t *search, int32_t algorithm)
{
    return clv_algorithm_is_static(algorithm) && algorithm != search->state->fixed;
}

/* The plan with the lowest score: of all that do not synchronise, or only of those that estimates
 * alone may choose. CLV_ALGORITHM_PREVIOUS: there is none. */
static int32_t best_of(const clv_choose_search_t *search, const clv_pap_forecast_t *forecast,
                       bool all)
{
    int32_t best = CLV_ALGORITHM_PREVIOUS;

    for (int32_t a = 0; a < CLV_N_ALGORITHMS; a++) {
        if (a != CLV_ALGORITHM_PREVIOUS && search->score[a] >= 0 && !is_dominated(search, a) &&
            ((all && !clv_algorithm_synchronises(a)) ||
             clv_choose_try_may_guess(search->config, &search->state->iterations, forecast, a)) &&
            (best == CLV_ALGORITHM_PREVIOUS || search->score[a] < search->score[best])) {
            best = a;
        }
    }
    return best;
}

/* If no plan may be chosen by estimates, as in a collective without a static order, all may. */
static int32_t best_guess(const clv_choose_search_t *search, const clv_pap_forecast_t *forecast)
{
    const int32_t best = best_of(search, forecast, false);

    return best == CLV_ALGORITHM_PREVIOUS ? best_of(search, forecast, true) : best;
}

/* Only a clear gain replaces the previous function; but a chain inside hosts does unless it is
 * clearly worse. The previous function sends whole vectors inside a host, which takes several times
 * its estimate where all ranks of the host begin together; and under a static order ranks can
 * decouple. */
static bool replaces_previous(int32_t algorithm, int64_t score, int64_t previous_score)
{
    return clv_algorithm_has(algorithm, CLV_TRAIT_HOSTS)
               ? score / 1000 * CLV_POLICY_CLEAR_PERMILLE <= previous_score
               : score < previous_score / 1000 * CLV_POLICY_CLEAR_PERMILLE;
}

/* Only a clear gain replaces the running plan, too. */
static int32_t guess(const clv_choose_search_t *search, const clv_pap_forecast_t *forecast,
                     int32_t *reason_p)
{
    const int32_t running = search->state->running;
    const int64_t previous_score = search->score[CLV_ALGORITHM_PREVIOUS];
    const int32_t best = best_guess(search, forecast);

    *reason_p = CLV_REASON_NO_PLAN;
    if (best == CLV_ALGORITHM_PREVIOUS) {
        return best;
    }
    *reason_p = CLV_REASON_NO_GAIN;
    if (!replaces_previous(best, search->score[best], previous_score)) {
        return CLV_ALGORITHM_PREVIOUS;
    }
    *reason_p = CLV_REASON_KEPT;
    if (running != best && running != CLV_ALGORITHM_PREVIOUS && search->score[running] >= 0 &&
        clv_choose_try_may_guess(search->config, &search->state->iterations, forecast, running) &&
        search->score[best] >= search->score[running] / 1000 * CLV_POLICY_CLEAR_PERMILLE) {
        return running;
    }
    *reason_p = CLV_REASON_PREDICTED;
    return best;
}

/* Decides by estimates until something has been measured, then by the iteration time: the incumbent
 * runs, or the algorithm on trial. Without `judges` the trials of the stream's other keys are
 * followed and none begins. */
static void keep_incumbent(clv_choose_search_t *search, const clv_pap_forecast_t *forecast,
                           bool judges, clv_choose_decision_t *decision)
{
    clv_choose_iterations_t *iterations = &search->state->iterations;
    int32_t reason = CLV_REASON_NO_PLAN;
    int32_t algorithm = guess(search, forecast, &reason);

    if (!clv_choose_try_has_incumbent(iterations)) {
        if (judges) {
            clv_choose_try_set_incumbent(iterations, algorithm);
        }
    } else if (search->score[iterations->incumbent] >= 0) {
        if (judges) {
            clv_choose_try_next(search, forecast);
        }
        reason = algorithm == iterations->incumbent ? reason : CLV_REASON_KEPT;
        algorithm = iterations->incumbent;
    }
    if (iterations->trial.is_on && search->score[iterations->trial.algorithm] >= 0) {
        reason = CLV_REASON_TRYING;
        algorithm = iterations->trial.algorithm;
    }
    *decision = search->found[algorithm];
    decision->reason = reason;
}

static clv_status_t choose(clv_choose_search_t *search, const clv_pap_forecast_t *forecast,
                           bool judges, clv_choose_decision_t *decision)
{
    clv_choose_decision_t *previous = &search->found[CLV_ALGORITHM_PREVIOUS];
    clv_status_t status = clv_choose_search_plans(search, forecast);

    if (status == CLV_OK) {
        status = clv_choose_previous(search->config, search->key, search->order_ns, previous);
    }
    if (status != CLV_OK) {
        return status;
    }
    search->score[CLV_ALGORITHM_PREVIOUS] =
        clv_choose_score(search->config, search->state, CLV_ALGORITHM_PREVIOUS,
                         previous->predicted_after_ns, previous->predicted_in_mpi_ns);
    if (search->forced >= 0 && search->best_score >= 0) {
        *decision = search->best;
        decision->reason = CLV_REASON_FORCED;
    } else {
        keep_incumbent(search, forecast, judges, decision);
    }
    return CLV_OK;
}

void clv_choose_share(const clv_choose_state_t *from, clv_choose_state_t *to)
{
    const clv_choose_score_t *known = &from->score[CLV_ALGORITHM_PREVIOUS];
    clv_choose_score_t *score = &to->score[CLV_ALGORITHM_PREVIOUS];

    if (score->n_measured == 0 && known->n_measured > 0) {
        *score = *known;
    }
    to->iterations = from->iterations;
}

clv_status_t clv_choose(const clv_choose_config_t *config, const clv_pap_stream_key_t *key,
                        const clv_pap_forecast_t *forecast, clv_choose_state_t *state,
                        clv_plan_cache_t *plans, clv_choose_decision_t *decision)
{
    const clv_pap_progress_t unknown = {0};
    return clv_choose_shared(config, key, forecast, &unknown, true, state, plans, decision);
}

/* No rank leaves an allreduce before all have arrived, so it never shows decoupled ranks. */
static clv_pap_progress_t seen_of(const clv_pap_stream_key_t *key,
                                  const clv_pap_progress_t *progress)
{
    clv_pap_progress_t seen = *progress;

    seen.is_decoupled &= clv_collectives[key->collective].goal != CLV_GOAL_ALLREDUCE;
    return seen;
}

clv_status_t clv_choose_shared(const clv_choose_config_t *config, const clv_pap_stream_key_t *key,
                               const clv_pap_forecast_t *forecast,
                               const clv_pap_progress_t *progress, bool judges,
                               clv_choose_state_t *state, clv_plan_cache_t *plans,
                               clv_choose_decision_t *decision)
{
    clv_choose_search_t search;
    clv_status_t status = clv_choose_search_open(config, key, forecast, state, plans, &search);

    if (status != CLV_OK) {
        return status;
    }
    if (judges) { /* counts once, for the key that had the call */
        const clv_pap_progress_t seen = seen_of(key, progress);
        clv_choose_try_account(config, forecast, &seen, &state->iterations);
    }
    clv_choose_learn(config, state, forecast, judges);
    status = choose(&search, forecast, judges, decision);
    if (status == CLV_OK) {
        decision->sigma_ns = forecast->sigma_ns;
        decision->announced = forecast->announced;
        decision->is_decoupled = state->iterations.decoupled_sets > 0;
        state->running = decision->algorithm;
        state->made[forecast->version % CLV_CHOOSE_RING] = *decision;
    }
    clv_choose_search_close(&search);
    return status;
}

clv_status_t clv_choose_plan(const clv_choose_config_t *config, const clv_pap_stream_key_t *key,
                             const clv_pap_forecast_t *forecast,
                             const clv_choose_decision_t *decision, clv_plan_t **plan_p)
{
    clv_choose_search_t search;
    clv_status_t status = clv_choose_search_open(config, key, forecast, NULL, NULL, &search);

    if (status == CLV_OK) {
        status = clv_choose_search_make(&search, decision, plan_p);
        clv_choose_search_close(&search);
    }
    return status;
}

clv_status_t clv_choose_cached_plan(const clv_choose_config_t *config,
                                    const clv_pap_stream_key_t *key,
                                    const clv_pap_forecast_t *forecast,
                                    const clv_choose_decision_t *decision, clv_plan_cache_t *plans,
                                    const clv_plan_t **plan_p)
{
    clv_choose_search_t search;
    clv_status_t status = clv_choose_search_open(config, key, forecast, NULL, plans, &search);

    if (status == CLV_OK) {
        status = clv_choose_search_keep(&search, decision, plan_p);
        clv_choose_search_close(&search);
    }
    return status;
}

/* The score without experience. */
static int64_t score_of(const clv_choose_config_t *config, const clv_choose_decision_t *decision)
{
    return clv_choose_score(config, NULL, decision->algorithm, decision->predicted_after_ns,
                            decision->predicted_in_mpi_ns);
}

/* The first static algorithm, whose plans do not depend on arrivals; CLV_ALGORITHM_PREVIOUS:
 * none. */
static int32_t fixed_algorithm(int32_t collective)
{
    for (int32_t a = 0; a < CLV_N_ALGORITHMS; a++) {
        if (clv_algorithm_is_static(a) && clv_algorithm_plans(a, collective)) {
            return a;
        }
    }
    return CLV_ALGORITHM_PREVIOUS;
}

/* The static order with the lowest score; CLV_ALGORITHM_PREVIOUS: none. */
static int32_t best_fixed(const clv_choose_search_t *search)
{
    int32_t best = CLV_ALGORITHM_PREVIOUS;

    for (int32_t a = 0; a < CLV_N_ALGORITHMS; a++) {
        if (clv_algorithm_is_static(a) && search->score[a] >= 0 &&
            (best == CLV_ALGORITHM_PREVIOUS || search->score[a] < search->score[best])) {
            best = a;
        }
    }
    return best;
}

/* Prefers a static order that ends about as early as the best plan, whatever its time in MPI. Calls
 * without a forecast (a void record set) come between calls with one, and a change of order takes
 * from ranks what they are ahead. */
static void prefer_fixed(const clv_choose_search_t *search, clv_choose_decision_t *decision)
{
    const int32_t fixed = best_fixed(search);

    if (fixed != CLV_ALGORITHM_PREVIOUS &&
        search->found[fixed].predicted_after_ns / 1000 * CLV_POLICY_CLEAR_PERMILLE <=
            search->best.predicted_after_ns) {
        *decision = search->found[fixed];
    }
}

/* Chooses for equal arrivals: the forced algorithm, or any for CLV_ALGORITHM_AUTO. is_to_run: a
 * static order that is about as good is preferred. *fixed_p: the best static order; may be NULL. */
static clv_status_t choose_blind(const clv_choose_config_t *config, const clv_pap_stream_key_t *key,
                                 int32_t forced, bool is_to_run, clv_choose_decision_t *decision,
                                 int32_t *fixed_p)
{
    clv_choose_search_t search;
    clv_status_t status = clv_choose_search_open(config, key, NULL, NULL, NULL, &search);

    if (status != CLV_OK) {
        return status;
    }
    search.forced = forced;
    status = clv_choose_search_plans(&search, NULL);
    if (status == CLV_OK && search.best_score < 0) {
        status = CLV_LIMIT;
    }
    if (status == CLV_OK) {
        *decision = search.best;
        if (is_to_run) {
            prefer_fixed(&search, decision);
        }
        if (fixed_p != NULL) {
            *fixed_p = best_fixed(&search);
        }
    }
    clv_choose_search_close(&search);
    return status;
}

/* fixed_p as in choose_blind. */
static clv_status_t choose_balanced(const clv_choose_config_t *config,
                                    const clv_pap_stream_key_t *key, int32_t algorithm,
                                    clv_choose_decision_t *decision, int32_t *fixed_p)
{
    const clv_status_t status = choose_blind(config, key, algorithm, false, decision, fixed_p);

    if (status == CLV_OK) {
        decision->reason = CLV_REASON_PREDICTED;
    }
    return status;
}

clv_status_t clv_choose_balanced(const clv_choose_config_t *config, const clv_pap_stream_key_t *key,
                                 clv_choose_decision_t *decision)
{
    return choose_balanced(config, key, CLV_ALGORITHM_AUTO, decision, NULL);
}

clv_status_t clv_choose_balanced_and_fixed(const clv_choose_config_t *config,
                                           const clv_pap_stream_key_t *key,
                                           clv_choose_decision_t *decision, int32_t *fixed_p)
{
    return choose_balanced(config, key, CLV_ALGORITHM_AUTO, decision, fixed_p);
}

clv_status_t clv_choose_balanced_of(const clv_choose_config_t *config,
                                    const clv_pap_stream_key_t *key, int32_t algorithm,
                                    clv_choose_decision_t *decision)
{
    return choose_balanced(config, key, algorithm, decision, NULL);
}

/* A plan that needs no forecast, or the previous function. */
static clv_status_t choose_balanced_or_previous(const clv_choose_config_t *config,
                                                const clv_pap_stream_key_t *key,
                                                const clv_choose_decision_t *previous,
                                                clv_choose_decision_t *decision)
{
    const clv_status_t status = choose_blind(config, key, CLV_ALGORITHM_AUTO, true, decision, NULL);

    decision->reason = CLV_REASON_NO_FORECAST;
    if (status == CLV_OK && !replaces_previous(decision->algorithm, score_of(config, decision),
                                               score_of(config, previous))) {
        *decision = *previous;
        decision->reason = CLV_REASON_NO_GAIN;
    }
    return status;
}

/* Replaces the decision by a classic algorithm that is estimated to end clearly earlier. Compares
 * them only where that is cheap, since a call is waiting: for 1,024 ranks it would take 14 to 155
 * ms. */
static clv_status_t prefer_classic(const clv_choose_config_t *config,
                                   const clv_pap_stream_key_t *key, clv_choose_decision_t *decision)
{
    clv_choose_decision_t classic;
    clv_status_t status = CLV_OK;

    if (!clv_choose_search_is_cheap(config, key)) {
        return CLV_OK;
    }
    for (int32_t a = 0; a < CLV_N_ALGORITHMS && status != CLV_NO_MEMORY; a++) {
        if (!clv_algorithm_synchronises(a) || !clv_algorithm_plans(a, key->collective)) {
            continue;
        }
        status = choose_blind(config, key, a, false, &classic, NULL);
        if (status == CLV_OK && classic.predicted_after_ns < decision->predicted_after_ns / 1000 *
                                                                 CLV_POLICY_CLEAR_PERMILLE) {
            *decision = classic;
            decision->reason = CLV_REASON_NO_FORECAST;
        }
    }
    return status == CLV_NO_MEMORY ? status : CLV_OK; /* a limit: it has no plan */
}

/* What coll_clv_fallback asks for. */
static clv_status_t choose_fallback(const clv_choose_config_t *config,
                                    const clv_pap_stream_key_t *key,
                                    clv_choose_decision_t *decision)
{
    const int32_t wanted = clv_algorithm_of_fallback(config->fallback, key->collective);
    clv_choose_decision_t previous = {.reason = CLV_REASON_NO_FORECAST};
    clv_status_t status = clv_choose_previous(config, key, NULL, &previous);

    if (status != CLV_OK || wanted == CLV_ALGORITHM_PREVIOUS) {
        *decision = previous;
        return status;
    }
    if (wanted == CLV_ALGORITHM_AUTO) {
        status = choose_balanced_or_previous(config, key, &previous, decision);
        return status == CLV_OK ? prefer_classic(config, key, decision) : status;
    }
    status = choose_blind(config, key, wanted, false, decision, NULL);
    decision->reason = CLV_REASON_NO_FORECAST;
    return status;
}

clv_status_t clv_choose_without_forecast(const clv_choose_config_t *config,
                                         const clv_pap_stream_key_t *key,
                                         clv_choose_decision_t *decision)
{
    const int32_t forced = clv_choose_forced(config, key->collective);
    clv_status_t status;

    if (forced >= 0) {
        status = choose_blind(config, key, forced, true, decision, NULL);
        decision->reason = CLV_REASON_FORCED;
    } else {
        status = choose_fallback(config, key, decision);
    }
    decision->is_blind = 1;
    return status;
}

/* ---- fixed ----------------------------------------------------------------------------------- */

/* The same number of segments for each rank, whatever was measured; at least one per rank if there
 * are enough elements. */
static int32_t fixed_segments(const clv_choose_config_t *config, const clv_pap_stream_key_t *key)
{
    const int64_t segment_bytes =
        config->segment_bytes > 0 ? config->segment_bytes : CLV_COST_SEGMENT_BYTES;
    const int64_t per_round = segment_bytes * config->n_ranks;
    const int64_t each = clv_larger((key->total_bytes + per_round / 2) / per_round, 1);
    const int64_t most = clv_smaller(key->max_segments, CLV_SCHED_MAX_SEGMENTS / 2);

    if (each <= most / config->n_ranks) {
        return (int32_t) each * config->n_ranks;
    }
    return (int32_t) clv_larger(most / config->n_ranks * config->n_ranks,
                                clv_smaller(most, config->n_ranks));
}

clv_status_t clv_choose_fixed(const clv_choose_config_t *config, const clv_pap_stream_key_t *key,
                              clv_choose_decision_t *decision, clv_plan_t **plan_p)
{
    clv_choose_config_t alone = *config;

    *decision = (clv_choose_decision_t){.algorithm = fixed_algorithm(key->collective),
                                        .reason = CLV_REASON_REPRODUCIBLE,
                                        .n_segments = fixed_segments(config, key),
                                        .round_ns = 1};
    if (decision->algorithm == CLV_ALGORITHM_PREVIOUS ||
        (int64_t) decision->n_segments * config->n_ranks > config->max_cells) {
        return CLV_LIMIT;
    }
    alone.place = NULL;
    return clv_choose_plan(&alone, key, NULL, decision, plan_p);
}

clv_status_t clv_choose_begin(const clv_choose_config_t *config, const clv_pap_stream_key_t *key,
                              const int32_t announced[CLV_CHOOSE_RING], clv_choose_state_t *state)
{
    clv_choose_decision_t ran = {.algorithm = CLV_ALGORITHM_PREVIOUS};
    clv_status_t status = clv_choose_without_forecast(config, key, &ran);

    if (status != CLV_OK && status != CLV_NO_MEMORY) { /* a limit: the previous function */
        status = clv_choose_previous(config, key, NULL, &ran);
        ran.is_blind = 1;
    }
    *state = (clv_choose_state_t){.running = ran.algorithm};
    for (int32_t i = 0; i < CLV_CHOOSE_RING; i++) {
        state->made[i] = ran;
        state->made[i].announced = announced[i];
    }
    return status == CLV_NO_MEMORY ? status : CLV_OK;
}
