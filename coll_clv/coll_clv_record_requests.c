/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nonblocking and persistent collectives as the recorder sees them (see coll_clv_record.h).
 *
 *      nonblocking   function that was there -> request: clv sets its completion callback
 *      persistent    init function -> request: clv replaces its start and free functions; each
 *                    start sets the callback
 *
 * The callback is Open MPI's own (ompi_request_set_callback). The thread that finds the request
 * complete calls it once, before any waiting thread goes on. Open MPI may put a callback of its own
 * before clv's, for derived datatypes and users' operations (ompi_coll_base_retain_op); that one
 * calls clv's with clv's context, so both identify the request.
 *
 * Not recorded, and counted as dropped: more than CLV_PENDING_MOST at a time; a request whose
 * function has set a callback. Not recorded at all: starts of persistent requests with nothing to
 * do; with several threads, a request that another thread completes while this one sets its
 * callback.
 *
 * Threads: the table is under one lock, which is never held during a call into Open MPI.
 */
#include "coll_clv/coll_clv_record.h"

#include <pthread.h>
#include <stdlib.h>

#include "ompi/mca/coll/base/coll_base_util.h"
#include "ompi/request/request.h"

#include "record/record_pending.h"
#include "util/util_alloc.h"
#include "util/util_time.h"

/* What a persistent request had before us, and the stream of its calls. */
typedef struct kept {
    ompi_request_start_fn_t start;
    ompi_request_free_fn_t free;
    coll_clv_stream_place_t place;
} kept_t;

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static clv_pending_table_t *table;

bool coll_clv_requests_open(void)
{
    table = clv_alloc(1, sizeof *table);
    return NULL != table;
}

void coll_clv_requests_close(void)
{
    for (uint32_t i = 0; NULL != table && i < table->n_used; i++) {
        clv_free(table->places[i].kept);
    }
    clv_free(table);
    table = NULL;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* False: the table is full. */
static bool add(const clv_pending_t *entry)
{
    clv_pending_t *place;
    void *lost;

    pthread_mutex_lock(&table_lock);
    place = clv_pending_add(table, entry->request, &lost);
    if (NULL != place) {
        const uint32_t next = place->next;
        *place = *entry;
        place->next = next;
    }
    pthread_mutex_unlock(&table_lock);
    clv_free(lost);
    if (NULL == place) {
        coll_clv_record_drop();
    }
    return NULL != place;
}

/* Copies the request's entry and ends its call; the entry is dropped unless it stays. */
static bool take(const struct ompi_request_t *request, bool stays, clv_pending_t *entry)
{
    clv_pending_t *place;

    pthread_mutex_lock(&table_lock);
    place = NULL == table ? NULL : clv_pending_find(table, request);
    if (NULL != place) {
        *entry = *place;
        place->is_begun = false;
        if (!stays) {
            clv_pending_drop(table, request);
        }
    }
    pthread_mutex_unlock(&table_lock);
    return NULL != place;
}

/* ---- completion ------------------------------------------------------------------------------ */

#if defined(OMPI_REQ_NB_RELEASE_ARRAYS)
void coll_clv_release_arrays(struct ompi_request_t *request)
{
    const opal_class_t *class = ((opal_object_t *) request)->obj_class;
    ompi_coll_base_nbc_request_t *its = (ompi_coll_base_nbc_request_t *) request;

    while (NULL != class && OBJ_CLASS(ompi_coll_base_nbc_request_t) != class) {
        class = class->cls_parent;
    }
    for (int i = 0; NULL != class && i < OMPI_REQ_NB_RELEASE_ARRAYS; i++) {
        free((void *) (intptr_t) its->data.release_arrays[i]); /* allocated by Open MPI */
        its->data.release_arrays[i] = 0;
    }
}
#endif

static void push(const clv_pending_t *entry, int64_t exit_ns)
{
    const clv_clva_call_t call = {.kind = CLV_CLVA_CALLS,
                                  .choice = CLV_CLVA_NOT_OURS,
                                  .stream = entry->stream,
                                  .arrival_ns = entry->arrival_ns,
                                  .exit_ns = exit_ns,
                                  .number = entry->number,
                                  .predicted_ns = CLV_CLVA_NO_FORECAST};

    coll_clv_record_push(&call);
}

/* Returns 0, so that Open MPI goes on as if there were no callback. */
static int complete(struct ompi_request_t *request)
{
    const int64_t exit_ns = clv_local_now_ns();
    clv_pending_t entry;

    if (!request->req_persistent) {
        COLL_CLV_COMPAT_RELEASE_ARRAYS(request);
    }
    if (coll_clv_record_is_on && take(request, request->req_persistent, &entry) && entry.is_begun) {
        push(&entry, exit_ns);
    }
    return 0;
}

void coll_clv_requests_begun(coll_clv_module_t *module, struct ompi_communicator_t *comm,
                             struct ompi_request_t *request, const coll_clv_ended_t *begun)
{
    clv_pending_t entry = {.request = request, .arrival_ns = begun->arrival_ns, .is_begun = true};
    coll_clv_stream_place_t place;

    if (!coll_clv_record_stream(module, comm, begun, 0, &place) ||
        !coll_clv_record_number(&place, &entry.number)) {
        return;
    }
    entry.stream = place.stream;
    if (REQUEST_COMPLETE(request)) { /* it may be the request that all calls without work share */
        push(&entry, clv_local_now_ns());
    } else if (NULL != request->req_complete_cb) {
        coll_clv_record_drop();
    } else if (add(&entry)) {
        (void) ompi_request_set_callback(request, complete, request);
    }
}

/* ---- persistent ------------------------------------------------------------------------------ */

/* Notes that the request starts a call with the next number. */
static void begin(struct ompi_request_t *request, const kept_t *kept)
{
    const int64_t arrival_ns = clv_local_now_ns();
    clv_pending_t *entry;
    uint32_t number;

    if (!coll_clv_record_is_on || !coll_clv_record_number(&kept->place, &number) ||
        NULL != request->req_complete_cb) {
        return;
    }
    pthread_mutex_lock(&table_lock);
    entry = clv_pending_find(table, request);
    if (NULL != entry) {
        entry->number = number;
        entry->arrival_ns = arrival_ns;
        entry->is_begun = true;
    }
    pthread_mutex_unlock(&table_lock);
    request->req_complete_cb_data = request;
    request->req_complete_cb = complete; /* still complete from before: set_callback calls it */
}

static int start(size_t count, struct ompi_request_t **requests)
{
    int rc = OMPI_SUCCESS;

    for (size_t i = 0; i < count && OMPI_SUCCESS == rc; i++) {
        clv_pending_t entry;
        if (!take(requests[i], true, &entry)) {
            return OMPI_ERR_REQUEST;
        }
        begin(requests[i], entry.kept);
        rc = ((kept_t *) entry.kept)->start(1, &requests[i]);
    }
    return rc;
}

/* Frees a persistent request as it was before us. If Open MPI does not free it, it gets our
 * functions and its entry back. */
static int let_go(struct ompi_request_t **request_p)
{
    struct ompi_request_t *request = *request_p;
    const ompi_request_free_fn_t before = request->req_free;
    clv_pending_t entry;
    kept_t *kept;
    int rc;

    if (!take(request, false, &entry)) {
        return OMPI_ERR_REQUEST;
    }
    kept = entry.kept;
    request->req_start = kept->start;
    request->req_free = kept->free;
    rc = kept->free(request_p);
    if (OMPI_SUCCESS == rc || !add(&entry)) {
        clv_free(kept);
        return rc;
    }
    request->req_start = start;
    request->req_free = before;
    return rc;
}

void coll_clv_requests_made(coll_clv_module_t *module, struct ompi_communicator_t *comm,
                            struct ompi_request_t *request, const coll_clv_ended_t *made)
{
    const uint32_t number = module->record->recording.n_requests++;
    coll_clv_stream_place_t place;
    kept_t *kept;

    if (!request->req_persistent || OMPI_REQUEST_NOOP == request->req_type ||
        !coll_clv_record_stream(module, comm, made, number, &place)) {
        return;
    }
    kept = clv_alloc(1, sizeof *kept);
    if (NULL == kept) {
        coll_clv_record_drop();
        return;
    }
    *kept = (kept_t){request->req_start, request->req_free, place};
    if (!add(&(clv_pending_t){.request = request, .stream = place.stream, .kept = kept})) {
        clv_free(kept);
        return;
    }
    request->req_start = start;
    request->req_free = let_go;
}
