/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The window executor's table of functions over the PML, and the location of each segment's copy.
 *
 *   this rank's copy of a segment          sent from            then
 *   OWN       its contribution, untouched  sbuf                 -
 *   RESULT    (sum in rbuf)                rbuf                 -
 *   0, 1, ..  partial sum, in that buffer  the buffer           the buffer is free, unless a copy
 *                                                               was sent or goes elsewhere, too
 *
 * A received segment arrives in a free buffer. If this rank still has its contribution, it combines
 * that into the buffer, which becomes the copy; otherwise it combines the buffer into the copy. A
 * rank that ends with the whole result (`results`) combines into rbuf instead.
 */
#include "ompi_config.h"

#include "coll_clv/coll_clv_compat.h"
#include "coll_clv/coll_clv_execute.h"
#include "coll_clv/coll_clv_failure.h"
#include "coll_clv/coll_clv_wait.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/op/op.h"
#include "ompi/proc/proc.h"
#include "ompi/request/request.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/runtime/opal_progress.h"

#include "coll_clv/coll_clv_ahead.h"
#include "coll_clv/coll_clv_buffers.h"
#include "coll_clv/coll_clv_sleep.h"
#include "schedule/sched_exec.h"
#include "schedule/sched_goal.h"
#include "util/util_alloc.h"

/* Where the copy of a segment is, besides buffer numbers. */
#define COPY_OWN    (-1)
#define COPY_RESULT (-2)

#define WAY_PARTS 8 /* a rank that sends inside its host yields while the first ... */
#define WAY_FIRST 5 /* ... five eighths of the segments leave */

typedef struct execution {
    clv_exec_t exec;
    coll_clv_scratch_t *scratch;

    int rank;
    const coll_clv_job_t *job;
    struct ompi_communicator_t *comm;
    struct ompi_datatype_t *dtype;
    struct ompi_op_t *op;
    int tag;
    const char *own; /* this rank's contribution; any address may be MPI_BOTTOM, which is NULL */
    char *result;    /* rbuf, where the first element of the vector is or would be */
    bool results;    /* this rank combines straight into rbuf */
    bool in_place;   /* this rank's initial data is in rbuf */
    size_t block;    /* elements that are cut into `per_block` segments; usually the whole vector */
    size_t per_block;
    size_t quota; /* elements of a segment; the first `longer` segments of a block have one more */
    size_t longer;
    ptrdiff_t extent;
    size_t element_bytes;

    char *buffers; /* the address of the first element of buffer 0 */
    size_t stride;
    int32_t n_free;
    int32_t *free_buffers;
    int32_t *copy; /* per segment: COPY_OWN, COPY_RESULT or a buffer */

    coll_clv_wait_t wait;
    int rc; /* Open MPI's error code of the last failed operation */
    ompi_request_t *recvs[COLL_CLV_RECV_WINDOW];
    ompi_request_t *sends[COLL_CLV_SEND_WINDOW];
    int32_t recv_buffer[COLL_CLV_RECV_WINDOW];
    int32_t send_buffer[COLL_CLV_SEND_WINDOW]; /* or COPY_... */
    int32_t send_segment[COLL_CLV_SEND_WINDOW];
} execution_t;

/* --- segments and buffers --- */

static size_t segment_first(const execution_t *run, int32_t segment)
{
    size_t s = (size_t) segment % run->per_block;
    return (size_t) segment / run->per_block * run->block + s * run->quota +
           (s < run->longer ? s : run->longer);
}

static size_t segment_count(const execution_t *run, int32_t segment)
{
    return run->quota + ((size_t) segment % run->per_block < run->longer ? 1 : 0);
}

/* Bytes of a message that carries it. */
static size_t segment_bytes(const execution_t *run, int32_t segment)
{
    return segment_count(run, segment) * run->element_bytes;
}

static ptrdiff_t segment_offset(const execution_t *run, int32_t segment)
{
    return (ptrdiff_t) segment_first(run, segment) * run->extent;
}

/* The PML and operations take sources without const, but do not write to them. */
static void *own_segment(const execution_t *run, int32_t segment)
{
    return (void *) (uintptr_t) (run->own + segment_offset(run, segment));
}

static void *result_segment(const execution_t *run, int32_t segment)
{
    return run->result + segment_offset(run, segment);
}

static void *buffer_at(const execution_t *run, int32_t buffer)
{
    return run->buffers + (size_t) buffer * run->stride;
}

static void *copy_of(const execution_t *run, int32_t segment)
{
    int32_t where = run->copy[segment];

    if (COPY_OWN == where) {
        return own_segment(run, segment);
    }
    return COPY_RESULT == where ? result_segment(run, segment) : buffer_at(run, where);
}

static void buffer_release(execution_t *run, int32_t buffer)
{
    if (buffer >= 0) {
        run->free_buffers[run->n_free++] = buffer;
    }
}

/* --- operations of the executor --- */

static clv_status_t failed(execution_t *run, int rc)
{
    run->rc = rc;
    return CLV_LOST;
}

static clv_status_t post_recv(void *context, int32_t slot, int32_t peer, int32_t segment)
{
    execution_t *run = context;
    int32_t buffer = run->free_buffers[run->n_free - 1];
    int rc = MCA_PML_CALL(irecv(buffer_at(run, buffer), segment_count(run, segment), run->dtype,
                                peer, run->tag, run->comm, &run->recvs[slot]));

    if (OMPI_SUCCESS != rc) {
        run->recvs[slot] = NULL;
        return failed(run, rc);
    }
    run->n_free--;
    run->recv_buffer[slot] = buffer;
    if (NULL != run->scratch->ahead) {
        coll_clv_ahead_posted(run->scratch->ahead, peer, segment_bytes(run, segment));
    }
    return CLV_OK;
}

/* Without credit, every send may go: then only the executor's synchronous sends limit it. */
static clv_status_t ask_credit(execution_t *run, int32_t peer, int32_t segment)
{
    if (NULL == run->scratch->ahead) {
        return CLV_OK;
    }
    return coll_clv_ahead_ask(run->scratch->ahead, peer, segment_bytes(run, segment), &run->rc);
}

/* Yields to the ranks of this host. Where processors are fewer than ranks, a rank would push its
 * whole vector into its sockets, while ranks whose links should be busy wait for a processor, some
 * even to arrive. Not sched_yield: tools replace it for waiting ranks, and this rank has more to
 * do. Once most segments are gone the links have enough work, and ranks that end one after another
 * spend less time in the call than ranks that end together. Decoupled ranks do not wait for each
 * other; yielding would only make all of their calls longer. */
static void make_way(const execution_t *run, int32_t peer, int32_t segment)
{
    if (run->scratch->yields && !run->job->is_decoupled &&
        (int64_t) segment * WAY_PARTS < (int64_t) run->job->n_segments * WAY_FIRST &&
        OPAL_PROC_ON_LOCAL_NODE(ompi_comm_peer_lookup(run->comm, peer)->super.proc_flags)) {
        thrd_yield();
    }
}

static clv_status_t post_send(void *context, int32_t slot, int32_t peer, int32_t segment,
                              bool synchronous)
{
    execution_t *run = context;
    mca_pml_base_send_mode_t mode =
        synchronous ? MCA_PML_BASE_SEND_SYNCHRONOUS : MCA_PML_BASE_SEND_STANDARD;
    clv_status_t status = ask_credit(run, peer, segment);
    int rc;

    if (CLV_OK != status) {
        return status;
    }
    rc = MCA_PML_CALL(isend(copy_of(run, segment), segment_count(run, segment), run->dtype, peer,
                            run->tag, mode, run->comm, &run->sends[slot]));
    if (OMPI_SUCCESS != rc) {
        run->sends[slot] = NULL;
        return failed(run, rc);
    }
    run->send_buffer[slot] = run->copy[segment];
    run->send_segment[slot] = segment;
    if (NULL != run->scratch->ahead) {
        coll_clv_ahead_sent(run->scratch->ahead, peer, segment_bytes(run, segment));
    }
    make_way(run, peer, segment);
    return CLV_OK;
}

/* Tests the request without progress, which is an operation of its own. */
static clv_status_t test_request(execution_t *run, ompi_request_t **request_p)
{
    int rc;

    if (!coll_clv_is_over(*request_p)) {
        return CLV_AGAIN;
    }
    rc = (*request_p)->req_status.MPI_ERROR;
    ompi_request_free(request_p);
    *request_p = NULL;
    coll_clv_sleep_moved(run->job->nap);
    return MPI_SUCCESS == rc ? CLV_OK : failed(run, rc);
}

static clv_status_t test_recv(void *context, int32_t slot)
{
    execution_t *run = context;
    return test_request(run, &run->recvs[slot]);
}

/* Whether a completed send's buffer is still in use: as the copy of its segment (the rank holds it
 * yet), or by another send. */
static bool is_needed(const execution_t *run, int32_t slot)
{
    const int32_t segment = run->send_segment[slot], buffer = run->send_buffer[slot];

    if (run->exec.segments[segment].holds && buffer == run->copy[segment]) {
        return true;
    }
    for (int32_t i = 0; i < COLL_CLV_SEND_WINDOW; i++) {
        if (i != slot && NULL != run->sends[i] && buffer == run->send_buffer[i]) {
            return true;
        }
    }
    return false;
}

static clv_status_t test_send(void *context, int32_t slot)
{
    execution_t *run = context;
    clv_status_t status = test_request(run, &run->sends[slot]);

    if (CLV_OK == status && !is_needed(run, slot)) {
        buffer_release(run, run->send_buffer[slot]);
    }
    return status;
}

/* The three-address form exists only for predefined operations on predefined types. */
static bool has_three_address_form(const execution_t *run, size_t count)
{
    return ompi_op_is_intrinsic(run->op) && ompi_datatype_is_predefined(run->dtype) &&
           count <= INT_MAX;
}

static int copy_elements(const execution_t *run, size_t count, void *target, void *source)
{
    return ompi_datatype_copy_content_same_ddt(run->dtype, count, target, source);
}

/* result = contribution op buffer; in one pass where the three-address form exists. */
static int combine_into_result(execution_t *run, int32_t segment, void *buffer)
{
    size_t count = segment_count(run, segment);
    void *own = own_segment(run, segment);
    void *result = result_segment(run, segment);
    int rc;

    if (has_three_address_form(run, count)) {
        ompi_3buff_op_reduce(run->op, own, buffer, result, (coll_clv_count_t) count, run->dtype);
        return OMPI_SUCCESS;
    }
    rc = copy_elements(run, count, result, own);
    if (OMPI_SUCCESS == rc) {
        ompi_op_reduce(run->op, buffer, result, count, run->dtype);
    }
    return rc;
}

static int combine_in_rbuf(execution_t *run, int32_t segment, void *buffer, bool holds)
{
    size_t count = segment_count(run, segment);
    int32_t where = run->copy[segment];

    run->copy[segment] = COPY_RESULT;
    if (!holds) {
        return copy_elements(run, count, result_segment(run, segment), buffer);
    }
    if (COPY_OWN == where) {
        return combine_into_result(run, segment, buffer);
    }
    ompi_op_reduce(run->op, buffer, result_segment(run, segment), count, run->dtype);
    return OMPI_SUCCESS;
}

/* Returns the buffer that is free afterwards; negative if the received one became the copy. */
static int32_t combine_on_the_way(execution_t *run, int32_t segment, int32_t buffer, bool holds)
{
    size_t count = segment_count(run, segment);
    int32_t where = run->copy[segment];

    if (holds && where >= 0) {
        ompi_op_reduce(run->op, buffer_at(run, buffer), buffer_at(run, where), count, run->dtype);
        return buffer;
    }
    if (holds) {
        ompi_op_reduce(run->op, own_segment(run, segment), buffer_at(run, buffer), count,
                       run->dtype);
    }
    run->copy[segment] = buffer;
    return COPY_OWN;
}

static clv_status_t combine(void *context, int32_t slot, int32_t segment, bool holds)
{
    execution_t *run = context;
    int32_t buffer = run->recv_buffer[slot];

    if (run->results) {
        int rc = combine_in_rbuf(run, segment, buffer_at(run, buffer), holds);
        buffer_release(run, buffer);
        return OMPI_SUCCESS == rc ? CLV_OK : failed(run, rc);
    }
    buffer_release(run, combine_on_the_way(run, segment, buffer, holds));
    return CLV_OK;
}

static void where(void *context, coll_clv_where_t *where_p)
{
    const execution_t *run = context;
    const clv_exec_t *exec = &run->exec;

    where_p->for_what = COLL_CLV_WAIT_MESSAGES;
    where_p->receives = exec->recvs.n_open;
    where_p->sends = exec->sends.n_open;
    where_p->steps = exec->next_recv < exec->next_send ? exec->next_recv : exec->next_send;
    if (exec->recvs.n_open > 0) {
        where_p->receive_rank = exec->recvs.open[0].peer;
        where_p->receive_segment = exec->recvs.open[0].segment;
    }
    if (exec->sends.n_open > 0) {
        where_p->send_rank = exec->sends.open[0].peer;
        where_p->send_segment = exec->sends.open[0].segment;
    }
}

/* Appends the open entries of a window; returns the bytes used so far. */
static int list_open(const clv_exec_window_t *window, const char *what, char *words, int n_bytes,
                     int used)
{
    for (int32_t i = 0; i < window->n_open && used < n_bytes; i++) {
        const clv_exec_entry_t *entry = &window->open[i];
        used += snprintf(words + used, (size_t) (n_bytes - used), "%s%srank %d segment %d%s",
                         0 == i ? what : ", ", 0 == i ? " " : "", (int) entry->peer,
                         (int) entry->segment, entry->arrived ? " (here)" : "");
    }
    return used < n_bytes ? used : n_bytes;
}

static void words(void *context, char *text, int n_bytes)
{
    const execution_t *run = context;
    const clv_exec_t *exec = &run->exec;
    const int64_t begun = exec->next_recv < exec->next_send ? exec->next_recv : exec->next_send;
    int used = snprintf(text, (size_t) n_bytes,
                        "rank %d of %s in step %lld of %lld of a plan for %zu bytes; ", run->rank,
                        run->comm->c_name, (long long) begun, (long long) exec->n_steps,
                        run->job->count * run->element_bytes);

    used = list_open(&exec->recvs, "receives from", text, n_bytes, used < n_bytes ? used : n_bytes);
    (void) list_open(&exec->sends, exec->recvs.n_open > 0 ? "; sends to" : "sends to", text,
                     n_bytes, used);
}

static const coll_clv_wait_ops_t wait_ops = {.where = where, .words = words};

/* opal_progress yields if it should and nothing happens. Failures are looked for only here: a
 * failed request keeps the plan from advancing. */
static clv_status_t progress(void *context)
{
    execution_t *run = context;
    int rc;

    coll_clv_sleep_sends(run->job->nap, run->exec.sends.n_open);
    opal_progress();
    coll_clv_wait_turn(&run->wait, &wait_ops, run);
    rc = coll_clv_failure_or_broken(run->comm, run->job->is_broken, run->job->context);
    return OMPI_SUCCESS == rc ? CLV_OK : failed(run, rc);
}

static const clv_exec_ops_t pml_ops = {.post_recv = post_recv,
                                       .post_send = post_send,
                                       .test_recv = test_recv,
                                       .test_send = test_send,
                                       .combine = combine,
                                       .progress = progress};

/* --- scratch --- */

void coll_clv_scratch_drop(coll_clv_scratch_t *scratch)
{
    clv_free(scratch->buffers);
    clv_free(scratch->tables);
    *scratch = (coll_clv_scratch_t){
        .has_opened = scratch->has_opened, .yields = scratch->yields, .ahead = scratch->ahead};
}

void coll_clv_scratch_free(coll_clv_scratch_t *scratch)
{
    coll_clv_scratch_drop(scratch);
    coll_clv_ahead_free(scratch->ahead);
    *scratch = (coll_clv_scratch_t){0};
}

/* Memory for at least n_items of item_bytes each, of any content. */
static void *reserve(void **memory_p, size_t *bytes_p, size_t n_items, size_t item_bytes)
{
    if (NULL == *memory_p || 0 == item_bytes || n_items > *bytes_p / item_bytes) {
        void *memory = clv_alloc(n_items, item_bytes);
        if (NULL != memory) {
            clv_free(*memory_p);
            *memory_p = memory;
            *bytes_p = n_items * item_bytes;
        }
        return memory;
    }
    return *memory_p;
}

/* Frees the buffers if they are large. */
static void scratch_trim(coll_clv_scratch_t *scratch)
{
    if (scratch->buffer_bytes > COLL_CLV_SCRATCH_KEEP_BYTES) {
        clv_free(scratch->buffers);
        scratch->buffers = NULL;
        scratch->buffer_bytes = 0;
    }
}

/* How many receives can be open at once. */
static int32_t count_open(int64_t n_recvs, bool one_source)
{
    const int64_t most = one_source ? COLL_CLV_SOURCE_WINDOW : COLL_CLV_RECV_WINDOW;
    return (int32_t) (n_recvs < most ? n_recvs : most);
}

/* The most buffers in use at once: one per open receive and, unless the result is built in rbuf,
 * one per received segment. Uses run->copy for marks, then sets it to the initial copies. */
static int32_t count_buffers(execution_t *run, const clv_step_t *steps, int64_t n_steps,
                             int32_t n_segments)
{
    int32_t n_kept = 0;
    int64_t n_recvs = 0;
    int32_t source = -1;
    bool one_source = true;

    memset(run->copy, 0, (size_t) n_segments * sizeof *run->copy);
    for (int64_t i = 0; i < n_steps; i++) {
        if (!clv_step_is_send(&steps[i])) {
            n_recvs++;
            one_source = one_source && (source < 0 || source == steps[i].peer);
            source = steps[i].peer;
            n_kept += 0 == run->copy[steps[i].segment];
            run->copy[steps[i].segment] = 1;
        }
    }
    for (int32_t s = 0; s < n_segments; s++) {
        run->copy[s] = run->in_place ? COPY_RESULT : COPY_OWN;
    }
    return (run->results ? 0 : n_kept) + count_open(n_recvs, one_source);
}

/* Lays out the int32 tables: segment and peer counters, places of copies, free buffers. */
static int begin(execution_t *run, const coll_clv_job_t *job)
{
    const clv_exec_limits_t limits = {COLL_CLV_RECV_WINDOW, COLL_CLV_SEND_WINDOW,
                                      NULL == run->scratch->ahead ? COLL_CLV_SYNC_EVERY
                                                                  : CLV_EXEC_NEVER_SYNC,
                                      job->policy, COLL_CLV_SOURCE_WINDOW};
    int32_t n_ranks = ompi_comm_size(run->comm), n_segments = job->n_segments;
    size_t segment_bytes = (size_t) n_segments * sizeof(clv_exec_segment_t);
    size_t peer_bytes = (size_t) n_ranks * sizeof(clv_exec_peer_t);
    size_t copy_bytes = (size_t) n_segments * sizeof *run->copy;
    size_t free_bytes = ((size_t) n_segments + COLL_CLV_RECV_WINDOW) * sizeof *run->free_buffers;
    char *tables = reserve(&run->scratch->tables, &run->scratch->table_bytes,
                           segment_bytes + peer_bytes + copy_bytes + free_bytes, 1);

    if (NULL == tables) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    run->copy = (void *) (tables + segment_bytes + peer_bytes);
    run->free_buffers = (void *) (tables + segment_bytes + peer_bytes + copy_bytes);
    return CLV_OK == clv_exec_begin(&run->exec, job->steps, job->n_steps, &limits, &pml_ops, run,
                                    (void *) tables, n_segments, (void *) (tables + segment_bytes),
                                    n_ranks, clv_goal_has_at_start(job->goal, job->root, run->rank))
               ? OMPI_SUCCESS
               : OMPI_ERR_BAD_PARAM;
}

/* Each buffer has room for the longest segment. */
static int lay_out_buffers(execution_t *run, int32_t n_buffers)
{
    const coll_clv_buffers_t layout =
        coll_clv_buffers_for(run->dtype, run->quota + (run->longer > 0), run->op,
                             MPI_IN_PLACE == run->own ? run->result : run->own);
    char *memory;

    run->stride = layout.stride;
    run->n_free = n_buffers;
    for (int32_t b = 0; b < n_buffers; b++) {
        run->free_buffers[b] = b;
    }
    if (0 == n_buffers) {
        return OMPI_SUCCESS;
    }
    memory = reserve(&run->scratch->buffers, &run->scratch->buffer_bytes,
                     coll_clv_buffers_bytes(&layout, (size_t) n_buffers), 1);
    if (NULL == memory) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    run->buffers = coll_clv_buffers_first(&layout, memory);
    return OMPI_SUCCESS;
}

/* --- after an error --- */

/* Gives up all requests, and with them the memory that they may still use. */
static void abandon(execution_t *run)
{
    enum { N_REQUESTS = COLL_CLV_RECV_WINDOW + COLL_CLV_SEND_WINDOW };
    ompi_request_t *requests[N_REQUESTS];

    coll_clv_take_back(run->recvs, COLL_CLV_RECV_WINDOW);
    memcpy(requests, run->recvs, sizeof run->recvs);
    memcpy(requests + COLL_CLV_RECV_WINDOW, run->sends, sizeof run->sends);
    coll_clv_give_up(requests, N_REQUESTS, run->scratch->buffers,
                     NULL == run->job->lent_p ? NULL : *run->job->lent_p);
    run->scratch->buffers = NULL;
    run->scratch->buffer_bytes = 0;
    if (NULL != run->job->lent_p) {
        *run->job->lent_p = NULL;
    }
}

/* Accounts for the rest of the call as if it had been exchanged, as our peers do. */
static void close_credit(const execution_t *run)
{
    coll_clv_ahead_t *ahead = run->scratch->ahead;

    coll_clv_ahead_fail(ahead);
    for (int32_t i = 0; i < run->exec.n_put_off; i++) {
        const clv_exec_entry_t *entry = &run->exec.put_off[i];
        coll_clv_ahead_posted(ahead, entry->peer, segment_bytes(run, entry->segment));
    }
    for (int64_t i = 0; i < run->exec.n_steps; i++) {
        const clv_step_t *step = &run->exec.steps[i];
        const size_t n_bytes = segment_bytes(run, step->segment);
        const bool sends = clv_step_is_send(step);
        if (sends && i >= run->exec.next_send) {
            coll_clv_ahead_sent(ahead, step->peer, n_bytes);
        } else if (!sends && i >= run->exec.next_recv) {
            coll_clv_ahead_posted(ahead, step->peer, n_bytes);
        }
    }
}

/* --- the call --- */

/* Copies to rbuf what the goal wants there and is still elsewhere: a block combined in buffers, or
 * the contribution of a rank that is alone in its communicator. */
static int complete_result(execution_t *run, int32_t first, int32_t end)
{
    int rc = OMPI_SUCCESS;

    for (int32_t s = first; s < end && OMPI_SUCCESS == rc; s++) {
        void *copy = copy_of(run, s);
        if (copy != result_segment(run, s)) {
            rc = copy_elements(run, segment_count(run, s), result_segment(run, s), copy);
        }
    }
    return rc;
}

/* Set by the user, or by Open MPI on a host with more ranks than processors. */
static bool yields_when_idle(void)
{
    const int index = mca_base_var_find("ompi", "mpi", NULL, "yield_when_idle");
    const bool *value = NULL;

    return index >= 0 && OPAL_SUCCESS == mca_base_var_get_value(index, &value, NULL, NULL) &&
           NULL != value && *value;
}

/* The first call opens the credit, on all ranks or on none. */
static int enter_credit(const coll_clv_job_t *job, coll_clv_scratch_t *scratch)
{
    int rc = OMPI_SUCCESS;

    if (!scratch->has_opened) {
        rc = coll_clv_ahead_open(job->comm, job->is_broken, job->context, &scratch->ahead);
        scratch->has_opened = OMPI_SUCCESS == rc;
        scratch->yields = job->yields || yields_when_idle();
    }
    if (NULL != scratch->ahead) {
        coll_clv_ahead_enter(scratch->ahead);
    }
    return rc;
}

static int run_steps(execution_t *run, const coll_clv_job_t *job)
{
    const clv_status_t status = clv_exec_run(&run->exec);

    coll_clv_wait_end(&run->wait);
    if (CLV_OK != status) {
        abandon(run);
        if (NULL != run->scratch->ahead) {
            close_credit(run);
        }
        return run->rc;
    }
    if (CLV_GOAL_REDUCE_SCATTER == job->goal) {
        const int32_t per_rank = (int32_t) run->per_block;
        return complete_result(run, run->rank * per_rank, (run->rank + 1) * per_rank);
    }
    return run->results ? complete_result(run, 0, job->n_segments) : OMPI_SUCCESS;
}

/* Sets where the vector lies and how it is cut; 0 when it cannot be cut. */
static bool lay_out_vector(execution_t *run, const coll_clv_job_t *job)
{
    const size_t n_blocks =
        CLV_GOAL_REDUCE_SCATTER == job->goal ? (size_t) ompi_comm_size(job->comm) : 1;
    ptrdiff_t lb;

    if (job->n_segments < 1 || (size_t) job->n_segments > job->count ||
        0 != job->count % n_blocks || 0 != (size_t) job->n_segments % n_blocks) {
        return false;
    }
    ompi_datatype_get_extent(job->dtype, &lb, &run->extent);
    run->block = job->count / n_blocks;
    run->per_block = (size_t) job->n_segments / n_blocks;
    run->quota = run->block / run->per_block;
    run->longer = run->block % run->per_block;
    run->own = job->sbuf;
    run->result = job->rbuf;
    if (CLV_GOAL_REDUCE_SCATTER == job->goal) {
        run->own = MPI_IN_PLACE == job->sbuf ? job->rbuf : job->sbuf;
        run->result -= (ptrdiff_t) ((size_t) run->rank * run->block) * run->extent;
    }
    return true;
}

int coll_clv_execute_steps(const coll_clv_job_t *job, coll_clv_scratch_t *scratch)
{
    execution_t run = {.scratch = scratch,
                       .rank = ompi_comm_rank(job->comm),
                       .job = job,
                       .comm = job->comm,
                       .dtype = job->dtype,
                       .op = job->op,
                       .tag = job->tag};
    int rc;

    run.results = CLV_GOAL_ALLREDUCE == job->goal || CLV_GOAL_BCAST == job->goal ||
                  (CLV_GOAL_REDUCE == job->goal && job->root == run.rank);
    run.in_place = run.results && (MPI_IN_PLACE == job->sbuf || CLV_GOAL_BCAST == job->goal);
    if (!lay_out_vector(&run, job)) {
        return OMPI_ERR_BAD_PARAM;
    }
    ompi_datatype_type_size(job->dtype, &run.element_bytes);
    rc = enter_credit(job, scratch);
    if (OMPI_SUCCESS == rc) {
        rc = begin(&run, job);
    }
    if (OMPI_SUCCESS == rc) {
        rc = lay_out_buffers(&run, count_buffers(&run, job->steps, job->n_steps, job->n_segments));
    }
    if (OMPI_SUCCESS == rc) {
        rc = run_steps(&run, job);
    }
    if (NULL != scratch->ahead) {
        coll_clv_ahead_leave(scratch->ahead);
    }
    scratch_trim(scratch);
    return rc;
}
