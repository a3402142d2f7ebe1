/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Estimates a recorded program's run time with other algorithms, by replaying its calls in a closed
 * loop. PURE: no file, no MPI, no clock.
 *
 *      recorded   a---x   computing   a------x   computing   a ...
 *      replayed   a-x   computing   a--x   computing   a ...      next arrival = exit + computing
 *
 * Calls that clv plans (reduces, allreduces and broadcasts from its minimum size on) are replayed
 * with each way's algorithm, its cost model and early sends (sched_exits.h). Decider (choose/) and
 * predictor are the component's own; only the network is a model. Other calls keep their time after
 * the last arrival that they wait for: a broadcast for its root, a barrier for all.
 *
 * Not: the recording of calls (record/), nor the output (clv-view). Savings compare model with
 * model; the caller scales them by the measured time of the algorithm that ran.
 *
 * Units: ns, bytes.
 * Errors: CLV_NO_MEMORY; CLV_INVALID, CLV_OVERFLOW for times no replay can have; CLV_NONE where
 *   nothing can be fitted.
 * Memory: the run's arrays are the caller's; a result's last_arrival_ns, too.
 * Threads: safe on distinct results.
 * Cost: ranks * segments per planned call and way; for clv also one plan per candidate.
 */
#ifndef CLV_WHAT_IF_H
#define CLV_WHAT_IF_H

#include <stdbool.h>
#include <stdint.h>

#include "choose/choose.h"
#include "schedule/sched_exits.h"

#define CLV_WHAT_IF_SEGMENT_BYTES 32768 /* of the forced pipeline */

/* XX(WAY, word, meaning). */
/* clang-format off */
#define CLV_WHAT_IF_MAP(XX)                                                                        \
    XX(DEFAULT,  "default",  "the previous function: a tree of vectors, an allreduce by halves")   \
    XX(PIPELINE, "pipeline", "a chain by rank of segments of 32 KiB, for an allreduce a ring")     \
    XX(CLV,      "clv",      "clv with its own predictions")                                       \
    XX(KNOWN,    "known",    "clv, were the arrivals of each call known before")                   \
    XX(BOUND,    "bound",    "a vector from the last rank, or a broadcast's root, to who needs it")
/* clang-format on */

typedef enum clv_what_if_way {
#define CLV_WHAT_IF_ENUM(code, word, meaning) CLV_WHAT_IF_##code,
    CLV_WHAT_IF_MAP(CLV_WHAT_IF_ENUM)
#undef CLV_WHAT_IF_ENUM
        CLV_WHAT_IF_N_WAYS
} clv_what_if_way_t;

typedef struct clv_what_if_row {
    const char *word;
    const char *meaning;
} clv_what_if_row_t;

extern const clv_what_if_row_t clv_what_if_ways[CLV_WHAT_IF_N_WAYS];

/* Which ranks a rank waits for in a call: all, the root, all at the root and none elsewhere, lower
 * ranks. */
typedef enum clv_what_if_waits {
    CLV_WHAT_IF_WAITS_ALL,
    CLV_WHAT_IF_WAITS_ROOT,
    CLV_WHAT_IF_WAITS_AT_ROOT,
    CLV_WHAT_IF_WAITS_LOWER
} clv_what_if_waits_t;

typedef struct clv_what_if_comm {
    int32_t n_ranks;
    const int32_t *members; /* ranks of the job */
    const int32_t *place;   /* as in clv_instance_t; NULL: no two ranks share a host */
} clv_what_if_comm_t;

typedef struct clv_what_if_call {
    int32_t comm;
    clv_what_if_waits_t waits;
    int32_t root;
    bool is_planned;           /* if true, key is set */
    clv_pap_stream_key_t key;  /* of a planned call */
    const int64_t *arrival_ns; /* by rank of the communicator; all are known */
    const int64_t *exit_ns;
} clv_what_if_call_t;

/* calls: each after the previous calls of its ranks. */
typedef struct clv_what_if_run {
    int32_t n_ranks; /* of the job */
    int32_t n_comms;
    const clv_what_if_comm_t *comms;
    int32_t n_calls;
    const clv_what_if_call_t *calls;
} clv_what_if_run_t;

typedef struct clv_what_if_setting {
    clv_cost_t cost;
    clv_early_t early;   /* of networks whose ranks share no host */
    int64_t exchange_ns; /* from the last arrival of a sampled call to its forecast */
} clv_what_if_setting_t;

typedef struct clv_what_if_result {
    int64_t run_ns;      /* first arrival to last exit */
    double in_mpi_ns;    /* in planned calls, mean over the job's ranks */
    double after_ns;     /* mean over planned calls */
    double iteration_ns; /* mean time from a planned call's last arrival to that of the next */
    int32_t n_planned;
    int64_t *last_arrival_ns; /* last arrival of each planned call, from the run's first; or NULL */
} clv_what_if_result_t;

/* Replays the run with that way. result->last_arrival_ns: room for as many elements as calls, or
 * NULL. */
clv_status_t clv_what_if_replay(const clv_what_if_run_t *run, const clv_what_if_setting_t *setting,
                                clv_what_if_way_t way, clv_what_if_result_t *result) CLV_MUST_CHECK;

/* How long the run would take if every rank of a call had computed for the mean of the call's ranks
 * since their previous calls, and if the call took as long after its last arrival as recorded. */
clv_status_t clv_what_if_balanced(const clv_what_if_run_t *run, int64_t *run_ns_p) CLV_MUST_CHECK;

/* The result of the recorded times. */
void clv_what_if_measured(const clv_what_if_run_t *run, clv_what_if_result_t *result);

/* Fits the cost per byte at which half of the planned calls, as recorded, took longer than the
 * model of that way, and half shorter. latency_ns is taken as given. Uses at most max_calls calls.
 * CLV_NONE: no such cost, for example without planned calls. */
clv_status_t clv_what_if_fit(const clv_what_if_run_t *run, clv_what_if_way_t way, int32_t max_calls,
                             clv_cost_t *cost) CLV_MUST_CHECK;

/* The decider's default parameters. */
clv_choose_config_t clv_what_if_config(void);

/* Within these limits the model is faithful; outside, a saving is only indicative. */
#define CLV_WHAT_IF_FAITHFUL_LEAST 0.8
#define CLV_WHAT_IF_FAITHFUL_MOST  1.25
static inline bool clv_what_if_is_faithful(double model, double measured)
{
    return model >= CLV_WHAT_IF_FAITHFUL_LEAST * measured &&
           model <= CLV_WHAT_IF_FAITHFUL_MOST * measured;
}

#endif
