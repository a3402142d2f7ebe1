/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The programs of the closed loop (choose_loop.h), the conditions that they run under, and what of
 * a run is compared. For test_choose_loop and for choose_ablate. PURE.
 */
#ifndef CLV_TEST_CHOOSE_PROGRAMS_H
#define CLV_TEST_CHOOSE_PROGRAMS_H

#include "tests/support/choose_loop.h"

#define LOOP_RANKS 8
#define LOOP_CALLS 400

/* Places in the table: programs whose ranks are decoupled come first, then those that wait. */
#define LOOP_FAR_LATE     3
#define LOOP_FIRST_BOUND  6
#define LOOP_FIRST_CHANGE 13
#define LOOP_FRESH_FREED  17
#define LOOP_N_PROGRAMS   19
#define LOOP_PAUSING_FREE 19 /* of conditions alone */

extern const loop_program_t loop_programs[LOOP_N_PROGRAMS + 1];

/* 8 ranks of 8 hosts, 2 MiB at 400 Mb/s, the algorithm free. */
loop_setting_t loop_setting_of(int32_t ahead_calls, uint64_t seed);

/* A program under a condition. */
typedef struct loop_regime {
    const char *name;
    int32_t program, ahead_calls, void_permille;
    int32_t n_ranks, ranks_per_host; /* 0: as in loop_setting_of */
    int64_t early_bytes;             /* 0: 32 KiB, and no message waits for its receiver */
    int32_t slow_times;              /* 0: the fourth rank's host is as fast as the others */
    int64_t exchange_ns;             /* 0: every call is sampled */
    int64_t allreduce_bytes;         /* 0: a reduce */
} loop_regime_t;

/* The table, which ends in a row without a name: all programs with and without run-ahead, then with
 * void record sets, hosts of four ranks, messages that wait for their receiver, a host of half the
 * rate, calls of which each fifth or so is sampled, and allreduces. */
extern const loop_regime_t loop_regimes[];
loop_setting_t loop_regime_setting(const loop_regime_t *regime, uint64_t seed);

int64_t loop_end_iteration_ns(const loop_result_t *result);
int64_t loop_first_half_iteration_ns(const loop_result_t *result);

/* The best of those that are forced, in each part. */
typedef struct loop_best {
    int64_t end_ns, half_ns;
} loop_best_t;

/* The runs with each algorithm forced that the choice is held against, *n_p of them; valid until
 * the next call. */
const loop_result_t *loop_run_forced(const loop_program_t *program, const loop_setting_t *setting,
                                     int *n_p);
loop_best_t loop_best_forced(const loop_program_t *program, const loop_setting_t *setting);

/* The most that trials had lost of the time, from call 200 on, permille. */
double loop_most_regret(const loop_result_t *result);

#endif
