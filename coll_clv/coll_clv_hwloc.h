/* SPDX-License-Identifier: BSD-3-Clause
 *
 * In the tree of Open MPI: the hwloc that it was built with, its own copy included, whose functions
 * have other names. Modules that use hwloc include this by the name of CLV_HAVE_HWLOC.
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
