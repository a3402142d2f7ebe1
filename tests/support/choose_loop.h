/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program in a closed loop with the decider: each rank computes, calls, the chosen plan is
 * replayed with the arrivals, exits and coupling give the next arrivals, records go through the
 * predictor to the decider, as in the component. PURE; a simulation of a simple network, of nothing
 * else.
 *
 * Network: each rank has a way in and a way out; a segment occupies both for its wire time. A
 * sender may be so many whole calls ahead of the receiver (ahead_calls; 0: it waits until that has
 * come); who may be ahead hands a segment over and goes on. Ranks of one host (config.place) share
 * its ways, which the segment that is ready first takes first; inside the host each rank has a way
 * in of its own. A sampled call waits until all ranks have come to the sampled call before; or that
 * call's record set is void, and its forecast never comes.
 */
#ifndef CLV_TEST_CHOOSE_LOOP_H
#define CLV_TEST_CHOOSE_LOOP_H

#include "choose/choose.h"

#define LOOP_MAX_RANKS 16
#define LOOP_MAX_CALLS 1200

typedef enum loop_couple { LOOP_FREE, LOOP_BCAST } loop_couple_t;

typedef struct loop_program {
    const char *name;
    /* Computing of a rank before a call. */
    int64_t (*computing_ns)(int32_t rank, int32_t call, uint64_t *random);
    loop_couple_t (*couple)(int32_t call);
} loop_program_t;

typedef struct loop_setting {
    clv_choose_config_t config;  /* with reduce_algorithm, or allreduce_algorithm: forced */
    clv_collective_t collective; /* REDUCE when not set, or ALLREDUCE */
    int64_t total_bytes;
    int32_t ahead_calls;
    int32_t n_calls;
    int32_t
        void_permille;   /* of the record sets; calls that know nothing run the previous function */
    int64_t exchange_ns; /* of a record set; 0: half a millisecond */
    int32_t has_rendezvous; /* a message above early_bytes waits for its receiver */
    int32_t slow_rank; /* whose ways take slow_times as long for a byte; 0 times: nobody's do */
    int32_t slow_times;
    uint64_t seed;
} loop_setting_t;

typedef struct loop_result {
    int64_t last_arrival_ns
        [LOOP_MAX_CALLS];              /* the last arrival of each call, and the last exit of all */
    int64_t after_ns[LOOP_MAX_CALLS];  /* the last exit, after that */
    int64_t in_mpi_ns[LOOP_MAX_CALLS]; /* exit minus arrival, mean of the ranks */
    int64_t last_in_mpi_ns[LOOP_MAX_CALLS]; /* the same of the last rank by number */
    int32_t ran[LOOP_MAX_CALLS];            /* algorithm */
    int32_t tried[LOOP_MAX_CALLS];          /* as a trial */
    int32_t n_incumbents;                   /* changes of what runs when nothing is tried */
    int64_t regret_ns[LOOP_MAX_CALLS];
} loop_result_t;

/* Asserts that nothing fails. */
void loop_run(const loop_program_t *program, const loop_setting_t *setting, loop_result_t *result);

/* ns per iteration of calls from .. to. */
int64_t loop_iteration_ns(const loop_result_t *result, int32_t from, int32_t to);

/* Mean over the calls from .. to of one of the result's arrays. */
int64_t loop_mean(const int64_t *ns, int32_t from, int32_t to);

#endif
