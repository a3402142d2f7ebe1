/* SPDX-License-Identifier: BSD-3-Clause
 * See util_limit.h.
 */
#include "util/util_limit.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "util/util_log.h"

static sigset_t too_large(void)
{
    sigset_t set;
    (void) sigemptyset(&set);
    (void) sigaddset(&set, SIGXFSZ);
    return set;
}

static bool is_pending(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
}

void clv_limit_begin(clv_limit_guard_t *guard)
{
    const sigset_t set = too_large();
    const int error = errno;
    (void) pthread_sigmask(SIG_BLOCK, &set, &guard->mask);
    guard->is_waiting = is_pending();
    errno = error;
}

void clv_limit_end(const clv_limit_guard_t *guard)
{
    const sigset_t set = too_large();
    const struct timespec at_once = {0, 0};
    const int error = errno;
    while (!guard->is_waiting && is_pending() && sigtimedwait(&set, NULL, &at_once) < 0 &&
           errno == EINTR) {
    }
    (void) pthread_sigmask(SIG_SETMASK, &guard->mask, NULL);
    errno = error;
}

static void leave_it_to_the_error(int number)
{
    (void) number;
}

/* A handler rather than SIG_IGN, which the programs that we start would inherit. */
void clv_limit_as_errors(void)
{
    const struct sigaction noting = {.sa_handler = leave_it_to_the_error, .sa_flags = SA_RESTART};
    (void) sigaction(SIGXFSZ, &noting, NULL);
}

int64_t clv_limit_file_bytes(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur > (rlim_t) INT64_MAX
               ? INT64_MAX
               : (int64_t) limit.rlim_cur;
}

const char *clv_limit_hint(int error)
{
    switch (error) {
    case EFBIG:
        return "raise ulimit -f";
    case ENOMEM:
        return "raise ulimit -v";
    case EMFILE:
        return "raise ulimit -n";
    case EAGAIN:
        return "raise ulimit -u";
    default:
        return "";
    }
}

void clv_limit_text(int error, char *text, size_t n_bytes)
{
    const char *hint = clv_limit_hint(error);
    (void) snprintf(text, n_bytes, hint[0] ? "%s (%s)" : "%s%s", strerror(error), hint);
}

void clv_limit_tell(const char *what, bool records, int error)
{
    const char *hint = clv_limit_hint(error);
    clv_log(CLV_LOG_HOST, "no %s for %s on this host: %s (%s%s%s); the job goes on without", what,
            records ? "recording" : "predictions", strerror(error), hint, hint[0] ? ", or " : "",
            records ? "leave coll_clv_record empty" : "set coll_clv_exchange 0");
}
