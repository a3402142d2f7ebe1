/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Loops: what a program's iteration takes when each rank computes, calls, and goes on by itself.
 *
 * What: nobody starts a call together here. A rank computes for `compute_ns` plus its delay of the
 * pattern, makes the call, then whatever couples the ranks, and begins anew. Algorithms take turns
 * in blocks, in a shuffled order, on the same computing times; a turn of all of them is a set of
 * neighbours, whose ratios are paired.
 *
 *     start 1         start 2 ...      turn 1                 turn 2 ...
 *     |a: opening|b: opening| ...      |b: block|a: block|    |a: block|b: block|
 *      ^ first 20 reported apart         ^ lead calls do not count, the rest does
 *
 * Written rules: (1) A start makes fresh communicators and runs one opening block with each
 * algorithm; of its first 20 calls every one counts, as "first 20"; what follows in it is warm-up.
 * (2) The blocks run on the communicators of the last start, so what was learnt stays. (3) Ranks
 * begin each block together. Its first `lead_calls` do not count: how far ranks drift apart builds
 * up in them. (4) What a block's calls are worth is bench_iteration.h.
 * Filling inputs and checking results is part of the computing, and every result is checked.
 * Computing is a sleep to an absolute time, so that many ranks on few cores do not take them from
 * each other, or spinning on request.
 * Units: ns. Threads: one per process. Everything here is collective.
 */
#ifndef CLV_BENCH_LOOP_H
#define CLV_BENCH_LOOP_H

#include <stdbool.h>

#include "apps/bench/measure/bench_measure.h"
#include "apps/bench/measure/bench_iteration.h"

#define CLV_LOOP_FIRST 20 /* calls of a start that are reported apart */

/* What binds the ranks in an iteration besides the measured call; ends with a NULL name. */
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
    int64_t compute_ns; /* of every rank and iteration; the pattern's delay is added */
    int64_t n_starts;
    int64_t opening_calls; /* of each start, CLV_LOOP_FIRST at least */
    int64_t n_blocks;      /* of each algorithm */
    int64_t block_calls;
    int64_t lead_calls; /* block_calls - 2 at most */
    bool is_spinning;
    /* On rank 0, between two iterations, when it was interrupted: with the starts and turns that
     * are whole. It does not return: ranks that run free stop at no common iteration, and are ended
     * where they are. */
    void (*leave)(void *context, const struct clv_loop_results *results);
    void *context;
} clv_loop_t;

typedef struct clv_loop_block {
    clv_iteration_t figures;
    double cpu_wait_part; /* of the block's time that ranks waited for a processor, mean */
    int64_t n_wrong;      /* results of a rank's call that were wrong */
} clv_loop_block_t;

/* On rank 0; empty elsewhere. */
typedef struct clv_loop_results {
    int64_t n_starts; /* that were run before the time was up */
    int64_t n_blocks;
    clv_loop_block_t *starts;  /* [n_starts][n_algorithms] */
    clv_loop_block_t *blocks;  /* [n_blocks][n_algorithms] */
    double *rank_iteration_ns; /* [n_blocks][n_algorithms][n_ranks] */
} clv_loop_results_t;

/* Runs the loop with the pattern. The setup's communicators are made here, and freed. The caller
 * frees the results. CLV_NO_MEMORY, CLV_SYSTEM when an MPI call failed, or what making a
 * communicator gave, then with one line in reason. */
clv_status_t clv_loop_measure(clv_bench_setup_t *setup, const clv_loop_t *loop,
                              const clv_pattern_t *pattern, clv_loop_results_t *results_p,
                              char *reason, size_t reason_bytes) CLV_MUST_CHECK;
void clv_loop_results_free(clv_loop_results_t *results);

#endif
