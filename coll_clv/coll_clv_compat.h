/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every difference between the supported Open MPI versions, keyed on the version macro of the coll
 * framework, never on release numbers.
 *
 *                    2.0.0 (4.1)        2.4.0 (5.0)        3.0.0 (6.0)
 *   counts           int                int                size_t
 *   arrays of them   const int *        const int *        ompi_count_array_t
 *   coll_reduce is   put in by the framework after enable  put in by enable, taken out by disable
 *   help texts       files              files              compiled into the library
 *   modex            opal's own pmix    PMIx itself        PMIx itself
 *   han, unfit,      what is installed  what is installed  the function before it
 *   ... calls
 *   failures (ULFM)  not there          where built in     where built in
 *   attribute copies an argument more   as MPI has it      as MPI has it
 *   device memory    CUDA, if built in  a framework        a framework
 *   ... copied by    coll/cuda          coll/cuda          coll/accelerator
 */
#ifndef COLL_CLV_COMPAT_H
#define COLL_CLV_COMPAT_H

#include "ompi_config.h"

#include <string.h>

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/base/coll_base_util.h"
#include "ompi/mca/coll/coll.h"
#include "opal/util/output.h"

#if defined(MCA_COLL_BASE_VERSION_2_4_0) || defined(MCA_COLL_BASE_VERSION_3_0_0)
#include "opal/mca/pmix/pmix-internal.h"
#define COLL_CLV_MODEX_GLOBAL PMIX_GLOBAL
#define COLL_CLV_MODEX_LOCAL  PMIX_LOCAL
typedef size_t coll_clv_modex_size_t;
#include "opal/mca/accelerator/base/base.h"
/* Whether a pointer of this process may point to device memory. */
#define COLL_CLV_COMPAT_HAS_DEVICES()                                                              \
    (0 != strcmp("null", opal_accelerator_base_selected_component.base_version.mca_component_name))
/* Copy function of an attribute that copies of a communicator do not get. */
#define COLL_CLV_COMPAT_NULL_COPY_FN MPI_COMM_NULL_COPY_FN
#else
#include "opal/mca/pmix/pmix.h"
#define COLL_CLV_MODEX_GLOBAL OPAL_PMIX_GLOBAL
#define COLL_CLV_MODEX_LOCAL  OPAL_PMIX_LOCAL
typedef int32_t coll_clv_modex_size_t;
#include "opal/runtime/opal_params.h"
#define COLL_CLV_COMPAT_HAS_DEVICES() opal_cuda_support
/* Open MPI passes it one argument more than MPI has; MPI_Comm_create_keyval casts functions,
 * too. */
#define COLL_CLV_COMPAT_NULL_COPY_FN                                                               \
    ((MPI_Comm_internal_copy_attr_function *) (void (*)(void)) MPI_COMM_NULL_COPY_FN)
#endif

#if defined(MCA_COLL_BASE_VERSION_3_0_0)
#define COLL_CLV_BASE_VERSION        MCA_COLL_BASE_VERSION_3_0_0
#define COLL_CLV_MODULE_INSTALLS     1
#define COLL_CLV_COMPONENT_POINTER() MCA_BASE_COMPONENT_INIT(ompi, coll, clv)
typedef size_t coll_clv_count_t;
typedef ompi_count_array_t coll_clv_counts_t;
typedef ompi_disp_array_t coll_clv_disps_t;
#else
#if defined(MCA_COLL_BASE_VERSION_2_4_0)
#define COLL_CLV_BASE_VERSION MCA_COLL_BASE_VERSION_2_4_0
#else
#define COLL_CLV_BASE_VERSION MCA_COLL_BASE_VERSION_2_0_0
#endif
#define COLL_CLV_MODULE_INSTALLS 0
#define COLL_CLV_COMPONENT_POINTER()
typedef int coll_clv_count_t;
typedef const int *coll_clv_counts_t;
typedef const int *coll_clv_disps_t;
#endif

#if defined(OPAL_ENABLE_FT_MPI)
#define COLL_CLV_HAS_ULFM OPAL_ENABLE_FT_MPI
#else
#define COLL_CLV_HAS_ULFM 0
#endif

/* 6.0: if a request already has a completion callback, Open MPI relies on that callback to free the
 * arrays that it copied for the request. */
#if defined(OMPI_REQ_NB_RELEASE_ARRAYS)
#define COLL_CLV_COMPAT_RELEASE_ARRAYS(request) coll_clv_release_arrays(request)
void coll_clv_release_arrays(struct ompi_request_t *request);
#else
#define COLL_CLV_COMPAT_RELEASE_ARRAYS(request) ((void) (request))
#endif

/* Gets a communicator's present function for a collective, and its module. */
#define COLL_CLV_COMPAT_GET(comm, name, function, module)                                          \
    ((function) = (comm)->c_coll->coll_##name, (module) = (comm)->c_coll->coll_##name##_module)

/* Sets both, in releases that leave it to the module. */
#if COLL_CLV_MODULE_INSTALLS
#define COLL_CLV_COMPAT_SET(comm, name, function, module)                                          \
    ((comm)->c_coll->coll_##name = (function), (comm)->c_coll->coll_##name##_module = (module))
#else
#define COLL_CLV_COMPAT_SET(comm, name, function, module) ((void) (comm))
#endif

#endif
