/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One communicator's share in the prediction (see coll_clv_group.h).
 */
#include "ompi_config.h"

#include "coll_clv/coll_clv_group.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "ompi/constants.h"
#include "ompi/mca/coll/coll.h"
#include "opal/runtime/opal_progress.h"

#include "coll_clv/coll_clv_calibrate.h"
#include "coll_clv/coll_clv_compat.h"
#include "choose/choose_node_plan.h"
#include "util/util_alloc.h"
#include "util/util_hash.h"
#include "util/util_hot.h"
#include "util/util_log.h"
#include "util/util_time.h"

/* A rank that waits for its board gives the core away after so many looks, for so long. */
#define BOARD_SPINS    200
#define BOARD_SLEEP_NS 20000

/* A forced plan for calls without a board. */
typedef struct blind_plan {
    clv_pap_stream_key_t key;
    coll_clv_decision_t decision;
    clv_step_t *steps; /* NULL: free place */
    int64_t n_steps;
} blind_plan_t;

struct coll_clv_group {
    clv_pap_group_t *pap; /* NULL: without the exchange */
    int why; /* there is no exchange: a coll_clv_reason_t, else COLL_CLV_FIT */
    coll_clv_terms_t terms;
    int32_t rank;
    int32_t node_index; /* of this rank among its node's ranks */
    const int32_t *node_ranks;
    int32_t n_node_ranks;
    /* Of the background thread alone, once the group is active; the thread that calls MPI makes its
     * few own plans without one. NULL: no memory for it, all plans are made anew. */
    clv_plan_cache_t *plans;
    blind_plan_t blind[COLL_CLV_BLIND_PLANS];
    int32_t next_blind;
    clv_step_t *own_steps; /* of a plan this rank had to make itself; freed at the end of the call */
    coll_clv_group_t *older; /* in the list of those with a clock, under process_lock */
    coll_clv_group_t *newer;
};

/* ---- the process's one channel ------------------------------------------------------------ */

static pthread_mutex_t process_lock = PTHREAD_MUTEX_INITIALIZER;
static clv_pap_t *process_pap;
static coll_clv_group_t *newest_group; /* of those with a clock */

static clv_pap_t *process_open(const clv_pap_options_t *options)
{
    clv_pap_t *pap;

    pthread_mutex_lock(&process_lock);
    if (NULL == process_pap && CLV_OK != clv_pap_open(options, &process_pap)) {
        process_pap = NULL;
    }
    pap = process_pap;
    pthread_mutex_unlock(&process_lock);
    return pap;
}

void coll_clv_process_counters(clv_pap_counters_t *counters)
{
    pthread_mutex_lock(&process_lock);
    clv_pap_read_counters(process_pap, counters);
    pthread_mutex_unlock(&process_lock);
}

void coll_clv_process_gauges(coll_clv_gauges_t *gauges)
{
    const int64_t local_ns = clv_local_now_ns();
    int64_t global_ns = local_ns, error_ns = -1;
    clv_pap_counters_t counters = {0};

    pthread_mutex_lock(&process_lock);
    if (NULL == newest_group ||
        CLV_OK != clv_pap_global_time(newest_group->pap, local_ns, &global_ns, &error_ns)) {
        error_ns = -1;
    }
    clv_pap_read_counters(process_pap, &counters);
    pthread_mutex_unlock(&process_lock);
    gauges->clock_offset_ns = global_ns - local_ns;
    gauges->clock_error_ns = error_ns;
    gauges->mean_error_ns = 0 == counters.judged ? -1 : counters.judged_error_ns / counters.judged;
}

/* From here on others may look at the group's clock. */
static void clock_show(coll_clv_group_t *group)
{
    pthread_mutex_lock(&process_lock);
    group->older = newest_group;
    if (NULL != group->older) {
        group->older->newer = group;
    }
    newest_group = group;
    pthread_mutex_unlock(&process_lock);
}

/* When it returns nobody looks any more. Fine for a group that was never shown. */
static void clock_hide(coll_clv_group_t *group)
{
    pthread_mutex_lock(&process_lock);
    if (NULL != group->older) {
        group->older->newer = group->newer;
    }
    if (NULL != group->newer) {
        group->newer->older = group->older;
    } else if (newest_group == group) {
        newest_group = group->older;
    }
    pthread_mutex_unlock(&process_lock);
}

void coll_clv_process_close(void)
{
    pthread_mutex_lock(&process_lock);
    clv_pap_close(process_pap);
    process_pap = NULL;
    pthread_mutex_unlock(&process_lock);
}

/* ---- the background thread's work beside a board ------------------------------------------- */

/* Sums over all groups, also those that are gone. Relaxed: each is a number of its own. */
static atomic_llong cache_hits, cache_misses, cache_evictions;

static void count_cache(const coll_clv_group_t *group, const clv_plan_cache_counters_t *before)
{
    const clv_plan_cache_counters_t now = clv_plan_cache_counters(group->plans);

    atomic_fetch_add_explicit(&cache_hits, now.n_hits - before->n_hits, memory_order_relaxed);
    atomic_fetch_add_explicit(&cache_misses, now.n_misses - before->n_misses,
                              memory_order_relaxed);
    atomic_fetch_add_explicit(&cache_evictions, now.n_evictions - before->n_evictions,
                              memory_order_relaxed);
}

void coll_clv_process_cache(coll_clv_cache_t *cache)
{
    cache->hits = atomic_load_explicit(&cache_hits, memory_order_relaxed);
    cache->misses = atomic_load_explicit(&cache_misses, memory_order_relaxed);
    cache->evictions = atomic_load_explicit(&cache_evictions, memory_order_relaxed);
}

/* The plan of a decision: the cache's, or one in *made_p to be freed. */
static clv_status_t decided_plan(const coll_clv_group_t *group, const clv_pap_stream_key_t *key,
                                 const clv_pap_board_t *board, const coll_clv_decision_t *decision,
                                 const clv_plan_t **plan_p, clv_plan_t **made_p)
{
    clv_status_t status;

    if (NULL != group->plans) {
        return coll_clv_kept_plan(&group->terms, key, board, decision, group->plans, plan_p);
    }
    status = coll_clv_decided_plan(&group->terms, key, board, decision, made_p);
    *plan_p = *made_p;
    return status;
}

/* What the thread may read: fixed before the group is active. */
static size_t make_sheet(void *context, const clv_pap_stream_key_t *key,
                         const clv_pap_board_t *board, const void *note, void *memory,
                         void *attachment, size_t attachment_bytes)
{
    const coll_clv_group_t *group = context;
    coll_clv_sheet_t *sheet = attachment;
    coll_clv_decision_t decision = {0};
    clv_plan_cache_counters_t before = {0};
    const clv_plan_t *plan = NULL;
    clv_plan_t *made = NULL;
    size_t used;
    clv_status_t status;

    (void) note;
    if (NULL != group->plans) {
        before = clv_plan_cache_counters(group->plans);
    }
    status = coll_clv_decide(&group->terms, key, board, memory, group->plans, &decision);
    if (CLV_OK == status && COLL_CLV_CHOICE_PREVIOUS != decision.choice) {
        status = decided_plan(group, key, board, &decision, &plan, &made);
    }
    used = coll_clv_sheet_write(sheet, attachment_bytes, &decision, plan, group->node_ranks,
                                group->n_node_ranks);
    sheet->status = status;
    clv_plan_free(made);
    if (NULL != group->plans) {
        count_cache(group, &before);
    }
    return used;
}

/* Room for the steps of this many cells; a sheet that needs more goes without steps. */
static size_t sheet_capacity(int32_t n_ranks)
{
    return coll_clv_sheet_bytes(n_ranks, 2 * (int64_t) COLL_CLV_MAX_CELLS);
}

/* ---- setting up ----------------------------------------------------------------------------- */

/* What each rank tells the others first. */
typedef struct group_card {
    uint64_t settings_hash;
    int32_t ok;
    int32_t reserved;
    unsigned char pap[CLV_PAP_CARD_BYTES];
} group_card_t;

/* And second, when it knows how it fared with the others' cards. */
typedef struct group_report {
    int64_t ok;
    clv_cost_t cost;
} group_report_t;

/* What setup needs on this rank; reserved before the first message. */
typedef struct setup {
    struct ompi_communicator_t *comm;
    coll_clv_group_t *group;
    group_card_t mine;
    group_card_t *cards;
    unsigned char *pap_cards;
    group_report_t *reports;
    clv_cost_t *costs;
    char *calibrate_buffer;
    int why; /* not to exchange: a coll_clv_reason_t, else COLL_CLV_FIT */
} setup_t;

static uint64_t hash_settings(const coll_clv_settings_t *settings)
{
    const int64_t numbers[] = {settings->pap.sma_window, settings->pap.predictor, settings->forced,
                               settings->exchange,       settings->round_ns,
                               settings->segment_bytes};
    return clv_fnv1a64(CLV_FNV1A64_BASIS, numbers, sizeof numbers);
}

static int gather_bytes(struct ompi_communicator_t *comm, const void *mine, void *all,
                        size_t n_bytes)
{
    const coll_clv_count_t count = (coll_clv_count_t) n_bytes;
    return comm->c_coll->coll_allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, comm,
                                        comm->c_coll->coll_allgather_module);
}

static int reserve(setup_t *setup)
{
    size_t n_ranks = (size_t) ompi_comm_size(setup->comm);

    setup->cards = clv_alloc(n_ranks, sizeof *setup->cards);
    setup->pap_cards = clv_alloc(n_ranks, CLV_PAP_CARD_BYTES);
    setup->reports = clv_alloc(n_ranks, sizeof *setup->reports);
    setup->costs = clv_alloc(n_ranks, sizeof *setup->costs);
    setup->calibrate_buffer = clv_alloc(1, COLL_CLV_CALIBRATE_BYTES);
    return NULL != setup->cards && NULL != setup->pap_cards && NULL != setup->reports &&
           NULL != setup->costs && NULL != setup->calibrate_buffer;
}

static void unreserve(setup_t *setup)
{
    clv_free(setup->calibrate_buffer);
    clv_free(setup->costs);
    clv_free(setup->reports);
    clv_free(setup->pap_cards);
    clv_free(setup->cards);
}

/* This rank's card; without a channel it is an honest "not ok". */
static void fill_card(setup_t *setup, const coll_clv_settings_t *settings)
{
    coll_clv_group_t *group = setup->group;
    clv_pap_attach_ops_t attach = {.make = make_sheet,
                                   .context = group,
                                   .memory_bytes = sizeof(coll_clv_memory_t),
                                   .attachment_bytes = sheet_capacity(group->terms.n_ranks)};
    clv_pap_t *pap = settings->exchange ? process_open(&settings->pap) : NULL;

    setup->mine.settings_hash = hash_settings(settings);
    setup->mine.ok = NULL != pap &&
                     CLV_OK == clv_pap_group_create(pap, group->terms.n_ranks, group->rank, &attach,
                                                    setup->mine.pap, &group->pap);
}

/* Reads the same cards on every rank, so the answer is the same. */
static int read_cards(setup_t *setup)
{
    for (int32_t p = 0; p < setup->group->terms.n_ranks; p++) {
        if (setup->cards[p].settings_hash != setup->cards[0].settings_hash) {
            return COLL_CLV_REASON_UNEQUAL;
        }
        if (!setup->cards[p].ok) {
            return COLL_CLV_REASON_NO_CHANNEL;
        }
        memcpy(setup->pap_cards + (size_t) p * CLV_PAP_CARD_BYTES, setup->cards[p].pap,
               CLV_PAP_CARD_BYTES);
    }
    return COLL_CLV_FIT;
}

static void find_node(coll_clv_group_t *group)
{
    group->node_ranks = clv_pap_group_node_ranks(group->pap, &group->n_node_ranks);
    for (int32_t i = 0; i < group->n_node_ranks; i++) {
        if (group->node_ranks[i] == group->rank) {
            group->node_index = i;
        }
    }
}

static void agree_cost(setup_t *setup)
{
    const int32_t n_ranks = setup->group->terms.n_ranks;

    for (int32_t p = 0; p < n_ranks; p++) {
        setup->costs[p] = setup->reports[p].cost;
    }
    setup->group->terms.cost = clv_cost_agree(setup->costs, n_ranks);
}

static int read_reports(const setup_t *setup)
{
    for (int32_t p = 0; p < setup->group->terms.n_ranks; p++) {
        if (!setup->reports[p].ok) {
            return COLL_CLV_REASON_NO_TABLE;
        }
    }
    return COLL_CLV_FIT;
}

/* The second half: attach, calibrate, report, activate. */
static int join(setup_t *setup)
{
    coll_clv_group_t *group = setup->group;
    group_report_t mine = {0};
    int rc;

    if (COLL_CLV_FIT == setup->why) {
        mine.ok = CLV_OK == clv_pap_group_attach(group->pap, setup->pap_cards);
    }
    rc = coll_clv_calibrate(setup->comm, setup->calibrate_buffer, &mine.cost);
    if (OMPI_SUCCESS == rc) {
        rc = gather_bytes(setup->comm, &mine, setup->reports, sizeof mine);
    }
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    agree_cost(setup);
    if (COLL_CLV_FIT == setup->why) {
        setup->why = read_reports(setup);
    }
    if (COLL_CLV_FIT == setup->why) {
        find_node(group);
        if (CLV_OK != clv_pap_group_activate(group->pap)) {
            clv_log(CLV_LOG_ERROR, "the background thread did not take the communicator");
        }
    }
    return OMPI_SUCCESS;
}

/* Card, cards, report: three steps, the same on all ranks whatever fails on one. */
static int exchange_cards(setup_t *setup, const coll_clv_settings_t *settings)
{
    int rc;

    fill_card(setup, settings);
    rc = gather_bytes(setup->comm, &setup->mine, setup->cards, sizeof setup->mine);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    setup->why = settings->exchange ? read_cards(setup) : COLL_CLV_REASON_EXCHANGE_OFF;
    return join(setup);
}

int coll_clv_group_setup(struct ompi_communicator_t *comm, const coll_clv_settings_t *settings,
                         coll_clv_group_t **group_p, int *why_p)
{
    coll_clv_group_t *group = clv_alloc(1, sizeof *group);
    setup_t setup = {.comm = comm, .group = group, .why = COLL_CLV_FIT};
    int rc = OMPI_ERR_OUT_OF_RESOURCE;

    if (NULL != group && reserve(&setup)) {
        group->rank = ompi_comm_rank(comm);
        group->terms = (coll_clv_terms_t){.n_ranks = ompi_comm_size(comm),
                                          .forced = settings->forced,
                                          .round_ns = settings->round_ns,
                                          .segment_bytes = settings->segment_bytes,
                                          .max_sends = COLL_CLV_MAX_CELLS};
        if (settings->exchange && CLV_OK != clv_plan_cache_create(COLL_CLV_CACHE_PLANS,
                                                                  COLL_CLV_CACHE_BYTES,
                                                                  &group->plans)) {
            group->plans = NULL;
        }
        rc = exchange_cards(&setup, settings);
    }
    if (COLL_CLV_FIT != setup.why) {
        clv_pap_group_free(group->pap);
        group->pap = NULL;
    }
    unreserve(&setup);
    if (OMPI_SUCCESS == rc) {
        if (NULL != group->pap) {
            clock_show(group);
        }
        group->why = setup.why;
        *group_p = group;
        *why_p = setup.why;
    } else {
        coll_clv_group_free(group);
    }
    return rc;
}

void coll_clv_group_free(coll_clv_group_t *group)
{
    if (NULL == group) {
        return;
    }
    clock_hide(group);
    clv_pap_group_free(group->pap);
    clv_plan_cache_free(group->plans);
    for (int i = 0; i < COLL_CLV_BLIND_PLANS; i++) {
        clv_free(group->blind[i].steps);
    }
    clv_free(group->own_steps);
    clv_free(group);
}

clv_pap_group_t *coll_clv_group_pap(coll_clv_group_t *group)
{
    return group->pap;
}

clv_plan_t *coll_clv_group_plan(coll_clv_group_t *group, const clv_pap_stream_key_t *key,
                                const coll_clv_order_t *order)
{
    clv_plan_t *plan = NULL;

    if (NULL == order->steps || CLV_OK != coll_clv_decided_plan(&group->terms, key, order->board,
                                                                &order->decision, &plan)) {
        return NULL;
    }
    return plan;
}

/* ---- a call ----------------------------------------------------------------------------------- */

/* Copies this rank's steps out of a plan and frees the plan. */
static clv_status_t take_steps(const coll_clv_group_t *group, clv_plan_t *plan,
                               clv_step_t **steps_p, int64_t *n_steps_p)
{
    int64_t n_steps = clv_plan_count_steps(plan, group->rank);
    clv_step_t *steps = clv_alloc((size_t) n_steps + 1, sizeof *steps);

    if (NULL != steps) {
        clv_plan_copy_steps(plan, group->rank, steps);
        *steps_p = steps;
        *n_steps_p = n_steps;
    }
    clv_plan_free(plan);
    return NULL == steps ? CLV_NO_MEMORY : CLV_OK;
}

static int same_key(const clv_pap_stream_key_t *a, const clv_pap_stream_key_t *b)
{
    return a->root == b->root && a->total_bytes == b->total_bytes &&
           a->commutative == b->commutative;
}

static clv_status_t make_blind(coll_clv_group_t *group, const clv_pap_stream_key_t *key,
                               blind_plan_t *blind)
{
    clv_plan_t *plan = NULL;
    clv_status_t status;

    clv_free(blind->steps);
    *blind = (blind_plan_t){.key = *key};
    status = coll_clv_decide_blind(&group->terms, key, &blind->decision);
    if (CLV_OK == status) {
        status = coll_clv_decided_plan(&group->terms, key, NULL, &blind->decision, &plan);
    }
    if (CLV_OK == status) {
        status = take_steps(group, plan, &blind->steps, &blind->n_steps);
    }
    return status;
}

static int why_no_board(const coll_clv_group_t *group)
{
    if (COLL_CLV_FIT != group->why) {
        return group->why;
    }
    return clv_pap_group_is_lost(group->pap) ? COLL_CLV_REASON_LOST : COLL_CLV_REASON_NO_BOARD;
}

/* Without a board: a forced plan for equal arrivals, or the previous reduce. */
static CLV_COLD clv_status_t order_blind(coll_clv_group_t *group, const clv_pap_stream_key_t *key,
                                         coll_clv_order_t *order)
{
    blind_plan_t *blind = NULL;
    clv_status_t status = CLV_OK;

    order->decision = (coll_clv_decision_t){.choice = COLL_CLV_CHOICE_PREVIOUS,
                                            .reason = why_no_board(group)};
    if (group->terms.forced <= COLL_CLV_CHOICE_PREVIOUS) {
        return CLV_OK;
    }
    for (int i = 0; i < COLL_CLV_BLIND_PLANS; i++) {
        if (NULL != group->blind[i].steps && same_key(&group->blind[i].key, key)) {
            blind = &group->blind[i];
        }
    }
    if (NULL == blind) {
        blind = &group->blind[group->next_blind];
        group->next_blind = (group->next_blind + 1) % COLL_CLV_BLIND_PLANS;
        status = make_blind(group, key, blind);
    }
    if (CLV_LIMIT == status) { /* equal on all ranks: no plan of this size, the previous reduce */
        order->decision.reason = COLL_CLV_REASON_NO_PLAN;
        return CLV_OK;
    }
    order->decision = blind->decision;
    order->steps = blind->steps;
    order->n_steps = blind->n_steps;
    return status;
}

/* The steps did not fit beside the board: make the plan here, from the same inputs. */
static CLV_COLD clv_status_t order_own(coll_clv_group_t *group, const clv_pap_stream_key_t *key,
                                       const clv_pap_board_t *board, coll_clv_order_t *order)
{
    clv_plan_t *plan = NULL;
    clv_status_t status =
        coll_clv_decided_plan(&group->terms, key, board, &order->decision, &plan);

    if (CLV_OK == status) {
        status = take_steps(group, plan, &group->own_steps, &order->n_steps);
        order->steps = group->own_steps;
    }
    return status;
}

static CLV_HOT clv_status_t order_from(coll_clv_group_t *group, const clv_pap_stream_key_t *key,
                                       const clv_pap_board_t *board, const coll_clv_sheet_t *sheet,
                                       coll_clv_order_t *order)
{
    if (CLV_OK != sheet->status) {
        return (clv_status_t) sheet->status;
    }
    order->board = board;
    order->decision = sheet->decision;
    if (COLL_CLV_CHOICE_PREVIOUS == sheet->decision.choice) {
        return CLV_OK;
    }
    order->steps = coll_clv_sheet_steps(sheet, group->node_index, &order->n_steps);
    order->made_ahead = NULL != order->steps;
    return order->made_ahead ? CLV_OK : order_own(group, key, board, order);
}

/* The missing record is that of a rank which has not yet entered an earlier call; it may need our
 * MPI progress to get there. */
static CLV_COLD void let_others_come(int64_t looks)
{
    const struct timespec nap = {.tv_nsec = BOARD_SLEEP_NS};

    opal_progress();
    if (looks >= BOARD_SPINS) {
        (void) nanosleep(&nap, NULL);
    }
}

static CLV_HOT clv_status_t wait_for_board(coll_clv_group_t *group, clv_pap_call_t *call,
                                           const clv_pap_board_t **board_p,
                                           const coll_clv_sheet_t **sheet_p)
{
    const void *attachment = NULL;
    size_t n_bytes = 0;
    clv_status_t status;

    for (int64_t looks = 0;; looks++) {
        status = clv_pap_call_board(group->pap, call, board_p, &attachment, &n_bytes);
        if (CLV_AGAIN != status) {
            break;
        }
        let_others_come(looks);
    }
    /* A board of no valid vector (clocks not ready) has no sheet, on every rank: as good as none. */
    *sheet_p = n_bytes > 0 ? attachment : NULL;
    return status;
}

static int ompi_error_of(clv_status_t status)
{
    if (CLV_OK == status) {
        return OMPI_SUCCESS;
    }
    return CLV_NO_MEMORY == status ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_ERROR;
}

static CLV_COLD int cut_off(clv_status_t status)
{
    clv_log(CLV_LOG_ERROR, "cut off from the other nodes just before a decision; this reduce "
                           "cannot be right with or without them");
    return ompi_error_of(status);
}

CLV_HOT int coll_clv_group_begin(coll_clv_group_t *group, const clv_pap_stream_key_t *key,
                                 clv_pap_call_t *call, coll_clv_order_t *order)
{
    const clv_pap_board_t *board = NULL;
    const coll_clv_sheet_t *sheet = NULL;
    clv_status_t status = CLV_NONE;

    *order = (coll_clv_order_t){0};
    if (NULL != group->pap) {
        clv_pap_call_begin(group->pap, key, clv_local_now_ns(), call);
        status = wait_for_board(group, call, &board, &sheet);
    }
    if (status < CLV_OK) {
        return cut_off(status);
    }
    status = CLV_OK == status && NULL != sheet ? order_from(group, key, board, sheet, order)
                                               : order_blind(group, key, order);
    if (NULL != group->pap) {
        order->lookup_ns = clv_local_now_ns() - call->arrival_ns;
    }
    return ompi_error_of(status);
}

CLV_HOT void coll_clv_group_end(coll_clv_group_t *group, clv_pap_call_t *call,
                                const coll_clv_order_t *order)
{
    if (NULL != group->pap) {
        clv_pap_call_end(group->pap, call, order->decision.choice, NULL,
                         clv_local_now_ns());
    }
    clv_free(group->own_steps);
    group->own_steps = NULL;
}
