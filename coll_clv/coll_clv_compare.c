/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Questions about calls, and answers (see coll_clv_compare.h).
 */
#include "coll_clv/coll_clv_compat.h"

#include "coll_clv/coll_clv_compare.h"

#include <pthread.h>
#include <stdio.h>

#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"
#include "opal/runtime/opal_progress.h"

#include "choose/choose.h"
#include "choose/choose_print.h"
#include "coll_clv/coll_clv.h"
#include "coll_clv/coll_clv_failure.h"
#include "coll_clv/coll_clv_wait.h"
#include "util/util_alloc.h"
#include "util/util_hot.h"
#include "util/util_log.h"
#include "util/util_min_max.h"
#include "util/util_time.h"

/* Turns of progress per reading of the clock. */
#define TURNS_PER_CLOCK 64

/* Limits of one look: communicators, and messages of each. */
#define MAX_LOOKED_AT 64
#define MAX_TAKEN     64

typedef enum kind { ASKS, ANSWERS } kind_t;

typedef struct said {
    int64_t kind;
    int64_t call;
    coll_clv_passed_t passed; /* of an answer */
} said_t;

typedef struct coll_clv_compare_message {
    struct coll_clv_compare_message *next;
    ompi_request_t *request;
    said_t said;
} message_t;

/* Recursive: a thread inside a look may release a communicator. */
static pthread_mutex_t compare_lock;
static coll_clv_compare_t *all;
static coll_clv_compare_t *next_looked_at; /* NULL: the first of all */
static bool is_looking;
static bool is_registered;
static int64_t stall_ns;

/* ---- messages -------------------------------------------------------------------------------- */

static void say(coll_clv_compare_t *compare, int rank, const said_t *said)
{
    message_t *message = clv_alloc(1, sizeof *message);

    if (NULL == message) {
        return;
    }
    message->said = *said;
    if (OMPI_SUCCESS != MCA_PML_CALL(isend(&message->said, sizeof message->said, MPI_BYTE, rank,
                                           COLL_CLV_TAG_COMPARE, MCA_PML_BASE_SEND_STANDARD,
                                           compare->comm, &message->request))) {
        clv_free(message);
        return;
    }
    message->next = compare->messages;
    compare->messages = message;
}

static void reap(coll_clv_compare_t *compare)
{
    message_t **at = &compare->messages;

    while (NULL != *at) {
        message_t *message = *at;
        if (coll_clv_is_over(message->request)) {
            *at = message->next;
            ompi_request_free(&message->request);
            clv_free(message);
        } else {
            at = &message->next;
        }
    }
}

/* ---- words ----------------------------------------------------------------------------------- */

#define WORDS_BYTES 128

static void words_of(const coll_clv_passed_t *passed, char *words)
{
    char root[32];

    clv_choose_print_root(root, sizeof root, passed->collective, passed->root);
    (void) snprintf(words, WORDS_BYTES, "%s of %lld x %lld bytes%s",
                    clv_collective_name(passed->collective), (long long) passed->count,
                    (long long) (passed->total_bytes / clv_larger(passed->count, 1)), root);
}

/* False: this rank does not know the call, because it has not made it yet or has forgotten it. */
static bool passed_in(const coll_clv_compare_t *compare, int64_t call, coll_clv_passed_t *passed_p)
{
    const coll_clv_passed_t *passed = &compare->newest[(call - 1) % COLL_CLV_COMPARE_CALLS];
    int64_t n_calls = __atomic_load_n(&compare->n_calls, __ATOMIC_ACQUIRE);

    if (call < 1 || call > n_calls) {
        return false;
    }
    passed_p->count = __atomic_load_n(&passed->count, __ATOMIC_RELAXED);
    passed_p->total_bytes = __atomic_load_n(&passed->total_bytes, __ATOMIC_RELAXED);
    passed_p->root = __atomic_load_n(&passed->root, __ATOMIC_RELAXED);
    passed_p->collective = __atomic_load_n(&passed->collective, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    n_calls = __atomic_load_n(&compare->n_calls, __ATOMIC_RELAXED);
    return call > n_calls - COLL_CLV_COMPARE_CALLS + 1;
}

/* The counts of a broadcast may differ between ranks if the bytes agree. */
static bool is_same(const coll_clv_passed_t *a, const coll_clv_passed_t *b)
{
    return a->total_bytes == b->total_bytes && a->collective == b->collective && a->root == b->root;
}

static CLV_COLD void tell_difference(coll_clv_compare_t *compare, int rank, const said_t *said)
{
    char here[WORDS_BYTES], there[WORDS_BYTES];
    coll_clv_passed_t own;

    if (compare->differs || said->call != compare->asked_call ||
        !passed_in(compare, said->call, &own) || is_same(&own, &said->passed)) {
        return;
    }
    compare->differs = true;
    words_of(&own, here);
    words_of(&said->passed, there);
    clv_log(CLV_LOG_ERROR,
            "call %lld on %s is not the same on all ranks: rank %d has %s, rank %d has %s; the "
            "program is wrong, even if Open MPI alone (--mca coll ^clv) accepts it",
            (long long) said->call, compare->comm->c_name, ompi_comm_rank(compare->comm), here,
            rank, there);
}

/* ---- looking --------------------------------------------------------------------------------- */

static void take(coll_clv_compare_t *compare, int rank, const said_t *said)
{
    said_t answer = {.kind = ANSWERS, .call = said->call};

    if (ANSWERS == said->kind) {
        tell_difference(compare, rank, said);
    } else if (passed_in(compare, said->call, &answer.passed)) {
        say(compare, rank, &answer);
    }
}

static void take_all(coll_clv_compare_t *compare)
{
    struct ompi_communicator_t *comm = compare->comm;
    ompi_status_public_t status;
    said_t said;
    int is_here = 0;

    for (int n = 0; n < MAX_TAKEN; n++) {
        if (OMPI_SUCCESS != MCA_PML_CALL(iprobe(MPI_ANY_SOURCE, COLL_CLV_TAG_COMPARE, comm,
                                                &is_here, &status)) ||
            !is_here) {
            return;
        }
        if (OMPI_SUCCESS != MCA_PML_CALL(recv(&said, sizeof said, MPI_BYTE, status.MPI_SOURCE,
                                              COLL_CLV_TAG_COMPARE, comm, MPI_STATUS_IGNORE))) {
            return;
        }
        take(compare, status.MPI_SOURCE, &said);
    }
}

static CLV_COLD void ask(coll_clv_compare_t *compare, int64_t call, int64_t now_ns)
{
    const int n_ranks = ompi_comm_size(compare->comm), rank = ompi_comm_rank(compare->comm);
    const int n_asked = (int) clv_smaller(n_ranks - 1, COLL_CLV_COMPARE_RANKS);
    const said_t question = {.kind = ASKS, .call = call};

    compare->asked_call = call;
    compare->asked_ns = now_ns;
    for (int i = 1; i <= n_asked; i++) {
        say(compare, (rank + i) % n_ranks, &question);
    }
}

/* Silent for a call that waits for a forecast or in a plan: that wait reports itself, in more
 * detail. */
static CLV_COLD void tell_waiting(coll_clv_compare_t *compare, int64_t call, int64_t waited_ns)
{
    coll_clv_passed_t own;
    coll_clv_where_t where;
    char here[WORDS_BYTES];

    coll_clv_wait_read(&where);
    if (compare->has_reported || COLL_CLV_WAIT_NOTHING != where.for_what ||
        !passed_in(compare, call, &own)) {
        return;
    }
    compare->has_reported = true;
    words_of(&own, here);
    clv_log(CLV_LOG_ERROR, "waiting for %lld s: rank %d of %s in call %lld, %s, inside Open MPI",
            (long long) (waited_ns / CLV_NS_PER_S), ompi_comm_rank(compare->comm),
            compare->comm->c_name, (long long) call, here);
}

static void look_at(coll_clv_compare_t *compare, int64_t now_ns)
{
    const int64_t call = __atomic_load_n(&compare->under_way, __ATOMIC_RELAXED);

    if (call != compare->seen) {
        compare->seen = call;
        compare->since_ns = now_ns;
        compare->asked_ns = 0;
        compare->has_reported = false;
        compare->differs = false;
    } else if (0 != call && now_ns - compare->since_ns >= stall_ns &&
               now_ns - compare->asked_ns >= stall_ns) {
        tell_waiting(compare, call, now_ns - compare->since_ns);
        ask(compare, call, now_ns);
    }
    reap(compare);
    take_all(compare);
}

/* True: comm lives, and cannot end before OBJ_RELEASE. False: another thread is taking it apart and
 * may be waiting for the lock in coll_clv_compare_end. */
static bool hold(struct ompi_communicator_t *comm)
{
    opal_object_t *object = (opal_object_t *) comm;

    if (1 < opal_obj_update(object, 1)) {
        return true;
    }
    (void) opal_obj_update(object, -1);
    return false;
}

/* Looks at MAX_LOOKED_AT communicators at most, then goes on with the next ones, to stay short. */
static void look(int64_t now_ns)
{
    is_looking = true;
    for (int n = 0; n < MAX_LOOKED_AT; n++) {
        coll_clv_compare_t *compare = NULL == next_looked_at ? all : next_looked_at;
        struct ompi_communicator_t *comm = NULL == compare ? NULL : compare->comm;
        if (NULL == compare) {
            break;
        }
        next_looked_at = compare->next;
        if (hold(comm)) {
            look_at(compare, now_ns);
            OBJ_RELEASE(comm);
        }
        if (NULL == next_looked_at) {
            break;
        }
    }
    is_looking = false;
}

static int progress(void)
{
    static uint32_t turns;
    static int64_t looked_ns;
    int64_t now_ns;

    if (0 != __atomic_add_fetch(&turns, 1, __ATOMIC_RELAXED) % TURNS_PER_CLOCK) {
        return 0;
    }
    now_ns = clv_local_now_ns();
    if (now_ns - __atomic_load_n(&looked_ns, __ATOMIC_RELAXED) < COLL_CLV_COMPARE_NS ||
        0 != pthread_mutex_trylock(&compare_lock)) {
        return 0;
    }
    if (!is_looking) {
        __atomic_store_n(&looked_ns, now_ns, __ATOMIC_RELAXED);
        look(now_ns);
    }
    pthread_mutex_unlock(&compare_lock);
    return 0;
}

void coll_clv_compare_failed(coll_clv_compare_t *compare)
{
    const int64_t end_ns = clv_local_now_ns() + COLL_CLV_COMPARE_WAIT_NS;

    if (!is_registered) {
        return;
    }
    pthread_mutex_lock(&compare_lock);
    is_looking = true;
    ask(compare, compare->n_calls, clv_local_now_ns());
    while (!compare->differs && clv_local_now_ns() < end_ns) {
        opal_progress();
        take_all(compare);
    }
    is_looking = false;
    pthread_mutex_unlock(&compare_lock);
}

/* ---- life ------------------------------------------------------------------------------------ */

void coll_clv_compare_open(int stall_seconds)
{
    pthread_mutexattr_t attributes;

    stall_ns = stall_seconds * CLV_NS_PER_S;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&compare_lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

void coll_clv_compare_close(void)
{
    if (is_registered) {
        (void) opal_progress_unregister(progress);
        is_registered = false;
    }
}

void coll_clv_compare_begin(coll_clv_compare_t *compare, struct ompi_communicator_t *comm)
{
    compare->comm = 0 == stall_ns ? NULL : comm;
}

/* Open MPI tells a module of the end if one of its functions is still installed. Else a component
 * above may have replaced all of them and never release them (adapt). */
static bool will_be_told(struct ompi_communicator_t *comm)
{
    return NULL != coll_clv_module_of(comm);
}

static void end_when_freed(struct ompi_communicator_t *comm, void *context)
{
    (void) comm;
    coll_clv_compare_end(context);
}

CLV_COLD void coll_clv_compare_list(coll_clv_compare_t *compare)
{
    if (NULL == compare->comm ||
        (!will_be_told(compare->comm) &&
         OMPI_SUCCESS != coll_clv_failure_on_free(compare->comm, end_when_freed, compare))) {
        return;
    }
    pthread_mutex_lock(&compare_lock);
    if (!is_registered) {
        is_registered = OMPI_SUCCESS == opal_progress_register_lp(progress);
    }
    compare->is_listed = true;
    compare->next = all;
    all = compare;
    pthread_mutex_unlock(&compare_lock);
}

static void delist(coll_clv_compare_t *compare)
{
    coll_clv_compare_t **at = &all;

    while (*at != compare) {
        at = &(*at)->next;
    }
    *at = compare->next;
    if (next_looked_at == compare) {
        next_looked_at = compare->next;
    }
    compare->is_listed = false;
}

void coll_clv_compare_end(coll_clv_compare_t *compare)
{
    if (!compare->is_listed) {
        return;
    }
    pthread_mutex_lock(&compare_lock);
    delist(compare);
    pthread_mutex_unlock(&compare_lock);
    while (NULL != compare->messages) {
        message_t *message = compare->messages;
        compare->messages = message->next;
        coll_clv_give_up(&message->request, 1, message, NULL);
    }
}
