/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI_Bcast: its function, the previous one, and its vector as packed bytes. Ranks may describe the
 * same data by different counts and types, so plans cut the bytes, which are equal. A vector with
 * gaps is copied: packed at the root, unpacked by the others. Like Open MPI's other coll components
 * that send bytes, clv does not convert number formats between machines: a mixed cluster must
 * exclude bcast.
 */
#include "coll_clv/coll_clv_call.h"

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/runtime/mpiruntime.h"
#include "opal/datatype/opal_convertor.h"

#include "util/util_alloc.h"
#include "util/util_hot.h"

CLV_HOT int mca_coll_clv_bcast(void *buffer, coll_clv_count_t count, struct ompi_datatype_t *dtype,
                               int root, struct ompi_communicator_t *comm,
                               mca_coll_base_module_t *module)
{
    coll_clv_module_t *own = (coll_clv_module_t *) module;
    const bool is_nested = coll_clv_enter();

    if (is_nested) {
        const coll_clv_previous_t installed = coll_clv_uncover(own, comm);
        const int rc =
            own->previous.bcast(buffer, count, dtype, root, comm, own->previous.bcast_module);
        coll_clv_cover(own, comm, &installed);
        return coll_clv_leave(own, is_nested, rc);
    }
    if (coll_clv_is_left_alone(own, CLV_COLLECTIVE_BCAST, count, dtype, NULL, root)) {
        return coll_clv_leave(
            own, is_nested,
            own->previous.bcast(buffer, count, dtype, root, comm, own->previous.bcast_module));
    }
    coll_clv_call_t call = {.collective = CLV_COLLECTIVE_BCAST,
                            .root = root,
                            .rbuf = buffer,
                            .count = count,
                            .dtype = dtype,
                            .comm = comm,
                            .module = own};
    return coll_clv_leave(own, is_nested, coll_clv_call(&call));
}

int coll_clv_bcast_previous(const coll_clv_call_t *call)
{
    const coll_clv_previous_t *previous = &call->module->previous;
    return previous->bcast(call->rbuf, call->count, call->dtype, call->root, call->comm,
                           previous->bcast_module);
}

/* Copies the whole vector to (packs) or from the n_bytes at packed. */
static int copy_packed(const coll_clv_call_t *call, void *packed, size_t n_bytes, bool packs)
{
    struct iovec piece = {.iov_base = packed, .iov_len = n_bytes};
    const size_t count = (size_t) call->count;
    uint32_t n_pieces = 1;
    size_t done = n_bytes;
    opal_convertor_t convertor;

    OBJ_CONSTRUCT(&convertor, opal_convertor_t);
    if (packs) {
        opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &call->dtype->super,
                                                 count, call->rbuf, 0, &convertor);
        (void) opal_convertor_pack(&convertor, &piece, &n_pieces, &done);
    } else {
        opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &call->dtype->super,
                                                 count, call->rbuf, 0, &convertor);
        (void) opal_convertor_unpack(&convertor, &piece, &n_pieces, &done);
    }
    OBJ_DESTRUCT(&convertor);
    return done == n_bytes ? OMPI_SUCCESS : OMPI_ERROR;
}

int coll_clv_execute_packed(const coll_clv_call_t *call, coll_clv_job_t *job)
{
    coll_clv_scratch_t *scratch = &call->module->scratch;
    const bool is_root = call->root == ompi_comm_rank(call->comm);
    ptrdiff_t gap = 0;
    void *packed;
    int rc;

    job->dtype = MPI_BYTE;
    job->count = (size_t) call->total_bytes;
    /* The count is an int32, and all that matters is whether there is a second element. */
    if (opal_datatype_is_contiguous_memory_layout(&call->dtype->super, 1 < call->count ? 2 : 1)) {
        (void) opal_datatype_span(&call->dtype->super, (size_t) call->count, &gap);
        job->rbuf = (char *) call->rbuf + gap;
        return coll_clv_execute_steps(job, scratch);
    }
    packed = clv_alloc_unset(job->count, 1);
    if (NULL == packed) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    job->rbuf = packed;
    job->lent_p = &packed;
    rc = is_root ? copy_packed(call, packed, job->count, true) : OMPI_SUCCESS;
    if (OMPI_SUCCESS == rc) {
        rc = coll_clv_execute_steps(job, scratch);
    }
    if (OMPI_SUCCESS == rc && !is_root) {
        rc = copy_packed(call, packed, job->count, false);
    }
    clv_free(packed);
    return rc;
}
