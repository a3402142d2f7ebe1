/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages of the channel over MPI (see coll_clv_relay.h).
 */
#include "coll_clv/coll_clv_relay.h"

#include <pthread.h>
#include <string.h>

#include "ompi/constants.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"
#include "ompi/runtime/mpiruntime.h"
#include "opal/runtime/opal_progress.h"

#include "coll_clv/coll_clv_failure.h"
#include "coll_clv/coll_clv_process.h"
#include "util/util_alloc.h"
#include "util/util_time.h"

/* A send under way, or a receive that is posted again after each message. */
typedef struct coll_clv_relay_message {
    struct coll_clv_relay_message *next;
    ompi_request_t *request;
    int rank; /* source of a receive; -1: a send */
    size_t n_bytes;
    unsigned char bytes[];
} message_t;

static pthread_mutex_t relay_lock = PTHREAD_MUTEX_INITIALIZER;
static coll_clv_relay_t *relays;
static int64_t timeout_ns;
static bool is_registered;

static message_t *new_message(coll_clv_relay_t *relay, int rank, size_t n_bytes)
{
    message_t *message = clv_alloc(1, sizeof *message + n_bytes);

    if (NULL != message) {
        message->rank = rank;
        message->n_bytes = n_bytes;
        message->next = relay->messages;
        relay->messages = message;
    }
    return message;
}

static void post(const coll_clv_relay_t *relay, message_t *message)
{
    if (OMPI_SUCCESS !=
        MCA_PML_CALL(irecv(message->bytes, message->n_bytes, MPI_BYTE, message->rank,
                           COLL_CLV_TAG_RELAY, relay->comm, &message->request))) {
        message->request = NULL;
    }
}

static void listen_to(void *context, int32_t rank)
{
    coll_clv_relay_t *relay = context;
    message_t *message = new_message(relay, rank, clv_pap_relay_bytes(ompi_comm_size(relay->comm)));

    if (NULL != message) {
        post(relay, message);
    }
}

static void send_to(void *context, int32_t rank, const void *bytes, size_t n_bytes)
{
    coll_clv_relay_t *relay = context;
    message_t *message = new_message(relay, -1, n_bytes);

    if (NULL == message) {
        return; /* the group asks for it again */
    }
    if (0 < n_bytes) {
        memcpy(message->bytes, bytes, n_bytes);
    }
    if (OMPI_SUCCESS !=
        MCA_PML_CALL(isend(message->bytes, n_bytes, MPI_BYTE, rank, COLL_CLV_TAG_RELAY,
                           MCA_PML_BASE_SEND_STANDARD, relay->comm, &message->request))) {
        message->request = NULL;
    }
}

static const clv_pap_relay_ops_t ops = {.listen = listen_to, .send = send_to};

static void take(const coll_clv_relay_t *relay, message_t *message)
{
    const size_t n_bytes = message->request->req_status._ucount;
    const bool is_whole = MPI_SUCCESS == message->request->req_status.MPI_ERROR;

    ompi_request_free(&message->request);
    message->request = NULL;
    if (is_whole) {
        clv_pap_group_relay_take(relay->pap, message->rank, message->bytes, n_bytes);
        post(relay, message);
    }
}

static bool is_over(const message_t *message)
{
    return NULL == message->request || coll_clv_is_over(message->request);
}

/* Frees sends that have completed, hands on what receives got. */
static void turn(coll_clv_relay_t *relay)
{
    message_t **at = &relay->messages;

    while (NULL != *at) {
        message_t *message = *at;
        if (0 <= message->rank && NULL != message->request && is_over(message)) {
            take(relay, message);
        }
        if (0 > message->rank && is_over(message)) {
            *at = message->next;
            if (NULL != message->request) {
                ompi_request_free(&message->request);
            }
            clv_free(message);
        } else {
            at = &message->next;
        }
    }
    clv_pap_group_relay(relay->pap, &ops, relay);
}

static int progress(void)
{
    if (0 == coll_clv_process_relays() || 0 != pthread_mutex_trylock(&relay_lock)) {
        return 0;
    }
    for (coll_clv_relay_t *one = relays; NULL != one; one = one->next) {
        turn(one);
    }
    pthread_mutex_unlock(&relay_lock);
    return 0;
}

/* ---- life ------------------------------------------------------------------------------------ */

void coll_clv_relay_open(int timeout_ms)
{
    timeout_ns = timeout_ms * CLV_NS_PER_MS;
}

void coll_clv_relay_close(void)
{
    if (is_registered) {
        (void) opal_progress_unregister(progress);
        is_registered = false;
    }
}

int64_t coll_clv_relay_lost_ns(void)
{
    return timeout_ns / 4 * 3;
}

void coll_clv_relay_begin(coll_clv_relay_t *relay, struct ompi_communicator_t *comm,
                          clv_pap_group_t *pap)
{
    pthread_mutex_lock(&relay_lock);
    if (!is_registered) {
        is_registered = OMPI_SUCCESS == opal_progress_register_lp(progress);
    }
    *relay = (coll_clv_relay_t){.next = relays, .comm = comm, .pap = pap, .has_begun = true};
    relays = relay;
    pthread_mutex_unlock(&relay_lock);
}

/* Nothing more is needed when all ranks are in MPI_Finalize or the communicator has failed. */
static bool may_leave(const coll_clv_relay_t *relay)
{
    return OMPI_SUCCESS != coll_clv_failure_of(relay->comm) ||
           ompi_mpi_state >= OMPI_MPI_STATE_FINALIZE_STARTED;
}

bool coll_clv_relay_settle(coll_clv_relay_t *relay)
{
    const int64_t end_ns = clv_local_now_ns() + timeout_ns;
    bool is_owing;

    if (!relay->has_begun) {
        return true;
    }
    while ((is_owing = clv_pap_group_is_owing(relay->pap)) && clv_local_now_ns() < end_ns) {
        opal_progress();
    }
    if (may_leave(relay)) {
        return true;
    }
    if (is_owing || clv_pap_group_is_apart(relay->pap)) {
        OBJ_RETAIN(relay->comm);
    }
    return !is_owing;
}

static void delist(coll_clv_relay_t *relay)
{
    coll_clv_relay_t **at = &relays;

    pthread_mutex_lock(&relay_lock);
    while (*at != relay) {
        at = &(*at)->next;
    }
    *at = relay->next;
    pthread_mutex_unlock(&relay_lock);
}

static void give_up(message_t *message)
{
    ompi_request_t *request = message->request;

    if (0 <= message->rank) {
        coll_clv_take_back(&request, 1);
    }
    coll_clv_give_up(&request, 1, message, NULL);
}

void coll_clv_relay_end(coll_clv_relay_t *relay)
{
    if (!relay->has_begun) {
        return;
    }
    delist(relay);
    while (NULL != relay->messages) {
        message_t *message = relay->messages;
        relay->messages = message->next;
        give_up(message);
    }
    relay->has_begun = false;
}
