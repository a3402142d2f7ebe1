/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A limit of the process that the kernel tells by a signal: the call that meets it fails, and the
 * program has not heard of it.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/support/test.h"
#include "util/util_limit.h"

#define LIMIT ((off_t) 65536)

static volatile sig_atomic_t n_heard;

static void hear(int number)
{
    (void) number;
    n_heard++;
}

static void set_limit(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* One call that the limit refuses. */
static void meet_the_limit(int is_guarded)
{
    clv_limit_guard_t guard;
    int fd = memfd_create("limit", 0);
    assert_true(fd >= 0);
    if (is_guarded) {
        clv_limit_begin(&guard);
    }
    assert_int_equal(ftruncate(fd, LIMIT + 1), -1);
    if (is_guarded) {
        clv_limit_end(&guard);
    }
    assert_int_equal(errno, EFBIG);
    (void) close(fd);
}

static int is_blocked(void)
{
    sigset_t mask;
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
    return sigismember(&mask, SIGXFSZ);
}

static int is_waiting(void)
{
    sigset_t waiting;
    assert_int_equal(sigpending(&waiting), 0);
    return sigismember(&waiting, SIGXFSZ);
}

static void the_signal_is_the_error_alone(void **state)
{
    const struct sigaction hearing = {.sa_handler = hear};
    struct sigaction before, now;
    (void) state;
    assert_int_equal(sigaction(SIGXFSZ, &hearing, &before), 0);
    n_heard = 0;
    meet_the_limit(0);
    assert_int_equal(n_heard, 1); /* it is the kernel that sends one */
    meet_the_limit(1);
    assert_int_equal(n_heard, 1);
    assert_false(is_blocked());
    assert_false(is_waiting());
    assert_int_equal(sigaction(SIGXFSZ, &before, &now), 0);
    assert_true(now.sa_handler == hear);
}

static void one_that_waits_already_still_does(void **state)
{
    const struct timespec at_once = {0, 0};
    sigset_t set;
    (void) state;
    (void) sigemptyset(&set);
    (void) sigaddset(&set, SIGXFSZ);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
    meet_the_limit(0);
    assert_true(is_waiting());
    meet_the_limit(1);
    assert_true(is_waiting());
    assert_true(is_blocked());
    assert_int_equal(sigtimedwait(&set, NULL, &at_once), SIGXFSZ);
    meet_the_limit(1);
    assert_false(is_waiting());
    assert_int_equal(pthread_sigmask(SIG_UNBLOCK, &set, NULL), 0);
}

static void programs_of_ours_have_errors(void **state)
{
    struct sigaction before;
    (void) state;
    assert_int_equal(sigaction(SIGXFSZ, NULL, &before), 0);
    clv_limit_as_errors();
    meet_the_limit(0);
    assert_int_equal(sigaction(SIGXFSZ, &before, NULL), 0);
}

static void the_limit_is_known_and_named(void **state)
{
    char text[100];
    (void) state;
    assert_int_equal(clv_limit_file_bytes(), LIMIT);
    set_limit(RLIM_INFINITY);
    assert_true(clv_limit_file_bytes() == INT64_MAX);
    set_limit((rlim_t) LIMIT);
    clv_limit_text(EFBIG, text, sizeof text);
    assert_string_equal(text, "File too large (raise ulimit -f)");
    clv_limit_text(ENOENT, text, sizeof text);
    assert_string_equal(text, "No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_signal_is_the_error_alone),
        cmocka_unit_test(one_that_waits_already_still_does),
        cmocka_unit_test(programs_of_ours_have_errors),
        cmocka_unit_test(the_limit_is_known_and_named),
    };
    struct rlimit limit;
    /* What follows is written to a pipe or a file that is far below it. */
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_max != RLIM_INFINITY) {
        return 77;
    }
    limit.rlim_cur = (rlim_t) LIMIT;
    return setrlimit(RLIMIT_FSIZE, &limit) != 0 ? 1 : clv_run_tests(tests);
}
