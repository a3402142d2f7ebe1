/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From the kernel's schedstat; see bench_cpu_wait.h.
 */
#include "apps/bench/measure/bench_cpu_wait.h"

#include <fcntl.h>
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
