/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI_Reduce: its function, the previous one, and the algorithms of Open MPI that clv calls with
 * its module. The path of a call is in coll_clv_call.c, clv's own ring in coll_clv_ring.c.
 */
#include "coll_clv/coll_clv_call.h"

#include "ompi/mca/coll/base/coll_base_functions.h"
#include "util/util_hot.h"

CLV_HOT int mca_coll_clv_reduce(const void *sbuf, void *rbuf, coll_clv_count_t count,
                                struct ompi_datatype_t *dtype, struct ompi_op_t *op, int root,
                                struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    coll_clv_module_t *own = (coll_clv_module_t *) module;
    const bool is_nested = coll_clv_enter();

    if (is_nested) {
        const coll_clv_previous_t installed = coll_clv_uncover(own, comm);
        const int rc = own->previous.reduce(sbuf, rbuf, count, dtype, op, root, comm,
                                            own->previous.reduce_module);
        coll_clv_cover(own, comm, &installed);
        return coll_clv_leave(own, is_nested, rc);
    }
    if (coll_clv_is_left_alone(own, CLV_COLLECTIVE_REDUCE, count, dtype, op, root)) {
        return coll_clv_leave(own, is_nested,
                              own->previous.reduce(sbuf, rbuf, count, dtype, op, root, comm,
                                                   own->previous.reduce_module));
    }
    coll_clv_call_t call = {.collective = CLV_COLLECTIVE_REDUCE,
                            .root = root,
                            .sbuf = sbuf,
                            .rbuf = rbuf,
                            .count = count,
                            .dtype = dtype,
                            .op = op,
                            .comm = comm,
                            .module = own};
    return coll_clv_leave(own, is_nested, coll_clv_call(&call));
}

int coll_clv_reduce_previous(const coll_clv_call_t *call)
{
    const coll_clv_previous_t *previous = &call->module->previous;
    return previous->reduce(call->sbuf, call->rbuf, call->count, call->dtype, call->op, call->root,
                            call->comm, previous->reduce_module);
}

int coll_clv_run_binomial(const coll_clv_call_t *call)
{
    return ompi_coll_base_reduce_intra_binomial(
        call->sbuf, call->rbuf, call->count, call->dtype, call->op, call->root, call->comm,
        &call->module->super, (uint32_t) call->module->config.segment_bytes, 0);
}

int coll_clv_run_rabenseifner(const coll_clv_call_t *call)
{
    return ompi_coll_base_reduce_intra_redscat_gather(call->sbuf, call->rbuf, call->count,
                                                      call->dtype, call->op, call->root, call->comm,
                                                      &call->module->super);
}
