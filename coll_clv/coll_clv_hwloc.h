/* SPDX-License-Identifier: BSD-3-Clause
 *
 * In Open MPI's source tree: the hwloc that it was built with, including its own copy, whose
 * functions have other names. Modules that use hwloc include this header through CLV_HAVE_HWLOC.
 *
 * Units: none.
 * Errors: none.
 * Memory: none.
 * Threads: as hwloc's.
 */
#ifndef COLL_CLV_HWLOC_H
#define COLL_CLV_HWLOC_H

#include "opal_config.h"

#include "opal/mca/hwloc/hwloc-internal.h"

#endif
