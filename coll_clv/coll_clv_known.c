/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Measured costs of the links between lists of processes (see coll_clv_known.h).
 */
#include "coll_clv/coll_clv_known.h"

#include <pthread.h>

static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;
static coll_clv_known_t table[COLL_CLV_KNOWN_MAX];
static int oldest;

/* Under the lock. COLL_CLV_KNOWN_MAX: not found. */
static int place_of(uint64_t processes)
{
    int i = 0;

    while (i < COLL_CLV_KNOWN_MAX &&
           (0 == table[i].n_messages || processes != table[i].processes)) {
        i++;
    }
    return i;
}

coll_clv_known_t coll_clv_known_find(uint64_t processes)
{
    coll_clv_known_t known = {.processes = processes};
    int i;

    pthread_mutex_lock(&known_lock);
    i = place_of(processes);
    if (i < COLL_CLV_KNOWN_MAX) {
        known = table[i];
    }
    pthread_mutex_unlock(&known_lock);
    return known;
}

void coll_clv_known_put(const coll_clv_known_t *known)
{
    int i;

    pthread_mutex_lock(&known_lock);
    i = place_of(known->processes);
    if (COLL_CLV_KNOWN_MAX == i) {
        i = oldest;
        oldest = (oldest + 1) % COLL_CLV_KNOWN_MAX;
    }
    table[i] = *known;
    pthread_mutex_unlock(&known_lock);
}
