/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sleeping waits of ranks (see coll_clv_sleep.h).
 */
#include "coll_clv/coll_clv_sleep.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>

#include "coll_clv/coll_clv.h"

#include "opal/runtime/opal_progress.h"

#include "coll_clv/coll_clv_listen.h"
#include "coll_clv/coll_clv_processors.h"
#include "util/util_alloc.h"
#include "util/util_hot.h"
#include "util/util_min_max.h"
#include "util/util_time.h"

#define FIRST_TURNS 8              /* a wait reads the clock after so many turns, until ... */
#define SHORT_NS    INT64_C(40000) /* ... it has lasted this long: a shorter one needs no sleep */
#define REST_TURNS  8              /* after a sleep: some callbacks run only every eighth turn */
#define GIVEN_TURNS 1              /* instead of both, where each turn yields, which may be long */
#define BUSY_NS     INT64_C(10000) /* a turn that took longer than this has moved something */
#define SLACK_NS    1000           /* timer slack while sleeping; Linux's default is 50 us */
#define LARGE_BYTES (INT64_C(1) << 16) /* vectors that Open MPI sends in segments */

static coll_clv_nap_t of_process;
static _Thread_local coll_clv_nap_t of_thread;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_registered; /* under the lock */

coll_clv_nap_t *coll_clv_sleep_nap(void)
{
    return mca_coll_clv_component.is_threaded ? &of_thread : &of_process;
}

/* ---- a sleep --------------------------------------------------------------------------------- */

static void sharpen_timers(coll_clv_nap_t *nap)
{
    if (0 == nap->slack_ns) {
        const int before_ns = prctl(PR_GET_TIMERSLACK);
        nap->slack_ns = 0 < before_ns ? before_ns : 1;
        (void) prctl(PR_SET_TIMERSLACK, SLACK_NS);
    }
}

static void restore_timers(coll_clv_nap_t *nap)
{
    if (0 != nap->slack_ns) {
        (void) prctl(PR_SET_TIMERSLACK, nap->slack_ns);
        nap->slack_ns = 0;
    }
}

/* A signal also ends the sleep. */
static bool nap_for(coll_clv_nap_t *nap, int64_t ns)
{
    const struct timespec slice = {.tv_sec = ns / CLV_NS_PER_S, .tv_nsec = ns % CLV_NS_PER_S};

    sharpen_timers(nap);
    return 0 != clock_nanosleep(CLOCK_MONOTONIC, 0, &slice, NULL);
}

static void sleep_for(coll_clv_nap_t *nap, int64_t now_ns, int64_t ns, bool listens)
{
    bool was_woken;

    nap->is_asleep = true;
    was_woken = listens ? coll_clv_listen(ns) : nap_for(nap, ns);
    nap->is_asleep = false;
    nap->turned_ns = clv_local_now_ns();
    nap->slept_ns = nap->turned_ns - now_ns;
    nap->asleep_ns += nap->slept_ns;
    nap->was_timed = !listens;
    nap->rest = opal_progress_yield_when_idle ? GIVEN_TURNS : REST_TURNS;
    if (listens && was_woken) {
        nap->idle_since_ns = nap->turned_ns;
    }
}

/* ---- turns of Open MPI's progress ------------------------------------------------------------ */

static void make_plan(coll_clv_nap_t *nap, int64_t now_ns)
{
    static const clv_wait_history_t none;

    nap->is_wait = true;
    nap->idle_since_ns = now_ns;
    nap->turned_ns = now_ns;
    nap->plan = clv_wait_predict(NULL == nap->kind ? &none : &nap->kind->history, nap->forecast_ns);
    if (nap->waits->is_asked) {
        __atomic_store_n(&nap->waits->end_ns,
                         0 > nap->plan.expected_ns ? -1 : nap->begun_ns + nap->plan.expected_ns,
                         __ATOMIC_RELAXED);
    }
}

/* Most calls end before this. Kept to few instructions: each turn counts in a call of one
 * microsecond. */
static void look_at_clock(coll_clv_nap_t *nap)
{
    const int64_t now_ns = clv_local_now_ns();

    nap->turns = 0;
    if (0 == nap->begun_ns) {
        nap->begun_ns = now_ns;
    } else if (now_ns - nap->begun_ns >= SHORT_NS) {
        make_plan(nap, now_ns);
    }
}

/* Records activity. Where ranks share processors, a long turn only means that another rank ran. */
static void note_what_moved(coll_clv_nap_t *nap, int64_t now_ns)
{
    if (0 == nap->idle_since_ns ||
        (now_ns - nap->turned_ns > BUSY_NS && !opal_progress_yield_when_idle)) {
        nap->idle_since_ns = now_ns;
    }
    nap->turned_ns = now_ns;
}

/* Without listening, a large vector inside a function of Open MPI uses no prediction: sleeping
 * would delay each of its segments. */
static int64_t slice_of(const coll_clv_nap_t *nap, int64_t now_ns, bool listens)
{
    const clv_wait_now_t now = {.elapsed_ns = now_ns - nap->begun_ns,
                                .idle_ns = now_ns - nap->idle_since_ns,
                                .message_wakes = listens,
                                .has_sends = nap->has_sends || mca_coll_clv_component.is_threaded};
    const clv_wait_plan_t nothing = {.expected_ns = -1, .forecast_ns = -1};

    return clv_wait_slice(nap->is_large && !listens ? &nothing : &nap->plan, &now);
}

static CLV_COLD void turn(coll_clv_nap_t *nap)
{
    const int64_t now_ns = clv_local_now_ns();
    bool listens;
    int64_t ns;

    note_what_moved(nap, now_ns);
    if (0 < nap->rest) {
        nap->rest--;
        return;
    }
    listens = coll_clv_listen_can();
    ns = slice_of(nap, now_ns, listens);
    if (0 < ns) {
        sleep_for(nap, now_ns, ns, listens);
    }
}

static CLV_HOT int progress(void)
{
    coll_clv_nap_t *nap = coll_clv_sleep_nap();

    if (0 == nap->depth || nap->is_asleep || 0 == pthread_equal(nap->thread, pthread_self())) {
        return 0;
    }
    if (nap->is_wait) {
        if (CLV_WAIT_SLEEP == nap->waits->mode) {
            turn(nap);
        }
    } else if (++nap->turns >= (opal_progress_yield_when_idle ? GIVEN_TURNS : FIRST_TURNS)) {
        look_at_clock(nap);
    }
    return 0;
}

/* ---- a call ---------------------------------------------------------------------------------- */

static coll_clv_kind_t *kind_of(coll_clv_waits_t *waits, int32_t kind)
{
    if (NULL == waits->kinds[kind]) {
        waits->kinds[kind] = clv_alloc(1, sizeof *waits->kinds[kind]);
        if (NULL != waits->kinds[kind]) {
            waits->kinds[kind]->next = kind;
        }
    }
    return waits->kinds[kind];
}

CLV_HOT void coll_clv_sleep_begin(coll_clv_waits_t *waits, int32_t operation, int64_t n_bytes)
{
    coll_clv_nap_t *nap = coll_clv_sleep_nap();
    const int32_t kind = operation * CLV_WAIT_SIZES + clv_wait_size_class(n_bytes);

    if (0 != nap->depth++) {
        return;
    }
    nap->waits = waits;
    nap->thread = pthread_self();
    nap->kind = kind_of(waits, kind);
    nap->turns = 0;
    nap->rest = 0;
    nap->is_large = n_bytes > LARGE_BYTES;
    nap->has_sends = false;
    nap->begun_ns = 0;
    nap->is_wait = false;
    nap->asleep_ns = 0;
    nap->forecast_ns = -1;
    if (NULL != waits->kinds[waits->last]) {
        waits->kinds[waits->last]->next = kind;
    }
    waits->last = kind;
    if (CLV_WAIT_YIELD == waits->mode) {
        coll_clv_processors_enter();
    }
}

bool coll_clv_sleep_pause(bool is_paused)
{
    coll_clv_nap_t *nap = coll_clv_sleep_nap();
    const bool before = nap->is_asleep;

    nap->is_asleep = is_paused;
    return before;
}

void coll_clv_sleep_expect(int64_t forecast_ns)
{
    coll_clv_nap_t *nap = coll_clv_sleep_nap();

    nap->forecast_ns = forecast_ns;
    nap->is_large = false; /* a plan runs, and its executor reports each message */
    if (nap->is_wait && NULL != nap->kind) {
        nap->plan = clv_wait_predict(&nap->kind->history, forecast_ns);
    }
}

/* Whether the awaited message may have come during the last sleep. */
static bool is_late(const coll_clv_nap_t *nap)
{
    return 0 < nap->asleep_ns && nap->was_timed && 0 < nap->rest;
}

static CLV_COLD void end_wait(coll_clv_nap_t *nap)
{
    coll_clv_counters_t *counters = &mca_coll_clv_component.counters;
    const int64_t took_ns = clv_local_now_ns() - nap->begun_ns;

    restore_timers(nap);
    coll_clv_count(&counters->waited_ns, (unsigned long long) took_ns);
    coll_clv_count(&counters->asleep_ns, (unsigned long long) nap->asleep_ns);
    if (is_late(nap) && CLV_WAIT_CAP_NS < nap->slept_ns) {
        coll_clv_count(&counters->late_wakes, 1);
        coll_clv_count(&counters->late_wakes_ns, (unsigned long long) nap->slept_ns);
    }
    if (NULL != nap->kind) {
        clv_wait_record(&nap->kind->history, &nap->plan, took_ns, is_late(nap));
    }
}

/* For callers of coll_clv_sleep_expected: predicts that the call that followed this kind last time
 * comes next. */
static CLV_COLD void tell_next(coll_clv_waits_t *waits)
{
    const coll_clv_kind_t *last = waits->kinds[waits->last];
    const coll_clv_kind_t *next = NULL == last ? NULL : waits->kinds[last->next];
    const int64_t ns = NULL == next ? -1 : clv_wait_predict(&next->history, -1).expected_ns;

    __atomic_store_n(&waits->next_ns, ns, __ATOMIC_RELAXED);
    __atomic_store_n(&waits->end_ns, 0, __ATOMIC_RELAXED);
}

CLV_HOT void coll_clv_sleep_end(void)
{
    coll_clv_nap_t *nap = coll_clv_sleep_nap();
    coll_clv_waits_t *waits = nap->waits;

    if (0 == nap->depth || 0 != --nap->depth) { /* histories were turned on inside this call */
        return;
    }
    if (CLV_WAIT_YIELD == waits->mode) {
        coll_clv_processors_leave();
    }
    if (nap->is_wait) {
        end_wait(nap);
    } else if (NULL != nap->kind) {
        clv_wait_record_none(&nap->kind->history);
    }
    if (__atomic_load_n(&waits->is_asked, __ATOMIC_RELAXED)) {
        tell_next(waits);
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

static bool watch_progress(void)
{
    bool watches;

    pthread_mutex_lock(&lock);
    is_registered = is_registered || OPAL_SUCCESS == opal_progress_register(progress);
    watches = is_registered;
    pthread_mutex_unlock(&lock);
    return watches;
}

coll_clv_waits_t *coll_clv_sleep_waits(int32_t mode)
{
    coll_clv_waits_t *waits = watch_progress() ? clv_alloc(1, sizeof *waits) : NULL;

    if (NULL != waits) {
        waits->mode = mode;
        waits->next_ns = -1;
    }
    return waits;
}

void coll_clv_sleep_free(coll_clv_waits_t *waits)
{
    if (NULL == waits) {
        return;
    }
    for (int32_t kind = 0; kind < COLL_CLV_SLEEP_KINDS; kind++) {
        clv_free(waits->kinds[kind]);
    }
    clv_free(waits);
}

void coll_clv_sleep_close(void)
{
    if (is_registered) {
        (void) opal_progress_unregister(progress);
        is_registered = false;
    }
    coll_clv_listen_close();
}

int64_t coll_clv_sleep_expected(coll_clv_waits_t *waits)
{
    const int64_t end_ns = __atomic_load_n(&waits->end_ns, __ATOMIC_RELAXED);

    __atomic_store_n(&waits->is_asked, true, __ATOMIC_RELAXED);
    if (0 == end_ns) {
        return __atomic_load_n(&waits->next_ns, __ATOMIC_RELAXED);
    }
    return 0 > end_ns ? -1 : clv_larger(0, end_ns - clv_local_now_ns());
}
