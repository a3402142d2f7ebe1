/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Replays the calls of a recorded program (see what_if.h).
 */
#include "apps/what_if/what_if.h"

#include <string.h>

#include "util/util_alloc.h"
#include "util/util_min_max.h"
#include "apps/what_if/what_if_internal.h"

#define FIRST_NS INT64_C(1000000000) /* the first arrival in a replay; a time of 0 means none */

const clv_what_if_row_t clv_what_if_ways[CLV_WHAT_IF_N_WAYS] = {
#define WAY_ROW(code, word, meaning) {word, meaning},
    CLV_WHAT_IF_MAP(WAY_ROW)
#undef WAY_ROW
};

/* The text of a list is parsed by the component; the default is its first collective. */
#define PRESET_INT(preset)    (preset)
#define PRESET_BOOL(preset)   (preset)
#define PRESET_ENUM(preset)   (preset)
#define PRESET_CHOICE(preset) (preset)
#define PRESET_LIST(preset)   (0)
#define PRESET_STRING(preset) (0)

clv_choose_config_t clv_what_if_config(void)
{
    return (clv_choose_config_t){
#define PRESET_ROW(kind, name, values, preset, min, max, unit, level, ranks, meaning)              \
    CLV_IF_EQUAL(ranks, .name = PRESET_##kind(preset), )
        CLV_PARAMETER_MAP(PRESET_ROW)
#undef PRESET_ROW
            .max_cells = CLV_CHOOSE_MAX_CELLS};
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Sums over the calls replayed so far. */
typedef struct sums {
    clv_what_if_result_t *result;
    int64_t first_ns, end_ns; /* of the run */
    int64_t last_arrival_of_first_ns, last_arrival_ns;
} sums_t;

static sums_t begin_sums(clv_what_if_result_t *result)
{
    *result = (clv_what_if_result_t){.last_arrival_ns = result->last_arrival_ns};
    return (sums_t){.result = result, .first_ns = INT64_MAX, .end_ns = INT64_MIN};
}

static void add_call(sums_t *sums, bool is_planned, int32_t n_ranks, const int64_t *arrival_ns,
                     const int64_t *exit_ns)
{
    int64_t last_arrival_ns = INT64_MIN, end_ns = INT64_MIN;
    double in_mpi_ns = 0;

    for (int32_t p = 0; p < n_ranks; p++) {
        sums->first_ns = clv_smaller(sums->first_ns, arrival_ns[p]);
        last_arrival_ns = clv_larger(last_arrival_ns, arrival_ns[p]);
        end_ns = clv_larger(end_ns, exit_ns[p]);
        in_mpi_ns += (double) (exit_ns[p] - arrival_ns[p]);
    }
    sums->end_ns = clv_larger(sums->end_ns, end_ns);
    if (!is_planned) {
        return;
    }
    sums->last_arrival_of_first_ns =
        sums->result->n_planned == 0 ? last_arrival_ns : sums->last_arrival_of_first_ns;
    sums->last_arrival_ns = last_arrival_ns;
    sums->result->in_mpi_ns += in_mpi_ns;
    sums->result->after_ns += (double) (end_ns - last_arrival_ns);
    if (sums->result->last_arrival_ns != NULL) {
        sums->result->last_arrival_ns[sums->result->n_planned] = last_arrival_ns;
    }
    sums->result->n_planned++;
}

static void end_sums(const sums_t *sums, int32_t n_ranks)
{
    clv_what_if_result_t *result = sums->result;
    const int32_t n = result->n_planned;

    result->run_ns = sums->end_ns > sums->first_ns ? sums->end_ns - sums->first_ns : 0;
    result->in_mpi_ns /= n_ranks;
    result->after_ns /= n > 0 ? n : 1;
    result->iteration_ns =
        n > 1 ? (double) (sums->last_arrival_ns - sums->last_arrival_of_first_ns) / (n - 1) : 0;
    for (int32_t i = 0; i < n && result->last_arrival_ns != NULL; i++) {
        result->last_arrival_ns[i] -= sums->first_ns;
    }
}

void clv_what_if_measured(const clv_what_if_run_t *run, clv_what_if_result_t *result)
{
    sums_t sums = begin_sums(result);

    for (int32_t i = 0; i < run->n_calls; i++) {
        const clv_what_if_call_t *call = &run->calls[i];
        add_call(&sums, call->is_planned, run->comms[call->comm].n_ranks, call->arrival_ns,
                 call->exit_ns);
    }
    end_sums(&sums, run->n_ranks);
}

/* ---- calls that clv does not plan ------------------------------------------------------------ */

static bool waits_for(const clv_what_if_call_t *call, int32_t rank, int32_t other)
{
    switch (call->waits) {
    case CLV_WHAT_IF_WAITS_ROOT:
        return other == call->root;
    case CLV_WHAT_IF_WAITS_AT_ROOT:
        return rank == call->root;
    case CLV_WHAT_IF_WAITS_LOWER:
        return other < rank;
    default:
        return true;
    }
}

/* The last arrival among the ranks that this one waits for, itself included. */
static int64_t last_awaited(const clv_what_if_call_t *call, const int64_t *arrival_ns,
                            int32_t n_ranks, int32_t rank)
{
    int64_t last_ns = arrival_ns[rank];

    for (int32_t p = 0; p < n_ranks; p++) {
        last_ns = waits_for(call, rank, p) ? clv_larger(last_ns, arrival_ns[p]) : last_ns;
    }
    return last_ns;
}

static void replay_other(const clv_what_if_call_t *call, int32_t n_ranks, const int64_t *arrival_ns,
                         int64_t *exit_ns)
{
    const int32_t root = call->waits == CLV_WHAT_IF_WAITS_ALL ? 0 : -1;
    int64_t recorded_ns = 0, replayed_ns = 0;

    for (int32_t p = 0; p < n_ranks; p++) {
        if (root < 0 || p == root) { /* ranks that wait for all wait for the same one */
            recorded_ns = last_awaited(call, call->arrival_ns, n_ranks, p);
            replayed_ns = last_awaited(call, arrival_ns, n_ranks, p);
        }
        exit_ns[p] = replayed_ns + clv_larger(call->exit_ns[p] - recorded_ns, 0);
    }
}

/* ---- calls that clv plans -------------------------------------------------------------------- */

typedef struct replay {
    const clv_what_if_run_t *run;
    const clv_what_if_setting_t *setting;
    clv_what_if_way_t way;
    bool is_balanced; /* no algorithm: calls keep their duration, and ranks compute for the mean */
    clv_what_if_learner_t **learners; /* by communicator; created when needed */
    clv_what_if_fixed_t fixed;        /* of the ways without a decider */
    clv_exits_t *exits;               /* NULL: no vector is sent early */
    int64_t *times;
    int64_t *recorded_exit_ns, *exit_ns;       /* by rank of the job, of its previous call */
    int32_t *has_left;                         /* by rank: it has made a call */
    int64_t *arrival_ns, *start_ns, *leave_ns; /* of one call */
} replay_t;

/* NULL in *plan_p: clv runs the previous function. */
static clv_status_t learnt_plan(replay_t *replay, const clv_what_if_call_t *call,
                                const clv_plan_t **plan_p)
{
    clv_what_if_learner_t **learner = &replay->learners[call->comm];
    clv_status_t status = CLV_OK;

    if (*learner == NULL) {
        status = clv_what_if_learner_create(&replay->run->comms[call->comm], replay->setting,
                                            replay->way == CLV_WHAT_IF_KNOWN, learner);
    }
    if (status == CLV_OK) {
        status = clv_what_if_learner_begin(*learner, &call->key, replay->arrival_ns,
                                           replay->start_ns, plan_p);
    }
    return status;
}

/* Every rank that needs a vector gets it from the root of a broadcast, otherwise from the last rank
 * to arrive. */
static void replay_bound(const replay_t *replay, const clv_what_if_call_t *call, int32_t n_ranks)
{
    const int64_t vector_ns = clv_cost_round_ns(&replay->setting->cost, call->key.total_bytes);
    const clv_goal_t goal = clv_collectives[call->key.collective].goal;
    const int64_t *arrival_ns = replay->arrival_ns;
    int32_t from = goal == CLV_GOAL_BCAST ? call->key.root : 0;

    for (int32_t p = 0; p < n_ranks && goal != CLV_GOAL_BCAST; p++) {
        from = arrival_ns[p] > arrival_ns[from] ? p : from;
    }
    for (int32_t p = 0; p < n_ranks; p++) {
        const bool needs = p != from && (goal != CLV_GOAL_REDUCE || p == call->key.root);
        replay->leave_ns[p] =
            needs ? clv_larger(arrival_ns[p], arrival_ns[from] + vector_ns) : arrival_ns[p];
    }
}

static bool learns(clv_what_if_way_t way)
{
    return way == CLV_WHAT_IF_CLV || way == CLV_WHAT_IF_KNOWN;
}

static clv_status_t replay_planned(replay_t *replay, const clv_what_if_call_t *call)
{
    const clv_what_if_comm_t *comm = &replay->run->comms[call->comm];
    const clv_plan_t *plan = NULL;
    clv_status_t status = CLV_OK;

    if (replay->way == CLV_WHAT_IF_BOUND) {
        replay_bound(replay, call, comm->n_ranks);
        return CLV_OK;
    }
    memcpy(replay->start_ns, replay->arrival_ns, (size_t) comm->n_ranks * sizeof(int64_t));
    if (learns(replay->way)) {
        status = learnt_plan(replay, call, &plan);
    }
    if (status == CLV_OK) {
        status = plan == NULL ? clv_what_if_fixed_exits(&replay->fixed, call, replay->start_ns,
                                                        replay->exits, replay->leave_ns)
                              : clv_plan_exits(plan, replay->start_ns, comm->place,
                                               call->key.total_bytes, &replay->setting->cost,
                                               replay->exits, comm->members, replay->leave_ns);
    }
    if (status == CLV_OK && learns(replay->way)) {
        clv_what_if_learner_end(replay->learners[call->comm], replay->arrival_ns, replay->leave_ns);
    }
    return status;
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* A rank's computing time between two calls is taken as independent of the algorithm. */
static void arrive(replay_t *replay, const clv_what_if_call_t *call, int64_t first_ns)
{
    const clv_what_if_comm_t *comm = &replay->run->comms[call->comm];

    for (int32_t p = 0; p < comm->n_ranks; p++) {
        const int32_t rank = comm->members[p];
        const int64_t computing_ns = call->arrival_ns[p] - replay->recorded_exit_ns[rank];
        replay->arrival_ns[p] = replay->has_left[rank]
                                    ? replay->exit_ns[rank] + clv_larger(computing_ns, 0)
                                    : call->arrival_ns[p] - first_ns + FIRST_NS;
    }
}

/* Each rank computes for the mean of all; a rank without an earlier call began with the run. */
static void balance(replay_t *replay, const clv_what_if_comm_t *comm)
{
    int64_t sum_ns = 0;

    for (int32_t p = 0; p < comm->n_ranks; p++) {
        const int32_t rank = comm->members[p];
        replay->start_ns[p] = replay->has_left[rank] ? replay->exit_ns[rank] : FIRST_NS;
        sum_ns += replay->arrival_ns[p] - replay->start_ns[p];
    }
    for (int32_t p = 0; p < comm->n_ranks; p++) {
        replay->arrival_ns[p] = replay->start_ns[p] + sum_ns / comm->n_ranks;
    }
}

static void leave(replay_t *replay, const clv_what_if_call_t *call)
{
    const clv_what_if_comm_t *comm = &replay->run->comms[call->comm];

    for (int32_t p = 0; p < comm->n_ranks; p++) {
        const int32_t rank = comm->members[p];
        replay->recorded_exit_ns[rank] = call->exit_ns[p];
        replay->exit_ns[rank] = replay->leave_ns[p];
        replay->has_left[rank] = 1;
        if (replay->exits != NULL) {
            clv_exits_leave(replay->exits, rank, replay->leave_ns[p]);
        }
    }
}

static clv_status_t replay_calls(replay_t *replay, clv_what_if_result_t *result)
{
    const clv_what_if_run_t *run = replay->run;
    sums_t sums = begin_sums(result);
    clv_status_t status = CLV_OK;
    int64_t first_ns = INT64_MAX;

    for (int32_t i = 0; i < run->n_calls; i++) {
        for (int32_t p = 0; p < run->comms[run->calls[i].comm].n_ranks; p++) {
            first_ns = clv_smaller(first_ns, run->calls[i].arrival_ns[p]);
        }
    }
    for (int32_t i = 0; i < run->n_calls && status == CLV_OK; i++) {
        const clv_what_if_call_t *call = &run->calls[i];
        const int32_t n_ranks = run->comms[call->comm].n_ranks;
        arrive(replay, call, first_ns);
        if (replay->is_balanced) {
            balance(replay, &run->comms[call->comm]);
        }
        if (call->is_planned && !replay->is_balanced) {
            status = replay_planned(replay, call);
        } else {
            replay_other(call, n_ranks, replay->arrival_ns, replay->leave_ns);
        }
        leave(replay, call);
        add_call(&sums, call->is_planned, n_ranks, replay->arrival_ns, replay->leave_ns);
    }
    end_sums(&sums, run->n_ranks);
    return status;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static bool shares_places(const clv_what_if_run_t *run)
{
    for (int32_t i = 0; i < run->n_comms; i++) {
        if (run->comms[i].place != NULL) {
            return true;
        }
    }
    return false;
}

static clv_status_t allocate(replay_t *replay)
{
    const clv_early_t *early = &replay->setting->early;
    const size_t n_ranks = (size_t) replay->run->n_ranks;
    int64_t *times = clv_alloc(6 * n_ranks, sizeof *times);

    replay->times = times;
    replay->fixed = (clv_what_if_fixed_t){.run = replay->run,
                                          .cost = &replay->setting->cost,
                                          .is_pipeline = replay->way == CLV_WHAT_IF_PIPELINE,
                                          .zeros = times};
    replay->learners = clv_alloc((size_t) replay->run->n_comms, sizeof(clv_what_if_learner_t *));
    replay->has_left = clv_alloc(n_ranks, sizeof *replay->has_left);
    if (times == NULL || replay->learners == NULL || replay->has_left == NULL ||
        clv_plan_cache_create(CLV_CHOOSE_CACHE_PLANS, CLV_CHOOSE_CACHE_BYTES,
                              &replay->fixed.plans) != CLV_OK) {
        return CLV_NO_MEMORY;
    }
    replay->recorded_exit_ns = times + n_ranks;
    replay->exit_ns = times + 2 * n_ranks;
    replay->arrival_ns = times + 3 * n_ranks;
    replay->start_ns = times + 4 * n_ranks;
    replay->leave_ns = times + 5 * n_ranks;
    return early->pair_bytes > 0 && !shares_places(replay->run)
               ? clv_exits_create(replay->run->n_ranks, early, &replay->exits)
               : CLV_OK;
}

static clv_status_t run_replay(replay_t *replay, clv_what_if_result_t *result)
{
    clv_status_t status = allocate(replay);

    if (status == CLV_OK) {
        status = replay_calls(replay, result);
    }
    for (int32_t i = 0; replay->learners != NULL && i < replay->run->n_comms; i++) {
        clv_what_if_learner_free(replay->learners[i]);
    }
    clv_free(replay->learners);
    clv_exits_free(replay->exits);
    clv_plan_cache_free(replay->fixed.plans);
    clv_free(replay->has_left);
    clv_free(replay->times);
    return status;
}

clv_status_t clv_what_if_replay(const clv_what_if_run_t *run, const clv_what_if_setting_t *setting,
                                clv_what_if_way_t way, clv_what_if_result_t *result)
{
    replay_t replay = {.run = run, .setting = setting, .way = way};

    return run_replay(&replay, result);
}

clv_status_t clv_what_if_balanced(const clv_what_if_run_t *run, int64_t *run_ns_p)
{
    static const clv_what_if_setting_t none = {0};
    replay_t replay = {.run = run, .setting = &none, .is_balanced = true};
    clv_what_if_result_t result = {0};
    const clv_status_t status = run_replay(&replay, &result);

    *run_ns_p = result.run_ns;
    return status;
}
