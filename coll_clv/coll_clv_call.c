/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A call of any collective that is ours: the whole story on one screen.
 *
 *   made within a call of ours (coll_clv_enter) -----> the previous function
 *   smaller than auto plans (coll_clv_is_left_alone) > the previous function
 *   only counted (coll_clv_watched) -----------------> the previous function
 *   not for us -------------------------------------> the previous function
 *   not all ranks have us, with the same parameters -> the previous function
 *   a rank's buffers may be in device memory -------> the previous function
 *   all ranks share one host's processors ----------> the previous function
 *   forced to an algorithm that needs no plan ------> that algorithm
 *   too little carried so far to be worth a set-up --> a plan for equal arrivals, or the previous
 *   else, the first time: the communicator's group is set up (collective)
 *   one order is asked for, and the collective has a plan for that -> that plan
 *   begin: number the call, give the record, wait for the forecast
 *       the node plan beside the forecast has steps ---> run this rank's
 *       it has none, or there is no forecast ----------> the previous function
 *   end: what ran, and when this rank left
 *
 * Every condition is computed from what MPI makes equal on all ranks (count, type signature,
 * operation, root), from the config, or from the forecast.
 */
#include "coll_clv/coll_clv_call.h"

#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/op/op.h"

#include "choose/choose_node_plan.h"
#include "choose/choose_print.h"
#include "coll_clv/coll_clv_failure.h"
#include "coll_clv/coll_clv_group.h"
#include "coll_clv/coll_clv_peers.h"
#include "coll_clv/coll_clv_processors.h"
#include "coll_clv/coll_clv_record.h"
#include "util/util_hot.h"
#include "util/util_log.h"
#include "util/util_min_max.h"

_Thread_local bool coll_clv_is_inside;

/* ---- not for us ----------------------------------------------------------------------------- */

static bool is_integer(const coll_clv_call_t *call)
{
    return ompi_op_is_intrinsic(call->op) && ompi_datatype_is_predefined(call->dtype) &&
           OMPI_DATATYPE_FLAG_DATA_INT == (call->dtype->super.flags & OMPI_DATATYPE_FLAG_DATA_TYPE);
}

/* Plans combine in an order that follows the arrivals. */
static bool must_keep_order(const coll_clv_call_t *call)
{
    if (NULL == call->op) {
        return false;
    }
    switch (call->module->config.reproducible) {
    case CLV_REPRODUCIBLE_OFF:
        return false;
    case CLV_REPRODUCIBLE_FLOAT:
        return !is_integer(call);
    default:
        return true;
    }
}

static clv_call_facts_t facts_of(const coll_clv_call_t *call)
{
    const bool counts_are_equal = clv_collectives[call->collective].equal_counts;

    return (clv_call_facts_t){.collective = (int32_t) call->collective,
                              .n_ranks = call->module->config.n_ranks,
                              .count = counts_are_equal ? (size_t) call->count
                                                        : (size_t) call->total_bytes,
                              .commutes = NULL == call->op || ompi_op_is_commute(call->op)};
}

/* The smallest vector that auto plans. */
static int64_t least_bytes(const clv_choose_config_t *config, int32_t collective)
{
    return config->n_ranks < config->min_ranks ? INT64_MAX
                                               : clv_choose_min_bytes(config, collective);
}

static int unfit_for_plans(const coll_clv_call_t *call, int32_t forced)
{
    const clv_choose_config_t *config = &call->module->config;
    const clv_call_facts_t facts = facts_of(call);
    const int reason = clv_algorithm_unfit(forced, &facts);

    if (CLV_FIT != reason) {
        return reason;
    }
    if (!call->is_fixed && must_keep_order(call)) {
        return CLV_REASON_REPRODUCIBLE;
    }
    if (config->n_ranks > CLV_SCHED_MAX_RANKS) {
        return CLV_REASON_MANY_RANKS;
    }
    if (CLV_ALGORITHM_AUTO != forced) {
        return CLV_FIT; /* small ones too */
    }
    if (!config->exchange && !call->is_fixed) {
        return CLV_REASON_EXCHANGE_OFF;
    }
    if (call->total_bytes < least_bytes(config, (int32_t) call->collective)) {
        return CLV_REASON_TOO_SMALL;
    }
    return CLV_FIT;
}

void coll_clv_set_alone_below(coll_clv_module_t *module)
{
    const clv_choose_config_t *config = &module->config;

    for (int collective = 0; collective < CLV_N_COLLECTIVES; collective++) {
        const bool is_auto = CLV_ALGORITHM_AUTO == clv_choose_forced(config, collective);

        module->alone_below[collective] =
            is_auto && mca_coll_clv_component.params.verbose < CLV_LOG_INFO &&
                    0 == (module->watched >> collective & 1)
                ? least_bytes(config, collective)
                : 0;
    }
}

static int unfit_for_own(const coll_clv_call_t *call, int32_t forced)
{
    const clv_call_facts_t facts = facts_of(call);
    return clv_algorithm_unfit(forced, &facts);
}

static bool peers_are_equal(const coll_clv_call_t *call)
{
    coll_clv_module_t *module = call->module;

    if (!module->has_asked) {
        module->peers_are_equal = coll_clv_peers_are_equal(call->comm, &module->devices);
        module->shares_processors =
            coll_clv_processors_are_shared(module->config.shared_processors);
        module->is_crowded = module->shares_processors && coll_clv_processors_are_of(call->comm);
        module->has_asked = true;
    }
    return module->peers_are_equal;
}

/* ---- running -------------------------------------------------------------------------------- */

static void count_run(const coll_clv_call_t *call, int algorithm, int reason)
{
    coll_clv_count(&mca_coll_clv_component.ran[algorithm], 1);
    call->module->ran.choice = (uint8_t) algorithm;
    call->module->ran.reason = (uint8_t) reason;
    if (CLV_ALGORITHM_PREVIOUS == algorithm) {
        coll_clv_count(&mca_coll_clv_component.fell_back[reason], 1);
    }
    if (mca_coll_clv_component.params.verbose >= CLV_LOG_INFO) { /* also the price of a small one */
        coll_clv_tell(call, algorithm, reason);
    }
}

int coll_clv_run_previous(const coll_clv_call_t *call)
{
    static int (*const previous[CLV_N_COLLECTIVES])(const coll_clv_call_t *) = {
#define PREVIOUS_ROW(to, code, name, mpi, goal, root, op, counts, result, bytes, least)            \
    coll_clv_##name##_previous,
        CLV_COLLECTIVE_MAP(PREVIOUS_ROW, )
#undef PREVIOUS_ROW
    };
    return previous[call->collective](call);
}

#define FUNCTION_PLAN(generator, policy) NULL
#define FUNCTION_OWN(function)           coll_clv_run_##function
#define FUNCTION_BOTH(name, policy)      coll_clv_run_##name

/* By algorithm; NULL: it makes plans also where it is forced. */
static int (*const own_functions[CLV_N_ALGORITHMS])(const coll_clv_call_t *) = {
#define FUNCTION_ROW(code, word, collectives, how, needs_times, unfit, meaning) FUNCTION_##how,
    CLV_ALGORITHM_MAP(FUNCTION_ROW)
#undef FUNCTION_ROW
};

static bool is_planned(int32_t algorithm)
{
    return CLV_ALGORITHM_AUTO == algorithm || NULL == own_functions[algorithm];
}

/* Why, where a message was longer than this rank's vector has it. */
static int explained(const coll_clv_call_t *call, int rc)
{
    if (MPI_ERR_TRUNCATE == rc) {
        coll_clv_compare_failed(&call->module->compare);
    }
    return rc;
}

static int run_without_plan(const coll_clv_call_t *call, int algorithm, int reason)
{
    count_run(call, algorithm, reason);
    return explained(call, own_functions[algorithm](call));
}

/* Open MPI's tags of the collectives, so that messages of different ones never meet. */
static const int tags[CLV_N_COLLECTIVES] = {
#define TAG_ROW(to, code, name, mpi, goal, root, op, counts, result, bytes, least)                 \
    MCA_COLL_BASE_TAG_##code,
    CLV_COLLECTIVE_MAP(TAG_ROW, )
#undef TAG_ROW
};

/* A group may be released before its module. */
static bool is_broken(const void *context)
{
    return coll_clv_group_is_broken(((const coll_clv_module_t *) context)->group);
}

static int run_assignment(const coll_clv_call_t *call, const coll_clv_assignment_t *assignment)
{
    const clv_choose_decision_t *decision = &assignment->decision;

    if (NULL == assignment->steps) {
        return run_without_plan(call, CLV_ALGORITHM_PREVIOUS, decision->reason);
    }
    coll_clv_count(0 != assignment->made_ahead ? &mca_coll_clv_component.counters.plans_ahead
                                               : &mca_coll_clv_component.counters.plans_late,
                   1);
    count_run(call, decision->algorithm, decision->reason);
    coll_clv_job_t job = {.steps = assignment->steps,
                          .n_steps = assignment->n_steps,
                          .n_segments = decision->n_segments,
                          .goal = clv_collectives[call->collective].goal,
                          .policy = clv_algorithms[decision->algorithm].policy,
                          .runs_free = decision->runs_free,
                          .yields = call->module->shares_processors,
                          .root = call->root,
                          .tag = tags[call->collective],
                          .sbuf = call->sbuf,
                          .rbuf = call->rbuf,
                          .count = (size_t) call->count,
                          .dtype = call->dtype,
                          .op = call->op,
                          .comm = call->comm,
                          .is_broken = is_broken,
                          .context = call->module};
    return explained(call, clv_collectives[call->collective].equal_counts
                               ? coll_clv_execute_steps(&job, &call->module->scratch)
                               : coll_clv_execute_packed(call, &job));
}

/* ---- showing -------------------------------------------------------------------------------- */

static void print_line(void *context, const char *line)
{
    opal_output(((coll_clv_component_t *) context)->output, "coll:clv: %s", line);
}

static void print_plan(const coll_clv_call_t *call, const clv_pap_stream_key_t *key,
                       const coll_clv_assignment_t *assignment)
{
    clv_plan_t *plan = coll_clv_group_plan(call->module->group, key, assignment);

    if (NULL != plan) {
        clv_choose_print_plan(plan, coll_clv_group_config(call->module->group)->place, print_line,
                              &mca_coll_clv_component);
        clv_plan_free(plan);
    }
}

/* Rank 0 shows each forecast once, and its plan. */
static void show(const coll_clv_call_t *call, const clv_pap_stream_key_t *key,
                 const coll_clv_assignment_t *assignment)
{
    coll_clv_component_t *component = &mca_coll_clv_component;
    const int64_t version = NULL == assignment->forecast ? 0 : assignment->forecast->version;

    if (CLV_PRINT_NONE == component->params.print || 0 != ompi_comm_rank(call->comm) ||
        (version == call->module->shown_version && key->root == call->module->shown_root)) {
        return;
    }
    call->module->shown_version = version;
    call->module->shown_root = key->root;
    if (0 != (component->params.print & CLV_PRINT_FORECAST)) {
        clv_choose_print_forecast(call->comm->c_name, key, assignment->forecast,
                                  &assignment->decision, print_line, component);
    }
    if (0 != (component->params.print & CLV_PRINT_PLAN)) {
        print_plan(call, key, assignment);
    }
}

/* ---- a call by plan ------------------------------------------------------------------------- */

/* When the communicator has failed, or is freed by the user: it runs no plan any more. One that
 * stays for a host that is away keeps its group (see coll_clv_relay_settle). */
static void release_group(struct ompi_communicator_t *comm, void *context)
{
    coll_clv_module_t *module = context;

    if (OMPI_SUCCESS != coll_clv_failure_of(comm)) {
        coll_clv_group_abandon(module->group);
        module->group = NULL;
    } else if (coll_clv_group_settle(module->group)) {
        coll_clv_group_free(module->group);
        module->group = NULL;
    } else {
        clv_log(CLV_LOG_INFO, "%s is freed, and stays for a host that is away", comm->c_name);
    }
    coll_clv_scratch_drop(&module->scratch);
    coll_clv_failure_collect();
}

static void show_links(const coll_clv_call_t *call)
{
    coll_clv_component_t *component = &mca_coll_clv_component;
    const clv_choose_config_t *config = coll_clv_group_config(call->module->group);

    component->link = config->cost;
    if (0 != (component->params.print & (CLV_PRINT_FORECAST | CLV_PRINT_PLAN)) &&
        0 == ompi_comm_rank(call->comm)) {
        clv_choose_print_cost(call->comm->c_name, config, print_line, component);
    }
}

/* coll_clv_setup_bytes is meant for so many ranks. With more of them a set-up takes longer. */
#define SETUP_RANKS 10

/* Counts what the call carries. Whether that is enough by now for a set-up, whose messages are then
 * a small share of it: equal on all ranks. One that carries half of coll_clv_setup_bytes alone does
 * not wait for the next, where ranks that run free would set up amid what this one has sent. Who
 * asks for an algorithm, or one order, waits for nothing. */
static bool carries_enough(const coll_clv_call_t *call)
{
    coll_clv_module_t *module = call->module;
    const int64_t setup_bytes = module->config.setup_bytes;
    const int64_t enough =
        setup_bytes * clv_larger(module->config.n_ranks, SETUP_RANKS) / SETUP_RANKS;

    if (call->is_fixed ||
        CLV_ALGORITHM_AUTO != clv_choose_forced(&module->config, (int32_t) call->collective)) {
        return true;
    }
    module->carried_bytes += clv_smaller(call->total_bytes, enough);
    return module->carried_bytes >= enough || call->total_bytes >= setup_bytes / 2;
}

static int set_up_group(const coll_clv_call_t *call)
{
    const coll_clv_params_t *params = &mca_coll_clv_component.params;
    int why = CLV_FIT;
    int rc = coll_clv_group_setup(call->comm, &call->module->config, params, call->total_bytes,
                                  &call->module->group, &why);

    coll_clv_failure_collect();
    if (OMPI_SUCCESS == rc && CLV_FIT != why && 0 == ompi_comm_rank(call->comm)) {
        clv_log(CLV_LOG_INFO, "no predictions on %s: %s", call->comm->c_name, clv_reason_text(why));
    }
    if (OMPI_SUCCESS == rc) {
        show_links(call);
        if (0 == ompi_comm_rank(call->comm)) {
            coll_clv_record_cost(&coll_clv_group_config(call->module->group)->cost);
        }
        /* Without it a neighbour that is cut off then is not told, and one that fails ends later */
        (void) coll_clv_failure_on_free(call->comm, release_group, call->module);
    }
    return rc;
}

/* How the call ends: with what Open MPI knows of its communicator, if it fails and that is why;
 * one who was told by another rank waits for that. Everybody is told in turn.
 * A communicator that failed never reduces again, and Open MPI may keep it for good: what was ours
 * in it goes, but for the books: coll_clv_ahead.c looks at them once more when the user frees the
 * communicator. */
static CLV_COLD int fail(const coll_clv_call_t *call, int rc)
{
    const bool was_told = coll_clv_group_is_broken(call->module->group);
    const bool is_first = coll_clv_group_break(call->module->group);
    const int failure = was_told && is_first ? coll_clv_failure_awaited(call->comm)
                                             : coll_clv_failure_of(call->comm);

    if (OMPI_SUCCESS == failure) {
        return was_told ? MPI_ERR_OTHER : rc;
    }
    release_group(call->comm, call->module);
    return failure;
}

/* Until the communicator is set up it has a young group; broken, it keeps that for good. */
static int find_group(const coll_clv_call_t *call)
{
    coll_clv_module_t *module = call->module;

    if (!coll_clv_group_is_young(module->group) || coll_clv_group_is_broken(module->group)) {
        return OMPI_SUCCESS;
    }
    if (carries_enough(call)) {
        coll_clv_group_free(module->group);
        module->group = NULL;
        return set_up_group(call);
    }
    if (NULL == module->group) {
        module->group = coll_clv_group_young(call->comm, &module->config);
    }
    return NULL == module->group ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
}

static void count_time(clv_collective_t collective, int32_t algorithm, int64_t took_ns)
{
    coll_clv_times_t *times = &mca_coll_clv_component.times[collective];

    if (0 > took_ns) {
        return;
    }
    if (CLV_ALGORITHM_PREVIOUS == algorithm) {
        times->previous_calls++;
        times->previous_ns += (unsigned long long) took_ns;
    } else {
        times->planned_calls++;
        times->planned_ns += (unsigned long long) took_ns;
    }
}

/* Of the first calls, and of the newest: did it help. */
static void count_pace(clv_collective_t collective, int64_t arrival_ns)
{
    coll_clv_times_t *times = &mca_coll_clv_component.times[collective];
    coll_clv_pace_t *pace = &mca_coll_clv_component.paces[collective];
    const int64_t at = pace->n_calls++, n = at < COLL_CLV_PACE_CALLS ? at : COLL_CLV_PACE_CALLS;
    const int64_t first_ns = pace->arrival_ns[(at - n) % (COLL_CLV_PACE_CALLS + 1)];

    pace->arrival_ns[at % (COLL_CLV_PACE_CALLS + 1)] = arrival_ns;
    if (0 < n) {
        /* Of two threads' calls the one that ends later may have begun sooner. */
        times->newest_pace_ns = (unsigned long long) (clv_larger(arrival_ns - first_ns, 0) / n);
    }
    if (COLL_CLV_PACE_CALLS >= at) {
        times->first_pace_ns = times->newest_pace_ns;
    }
}

static void count_span(int64_t arrival_ns, int64_t exit_ns)
{
    coll_clv_component_t *component = &mca_coll_clv_component;

    if (0 == component->first_ns) {
        component->first_ns = arrival_ns;
    }
    component->last_ns = clv_larger(component->last_ns, exit_ns);
}

/* Threads that make calls on several communicators share the account. */
static void account(const coll_clv_call_t *call, const clv_pap_call_t *numbered,
                    const coll_clv_assignment_t *assignment, int64_t took_ns)
{
    pthread_mutex_lock(&mca_coll_clv_component.account);
    count_time(call->collective, assignment->decision.algorithm, took_ns);
    if (!assignment->is_fixed) {
        count_pace(call->collective, numbered->arrival_ns);
        count_span(numbered->arrival_ns, numbered->arrival_ns + took_ns);
    }
    pthread_mutex_unlock(&mca_coll_clv_component.account);
}

/* For the recorder: when this rank was expected. */
static CLV_COLD void keep_predicted(const coll_clv_call_t *call,
                                    const coll_clv_assignment_t *assignment)
{
    const int rank = ompi_comm_rank(call->comm);
    const int64_t predicted_ns = assignment->forecast->predicted_ns[rank];

    call->module->ran.predicted_ns =
        predicted_ns < CLV_CLVA_NO_FORECAST ? (uint32_t) predicted_ns : CLV_CLVA_NO_FORECAST - 1;
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
    coll_clv_assignment_t assignment;
    clv_pap_call_t numbered;
    int rc = coll_clv_failure_of(call->comm); /* another component's call may come here late */

    if (OMPI_SUCCESS == rc) {
        rc = find_group(call);
    }
    if (OMPI_SUCCESS == rc) {
        rc = coll_clv_group_begin(module->group, &key, call->is_fixed, &numbered, &assignment);
    }
    if (OMPI_SUCCESS != rc) {
        return fail(call, rc);
    }
    coll_clv_count(&mca_coll_clv_component.counters.lookup_ns,
                   (unsigned long long) assignment.lookup_ns);
    __atomic_store_n(&mca_coll_clv_component.counters.regret_ns,
                     (unsigned long long) clv_choose_regret_ns(), __ATOMIC_RELAXED);
    show(call, &key, &assignment);
    if (NULL != module->record && NULL != assignment.forecast) {
        keep_predicted(call, &assignment);
    }
    rc = run_assignment(call, &assignment);
    account(call, &numbered, &assignment,
            coll_clv_group_end(module->group, &numbered, &assignment));
    return OMPI_SUCCESS == rc ? rc : fail(call, rc);
}

/* This rank alone sees the call: what its function makes of others goes the way that it goes on
 * ranks that do not watch, so we are not inside; and only for the count it is part of the call. */
static CLV_COLD int run_watched(const coll_clv_call_t *call)
{
    static _Thread_local int depth;
    const clv_choose_config_t *config = &call->module->config;
    int rc;

    if (0 == depth && (NULL == call->op || ompi_op_is_commute(call->op)) &&
        coll_clv_total_bytes(call->count, call->dtype) >=
            least_bytes(config, (int32_t) call->collective)) {
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

static int run(const coll_clv_call_t *call, int32_t forced)
{
    if (!is_planned(forced)) {
        return run_without_plan(call, forced, CLV_REASON_FORCED);
    }
    if (call->module->is_crowded && CLV_ALGORITHM_AUTO == forced && !call->is_fixed) {
        return run_without_plan(call, CLV_ALGORITHM_PREVIOUS, CLV_REASON_SHARED);
    }
    return run_by_plan(call);
}

/* Whoever is waited for may need this processor. */
static CLV_COLD int run_yielding(const coll_clv_call_t *call, int32_t forced)
{
    int rc;

    coll_clv_count(&mca_coll_clv_component.counters.yielding, 1);
    coll_clv_processors_enter();
    rc = run(call, forced);
    coll_clv_processors_leave();
    return rc;
}

static CLV_HOT int dispatch(coll_clv_call_t *call)
{
    const int32_t forced = clv_choose_forced(&call->module->config, (int32_t) call->collective);
    const bool planned = is_planned(forced);
    int unfit;

    if (NULL != call->module->group) {
        coll_clv_group_fetch(call->module->group);
    }
    coll_clv_count(&mca_coll_clv_component.counters.calls, 1);
    coll_clv_count(&mca_coll_clv_component.calls[call->collective], 1);
    call->is_fixed = clv_choose_has_fixed((int32_t) call->collective) && must_keep_order(call);
    unfit = planned ? unfit_for_plans(call, forced) : unfit_for_own(call, forced);
    if (CLV_FIT != unfit) {
        return run_without_plan(call, CLV_ALGORITHM_PREVIOUS, unfit);
    }
    if (!peers_are_equal(call)) {
        return run_without_plan(call, CLV_ALGORITHM_PREVIOUS, CLV_REASON_UNEQUAL);
    }
    if (0 != (call->module->devices >> call->collective & 1)) {
        return run_without_plan(call, CLV_ALGORITHM_PREVIOUS, CLV_REASON_DEVICES);
    }
    return call->module->shares_processors ? run_yielding(call, forced) : run(call, forced);
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
