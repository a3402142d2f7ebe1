/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The algorithms that need no plan, as a table: Open MPI's own, called with our module, and our
 * ring. The order of rows is that of COLL_CLV_ALGORITHM_MAP.
 */
#include "coll_clv/coll_clv.h"

#include "ompi/mca/coll/base/coll_base_functions.h"
#include "ompi/op/op.h"

int coll_clv_reduce_previous(const void *sbuf, void *rbuf, coll_clv_count_t count,
                             struct ompi_datatype_t *dtype, struct ompi_op_t *op, int root,
                             struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    coll_clv_module_t *ours = (coll_clv_module_t *) module;
    return ours->previous_reduce(sbuf, rbuf, count, dtype, op, root, comm, ours->previous_module);
}

static int reduce_binomial(const void *sbuf, void *rbuf, coll_clv_count_t count,
                           struct ompi_datatype_t *dtype, struct ompi_op_t *op, int root,
                           struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    const int segment_bytes = mca_coll_clv_component.params.segment_bytes;
    return ompi_coll_base_reduce_intra_binomial(sbuf, rbuf, count, dtype, op, root, comm, module,
                                                (uint32_t) segment_bytes, 0);
}

static int reduce_rabenseifner(const void *sbuf, void *rbuf, coll_clv_count_t count,
                               struct ompi_datatype_t *dtype, struct ompi_op_t *op, int root,
                               struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    return ompi_coll_base_reduce_intra_redscat_gather(sbuf, rbuf, count, dtype, op, root, comm,
                                                      module);
}

static int unfit_never(size_t count, const struct ompi_op_t *op, int n_ranks)
{
    (void) count;
    (void) op;
    (void) n_ranks;
    return COLL_CLV_FIT;
}

static int unfit_order(size_t count, const struct ompi_op_t *op, int n_ranks)
{
    (void) n_ranks;
    if (!ompi_op_is_commute((struct ompi_op_t *) op)) {
        return COLL_CLV_REASON_NOT_COMMUTATIVE;
    }
    return 0 == count ? COLL_CLV_REASON_EMPTY : COLL_CLV_FIT;
}

/* With fewer elements than halves, Open MPI's function would quietly run a linear reduce. */
static int unfit_halving(size_t count, const struct ompi_op_t *op, int n_ranks)
{
    size_t n_halves = 1;

    while (n_halves * 2 <= (size_t) n_ranks) {
        n_halves *= 2;
    }
    return count < n_halves ? COLL_CLV_REASON_FEW_ELEMENTS : unfit_order(count, op, n_ranks);
}

const coll_clv_algorithm_row_t coll_clv_algorithms[COLL_CLV_N_ALGORITHMS] = {
    [COLL_CLV_ALGORITHM_AUTO] = {"auto", NULL, unfit_never},
    [COLL_CLV_ALGORITHM_PREVIOUS] = {"previous", coll_clv_reduce_previous, unfit_never},
    [COLL_CLV_ALGORITHM_CLAIRVOYANT] = {"clairvoyant", NULL, unfit_order},
    [COLL_CLV_ALGORITHM_LATEST_FIRST] = {"latest_first", NULL, unfit_order},
    [COLL_CLV_ALGORITHM_CHAIN] = {"chain", NULL, unfit_order},
    [COLL_CLV_ALGORITHM_BINOMIAL] = {"binomial", reduce_binomial, unfit_order},
    [COLL_CLV_ALGORITHM_RABENSEIFNER] = {"rabenseifner", reduce_rabenseifner, unfit_halving},
    [COLL_CLV_ALGORITHM_RING] = {"ring", coll_clv_reduce_ring, unfit_order},
};
