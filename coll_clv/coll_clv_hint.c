/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The receiving end of clv.h: finds the communicator's group and passes the hint on.
 *
 * The only symbol besides the component that other code may call; clv.h looks it up by name.
 */
#include "coll_clv/coll_clv.h"

#include "coll_clv/coll_clv_group.h"
#include "util/util_time.h"

OMPI_DECLSPEC int coll_clv_hint_arrival(MPI_Comm comm, long long ns_from_now);

static coll_clv_module_t *module_of(struct ompi_communicator_t *comm)
{
    mca_coll_base_module_t *module = NULL;

    if (NULL == comm || MPI_COMM_NULL == comm || NULL == comm->c_coll) {
        return NULL;
    }
    module = comm->c_coll->coll_reduce_module;
    if (NULL == module || ((opal_object_t *) module)->obj_class != OBJ_CLASS(coll_clv_module_t)) {
        return NULL; /* not ours, or somebody wraps us */
    }
    return (coll_clv_module_t *) module;
}

int coll_clv_hint_arrival(MPI_Comm comm, long long ns_from_now)
{
    coll_clv_module_t *module = module_of(comm);
    clv_pap_group_t *pap =
        NULL == module || NULL == module->group ? NULL : coll_clv_group_pap(module->group);

    return NULL == pap ? 0 : clv_pap_hint(pap, clv_local_now_ns(), ns_from_now);
}
