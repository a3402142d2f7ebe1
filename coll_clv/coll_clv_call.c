/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A call of any collective that clv takes over: the whole path on one screen.
 *
 *   made inside one of clv's calls (coll_clv_enter) -> the previous function
 *   smaller than auto plans (coll_clv_is_left_alone) > the previous function
 *   only counted (coll_clv_watched) -----------------> the previous function
 *   not a call that clv can run --------------------> the previous function, or coll_clv_fallback
 *   a rank lacks clv or has other parameters --------> the previous function
 *   a rank's buffers may be in device memory -------> the previous function
 *   more ranks than coll_clv_two_level_ranks -------> two levels of communicators, if no slower
 *   forced to an algorithm that needs no plan ------> that algorithm
 *   all ranks share one host's processors ----------> the previous function, or coll_clv_fallback
 *   too few bytes so far to be worth a set-up ------> a plan for equal arrivals, or the previous
 *   else, the first time: the communicator's group is set up (collective)
 *   one order is required, and the collective has a plan for that -> that plan
 *   begin: number the call, give the record, wait for the forecast
 *       the node plan beside the forecast has steps ---> run this rank's
 *       it has none, or there is no forecast ----------> as coll_clv_fallback says
 *   end: record what ran, and when this rank left
 *
 * Every condition is rank-equal: count, type signature, operation, root, the config, the forecast.
 */
#include "coll_clv/coll_clv_call.h"

#include "ompi/op/op.h"

#include "coll_clv/coll_clv_account.h"
#include "coll_clv/coll_clv_call_group.h"
#include "coll_clv/coll_clv_failure.h"
#include "coll_clv/coll_clv_fit.h"
#include "coll_clv/coll_clv_group.h"
#include "coll_clv/coll_clv_levels.h"
#include "coll_clv/coll_clv_processors.h"
#include "coll_clv/coll_clv_record.h"
#include "coll_clv/coll_clv_run.h"
#include "coll_clv/coll_clv_show.h"
#include "util/util_hot.h"
#include "util/util_min_max.h"

_Thread_local bool coll_clv_is_inside;

/* Keeps this rank's predicted arrival for the recorder. */
static CLV_COLD void keep_predicted(const coll_clv_call_t *call,
                                    const coll_clv_node_plan_t *node_plan)
{
    const int64_t predicted_ns = node_plan->forecast->predicted_ns[ompi_comm_rank(call->comm)];

    call->module->ran.predicted_ns =
        predicted_ns < CLV_CLVA_NO_FORECAST ? (uint32_t) predicted_ns : CLV_CLVA_NO_FORECAST - 1;
}

/* Tells the sleeping wait how long after this rank the last one is predicted to arrive. */
static CLV_COLD void expect(const coll_clv_call_t *call, const clv_pap_forecast_t *forecast)
{
    const int64_t own_ns = forecast->predicted_ns[ompi_comm_rank(call->comm)];
    int64_t last_ns = own_ns;

    for (int r = 0; r < ompi_comm_size(call->comm); r++) {
        last_ns = clv_larger(last_ns, forecast->predicted_ns[r]);
    }
    coll_clv_sleep_expect(last_ns - own_ns);
}

static int run_by_plan(const coll_clv_call_t *call)
{
    const clv_pap_stream_key_t key = {
        .collective = (int16_t) call->collective,
        .root = call->root,
        .max_segments = (int16_t) clv_collective_max_segments(
            &clv_collectives[call->collective], (size_t) call->count, call->total_bytes),
        .total_bytes = call->total_bytes};
    coll_clv_module_t *module = call->module;
    coll_clv_node_plan_t node_plan;
    clv_pap_call_t numbered;
    int rc = coll_clv_failure_of(call->comm); /* another component may call us after a failure */

    if (OMPI_SUCCESS == rc) {
        rc = coll_clv_find_group(call);
    }
    if (OMPI_SUCCESS == rc) {
        rc = coll_clv_group_begin(module->group, &key, call->is_fixed, &numbered, &node_plan);
    }
    if (OMPI_SUCCESS != rc) {
        return coll_clv_fail(call, rc);
    }
    coll_clv_count(&mca_coll_clv_component.counters.lookup_ns,
                   (unsigned long long) node_plan.lookup_ns);
    __atomic_store_n(&mca_coll_clv_component.counters.regret_ns,
                     (unsigned long long) clv_choose_regret_ns(), __ATOMIC_RELAXED);
    coll_clv_show(call, &key, &node_plan);
    if (NULL != module->waits && NULL != node_plan.forecast) {
        expect(call, node_plan.forecast);
    }
    if (NULL != module->record && NULL != node_plan.forecast) {
        keep_predicted(call, &node_plan);
    }
    rc = coll_clv_run_node_plan(call, &node_plan);
    coll_clv_account(call, &numbered, &node_plan,
                     coll_clv_group_end(module->group, &numbered, &node_plan));
    return OMPI_SUCCESS == rc ? rc : coll_clv_fail(call, rc);
}

/* Only this rank watches the call. Calls that the function before us makes inside it must take the
 * same way as on ranks that do not watch, so coll_clv_is_inside stays unset; depth keeps them out
 * of the count. */
static CLV_COLD int run_watched(const coll_clv_call_t *call)
{
    static _Thread_local int depth;
    const clv_choose_config_t *config = &call->module->config;
    int rc;

    if (0 == depth && !call->module->is_level &&
        0 != (coll_clv_watched(config) >> call->collective & 1) &&
        (NULL == call->op || ompi_op_is_commute(call->op)) &&
        coll_clv_total_bytes(call->count, call->dtype) >=
            coll_clv_least_bytes(config, (int32_t) call->collective)) {
        coll_clv_count(&mca_coll_clv_component.not_taken[call->collective], 1);
    }
    call->module->ran =
        (coll_clv_ran_t){.choice = CLV_CLVA_NOT_OURS, .predicted_ns = CLV_CLVA_NO_FORECAST};
    depth++;
    *coll_clv_inside() = false;
    rc = coll_clv_run_previous(call);
    *coll_clv_inside() = true;
    depth--;
    return rc;
}

/* reason: why this algorithm runs, if it makes no plan. */
static int run(const coll_clv_call_t *call, int32_t algorithm, int reason)
{
    if (!coll_clv_is_planned(algorithm)) {
        return coll_clv_run_without_plan(call, algorithm, reason);
    }
    if (call->module->is_crowded && CLV_ALGORITHM_AUTO == algorithm && !call->is_fixed) {
        return coll_clv_run_without_plan(call, coll_clv_fallback(call, CLV_REASON_SHARED),
                                         CLV_REASON_SHARED);
    }
    return run_by_plan(call);
}

/* Waits yield: the rank that this one waits for may need the processor. */
static CLV_COLD int run_yielding(const coll_clv_call_t *call, int32_t algorithm, int reason)
{
    int rc;

    coll_clv_count(&mca_coll_clv_component.counters.yielding, 1);
    coll_clv_processors_enter();
    rc = run(call, algorithm, reason);
    coll_clv_processors_leave();
    return rc;
}

static int run_where_shared(const coll_clv_call_t *call, int32_t algorithm, int reason)
{
    return call->module->shares_processors ? run_yielding(call, algorithm, reason)
                                           : run(call, algorithm, reason);
}

static CLV_HOT int dispatch(coll_clv_call_t *call)
{
    const int32_t forced = clv_choose_forced(&call->module->config, (int32_t) call->collective);
    int32_t algorithm = CLV_ALGORITHM_AUTO;
    int unfit, reason;

    if (NULL != call->module->group) {
        coll_clv_group_fetch(call->module->group);
    }
    if (!call->module->is_level) {
        coll_clv_count(&mca_coll_clv_component.calls[call->collective], 1);
    }
    call->is_fixed =
        clv_choose_has_fixed((int32_t) call->collective) && coll_clv_must_keep_order(call);
    unfit = coll_clv_is_planned(forced) ? coll_clv_unfit_for_plans(call, forced)
                                        : coll_clv_unfit_for_own(call, forced);
    if (CLV_FIT == unfit || CLV_REASON_MANY_RANKS == unfit) {
        algorithm = coll_clv_levels_choose(call, forced, &reason);
    }
    if (CLV_ALGORITHM_AUTO != algorithm) {
        return run_where_shared(call, algorithm, reason);
    }
    if (CLV_ALGORITHM_TWO_LEVELS == forced && CLV_FIT == unfit) {
        unfit = CLV_REASON_NO_PLAN;
    }
    algorithm = forced;
    if (CLV_FIT != unfit) {
        algorithm = coll_clv_fallback(call, unfit);
        if (CLV_ALGORITHM_PREVIOUS == algorithm) {
            return coll_clv_run_without_plan(call, algorithm, unfit);
        }
    }
    if (!coll_clv_call_peers_are_equal(call)) {
        return coll_clv_run_without_plan(call, CLV_ALGORITHM_PREVIOUS, CLV_REASON_UNEQUAL);
    }
    if (0 != (call->module->devices >> call->collective & 1)) {
        return coll_clv_run_without_plan(call, CLV_ALGORITHM_PREVIOUS, CLV_REASON_DEVICES);
    }
    reason = CLV_FIT != unfit ? unfit : CLV_REASON_FORCED;
    return run_where_shared(call, algorithm, reason);
}

CLV_HOT int coll_clv_call(coll_clv_call_t *call)
{
    coll_clv_compare_t *compare = &call->module->compare;
    int rc;

    if (0 != (call->module->watched >> call->collective & 1)) {
        return run_watched(call);
    }
    call->total_bytes = coll_clv_total_bytes(call->count, call->dtype);
    coll_clv_compare_note(compare, (int32_t) call->collective, call->root, (int64_t) call->count,
                          call->total_bytes);
    coll_clv_compare_enter(compare);
    rc = dispatch(call);
    coll_clv_compare_leave(compare);
    return rc;
}
