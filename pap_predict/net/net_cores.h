/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which processors the background thread should have, from a topology. PURE: asks the machine
 * nothing, so that a test can play any machine.
 *
 * Only where hwloc is (CLV_HAVE_HWLOC). Any thread, on distinct topologies and sets.
 */
#ifndef CLV_NET_CORES_H
#define CLV_NET_CORES_H

#if defined(CLV_HAVE_HWLOC)
#include CLV_HAVE_HWLOC /* its header: hwloc.h, or Open MPI's in its tree */

/* allowed: processors the job may use; taken: those that ranks are bound to; leader: those of the
 * thread's own rank. Fills chosen with whole cores that no rank touches, those nearest to the
 * leader in the tree (its cache, its NUMA node, its package, else anywhere); where each core has a
 * rank, with the second hardware threads beside ranks, again the nearest. Returns how many
 * processors these are; 0, and chosen empty: none is free. */
int clv_net_cores_choose(hwloc_topology_t topology, hwloc_const_cpuset_t allowed,
                         hwloc_const_cpuset_t taken, hwloc_const_cpuset_t leader,
                         hwloc_cpuset_t chosen);
#endif

#endif
