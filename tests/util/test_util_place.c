/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where a process runs: the same for a process and its child, another namespace another number.
 */
#include <sched.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/test.h"
#include "util/util_place.h"

typedef struct place {
    uint64_t kernel, time, pid, net, link;
} place_t;

static place_t ask(void)
{
    place_t place = {.time = clv_place_namespace("time"),
                     .pid = clv_place_namespace("pid"),
                     .net = clv_place_namespace("net")};
    if (clv_place_kernel(&place.kernel) != CLV_OK) {
        place.kernel = 0;
    }
    if (clv_place_link(&place.link) != CLV_OK) {
        place.link = 0;
    }
    return place;
}

/* What a child sees, in a network namespace of its own if unshared; 0: not allowed to make one. */
static int ask_child(int unshared, place_t *place_p)
{
    int pipe_fds[2];
    assert_int_equal(pipe(pipe_fds), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (unshared && unshare(CLONE_NEWNET) != 0) {
            _exit(1);
        }
        const place_t place = ask();
        _exit(write(pipe_fds[1], &place, sizeof place) == (ssize_t) sizeof place ? 0 : 1);
    }
    (void) close(pipe_fds[1]);
    const ssize_t n_bytes = read(pipe_fds[0], place_p, sizeof *place_p);
    (void) close(pipe_fds[0]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    return n_bytes == (ssize_t) sizeof *place_p;
}

static void a_child_is_where_its_parent_is(void **state)
{
    (void) state;
    place_t child;
    const place_t mine = ask();
    assert_true(mine.kernel != 0 && mine.link != 0);
    assert_true(mine.pid != 0 && mine.net != 0 && mine.pid != mine.net);
    assert_true(ask_child(0, &child));
    assert_true(child.kernel == mine.kernel && child.time == mine.time && child.pid == mine.pid &&
                child.net == mine.net && child.link == mine.link);
}

static void another_namespace_has_another_number(void **state)
{
    (void) state;
    place_t child;
    const place_t mine = ask();
    if (!ask_child(1, &child)) {
        skip(); /* may not make one */
    }
    assert_true(child.net != mine.net && child.link != 0 && child.link != mine.link);
    assert_true(child.kernel == mine.kernel && child.time == mine.time);
}

/* As places were numbered from endpoint records: of one kernel and network, of another network, of
 * another kernel. */
static void links_are_numbered_in_the_order_of_their_first(void **state)
{
    static const uint64_t link[] = {71, 71, 72, 81, 77, 72};
    static const int32_t wanted[] = {0, 0, 1, 2, 3, 1};
    enum { N = sizeof link / sizeof link[0] };
    int32_t place[N];

    (void) state;
    assert_int_equal(clv_place_number_links(link, N, place), 4);
    assert_memory_equal(place, wanted, sizeof place);
    assert_int_equal(clv_place_number_links(link, 2, place), 1);
    assert_int_equal(clv_place_number_links(link, 0, place), 0);
}

static void an_unknown_kind_is_0(void **state)
{
    (void) state;
    assert_true(clv_place_namespace("no-such-kind") == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_is_where_its_parent_is),
        cmocka_unit_test(another_namespace_has_another_number),
        cmocka_unit_test(links_are_numbered_in_the_order_of_their_first),
        cmocka_unit_test(an_unknown_kind_is_0),
    };
    return clv_run_tests(tests);
}
