/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The receiving end of clv.h: finds the communicator's group, passes the hint on, and answers how
 * long this rank is expected to wait.
 *
 * Besides the component, these are the only symbols for other code; clv.h looks them up by name.
 */
#include "coll_clv/coll_clv.h"

#include "coll_clv/coll_clv_group.h"
#include "coll_clv/coll_clv_levels.h"
#include "coll_clv/coll_clv_sleep.h"
#include "util/util_time.h"

OMPI_DECLSPEC int coll_clv_hint_arrival(MPI_Comm comm, long long ns_from_now);
OMPI_DECLSPEC int coll_clv_hint_progress(MPI_Comm comm, double done, double total);

/* False for one where another component wraps ours. */
static bool is_ours(const mca_coll_base_module_t *module)
{
    return NULL != module &&
           ((const opal_object_t *) module)->obj_class == OBJ_CLASS(coll_clv_module_t);
}

coll_clv_module_t *coll_clv_module_of(struct ompi_communicator_t *comm)
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
    coll_clv_module_t *module = coll_clv_module_of(comm);

    if (NULL != module && NULL != module->levels) {
        module = coll_clv_module_of(coll_clv_levels_hinted(module->levels));
    }
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

/* Where waits spin, no history is kept until the program asks for the first time. */
static coll_clv_waits_t *waits_of(coll_clv_module_t *module)
{
    coll_clv_waits_t *waits = __atomic_load_n(&module->waits, __ATOMIC_ACQUIRE);

    if (NULL == waits) {
        coll_clv_waits_t *mine = coll_clv_sleep_waits(CLV_WAIT_SPIN);
        if (NULL != mine && !__atomic_compare_exchange_n(&module->waits, &waits, mine, false,
                                                         __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            coll_clv_sleep_free(mine); /* another thread asked first */
            return waits;
        }
        return mine;
    }
    return waits;
}

long long coll_clv_expected_wait_ns(MPI_Comm comm)
{
    coll_clv_module_t *module = coll_clv_module_of(comm);
    coll_clv_waits_t *waits = NULL == module ? NULL : waits_of(module);

    return NULL == waits ? -1 : coll_clv_sleep_expected(waits);
}
