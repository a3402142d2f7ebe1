/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Loops: the iteration time of a program whose ranks compute, call, and continue independently.
 *
 * What: ranks do not start calls together. A rank computes for `compute_ns` plus its delay of the
 * pattern, makes the call, runs the coupling, and repeats. Algorithms take turns in blocks, in
 * shuffled order, on the same computing times; the blocks of one turn are compared in pairs.
 *
 *     start 1         start 2 ...      turn 1                 turn 2 ...
 *     |a: opening|b: opening| ...      |b: block|a: block|    |a: block|b: block|
 *      ^ first 20 reported apart         ^ lead calls do not count, the rest does
 *
 * Rules: (1) A start creates new communicators and runs one opening block with each algorithm; its
 * first 20 calls all count, as "first 20"; the rest of it is warm-up. (2) The blocks run on the
 * communicators of the last start, so learning is kept. (3) Ranks begin each block together. Its
 * first `lead_calls` do not count, since the ranks' distance builds up in them. (4)
 * bench_iteration.h defines a block's figures. Filling inputs and checking results is part of the
 * computing, and every result is checked. Computing is a sleep until an absolute time, so that many
 * ranks on few cores do not compete for them, or spinning on request.
 * Units: ns. Threads: one per process. Everything here is collective.
 */
#ifndef CLV_BENCH_LOOP_H
#define CLV_BENCH_LOOP_H

#include <stdbool.h>

#include "apps/bench/measure/bench_measure.h"
#include "apps/bench/measure/bench_iteration.h"

#define CLV_LOOP_FIRST 20 /* calls of a start that are reported separately */

/* The synchronisation of an iteration besides the measured call; ends with a NULL name. */
typedef struct clv_loop_couple {
    const char *name;
    const char *meaning;
    int (*run)(MPI_Comm comm, int root); /* returns an MPI error code */
} clv_loop_couple_t;
extern const clv_loop_couple_t clv_loop_couples[];
const clv_loop_couple_t *clv_loop_couple_find(const char *name); /* NULL: unknown */

struct clv_loop_results;

typedef struct clv_loop {
    const clv_loop_couple_t *couple;
    int64_t compute_ns; /* per rank and iteration; the pattern's delay is added */
    int64_t n_starts;
    int64_t opening_calls; /* per start, at least CLV_LOOP_FIRST */
    int64_t n_blocks;      /* per algorithm */
    int64_t block_calls;
    int64_t lead_calls; /* at most block_calls - 2 */
    bool is_spinning;
    /* Called on rank 0 between two iterations after an interrupt, with the complete starts and
     * turns. Does not return: ranks that run freely have no common last iteration, so they are
     * ended where they are. */
    void (*leave)(void *context, const struct clv_loop_results *results);
    void *context;
} clv_loop_t;

typedef struct clv_loop_block {
    clv_iteration_t figures;
    double cpu_wait_part; /* mean share of the block's time that ranks waited for a processor */
    int64_t n_wrong;      /* wrong results, counted per rank and call */
} clv_loop_block_t;

/* Filled on rank 0; empty elsewhere. */
typedef struct clv_loop_results {
    int64_t n_starts; /* run before the time limit */
    int64_t n_blocks;
    clv_loop_block_t *starts;  /* [n_starts][n_algorithms] */
    clv_loop_block_t *blocks;  /* [n_blocks][n_algorithms] */
    double *rank_iteration_ns; /* [n_blocks][n_algorithms][n_ranks] */
} clv_loop_results_t;

/* Runs the loop with the pattern. Creates and frees the setup's communicators. The caller frees the
 * results. CLV_NO_MEMORY; CLV_SYSTEM: an MPI call failed; or the error of creating a communicator,
 * with one line in reason. */
clv_status_t clv_loop_measure(clv_bench_setup_t *setup, const clv_loop_t *loop,
                              const clv_pattern_t *pattern, clv_loop_results_t *results_p,
                              char *reason, size_t reason_bytes) CLV_MUST_CHECK;
void clv_loop_results_free(clv_loop_results_t *results);

#endif
