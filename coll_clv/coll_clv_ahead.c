/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A communicator's credit and its messages (see coll_clv_ahead.h).
 */
#include "ompi_config.h"

#include "coll_clv/coll_clv_compat.h"

#include "coll_clv/coll_clv_ahead.h"

#include <pthread.h>
#include <stdatomic.h>

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"
#include "ompi/runtime/mpiruntime.h"
#include "opal/runtime/opal_progress.h"

#include "coll_clv/coll_clv_failure.h"
#include "coll_clv/coll_clv_gather.h"
#include "schedule/sched_credit.h"
#include "util/util_alloc.h"
#include "util/util_time.h"

/* Credit messages under way from one communicator; the next one waits for a free slot. */
#define MAX_OPEN_WORDS 32

/* With this many of a peer's credit messages outstanding, look for them even if sending is
 * allowed. */
#define MAX_OWED 64

/* How long to wait for the credit messages of a peer that may be gone. */
#define LAST_WORDS_NS CLV_NS_PER_S

typedef struct open_word {
    ompi_request_t *request;
    clv_credit_message_t message;
} open_word_t;

/* The credit between this rank and one peer. */
typedef struct peer_credit {
    clv_credit_to_t to;
    clv_credit_from_t from;
    int64_t looked_in; /* last call in which we looked for its credit messages */
    int next_active;   /* 1 + the next peer in the list of active ones; 0: not in the list */
} peer_credit_t;

struct coll_clv_ahead {
    struct ompi_communicator_t *comm;
    coll_clv_ahead_t **home_p; /* the owner's pointer to this */
    bool (*is_broken)(const void *context);
    const void *context;
    int n_ranks;
    int64_t guaranteed; /* minimum credit of each of the others towards this rank, bytes */
    int64_t call;
    bool waits;       /* the send being asked for has been refused before */
    bool failed;      /* something went wrong in a call */
    int first_active; /* 1 + a peer with messages since the call began; above n_ranks: none */
    int n_open;
    open_word_t open[MAX_OPEN_WORDS];
    peer_credit_t credit[];
};

/* ---- the process ----------------------------------------------------------------------------- */

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static clv_credit_pool_t pool;

static _Atomic int64_t bytes_now, bytes_max, n_waits, n_looks;

void coll_clv_ahead_budget(int64_t n_bytes)
{
    clv_credit_pool_open(&pool, n_bytes, COLL_CLV_GRANT_CALLS);
}

void coll_clv_ahead_gauges(coll_clv_ahead_gauges_t *gauges)
{
    gauges->bytes = atomic_load(&bytes_now);
    gauges->bytes_max = atomic_load(&bytes_max);
    gauges->waits = atomic_load(&n_waits);
    gauges->looks = atomic_load(&n_looks);
    pthread_mutex_lock(&pool_lock);
    gauges->promised_bytes = pool.guaranteed + pool.granted;
    pthread_mutex_unlock(&pool_lock);
}

static void count_bytes(int64_t difference)
{
    int64_t now = atomic_fetch_add(&bytes_now, difference) + difference;
    int64_t max = atomic_load(&bytes_max);

    while (now > max && !atomic_compare_exchange_weak(&bytes_max, &max, now)) {
    }
}

/* The failure of the communicator, or of one of its calls on another rank. */
static int failure_of(const coll_clv_ahead_t *ahead)
{
    return coll_clv_failure_or_broken(ahead->comm, ahead->is_broken, ahead->context);
}

/* ---- credit messages we send ----------------------------------------------------------------- */

/* Frees the slots of completed requests. A message that failed because its peer is gone is no loss.
 * Returns a free slot, NULL when there is none. */
static open_word_t *reap_words(coll_clv_ahead_t *ahead)
{
    open_word_t *place = NULL;

    for (int i = 0; i < MAX_OPEN_WORDS; i++) {
        open_word_t *open = &ahead->open[i];
        if (NULL != open->request && coll_clv_is_over(open->request)) {
            ompi_request_free(&open->request);
            open->request = NULL;
            ahead->n_open--;
        }
        if (NULL == open->request) {
            place = open;
        }
    }
    return place;
}

/* NULL when the communicator has failed: no rank is left to receive. */
static open_word_t *wait_for_place(coll_clv_ahead_t *ahead)
{
    open_word_t *place;

    while (NULL == (place = reap_words(ahead)) && OMPI_SUCCESS == failure_of(ahead)) {
        opal_progress();
    }
    return place;
}

static void tell(coll_clv_ahead_t *ahead, int peer, const clv_credit_message_t *message)
{
    open_word_t *open = wait_for_place(ahead);
    int rc = OMPI_ERROR;

    if (NULL != open) {
        open->message = *message;
        rc = MCA_PML_CALL(isend(&open->message, sizeof open->message, MPI_BYTE, peer,
                                COLL_CLV_TAG_CREDIT, MCA_PML_BASE_SEND_STANDARD, ahead->comm,
                                &open->request));
    }
    if (OMPI_SUCCESS == rc) {
        ahead->n_open++;
        return;
    }
    ahead->failed = true;
    if (NULL != open) {
        open->request = NULL;
    }
}

/* Both ends of a pair note it, and both begin the next call with it. */
static void note_active(coll_clv_ahead_t *ahead, int peer)
{
    if (0 == ahead->credit[peer].next_active) {
        ahead->credit[peer].next_active = ahead->first_active;
        ahead->first_active = 1 + peer;
    }
}

void coll_clv_ahead_posted(coll_clv_ahead_t *ahead, int peer, size_t n_bytes)
{
    int64_t charge = clv_credit_charge((int64_t) n_bytes);
    clv_credit_message_t message;
    bool tells;

    note_active(ahead, peer);
    pthread_mutex_lock(&pool_lock);
    tells = clv_credit_posted(&ahead->credit[peer].from, &pool, ahead->call, charge, &message);
    pthread_mutex_unlock(&pool_lock);
    if (tells) {
        tell(ahead, peer, &message);
    }
}

/* Whether we may stop waiting for credit messages at end_ns: after a failure, or in MPI_Finalize,
 * where losing one does no harm and waiting for it could. */
static bool may_give_up(const coll_clv_ahead_t *ahead)
{
    return ahead->failed || OMPI_SUCCESS != failure_of(ahead) ||
           ompi_mpi_state >= OMPI_MPI_STATE_FINALIZE_STARTED;
}

static bool must_wait(const coll_clv_ahead_t *ahead, int64_t end_ns)
{
    return !may_give_up(ahead) || clv_local_now_ns() < end_ns;
}

/* Short: an eager message completes as soon as the transport has it. */
void coll_clv_ahead_leave(coll_clv_ahead_t *ahead)
{
    int64_t end_ns;

    (void) reap_words(ahead);
    if (0 == ahead->n_open) {
        return;
    }
    end_ns = clv_local_now_ns() + LAST_WORDS_NS;
    while (ahead->n_open > 0 && must_wait(ahead, end_ns)) {
        opal_progress();
        (void) reap_words(ahead);
    }
}

/* ---- credit messages we get ------------------------------------------------------------------ */

/* Receives the credit messages that have arrived. */
static int take_words(coll_clv_ahead_t *ahead, int peer)
{
    clv_credit_to_t *to = &ahead->credit[peer].to;
    clv_credit_message_t message;
    int is_here = 1;

    atomic_fetch_add(&n_looks, 1);
    for (;;) {
        int64_t before = clv_credit_ahead(to);
        int rc = MCA_PML_CALL(
            iprobe(peer, COLL_CLV_TAG_CREDIT, ahead->comm, &is_here, MPI_STATUS_IGNORE));
        if (OMPI_SUCCESS != rc || !is_here) {
            return rc;
        }
        rc = MCA_PML_CALL(recv(&message, sizeof message, MPI_BYTE, peer, COLL_CLV_TAG_CREDIT,
                               ahead->comm, MPI_STATUS_IGNORE));
        if (OMPI_SUCCESS != rc) {
            return rc;
        }
        clv_credit_take(to, &message);
        count_bytes(clv_credit_ahead(to) - before);
    }
}

/* Usually false. A probe that finds nothing makes Open MPI progress, which may yield the core just
 * when a segment could leave. */
static bool must_look(const coll_clv_ahead_t *ahead, const peer_credit_t *credit, bool may_send)
{
    const int64_t n_owed = credit->to.n_owed - credit->to.n_taken;

    return !may_send || (n_owed >= MAX_OWED && credit->looked_in != ahead->call);
}

clv_status_t coll_clv_ahead_ask(coll_clv_ahead_t *ahead, int peer, size_t n_bytes, int *rc_p)
{
    peer_credit_t *credit = &ahead->credit[peer];
    int64_t charge = clv_credit_charge((int64_t) n_bytes);
    bool may_send = clv_credit_may_send(&credit->to, ahead->call, charge);

    if (must_look(ahead, credit, may_send)) {
        int rc = take_words(ahead, peer);
        if (OMPI_SUCCESS != rc) {
            *rc_p = rc;
            return CLV_LOST;
        }
        credit->looked_in = ahead->call;
        may_send = clv_credit_may_send(&credit->to, ahead->call, charge);
    }
    if (!may_send && !ahead->waits) {
        atomic_fetch_add(&n_waits, 1);
    }
    ahead->waits = !may_send;
    return may_send ? CLV_OK : CLV_AGAIN;
}

void coll_clv_ahead_sent(coll_clv_ahead_t *ahead, int peer, size_t n_bytes)
{
    clv_credit_to_t *to = &ahead->credit[peer].to;
    int64_t before = clv_credit_ahead(to);

    note_active(ahead, peer);
    clv_credit_sent(to, clv_credit_charge((int64_t) n_bytes));
    count_bytes(clv_credit_ahead(to) - before);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void begin_call(coll_clv_ahead_t *ahead, int peer)
{
    peer_credit_t *credit = &ahead->credit[peer];
    clv_credit_message_t message;
    bool tells;

    ahead->first_active = credit->next_active;
    credit->next_active = 0;
    clv_credit_begin_to(&credit->to);
    pthread_mutex_lock(&pool_lock);
    tells = clv_credit_begin_from(&credit->from, &pool, ahead->call, &message);
    pthread_mutex_unlock(&pool_lock);
    if (tells) {
        tell(ahead, peer, &message);
    }
}

/* Expired grants are collected only every COLL_CLV_GRANT_CALLS calls: a rank may have many
 * peers. */
void coll_clv_ahead_enter(coll_clv_ahead_t *ahead)
{
    ahead->call++;
    ahead->waits = false;
    while (ahead->first_active <= ahead->n_ranks) {
        begin_call(ahead, ahead->first_active - 1);
    }
    if (0 == ahead->call % COLL_CLV_GRANT_CALLS) {
        pthread_mutex_lock(&pool_lock);
        for (int peer = 0; peer < ahead->n_ranks; peer++) {
            clv_credit_enter(&ahead->credit[peer].from, &pool, ahead->call);
        }
        pthread_mutex_unlock(&pool_lock);
    }
}

void coll_clv_ahead_fail(coll_clv_ahead_t *ahead)
{
    ahead->failed = true;
}

/* ---- open and close -------------------------------------------------------------------------- */

static void promise(coll_clv_ahead_t *ahead)
{
    pthread_mutex_lock(&pool_lock);
    ahead->guaranteed = clv_credit_guarantee_open(&pool, ahead->n_ranks - 1);
    pthread_mutex_unlock(&pool_lock);
}

static void give_back(coll_clv_ahead_t *ahead)
{
    pthread_mutex_lock(&pool_lock);
    for (int peer = 0; peer < ahead->n_ranks; peer++) {
        clv_credit_close(&ahead->credit[peer].from, &pool);
    }
    clv_credit_guarantee_close(&pool, ahead->guaranteed, ahead->n_ranks - 1);
    pthread_mutex_unlock(&pool_lock);
}

static int exchange_promises(coll_clv_ahead_t *ahead)
{
    void *all = clv_alloc((size_t) ahead->n_ranks, sizeof ahead->guaranteed);
    const int64_t *guarantees = all;
    int rc = OMPI_ERR_OUT_OF_RESOURCE;

    if (NULL != all) {
        rc = coll_clv_gather(ahead->comm, &ahead->guaranteed, &all, sizeof ahead->guaranteed);
    }
    for (int peer = 0; OMPI_SUCCESS == rc && peer < ahead->n_ranks; peer++) {
        ahead->credit[peer].from.guaranteed = ahead->guaranteed;
        ahead->credit[peer].to.guaranteed = guarantees[peer];
    }
    clv_free(all);
    return rc;
}

static int64_t messages_owed(const coll_clv_ahead_t *ahead, int peer)
{
    return ahead->credit[peer].to.n_owed - ahead->credit[peer].to.n_taken;
}

/* Called when the user frees the communicator, while it still works. A failed communicator never
 * reduces again, but Open MPI may keep it and its module for good: its credit is freed here. */
static void take_last_words(struct ompi_communicator_t *comm, void *context)
{
    coll_clv_ahead_t *ahead = context;
    const int64_t end_ns = clv_local_now_ns() + LAST_WORDS_NS;

    for (int peer = 0; peer < ahead->n_ranks; peer++) {
        while (messages_owed(ahead, peer) > 0 && must_wait(ahead, end_ns) &&
               OMPI_SUCCESS == take_words(ahead, peer)) {
        }
    }
    if (OMPI_SUCCESS != coll_clv_failure_of(comm)) {
        *ahead->home_p = NULL;
        coll_clv_ahead_free(ahead);
    }
}

int coll_clv_ahead_open(struct ompi_communicator_t *comm, bool (*is_broken)(const void *),
                        const void *context, coll_clv_ahead_t **ahead_p)
{
    int n_ranks = ompi_comm_size(comm);
    coll_clv_ahead_t *ahead;
    int rc;

    *ahead_p = NULL;
    if (0 == pool.bytes) {
        return OMPI_SUCCESS;
    }
    ahead = clv_alloc(1, sizeof *ahead + (size_t) n_ranks * sizeof ahead->credit[0]);
    if (NULL == ahead) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    ahead->comm = comm;
    ahead->home_p = ahead_p;
    ahead->is_broken = is_broken;
    ahead->context = context;
    ahead->n_ranks = n_ranks;
    ahead->first_active = 1 + n_ranks;
    promise(ahead);
    rc = exchange_promises(ahead);
    if (OMPI_SUCCESS == rc) {
        rc = coll_clv_failure_on_free(comm, take_last_words, ahead);
    }
    if (OMPI_SUCCESS != rc) {
        coll_clv_ahead_free(ahead);
        return rc;
    }
    *ahead_p = ahead;
    return OMPI_SUCCESS;
}

/* Our open credit messages end first: Open MPI reads them from this memory. */
static void release(coll_clv_ahead_t *ahead)
{
    ompi_request_t *requests[MAX_OPEN_WORDS];

    if (0 == ahead->n_open) {
        clv_free(ahead);
        return;
    }
    for (int i = 0; i < MAX_OPEN_WORDS; i++) {
        requests[i] = ahead->open[i].request;
    }
    coll_clv_give_up(requests, MAX_OPEN_WORDS, ahead, NULL);
}

void coll_clv_ahead_free(coll_clv_ahead_t *ahead)
{
    if (NULL == ahead) {
        return;
    }
    for (int peer = 0; peer < ahead->n_ranks; peer++) {
        count_bytes(-clv_credit_ahead(&ahead->credit[peer].to));
    }
    give_back(ahead);
    release(ahead);
}
