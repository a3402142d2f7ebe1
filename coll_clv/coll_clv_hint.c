/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The receiving end of clv.h: finds the communicator's group and passes the hint on.
 *
 * The only symbols besides the component that other code may call; clv.h looks them up by name.
 */
#include "coll_clv/coll_clv.h"

#include "coll_clv/coll_clv_group.h"
#include "util/util_time.h"

OMPI_DECLSPEC int coll_clv_hint_arrival(MPI_Comm comm, long long ns_from_now);
OMPI_DECLSPEC int coll_clv_hint_progress(MPI_Comm comm, double done, double total);

/* Not, for one, where somebody wraps us. */
static bool is_ours(const mca_coll_base_module_t *module)
{
    return NULL != module &&
           ((const opal_object_t *) module)->obj_class == OBJ_CLASS(coll_clv_module_t);
}

static coll_clv_module_t *module_of(struct ompi_communicator_t *comm)
{
    if (NULL == comm || MPI_COMM_NULL == comm || NULL == comm->c_coll) {
        return NULL;
    }
#define TAKE_OURS(to, code, name, mpi, goal, root, op, counts, result, bytes, least)               \
    if (is_ours(comm->c_coll->coll_##name##_module)) {                                             \
        return (coll_clv_module_t *) comm->c_coll->coll_##name##_module;                           \
    }
    CLV_COLLECTIVE_MAP(TAKE_OURS, )
#undef TAKE_OURS
    return NULL;
}

static clv_pap_group_t *pap_of(struct ompi_communicator_t *comm)
{
    coll_clv_module_t *module = module_of(comm);

    return NULL == module || NULL == module->group ? NULL : coll_clv_group_pap(module->group);
}

int coll_clv_hint_arrival(MPI_Comm comm, long long ns_from_now)
{
    clv_pap_group_t *pap = pap_of(comm);

    return NULL == pap ? 0 : clv_pap_hint(pap, clv_local_now_ns(), ns_from_now);
}

int coll_clv_hint_progress(MPI_Comm comm, double done, double total)
{
    clv_pap_group_t *pap = pap_of(comm);

    return NULL == pap ? 0 : clv_pap_hint_progress(pap, done, total);
}
