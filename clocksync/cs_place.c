/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where this process runs, and whose clock it reads: what the levels of H2HCA and H3HCA are made
 * of. Read once at start from /proc and /sys; a few system calls, no heap.
 *
 * Host names are not trusted: containers share or fake them. What decides is the boot id (one per
 * kernel) and, for time, the time namespace: two of them on one kernel read different clocks.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clocksync/cs_internal.h"
#include "util/util_hash.h"

/* Returns how many bytes, 0 if the file cannot be read. */
static size_t read_small_file(const char *path, char *text, size_t n_bytes)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return 0;
    }
    const ssize_t n = read(file, text, n_bytes - 1);
    (void) close(file);
    text[n > 0 ? n : 0] = '\0';
    return n > 0 ? (size_t) n : 0;
}

/* 0 on kernels without time namespaces: there is only one then. */
static uint64_t time_namespace(void)
{
    struct stat status;
    return stat("/proc/self/ns/time", &status) == 0 ? (uint64_t) status.st_ino : 0;
}

static int32_t socket_of_cpu(size_t cpu)
{
    char path[96], text[16];
    int32_t socket;
    (void) snprintf(path, sizeof path,
                    "/sys/devices/system/cpu/cpu%zu/topology/physical_package_id", cpu);
    if (read_small_file(path, text, sizeof text) == 0 || sscanf(text, "%d", &socket) != 1) {
        return 0;
    }
    return socket > 0 ? socket : 0;
}

/* The socket that every CPU we may run on belongs to; 0 when there is no such one. */
static int32_t my_socket(void)
{
    cpu_set_t allowed;
    int32_t socket = -1;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return 0;
    }
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed)) {
            continue;
        }
        const int32_t its = socket_of_cpu(cpu);
        if (socket >= 0 && its != socket) {
            return 0;
        }
        socket = its;
    }
    return socket > 0 ? socket : 0;
}

/* The name tells one kind of clock from another; a pretence makes it one of its own. */
static uint64_t hash_clock(uint64_t hash, const clv_cs_clock_t *clock)
{
    hash = clv_fnv1a64(hash, clock->name, strlen(clock->name));
    if (clock->base != NULL) {
        hash = clv_fnv1a64(hash, &clock->start_ns, sizeof clock->start_ns);
        hash = clv_fnv1a64(hash, &clock->offset_ns, sizeof clock->offset_ns);
        hash = clv_fnv1a64(hash, &clock->rate, sizeof clock->rate);
        hash = hash_clock(hash, clock->base);
    }
    return hash;
}

clv_status_t clv_cs_place_discover(const clv_cs_clock_t *clock, clv_cs_place_t *place_p)
{
    char boot_id[64];
    const size_t n = read_small_file("/proc/sys/kernel/random/boot_id", boot_id, sizeof boot_id);
    if (n == 0) {
        return CLV_UNSUPPORTED;
    }
    clv_cs_place_t place = {0};
    const uint64_t namespace_id = time_namespace();
    place.node = clv_fnv1a64(CLV_FNV1A64_BASIS, boot_id, n);
    place.time_source = clv_fnv1a64(place.node, &namespace_id, sizeof namespace_id);
    if (clock != NULL) {
        place.time_source = hash_clock(place.time_source, clock);
    }
    place.socket = my_socket();
    *place_p = place;
    return CLV_OK;
}
