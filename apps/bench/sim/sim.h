/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of clv-sim share: options, the prediction, the plan and who runs it, and reduces
 * that are no plan.
 *
 * Units: as the names say; where none says it, ns of simulated time. Threads: one.
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
    const char *pattern;    /* as clv_pattern_parse takes it */
    const char *error;      /* of the prediction: a percentage, random, reversed or equal */
    double delay_ms;
    double round_factor; /* the plan's round length, in measured rounds */
    int32_t n_floats;
    int32_t n_segments; /* 0: chosen, for algorithms of the component only */
    int32_t n_calls;
    double clip; /* the deviation the clip rule believes, in honest ones; 0: no rule */
    int64_t seed;
    clv_exec_limits_t limits;
    double combine_ps; /* of a byte */
} clv_sim_options_t;

extern const clv_program_t clv_sim_program;

/* Every rank gets the sum. */
bool clv_sim_is_allreduce(const clv_sim_options_t *options);

/* What the table cannot check: CLV_INVALID and one line in reason. */
clv_status_t clv_sim_options_check(const clv_sim_options_t *options, char *reason,
                                   size_t reason_bytes) CLV_MUST_CHECK;

/* ---- sim_predict.c: a prediction that is wrong by a chosen amount, and how wrong it is said to
 * be.
 *
 * What: x[p], the predicted arrival, from the true one:
 *     a percentage e   true + normal of deviation e % of the largest delay, not below 0
 *     random           another draw of the same pattern
 *     reversed         last true arrival - true
 *     equal            all 0
 * and what the chooser's clip rule believes of it: sigma, a factor times the rms of (true - x)
 * about its mean, of the very call.
 * Factor 1 is honest; far below 1 it is the call on which a pattern that was sure has changed.
 *
 * Not: the predictors of pap_predict. The same on every rank. No MPI.
 * --------------------------------------------------------------------------------------------- */

/* Writes pattern->n_ranks predictions for the iteration whose true delays are given. */
void clv_sim_predict(const clv_sim_options_t *options, const clv_pattern_t *pattern,
                     int64_t iteration, const int64_t *true_ns, int64_t *predicted_ns);

/* The deviation that the clip rule is told, in ns; factor 0: none. */
int64_t clv_sim_sigma(double factor, int n_ranks, const int64_t *true_ns,
                      const int64_t *predicted_ns);

/* ---- sim_plan.c: the plan of a call, chosen on rank 0 by the module choose, as the component
 * would, and dealt out to the ranks as their steps.
 *
 * The component's leaders all choose the same; in a simulation that would be the same work many
 * times on one processor. All of it happens outside the measured time.
 * What the component does not choose for, such as a double tree, is made as asked.
 * --------------------------------------------------------------------------------------------- */

/* What rank 0 chooses with; the state goes on from call to call. */
typedef struct clv_sim_chooser {
    clv_choose_config_t config;
    clv_choose_state_t state;
    int64_t version; /* of the newest forecast */
    int32_t *place;  /* of each rank, NULL: no two share a host */
} clv_sim_chooser_t;

/* The algorithm of the component that has this word or makes its plans with this generator, else
 * CLV_ALGORITHM_AUTO. */
int32_t clv_sim_chosen(const char *name);

/* Collective: finds out who shares a host, and measures the network. */
clv_status_t clv_sim_chooser_open(const clv_sim_options_t *options,
                                  clv_sim_chooser_t *chooser) CLV_MUST_CHECK;
void clv_sim_chooser_close(clv_sim_chooser_t *chooser);

typedef struct clv_sim_steps {
    clv_step_t *steps; /* this rank's part; clv_free */
    int64_t n_steps;
    int32_t n_segments;
} clv_sim_steps_t;

/* Collective. The plan for arrivals predicted_ns with a deviation of sigma_ns, root 0. */
clv_status_t clv_sim_deal_plan(const clv_sim_options_t *options, clv_sim_chooser_t *chooser,
                               const int64_t *predicted_ns, int64_t sigma_ns,
                               clv_sim_steps_t *steps_p) CLV_MUST_CHECK;

/* ---- sim_execute.c: steps of one rank, run by the executor of the schedule module over public
 * MPI.
 *
 * What: the same executor as the component's with another table: MPI_Isend, MPI_Issend, MPI_Irecv,
 * and MPI_Waitany when idle, because polling would cost simulated time.
 * Not: buffers of the component; floats and MPI_SUM only. Nothing is allocated while running.
 * --------------------------------------------------------------------------------------------- */

/* Combines the options' n_floats of all ranks into that of rank 0, in an allreduce of every rank;
 * else on the others it is spent. */
clv_status_t clv_sim_execute(const clv_sim_steps_t *steps, const clv_sim_options_t *options,
                             float *vector) CLV_MUST_CHECK;

/* ---- sim_direct.c: reduces and allreduces that are not plans, to compare plans with.
 *
 *   library   MPI_Reduce; smpirun's --cfg=smpi/reduce says which of SimGrid's; so MPI_Allreduce
 *   bound     only the last arriver sends its vector to the root; nobody can be faster. In an
 *             allreduce it gets another vector at the same time
 *   radix-k   reduces only: groups of k ranks share their vectors out, digit by digit, then all
 *             send to the root (bench_radix.h, where the picture is)
 *
 * Floats, MPI_SUM, root 0. Memory is taken inside, which is free in a simulation.
 * --------------------------------------------------------------------------------------------- */

typedef struct clv_sim_call {
    int rank;
    int n_ranks;
    int32_t n_floats;
    bool is_allreduce;
    double combine_ps;         /* radix-k combines for nothing */
    const int64_t *arrival_ns; /* by rank */
    float *vector;             /* radix-k spends it */
    float *sum;                /* on every rank: some of SimGrid's reduces write it on all */
} clv_sim_call_t;

typedef struct clv_sim_direct {
    const char *name;
    clv_status_t (*run)(const clv_sim_call_t *call);
    bool sums; /* false: only one vector arrives */
    bool allreduces;
    bool prepares; /* the first call also makes what later ones use: it does not count */
} clv_sim_direct_t;

/* NULL for another name. */
const clv_sim_direct_t *clv_sim_direct_find(const char *name);

/* This rank's processor is busy with combining n_floats, as long as is said of a byte; 0 ps: it
 * takes no time. Outside SimGrid there is no simulated processor to charge, and nothing is. */
void clv_sim_combining(double combine_ps, int32_t n_floats);

#endif
