/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The state of a process, shared by all its communicators (see coll_clv_process.h).
 */
#include "coll_clv/coll_clv_process.h"

#include <pthread.h>

#include "util/util_alloc.h"
#include "util/util_time.h"

/* Room for several plans of the largest size; only address space until it is used. */
#define SPARE_BYTES ((size_t) 16 << 20)

static pthread_mutex_t process_lock = PTHREAD_MUTEX_INITIALIZER;
static clv_pap_t *process_pap;
static coll_clv_clock_t *newest;

clv_status_t coll_clv_process_open(const clv_pap_options_t *options, clv_pap_t **pap_p)
{
    clv_status_t status = CLV_OK;

    pthread_mutex_lock(&process_lock);
    if (NULL == process_pap) {
        clv_alloc_keep_spare(SPARE_BYTES);
        status = clv_pap_open(options, &process_pap);
    }
    *pap_p = CLV_OK == status ? process_pap : NULL;
    pthread_mutex_unlock(&process_lock);
    return status;
}

/* Without the lock: the caller has a group, so the channel is open. */
int32_t coll_clv_process_relays(void)
{
    return clv_pap_relays(process_pap);
}

void coll_clv_process_counters(clv_pap_counters_t *counters)
{
    pthread_mutex_lock(&process_lock);
    clv_pap_read_counters(process_pap, counters);
    pthread_mutex_unlock(&process_lock);
}

bool coll_clv_process_add_late(coll_clv_late_t *late, const clv_chooser_t *chooser)
{
    int32_t most = 0;

    if (NULL == chooser->n_last || chooser->n_sets <= late->n_sets) {
        return false;
    }
    for (int32_t p = 1; p < chooser->config.n_ranks; p++) {
        most = chooser->n_last[p] > chooser->n_last[most] ? p : most;
    }
    *late =
        (coll_clv_late_t){.n_sets = chooser->n_sets, .n_last = chooser->n_last[most], .rank = most};
    return true;
}

void coll_clv_process_gauges(coll_clv_gauges_t *gauges, coll_clv_late_t late)
{
    const int64_t local_ns = clv_local_now_ns();
    int64_t global_ns = local_ns, error_ns = -1;
    clv_pap_counters_t counters = {0};

    pthread_mutex_lock(&process_lock);
    if (NULL == newest ||
        CLV_OK != clv_pap_global_time(newest->pap, local_ns, &global_ns, &error_ns)) {
        error_ns = -1;
    }
    clv_pap_read_counters(process_pap, &counters);
    gauges->forecast_wait_max_ns = clv_pap_longest_wait_ns(process_pap);
    for (const coll_clv_clock_t *clock = newest; NULL != clock; clock = clock->older) {
        (void) coll_clv_process_add_late(&late, clock->chooser);
    }
    pthread_mutex_unlock(&process_lock);
    gauges->late_rank = 0 < late.n_last ? late.rank : -1;
    gauges->clock_offset_ns = global_ns - local_ns;
    gauges->clock_error_ns = error_ns;
    gauges->mean_error_ns = 0 == counters.judged ? -1 : counters.judged_error_ns / counters.judged;
}

void coll_clv_process_show_clock(coll_clv_clock_t *clock)
{
    pthread_mutex_lock(&process_lock);
    clock->older = newest;
    if (NULL != clock->older) {
        clock->older->newer = clock;
    }
    newest = clock;
    pthread_mutex_unlock(&process_lock);
}

void coll_clv_process_hide_clock(coll_clv_clock_t *clock)
{
    pthread_mutex_lock(&process_lock);
    if (NULL != clock->older) {
        clock->older->newer = clock->newer;
    }
    if (NULL != clock->newer) {
        clock->newer->older = clock->older;
    } else if (newest == clock) {
        newest = clock->older;
    }
    pthread_mutex_unlock(&process_lock);
}

void coll_clv_process_close(void)
{
    pthread_mutex_lock(&process_lock);
    clv_pap_close(process_pap);
    process_pap = NULL;
    clv_alloc_drop_spare();
    pthread_mutex_unlock(&process_lock);
}
