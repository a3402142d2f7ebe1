/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Trials, and the incumbent (see choose_try.h).
 */
#include "choose/choose_try.h"

#include "choose/choose_gain.h"
#include "choose/choose_score.h"

/* Twice the forecasts that a trial's three blocks need if each forecast measures a call. */
#define MOST_FORECASTS (2 * CLV_CHOOSE_BLOCKS * (CLV_POLICY_BLOCK_CALLS + CLV_POLICY_CHANGE_CALLS))

bool clv_choose_try_has_incumbent(const clv_choose_iterations_t *iterations)
{
    return iterations->blocks.n_blocks > 0;
}

void clv_choose_try_set_incumbent(clv_choose_iterations_t *iterations, int32_t algorithm)
{
    if (iterations->incumbent != algorithm) {
        iterations->incumbent = algorithm;
        iterations->blocks = (clv_choose_blocks_t){0};
        iterations->n_odd = 0;
    }
}

bool clv_choose_try_may_guess(const clv_choose_config_t *config,
                              const clv_choose_iterations_t *iterations,
                              const clv_pap_forecast_t *forecast, int32_t algorithm)
{
    if (clv_algorithm_synchronises(algorithm)) {
        return false;
    }
    return config->objective != CLV_OBJECTIVE_PACE || clv_algorithm_is_static(algorithm) ||
           algorithm == CLV_ALGORITHM_PREVIOUS ||
           (!clv_choose_is_decoupled(config, iterations) &&
            (forecast->announced || forecast->n_record_sets >= CLV_POLICY_SURE_SETS));
}

/* ---- judging --------------------------------------------------------------------------------- */

static void forget_back_offs(clv_choose_iterations_t *iterations)
{
    for (int32_t a = 0; a < CLV_N_ALGORITHMS; a++) {
        iterations->back_off[a] = (clv_choose_back_off_t){0};
    }
}

/* Now ranks run decoupled, and did not under the incumbent: a static order is worth another
 * trial. */
static void forget_fixed_orders(clv_choose_iterations_t *iterations)
{
    for (int32_t a = 0; a < CLV_N_ALGORITHMS; a++) {
        if (clv_algorithm_is_static(a)) {
            iterations->back_off[a] = (clv_choose_back_off_t){0};
        }
    }
}

static bool is_permille_of(int64_t ns, int64_t permille, int64_t of_ns)
{
    return ns <= of_ns / 1000 * permille;
}

/* Adds a block. CLV_POLICY_ODD_BLOCKS odd blocks in a row mean that the program has changed: then
 * what was measured before is forgotten. */
static void judge_incumbent(clv_choose_iterations_t *iterations, int64_t block_ns)
{
    const int64_t middle_ns = clv_choose_blocks_middle(&iterations->blocks);
    const bool is_odd =
        middle_ns > 0 && (is_permille_of(block_ns, 1000 - CLV_POLICY_ODD_PERMILLE, middle_ns) ||
                          !is_permille_of(block_ns, 1000 + CLV_POLICY_ODD_PERMILLE, middle_ns));

    iterations->n_odd = is_odd ? iterations->n_odd + 1 : 0;
    if (iterations->n_odd >= CLV_POLICY_ODD_BLOCKS) {
        iterations->n_odd = 0;
        iterations->blocks = (clv_choose_blocks_t){0};
        iterations->has_been_decoupled = iterations->decoupled_sets > 0;
        forget_back_offs(iterations);
    }
    clv_choose_blocks_add(&iterations->blocks, block_ns);
}

static void wait_longer(clv_choose_back_off_t *back_off)
{
    back_off->wait_calls =
        back_off->wait_calls == 0 ? CLV_POLICY_FIRST_WAIT : 2 * back_off->wait_calls;
    back_off->age_calls = 0;
}

/* The trial has failed. */
static void end_trial(clv_choose_iterations_t *iterations)
{
    iterations->trial.is_on = false;
    wait_longer(&iterations->back_off[iterations->trial.algorithm]);
}

/* The loser may be tried again soon: if the program changed during the trial, it did not lose. */
static void win_trial(clv_choose_iterations_t *iterations)
{
    iterations->trial.is_on = false;
    clv_choose_try_set_incumbent(iterations, iterations->trial.algorithm);
    iterations->blocks = iterations->trial.blocks;
}

static void begin_trial(clv_choose_trial_t *trial, int32_t algorithm, int32_t needed_permille,
                        int64_t expected_loss_ns)
{
    trial->is_on = true;
    trial->algorithm = algorithm;
    trial->needed_permille = needed_permille;
    trial->n_forecasts = 0;
    trial->expected_loss_ns = expected_loss_ns;
    trial->blocks = (clv_choose_blocks_t){0};
}

static void judge_trial(clv_choose_iterations_t *iterations, int64_t block_ns)
{
    clv_choose_blocks_t *blocks = &iterations->trial.blocks;
    const int64_t before_ns = clv_choose_blocks_middle(&iterations->blocks);

    clv_choose_blocks_add(blocks, block_ns);
    if (!is_permille_of(clv_choose_blocks_middle(blocks), iterations->trial.needed_permille,
                        before_ns)) {
        end_trial(iterations);
    } else if (blocks->n_blocks == CLV_CHOOSE_BLOCKS) {
        win_trial(iterations);
    }
}

/* A substitute ran because neither the incumbent nor the trial had a plan, so it cost no trial. If
 * it is good enough, its trial begins with this block. */
static void judge_substitute(clv_choose_iterations_t *iterations, int32_t algorithm,
                             int64_t block_ns)
{
    if (is_permille_of(block_ns, CLV_POLICY_BETTER_PERMILLE,
                       clv_choose_blocks_middle(&iterations->blocks))) {
        begin_trial(&iterations->trial, algorithm, CLV_POLICY_BETTER_PERMILLE, 0);
        judge_trial(iterations, block_ns);
    }
}

/* ---- losses ---------------------------------------------------------------------------------- */

/* The loss of a trial: the time of its calls beyond the incumbent's iteration time. Gains offset
 * losses. */
static void count_loss(clv_choose_iterations_t *iterations, const clv_choose_interval_t *interval)
{
    const int64_t before_ns = clv_choose_blocks_middle(&iterations->blocks);

    iterations->trial.loss_ns +=
        interval->time_ns -
        clv_smaller(before_ns, CLV_CHOOSE_SCORE_CEILING_NS / interval->n_calls) * interval->n_calls;
}

/* The trial's last call has been measured: its loss is taken from the budget. */
static void pay(clv_choose_trial_t *trial)
{
    const int64_t loss_ns = clv_smaller(clv_larger(trial->loss_ns, 0), CLV_CHOOSE_SCORE_CEILING_NS);

    trial->loss_ns = 0;
    trial->budget_ns -= loss_ns;
    trial->regret_ns = clv_smaller(trial->regret_ns, INT64_MAX - loss_ns) + loss_ns;
}

/* Ends a trial whose loss exceeds the budget, including the loss expected of the calls under
 * way. */
static void stop_loss(clv_choose_iterations_t *iterations)
{
    const clv_choose_trial_t *trial = &iterations->trial;

    if (trial->is_on && trial->loss_ns > 0 &&
        trial->loss_ns + (CLV_CHOOSE_UNMEASURED_CALLS - 1) * trial->expected_loss_ns >
            trial->budget_ns) {
        end_trial(iterations);
    }
}

/* Ends a trial whose blocks do not fill up, because calls without a forecast run something else. */
static void stop_waiting(clv_choose_iterations_t *iterations)
{
    clv_choose_trial_t *trial = &iterations->trial;

    if (trial->is_on && ++trial->n_forecasts > MOST_FORECASTS) {
        end_trial(iterations);
    }
}

static void account(clv_choose_iterations_t *iterations, const clv_choose_interval_t *interval)
{
    const bool is_trial = clv_choose_try_has_incumbent(iterations) &&
                          interval->algorithm == iterations->trial.algorithm &&
                          interval->algorithm != iterations->incumbent;
    int64_t block_ns;

    clv_choose_gain_look(iterations, interval);
    if (is_trial) {
        count_loss(iterations, interval);
    } else {
        pay(&iterations->trial);
    }
    if (!clv_choose_block_add(&iterations->block, interval, &block_ns)) {
        stop_loss(iterations);
    } else if (interval->algorithm == iterations->incumbent) {
        judge_incumbent(iterations, block_ns);
    } else if (is_trial && iterations->trial.is_on) {
        judge_trial(iterations, block_ns);
    } else if (!is_trial) {
        judge_substitute(iterations, interval->algorithm, block_ns);
    }
}

void clv_choose_try_account(const clv_choose_config_t *config, const clv_pap_forecast_t *forecast,
                            const clv_pap_progress_t *progress, clv_choose_iterations_t *iterations)
{
    const bool was_decoupled = clv_choose_is_decoupled(config, iterations);
    const clv_choose_interval_t interval =
        clv_choose_iterations_take(config, forecast, progress, iterations);
    const int64_t earned_ns =
        iterations->n_pauses > 0 ? 0 : interval.elapsed_ns / 1000 * CLV_POLICY_BUDGET_PERMILLE;
    int64_t block_ns;

    iterations->trial.budget_ns =
        clv_smaller(iterations->trial.budget_ns + earned_ns, CLV_CHOOSE_SCORE_CEILING_NS);
    for (int32_t a = 0; a < CLV_N_ALGORITHMS; a++) {
        iterations->back_off[a].age_calls += clv_larger(interval.n_calls, 1);
    }
    if (interval.n_calls == 0) {
        (void) clv_choose_block_add(&iterations->block, &interval, &block_ns);
    } else if (iterations->n_pauses == 0) {
        account(iterations, &interval);
    }
    stop_waiting(iterations);
    if (!was_decoupled && clv_choose_is_decoupled(config, iterations)) {
        forget_fixed_orders(iterations);
    }
}

/* ---- what to try ----------------------------------------------------------------------------- */

/* The expected iteration time, by estimates. If ranks are decoupled, an order by arrivals makes
 * each rank wait for the slowest again. Under a static order, ranks in time run as fast as the
 * slowest one computes, and in any case no slower than under a plan that makes them wait. */
static int64_t expected_iteration(const clv_choose_search_t *search, int32_t algorithm)
{
    const clv_choose_iterations_t *iterations = &search->state->iterations;
    const int64_t incumbent_ns = clv_choose_blocks_middle(&iterations->blocks);
    const int64_t gain_ns = search->score[iterations->incumbent] - search->score[algorithm];
    const int64_t expected_ns = clv_larger(incumbent_ns - gain_ns, 1);
    const bool is_stable = clv_algorithm_is_static(algorithm);

    if (!clv_choose_is_decoupled(search->config, iterations) ||
        algorithm == CLV_ALGORITHM_PREVIOUS) {
        return expected_ns;
    }
    if (is_stable) {
        return clv_algorithm_is_static(iterations->incumbent)
                   ? expected_ns
                   : clv_smaller(incumbent_ns / 1000 * CLV_POLICY_BETTER_PERMILLE,
                                 iterations->computing_ns);
    }
    return clv_larger(expected_ns,
                      iterations->computing_ns + search->found[algorithm].predicted_after_ns);
}

/* Under a static order, decoupled ranks run as fast as the slowest one computes. A trial that would
 * have to be faster cannot win: another static order costs ranks their distances, and an order by
 * arrival only separates them while it runs, and they wait for each other when it ends. */
static bool cannot_gain(const clv_choose_search_t *search)
{
    const clv_choose_iterations_t *iterations = &search->state->iterations;

    return search->config->objective == CLV_OBJECTIVE_PACE && iterations->has_been_decoupled &&
           clv_algorithm_is_static(iterations->incumbent) &&
           !is_permille_of(iterations->computing_ns, 1000 - CLV_POLICY_NOISE_PERMILLE,
                           clv_choose_blocks_middle(&iterations->blocks));
}

static bool may_try(const clv_choose_search_t *search, const clv_pap_forecast_t *forecast,
                    int32_t algorithm, int64_t expected_ns)
{
    const clv_choose_iterations_t *iterations = &search->state->iterations;
    const clv_choose_back_off_t *back_off = &iterations->back_off[algorithm];
    const int64_t n_calls = CLV_CHOOSE_UNMEASURED_CALLS * clv_larger(forecast->sample_every, 1);
    const int64_t loss_ns =
        clv_larger(expected_ns - clv_choose_blocks_middle(&iterations->blocks), 0);

    return back_off->age_calls >= back_off->wait_calls && iterations->trial.budget_ns > 0 &&
           loss_ns <= iterations->trial.budget_ns / n_calls;
}

/* Compares measured times if both were measured: segments that leave without their receiver let
 * their rank leave the call, which estimates ignore. */
static bool is_less_in_mpi(const clv_choose_search_t *search, int32_t algorithm, int32_t incumbent)
{
    const clv_choose_score_t *one = &search->state->score[algorithm];
    const clv_choose_score_t *other = &search->state->score[incumbent];

    if (one->n_measured > 0 && other->n_measured > 0) {
        return is_permille_of(one->in_mpi_ns, CLV_POLICY_WAITS_PERMILLE, other->in_mpi_ns);
    }
    return is_permille_of(search->found[algorithm].predicted_in_mpi_ns, CLV_POLICY_WAITS_PERMILLE,
                          search->found[incumbent].predicted_in_mpi_ns);
}

/* Whether it is expected to end calls no later than the incumbent, with much less time in MPI. */
static bool waits_less(const clv_choose_search_t *search, int32_t algorithm)
{
    const int32_t incumbent = search->state->iterations.incumbent;

    return search->config->objective == CLV_OBJECTIVE_PACE &&
           search->score[algorithm] <= search->score[incumbent] &&
           is_less_in_mpi(search, algorithm, incumbent);
}

/* The longest iteration time that wins a trial, permille. A program that waits for a clock or
 * another process has the same iteration time whatever runs: then a clearly better estimate is
 * enough, or clearly less time in MPI. But if ranks are decoupled, a trial profits from the
 * distances that a static order has made. */
static int32_t needed_permille(const clv_choose_search_t *search, int32_t algorithm)
{
    const clv_choose_iterations_t *iterations = &search->state->iterations;

    if (clv_choose_is_decoupled(search->config, iterations)) {
        return CLV_POLICY_BETTER_PERMILLE;
    }
    if (!is_permille_of(search->score[algorithm], CLV_POLICY_CLEAR_PERMILLE,
                        search->score[iterations->incumbent])) {
        return waits_less(search, algorithm) ? 1000 : CLV_POLICY_BETTER_PERMILLE;
    }
    return 1000 + (int32_t) clv_smaller(clv_choose_blocks_spread(&iterations->blocks),
                                        CLV_POLICY_NOISE_PERMILLE);
}

/* The algorithm with the least expected iteration time among those that may be tried; -1: none. */
static int32_t most_promising(const clv_choose_search_t *search, const clv_pap_forecast_t *forecast,
                              int64_t *expected_p)
{
    int32_t best = -1;

    for (int32_t a = 0; a < CLV_N_ALGORITHMS; a++) {
        if (a != search->state->iterations.incumbent && search->score[a] >= 0) {
            const int64_t expected_ns = expected_iteration(search, a);
            if ((best < 0 || expected_ns < *expected_p ||
                 (expected_ns == *expected_p && a == search->state->fixed)) &&
                may_try(search, forecast, a, expected_ns)) {
                best = a;
                *expected_p = expected_ns;
            }
        }
    }
    return best;
}

void clv_choose_try_next(const clv_choose_search_t *search, const clv_pap_forecast_t *forecast)
{
    clv_choose_iterations_t *iterations = &search->state->iterations;
    clv_choose_trial_t *trial = &iterations->trial;
    const bool in_vain = cannot_gain(search);
    int64_t expected_ns = 0;
    int32_t algorithm;

    if (trial->is_on && (search->score[trial->algorithm] < 0 || /* its plan is gone */
                         in_vain)) {
        end_trial(iterations);
    }
    if (trial->is_on || in_vain || trial->loss_ns != 0 ||
        search->score[iterations->incumbent] < 0 || iterations->call < CLV_CHOOSE_FIRST_CALLS) {
        return;
    }
    algorithm = most_promising(search, forecast, &expected_ns);
    if (algorithm >= 0) {
        begin_trial(trial, algorithm, needed_permille(search, algorithm),
                    clv_larger(expected_ns - clv_choose_blocks_middle(&iterations->blocks), 0));
    }
}
