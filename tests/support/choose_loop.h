/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program in a closed loop with the decider: each rank computes and calls; the chosen plan is
 * replayed with the arrivals; exits and coupling give the next arrivals; records go through the
 * predictor to the decider, as in the component. PURE; simulates a simple network and nothing else.
 *
 * Network: each rank has a link in and a link out; a segment occupies both for its wire time. A
 * sender may be ahead_calls whole calls ahead of the receiver (0: it waits for the receiver's
 * arrival); if it may be ahead, it hands a segment over and continues. Ranks of one host
 * (config.place) share its links, in the order in which segments become ready; inside the host,
 * each rank has its own link in. A sampled call waits until all ranks have arrived at the previous
 * sampled call; or that call's record set is void, and its forecast never comes.
 *
 * A segment takes 20 us of the receiver's core. If the setting goes by cost, it first flies for the
 * latency of its link; where hosts have several ranks it then takes combine_ps a byte of the core,
 * else a third of the latency is the core's.
 */
#ifndef CLV_TEST_CHOOSE_LOOP_H
#define CLV_TEST_CHOOSE_LOOP_H

#include "choose/choose.h"

#define LOOP_MAX_RANKS 16
#define LOOP_MAX_CALLS 1200

typedef enum loop_couple { LOOP_FREE, LOOP_BCAST } loop_couple_t;

typedef struct loop_program {
    const char *name;
    /* The computing time of a rank before a call. */
    int64_t (*computing_ns)(int32_t rank, int32_t call, uint64_t *random);
    loop_couple_t (*couple)(int32_t call);
} loop_program_t;

typedef struct loop_setting {
    clv_choose_config_t config;  /* with reduce_algorithm, or allreduce_algorithm: forced */
    clv_collective_t collective; /* REDUCE when not set, or ALLREDUCE */
    int64_t total_bytes;
    int32_t ahead_calls;
    int32_t n_calls;
    int32_t void_permille;  /* of record sets; calls without a forecast run the previous function */
    int64_t exchange_ns;    /* of a record set; 0: half a millisecond */
    int32_t goes_by_cost;   /* see above */
    int32_t has_rendezvous; /* messages above early_bytes wait for their receiver */
    int32_t slow_rank; /* its links take slow_times as long per byte; 0 times: no rank is slow */
    int32_t slow_times;
    uint64_t seed;
} loop_setting_t;

typedef struct loop_result {
    int64_t last_arrival_ns[LOOP_MAX_CALLS]; /* last arrival of each call */
    int64_t after_ns[LOOP_MAX_CALLS];        /* last exit, after the last arrival */
    int64_t in_mpi_ns[LOOP_MAX_CALLS];       /* exit - arrival, mean of the ranks */
    int64_t last_in_mpi_ns[LOOP_MAX_CALLS];  /* the same for the highest rank */
    int32_t ran[LOOP_MAX_CALLS];             /* algorithm */
    int32_t tried[LOOP_MAX_CALLS];           /* as a trial */
    int32_t n_incumbents; /* changes of the algorithm that runs without a trial */
    int64_t regret_ns[LOOP_MAX_CALLS];
} loop_result_t;

/* Asserts that no step fails. */
void loop_run(const loop_program_t *program, const loop_setting_t *setting, loop_result_t *result);

/* ns per iteration of calls from .. to. */
int64_t loop_iteration_ns(const loop_result_t *result, int32_t from, int32_t to);

/* Mean over the calls from .. to of one of the result's arrays. */
int64_t loop_mean(const int64_t *ns, int32_t from, int32_t to);

/* ---- choose_programs.c: the programs of the closed loop, their conditions, and the compared
 * figures. For test_choose_loop and choose_ablate. */

#define LOOP_RANKS 8
#define LOOP_CALLS 400

/* Indices in the table: programs with decoupled ranks come first, then those with ranks that
 * wait. */
#define LOOP_FAR_LATE     3
#define LOOP_FIRST_BOUND  6
#define LOOP_FIRST_CHANGE 13
#define LOOP_FRESH_FREED  17
#define LOOP_N_PROGRAMS   19
#define LOOP_PAUSING_FREE 19 /* used by conditions only */

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
 * rate, about every fifth call sampled, and allreduces. */
extern const loop_regime_t loop_regimes[];
loop_setting_t loop_regime_setting(const loop_regime_t *regime, uint64_t seed);

int64_t loop_end_iteration_ns(const loop_result_t *result);
int64_t loop_first_half_iteration_ns(const loop_result_t *result);

/* The best of the forced algorithms, in each part. */
typedef struct loop_best {
    int64_t end_ns, half_ns;
} loop_best_t;

/* Runs with each forced algorithm, to compare the choice with, *n_p of them; valid until the next
 * call. */
const loop_result_t *loop_run_forced(const loop_program_t *program, const loop_setting_t *setting,
                                     int *n_p);
loop_best_t loop_best_forced(const loop_program_t *program, const loop_setting_t *setting);

/* The largest share of time lost by trials, from call 200 on, permille. */
double loop_most_regret(const loop_result_t *result);

#endif
