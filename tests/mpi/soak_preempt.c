/* SPDX-License-Identifier: BSD-3-Clause
 * See soak.h.
 */
#include "tests/mpi/soak.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SIGNAL (SIGRTMIN + 3)

static int every_us, most_us;
static _Thread_local unsigned long long state;

static unsigned draw(unsigned below)
{
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned) (state >> 33) % below;
}

static void stand(int number)
{
    const int saved = errno;

    (void) number;
    if (draw(4) == 0) {
        const struct timespec pause = {.tv_nsec = 1000L * draw((unsigned) most_us)};
        (void) nanosleep(&pause, NULL);
    }
    errno = saved;
}

void soak_preempt_open(int every, int most)
{
    const struct sigaction action = {.sa_handler = stand, .sa_flags = SA_RESTART};

    every_us = most > 0 && most < 1000000 ? every : 0;
    most_us = most;
    if (every_us > 0) {
        (void) sigaction(SIGNAL, &action, NULL);
    }
}

void soak_preempt_begin(unsigned long long seed)
{
    struct itimerspec turns = {.it_interval = {.tv_nsec = every_us * 1000L},
                               .it_value = {.tv_nsec = every_us * 1000L}};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGNAL};
    timer_t timer;

    state = seed;
    event._sigev_un._tid = (int) syscall(SYS_gettid);
    if (every_us > 0 && timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0) {
        (void) timer_settime(timer, 0, &turns, NULL);
    }
}
