/* SPDX-License-Identifier: BSD-3-Clause
 * See pap_place.h. Masks are of fixed size: on machines with more than CPU_SETSIZE processors the
 * kernel refuses them, and the thread stays where it is.
 */
#include "pap_predict/pap_place.h"

#include <sched.h>
#include <stddef.h>
#include <unistd.h>

/* Takes the processors of every rank away; a rank that cannot be asked may be anywhere. */
static void remove_ranks(const pid_t *pids, int32_t n_pids, cpu_set_t *free_cpus)
{
    for (int32_t i = 0; i < n_pids; i++) {
        cpu_set_t theirs;
        if (sched_getaffinity(pids[i], sizeof theirs, &theirs) != 0) {
            CPU_ZERO(free_cpus);
            return;
        }
        for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
            if (CPU_ISSET(cpu, &theirs)) {
                CPU_CLR(cpu, free_cpus);
            }
        }
    }
}

int clv_pap_place_beside(const pid_t *pids, int32_t n_pids)
{
    cpu_set_t free_cpus;
    /* The launcher's own mask is what the user gave the job; a wider one is not ours to take. */
    if (sched_getaffinity(getppid(), sizeof free_cpus, &free_cpus) != 0) {
        return 0;
    }
    remove_ranks(pids, n_pids, &free_cpus);
    if (CPU_COUNT(&free_cpus) == 0 || sched_setaffinity(0, sizeof free_cpus, &free_cpus) != 0) {
        return 0;
    }
    return CPU_COUNT(&free_cpus);
}
