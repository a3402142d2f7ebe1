/* SPDX-License-Identifier: BSD-3-Clause
 * See net_cores.h. Built only where hwloc is.
 */
#include "pap_predict/net/net_cores.h"

/* How near an object is to the leader: the depth of their common ancestor; deeper is nearer. */
static int nearness(hwloc_topology_t topology, hwloc_obj_t object, hwloc_obj_t home)
{
    return home == NULL ? 0 : hwloc_get_common_ancestor_obj(topology, object, home)->depth;
}

/* Adds the object's processors to the nearest ones so far; replaces those if the object is
 * nearer. */
static void consider(int nearness_now, hwloc_const_cpuset_t free_now, int *nearest_p,
                     hwloc_cpuset_t chosen)
{
    if (nearness_now > *nearest_p) {
        *nearest_p = nearness_now;
        hwloc_bitmap_zero(chosen);
    }
    if (nearness_now == *nearest_p) {
        hwloc_bitmap_or(chosen, chosen, free_now);
    }
}

/* The nearest objects of a type that no rank uses. */
static void choose_among(hwloc_topology_t topology, hwloc_obj_type_t type,
                         hwloc_const_cpuset_t allowed, hwloc_const_cpuset_t taken, hwloc_obj_t home,
                         hwloc_cpuset_t chosen)
{
    hwloc_cpuset_t free_now = hwloc_bitmap_alloc();
    hwloc_obj_t object = NULL;
    int nearest = -1;

    while (free_now != NULL &&
           (object = hwloc_get_next_obj_by_type(topology, type, object)) != NULL) {
        hwloc_bitmap_and(free_now, object->cpuset, allowed);
        if (!hwloc_bitmap_intersects(object->cpuset, taken) && !hwloc_bitmap_iszero(free_now)) {
            consider(nearness(topology, object, home), free_now, &nearest, chosen);
        }
    }
    hwloc_bitmap_free(free_now);
}

int clv_net_cores_choose(hwloc_topology_t topology, hwloc_const_cpuset_t allowed,
                         hwloc_const_cpuset_t taken, hwloc_const_cpuset_t leader,
                         hwloc_cpuset_t chosen)
{
    const hwloc_obj_type_t types[] = {HWLOC_OBJ_CORE, HWLOC_OBJ_PU};
    hwloc_obj_t home = hwloc_get_obj_covering_cpuset(topology, leader);

    hwloc_bitmap_zero(chosen);
    for (int i = 0; i < 2 && hwloc_bitmap_iszero(chosen); i++) {
        choose_among(topology, types[i], allowed, taken, home, chosen);
    }
    return hwloc_bitmap_weight(chosen);
}
