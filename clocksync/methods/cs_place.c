/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The identity of the clock that this process reads, and of the place where it runs (util_place.h,
 * util_topology.h). The levels of H2HCA and H3HCA are made from these. Asked once at start.
 *
 * The boot id (one per kernel) decides and, for time, also the time namespace: processes in two
 * time namespaces of one kernel read different clocks.
 */
#include <string.h>

#include "clocksync/cs_internal.h"
#include "clocksync/methods/cs_methods.h"
#include "util/util_hash.h"
#include "util/util_place.h"
#include "util/util_topology.h"

/* The name tells kinds of clocks apart. A pretence is a clock of its own, and so is one that a
 * process has calibrated for itself: two such clocks are the same only if their numbers are. */
static uint64_t hash_clock(uint64_t hash, const clv_cs_clock_t *clock)
{
    hash = clv_fnv1a64(hash, clock->name, strlen(clock->name));
    hash = clv_fnv1a64(hash, &clock->start_ns, sizeof clock->start_ns);
    hash = clv_fnv1a64(hash, &clock->offset_ns, sizeof clock->offset_ns);
    hash = clv_fnv1a64(hash, &clock->rate, sizeof clock->rate);
    return clock->base != NULL ? hash_clock(hash, clock->base) : hash;
}

clv_status_t clv_cs_place_discover(const clv_cs_clock_t *clock, clv_cs_place_t *place_p)
{
    clv_cs_place_t place = {0};
    if (clv_place_kernel(&place.host) != CLV_OK) {
        return CLV_UNSUPPORTED;
    }
    const uint64_t namespace_id = clv_place_namespace("time");
    place.time_source = clv_fnv1a64(place.host, &namespace_id, sizeof namespace_id);
    if (clock != NULL) {
        place.time_source = hash_clock(place.time_source, clock);
    }
    const clv_topology_parts_t parts = clv_topology_parts();
    place.part[CLV_CS_PART_SOCKET] = parts.socket;
    place.part[CLV_CS_PART_NUMA] = parts.numa;
    place.part[CLV_CS_PART_CACHE] = parts.cache;
    *place_p = place;
    return CLV_OK;
}
