/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Processors shared by the ranks of a host (see coll_clv_processors.h).
 */
#include "ompi_config.h"

#include "coll_clv/coll_clv_processors.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ompi/constants.h"
#include "ompi/proc/proc.h"
#include "opal/runtime/opal_progress.h"

#include "coll_clv/coll_clv.h"
#include "coll_clv/coll_clv_compat.h"
#include "util/util_alloc.h"
#include "util/util_processors.h"

#define KEY "coll_clv.processors"

typedef enum answer { NOT_ASKED, NO, YES } answer_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static clv_processors_t mine;
static answer_t answer; /* under the lock, as are ... */
static int n_inside;
static bool yields_outside; /* ... and whether Open MPI's waits yielded before the first enter */

void coll_clv_processors_publish(void)
{
    char key[] = KEY;
    int rc = OMPI_SUCCESS;

    if (0 < mca_coll_clv_component.priority) {
        clv_processors_read("", &mine);
        OPAL_MODEX_SEND_STRING(rc, COLL_CLV_MODEX_LOCAL, key, &mine, sizeof mine);
    }
    (void) rc; /* on an error nothing is known of this process */
}

void coll_clv_processors_close(void)
{
    pthread_mutex_lock(&lock);
    answer = NOT_ASKED;
    pthread_mutex_unlock(&lock);
}

static bool is_here(const ompi_proc_t *proc)
{
    return proc->super.proc_name.jobid == OMPI_PROC_MY_NAME->jobid &&
           OPAL_PROC_ON_LOCAL_NODE(proc->super.proc_flags);
}

/* False: it published nothing, as a process without clv. */
static bool read_of(const ompi_proc_t *proc, clv_processors_t *processors_p)
{
    const opal_process_name_t *name = &proc->super.proc_name;
    char key[] = KEY;
    void *bytes = NULL;
    coll_clv_modex_size_t n_bytes = 0;
    bool is_known;
    int rc;

    OPAL_MODEX_RECV_STRING(rc, key, name, &bytes, &n_bytes);
    is_known = OPAL_SUCCESS == rc && NULL != bytes && sizeof *processors_p == (size_t) n_bytes;
    if (is_known) {
        memcpy(processors_p, bytes, sizeof *processors_p);
    }
    free(bytes);
    return is_known;
}

/* Open MPI knows all processes of this host from the beginning. */
static bool look(void)
{
    size_t n_procs = 0;
    ompi_proc_t **procs = ompi_proc_get_allocated(&n_procs);
    clv_processors_t *of = NULL == procs ? NULL : clv_alloc(n_procs, sizeof *of);
    int32_t n_known = 0, n_ranks = 0;
    bool are_shared = false;

    if (NULL != of) {
        for (size_t i = 0; i < n_procs; i++) {
            if (is_here(procs[i])) {
                n_ranks++;
                n_known += read_of(procs[i], &of[n_known]);
            }
        }
        are_shared = clv_processors_are_shared(of, n_known, n_ranks);
    }
    clv_free(of);
    free(procs);
    return are_shared;
}

bool coll_clv_processors_are_shared(int32_t setting)
{
    bool are_shared;

    if (CLV_SHARED_DETECT != setting) {
        return CLV_SHARED_YES == setting;
    }
    pthread_mutex_lock(&lock);
    if (NOT_ASKED == answer) {
        answer = look() ? YES : NO;
    }
    are_shared = YES == answer;
    pthread_mutex_unlock(&lock);
    return are_shared;
}

bool coll_clv_processors_are_of(struct ompi_communicator_t *comm)
{
    for (int p = 0; p < ompi_comm_size(comm); p++) {
        if (!is_here(ompi_comm_peer_lookup(comm, p))) {
            return false;
        }
    }
    return true;
}

void coll_clv_processors_enter(void)
{
    pthread_mutex_lock(&lock);
    if (0 == n_inside++) {
        yields_outside = opal_progress_set_yield_when_idle(true);
    }
    pthread_mutex_unlock(&lock);
}

void coll_clv_processors_leave(void)
{
    pthread_mutex_lock(&lock);
    if (0 == --n_inside) {
        (void) opal_progress_set_yield_when_idle(yields_outside);
    }
    pthread_mutex_unlock(&lock);
}
