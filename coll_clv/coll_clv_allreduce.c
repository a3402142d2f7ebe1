/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI_Allreduce: its function and the previous one. It runs plans only; one rank completes each
 * segment, and the others receive copies of that, so all ranks get the same bits.
 */
#include "coll_clv/coll_clv_call.h"

#include "util/util_hot.h"

CLV_HOT int mca_coll_clv_allreduce(const void *sbuf, void *rbuf, coll_clv_count_t count,
                                   struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                   struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    coll_clv_module_t *own = (coll_clv_module_t *) module;
    const bool is_nested = coll_clv_enter();

    if (is_nested) {
        const coll_clv_previous_t installed = coll_clv_uncover(own, comm);
        const int rc = own->previous.allreduce(sbuf, rbuf, count, dtype, op, comm,
                                               own->previous.allreduce_module);
        coll_clv_cover(own, comm, &installed);
        return coll_clv_leave(own, is_nested, rc);
    }
    if (coll_clv_is_left_alone(own, CLV_COLLECTIVE_ALLREDUCE, count, dtype, op, 0)) {
        return coll_clv_leave(own, is_nested,
                              own->previous.allreduce(sbuf, rbuf, count, dtype, op, comm,
                                                      own->previous.allreduce_module));
    }
    coll_clv_call_t call = {.collective = CLV_COLLECTIVE_ALLREDUCE,
                            .sbuf = sbuf,
                            .rbuf = rbuf,
                            .count = count,
                            .dtype = dtype,
                            .op = op,
                            .comm = comm,
                            .module = own};
    return coll_clv_leave(own, is_nested, coll_clv_call(&call));
}

int coll_clv_allreduce_previous(const coll_clv_call_t *call)
{
    const coll_clv_previous_t *previous = &call->module->previous;
    return previous->allreduce(call->sbuf, call->rbuf, call->count, call->dtype, call->op,
                               call->comm, previous->allreduce_module);
}
