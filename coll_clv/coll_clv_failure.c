/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Waits until Open MPI knows of a failure (see coll_clv_failure.h).
 */
#include "ompi_config.h"

#include "coll_clv/coll_clv_failure.h"

#include <pthread.h>
#include <string.h>

#include "ompi/attribute/attribute.h"
#include "ompi/runtime/params.h"
#include "opal/runtime/opal_progress.h"

#include "util/util_alloc.h"
#include "util/util_time.h"

bool coll_clv_failure_is_survived(void)
{
#if COLL_CLV_HAS_ULFM
    return ompi_ftmpi_enabled;
#else
    return false;
#endif
}

int coll_clv_failure_awaited(struct ompi_communicator_t *comm)
{
    const int64_t end_ns = clv_local_now_ns() + COLL_CLV_NOTICE_NS;
    int rc = coll_clv_failure_of(comm);

    while (OMPI_SUCCESS == rc && coll_clv_failure_is_survived() && clv_local_now_ns() < end_ns) {
        opal_progress();
        rc = coll_clv_failure_of(comm);
    }
    return rc;
}

/* ---- the end of a communicator -------------------------------------------------------------- */

/* Deleting the attribute runs when the user frees the communicator, even if Open MPI still holds
 * it. We call Open MPI's own functions: those of MPI abort inside MPI_Init, where a spawned process
 * makes its first collective calls. */
typedef struct on_free {
    coll_clv_release_t release;
    void *context;
} on_free_t;

static int call_release(MPI_Comm comm, int key, void *attribute, void *extra)
{
    on_free_t *on_free = attribute;

    (void) key;
    (void) extra;
    on_free->release(comm, on_free->context);
    clv_free(on_free);
    return MPI_SUCCESS;
}

int coll_clv_failure_on_free(struct ompi_communicator_t *comm, coll_clv_release_t release,
                             void *context)
{
    const ompi_attribute_fn_ptr_union_t copy = {.attr_communicator_copy_fn =
                                                    COLL_CLV_COMPAT_NULL_COPY_FN};
    const ompi_attribute_fn_ptr_union_t delete = {.attr_communicator_delete_fn = call_release};
    on_free_t *on_free;
    int key = MPI_KEYVAL_INVALID, rc;

    on_free = clv_alloc(1, sizeof *on_free);
    if (NULL == on_free) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    *on_free = (on_free_t){.release = release, .context = context};
    rc = ompi_attr_create_keyval(COMM_ATTR, copy, delete, &key, NULL, 0, NULL);
    if (OMPI_SUCCESS == rc) {
        rc = ompi_attr_set_c(COMM_ATTR, comm, &comm->c_keyhash, key, on_free, false);
        (void) ompi_attr_free_keyval(COMM_ATTR, &key, false); /* the attribute keeps it alive */
    }
    if (OMPI_SUCCESS != rc) {
        clv_free(on_free);
    }
    return rc;
}

/* ---- requests that are given up ------------------------------------------------------------- */

static bool is_open(const ompi_request_t *request)
{
    return NULL != request && MPI_REQUEST_NULL != request;
}

/* ompi_request_is_failed also completes a failed request. */
static void look_at(ompi_request_t *request)
{
#if COLL_CLV_HAS_ULFM
    (void) ompi_request_is_failed(request);
#else
    (void) request;
#endif
}

static int close_complete(ompi_request_t **requests, int n_requests)
{
    int n_open = 0;

    for (int i = 0; i < n_requests; i++) {
        if (!is_open(requests[i])) {
            continue;
        }
        if (!coll_clv_is_over(requests[i])) {
            look_at(requests[i]);
        }
        if (coll_clv_is_over(requests[i])) {
            ompi_request_free(&requests[i]);
            requests[i] = NULL;
        } else {
            n_open++;
        }
    }
    return n_open;
}

void coll_clv_take_back(ompi_request_t **requests, int n_requests)
{
    for (int i = 0; i < n_requests; i++) {
        if (is_open(requests[i])) {
            (void) ompi_request_cancel(requests[i]);
        }
    }
}

/* Returns how many are still open; the entries of the others become NULL. */
static int settle(ompi_request_t **requests, int n_requests)
{
    const int64_t end_ns = clv_local_now_ns() + COLL_CLV_SETTLE_NS;
    int n_open;

    do {
        opal_progress();
        n_open = close_complete(requests, n_requests);
    } while (n_open > 0 && clv_local_now_ns() < end_ns);
    return n_open;
}

/* ---- memory that open requests use ----------------------------------------------------------- */

/* Requests that are still open, and the memory to free with the last of them. */
typedef struct lent {
    struct lent *next;
    void *memory;
    void *more;
    int n_requests;
    ompi_request_t *requests[];
} lent_t;

static pthread_mutex_t lent_lock = PTHREAD_MUTEX_INITIALIZER;
static lent_t *all_lent;

static void put_back(lent_t *lent)
{
    pthread_mutex_lock(&lent_lock);
    lent->next = all_lent;
    all_lent = lent;
    pthread_mutex_unlock(&lent_lock);
}

/* Without memory for the entry, the memory that they use is never freed. */
static void lend(ompi_request_t **requests, int n_requests, void *memory, void *more)
{
    lent_t *lent = clv_alloc(1, sizeof *lent + (size_t) n_requests * sizeof lent->requests[0]);

    if (NULL == lent) {
        return;
    }
    lent->memory = memory;
    lent->more = more;
    lent->n_requests = n_requests;
    memcpy(lent->requests, requests, (size_t) n_requests * sizeof lent->requests[0]);
    put_back(lent);
}

static lent_t *take_all_lent(void)
{
    lent_t *list;

    pthread_mutex_lock(&lent_lock);
    list = all_lent;
    all_lent = NULL;
    pthread_mutex_unlock(&lent_lock);
    return list;
}

/* Frees without the lock: the last request of a communicator may release it, and its module may
 * then give up requests itself. */
void coll_clv_failure_collect(void)
{
    lent_t *next;

    for (lent_t *lent = take_all_lent(); NULL != lent; lent = next) {
        next = lent->next;
        if (0 < close_complete(lent->requests, lent->n_requests)) {
            put_back(lent);
            continue;
        }
        clv_free(lent->memory);
        clv_free(lent->more);
        clv_free(lent);
    }
}

void coll_clv_give_up(ompi_request_t **requests, int n_requests, void *memory, void *more)
{
    coll_clv_failure_collect();
    if (0 < settle(requests, n_requests)) {
        lend(requests, n_requests, memory, more);
        return;
    }
    clv_free(memory);
    clv_free(more);
}
