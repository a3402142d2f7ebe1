/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which processors the background thread should have, from a topology. PURE: does not ask the
 * machine, so a test can simulate any machine.
 *
 * Built only with hwloc (CLV_HAVE_HWLOC). Any thread, on distinct topologies and sets.
 */
#ifndef CLV_NET_CORES_H
#define CLV_NET_CORES_H

#if defined(CLV_HAVE_HWLOC)
#include CLV_HAVE_HWLOC /* its header: hwloc.h, or Open MPI's copy */

/* allowed: processors that the job may use. taken: those that ranks are bound to. leader: those of
 * the thread's own rank. Sets chosen to whole cores that no rank uses, those nearest to the leader
 * in the tree (same cache, NUMA host, package, else anywhere). If each core has a rank, sets it to
 * the nearest second hardware threads beside ranks. Returns the number of processors; 0, with
 * chosen empty: none is free. */
int clv_net_cores_choose(hwloc_topology_t topology, hwloc_const_cpuset_t allowed,
                         hwloc_const_cpuset_t taken, hwloc_const_cpuset_t leader,
                         hwloc_cpuset_t chosen);
#endif

#endif
