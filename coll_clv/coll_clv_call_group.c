/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The group of a call, and the end of a call on a failed communicator (see coll_clv_call_group.h).
 */
#include "coll_clv/coll_clv_call_group.h"

#include "coll_clv/coll_clv_failure.h"
#include "coll_clv/coll_clv_group.h"
#include "coll_clv/coll_clv_record.h"
#include "coll_clv/coll_clv_show.h"
#include "util/util_hot.h"
#include "util/util_log.h"
#include "util/util_min_max.h"

/* Called when the communicator has failed or the user frees it: no plan runs on it any more. If a
 * host is out of reach, the group stays until that host has its messages
 * (coll_clv_relay_settle). */
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
        clv_log(CLV_LOG_INFO, "%s is freed, but kept until a host out of reach has its messages",
                comm->c_name);
    }
    coll_clv_scratch_drop(&module->scratch);
    coll_clv_failure_collect();
}

/* coll_clv_setup_bytes holds for this many ranks; with more, a set-up takes longer. */
#define SETUP_RANKS 10

int64_t coll_clv_setup_enough(const clv_choose_config_t *config)
{
    return config->setup_bytes * clv_larger(config->n_ranks, SETUP_RANKS) / SETUP_RANKS;
}

/* Counts the bytes of the call. True when a set-up is due: its messages are then a small share of
 * the bytes carried. Equal on all ranks. A call of at least half of coll_clv_setup_bytes sets up at
 * once: in the next call, decoupled ranks would set up amid this call's messages. A forced
 * algorithm or a fixed order needs no bytes. */
static bool carries_enough(const coll_clv_call_t *call)
{
    coll_clv_module_t *module = call->module;
    const int64_t setup_bytes = module->config.setup_bytes;
    const int64_t enough = coll_clv_setup_enough(&module->config);

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
    const bool was_paused = coll_clv_sleep_pause(true); /* set-up measures links: no sleeping */
    int why = CLV_FIT;
    int rc = coll_clv_group_setup(call->comm, &call->module->config, params, call->total_bytes,
                                  &call->module->group, &why);

    (void) coll_clv_sleep_pause(was_paused);
    coll_clv_failure_collect();
    if (OMPI_SUCCESS == rc && CLV_FIT != why && coll_clv_tells(call)) {
        clv_log(CLV_LOG_INFO, "no predictions on %s: %s", call->comm->c_name, clv_reason_text(why));
    }
    if (OMPI_SUCCESS == rc) {
        coll_clv_show_links(call);
        if (0 == ompi_comm_rank(call->comm)) {
            coll_clv_record_cost(&coll_clv_group_config(call->module->group)->cost);
        }
        /* Without it, a neighbour cut off at that time hears nothing, and one that fails ends
         * later. */
        (void) coll_clv_failure_on_free(call->comm, release_group, call->module);
    }
    return rc;
}

/* Returns the error for the caller of MPI. If Open MPI already knows why the communicator failed,
 * that error; if another rank reported the failure first, wait until Open MPI knows. All other
 * ranks are told. A failed communicator never reduces again, and Open MPI may keep it for good, so
 * our memory for it is freed here. Its credit stays: coll_clv_ahead.c looks at it once more when
 * the user frees the communicator. */
CLV_COLD int coll_clv_fail(const coll_clv_call_t *call, int rc)
{
    const bool was_reported = coll_clv_group_is_broken(call->module->group);
    const bool is_first = coll_clv_group_break(call->module->group);
    const int failure = was_reported && is_first ? coll_clv_failure_awaited(call->comm)
                                                 : coll_clv_failure_of(call->comm);

    if (OMPI_SUCCESS == failure) {
        return was_reported ? MPI_ERR_OTHER : rc;
    }
    release_group(call->comm, call->module);
    return failure;
}

/* The group is local until the communicator is set up. A broken communicator keeps its group. */
int coll_clv_find_group(const coll_clv_call_t *call)
{
    coll_clv_module_t *module = call->module;

    if (!coll_clv_group_is_local(module->group) || coll_clv_group_is_broken(module->group)) {
        return OMPI_SUCCESS;
    }
    if (carries_enough(call)) {
        coll_clv_group_free(module->group);
        module->group = NULL;
        return set_up_group(call);
    }
    if (NULL == module->group) {
        module->group = coll_clv_group_local(call->comm, &module->config);
    }
    return NULL == module->group ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
}
