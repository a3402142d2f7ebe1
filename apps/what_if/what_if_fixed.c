/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Plans that look at no arrivals, and the cost that fits what ran by one of them (see
 * what_if_fixed.h, what_if.h).
 */
#include "apps/what_if/what_if_fixed.h"

#include "util/util_alloc.h"
#include "util/util_min_max.h"

#define FIT_LOW_PS  INT64_C(1)        /* a byte: 8 Tb/s */
#define FIT_HIGH_PS INT64_C(10000000) /* 0.8 Mb/s */
#define FIT_GRAIN   512               /* to that part of the cost */

clv_status_t clv_what_if_fixed_plan(const clv_what_if_run_t *run, const clv_what_if_call_t *call,
                                    int is_pipeline, const int64_t *zeros, clv_plan_cache_t *plans,
                                    const clv_plan_t **plan_p)
{
    const int64_t segments =
        (call->key.total_bytes + CLV_WHAT_IF_SEGMENT_BYTES - 1) / CLV_WHAT_IF_SEGMENT_BYTES;
    const int64_t most = clv_smaller(call->key.max_segments, CLV_SCHED_MAX_SEGMENTS);
    const clv_instance_t instance = {
        .n_ranks = run->comms[call->comm].n_ranks,
        .n_segments = is_pipeline ? (int32_t) clv_larger(1, clv_smaller(segments, most)) : 1,
        .root = call->key.root,
        .round_ns = 1,
        .arrival_ns = zeros};

    return clv_plan_cache_get(plans, clv_generator_find(is_pipeline ? "chain-by-rank" : "binomial"),
                              &instance, 1, plan_p);
}

/* ---- the cost -------------------------------------------------------------------------------- */

typedef struct fit {
    const clv_what_if_run_t *run;
    int is_pipeline;
    int32_t max_calls;
    int64_t *zeros, *arrival_ns;
    clv_plan_cache_t *plans;
} fit_t;

/* What the call took after its last arrival, less what the model says. */
static clv_status_t compare_call(const fit_t *fit, const clv_what_if_call_t *call,
                                 const clv_cost_t *cost, int64_t *longer_ns_p)
{
    const clv_what_if_comm_t *comm = &fit->run->comms[call->comm];
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN, end_ns = INT64_MIN;
    const clv_plan_t *plan = NULL;
    clv_estimate_t estimate;
    clv_status_t status;

    for (int32_t p = 0; p < comm->n_ranks; p++) {
        first_ns = clv_smaller(first_ns, call->arrival_ns[p]);
        last_ns = clv_larger(last_ns, call->arrival_ns[p]);
        end_ns = clv_larger(end_ns, call->exit_ns[p]);
    }
    for (int32_t p = 0; p < comm->n_ranks; p++) {
        fit->arrival_ns[p] = call->arrival_ns[p] - first_ns;
    }
    status =
        clv_what_if_fixed_plan(fit->run, call, fit->is_pipeline, fit->zeros, fit->plans, &plan);
    if (status == CLV_OK) {
        status = clv_plan_estimate(plan, fit->arrival_ns, comm->place, call->key.total_bytes, cost,
                                   &estimate);
    }
    if (status == CLV_OK) {
        *longer_ns_p = end_ns - last_ns - estimate.after_ns;
    }
    return status;
}

/* Whether more calls took longer than the model says than took shorter. */
static clv_status_t is_longer(const fit_t *fit, const clv_cost_t *cost, int *longer_p)
{
    int32_t n_calls = 0, n_longer = 0;

    for (int32_t i = 0; i < fit->run->n_calls && n_calls < fit->max_calls; i++) {
        int64_t longer_ns = 0;
        if (fit->run->calls[i].is_planned) {
            const clv_status_t status = compare_call(fit, &fit->run->calls[i], cost, &longer_ns);
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

/* Between low and high lies one where it turns, else CLV_NONE. */
static clv_status_t search(const fit_t *fit, clv_cost_t *cost)
{
    int64_t low = FIT_LOW_PS, high = FIT_HIGH_PS;
    int longer = 0;
    clv_status_t status = CLV_OK;

    while (status == CLV_OK && high - low > low / FIT_GRAIN + 1) {
        cost->byte_ps = low + (high - low) / 2;
        status = is_longer(fit, cost, &longer);
        low = longer ? cost->byte_ps : low;
        high = longer ? high : cost->byte_ps;
    }
    return status == CLV_OK && (low == FIT_LOW_PS || high == FIT_HIGH_PS) ? CLV_NONE : status;
}

clv_status_t clv_what_if_fit(const clv_what_if_run_t *run, clv_what_if_way_t way, int32_t max_calls,
                             clv_cost_t *cost)
{
    int64_t *times = clv_alloc(2 * (size_t) run->n_ranks, sizeof *times);
    fit_t fit = {.run = run,
                 .is_pipeline = way == CLV_WHAT_IF_PIPELINE,
                 .max_calls = max_calls,
                 .zeros = times,
                 .arrival_ns = times == NULL ? NULL : times + run->n_ranks};
    clv_cost_t found = *cost;
    clv_status_t status = CLV_NO_MEMORY;

    if (times != NULL) {
        status = clv_plan_cache_create(CLV_CHOOSE_CACHE_PLANS, CLV_CHOOSE_CACHE_BYTES, &fit.plans);
    }
    if (status == CLV_OK) {
        status = search(&fit, &found);
    }
    if (status == CLV_OK) {
        *cost = found;
    }
    clv_plan_cache_free(fit.plans);
    clv_free(times);
    return status;
}
