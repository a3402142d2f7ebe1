/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether clv can run a call (see coll_clv_fit.h).
 */
#include "coll_clv/coll_clv_fit.h"

#include "coll_clv/coll_clv_peers.h"
#include "coll_clv/coll_clv_processors.h"
#include "util/util_log.h"

static bool is_integer(const coll_clv_call_t *call)
{
    return ompi_op_is_intrinsic(call->op) && ompi_datatype_is_predefined(call->dtype) &&
           OMPI_DATATYPE_FLAG_DATA_INT == (call->dtype->super.flags & OMPI_DATATYPE_FLAG_DATA_TYPE);
}

/* Plans combine in an order that follows the arrivals; such a call needs a fixed one. */
bool coll_clv_must_keep_order(const coll_clv_call_t *call)
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

/* The smallest vector that auto plans, bytes. */
int64_t coll_clv_least_bytes(const clv_choose_config_t *config, int32_t collective)
{
    return config->n_ranks < config->min_ranks ? INT64_MAX
                                               : clv_choose_min_bytes(config, collective);
}

int coll_clv_unfit_for_plans(const coll_clv_call_t *call, int32_t forced)
{
    const clv_choose_config_t *config = &call->module->config;
    const clv_call_facts_t facts = facts_of(call);
    const int reason = clv_algorithm_unfit(forced, &facts);
    const bool is_small =
        CLV_ALGORITHM_AUTO == forced &&
        call->total_bytes < coll_clv_least_bytes(config, (int32_t) call->collective);

    if (CLV_FIT != reason) {
        return reason;
    }
    if (!call->is_fixed && coll_clv_must_keep_order(call)) {
        return CLV_REASON_REPRODUCIBLE;
    }
    if (config->n_ranks > CLV_SCHED_MAX_RANKS) {
        return is_small ? CLV_REASON_TOO_SMALL : CLV_REASON_MANY_RANKS;
    }
    if (CLV_ALGORITHM_AUTO != forced) {
        return CLV_FIT; /* a forced algorithm plans small vectors, too */
    }
    if (!config->exchange && !call->is_fixed) {
        return CLV_REASON_EXCHANGE_OFF;
    }
    return is_small ? CLV_REASON_TOO_SMALL : CLV_FIT;
}

void coll_clv_set_alone_below(coll_clv_module_t *module)
{
    const clv_choose_config_t *config = &module->config;

    for (int collective = 0; collective < CLV_N_COLLECTIVES; collective++) {
        const bool is_auto = CLV_ALGORITHM_AUTO == clv_choose_forced(config, collective);

        module->alone_below[collective] =
            is_auto && mca_coll_clv_component.params.verbose < CLV_LOG_INFO &&
                    0 == (module->watched >> collective & 1)
                ? coll_clv_least_bytes(config, collective)
                : 0;
    }
}

int coll_clv_unfit_for_own(const coll_clv_call_t *call, int32_t forced)
{
    const clv_call_facts_t facts = facts_of(call);
    return clv_algorithm_unfit(forced, &facts);
}

bool coll_clv_call_peers_are_equal(const coll_clv_call_t *call)
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
