/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The module: clv's part in one communicator. Query, enable, disable, end.
 *
 * Cost: enable takes no memory beyond the module and sends nothing; a communicator without an
 * eligible call never costs more.
 */
#include "coll_clv/coll_clv.h"

#include <stdatomic.h>
#include <string.h>

#include "ompi/mca/coll/base/coll_base_functions.h"
#include "ompi/proc/proc.h"

#include "coll_clv/coll_clv_call.h"
#include "coll_clv/coll_clv_fit.h"
#include "coll_clv/coll_clv_group.h"
#include "coll_clv/coll_clv_levels.h"
#include "coll_clv/coll_clv_record.h"
#include "coll_clv/coll_clv_sleep.h"
#include "util/util_log.h"

static void module_construct(coll_clv_module_t *module)
{
    memset((char *) module + sizeof module->super, 0, sizeof *module - sizeof module->super);
    module->shown_version = -1;
}

static void module_destruct(coll_clv_module_t *module)
{
    coll_clv_compare_end(&module->compare);
    coll_clv_levels_free(module->levels);
    coll_clv_group_free(module->group);
    coll_clv_scratch_free(&module->scratch);
    coll_clv_record_free(module);
    coll_clv_barrier_free(module);
    coll_clv_sleep_free(module->waits);
#define RELEASE_ROW(to, code, name, mpi, goal, root, op, counts, result, bytes, least)             \
    if (NULL != module->previous.name##_module) {                                                  \
        OBJ_RELEASE(module->previous.name##_module);                                               \
    }
    CLV_COLLECTIVE_MAP(RELEASE_ROW, )
#undef RELEASE_ROW
}

OBJ_CLASS_INSTANCE(coll_clv_module_t, mca_coll_base_module_t, module_construct, module_destruct);

/* Whether coll_clv_collectives names it. */
static bool takes(const coll_clv_module_t *module, clv_collective_t collective)
{
    return 0 != (module->config.collectives >> collective & 1);
}

uint32_t coll_clv_watched(const clv_choose_config_t *config)
{
    const coll_clv_params_t *params = &mca_coll_clv_component.params;
    const bool is_asked =
        0 != (params->print & CLV_PRINT_SUMMARY) || params->verbose >= CLV_LOG_INFO;

    return is_asked && !mca_coll_clv_component.only_records
               ? ((1U << CLV_N_COLLECTIVES) - 1) & ~(uint32_t) config->collectives
               : 0;
}

/* Whether we install a function for it: taken, or only watched. */
static bool has(const coll_clv_module_t *module, clv_collective_t collective)
{
    return takes(module, collective) || 0 != (module->watched >> collective & 1);
}

/* Modules are enabled from the lowest priority up, so what is installed now is what would run
 * without us. Retains each module. False when there is no function for a collective that we take;
 * one that we only watch is dropped then. */
static bool save_previous(coll_clv_module_t *module, const struct ompi_communicator_t *comm)
{
    coll_clv_previous_t *previous = &module->previous;
    bool all = true;

#define SAVE_ROW(to, code, name, mpi, goal, root, op, counts, result, bytes, least)                \
    COLL_CLV_COMPAT_GET(comm, name, previous->name, previous->name##_module);                      \
    if (!has(module, CLV_COLLECTIVE_##code)) {                                                     \
        previous->name##_module = NULL;                                                            \
    } else if (NULL == previous->name || NULL == previous->name##_module) {                        \
        previous->name##_module = NULL;                                                            \
        all = all && !takes(module, CLV_COLLECTIVE_##code);                                        \
        module->watched &= ~(1U << CLV_COLLECTIVE_##code);                                         \
        module->super.coll_##name =                                                                \
            has(module, CLV_COLLECTIVE_##code) ? mca_coll_clv_##name : NULL;                       \
    } else {                                                                                       \
        OBJ_RETAIN(previous->name##_module);                                                       \
    }
    CLV_COLLECTIVE_MAP(SAVE_ROW, )
#undef SAVE_ROW
    return all;
}

static int module_enable(mca_coll_base_module_t *base, struct ompi_communicator_t *comm)
{
    coll_clv_module_t *module = (coll_clv_module_t *) base;

    if (!save_previous(module, comm)) {
        return OMPI_ERR_NOT_FOUND;
    }
    /* Open MPI's algorithms keep their trees here; the base class releases it. */
    module->super.base_data = OBJ_NEW(mca_coll_base_comm_t);
    if (NULL == module->super.base_data) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
#define INSTALL_ROW(to, code, name, mpi, goal, root, op, counts, result, bytes, least)             \
    if (has(module, CLV_COLLECTIVE_##code)) {                                                      \
        COLL_CLV_COMPAT_SET(comm, name, mca_coll_clv_##name, base);                                \
    }
    CLV_COLLECTIVE_MAP(INSTALL_ROW, )
#undef INSTALL_ROW
    coll_clv_barrier_enable(module, comm);
    coll_clv_record_enable(module, comm);
    coll_clv_compare_begin(&module->compare, comm);
    return OMPI_SUCCESS;
}

/* A component that wrapped us was disabled before; if not, the wrapper's pointer stays. */
static int module_disable(mca_coll_base_module_t *base, struct ompi_communicator_t *comm)
{
    coll_clv_module_t *module = (coll_clv_module_t *) base;

    coll_clv_compare_end(&module->compare);
    coll_clv_record_disable(module, comm);
    coll_clv_barrier_disable(module, comm);
#define RESTORE_ROW(to, code, name, mpi, goal, root, op, counts, result, bytes, least)             \
    if (base == comm->c_coll->coll_##name##_module) {                                              \
        COLL_CLV_COMPAT_SET(comm, name, module->previous.name, module->previous.name##_module);    \
    }
    CLV_COLLECTIVE_MAP(RESTORE_ROW, )
#undef RESTORE_ROW
    (void) module; /* in these releases the framework restores the functions */
    return OMPI_SUCCESS;
}

coll_clv_previous_t coll_clv_uncover(const coll_clv_module_t *module,
                                     struct ompi_communicator_t *comm)
{
    const coll_clv_previous_t *previous = &module->previous;
    coll_clv_previous_t installed = {0};

#define UNCOVER_ROW(to, code, name, mpi, goal, root, op, counts, result, bytes, least)             \
    if (!COLL_CLV_MODULE_INSTALLS && NULL != previous->name##_module) {                            \
        COLL_CLV_COMPAT_GET(comm, name, installed.name, installed.name##_module);                  \
        comm->c_coll->coll_##name = previous->name;                                                \
        comm->c_coll->coll_##name##_module = previous->name##_module;                              \
    }
    CLV_COLLECTIVE_MAP(UNCOVER_ROW, )
#undef UNCOVER_ROW
    return installed;
}

void coll_clv_cover(coll_clv_module_t *module, struct ompi_communicator_t *comm,
                    const coll_clv_previous_t *installed)
{
    coll_clv_previous_t *previous = &module->previous;

#define COVER_ROW(to, code, name, mpi, goal, root, op, counts, result, bytes, least)               \
    if (NULL != installed->name##_module) {                                                        \
        COLL_CLV_COMPAT_GET(comm, name, previous->name, previous->name##_module);                  \
        comm->c_coll->coll_##name = installed->name;                                               \
        comm->c_coll->coll_##name##_module = installed->name##_module;                             \
    }
    CLV_COLLECTIVE_MAP(COVER_ROW, )
#undef COVER_ROW
}

/* Open MPI takes the level that a tool requests by MPI_T_init_thread for the program's level: from
 * then on its own functions use shared data without a lock (packaging/openmpi/issues.md). */
static void tell_lowered_level(void)
{
    static atomic_bool has_reported;

    if (mca_coll_clv_component.is_threaded && !ompi_mpi_thread_multiple &&
        !atomic_exchange(&has_reported, true)) {
        clv_log(CLV_LOG_HOST,
                "MPI_T_init_thread asked for less than the program's MPI_THREAD_MULTIPLE: Open "
                "MPI is no longer safe for concurrent calls of several threads");
    }
}

/* Calls that we do not plan wait, too. */
static void set_waits(coll_clv_module_t *module)
{
    const int mode = mca_coll_clv_component.params.wait;

    if (CLV_WAIT_SPIN != mode && !mca_coll_clv_component.only_records) {
        module->waits = coll_clv_sleep_waits(mode);
    }
    if (NULL != module->waits) {
        module->watched = ((1U << CLV_N_COLLECTIVES) - 1) & ~(uint32_t) module->config.collectives;
    }
}

mca_coll_base_module_t *mca_coll_clv_comm_query(struct ompi_communicator_t *comm, int *priority)
{
    coll_clv_module_t *module;

    *priority = mca_coll_clv_component.priority;
    if (0 >= *priority || OMPI_COMM_IS_INTER(comm) || 2 > ompi_comm_size(comm)) {
        return NULL;
    }
    tell_lowered_level();
    module = OBJ_NEW(coll_clv_module_t);
    if (NULL == module) {
        return NULL;
    }
    module->super.coll_module_enable = module_enable;
    module->super.coll_module_disable = module_disable;
    module->config = coll_clv_params_config(&mca_coll_clv_component);
    module->config.n_ranks = ompi_comm_size(comm);
    module->config.max_cells = CLV_CHOOSE_MAX_CELLS;
    module->watched = coll_clv_watched(&module->config);
    set_waits(module);
    coll_clv_set_alone_below(module);
#define OFFER_ROW(to, code, name, mpi, goal, root, op, counts, result, bytes, least)               \
    module->super.coll_##name = has(module, CLV_COLLECTIVE_##code) ? mca_coll_clv_##name : NULL;
    CLV_COLLECTIVE_MAP(OFFER_ROW, )
#undef OFFER_ROW
    coll_clv_barrier_offer(module);
    coll_clv_record_offer(module);
    return &module->super;
}
