/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The program's iteration time, block by block (see choose_iterations.h).
 */
#include "choose/choose_iterations.h"

#include "choose/choose_score.h"

#define MAX_CALLS  (INT64_C(1) << 20)
#define LONGEST_NS (CLV_CHOOSE_SCORE_CEILING_NS / MAX_CALLS)

/* 0: one of both arrivals is unknown. */
static int64_t elapsed(const clv_choose_iterations_t *iterations,
                       const clv_pap_progress_t *progress)
{
    if (iterations->last_arrival_ns == 0 || progress->last_arrival_ns == 0 ||
        progress->last_arrival_ns <= iterations->last_arrival_ns) {
        return 0;
    }
    return clv_smaller(progress->last_arrival_ns - iterations->last_arrival_ns,
                       CLV_CHOOSE_SCORE_CEILING_NS);
}

static int64_t time_of(const clv_choose_config_t *config, const clv_choose_interval_t *interval,
                       const clv_pap_forecast_t *forecast)
{
    if (config->objective == CLV_OBJECTIVE_PACE) {
        return interval->elapsed_ns;
    }
    return clv_smaller(
               clv_choose_cost(config, forecast->previous_after_ns, forecast->previous_in_mpi_ns),
               LONGEST_NS) *
           interval->n_calls;
}

/* Computing happens between calls, so no algorithm makes it longer. */
static bool is_pause_before(const clv_choose_iterations_t *iterations,
                            const clv_pap_progress_t *progress, int64_t usual_ns)
{
    return iterations->computing_ns > 0 &&
           progress->computing_ns / CLV_POLICY_PAUSE_TIMES > usual_ns;
}

/* Computing before calls without a record is not seen. Each such call is taken to last as long as
 * computing and call of the last one, or the usual time. Calls may differ, and the program may
 * change to longer computing, but not by more than the allowance. */
static bool is_pause_within(const clv_pap_progress_t *progress,
                            const clv_choose_interval_t *interval, int64_t after_ns,
                            int64_t usual_ns)
{
    const int64_t most_ns = INT64_MAX / MAX_CALLS / 4; /* keeps the sums below from overflowing */
    const int64_t seen_ns = clv_smaller(progress->computing_ns, most_ns) +
                            clv_smaller(clv_larger(after_ns, 0), most_ns);

    usual_ns = clv_smaller(usual_ns, most_ns);
    return interval->n_calls > 1 &&
           interval->elapsed_ns > interval->n_calls * clv_larger(seen_ns, usual_ns) +
                                      CLV_POLICY_PAUSE_TIMES * usual_ns;
}

static bool is_pause(const clv_choose_iterations_t *iterations, const clv_pap_forecast_t *forecast,
                     const clv_pap_progress_t *progress, const clv_choose_interval_t *interval)
{
    const int64_t middle_ns = clv_choose_blocks_middle(&iterations->blocks);
    const int64_t around_ns = middle_ns > 0 ? middle_ns : iterations->usual_ns;

    if (iterations->n_pauses == 0 &&
        is_pause_before(iterations, progress, clv_larger(iterations->computing_ns, middle_ns))) {
        return true;
    }
    return iterations->n_pauses < CLV_POLICY_ODD_BLOCKS && interval->n_calls > 0 && around_ns > 0 &&
           is_pause_within(progress, interval, forecast->previous_after_ns,
                           clv_larger(iterations->computing_ns, around_ns));
}

/* A moving average over all intervals, also those with several plans or with a pause. Before there
 * is a block, pauses are found by comparing with it: a pause in the first block would become the
 * iteration time that trials must beat. */
static void look_at_usual(clv_choose_iterations_t *iterations, int64_t n_calls, int64_t elapsed_ns)
{
    int64_t now_ns;

    if (elapsed_ns <= 0 || n_calls <= 0) {
        return;
    }
    now_ns = elapsed_ns / n_calls;
    iterations->usual_ns =
        iterations->usual_ns == 0 ? now_ns : (3 * iterations->usual_ns + now_ns) / 4;
}

static void look_around(clv_choose_iterations_t *iterations, const clv_pap_progress_t *progress)
{
    const int64_t now_ns = clv_smaller(progress->computing_ns, CLV_CHOOSE_SCORE_CEILING_NS);

    if (now_ns > 0 && iterations->n_pauses == 0) {
        iterations->computing_ns =
            iterations->computing_ns == 0 ? now_ns : (3 * iterations->computing_ns + now_ns) / 4;
    }
    iterations->decoupled_sets = progress->is_decoupled
                                     ? CLV_POLICY_FREE_SETS
                                     : clv_larger(iterations->decoupled_sets - 1, 0);
    iterations->has_been_decoupled |= iterations->decoupled_sets > 0;
}

clv_choose_interval_t clv_choose_iterations_take(const clv_choose_config_t *config,
                                                 const clv_pap_forecast_t *forecast,
                                                 const clv_pap_progress_t *progress,
                                                 clv_choose_iterations_t *iterations)
{
    const int64_t n_calls = progress->call - iterations->call;
    clv_choose_interval_t interval = {.algorithm = forecast->previous_choice,
                                      .elapsed_ns = elapsed(iterations, progress)};

    if (forecast->version == iterations->version + 1 && interval.elapsed_ns > 0 && n_calls > 0 &&
        n_calls <= MAX_CALLS && forecast->previous_after_ns >= 0 &&
        (unsigned) interval.algorithm < CLV_N_ALGORITHMS) {
        interval.n_calls = n_calls;
        interval.time_ns = time_of(config, &interval, forecast);
    }
    iterations->version = forecast->version;
    iterations->call = progress->call;
    iterations->last_arrival_ns = progress->last_arrival_ns;
    iterations->n_pauses =
        is_pause(iterations, forecast, progress, &interval) ? iterations->n_pauses + 1 : 0;
    look_at_usual(iterations, n_calls, interval.elapsed_ns);
    look_around(iterations, progress);
    return interval;
}

bool clv_choose_block_add(clv_choose_block_t *block, const clv_choose_interval_t *interval,
                          int64_t *iteration_p)
{
    if (interval->n_calls == 0 || interval->algorithm != block->algorithm) {
        *block = (clv_choose_block_t){.algorithm = interval->algorithm};
    }
    if (interval->n_calls == 0) {
        return false;
    }
    if (block->n_skipped < CLV_POLICY_CHANGE_CALLS) {
        block->n_skipped += interval->n_calls;
        return false;
    }
    block->n_skipped = CLV_POLICY_CHANGE_CALLS;
    block->n_calls += interval->n_calls;
    block->time_ns += interval->time_ns;
    if (block->n_calls < CLV_POLICY_BLOCK_CALLS) {
        return false;
    }
    *iteration_p = clv_larger(block->time_ns / block->n_calls, 1);
    *block = (clv_choose_block_t){.algorithm = interval->algorithm,
                                  .n_skipped = CLV_POLICY_CHANGE_CALLS};
    return true;
}

void clv_choose_blocks_add(clv_choose_blocks_t *blocks, int64_t iteration_ns)
{
    for (int32_t i = CLV_CHOOSE_BLOCKS - 1; i > 0; i--) {
        blocks->iteration_ns[i] = blocks->iteration_ns[i - 1];
    }
    blocks->iteration_ns[0] = iteration_ns;
    blocks->n_blocks += blocks->n_blocks < CLV_CHOOSE_BLOCKS;
}

/* Of two blocks, their mean. */
int64_t clv_choose_blocks_middle(const clv_choose_blocks_t *blocks)
{
    const int64_t *iteration_ns = blocks->iteration_ns;
    int64_t low, high;

    if (blocks->n_blocks == 0) {
        return 0;
    }
    if (blocks->n_blocks < CLV_CHOOSE_BLOCKS) {
        return (iteration_ns[0] + iteration_ns[blocks->n_blocks - 1]) / 2;
    }
    low = clv_smaller(iteration_ns[0], iteration_ns[1]);
    high = clv_larger(iteration_ns[0], iteration_ns[1]);
    return clv_larger(low, clv_smaller(high, iteration_ns[2]));
}

int32_t clv_choose_blocks_spread(const clv_choose_blocks_t *blocks)
{
    int64_t least = INT64_MAX, most = 0;

    for (int32_t i = 0; i < blocks->n_blocks; i++) {
        least = clv_smaller(least, blocks->iteration_ns[i]);
        most = clv_larger(most, blocks->iteration_ns[i]);
    }
    return blocks->n_blocks < CLV_CHOOSE_BLOCKS
               ? 0
               : (int32_t) clv_smaller((most - least) / clv_larger(least / 1000, 1), INT32_MAX);
}
