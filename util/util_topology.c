/* SPDX-License-Identifier: BSD-3-Clause
 * See util_topology.h.
 */
#include "util/util_topology.h"

#include <sched.h>
#include <unistd.h>

#if defined(CLV_HAVE_HWLOC)

/* What Linux reports is enough. hwloc's x86 component would run on each processor in turn to query
 * it, also on those of other ranks. */
bool clv_topology_load(hwloc_topology_t *topology_p)
{
    if (hwloc_get_api_version() >> 16 != HWLOC_API_VERSION >> 16 ||
        hwloc_topology_init(topology_p) != 0) {
        return false;
    }
#if HWLOC_API_VERSION >= 0x00020100
    (void) hwloc_topology_set_components(*topology_p, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
                                         "x86");
#endif
    if (hwloc_topology_load(*topology_p) == 0) {
        return true;
    }
    hwloc_topology_destroy(*topology_p);
    return false;
}

static int n_cores(hwloc_topology_t topology, hwloc_obj_t object)
{
    const int n = hwloc_get_nbobjs_inside_cpuset_by_type(topology, object->cpuset, HWLOC_OBJ_CORE);

    return n > 0 ? n : hwloc_bitmap_weight(object->cpuset); /* no cores are reported */
}

static bool is_data_cache(hwloc_obj_t object)
{
#if HWLOC_API_VERSION >= 0x00020000
    return hwloc_obj_type_is_dcache(object->type);
#else
    return object->type == HWLOC_OBJ_CACHE;
#endif
}

/* The smallest object of a type that holds the set; of equal ones the first. Memory that belongs to
 * all domains, or to none, is as large as the host and is therefore none of them. */
static int32_t smallest_around(hwloc_topology_t topology, hwloc_obj_type_t type,
                               hwloc_const_cpuset_t set)
{
    hwloc_obj_t object = NULL;
    int32_t found = 0;
    int least = hwloc_bitmap_weight(hwloc_topology_get_topology_cpuset(topology));

    while ((object = hwloc_get_next_obj_by_type(topology, type, object)) != NULL) {
        if (hwloc_bitmap_isincluded(set, object->cpuset) &&
            hwloc_bitmap_weight(object->cpuset) < least) {
            least = hwloc_bitmap_weight(object->cpuset);
            found = (int32_t) object->logical_index;
        }
    }
    return found;
}

/* The number is that of the cache's first processor. hwloc numbers the caches of one level, but on
 * a host with two kinds of cores these caches may be of different levels. */
static int32_t cache_around(hwloc_topology_t topology, hwloc_const_cpuset_t set)
{
    const int n_all = hwloc_bitmap_weight(hwloc_topology_get_topology_cpuset(topology));
    int32_t found = 0;

    for (hwloc_obj_t object = hwloc_get_obj_covering_cpuset(topology, set); object != NULL;
         object = object->parent) {
        if (is_data_cache(object) && n_cores(topology, object) > 1 &&
            hwloc_bitmap_weight(object->cpuset) < n_all) {
            found = hwloc_bitmap_first(object->cpuset);
        }
    }
    return found;
}

clv_topology_parts_t clv_topology_parts_of(hwloc_topology_t topology, hwloc_const_cpuset_t set)
{
    clv_topology_parts_t parts = {0};
    hwloc_bitmap_t ours = hwloc_bitmap_alloc();

    if (ours != NULL) {
        hwloc_bitmap_and(ours, set, hwloc_topology_get_topology_cpuset(topology));
        if (!hwloc_bitmap_iszero(ours)) {
            parts.socket = smallest_around(topology, HWLOC_OBJ_PACKAGE, ours);
            parts.numa = smallest_around(topology, HWLOC_OBJ_NUMANODE, ours);
            parts.cache = cache_around(topology, ours);
        }
        hwloc_bitmap_free(ours);
    }
    return parts;
}

/* Whether the mask leaves out some of the processors. */
static bool is_bound(const cpu_set_t *mask)
{
    return CPU_COUNT(mask) < sysconf(_SC_NPROCESSORS_ONLN);
}

clv_topology_parts_t clv_topology_parts(void)
{
    clv_topology_parts_t parts = {0};
    hwloc_topology_t topology;
    cpu_set_t mask;

    if (sched_getaffinity(0, sizeof mask, &mask) != 0 || !is_bound(&mask) ||
        !clv_topology_load(&topology)) {
        return parts;
    }
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    for (unsigned cpu = 0; set != NULL && cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &mask)) {
            hwloc_bitmap_set(set, cpu);
        }
    }
    if (set != NULL) {
        parts = clv_topology_parts_of(topology, set);
    }
    hwloc_bitmap_free(set);
    hwloc_topology_destroy(topology);
    return parts;
}

#else

clv_topology_parts_t clv_topology_parts(void)
{
    return (clv_topology_parts_t){0};
}

#endif
