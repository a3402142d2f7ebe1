/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parts of a host: of three real machines, written as hwloc's synthetic words and read back as
 * the XML files that lstopo would make of them, and of this process on a pretended machine.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/test.h"
#include "util/util_topology.h"

#if defined(CLV_HAVE_HWLOC)

typedef struct part_case {
    const char *set; /* processors */
    int32_t socket, numa, cache;
} part_case_t;

typedef struct machine {
    const char *name, *words;
    part_case_t cases[8];
} machine_t;

static const machine_t machines[] = {
    /* One NUMA domain and one cache each for two sockets. */
    {"2 Xeon Gold 6130",
     "package:2 [numa] l3:1 core:16 pu:2",
     {{"0-1", 0, 0, 0},
      {"30", 0, 0, 0},
      {"32-33", 1, 1, 32},
      {"40-47", 1, 1, 32},
      {"30-33", 0, 0, 0}, /* in both */
      {"0-63", 0, 0, 0},
      {"64", 0, 0, 0}, /* not of this machine */
      {NULL, 0, 0, 0}}},
    /* NPS4: four domains a socket, four cores share a cache. */
    {"2 EPYC 7742",
     "package:2 group:4 [numa] l3:4 core:4 pu:2",
     {{"0-1", 0, 0, 0},
      {"8", 0, 0, 8},
      {"24-31", 0, 0, 24},
      {"30-33", 0, 0, 0}, /* of two domains */
      {"32", 0, 1, 32},
      {"128-129", 1, 4, 128},
      {"250-255", 1, 7, 248},
      {NULL, 0, 0, 0}}},
    /* Bulldozer: two dies a socket, two cores share an L2 and six or eight an L3. */
    {"4 Opteron 6274",
     "package:4 group:2 [numa] l3:1 l2:4 core:2 pu:1",
     {{"0", 0, 0, 0},
      {"2-3", 0, 0, 0},
      {"8", 0, 1, 8},
      {"14-15", 0, 1, 8},
      {"16", 1, 2, 16},
      {"63", 3, 7, 56},
      {"8-23", 0, 0, 0},
      {NULL, 0, 0, 0}}},
};

static void write_xml(const char *words, const char *path)
{
    hwloc_topology_t topology;

    assert_int_equal(hwloc_topology_init(&topology), 0);
    assert_int_equal(hwloc_topology_set_synthetic(topology, words), 0);
    assert_int_equal(hwloc_topology_load(topology), 0);
    assert_int_equal(hwloc_topology_export_xml(topology, path, 0), 0);
    hwloc_topology_destroy(topology);
}

/* Loads what the environment pretends, written from words before. */
static void pretend(const char *words, hwloc_topology_t *topology_p)
{
    char path[] = "/tmp/clv-topology-XXXXXX";
    const int file = mkstemp(path);

    assert_true(file >= 0);
    (void) close(file);
    write_xml(words, path);
    assert_int_equal(setenv("HWLOC_XMLFILE", path, 1), 0);
    assert_int_equal(clv_topology_load(topology_p), 1);
    assert_int_equal(unsetenv("HWLOC_XMLFILE"), 0);
    assert_int_equal(unlink(path), 0);
}

static void parts_of_real_machines_are_found(void **state)
{
    (void) state;
    for (size_t m = 0; m < sizeof machines / sizeof machines[0]; m++) {
        hwloc_topology_t topology;
        pretend(machines[m].words, &topology);
        for (const part_case_t *one = machines[m].cases; one->set != NULL; one++) {
            hwloc_bitmap_t set = hwloc_bitmap_alloc();
            assert_int_equal(hwloc_bitmap_list_sscanf(set, one->set), 0);
            const clv_topology_parts_t parts = clv_topology_parts_of(topology, set);
            if (parts.socket != one->socket || parts.numa != one->numa ||
                parts.cache != one->cache) {
                fail_msg("%s, %s: socket %d, numa %d, cache %d", machines[m].name, one->set,
                         (int) parts.socket, (int) parts.numa, (int) parts.cache);
            }
            hwloc_bitmap_free(set);
        }
        hwloc_topology_destroy(topology);
    }
}

static void a_machine_without_structure_has_one_part(void **state)
{
    hwloc_topology_t topology;
    hwloc_bitmap_t set = hwloc_bitmap_alloc();

    (void) state;
    pretend("pu:4", &topology);
    assert_int_equal(hwloc_bitmap_list_sscanf(set, "2"), 0);
    const clv_topology_parts_t parts = clv_topology_parts_of(topology, set);
    assert_true(parts.socket == 0 && parts.numa == 0 && parts.cache == 0);
    hwloc_topology_destroy(topology);
    hwloc_bitmap_free(set);
}

/* Bound to one processor after the other, on a machine with a socket for each. */
static void a_process_is_in_the_part_of_its_processor(void **state)
{
    cpu_set_t before, one;
    char words[64];
    const long n = sysconf(_SC_NPROCESSORS_CONF);

    (void) state;
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
        skip(); /* a process cannot be bound to a part of it */
    }
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    (void) snprintf(words, sizeof words, "package:%ld [numa] core:1 pu:1", n);
    assert_int_equal(setenv("HWLOC_SYNTHETIC", words, 1), 0);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &before)) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
            const clv_topology_parts_t parts = clv_topology_parts();
            assert_true(parts.socket == (int32_t) cpu && parts.numa == (int32_t) cpu &&
                        parts.cache == 0);
        }
    }
    assert_int_equal(unsetenv("HWLOC_SYNTHETIC"), 0);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

#endif

/* Unbound it is in none, whether hwloc is there or not. */
static void a_process_that_may_go_anywhere_is_in_none(void **state)
{
    cpu_set_t mask;

    (void) state;
    assert_int_equal(sched_getaffinity(0, sizeof mask, &mask), 0);
    if (CPU_COUNT(&mask) < sysconf(_SC_NPROCESSORS_ONLN)) {
        skip();
    }
    const clv_topology_parts_t parts = clv_topology_parts();
    assert_true(parts.socket == 0 && parts.numa == 0 && parts.cache == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#if defined(CLV_HAVE_HWLOC)
        cmocka_unit_test(parts_of_real_machines_are_found),
        cmocka_unit_test(a_machine_without_structure_has_one_part),
        cmocka_unit_test(a_process_is_in_the_part_of_its_processor),
#endif
        cmocka_unit_test(a_process_that_may_go_anywhere_is_in_none),
    };
    return clv_run_tests(tests);
}
