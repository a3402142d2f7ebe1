/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the background thread goes: on pretended machines by topology, and on this one.
 */
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pap_predict/net/net_cores.h"
#include "pap_predict/net/net_place.h"
#include "tests/support/test.h"

#if defined(CLV_HAVE_HWLOC)

typedef struct place_case {
    const char *machine;                  /* as HWLOC_SYNTHETIC; processors are numbered through */
    const char *allowed, *taken, *leader; /* lists of processors */
    const char *chosen;
} place_case_t;

/* Two packages of two NUMA hosts of four cores of two threads: 0-31. */
#define BIG "package:2 group:2 [numa] core:4 pu:2"

static const place_case_t cases[] = {
    /* One rank a core, one core left on its host: that core, both threads. */
    {BIG, "0-31", "0-5", "0-1", "6-7"},
    /* Several left there: any of them. */
    {BIG, "0-31", "0-1", "0-1", "2-7"},
    /* The host is full: the other host of the package, not the other package. */
    {BIG, "0-31", "0-7,16-17", "0-1", "8-15"},
    /* The package is full. */
    {BIG, "0-31", "0-15", "4-5", "16-31"},
    /* The leader is in the second package. */
    {BIG, "0-31", "16-17", "16-17", "18-23"},
    /* Ranks on one thread of each core: no whole core is free, but the leader's second thread
     * is. */
    {BIG, "0-31", "0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30", "2", "3"},
    /* A far whole core is better than a near second thread of a rank's core. */
    {BIG, "0-31", "0,2,4,6,8,10,12,14,16,18,20,22,24,26,28", "0", "30-31"},
    /* Only what the job may use: half a core of it will do, if no rank is on the other half. */
    {BIG, "0-3,6", "0-1", "0-1", "2-3,6"},
    {BIG, "0-2", "0-1", "0-1", "2"},
    /* Nothing free; ranks that may be anywhere; a job of one core. */
    {BIG, "0-31", "0-31", "0-1", ""},
    {BIG, "0-1", "0-1", "0-1", ""},
    /* Ranks in pairs on a core, unbound within it. */
    {BIG, "0-7", "0-3", "0-3", "4-7"},
    /* No hardware threads, and a machine without any structure. */
    {"core:4 pu:1", "0-3", "0,1", "0", "2-3"},
    {"pu:4", "0-3", "0,1,2", "1", "3"},
    /* The nearest cache decides within a package. */
    {"package:1 l3:2 core:2 pu:1", "0-3", "2", "2", "3"},
};

static hwloc_cpuset_t set_of(const char *list)
{
    hwloc_cpuset_t set = hwloc_bitmap_alloc();
    assert_non_null(set);
    assert_int_equal(hwloc_bitmap_list_sscanf(set, list), 0);
    return set;
}

static void check_case(const place_case_t *one)
{
    hwloc_topology_t topology;
    hwloc_cpuset_t allowed = set_of(one->allowed), taken = set_of(one->taken);
    hwloc_cpuset_t leader = set_of(one->leader), want = set_of(one->chosen);
    hwloc_cpuset_t chosen = hwloc_bitmap_alloc_full(); /* must be overwritten */
    char text[128];
    assert_int_equal(hwloc_topology_init(&topology), 0);
    assert_int_equal(hwloc_topology_set_synthetic(topology, one->machine), 0);
    assert_int_equal(hwloc_topology_load(topology), 0);
    assert_int_equal(clv_net_cores_choose(topology, allowed, taken, leader, chosen),
                     hwloc_bitmap_weight(want));
    (void) hwloc_bitmap_list_snprintf(text, sizeof text, chosen);
    assert_string_equal(text, one->chosen);
    hwloc_topology_destroy(topology);
    hwloc_bitmap_free(allowed);
    hwloc_bitmap_free(taken);
    hwloc_bitmap_free(leader);
    hwloc_bitmap_free(want);
    hwloc_bitmap_free(chosen);
}

static void the_nearest_free_cores_are_chosen(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_case(&cases[i]);
    }
}

#endif

/* ---- this machine ------------------------------------------------------------------------- */

static int first_cpu(const cpu_set_t *set)
{
    int cpu = 0;
    while (!CPU_ISSET((size_t) cpu, set)) {
        cpu++;
    }
    return cpu;
}

/* A rank of a launcher (this program), bound to one processor of its own. 0: as it should be. */
static int place_beside_one_processor(int binds)
{
    cpu_set_t all, mine, found;
    const pid_t own = getpid();
    if (sched_getaffinity(0, sizeof all, &all) != 0) {
        return 1;
    }
    const int cpu = first_cpu(&all);
    CPU_ZERO(&mine);
    CPU_SET((size_t) cpu, &mine);
    if (binds && sched_setaffinity(0, sizeof mine, &mine) != 0) {
        return 2;
    }
    /* This process's only thread plays both: bound first, and then the one that moves. */
    const int n_cpus = clv_net_place_beside(&own, 1);
    (void) sched_getaffinity(0, sizeof found, &found);
    if (!binds || CPU_COUNT(&all) == 1) {
        return n_cpus == 0 ? 0 : 3;
    }
    return n_cpus > 0 && CPU_COUNT(&found) == n_cpus && !CPU_ISSET((size_t) cpu, &found) ? 0 : 4;
}

static int in_child(int binds)
{
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
        _exit(place_beside_one_processor(binds));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void a_bound_rank_gets_its_thread_elsewhere(void **state)
{
    (void) state;
    if (HAS_OTHER_THREADS) {
        print_message("# skipped: no processor is free of this process\n");
        return;
    }
    assert_int_equal(in_child(1), 0);
}

static void beside_unbound_ranks_it_stays(void **state)
{
    (void) state;
    assert_int_equal(in_child(0), 0);
}

/* A topology of words is not this machine: then the masks decide, with the same result. */
static void a_pretended_machine_is_not_believed(void **state)
{
    (void) state;
    assert_int_equal(setenv("HWLOC_SYNTHETIC", "package:2 core:2 pu:1", 1), 0);
    assert_int_equal(in_child(1), 0);
    assert_int_equal(unsetenv("HWLOC_SYNTHETIC"), 0);
}

static void who_cannot_be_asked_may_be_anywhere(void **state)
{
    const pid_t gone[] = {getpid(), 0x3fffffff};
    (void) state;
    assert_int_equal(clv_net_place_beside(gone, 2), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#if defined(CLV_HAVE_HWLOC)
        cmocka_unit_test(the_nearest_free_cores_are_chosen),
#endif
        cmocka_unit_test(a_bound_rank_gets_its_thread_elsewhere),
        cmocka_unit_test(beside_unbound_ranks_it_stays),
        cmocka_unit_test(a_pretended_machine_is_not_believed),
        cmocka_unit_test(who_cannot_be_asked_may_be_anywhere),
    };
    return clv_run_tests(tests);
}
