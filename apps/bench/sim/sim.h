/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the files of clv-sim: options, the prediction, the plan and its execution, and reduces
 * without a plan.
 *
 * Units: as the names say, otherwise ns of simulated time. Threads: one.
 */
#ifndef CLV_SIM_H
#define CLV_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apps/cli/cli_options.h"
#include "apps/trace/trace_patterns.h"
#include "choose/choose.h"
#include "schedule/sched_exec.h"
#include "util/util_status.h"

/* ---- sim_options.c: one algorithm, one pattern, one quality of prediction. No MPI. ---------- */

typedef struct clv_sim_options {
    const char *collective; /* reduce or allreduce */
    const char *algorithm;  /* of clv_sim_direct_find, or a generator of the schedule module */
    const char *pattern;    /* as for clv_pattern_parse */
    const char *error;      /* of the prediction: a percentage, random, reversed or equal */
    double delay_ms;
    double round_factor; /* the plan's round length, in measured rounds */
    int32_t n_floats;
    int32_t n_segments; /* 0: chosen by the chooser, for the component's algorithms only */
    int32_t n_calls;
    double clip; /* deviation assumed by the clip rule, in true ones; 0: no rule */
    int64_t seed;
    clv_exec_limits_t limits;
    bool in_rounds;    /* policy ROUNDS, as the component runs Clairvoyant */
    double combine_ps; /* per byte */
} clv_sim_options_t;

extern const clv_program_t clv_sim_program;

/* Whether every rank gets the sum. */
bool clv_sim_is_allreduce(const clv_sim_options_t *options);

/* Checks what the table cannot: CLV_INVALID and one line in reason. */
clv_status_t clv_sim_options_check(const clv_sim_options_t *options, char *reason,
                                   size_t reason_bytes) CLV_MUST_CHECK;

/* ---- sim_predict.c: a prediction with a chosen error, and the error that the chooser assumes.
 *
 * What: x[p], the predicted arrival, from the true one:
 *     a percentage e   true + normal of deviation e % of the largest delay, not below 0
 *     random           another draw of the same pattern
 *     reversed         last true arrival - true
 *     equal            all 0
 * and the sigma that the chooser's clip rule assumes: a factor times the rms of (true - x) about
 * its mean, in the same call. Factor 1 is the true value; far below 1 models the call in which a
 * reliable pattern has changed.
 *
 * Not: the predictors of pap_predict. Equal on every rank. No MPI.
 * --------------------------------------------------------------------------------------------- */

/* Writes pattern->n_ranks predictions for an iteration with the given true delays. */
void clv_sim_predict(const clv_sim_options_t *options, const clv_pattern_t *pattern,
                     int64_t iteration, const int64_t *true_ns, int64_t *predicted_ns);

/* The deviation for the clip rule, in ns; factor 0: none. */
int64_t clv_sim_sigma(double factor, int n_ranks, const int64_t *true_ns,
                      const int64_t *predicted_ns);

/* ---- sim_plan.c: the plan of a call. The module choose chooses it on rank 0, as in the component;
 * each rank then receives its steps.
 *
 * In the component, all leaders compute the same choice; a simulation would repeat that work on one
 * processor. All of it is outside the measured time. Plans that the component does not choose, such
 * as a double tree, are made as requested.
 * --------------------------------------------------------------------------------------------- */

/* The state of the chooser on rank 0, kept from call to call. */
typedef struct clv_sim_chooser {
    clv_choose_config_t config;
    clv_choose_state_t state;
    int64_t version; /* of the newest forecast */
    int32_t *place;  /* by rank; NULL: no two ranks share a host */
} clv_sim_chooser_t;

/* The component's algorithm with this name, or with plans by this generator; else
 * CLV_ALGORITHM_AUTO. */
int32_t clv_sim_chosen(const char *name);

/* Collective: determines which ranks share a host, and measures the network. */
clv_status_t clv_sim_chooser_open(const clv_sim_options_t *options,
                                  clv_sim_chooser_t *chooser) CLV_MUST_CHECK;
void clv_sim_chooser_close(clv_sim_chooser_t *chooser);

typedef struct clv_sim_steps {
    clv_step_t *steps; /* of this rank; clv_free */
    int64_t n_steps;
    int32_t n_segments;
} clv_sim_steps_t;

/* Collective. Makes the plan for arrivals predicted_ns with a deviation of sigma_ns, root 0. */
clv_status_t clv_sim_deal_plan(const clv_sim_options_t *options, clv_sim_chooser_t *chooser,
                               const int64_t *predicted_ns, int64_t sigma_ns,
                               clv_sim_steps_t *steps_p) CLV_MUST_CHECK;

/* ---- sim_execute.c: the steps of one rank, run by the schedule module's executor over public MPI.
 *
 * What: the component's executor with another function table: MPI_Isend, MPI_Issend, MPI_Irecv, and
 * MPI_Waitany when idle, because polling would cost simulated time.
 * Not: the component's buffers; floats and MPI_SUM only. No allocation while running.
 * --------------------------------------------------------------------------------------------- */

/* Combines the n_floats of all ranks into the vector of rank 0, in an allreduce of every rank. In a
 * reduce, the other ranks' vectors are overwritten. */
clv_status_t clv_sim_execute(const clv_sim_steps_t *steps, const clv_sim_options_t *options,
                             float *vector) CLV_MUST_CHECK;

/* ---- sim_direct.c: reduces and allreduces that are not plans, to compare plans with.
 *
 *   library   MPI_Reduce or MPI_Allreduce; smpirun's --cfg=smpi/reduce selects SimGrid's algorithm
 *   bound     only the last rank to arrive sends its vector to the root; nothing is faster. In an
 *             allreduce it receives another vector at the same time
 *   radix-k   reduces only: groups of k ranks scatter their vectors, digit by digit, then all
 *             send to the root (bench_radix.h, where the picture is)
 *
 * Floats, MPI_SUM, root 0. Allocates memory inside, which takes no time in a simulation.
 * --------------------------------------------------------------------------------------------- */

typedef struct clv_sim_call {
    int rank;
    int n_ranks;
    int32_t n_floats;
    bool is_allreduce;
    double combine_ps;         /* charged by radix-k */
    const int64_t *arrival_ns; /* by rank */
    float *vector;             /* radix-k overwrites it */
    float *sum;                /* on every rank: some of SimGrid's reduces write it on all */
} clv_sim_call_t;

typedef struct clv_sim_direct {
    const char *name;
    clv_status_t (*run)(const clv_sim_call_t *call);
    bool sums; /* false: only one vector arrives */
    bool allreduces;
    bool prepares; /* the first call also sets up state for later ones: it does not count */
} clv_sim_direct_t;

/* NULL for an unknown name. */
const clv_sim_direct_t *clv_sim_direct_find(const char *name);

/* Charges this rank's processor with combining n_floats, at combine_ps per byte; 0 ps: no time.
 * Outside SimGrid there is no simulated processor, and nothing is charged. */
void clv_sim_combining(double combine_ps, int32_t n_floats);

#endif
