/* SPDX-License-Identifier: BSD-3-Clause
 * See net_place.h. Uses hwloc or, if that is missing or cannot load, the kernel's masks alone.
 */
#include "pap_predict/net/net_place.h"

#include <sched.h>
#include <stddef.h>
#include <unistd.h>

#include "pap_predict/net/net_cores.h"
#include "util/util_topology.h"

/* ---- by masks ----------------------------------------------------------------------------- */

/* Removes the processors of every rank. A rank that cannot be asked may run anywhere. Masks have a
 * fixed size: with more than CPU_SETSIZE processors the kernel refuses them. */
static void remove_ranks(const pid_t *pids, int32_t n_pids, cpu_set_t *free_cpus)
{
    for (int32_t i = 0; i < n_pids; i++) {
        cpu_set_t theirs;
        if (sched_getaffinity(pids[i], sizeof theirs, &theirs) != 0) {
            CPU_ZERO(free_cpus);
            return;
        }
        for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
            if (CPU_ISSET(cpu, &theirs)) {
                CPU_CLR(cpu, free_cpus);
            }
        }
    }
}

static int place_by_masks(const pid_t *pids, int32_t n_pids)
{
    cpu_set_t free_cpus;
    /* The launcher's mask is what the user gave to the job; a wider one is not ours to use. */
    if (sched_getaffinity(getppid(), sizeof free_cpus, &free_cpus) != 0) {
        return 0;
    }
    remove_ranks(pids, n_pids, &free_cpus);
    if (CPU_COUNT(&free_cpus) == 0 || sched_setaffinity(0, sizeof free_cpus, &free_cpus) != 0) {
        return 0;
    }
    return CPU_COUNT(&free_cpus);
}

/* ---- by topology -------------------------------------------------------------------------- */

#if defined(CLV_HAVE_HWLOC)

/* A topology from a file or a string (HWLOC_SYNTHETIC) does not describe this machine. */
static bool load(hwloc_topology_t *topology_p)
{
    if (!clv_topology_load(topology_p)) {
        return false;
    }
    if (hwloc_topology_is_thissystem(*topology_p)) {
        return true;
    }
    hwloc_topology_destroy(*topology_p);
    return false;
}

/* The processors of all threads of all ranks, the program's own threads included. */
static bool ask_ranks(hwloc_topology_t topology, const pid_t *pids, int32_t n_pids,
                      hwloc_cpuset_t one, hwloc_cpuset_t taken)
{
    for (int32_t i = 0; i < n_pids; i++) {
        if (hwloc_get_proc_cpubind(topology, pids[i], one, HWLOC_CPUBIND_PROCESS) != 0) {
            return false;
        }
        hwloc_bitmap_or(taken, taken, one);
    }
    return true;
}

/* Binds the thread to its rank's processors again: a place found earlier must not count as
 * taken. */
static bool go_home(hwloc_topology_t topology, pid_t own, hwloc_cpuset_t home)
{
    return hwloc_get_proc_cpubind(topology, own, home, HWLOC_CPUBIND_THREAD) == 0 &&
           hwloc_set_cpubind(topology, home, HWLOC_CPUBIND_THREAD) == 0;
}

typedef struct sets {
    hwloc_cpuset_t allowed, taken, home, chosen;
} sets_t;

static int find_place(hwloc_topology_t topology, const pid_t *pids, int32_t n_pids, sets_t *sets)
{
    int n_cpus;
    if (!go_home(topology, pids[0], sets->home) ||
        !ask_ranks(topology, pids, n_pids, sets->chosen, sets->taken) ||
        hwloc_get_proc_cpubind(topology, getppid(), sets->allowed, HWLOC_CPUBIND_PROCESS) != 0) {
        return 0;
    }
    n_cpus = clv_net_cores_choose(topology, sets->allowed, sets->taken, sets->home, sets->chosen);
    return n_cpus > 0 && hwloc_set_cpubind(topology, sets->chosen, HWLOC_CPUBIND_THREAD) == 0
               ? n_cpus
               : 0;
}

/* -1: there is no topology. */
static int place_by_topology(const pid_t *pids, int32_t n_pids)
{
    hwloc_topology_t topology;
    int n_cpus = -1;
    if (!load(&topology)) {
        return -1;
    }
    sets_t sets = {hwloc_bitmap_alloc(), hwloc_bitmap_alloc(), hwloc_bitmap_alloc(),
                   hwloc_bitmap_alloc()};
    if (sets.allowed != NULL && sets.taken != NULL && sets.home != NULL && sets.chosen != NULL) {
        n_cpus = find_place(topology, pids, n_pids, &sets);
    }
    hwloc_bitmap_free(sets.allowed);
    hwloc_bitmap_free(sets.taken);
    hwloc_bitmap_free(sets.home);
    hwloc_bitmap_free(sets.chosen);
    hwloc_topology_destroy(topology);
    return n_cpus;
}

#else

static int place_by_topology(const pid_t *pids, int32_t n_pids)
{
    (void) pids;
    (void) n_pids;
    return -1;
}

#endif

int clv_net_place_beside(const pid_t *pids, int32_t n_pids)
{
    const int n_cpus = place_by_topology(pids, n_pids);
    return n_cpus >= 0 ? n_cpus : place_by_masks(pids, n_pids);
}
