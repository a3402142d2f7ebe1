/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The module choose: which plan for which forecast. PURE: no Open MPI, no MPI, no threads, no
 * clock.
 *
 * What: from a forecast (equal on all ranks), a config (equal, too) and the state that this
 * stream's earlier forecasts left, the choice for the calls that use the forecast, and the plan
 * that goes with it. Integers only; a deterministic function of its arguments, because every node's
 * leader computes it alone and all must come to the same answer. Its entry is clv_choose_node_plan
 * (choose_node_plan.h): (config, key, forecast, state) -> node plan, for each of the keys that
 * share the forecast (choose_keys.h). Component, simulation and bench_decide all run this module,
 * no rule of their own. Not: whether a call is eligible at all, and how a plan is run.
 *
 * The rules (docs/design/choice.md):
 *   1. begin: calls without a forecast run the best plan that needs no forecast, by the model
 * against the previous reduce;
 *   2. predict: every candidate plan is made for the clipped arrivals and its end estimated;
 *   3. correct: each choice's estimate is multiplied by what its measured calls took against
 *      their estimates, so that a model that flatters a plan is found out;
 *   4. choose the least, but leave the previous reduce only for a clear gain, and a running
 *      choice only for a clear gain;
 *   5. guard: no plan is a candidate whose replay with equal arrivals ends later than the best such
 *      replay by more than a share (choose_guard.h): wrong predictions cost no more than that;
 *   6. judge: once a block of calls has told the program's iteration time under what runs, nothing
 * else is taken for good but by the iteration time of blocks of its own, tried at a bounded rate
 *   (choose_try.h);
 *   7. decoupled: where ranks do not wait for each other's results, orders that follow the arrivals
 * are expected to cost what the ranks have gained by being apart.
 *
 * Plans are made for arrivals in whole round lengths, counted from the first, with or without a
 * cache: so a plan is a function of the forecast alone, whatever a node's cache holds.
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

/* Ranks times segments of the largest plan: bounds plan time and the node's table. */
#define CLV_CHOOSE_MAX_CELLS 65536

/* What all ranks of a communicator agree on, once: the rank-equal parameters, one field per row, by
 * their names; and what was found out about the communicator. */
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

/* Of a collective: the algorithm the user wants for it, or CLV_ALGORITHM_AUTO, and its smallest
 * vector that is predicted and planned. Here, since every call asks. */
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
    int32_t is_blind;     /* there was no forecast: what is predicted below is for equal arrivals */
    int32_t is_decoupled; /* ranks were seen not to wait for results; no plan depends on it */
    int64_t round_ns;
    int64_t sigma_ns;
    int64_t predicted_after_ns;
    int64_t predicted_in_mpi_ns;
} clv_choose_decision_t;

/* So many times in a row the last rank must have been predicted to be trusted. */

/* Bounds of a communicator's plan cache. */
#define CLV_CHOOSE_CACHE_PLANS 64
#define CLV_CHOOSE_CACHE_BYTES (INT64_C(8) << 20)

#define CLV_CHOOSE_RING             4 /* decisions: a call is measured two forecasts later ... */
#define CLV_CHOOSE_UNMEASURED_CALLS (CLV_CHOOSE_RING - 1) /* ... so many others run before */
#define CLV_CHOOSE_BLOCKS           3 /* an iteration time is the middle one of so many */

typedef struct clv_choose_score {
    int64_t n_measured;
    int64_t ratio_permille;  /* measured / predicted, moving average; 0: never measured */
    int64_t newest_permille; /* of the newest call alone */
    int64_t in_mpi_ns;       /* mean time of a rank in its calls, moving average */
    int64_t idle_forecasts;  /* since it was last measured */
} clv_choose_score_t;

/* Calls on end that ran one algorithm, and what they took by the objective
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
    int32_t is_on;
    int32_t algorithm;
    int32_t needed_permille; /* of the time before: an iteration of at most so long wins it */
    int32_t was_decoupled;   /* ranks were seen decoupled while it was on */
    clv_choose_blocks_t blocks;
    int32_t n_forecasts;      /* since it began */
    int64_t expected_loss_ns; /* a call */
    int64_t loss_ns;          /* so far, also what calls lose that were under way when it ended */
    int64_t budget_ns;        /* what trying may still lose */
    int64_t regret_ns;        /* what it has lost */
} clv_choose_trial_t;

/* What was measured of the choice against the function before us (choose_gain.h), ns. */
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
    int64_t version; /* of the newest forecast: one that is left out ran who knows what */
    int64_t call;    /* of its record set */
    int64_t last_arrival_ns;
    int64_t computing_ns;       /* of the slowest rank, moving average; 0: unknown */
    int64_t usual_ns;           /* of a call and what is before it, whatever runs, moving average */
    int32_t n_pauses;           /* so many newest record sets came after a pause of the program */
    int64_t decoupled_sets;     /* for so many record sets to come ranks are said to be decoupled */
    int32_t has_been_decoupled; /* they were seen to since the program is what it is */
    clv_choose_block_t block;   /* being measured */
    int32_t incumbent;          /* the algorithm that runs unless one is tried */
    int32_t n_odd;              /* its newest blocks on end that are unlike those before */
    clv_choose_blocks_t blocks; /* of it */
    clv_choose_back_off_t back_off[CLV_N_ALGORITHMS];
    clv_choose_trial_t trial;
    clv_choose_gain_t gain;
} clv_choose_iterations_t;

/* What is remembered of a plan key between forecasts; all zero at first. */
typedef struct clv_choose_state {
    int32_t running; /* a clv_algorithm_t */
    clv_choose_score_t score[CLV_N_ALGORITHMS];
    clv_choose_decision_t made[CLV_CHOOSE_RING]; /* by forecast version */
    int64_t last_gap_ns; /* from the last but one to the last arrival of the newest forecast */
    int32_t last_right;  /* judged forecasts in a row whose last rank surely was the last */
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
 * only failure is CLV_NO_MEMORY, which is this process's own: the caller must report it and must
 * not go another way alone. */
clv_status_t clv_choose(const clv_choose_config_t *config, const clv_pap_stream_key_t *key,
                        const clv_pap_forecast_t *forecast, clv_choose_state_t *state,
                        clv_plan_cache_t *plans, clv_choose_decision_t *decision) CLV_MUST_CHECK;

/* The same where the program's progress is known and the forecast may be of several keys. judges:
 * its measured call was of this key; else nothing measured is learned, nothing forgotten and
 * nothing tried but with the key that judges. */
clv_status_t clv_choose_shared(const clv_choose_config_t *config, const clv_pap_stream_key_t *key,
                               const clv_pap_forecast_t *forecast,
                               const clv_pap_progress_t *progress, int judges,
                               clv_choose_state_t *state, clv_plan_cache_t *plans,
                               clv_choose_decision_t *decision) CLV_MUST_CHECK;

/* The state of a key that earlier forecasts did not know: its calls ran without a forecast.
 * announced: whether those forecasts were, by version. The only failure is CLV_NO_MEMORY, as above.
 */
clv_status_t clv_choose_begin(const clv_choose_config_t *config, const clv_pap_stream_key_t *key,
                              const int32_t announced[CLV_CHOOSE_RING],
                              clv_choose_state_t *state) CLV_MUST_CHECK;

/* What the previous function takes of its estimate is learned by all keys of a stream, and the
 * iteration time is the stream's: hands the one on to a state that has not learned it yet, the
 * other to any. */
void clv_choose_share(const clv_choose_state_t *from, clv_choose_state_t *to);

/* The plan of a decision that has one, made from the same forecast (NULL: equal arrivals); the
 * caller's to free. */
clv_status_t clv_choose_plan(const clv_choose_config_t *config, const clv_pap_stream_key_t *key,
                             const clv_pap_forecast_t *forecast,
                             const clv_choose_decision_t *decision,
                             clv_plan_t **plan_p) CLV_MUST_CHECK;

/* The same plan, from the cache (not NULL), whose it stays: valid until the cache's next use. */
clv_status_t clv_choose_cached_plan(const clv_choose_config_t *config,
                                    const clv_pap_stream_key_t *key,
                                    const clv_pap_forecast_t *forecast,
                                    const clv_choose_decision_t *decision, clv_plan_cache_t *plans,
                                    const clv_plan_t **plan_p) CLV_MUST_CHECK;

/* The best plan that needs no forecast, by the model with equal arrivals, as a decision; a forced
 * algorithm is not looked at. CLV_LIMIT: none is possible. */
clv_status_t clv_choose_balanced(const clv_choose_config_t *config, const clv_pap_stream_key_t *key,
                                 clv_choose_decision_t *decision) CLV_MUST_CHECK;
/* *fixed_p, too: of the algorithms with the same order in each call that which is best so;
 * CLV_ALGORITHM_PREVIOUS: there is none. */
clv_status_t clv_choose_balanced_and_fixed(const clv_choose_config_t *config,
                                           const clv_pap_stream_key_t *key,
                                           clv_choose_decision_t *decision,
                                           int32_t *fixed_p) CLV_MUST_CHECK;
/* The same of one algorithm that makes plans, whatever is forced. */
clv_status_t clv_choose_balanced_of(const clv_choose_config_t *config,
                                    const clv_pap_stream_key_t *key, int32_t algorithm,
                                    clv_choose_decision_t *decision) CLV_MUST_CHECK;

/* Where results may depend on the communicator's ranks and the call alone (coll_clv_reproducible):
 * a plan for neither arrivals nor places, whose algorithm and segments no measurement decides; the
 * caller's to free. CLV_LIMIT: none for this size. Reduces keep to the previous function: what that
 * combines in which order is known. */
static inline int clv_choose_has_fixed(int32_t collective)
{
    return clv_collectives[collective].goal == CLV_GOAL_ALLREDUCE;
}
clv_status_t clv_choose_fixed(const clv_choose_config_t *config, const clv_pap_stream_key_t *key,
                              clv_choose_decision_t *decision, clv_plan_t **plan_p) CLV_MUST_CHECK;

/* The decision where there is no forecast: the forced algorithm, else what coll_clv_fallback says;
 * auto: what the model thinks best for equal arrivals of the balanced plan, the classic algorithms
 * and the previous function. Equal on all ranks. CLV_LIMIT: no plan is possible. */
clv_status_t clv_choose_without_forecast(const clv_choose_config_t *config,
                                         const clv_pap_stream_key_t *key,
                                         clv_choose_decision_t *decision) CLV_MUST_CHECK;

/* Calls whose forecast never comes (its record set is void) run the newest decision of their stream
 * that needs none and was no trial: the previous function, or an order that is the same in each
 * call. The model knows less, and a change for some calls synchronises decoupled ranks: what they
 * were ahead is lost. Equal on all ranks, as decisions are. */
static inline int clv_choose_is_sticky(const clv_choose_decision_t *decision)
{
    return decision->reason != CLV_REASON_TRYING &&
           (decision->algorithm == CLV_ALGORITHM_PREVIOUS ||
            clv_algorithm_is_static(decision->algorithm));
}

#endif
