/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How fast the program goes, from the record sets alone. The time from one sampled call's last
 * arrival to the next one's, divided by the calls between, is the iteration time under their
 * choice. A single call shows nothing, because its ranks may have been early due to the calls
 * before. So calls form blocks, and an iteration time is the median of three blocks.
 *
 *     set        set        set     n calls, all of one choice: the forecast before them
 *      |--- n ----|--- n ----|      decided once
 *     last arrival to last arrival: n x iteration time
 *
 * If the computing before the newest call takes more than twice the usual and more than an
 * iteration, the program paused (a checkpoint, another phase), and that interval is left out of its
 * block. A second one in a row is counted: the program has changed. Between sampled calls only the
 * time is known: an interval much longer than its calls explain contains a pause, up to three times
 * in a row.
 *
 * With coll_clv_objective `after` or `mpi_time`, a block holds instead the measured calls' time
 * after their last arrival, or in MPI.
 *
 * Not: the consequences of an iteration time (choose_try.h).
 * PURE and private to the decider. Units ns. Errors: none. Memory: none. Thread-safe on distinct
 * blocks. Cost: a few numbers per forecast.
 */
#ifndef CLV_CHOOSE_ITERATIONS_H
#define CLV_CHOOSE_ITERATIONS_H

#include <stdbool.h>

#include "choose/choose.h"

/* What a new forecast says about the calls between its newest record set and the one before. */
typedef struct clv_choose_interval {
    int32_t algorithm;  /* what they ran */
    int64_t n_calls;    /* 0: unknown */
    int64_t elapsed_ns; /* the program's time */
    int64_t time_ns;    /* their time by the objective */
} clv_choose_interval_t;

/* Takes in a forecast: when the last rank arrived, whether ranks are decoupled, and whether the
 * program paused (iterations->n_pauses > 0): then the interval says nothing about its algorithm. */
clv_choose_interval_t clv_choose_iterations_take(const clv_choose_config_t *config,
                                                 const clv_pap_forecast_t *forecast,
                                                 const clv_pap_progress_t *progress,
                                                 clv_choose_iterations_t *iterations);

/* Adds an interval to the present block, or begins one. Returns 1 if the block is now complete:
 * *iteration_p is its iteration time, and the next interval begins a new block. */
bool clv_choose_block_add(clv_choose_block_t *block, const clv_choose_interval_t *interval,
                          int64_t *iteration_p);

void clv_choose_blocks_add(clv_choose_blocks_t *blocks, int64_t iteration_ns);
/* The median of the newest blocks; 0: there is none. */
int64_t clv_choose_blocks_middle(const clv_choose_blocks_t *blocks);

/* The spread of the newest blocks, permille of the least; 0: there are too few. */
int32_t clv_choose_blocks_spread(const clv_choose_blocks_t *blocks);

/* Whether any of the newest record sets showed ranks that did not wait for a result. */
static inline bool clv_choose_is_decoupled(const clv_choose_config_t *config,
                                           const clv_choose_iterations_t *iterations)
{
    return config->objective == CLV_OBJECTIVE_PACE && iterations->decoupled_sets > 0;
}

#endif
