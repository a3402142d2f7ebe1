/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI_Reduce on a communicator that is ours: forced algorithm, or the previous reduce.
 */
#include "coll_clv/coll_clv.h"

static void count_run(coll_clv_counters_t *counters, int algorithm)
{
    unsigned long long *const by_algorithm[COLL_CLV_N_ALGORITHMS] = {
        [COLL_CLV_ALGORITHM_PREVIOUS] = &counters->ran_previous,
        [COLL_CLV_ALGORITHM_BINOMIAL] = &counters->ran_binomial,
        [COLL_CLV_ALGORITHM_RABENSEIFNER] = &counters->ran_rabenseifner,
        [COLL_CLV_ALGORITHM_RING] = &counters->ran_ring,
    };
    (*by_algorithm[algorithm])++;
}

int mca_coll_clv_reduce(const void *sbuf, void *rbuf, coll_clv_count_t count,
                        struct ompi_datatype_t *dtype, struct ompi_op_t *op, int root,
                        struct ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    int algorithm = mca_coll_clv_component.params.reduce_algorithm;
    const coll_clv_algorithm_row_t *row = &coll_clv_algorithms[algorithm];
    const char *reason = row->unfit((size_t) count, op, ompi_comm_size(comm));

    mca_coll_clv_component.counters.calls++;
    if (NULL != reason || NULL == row->run) {
        algorithm = COLL_CLV_ALGORITHM_PREVIOUS;
        reason = NULL != reason ? reason : "there is no prediction";
    } else {
        reason = "coll_clv_reduce_algorithm says so";
    }
    count_run(&mca_coll_clv_component.counters, algorithm);
    coll_clv_tell((coll_clv_module_t *) module, comm, (size_t) count, dtype, root, algorithm,
                  reason);
    return coll_clv_algorithms[algorithm].run(sbuf, rbuf, count, dtype, op, root, comm, module);
}
