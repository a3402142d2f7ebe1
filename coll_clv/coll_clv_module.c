/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The module: what one communicator has of us. Query, enable, disable, end.
 *
 * Cost: enable takes no memory beyond the module and sends nothing; a communicator that never
 * makes an eligible call never causes more.
 */
#include "coll_clv/coll_clv.h"

#include <string.h>

#include "ompi/mca/coll/base/coll_base_functions.h"

#include "coll_clv/coll_clv_group.h"

static void module_construct(coll_clv_module_t *module)
{
    memset((char *) module + sizeof module->super, 0, sizeof *module - sizeof module->super);
    module->shown_version = -1;
}

static void module_destruct(coll_clv_module_t *module)
{
    coll_clv_group_free(module->group);
    coll_clv_scratch_free(&module->scratch);
    if (NULL != module->previous_module) {
        OBJ_RELEASE(module->previous_module);
    }
}

OBJ_CLASS_INSTANCE(coll_clv_module_t, mca_coll_base_module_t, module_construct, module_destruct);

/* Modules are enabled from the lowest priority up, so what is installed now is what would run
 * without us. */
static int module_enable(mca_coll_base_module_t *base, struct ompi_communicator_t *comm)
{
    coll_clv_module_t *module = (coll_clv_module_t *) base;

    coll_clv_compat_get_reduce(comm, &module->previous_reduce, &module->previous_module);
    if (NULL == module->previous_reduce || NULL == module->previous_module) {
        module->previous_module = NULL;
        return OMPI_ERR_NOT_FOUND;
    }
    OBJ_RETAIN(module->previous_module);

    /* Open MPI's algorithms keep their trees here; the base class releases it. */
    module->super.base_data = OBJ_NEW(mca_coll_base_comm_t);
    if (NULL == module->super.base_data) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    coll_clv_compat_set_reduce(comm, mca_coll_clv_reduce, base);
    return OMPI_SUCCESS;
}

/* Whoever wrapped us was disabled before; if not, the wrapper's pointer stays. */
static int module_disable(mca_coll_base_module_t *base, struct ompi_communicator_t *comm)
{
    coll_clv_module_t *module = (coll_clv_module_t *) base;

    if (base == comm->c_coll->coll_reduce_module) {
        coll_clv_compat_set_reduce(comm, module->previous_reduce, module->previous_module);
    }
    return OMPI_SUCCESS;
}

mca_coll_base_module_t *mca_coll_clv_comm_query(struct ompi_communicator_t *comm, int *priority)
{
    coll_clv_module_t *module;

    *priority = mca_coll_clv_component.priority;
    if (0 >= *priority || OMPI_COMM_IS_INTER(comm) || 2 > ompi_comm_size(comm)) {
        return NULL;
    }
    module = OBJ_NEW(coll_clv_module_t);
    if (NULL == module) {
        return NULL;
    }
    module->super.coll_module_enable = module_enable;
    module->super.coll_module_disable = module_disable;
    module->super.coll_reduce = mca_coll_clv_reduce;
    module->algorithm = mca_coll_clv_component.params.reduce_algorithm;
    return &module->super;
}
