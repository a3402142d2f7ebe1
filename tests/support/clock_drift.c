/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Clocks that drift (see clock_drift.h).
 */
#include "tests/support/clock_drift.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/timerfd.h>

typedef int (*clock_function_t)(clockid_t, struct timespec *);
typedef int (*timer_function_t)(int, int, const struct itimerspec *, struct itimerspec *);

static double drift; /* seconds per second, of this rank */
static int64_t drift_from_ns[CLOCK_BOOTTIME + 1];

/* The library's own function of this name, looked up once. */
static void find_true(void **function_p, const char *name)
{
    if (*function_p == NULL) {
        *function_p = dlsym(RTLD_NEXT, name);
    }
}

static clock_function_t true_clock(void)
{
    static clock_function_t function;

    /* The standard's own conversion of an object pointer to a function pointer. */
    find_true((void **) &function, "clock_gettime");
    return function;
}

static timer_function_t true_timer(void)
{
    static timer_function_t function;

    find_true((void **) &function, "timerfd_settime");
    return function;
}

int64_t clv_drift_ns(const struct timespec *time)
{
    return time->tv_sec * CLV_DRIFT_NS_PER_S + time->tv_nsec;
}

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / CLV_DRIFT_NS_PER_S, .tv_nsec = ns % CLV_DRIFT_NS_PER_S};
}

/* Takes the rank from the launcher's variables, because clocks are read before MPI_Init. */
void clv_drift_set(double ppm)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *size = getenv("OMPI_COMM_WORLD_SIZE");
    const int i = rank == NULL ? 0 : atoi(rank), n = size == NULL ? 1 : atoi(size);
    const clockid_t clocks[] = {CLOCK_MONOTONIC, CLOCK_BOOTTIME};

    for (int c = 0; c < 2; c++) {
        struct timespec now;
        (void) true_clock()(clocks[c], &now);
        drift_from_ns[clocks[c]] = clv_drift_ns(&now);
    }
    drift = i > 0 ? ppm * 1e-6 * (n > 2 ? 2. * (i - 1) / (n - 2) - 1 : 1) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    const int status = true_clock()(clock, time);

    if (status == 0 && drift != 0 && (clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME)) {
        int64_t ns = clv_drift_ns(time);
        ns += (int64_t) (drift * (double) (ns - drift_from_ns[clock]));
        *time = timespec_of(ns);
    }
    return status;
}

int timerfd_settime(int fd, int flags, const struct itimerspec *when, struct itimerspec *old)
{
    struct itimerspec truth = *when;
    int64_t ns = clv_drift_ns(&when->it_value);

    if ((flags & TFD_TIMER_ABSTIME) != 0 && ns != 0 && drift != 0) {
        const int64_t from_ns = drift_from_ns[CLOCK_MONOTONIC];
        ns = from_ns + (int64_t) ((double) (ns - from_ns) / (1 + drift)) + 1;
        truth.it_value = timespec_of(ns);
    }
    return true_timer()(fd, flags, &truth, old);
}
