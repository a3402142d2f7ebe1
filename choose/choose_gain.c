/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gains, interval by interval (see choose_gain.h).
 */
#include "choose/choose_gain.h"

#include "choose/choose_score.h"

#define PARTS 10000 /* of a ratio */

/* ns * one_ns / other_ns without overflow. It drops the last digits, which do not matter in times
 * this long. */
static int64_t times_ratio(int64_t ns, int64_t one_ns, int64_t other_ns)
{
    const int64_t ratio =
        clv_smaller(one_ns, CLV_CHOOSE_SCORE_CEILING_NS) * PARTS / clv_larger(other_ns, 1);

    return clv_smaller(ns, CLV_CHOOSE_SCORE_CEILING_NS) / PARTS *
           clv_smaller(ratio, PARTS * PARTS / 100);
}

static bool is_compared(const clv_choose_gain_t *gain)
{
    return gain->own_ns > 0 && gain->previous_ns > 0;
}

/* The account's algorithm is not the incumbent any more: its time goes into the sums. */
static void close_account(clv_choose_gain_t *gain)
{
    if (is_compared(gain)) {
        gain->sum.took_ns += gain->run_ns;
        gain->sum.would_ns += times_ratio(gain->run_ns, gain->previous_ns, gain->own_ns);
    } else {
        gain->sum.unknown_ns += gain->run_ns;
    }
    gain->run_ns = 0;
}

/* Sets what the new incumbent is compared by. If it beat the previous function, that is its trial;
 * if it beat another plan, that plan's comparison scaled by both iteration times. */
static void open_account(clv_choose_gain_t *gain, int32_t algorithm, int64_t iteration_ns)
{
    if (gain->algorithm == CLV_ALGORITHM_PREVIOUS) {
        const bool was_tried = algorithm == gain->tried;
        gain->own_ns = was_tried ? gain->tried_ns : 0;
        gain->previous_ns = was_tried ? gain->beside_ns : 0;
    } else if (algorithm != CLV_ALGORITHM_PREVIOUS && gain->iteration_ns > 0 && iteration_ns > 0) {
        gain->own_ns = times_ratio(gain->own_ns, iteration_ns, gain->iteration_ns);
    } else {
        gain->own_ns = 0;
        gain->previous_ns = 0;
    }
    gain->algorithm = algorithm;
}

static void turn(clv_choose_gain_t *gain, const clv_choose_iterations_t *iterations)
{
    if (gain->algorithm != CLV_ALGORITHM_PREVIOUS) {
        close_account(gain); /* else the time before there was an incumbent carries over */
    }
    open_account(gain, iterations->incumbent, clv_choose_blocks_middle(&iterations->blocks));
}

static void compare(clv_choose_gain_t *gain, const clv_choose_iterations_t *iterations,
                    int64_t n_calls, int64_t own_ns, int64_t previous_ns)
{
    const int64_t spread_permille = iterations->blocks.n_blocks < CLV_CHOOSE_BLOCKS
                                        ? CLV_POLICY_ODD_PERMILLE
                                        : clv_choose_blocks_spread(&iterations->blocks);

    gain->sum.n_calls += n_calls;
    gain->sum.own_ns += own_ns;
    gain->sum.previous_ns += previous_ns;
    gain->sum.spread_permille += n_calls * spread_permille;
}

/* beside_ns: the same number of calls at the previous function's iteration time. */
static void look_at_tried(clv_choose_iterations_t *iterations,
                          const clv_choose_interval_t *interval, int64_t beside_ns)
{
    clv_choose_gain_t *gain = &iterations->gain;

    if (gain->tried != interval->algorithm) {
        gain->tried = interval->algorithm;
        gain->tried_ns = 0;
        gain->beside_ns = 0;
    }
    gain->tried_ns += interval->time_ns;
    gain->beside_ns += beside_ns;
    gain->sum.took_ns += interval->time_ns;
    gain->sum.would_ns += beside_ns;
    compare(gain, iterations, interval->n_calls, interval->time_ns, beside_ns);
}

void clv_choose_gain_look(clv_choose_iterations_t *iterations,
                          const clv_choose_interval_t *interval)
{
    clv_choose_gain_t *gain = &iterations->gain;
    const int64_t middle_ns = clv_choose_blocks_middle(&iterations->blocks);
    int64_t before_ns;

    if (gain->algorithm != iterations->incumbent) {
        turn(gain, iterations);
    }
    gain->iteration_ns = middle_ns;
    if (interval->n_calls <= 0) {
        return;
    }
    before_ns =
        clv_smaller(middle_ns, CLV_CHOOSE_SCORE_CEILING_NS / interval->n_calls) * interval->n_calls;
    if (interval->algorithm == CLV_ALGORITHM_PREVIOUS) {
        gain->sum.took_ns += interval->time_ns;
        gain->sum.would_ns += interval->time_ns;
        if (iterations->incumbent != CLV_ALGORITHM_PREVIOUS && before_ns > 0) {
            gain->own_ns += before_ns;
            gain->previous_ns += interval->time_ns;
            compare(gain, iterations, interval->n_calls, before_ns, interval->time_ns);
        }
    } else if (iterations->incumbent == CLV_ALGORITHM_PREVIOUS && before_ns > 0) {
        look_at_tried(iterations, interval, before_ns);
    } else {
        gain->run_ns += interval->time_ns;
    }
}

clv_choose_gains_t clv_choose_gain_sum(const clv_choose_iterations_t *iterations)
{
    clv_choose_gain_t gain = iterations->gain;

    close_account(&gain);
    return gain.sum;
}
