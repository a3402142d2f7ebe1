/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The first signal; see bench_interrupt.h.
 */
#include "apps/bench/measure/bench_interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t caught;

static void note(int signal_number)
{
    caught = signal_number;
}

void clv_bench_interrupt_catch(void)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART | (int) SA_RESETHAND};

    (void) sigemptyset(&action.sa_mask);
    (void) sigaction(SIGINT, &action, NULL);
    (void) sigaction(SIGTERM, &action, NULL);
}

int clv_bench_interrupted(void)
{
    return caught;
}
