/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A stand-in for Open MPI's coll/accelerator, which Debian does not build: under its name and its
 * priority, it copies device memory of reduces, allreduces and broadcasts to the host and calls
 * whoever is below it. Contiguous types only.
 */
#include "ompi_config.h"

#include <stdlib.h>
#include <string.h>

#include "ompi/constants.h"
#include "ompi/datatype/ompi_datatype.h"

#include "coll_clv/coll_clv_compat.h"
#include "tests/versions/fake_device.h"

typedef struct copier {
    mca_coll_base_module_t super;
    mca_coll_base_comm_coll_t below;
} copier_t;
OBJ_CLASS_INSTANCE(copier_t, mca_coll_base_module_t, NULL, NULL);

static int priority;

/* The address itself, or a copy on the host. */
static void *on_host(const void *address, size_t n_bytes)
{
    void *copy;

    if (address == MPI_IN_PLACE || !fake_device_has(address)) {
        return (void *) (uintptr_t) address;
    }
    copy = malloc(n_bytes);
    return memcpy(copy, fake_device_open(address), n_bytes);
}

static void back(void *address, void *host, size_t n_bytes)
{
    if (host != address) {
        memcpy(fake_device_open(address), host, n_bytes);
        free(host);
    }
}

static size_t bytes_of(coll_clv_count_t count, const ompi_datatype_t *type)
{
    return (size_t) count * type->super.size;
}

static int reduce(const void *sbuf, void *rbuf, coll_clv_count_t count, ompi_datatype_t *type,
                  struct ompi_op_t *op, int root, ompi_communicator_t *comm,
                  mca_coll_base_module_t *module)
{
    const copier_t *copier = (copier_t *) module;
    const size_t n_bytes = bytes_of(count, type);
    void *from = on_host(sbuf, n_bytes), *to = on_host(rbuf, n_bytes);
    const int rc = copier->below.coll_reduce(from, to, count, type, op, root, comm,
                                             copier->below.coll_reduce_module);

    back(rbuf, to, n_bytes);
    if (from != sbuf) {
        free(from);
    }
    return rc;
}

static int allreduce(const void *sbuf, void *rbuf, coll_clv_count_t count, ompi_datatype_t *type,
                     struct ompi_op_t *op, ompi_communicator_t *comm,
                     mca_coll_base_module_t *module)
{
    const copier_t *copier = (copier_t *) module;
    const size_t n_bytes = bytes_of(count, type);
    void *from = on_host(sbuf, n_bytes), *to = on_host(rbuf, n_bytes);
    const int rc = copier->below.coll_allreduce(from, to, count, type, op, comm,
                                                copier->below.coll_allreduce_module);

    back(rbuf, to, n_bytes);
    if (from != sbuf) {
        free(from);
    }
    return rc;
}

static int bcast(void *buffer, coll_clv_count_t count, ompi_datatype_t *type, int root,
                 ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    const copier_t *copier = (copier_t *) module;
    const size_t n_bytes = bytes_of(count, type);
    void *host = on_host(buffer, n_bytes);
    const int rc =
        copier->below.coll_bcast(host, count, type, root, comm, copier->below.coll_bcast_module);

    back(buffer, host, n_bytes);
    return rc;
}

static int enable(mca_coll_base_module_t *module, ompi_communicator_t *comm)
{
    ((copier_t *) module)->below = *comm->c_coll;
    COLL_CLV_COMPAT_SET(comm, reduce, reduce, module);
    COLL_CLV_COMPAT_SET(comm, allreduce, allreduce, module);
    COLL_CLV_COMPAT_SET(comm, bcast, bcast, module);
    return OMPI_SUCCESS;
}

static mca_coll_base_module_t *query(ompi_communicator_t *comm, int *priority_p)
{
    copier_t *copier = OBJ_NEW(copier_t);

    (void) comm;
    *priority_p = priority;
    copier->super.coll_module_enable = enable;
    copier->super.coll_reduce = reduce;
    copier->super.coll_allreduce = allreduce;
    copier->super.coll_bcast = bcast;
    return &copier->super;
}

static int init_query(bool progress_threads, bool threads)
{
    (void) progress_threads, (void) threads;
    return OMPI_SUCCESS;
}

static int register_priority(void);

OMPI_DECLSPEC extern mca_coll_base_component_t mca_coll_accelerator_component;
mca_coll_base_component_t mca_coll_accelerator_component = {
    .collm_version = {COLL_CLV_BASE_VERSION, .mca_component_name = "accelerator",
                      MCA_BASE_MAKE_VERSION(component, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION,
                                            OMPI_RELEASE_VERSION),
                      .mca_register_component_params = register_priority},
    .collm_init_query = init_query,
    .collm_comm_query = query};

static int register_priority(void)
{
    priority = 78;
    (void) mca_base_component_var_register(
        &mca_coll_accelerator_component.collm_version, "priority", "Priority",
        MCA_BASE_VAR_TYPE_INT, NULL, 0, 0, OPAL_INFO_LVL_6, MCA_BASE_VAR_SCOPE_READONLY, &priority);
    return OMPI_SUCCESS;
}
