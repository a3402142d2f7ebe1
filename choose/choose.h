/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The module choose: selects the plan for a forecast. PURE: no Open MPI, no MPI, no threads, no
 * clock.
 *
 * What: takes a forecast and a config (both equal on all ranks) and the state that this stream's
 * earlier forecasts left; returns the choice for the calls that use the forecast, and its plan. It
 * uses integers only and is a deterministic function of its arguments, because every host's leader
 * computes it alone and all must agree. Its entry is clv_choose_node_plan (choose_node_plan.h):
 * (config, key, forecast, state) -> node plan, for each of the keys that share the forecast
 * (choose_keys.h). The component, the simulation and bench_decide all run this module and add no
 * rule. Not: whether a call is eligible at all, and how a plan is run.
 *
 * The rules (docs/design/choice.md):
 *   1. begin: calls without a forecast run the best plan that needs none, if the model finds it
 *      better than the previous function;
 *   2. predict: every candidate plan is made for the clipped arrivals and its end estimated;
 *   3. correct: each choice's estimate is multiplied by the ratio of its measured calls to their
 *      estimates, which corrects a model that flatters a plan;
 *   4. choose the least, but leave the previous function, or a running choice, only for a clear
 *      gain;
 *   5. guard: a plan is no candidate if its replay with equal arrivals ends more than a share later
 *      than the best such replay (choose_guard.h): this bounds the cost of wrong predictions;
 *   6. judge: once a block of calls has measured the program's iteration time under the current
 *      choice, another choice replaces it only by the iteration time of its own blocks, in trials
 *      at a bounded rate (choose_try.h);
 *   7. decoupled: if ranks do not wait for each other's results, an order that follows the arrivals
 *      is charged with the distance that the ranks would lose.
 *
 * Plans are made for arrivals in whole round lengths, counted from the first, with or without a
 * cache. So a plan is a function of the forecast alone, whatever a host's cache holds.
 *
 * Cost: one plan per candidate tried, on the background thread; docs/design/schedule.md has a
 * table.
 *
 * Units: int64 ns; byte_ps is picoseconds per byte; ratios in permille.
 * Errors: CLV_NO_MEMORY, this process's own; CLV_LIMIT where no plan is possible, equal on all
 *   ranks. Outputs are set only on CLV_OK.
 * Memory: nothing is allocated but plans: the caller's to free, or the cache's until its next use.
 *   A state is the caller's.
 * Threads: safe on distinct states and caches; no state of its own.
 */
#ifndef CLV_CHOOSE_H
#define CLV_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "choose/choose_algorithms.h"
#include "choose/choose_collectives.h"
#include "choose/choose_parameters.h"
#include "choose/choose_policy.h"
#include "choose/choose_reasons.h"
#include "pap_predict/pap_predict.h"
#include "schedule/sched_cache.h"
#include "schedule/sched_cost.h"

/* ---- config ---------------------------------------------------------------------------------- */

/* Ranks times segments of the largest plan: bounds plan time and the host's table. */
#define CLV_CHOOSE_MAX_CELLS 65536

/* The config that all ranks of a communicator agree on once: the rank-equal parameters, one field
 * per row, by name; and the measured facts of the communicator. */
typedef struct clv_choose_config {
#define CLV_CONFIG_FIELD(kind, name, values, preset, min, max, unit, level, ranks, meaning)        \
    CLV_IF_EQUAL(ranks, int32_t name;)
    CLV_PARAMETER_MAP(CLV_CONFIG_FIELD)
#undef CLV_CONFIG_FIELD
    int32_t n_ranks;
    int64_t max_cells; /* a plan with more ranks times segments is no candidate */
    clv_cost_t cost;
    int32_t is_shared;    /* ranks of some host share processors */
    const int32_t *place; /* of each rank, as in clv_instance_t; NULL: no link is shared */
} clv_choose_config_t;

/* The fields of parameters as numbers, to be compared or hashed; "coll_clv_..." of each. */
void clv_choose_config_numbers(const clv_choose_config_t *config, int32_t numbers[CLV_N_EQUAL]);
const char *clv_equal_name(clv_equal_t parameter);
/* The value as the user would write it. */
void clv_equal_print(char *text, size_t size, clv_equal_t parameter, int32_t value);

/* The algorithm that the user forces for a collective, or CLV_ALGORITHM_AUTO; and its smallest
 * vector that clv predicts and plans. Inline, because every call asks. */
#define CLV_ALGORITHM_CASE(to, code, name, mpi, goal, root, op, counts, result, bytes, least)      \
    case CLV_COLLECTIVE_##code:                                                                    \
        return config->name##_algorithm;
#define CLV_BYTES_CASE(to, code, name, mpi, goal, root, op, counts, result, bytes, least)          \
    case CLV_COLLECTIVE_##code:                                                                    \
        return config->bytes;

static inline int32_t clv_choose_forced(const clv_choose_config_t *config, int32_t collective)
{
    switch (collective) {
        CLV_COLLECTIVE_MAP(CLV_ALGORITHM_CASE, )
    default:
        return CLV_ALGORITHM_AUTO;
    }
}

static inline int64_t clv_choose_min_bytes(const clv_choose_config_t *config, int32_t collective)
{
    switch (collective) {
        CLV_COLLECTIVE_MAP(CLV_BYTES_CASE, )
    default:
        return INT64_MAX;
    }
}
#undef CLV_ALGORITHM_CASE
#undef CLV_BYTES_CASE

/* ---- decisions ------------------------------------------------------------------------------- */

/* The choice for the calls that use one forecast. */
typedef struct clv_choose_decision {
    int32_t algorithm; /* a clv_algorithm_t that makes plans, or CLV_ALGORITHM_PREVIOUS */
    int32_t reason;    /* a clv_reason_t */
    int32_t n_segments;
    int32_t announced;    /* the forecast came from hints */
    int32_t is_far_late;  /* of the plan's instance, see schedule/schedule.h */
    int32_t is_blind;     /* there was no forecast: the predictions below assume equal arrivals */
    int32_t is_decoupled; /* ranks did not wait for results; no plan depends on it */
    int64_t round_ns;
    int64_t sigma_ns;
    int64_t predicted_after_ns;
    int64_t predicted_in_mpi_ns;
} clv_choose_decision_t;

/* Bounds of a communicator's plan cache. */
#define CLV_CHOOSE_CACHE_PLANS 64
#define CLV_CHOOSE_CACHE_BYTES (INT64_C(8) << 20)

#define CLV_CHOOSE_RING             4 /* decisions: a call is measured two forecasts later ... */
#define CLV_CHOOSE_UNMEASURED_CALLS (CLV_CHOOSE_RING - 1) /* ... after this many others ran */
#define CLV_CHOOSE_BLOCKS           3 /* an iteration time is the median of this many */

typedef struct clv_choose_score {
    int64_t n_measured;
    int64_t ratio_permille;  /* measured / predicted, moving average; 0: never measured */
    int64_t newest_permille; /* of the newest call alone */
    int64_t in_mpi_ns;       /* mean time of a rank in its calls, moving average */
    int64_t idle_forecasts;  /* since it was last measured */
} clv_choose_score_t;

/* Consecutive calls that ran one algorithm, and their time by the objective
 * (choose_iterations.h). */
typedef struct clv_choose_block {
    int32_t algorithm;
    int64_t n_skipped; /* calls of a change that do not count */
    int64_t n_calls;
    int64_t time_ns;
} clv_choose_block_t;

typedef struct clv_choose_blocks {
    int32_t n_blocks; /* newest first; 0: never measured */
    int64_t iteration_ns[CLV_CHOOSE_BLOCKS];
} clv_choose_blocks_t;

/* What a trial has found out of an algorithm, beside what ran before it. */
typedef struct clv_choose_back_off {
    int64_t wait_calls; /* until it may be tried again; 0: never tried */
    int64_t age_calls;  /* since it was tried */
} clv_choose_back_off_t;

/* The trial under way, or the last one; choose_try.h. */
typedef struct clv_choose_trial {
    bool is_on;
    int32_t algorithm;
    int32_t needed_permille; /* of the time before: the longest iteration that wins the trial */
    clv_choose_blocks_t blocks;
    int32_t n_forecasts;      /* since it began */
    int64_t expected_loss_ns; /* a call */
    int64_t loss_ns;          /* so far; includes losses of calls under way when it ended */
    int64_t budget_ns;        /* loss that trials may still cost */
    int64_t regret_ns;        /* loss of trials so far */
} clv_choose_trial_t;

/* Measured gain of the choice over the previous function (choose_gain.h), ns. */
typedef struct clv_choose_gains {
    int64_t took_ns;         /* time under what ran ... */
    int64_t would_ns;        /* ... that would have been this under that function */
    int64_t unknown_ns;      /* time under plans that were not compared with it */
    int64_t n_calls;         /* calls of trials, so compared ... */
    int64_t own_ns;          /* ... what so many take under our plan ... */
    int64_t previous_ns;     /* ... and under that function */
    int64_t spread_permille; /* sum over them: how far blocks of what runs lie apart */
} clv_choose_gains_t;

typedef struct clv_choose_gain {
    clv_choose_gains_t sum;      /* without run_ns */
    int32_t algorithm;           /* the incumbent when it was looked at last ... */
    int64_t iteration_ns;        /* ... its iteration time ... */
    int64_t run_ns;              /* ... what ran since then ... */
    int64_t own_ns, previous_ns; /* ... and what compared calls took under both */
    int32_t tried; /* the newest plan that was tried beside the previous function ... */
    int64_t tried_ns, beside_ns; /* ... what its calls took, and would have taken under that */
} clv_choose_gain_t;

/* What a stream's record sets say about the program's iteration time; shared by its plan keys. */
typedef struct clv_choose_iterations {
    int64_t version; /* of the newest forecast; a skipped version ran an unknown choice */
    int64_t call;    /* of its record set */
    int64_t last_arrival_ns;
    int64_t computing_ns;       /* of the slowest rank, moving average; 0: unknown */
    int64_t usual_ns;           /* of a call and what is before it, whatever runs, moving average */
    int32_t n_pauses;           /* newest record sets after a pause of the program */
    int64_t decoupled_sets;     /* coming record sets for which ranks count as decoupled */
    bool has_been_decoupled;    /* at any time since the program last changed */
    clv_choose_block_t block;   /* being measured */
    int32_t incumbent;          /* the algorithm that runs outside trials */
    int32_t n_odd;              /* its newest blocks in a row unlike those before */
    clv_choose_blocks_t blocks; /* of it */
    clv_choose_back_off_t back_off[CLV_N_ALGORITHMS];
    clv_choose_trial_t trial;
    clv_choose_gain_t gain;
} clv_choose_iterations_t;

/* State of a plan key between forecasts; all zero at first. */
typedef struct clv_choose_state {
    int32_t running; /* a clv_algorithm_t */
    clv_choose_score_t score[CLV_N_ALGORITHMS];
    clv_choose_decision_t made[CLV_CHOOSE_RING]; /* by forecast version */
    int64_t last_gap_ns; /* from the last but one to the last arrival of the newest forecast */
    int32_t last_right;  /* checked forecasts in a row whose last rank certainly was the last */
    clv_choose_iterations_t iterations;
    int64_t balanced_bytes; /* for vectors of this length ... */
    clv_choose_decision_t
        balanced;  /* ... the best plan that needs no forecast; no segments: none */
    int32_t fixed; /* ... the fixed order that is best with equal arrivals; 0: none */
    int16_t n_bound_segments[CLV_N_ALGORITHMS]; /* ... and the segments of classic ones that pass
                                                   the guard; 0: it does not */
} clv_choose_state_t;

/* Decides; clv_choose_plan or clv_choose_cached_plan then gives the plan. plans keeps the
 * candidates' plans for later forecasts (NULL: none is kept); it changes the time, never the
 * answer. A plan that cannot be made for a reason equal on all ranks (a limit) is no candidate. The
 * only failure is CLV_NO_MEMORY, of this process alone: the caller must report it and must not run
 * another choice alone. */
clv_status_t clv_choose(const clv_choose_config_t *config, const clv_pap_stream_key_t *key,
                        const clv_pap_forecast_t *forecast, clv_choose_state_t *state,
                        clv_plan_cache_t *plans, clv_choose_decision_t *decision) CLV_MUST_CHECK;

/* The same with the program's progress, for a forecast that several keys may share. judges: the
 * measured call was of this key. Otherwise this key learns and forgets nothing, and tries something
 * only together with the key that judges. */
clv_status_t clv_choose_shared(const clv_choose_config_t *config, const clv_pap_stream_key_t *key,
                               const clv_pap_forecast_t *forecast,
                               const clv_pap_progress_t *progress, bool judges,
                               clv_choose_state_t *state, clv_plan_cache_t *plans,
                               clv_choose_decision_t *decision) CLV_MUST_CHECK;

/* The state of a key that is new to a stream, whose calls so far ran without a forecast. announced:
 * whether the earlier forecasts came from hints, by version. The only failure is CLV_NO_MEMORY, as
 * above.
 */
clv_status_t clv_choose_begin(const clv_choose_config_t *config, const clv_pap_stream_key_t *key,
                              const int32_t announced[CLV_CHOOSE_RING],
                              clv_choose_state_t *state) CLV_MUST_CHECK;

/* Shares between the keys of a stream: copies the iteration time, which belongs to the stream, to
 * any state, and the previous function's ratio to its estimate to a state that has not learned
 * it. */
void clv_choose_share(const clv_choose_state_t *from, clv_choose_state_t *to);

/* The plan of a decision that has one, made from the same forecast (NULL: equal arrivals); the
 * caller's to free. */
clv_status_t clv_choose_plan(const clv_choose_config_t *config, const clv_pap_stream_key_t *key,
                             const clv_pap_forecast_t *forecast,
                             const clv_choose_decision_t *decision,
                             clv_plan_t **plan_p) CLV_MUST_CHECK;

/* The same plan from the cache (not NULL), which keeps it: valid until the cache's next use. */
clv_status_t clv_choose_cached_plan(const clv_choose_config_t *config,
                                    const clv_pap_stream_key_t *key,
                                    const clv_pap_forecast_t *forecast,
                                    const clv_choose_decision_t *decision, clv_plan_cache_t *plans,
                                    const clv_plan_t **plan_p) CLV_MUST_CHECK;

/* The best plan that needs no forecast, by the model with equal arrivals, as a decision; ignores a
 * forced algorithm. CLV_LIMIT: none is possible. */
clv_status_t clv_choose_balanced(const clv_choose_config_t *config, const clv_pap_stream_key_t *key,
                                 clv_choose_decision_t *decision) CLV_MUST_CHECK;
/* Sets *fixed_p, too: the best algorithm with the same order in each call, by the same measure;
 * CLV_ALGORITHM_PREVIOUS: there is none. */
clv_status_t clv_choose_balanced_and_fixed(const clv_choose_config_t *config,
                                           const clv_pap_stream_key_t *key,
                                           clv_choose_decision_t *decision,
                                           int32_t *fixed_p) CLV_MUST_CHECK;
/* The same for one algorithm that makes plans, whichever is forced. */
clv_status_t clv_choose_balanced_of(const clv_choose_config_t *config,
                                    const clv_pap_stream_key_t *key, int32_t algorithm,
                                    clv_choose_decision_t *decision) CLV_MUST_CHECK;

/* The plan for coll_clv_reproducible, whose results depend only on the communicator's ranks and the
 * call: it ignores arrivals, places and measurements. The caller frees it. CLV_LIMIT: none for this
 * size. Reduces run the previous function instead, whose order of combination is known. */
static inline bool clv_choose_has_fixed(int32_t collective)
{
    return clv_collectives[collective].goal == CLV_GOAL_ALLREDUCE;
}
clv_status_t clv_choose_fixed(const clv_choose_config_t *config, const clv_pap_stream_key_t *key,
                              clv_choose_decision_t *decision, clv_plan_t **plan_p) CLV_MUST_CHECK;

/* The decision without a forecast: the forced algorithm, else that of coll_clv_fallback. auto: the
 * model's best for equal arrivals among the balanced plan, the classic algorithms and the previous
 * function. Equal on all ranks. CLV_LIMIT: no plan is possible. */
clv_status_t clv_choose_without_forecast(const clv_choose_config_t *config,
                                         const clv_pap_stream_key_t *key,
                                         clv_choose_decision_t *decision) CLV_MUST_CHECK;

/* Calls whose forecast never comes (its record set is void) run their stream's newest decision that
 * needs no forecast and was no trial: the previous function or a fixed order. The model alone knows
 * less, and a change for a few calls synchronises decoupled ranks, which lose their lead. Equal on
 * all ranks, as decisions are. */
static inline bool clv_choose_is_sticky(const clv_choose_decision_t *decision)
{
    return decision->reason != CLV_REASON_TRYING &&
           (decision->algorithm == CLV_ALGORITHM_PREVIOUS ||
            clv_algorithm_is_static(decision->algorithm));
}

#endif
