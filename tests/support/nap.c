/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A preload library by which the waiting ranks of tests sleep instead of yielding, so that the
 * tests that run beside them have the processors. tests/support/bin/mpirun sets it where CLV_NAP
 * names it, which ./clv test does for all tests but those of timing.
 *
 * Cost: a message comes up to a nap and the kernel's slack (50 us) later.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <time.h>

int sched_yield(void)
{
    const struct timespec nap = {.tv_nsec = 1000};

    (void) nanosleep(&nap, NULL);
    return 0;
}
