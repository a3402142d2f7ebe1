/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Hardware parts of a host: sockets, NUMA domains, groups that share a cache. hwloc reports them,
 * for this host or for the one that HWLOC_XMLFILE or HWLOC_SYNTHETIC describes, whose processors
 * then have this host's numbers. Without hwloc a host has one part of each kind.
 *
 * Not: sharing of a kernel, a clock or a network (util_place.h). Cost: some milliseconds, since
 * hwloc reads the machine; nothing for a process that is not bound.
 *
 * Units: numbers that mean nothing but equality, within a host.
 * Errors: none: unknown parts are 0.
 * Memory: none is left.
 * Threads: safe; the topology is its caller's.
 */
#ifndef CLV_UTIL_TOPOLOGY_H
#define CLV_UTIL_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

/* The part of each kind that holds a set of processors; 0 if no single part holds it, or there is
 * none. cache: the largest that several cores share, but not all of the machine. */
typedef struct clv_topology_parts {
    int32_t socket;
    int32_t numa;
    int32_t cache;
} clv_topology_parts_t;

/* Of the processors that the calling thread may run on. */
clv_topology_parts_t clv_topology_parts(void);

#if defined(CLV_HAVE_HWLOC)
#include CLV_HAVE_HWLOC /* its header: hwloc.h, or Open MPI's in its tree */

/* 1: it is loaded, and its caller's to destroy; pretended ones, too. Runs on no processor to ask
 * it. */
bool clv_topology_load(hwloc_topology_t *topology_p);

/* Asks the machine nothing. */
clv_topology_parts_t clv_topology_parts_of(hwloc_topology_t topology, hwloc_const_cpuset_t set);
#endif

#endif
