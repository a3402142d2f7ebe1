/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tells which algorithm ran and why: once per shape of call and again when it changes.
 *
 * A small table per module remembers the last word on each shape; two shapes that share a place
 * only make it talk more.
 */
#include "coll_clv/coll_clv.h"

#include "choose/choose.h"
#include "ompi/datatype/ompi_datatype.h"
#include "util/util_hash.h"
#include "util/util_log.h"

static uint64_t shape_of(size_t count, const struct ompi_datatype_t *dtype, int root)
{
    uint64_t hash = clv_fnv1a64(CLV_FNV1A64_BASIS, &count, sizeof count);
    hash = clv_fnv1a64(hash, &dtype, sizeof dtype);
    hash = clv_fnv1a64(hash, &root, sizeof root);
    return 0 == hash ? 1 : hash;
}

/* True when this is news, which it then is no more. */
static bool take_news(coll_clv_told_t *told, uint64_t shape, int algorithm, int reason)
{
    if (shape == told->shape && algorithm == told->algorithm && reason == told->reason) {
        return false;
    }
    *told = (coll_clv_told_t){.shape = shape, .reason = reason, .algorithm = algorithm};
    return true;
}

void coll_clv_tell(coll_clv_module_t *module, struct ompi_communicator_t *comm, size_t count,
                   struct ompi_datatype_t *dtype, int root, int algorithm, int reason)
{
    const int verbose = mca_coll_clv_component.params.verbose;
    const uint64_t shape = verbose < CLV_LOG_INFO ? 0 : shape_of(count, dtype, root);
    size_t element_bytes = 0;

    if (verbose < CLV_LOG_INFO) {
        return;
    }
    if (!take_news(&module->told[shape % COLL_CLV_N_TOLD], shape, algorithm, reason) &&
        verbose < CLV_LOG_DEBUG) {
        return;
    }
    if (0 != ompi_comm_rank(comm) && verbose < CLV_LOG_DEBUG) {
        return;
    }
    ompi_datatype_type_size(dtype, &element_bytes);
    clv_log(CLV_LOG_INFO, "reduce of %zu x %zu bytes to rank %d of %d on %s: %s, because %s", count,
            element_bytes, root, ompi_comm_size(comm), comm->c_name,
            coll_clv_algorithms[algorithm].name, coll_clv_reason_text(reason));
}
