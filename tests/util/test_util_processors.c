/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which processors a process may use, by its affinity and by files as the kernel writes them, and
 * when the processes of a host must share theirs.
 */
#include "util/util_processors.h"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/test.h"

static void quotas_are_read_as_the_kernel_writes_them(void **state)
{
    (void) state;
    assert_int_equal(clv_processors_quota("max 100000\n"), 0);
    assert_int_equal(clv_processors_quota("100000 100000\n"), 1000);
    assert_int_equal(clv_processors_quota("150000 100000\n"), 1500);
    assert_int_equal(clv_processors_quota("25000 50000"), 500);
    assert_int_equal(clv_processors_quota(""), 0);
    assert_int_equal(clv_processors_quota("100000"), 0);
    assert_int_equal(clv_processors_quota("100000 0"), 0);
    assert_int_equal(clv_processors_quota("99999999999999999999 100000"), 0);
    assert_int_equal(clv_processors_old_quota("-1\n", "100000\n"), 0);
    assert_int_equal(clv_processors_old_quota("200000\n", "100000\n"), 2000);
    assert_int_equal(clv_processors_old_quota("", "100000\n"), 0);
    assert_int_equal(clv_processors_old_quota("200000\n", ""), 0);
}

/* ---- files ----------------------------------------------------------------------------------- */

static char root[] = "/tmp/clv-processors-XXXXXX";

static void make_folders(char *path)
{
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        (void) mkdir(path, S_IRWXU);
        *at = '/';
    }
}

static void write_file(const char *name, const char *text)
{
    char path[512];
    FILE *file;

    (void) snprintf(path, sizeof path, "%s%s", root, name);
    make_folders(path);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int begin(void **state)
{
    (void) state;
    (void) snprintf(root, sizeof root, "/tmp/clv-processors-XXXXXX");
    return mkdtemp(root) == NULL ? -1 : 0;
}

static int end(void **state)
{
    char command[64];

    (void) state;
    (void) snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

static clv_processors_t look(void)
{
    clv_processors_t found;

    clv_processors_read(root, &found);
    return found;
}

static void without_files_there_is_no_quota(void **state)
{
    (void) state;
    assert_int_equal(look().quota_group, 0);
}

static void the_affinity_is_this_process_s_own(void **state)
{
    cpu_set_t allowed;
    const clv_processors_t found = look();
    int n = 0;

    (void) state;
    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    for (int i = 0; i < CLV_PROCESSORS_WORDS; i++) {
        n += __builtin_popcountll(found.may_use[i]);
    }
    assert_int_equal(n, CPU_COUNT(&allowed));
}

static void the_tightest_group_of_version_2_counts(void **state)
{
    clv_processors_t outer;

    (void) state;
    write_file("/proc/self/cgroup", "0::/job/step/task\n");
    write_file("/proc/self/mountinfo",
               "1 0 0:1 / / rw - ext4 /dev/vda rw\n"
               "30 1 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
    write_file("/sys/fs/cgroup/job/cpu.max", "400000 100000\n");
    write_file("/sys/fs/cgroup/job/step/cpu.max", "150000 100000\n");
    write_file("/sys/fs/cgroup/job/step/task/cpu.max", "max 100000\n");
    assert_int_equal(look().quota_permille, 1500);
    assert_int_not_equal(look().quota_group, 0);

    write_file("/sys/fs/cgroup/job/cpu.max", "150000 100000\n");
    outer = look();
    write_file("/sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
    assert_int_equal(look().quota_group, outer.quota_group);
}

static void version_1_is_found_by_its_controller(void **state)
{
    (void) state;
    write_file("/proc/self/cgroup", "4:memory:/other\n3:cpu,cpuacct:/batch\n0::/\n");
    write_file("/proc/self/mountinfo",
               "31 30 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
               "32 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
    write_file("/sys/fs/cgroup/cpu,cpuacct/batch/cpu.cfs_quota_us", "100000\n");
    write_file("/sys/fs/cgroup/cpu,cpuacct/batch/cpu.cfs_period_us", "100000\n");
    write_file("/sys/fs/cgroup/cpu,cpuacct/other/cpu.cfs_quota_us", "1000\n");
    write_file("/sys/fs/cgroup/cpu,cpuacct/other/cpu.cfs_period_us", "100000\n");
    assert_int_equal(look().quota_permille, 1000);
}

/* Its own group is the top of the mount; /proc says the path on the host, or one that leads out. */
static void a_container_sees_its_own_group(void **state)
{
    static const char *const groups[] = {"0::/docker/abc\n", "0::/\n", "0::/../../elsewhere\n"};

    (void) state;
    write_file("/proc/self/mountinfo",
               "30 1 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw,nsdelegate\n");
    write_file("/sys/fs/cgroup/cpu.max", "200000 100000\n");
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        write_file("/proc/self/cgroup", groups[i]);
        assert_int_equal(look().quota_permille, 2000);
    }
}

/* ---- sharing --------------------------------------------------------------------------------- */

static clv_processors_t may_use(uint64_t processors)
{
    return (clv_processors_t){.may_use = {processors}};
}

static void more_ranks_than_processors_share_them(void **state)
{
    const clv_processors_t of[] = {may_use(3), may_use(3), may_use(3)};

    (void) state;
    assert_true(clv_processors_are_shared(of, 3, 3));
    assert_false(clv_processors_are_shared(of, 2, 2));
    assert_true(clv_processors_are_shared(of, 2, 3)); /* one has not said what it may use */
    assert_false(clv_processors_are_shared(of, 1, 1));
}

static void bound_ranks_do_not_share_unless_two_are_bound_to_one(void **state)
{
    const clv_processors_t apart[] = {may_use(1), may_use(2), may_use(4), may_use(8)};
    const clv_processors_t twice[] = {may_use(1), may_use(1), may_use(0xf4), may_use(0xf8)};

    (void) state;
    assert_false(clv_processors_are_shared(apart, 4, 4));
    assert_true(clv_processors_are_shared(twice, 4, 4));
}

static void overlapping_affinities_count_once(void **state)
{
    const clv_processors_t of[] = {may_use(3), may_use(1), may_use(2)};

    (void) state;
    assert_true(clv_processors_are_shared(of, 3, 3));
}

static void a_quota_is_shared_by_those_under_it(void **state)
{
    clv_processors_t of[] = {may_use(0xff), may_use(0xff), may_use(0xff)};

    (void) state;
    of[0].quota_group = of[1].quota_group = 7;
    of[0].quota_permille = of[1].quota_permille = 2000;
    assert_false(clv_processors_are_shared(of, 3, 3));
    of[0].quota_permille = of[1].quota_permille = 1999;
    assert_true(clv_processors_are_shared(of, 3, 3));
    of[1].quota_group = 8; /* each has its own */
    assert_false(clv_processors_are_shared(of, 3, 3));
}

static void nothing_known_is_nothing_shared(void **state)
{
    const clv_processors_t of[] = {may_use(0), may_use(0)};

    (void) state;
    assert_false(clv_processors_are_shared(of, 2, 2));
    assert_false(clv_processors_are_shared(NULL, 0, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotas_are_read_as_the_kernel_writes_them),
        cmocka_unit_test_setup_teardown(without_files_there_is_no_quota, begin, end),
        cmocka_unit_test_setup_teardown(the_affinity_is_this_process_s_own, begin, end),
        cmocka_unit_test_setup_teardown(the_tightest_group_of_version_2_counts, begin, end),
        cmocka_unit_test_setup_teardown(version_1_is_found_by_its_controller, begin, end),
        cmocka_unit_test_setup_teardown(a_container_sees_its_own_group, begin, end),
        cmocka_unit_test(more_ranks_than_processors_share_them),
        cmocka_unit_test(bound_ranks_do_not_share_unless_two_are_bound_to_one),
        cmocka_unit_test(overlapping_affinities_count_once),
        cmocka_unit_test(a_quota_is_shared_by_those_under_it),
        cmocka_unit_test(nothing_known_is_nothing_shared),
    };
    return clv_run_tests(tests);
}
