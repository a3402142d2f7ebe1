/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the background thread may run: on processors that none of the host's ranks is bound to, if
 * there are any. The kernel reports the launcher's bindings and the job's processors; hwloc, if
 * built in, reports which are hardware threads of one core and which are near (net_cores.h).
 *
 * Linux only, as is everything here. Cost with hwloc: it reads the machine's topology, once per
 * call, a few milliseconds.
 *
 * Units: processors counted.
 * Errors: none: if something cannot be found out, the thread stays where it is.
 * Memory: none is left; pids is read during the call.
 * Threads: safe; it moves the calling thread only.
 */
#ifndef CLV_NET_PLACE_H
#define CLV_NET_PLACE_H

#include <stdint.h>
#include <sys/types.h>

/* The calling thread moves to processors of the launcher that no thread of pids is bound to;
 * pids[0] is its own process. Returns how many those are; 0: there is none, or one of pids may be
 * anywhere, and the thread stays where it is. */
int clv_net_place_beside(const pid_t *pids, int32_t n_pids);

#endif
