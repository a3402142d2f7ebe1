/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For Open MPI 4.1 built without CUDA: a coll component under the name of coll/cuda that takes no
 * collective, but says for the ranks of CLV_FAKE_CUDA ("all", or one) that CUDA is in use, and has
 * the priority of CLV_FAKE_PRIORITY.
 */
#include "ompi_config.h"

#include <stdlib.h>
#include <string.h>

#include "ompi/constants.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/coll.h"
#include "opal/runtime/opal_params.h"

static int priority;

static int init_query(bool progress_threads, bool threads)
{
    (void) progress_threads, (void) threads;
    opal_cuda_support = false; /* clv has looked; MPI_T_init_thread would end the job */
    return OMPI_SUCCESS;
}

static mca_coll_base_module_t *query(struct ompi_communicator_t *comm, int *priority_p)
{
    (void) comm, (void) priority_p;
    return NULL;
}

static int begin(void);

OMPI_DECLSPEC extern mca_coll_base_component_t mca_coll_cuda_component;
mca_coll_base_component_t mca_coll_cuda_component = {
    .collm_version = {MCA_COLL_BASE_VERSION_2_0_0, .mca_component_name = "cuda",
                      MCA_BASE_MAKE_VERSION(component, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION,
                                            OMPI_RELEASE_VERSION),
                      .mca_register_component_params = begin},
    .collm_init_query = init_query,
    .collm_comm_query = query};

static int begin(void)
{
    const char *who = getenv("CLV_FAKE_CUDA"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    const char *given = getenv("CLV_FAKE_PRIORITY");

    opal_cuda_support =
        who != NULL && rank != NULL && (strcmp(who, "all") == 0 || strcmp(who, rank) == 0);
    priority = given != NULL ? atoi(given) : 0;
    (void) mca_base_component_var_register(&mca_coll_cuda_component.collm_version, "priority",
                                           "Priority", MCA_BASE_VAR_TYPE_INT, NULL, 0, 0,
                                           OPAL_INFO_LVL_6, MCA_BASE_VAR_SCOPE_READONLY, &priority);
    return OMPI_SUCCESS;
}
