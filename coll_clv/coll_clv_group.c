/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One communicator's part in the prediction, call by call (see coll_clv_group.h).
 */
#include "ompi_config.h"

#include "coll_clv/coll_clv_group.h"

#include <stdio.h>
#include <time.h>

#include "ompi/constants.h"
#include "opal/runtime/opal_progress.h"

#include "coll_clv/coll_clv.h"
#include "coll_clv/coll_clv_failure.h"
#include "coll_clv/coll_clv_setup.h"
#include "coll_clv/coll_clv_sleep.h"
#include "coll_clv/coll_clv_wait.h"
#include "util/util_alloc.h"
#include "util/util_hot.h"
#include "util/util_log.h"
#include "util/util_time.h"

/* While it waits for its forecast, a rank sleeps for FORECAST_SLEEP_NS after each look past this
 * many. */
#define FORECAST_SPINS    200
#define FORECAST_SLEEP_NS 20000

/* Keeps for the summary which rank was last most often, if this communicator had the most sampled
 * calls. */
static void keep_late(const coll_clv_group_t *group)
{
    pthread_mutex_lock(&mca_coll_clv_component.account);
    if (coll_clv_process_add_late(&mca_coll_clv_component.late, &group->chooser)) {
        (void) snprintf(mca_coll_clv_component.late_comm, sizeof mca_coll_clv_component.late_comm,
                        "%s", group->comm->c_name);
    }
    pthread_mutex_unlock(&mca_coll_clv_component.account);
}

/* Frees the group's own memory; its exchange has ended already. */
static void group_clear(coll_clv_group_t *group)
{
    keep_late(group);
    clv_free(group->chooser.n_last);
    clv_plan_cache_free(group->chooser.plans);
    for (int i = 0; i < COLL_CLV_KEPT_NODE_PLANS; i++) {
        clv_free(group->kept[i].steps);
    }
    clv_free(group->own_steps);
    clv_free(group->place);
    clv_free(group);
}

bool coll_clv_group_settle(coll_clv_group_t *group)
{
    return NULL == group || coll_clv_relay_settle(&group->relay);
}

void coll_clv_group_free(coll_clv_group_t *group)
{
    if (NULL != group) {
        coll_clv_process_hide_clock(&group->clock);
        coll_clv_relay_end(&group->relay);
        clv_pap_group_free(group->clock.pap);
        group_clear(group);
    }
}

void coll_clv_group_abandon(coll_clv_group_t *group)
{
    if (NULL != group) {
        coll_clv_process_hide_clock(&group->clock);
        coll_clv_relay_end(&group->relay);
        clv_pap_group_abandon(group->clock.pap);
        group_clear(group);
    }
}

bool coll_clv_group_break(coll_clv_group_t *group)
{
    if (NULL == group || group->is_broken) {
        return false;
    }
    group->is_broken = true;
    if (NULL != group->clock.pap) {
        clv_pap_group_break(group->clock.pap);
    }
    return true;
}

bool coll_clv_group_is_broken(const void *context)
{
    const coll_clv_group_t *group = context;

    return NULL != group && (group->is_broken || (NULL != group->clock.pap &&
                                                  clv_pap_group_is_broken(group->clock.pap)));
}

clv_pap_group_t *coll_clv_group_pap(coll_clv_group_t *group)
{
    return group->clock.pap;
}

const clv_choose_config_t *coll_clv_group_config(const coll_clv_group_t *group)
{
    return &group->chooser.config;
}

clv_plan_t *coll_clv_group_plan(coll_clv_group_t *group, const clv_pap_stream_key_t *key,
                                const coll_clv_node_plan_t *node_plan)
{
    const clv_choose_config_t *config = &group->chooser.config;
    clv_choose_decision_t decision = node_plan->decision;
    clv_plan_t *plan = NULL;
    clv_status_t status = CLV_NONE;

    if (NULL != node_plan->steps) {
        status = node_plan->is_fixed
                     ? clv_choose_fixed(config, key, &decision, &plan)
                     : clv_choose_plan(config, key, node_plan->forecast, &decision, &plan);
    }
    return CLV_OK == status ? plan : NULL;
}

/* ---- a call ---------------------------------------------------------------------------------- */

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

/* *plan_p stays NULL for the previous function. */
static clv_status_t choose_kept(const coll_clv_group_t *group, kept_node_plan_t *kept,
                                clv_plan_t **plan_p)
{
    const clv_choose_config_t *config = &group->chooser.config;
    clv_status_t status;

    if (KEPT_FIXED == kept->rule) {
        return clv_choose_fixed(config, &kept->key, &kept->decision, plan_p);
    }
    status = KEPT_BLIND == kept->rule
                 ? clv_choose_without_forecast(config, &kept->key, &kept->decision)
                 : CLV_OK;
    return CLV_OK == status && CLV_ALGORITHM_PREVIOUS != kept->decision.algorithm
               ? clv_choose_plan(config, &kept->key, NULL, &kept->decision, plan_p)
               : status;
}

static clv_status_t make_kept(coll_clv_group_t *group, const kept_node_plan_t *wanted,
                              kept_node_plan_t *kept)
{
    clv_plan_t *plan = NULL;
    clv_status_t status;

    clv_free(kept->steps);
    *kept = *wanted;
    status = choose_kept(group, kept, &plan);
    if (NULL != plan) {
        status = take_steps(group, plan, &kept->steps, &kept->n_steps);
    }
    kept->is_set = CLV_OK == status;
    return status;
}

/* False if set-up found that there is no exchange: then nothing is chosen. */
static bool chooses(const coll_clv_group_t *group)
{
    return CLV_FIT == group->why || coll_clv_group_is_local(group);
}

static int why_no_forecast(const coll_clv_group_t *group)
{
    if (CLV_FIT != group->why) {
        return group->why;
    }
    return clv_pap_group_is_lost(group->clock.pap) ? CLV_REASON_LOST : CLV_REASON_NO_FORECAST;
}

static bool is_wanted(const kept_node_plan_t *kept, const kept_node_plan_t *wanted)
{
    return kept->is_set && kept->rule == wanted->rule &&
           clv_choose_same_key(&kept->key, &wanted->key) &&
           (KEPT_STICKY != kept->rule ||
            (kept->decision.algorithm == wanted->decision.algorithm &&
             kept->decision.n_segments == wanted->decision.n_segments &&
             kept->decision.is_far_late == wanted->decision.is_far_late &&
             kept->decision.round_ns == wanted->decision.round_ns));
}

/* *kept_p is what such calls run; valid only if the status is CLV_OK. */
static clv_status_t find_kept(coll_clv_group_t *group, const kept_node_plan_t *wanted,
                              kept_node_plan_t **kept_p)
{
    for (int i = 0; i < COLL_CLV_KEPT_NODE_PLANS; i++) {
        if (is_wanted(&group->kept[i], wanted)) {
            *kept_p = &group->kept[i];
            return CLV_OK;
        }
    }
    *kept_p = &group->kept[group->next_kept];
    group->next_kept = (group->next_kept + 1) % COLL_CLV_KEPT_NODE_PLANS;
    return make_kept(group, wanted, *kept_p);
}

/* stream: of the call; NULL: it has none. */
static kept_node_plan_t wanted_of(const coll_clv_group_t *group, const clv_pap_stream_key_t *key,
                                  int fixed, const stream_keys_t *stream)
{
    kept_node_plan_t wanted = {.key = *key, .rule = fixed ? KEPT_FIXED : KEPT_BLIND};

    if (!fixed && CLV_FALLBACK_AUTO == group->chooser.config.fallback && NULL != stream &&
        stream->is_sticky && clv_choose_same_key(&stream->held_key, key)) {
        wanted.rule = KEPT_STICKY;
        wanted.decision = stream->held;
        wanted.decision.is_blind = 1;
        if (CLV_REASON_FORCED != wanted.decision.reason) {
            wanted.decision.reason = CLV_REASON_NO_FORECAST;
        }
    }
    return wanted;
}

/* Without a forecast the stream's sticky decision runs, else the best plan for equal arrivals, a
 * forced plan, or the previous function. This depends on the config, the key and past decisions
 * only, since ranks notice a lost group at different calls. Without an exchange, only forced and
 * fixed plans are made. */
static CLV_COLD clv_status_t assign_without_forecast(coll_clv_group_t *group,
                                                     const clv_pap_stream_key_t *key, int fixed,
                                                     const stream_keys_t *stream,
                                                     coll_clv_node_plan_t *node_plan)
{
    kept_node_plan_t wanted, *kept = NULL;
    clv_status_t status;

    if (coll_clv_group_is_broken(group)) {
        return CLV_LOST;
    }
    node_plan->decision = (clv_choose_decision_t){.algorithm = CLV_ALGORITHM_PREVIOUS,
                                                  .reason = why_no_forecast(group)};
    if (CLV_ALGORITHM_AUTO == clv_choose_forced(&group->chooser.config, key->collective) &&
        !chooses(group) && !fixed) {
        return CLV_OK;
    }
    wanted = wanted_of(group, key, fixed, stream);
    status = find_kept(group, &wanted, &kept);
    if (CLV_LIMIT == status) { /* equal on all ranks: no plan of this size, the previous function */
        node_plan->decision.reason = CLV_REASON_NO_PLAN;
        return CLV_OK;
    }
    node_plan->decision = kept->decision;
    node_plan->decision.is_decoupled = wanted.decision.is_decoupled;
    if (CLV_REASON_NO_FORECAST == kept->decision.reason || coll_clv_group_is_local(group)) {
        node_plan->decision.reason = why_no_forecast(group);
    }
    node_plan->steps = kept->steps;
    node_plan->n_steps = kept->n_steps;
    return status;
}

/* The steps did not fit beside the forecast: make the plan here, from the same inputs. */
static CLV_COLD clv_status_t assign_own(coll_clv_group_t *group, const clv_pap_stream_key_t *key,
                                        const clv_pap_forecast_t *forecast,
                                        coll_clv_node_plan_t *node_plan)
{
    clv_plan_t *plan = NULL;
    clv_status_t status =
        clv_choose_plan(&group->chooser.config, key, forecast, &node_plan->decision, &plan);

    if (CLV_OK == status) {
        status = take_steps(group, plan, &group->own_steps, &node_plan->n_steps);
        node_plan->steps = group->own_steps;
    }
    return status;
}

static CLV_HOT clv_status_t assign_from(coll_clv_group_t *group, const clv_pap_stream_key_t *key,
                                        const clv_pap_forecast_t *forecast,
                                        const clv_node_plan_t *made,
                                        coll_clv_node_plan_t *node_plan)
{
    if (CLV_OK != made->status) {
        return (clv_status_t) made->status;
    }
    node_plan->forecast = forecast;
    node_plan->decision = made->decision;
    if (CLV_ALGORITHM_PREVIOUS == made->decision.algorithm) {
        return CLV_OK;
    }
    node_plan->steps = clv_node_plan_steps(made, group->host_index, &node_plan->n_steps);
    node_plan->made_ahead = NULL != node_plan->steps;
    return node_plan->made_ahead ? CLV_OK : assign_own(group, key, forecast, node_plan);
}

/* The missing record is that of a rank that has not yet entered an earlier call. It may need our
 * MPI progress to get there. */
static CLV_COLD void let_others_come(int64_t looks)
{
    const struct timespec nap = {.tv_nsec = FORECAST_SLEEP_NS};
    const bool was_paused = coll_clv_sleep_pause(true); /* no message brings the forecast */

    opal_progress();
    (void) coll_clv_sleep_pause(was_paused);
    if (looks >= FORECAST_SPINS) {
        (void) nanosleep(&nap, NULL);
    }
}

typedef struct forecast_wait {
    const coll_clv_group_t *group;
    const clv_pap_call_t *call;
} forecast_wait_t;

static void where(void *context, coll_clv_where_t *where_p)
{
    const forecast_wait_t *of = context;

    where_p->for_what = COLL_CLV_WAIT_FORECAST;
    where_p->forecast = of->call->forecast_version;
}

static void words(void *context, char *text, int n_bytes)
{
    const forecast_wait_t *of = context;

    (void) snprintf(text, (size_t) n_bytes,
                    "rank %d of %s in call %lld of its kind for forecast %lld: a rank has not "
                    "entered an earlier call",
                    (int) of->group->rank, of->group->comm->c_name, (long long) of->call->number,
                    (long long) of->call->forecast_version);
}

static const coll_clv_wait_ops_t wait_ops = {.where = where, .words = words};

/* A dead rank never gives its record: then *failure_p is the error, and the status only
 * CLV_AGAIN. */
static CLV_HOT clv_status_t wait_for_forecast(coll_clv_group_t *group, clv_pap_call_t *call,
                                              const clv_pap_forecast_t **forecast_p,
                                              const clv_node_plans_t **node_plans_p, int *failure_p)
{
    const void *node_plans = NULL;
    size_t n_bytes = 0;
    clv_status_t status = CLV_AGAIN;
    coll_clv_wait_t wait = {0};
    forecast_wait_t of = {.group = group, .call = call};

    for (int64_t looks = 0; OMPI_SUCCESS == *failure_p; looks++) {
        status = clv_pap_call_forecast(group->clock.pap, call, forecast_p, &node_plans, &n_bytes);
        if (CLV_AGAIN != status) {
            break;
        }
        let_others_come(looks);
        coll_clv_wait_turn(&wait, &wait_ops, &of);
        *failure_p = coll_clv_failure_or_broken(group->comm, coll_clv_group_is_broken, group);
    }
    coll_clv_wait_end(&wait);
    /* A forecast without a valid record set (clocks not ready) has no node plans, on every rank
     * alike: it counts as none. */
    *node_plans_p = n_bytes > 0 ? node_plans : NULL;
    return status;
}

static int ompi_error_of(clv_status_t status)
{
    if (CLV_OK == status) {
        return OMPI_SUCCESS;
    }
    return CLV_NO_MEMORY == status ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_ERROR;
}

/* If the other ranks died with the connection, their failure is the error to report. */
static CLV_COLD int cut_off(const coll_clv_group_t *group, clv_status_t status)
{
    const int failure = coll_clv_failure_awaited(group->comm);

    if (OMPI_SUCCESS != failure) {
        return failure;
    }
    clv_log(CLV_LOG_ERROR, "lost the connection to the other hosts just before a decision; this "
                           "call fails, because clv cannot know which plan they run");
    return ompi_error_of(status);
}

/* Called for each call of a stream once it has its answer, in the order of calls: equal on all
 * ranks. NULL: the call has no stream. */
static CLV_HOT stream_keys_t *stream_of(coll_clv_group_t *group, const clv_pap_call_t *call)
{
    stream_keys_t *stream;

    if (call->stream < 0) {
        return NULL;
    }
    stream = &group->streams[call->stream];
    group->last_stream = call->stream;
    if (stream->generation != call->generation) {
        *stream = (stream_keys_t){.generation = call->generation};
    }
    return stream;
}

/* Of the stream used last. */
CLV_HOT void coll_clv_group_fetch(const coll_clv_group_t *group)
{
    if (NULL != group->clock.pap) {
        clv_fetch_to_write(&group->streams[group->last_stream]);
        clv_pap_call_fetch(group->clock.pap);
    }
}

/* Decisions change at sampled calls only. */
static CLV_HOT void keep_decision(stream_keys_t *stream, const clv_pap_call_t *call,
                                  const clv_pap_stream_key_t *key,
                                  const clv_choose_decision_t *decision)
{
    if (NULL != stream && call->sampled && clv_choose_is_sticky(decision)) {
        stream->is_sticky = true;
        stream->held_key = *key;
        stream->held = *decision;
    }
}

/* forecast, node_plans: NULL: none. */
static CLV_HOT clv_status_t assign(coll_clv_group_t *group, const clv_pap_stream_key_t *key,
                                   const clv_pap_call_t *call, const clv_pap_forecast_t *forecast,
                                   const clv_node_plans_t *node_plans,
                                   coll_clv_node_plan_t *node_plan)
{
    stream_keys_t *stream = NULL == group->clock.pap ? NULL : stream_of(group, call);
    const clv_node_plan_t *made = NULL;
    clv_status_t status;

    if (NULL != stream) {
        clv_choose_keys_use(&stream->keys, key);
    }
    if (NULL != forecast && NULL != node_plans) {
        made = clv_node_plans_find(node_plans, key);
    }
    if (NULL == made) {
        return assign_without_forecast(group, key, 0, stream, node_plan);
    }
    status = assign_from(group, key, forecast, made, node_plan);
    if (CLV_OK == status) { /* else the communicator is broken */
        keep_decision(stream, call, key, &node_plan->decision);
    }
    return status;
}

CLV_HOT int coll_clv_group_begin(coll_clv_group_t *group, const clv_pap_stream_key_t *key,
                                 bool fixed, clv_pap_call_t *call, coll_clv_node_plan_t *node_plan)
{
    const clv_pap_forecast_t *forecast = NULL;
    const clv_pap_stream_key_t stream_key = clv_choose_arrivals_key(key);
    const clv_node_plans_t *node_plans = NULL;
    clv_status_t status = CLV_NONE;
    int failure = OMPI_SUCCESS;

    *node_plan = (coll_clv_node_plan_t){.is_fixed = fixed};
    if (group->is_broken) {
        return MPI_ERR_OTHER;
    }
    if (fixed) {
        return ompi_error_of(assign_without_forecast(group, key, 1, NULL, node_plan));
    }
    if (NULL == group->clock.pap) {
        call->arrival_ns = clv_local_now_ns();
    } else {
        clv_pap_call_begin(group->clock.pap, &stream_key, clv_local_now_ns(), call);
        status = wait_for_forecast(group, call, &forecast, &node_plans, &failure);
    }
    if (OMPI_SUCCESS != failure) {
        return failure;
    }
    if (status < CLV_OK) {
        return cut_off(group, status);
    }
    status = assign(group, key, call, CLV_OK == status ? forecast : NULL, node_plans, node_plan);
    if (NULL != group->clock.pap) {
        node_plan->lookup_ns = clv_local_now_ns() - call->arrival_ns;
    }
    return ompi_error_of(status);
}

static CLV_HOT void end_numbered(coll_clv_group_t *group, clv_pap_call_t *call,
                                 const coll_clv_node_plan_t *node_plan, int64_t now_ns)
{
    const stream_keys_t *stream = stream_of(group, call);
    const clv_choose_keys_t *keys = NULL == stream ? NULL : &stream->keys;

    clv_pap_call_end(group->clock.pap, call, node_plan->decision.algorithm, keys,
                     NULL == keys ? 0 : clv_choose_keys_bytes(keys), now_ns);
}

CLV_HOT int64_t coll_clv_group_end(coll_clv_group_t *group, clv_pap_call_t *call,
                                   const coll_clv_node_plan_t *node_plan)
{
    int64_t took_ns = -1;

    if (!node_plan->is_fixed) {
        const int64_t now_ns = clv_local_now_ns();
        took_ns = now_ns - call->arrival_ns;
        if (NULL != group->clock.pap) {
            end_numbered(group, call, node_plan, now_ns);
        }
    }
    clv_free(group->own_steps);
    group->own_steps = NULL;
    return took_ns;
}
