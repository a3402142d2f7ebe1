/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls that ignore arrivals, and the cost that fits recorded calls of one of them (see
 * what_if_internal.h, what_if.h).
 */
#include "apps/what_if/what_if_internal.h"

#include <string.h>

#include "choose/choose_previous.h"
#include "util/util_alloc.h"
#include "util/util_min_max.h"

#define FIT_LOW_PS  INT64_C(1)        /* per byte: 8 Tb/s */
#define FIT_HIGH_PS INT64_C(10000000) /* 0.8 Mb/s */
#define FIT_GRAIN   512               /* to this fraction of the cost */

/* ---- calls ----------------------------------------------------------------------------------- */

/* By clv_goal_t. */
static const char *const pipelines[] = {[CLV_GOAL_REDUCE] = "chain-by-rank",
                                        [CLV_GOAL_ALLREDUCE] = "plain-ring",
                                        [CLV_GOAL_BCAST] = "bcast-chain"};

/* A ring has at least one segment per rank. */
static int32_t segments_of(const clv_what_if_call_t *call, clv_goal_t goal, int32_t n_ranks)
{
    const int64_t wanted =
        (call->key.total_bytes + CLV_WHAT_IF_SEGMENT_BYTES - 1) / CLV_WHAT_IF_SEGMENT_BYTES;
    const int64_t least = goal == CLV_GOAL_ALLREDUCE ? n_ranks : 1;
    const int64_t most = clv_smaller(call->key.max_segments, CLV_SCHED_MAX_SEGMENTS);

    return (int32_t) clv_larger(1, clv_smaller(clv_larger(wanted, least), most));
}

static clv_status_t plan_exits(const clv_what_if_fixed_t *fixed, const clv_what_if_call_t *call,
                               const int64_t *arrival_ns, clv_exits_t *exits, int64_t *exit_ns)
{
    const clv_what_if_comm_t *comm = &fixed->run->comms[call->comm];
    const clv_goal_t goal = clv_collectives[call->key.collective].goal;
    const char *name = fixed->is_pipeline ? pipelines[goal] : "binomial";
    const clv_instance_t instance = {
        .n_ranks = comm->n_ranks,
        .n_segments = fixed->is_pipeline ? segments_of(call, goal, comm->n_ranks) : 1,
        .root = call->key.root,
        .goal = goal,
        .round_ns = 1,
        .arrival_ns = fixed->zeros};
    const clv_plan_t *plan = NULL;
    clv_status_t status =
        clv_plan_cache_get(fixed->plans, clv_generator_find(name), &instance, 1, &plan);

    if (status == CLV_OK) {
        status = clv_plan_exits(plan, arrival_ns, comm->place, call->key.total_bytes, fixed->cost,
                                exits, comm->members, exit_ns);
    }
    return status;
}

static int64_t last_of(const int64_t *ns, int32_t n)
{
    int64_t last_ns = ns[0];

    for (int32_t i = 1; i < n; i++) {
        last_ns = clv_larger(last_ns, ns[i]);
    }
    return last_ns;
}

/* No rank leaves before all have arrived. */
static clv_status_t allreduce_exits(const clv_what_if_fixed_t *fixed,
                                    const clv_what_if_call_t *call, const int64_t *arrival_ns,
                                    int64_t *exit_ns)
{
    const clv_what_if_comm_t *comm = &fixed->run->comms[call->comm];
    clv_choose_config_t config = clv_what_if_config();
    clv_choose_decision_t decision = {0};
    const int64_t last_ns = last_of(arrival_ns, comm->n_ranks);

    config.n_ranks = comm->n_ranks;
    config.place = comm->place;
    config.cost = *fixed->cost;
    const clv_status_t status = clv_choose_previous(&config, &call->key, NULL, &decision);
    for (int32_t p = 0; p < comm->n_ranks; p++) {
        exit_ns[p] = last_ns + decision.predicted_after_ns;
    }
    return status;
}

static int64_t vector_ns(const clv_what_if_fixed_t *fixed, const clv_what_if_call_t *call,
                         int32_t from, int32_t to)
{
    const int32_t *place = fixed->run->comms[call->comm].place;
    const clv_cost_t near = {.latency_ns = fixed->cost->near_latency_ns,
                             .byte_ps = fixed->cost->near_byte_ps};
    const bool is_near = place != NULL && place[from] == place[to];

    return clv_cost_round_ns(is_near ? &near : fixed->cost, call->key.total_bytes);
}

/* Seats number ranks from the root on. Seat v takes the vector from v less its highest bit, and
 * sends it to v + 1, v + 2, v + 4 ... beyond that bit, one after the other. A late receiver delays
 * the sender's exit, but no other receiver. */
static void bcast_exits(const clv_what_if_fixed_t *fixed, const clv_what_if_call_t *call,
                        const int64_t *arrival_ns, int64_t *exit_ns)
{
    const int32_t n = fixed->run->comms[call->comm].n_ranks, root = call->key.root;

    memcpy(exit_ns, arrival_ns, (size_t) n * sizeof *exit_ns);
    for (int32_t seat = 0; seat < n; seat++) { /* exit_ns is now when it has the vector */
        const int32_t from = (seat + root) % n;
        int64_t sent_ns = exit_ns[from];
        int32_t bit = 1;
        while (bit <= seat) {
            bit *= 2;
        }
        for (; seat + bit < n; bit *= 2) {
            const int32_t to = (seat + bit + root) % n;
            const int64_t took_ns = vector_ns(fixed, call, from, to);
            sent_ns += took_ns;
            exit_ns[to] = clv_larger(sent_ns, arrival_ns[to] + took_ns);
            exit_ns[from] = clv_larger(exit_ns[from], exit_ns[to]);
        }
    }
}

clv_status_t clv_what_if_fixed_exits(const clv_what_if_fixed_t *fixed,
                                     const clv_what_if_call_t *call, const int64_t *arrival_ns,
                                     clv_exits_t *exits, int64_t *exit_ns)
{
    const clv_goal_t goal = clv_collectives[call->key.collective].goal;

    if (!fixed->is_pipeline && goal == CLV_GOAL_ALLREDUCE) {
        return allreduce_exits(fixed, call, arrival_ns, exit_ns);
    }
    if (!fixed->is_pipeline && goal == CLV_GOAL_BCAST) {
        bcast_exits(fixed, call, arrival_ns, exit_ns);
        return CLV_OK;
    }
    return plan_exits(fixed, call, arrival_ns, exits, exit_ns);
}

/* ---- the cost -------------------------------------------------------------------------------- */

typedef struct fit {
    clv_what_if_fixed_t fixed;
    int32_t max_calls;
    int64_t *arrival_ns, *exit_ns;
} fit_t;

/* How much later than in the model the call ended. */
static clv_status_t compare_call(const fit_t *fit, const clv_what_if_call_t *call,
                                 int64_t *longer_ns_p)
{
    const int32_t n_ranks = fit->fixed.run->comms[call->comm].n_ranks;
    int64_t first_ns = INT64_MAX;

    for (int32_t p = 0; p < n_ranks; p++) {
        first_ns = clv_smaller(first_ns, call->arrival_ns[p]);
    }
    for (int32_t p = 0; p < n_ranks; p++) {
        fit->arrival_ns[p] = call->arrival_ns[p] - first_ns;
    }
    const clv_status_t status =
        clv_what_if_fixed_exits(&fit->fixed, call, fit->arrival_ns, NULL, fit->exit_ns);
    if (status == CLV_OK) {
        *longer_ns_p = last_of(call->exit_ns, n_ranks) - first_ns - last_of(fit->exit_ns, n_ranks);
    }
    return status;
}

/* Whether more calls took longer than the model than took shorter. */
static clv_status_t is_longer(const fit_t *fit, bool *longer_p)
{
    int32_t n_calls = 0, n_longer = 0;

    for (int32_t i = 0; i < fit->fixed.run->n_calls && n_calls < fit->max_calls; i++) {
        const clv_what_if_call_t *call = &fit->fixed.run->calls[i];
        int64_t longer_ns = 0;
        if (call->is_planned) {
            const clv_status_t status = compare_call(fit, call, &longer_ns);
            if (status != CLV_OK) {
                return status;
            }
            n_calls++;
            n_longer += longer_ns > 0;
        }
    }
    *longer_p = 2 * n_longer > n_calls;
    return n_calls > 0 ? CLV_OK : CLV_NONE;
}

/* Searches the turning point between low and high; CLV_NONE: there is none. */
static clv_status_t search(const fit_t *fit, clv_cost_t *cost)
{
    int64_t low = FIT_LOW_PS, high = FIT_HIGH_PS;
    bool longer = false;
    clv_status_t status = CLV_OK;

    while (status == CLV_OK && high - low > low / FIT_GRAIN + 1) {
        cost->byte_ps = low + (high - low) / 2;
        status = is_longer(fit, &longer);
        low = longer ? cost->byte_ps : low;
        high = longer ? high : cost->byte_ps;
    }
    return status == CLV_OK && (low == FIT_LOW_PS || high == FIT_HIGH_PS) ? CLV_NONE : status;
}

clv_status_t clv_what_if_fit(const clv_what_if_run_t *run, clv_what_if_way_t way, int32_t max_calls,
                             clv_cost_t *cost)
{
    int64_t *times = clv_alloc(3 * (size_t) run->n_ranks, sizeof *times);
    clv_cost_t found = *cost;
    fit_t fit = {.fixed = {.run = run,
                           .cost = &found,
                           .is_pipeline = way == CLV_WHAT_IF_PIPELINE,
                           .zeros = times},
                 .max_calls = max_calls,
                 .arrival_ns = times == NULL ? NULL : times + run->n_ranks,
                 .exit_ns = times == NULL ? NULL : times + 2 * (size_t) run->n_ranks};
    clv_status_t status = CLV_NO_MEMORY;

    if (times != NULL) {
        status =
            clv_plan_cache_create(CLV_CHOOSE_CACHE_PLANS, CLV_CHOOSE_CACHE_BYTES, &fit.fixed.plans);
    }
    if (status == CLV_OK) {
        status = search(&fit, &found);
    }
    if (status == CLV_OK) {
        *cost = found;
    }
    clv_plan_cache_free(fit.fixed.plans);
    clv_free(times);
    return status;
}
