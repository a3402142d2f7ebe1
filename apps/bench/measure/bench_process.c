/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Waits for processors, from the kernel's schedstat; the first signal; see bench_process.h.
 */
#include "apps/bench/measure/bench_process.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

int64_t clv_bench_cpu_wait_ns(void)
{
    char text[128];
    long long ran = 0;
    long long waited = 0;
    const int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);

    if (file < 0) {
        return 0;
    }
    const ssize_t n = read(file, text, sizeof text - 1);
    close(file);
    if (n > 0) {
        text[n] = '\0';
        if (sscanf(text, "%lld %lld", &ran, &waited) != 2) {
            waited = 0;
        }
    }
    return waited;
}

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
