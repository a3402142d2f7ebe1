/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI_Barrier: clv makes no plan for it, but ranks wait in it. Unless waits spin, clv installs a
 * function that marks the begin and end of a call around the previous one; otherwise nothing.
 */
#include "coll_clv/coll_clv_call.h"

int mca_coll_clv_barrier(struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    coll_clv_module_t *own = (coll_clv_module_t *) module;
    int rc;

    coll_clv_sleep_begin(own->waits, COLL_CLV_SLEEP_BARRIER, 0);
    rc = own->barrier(comm, own->barrier_module);
    coll_clv_sleep_end();
    return rc;
}

void coll_clv_barrier_offer(coll_clv_module_t *module)
{
    if (NULL != module->waits) {
        module->super.coll_barrier = mca_coll_clv_barrier;
    }
}

void coll_clv_barrier_enable(coll_clv_module_t *module, struct ompi_communicator_t *comm)
{
    mca_coll_base_module_t *previous;

    if (NULL == module->waits) {
        return;
    }
    COLL_CLV_COMPAT_GET(comm, barrier, module->barrier, previous);
    if (NULL == module->barrier || NULL == previous) {
        module->super.coll_barrier = NULL;
        return;
    }
    OBJ_RETAIN(previous);
    module->barrier_module = previous;
    COLL_CLV_COMPAT_SET(comm, barrier, mca_coll_clv_barrier, &module->super);
}

void coll_clv_barrier_disable(coll_clv_module_t *module, struct ompi_communicator_t *comm)
{
    if (NULL != module->barrier_module && &module->super == comm->c_coll->coll_barrier_module) {
        COLL_CLV_COMPAT_SET(comm, barrier, module->barrier, module->barrier_module);
    }
}

void coll_clv_barrier_free(coll_clv_module_t *module)
{
    if (NULL != module->barrier_module) {
        OBJ_RELEASE(module->barrier_module);
    }
}
