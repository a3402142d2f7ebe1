/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A wrong monotonic clock for one host of the emulated cluster: preloaded, it changes the readings
 * of CLOCK_MONOTONIC, and converts timer settings back. A real monotonic clock cannot be set, but
 * can step after a suspension, and run fast or slow by up to 500 ppm.
 *
 *   CLV_BEND_HOST=h2 CLV_BEND_AFTER=4 CLV_BEND_STEP=0.5 CLV_BEND_PPM=500
 *
 * AFTER seconds from the first reading: a step of STEP seconds, then faster by PPM.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define S INT64_C(1000000000)

typedef int (*get_t)(clockid_t, struct timespec *);
typedef int (*set_t)(int, int, const struct itimerspec *, struct itimerspec *);

static struct {
    get_t get;
    set_t set;
    int is_bent;
    int64_t from_ns, step_ns, ppm;
} bend;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int64_t ns_of(const struct timespec *time)
{
    return (int64_t) time->tv_sec * S + time->tv_nsec;
}

static struct timespec time_of(int64_t ns)
{
    return (struct timespec){.tv_sec = (time_t) (ns / S), .tv_nsec = (long) (ns % S)};
}

static double number(const char *name)
{
    const char *text = getenv(name);
    return text == NULL ? 0 : atof(text);
}

static void set_up(void)
{
    char host[64] = "";
    struct timespec now = {0};
    const char *wanted = getenv("CLV_BEND_HOST");
    bend.get = (get_t) (uintptr_t) dlsym(RTLD_NEXT, "clock_gettime");
    bend.set = (set_t) (uintptr_t) dlsym(RTLD_NEXT, "timerfd_settime");
    (void) bend.get(CLOCK_MONOTONIC, &now);
    (void) gethostname(host, sizeof host - 1);
    bend.is_bent = wanted != NULL && strcmp(wanted, host) == 0;
    bend.from_ns = ns_of(&now) + (int64_t) (number("CLV_BEND_AFTER") * (double) S);
    bend.step_ns = (int64_t) (number("CLV_BEND_STEP") * (double) S);
    bend.ppm = (int64_t) number("CLV_BEND_PPM");
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    (void) pthread_once(&once, set_up);
    const int status = bend.get(clock, time);
    if (status == 0 && clock == CLOCK_MONOTONIC && bend.is_bent && ns_of(time) >= bend.from_ns) {
        const int64_t since_ns = ns_of(time) - bend.from_ns;
        *time = time_of(ns_of(time) + bend.step_ns + since_ns / 1000000 * bend.ppm);
    }
    return status;
}

/* The caller's absolute times are by the changed clock; the kernel needs the true one. */
int timerfd_settime(int fd, int flags, const struct itimerspec *when, struct itimerspec *old)
{
    (void) pthread_once(&once, set_up);
    struct itimerspec straight = *when;
    const int64_t bent_ns = ns_of(&when->it_value);
    if (bend.is_bent && (flags & TFD_TIMER_ABSTIME) && bent_ns > bend.from_ns + bend.step_ns) {
        const int64_t since_ns = bent_ns - bend.from_ns - bend.step_ns;
        straight.it_value = time_of(bend.from_ns + since_ns - since_ns / 1000000 * bend.ppm);
    }
    return bend.set(fd, flags, &straight, old);
}
