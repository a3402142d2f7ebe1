/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs a call as chosen (see coll_clv_run.h).
 */
#include "coll_clv/coll_clv_run.h"

#include "ompi/mca/coll/base/coll_tags.h"

#include "coll_clv/coll_clv_fit.h"
#include "util/util_log.h"

static void count_run(const coll_clv_call_t *call, int algorithm, int reason)
{
    const bool is_previous = CLV_ALGORITHM_PREVIOUS == algorithm;

    if (!is_previous || !call->module->is_level) {
        coll_clv_count(&mca_coll_clv_component.ran[algorithm], 1);
    }
    call->module->ran.choice = (uint8_t) algorithm;
    call->module->ran.reason = (uint8_t) reason;
    if (is_previous && !call->module->is_level) {
        coll_clv_count(&mca_coll_clv_component.fell_back[reason], 1);
    }
    if (mca_coll_clv_component.params.verbose >= CLV_LOG_INFO) { /* small calls pay for this, too */
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

/* By algorithm; NULL: it runs by plan even if forced. */
static int (*const own_functions[CLV_N_ALGORITHMS])(const coll_clv_call_t *) = {
#define FUNCTION_ROW(code, word, collectives, how, order, traits, unfit, meaning) FUNCTION_##how,
    CLV_ALGORITHM_MAP(FUNCTION_ROW)
#undef FUNCTION_ROW
};

bool coll_clv_is_planned(int32_t algorithm)
{
    return CLV_ALGORITHM_AUTO == algorithm || NULL == own_functions[algorithm];
}

/* After a truncated message, compares arguments with other ranks to tell the user why. */
static int explained(const coll_clv_call_t *call, int rc)
{
    if (MPI_ERR_TRUNCATE == rc) {
        coll_clv_compare_failed(&call->module->compare);
    }
    return rc;
}

int coll_clv_run_without_plan(const coll_clv_call_t *call, int algorithm, int reason)
{
    count_run(call, algorithm, reason);
    return explained(call, own_functions[algorithm](call));
}

/* Open MPI's tags of the collectives, so that messages of different collectives never match. */
static const int tags[CLV_N_COLLECTIVES] = {
#define TAG_ROW(to, code, name, mpi, goal, root, op, counts, result, bytes, least)                 \
    MCA_COLL_BASE_TAG_##code,
    CLV_COLLECTIVE_MAP(TAG_ROW, )
#undef TAG_ROW
};

/* The module is the context: its group may be released earlier. */
static bool is_broken(const void *context)
{
    return coll_clv_group_is_broken(((const coll_clv_module_t *) context)->group);
}

int coll_clv_fallback(const coll_clv_call_t *call, int reason)
{
    const int32_t named =
        clv_algorithm_of_fallback(call->module->config.fallback, (int32_t) call->collective);

    switch (reason) {
    case CLV_REASON_MANY_RANKS:
    case CLV_REASON_EXCHANGE_OFF:
    case CLV_REASON_NO_CHANNEL:
    case CLV_REASON_NO_TABLE:
    case CLV_REASON_NO_MEMORY:
    case CLV_REASON_NO_ADDRESS:
    case CLV_REASON_NO_PLAN:
    case CLV_REASON_SHARED:
        return CLV_ALGORITHM_AUTO != named && CLV_FIT == coll_clv_unfit_for_own(call, named)
                   ? named
                   : CLV_ALGORITHM_PREVIOUS;
    default:
        return CLV_ALGORITHM_PREVIOUS;
    }
}

int coll_clv_run_node_plan(const coll_clv_call_t *call, const coll_clv_node_plan_t *node_plan)
{
    const clv_choose_decision_t *decision = &node_plan->decision;

    if (NULL == node_plan->steps) {
        return coll_clv_run_without_plan(call, coll_clv_fallback(call, decision->reason),
                                         decision->reason);
    }
    coll_clv_count(0 != node_plan->made_ahead ? &mca_coll_clv_component.counters.plans_ahead
                                              : &mca_coll_clv_component.counters.plans_late,
                   1);
    count_run(call, decision->algorithm, decision->reason);
    coll_clv_job_t job = {.steps = node_plan->steps,
                          .n_steps = node_plan->n_steps,
                          .n_segments = decision->n_segments,
                          .goal = clv_collectives[call->collective].goal,
                          .policy = clv_algorithms[decision->algorithm].policy,
                          .is_decoupled = decision->is_decoupled,
                          .yields = call->module->shares_processors,
                          .root = call->root,
                          .tag = tags[call->collective],
                          .sbuf = call->sbuf,
                          .rbuf = call->rbuf,
                          .count = (size_t) call->count,
                          .dtype = call->dtype,
                          .op = call->op,
                          .comm = call->comm,
                          .nap = NULL == call->module->waits ? NULL : coll_clv_sleep_nap(),
                          .is_broken = is_broken,
                          .context = call->module};
    return explained(call, clv_collectives[call->collective].equal_counts
                               ? coll_clv_execute_steps(&job, &call->module->scratch)
                               : coll_clv_execute_packed(call, &job));
}
