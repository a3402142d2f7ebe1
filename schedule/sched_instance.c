/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Checks the input of a generator: the ranges of an instance.
 *
 * Not: the value of a schedule. Cost: O(ranks), no memory. Thread-safe.
 */
#include "schedule/sched_instance.h"

#include "schedule/sched_goal.h"
#include "schedule/sched_host_order.h"
#include "util/util_min_max.h"

static clv_status_t refuse(clv_status_t status, const char *text, const char **reason_p)
{
    *reason_p = text;
    return status;
}

static bool all_are_places(const int32_t *place, int32_t n_ranks)
{
    for (int32_t p = 0; p < n_ranks; p++) {
        if (place[p] < 0 || place[p] >= n_ranks) {
            return false;
        }
    }
    return true;
}

clv_span_t clv_sched_span(const int64_t *times_ns, int32_t n)
{
    clv_span_t a = {times_ns[0], times_ns[0]}, b = {times_ns[n - 1], times_ns[n - 1]};

    for (int32_t i = 1; i + 1 < n; i += 2) { /* pairs, whose minima do not wait for each other */
        a.first_ns = clv_smaller(a.first_ns, times_ns[i]);
        a.last_ns = clv_larger(a.last_ns, times_ns[i]);
        b.first_ns = clv_smaller(b.first_ns, times_ns[i + 1]);
        b.last_ns = clv_larger(b.last_ns, times_ns[i + 1]);
    }
    return (clv_span_t){clv_smaller(a.first_ns, b.first_ns), clv_larger(a.last_ns, b.last_ns)};
}

int64_t clv_sched_first_ns(const clv_instance_t *instance)
{
    return clv_sched_span(instance->arrival_ns, instance->n_ranks).first_ns;
}

int64_t clv_sched_spread_ns(const clv_instance_t *instance)
{
    const clv_span_t span = clv_sched_span(instance->arrival_ns, instance->n_ranks);
    return span.last_ns - span.first_ns;
}

int64_t clv_sched_effective_round_ns(const clv_instance_t *instance)
{
    int64_t spread_ns = clv_sched_spread_ns(instance);
    return instance->round_ns > spread_ns ? spread_ns + 1 : instance->round_ns;
}

clv_rounds_t clv_sched_rounds(const clv_instance_t *instance)
{
    return (clv_rounds_t){clv_sched_first_ns(instance), clv_sched_effective_round_ns(instance)};
}

int64_t clv_sched_round_limit(const clv_instance_t *instance)
{
    int64_t limit =
        (INT64_MAX - 1 - clv_sched_spread_ns(instance)) / clv_sched_effective_round_ns(instance) -
        2;
    return limit < INT32_MAX ? limit : INT32_MAX - 1;
}

bool clv_sched_shares_place(const int32_t *place, int32_t n_ranks)
{
    bool taken[CLV_SCHED_MAX_RANKS] = {false};
    bool shared = false;
    for (int32_t p = 0; place != NULL && p < n_ranks; p++) {
        shared |= taken[place[p]];
        taken[place[p]] = true;
    }
    return shared;
}

bool clv_sched_instance_shares_place(const clv_instance_t *instance)
{
    return instance->host_order != NULL
               ? instance->host_order->n_hosts < instance->n_ranks
               : clv_sched_shares_place(instance->place, instance->n_ranks);
}

int32_t clv_sched_first_rank(const clv_instance_t *instance)
{
    int32_t first = 0;
    for (int32_t p = 1; p < instance->n_ranks; p++) {
        int64_t later_ns = instance->arrival_ns[p] - instance->arrival_ns[first];
        if (later_ns == 0) {
            later_ns = clv_sched_order_ns(instance, p) - clv_sched_order_ns(instance, first);
        }
        if (later_ns < 0) {
            first = p;
        }
    }
    return first;
}

void clv_sched_lowest_ranks(const clv_instance_t *instance, int32_t *lowest)
{
    for (int32_t p = 0; p < instance->n_ranks; p++) {
        lowest[p] = instance->n_ranks;
    }
    for (int32_t p = instance->n_ranks - 1; p >= 0; p--) {
        lowest[clv_sched_place(instance, p)] = p;
    }
}

/* The places of a host order have been checked. */
static clv_status_t check_places(const clv_instance_t *instance, const char **reason_p)
{
    if (instance->host_order != NULL) {
        return clv_host_order_fits(instance->host_order, instance)
                   ? CLV_OK
                   : refuse(CLV_INVALID, "the host_order is of other ranks or places", reason_p);
    }
    if (instance->place != NULL && !all_are_places(instance->place, instance->n_ranks)) {
        return refuse(CLV_INVALID, "a place is not in 0 .. ranks - 1", reason_p);
    }
    return CLV_OK;
}

/* Checks what depends on ranks and segments only, not on times. */
static clv_status_t check_frame(const clv_instance_t *instance, const char **reason_p)
{
    if (instance->n_ranks < 1 || instance->n_segments < 1) {
        return refuse(CLV_INVALID, "ranks and segments must be at least 1", reason_p);
    }
    if (instance->n_ranks > CLV_SCHED_MAX_RANKS) {
        return refuse(CLV_LIMIT, "more than 4096 ranks", reason_p);
    }
    if (instance->n_segments > CLV_SCHED_MAX_SEGMENTS) {
        return refuse(CLV_LIMIT, "more than 4096 segments", reason_p);
    }
    if (instance->root < 0 || instance->root >= instance->n_ranks) {
        return refuse(CLV_INVALID, "the root is not one of the ranks", reason_p);
    }
    if (!clv_goal_fits(instance->goal, instance->n_ranks, instance->n_segments)) {
        return refuse(CLV_INVALID, "no such goal, or segments not shared out equally by it",
                      reason_p);
    }
    return check_places(instance, reason_p);
}

/* Checks times; there are arrivals. */
static clv_status_t check_times(const clv_instance_t *instance, const char **reason_p)
{
    const clv_span_t arrival = clv_sched_span(instance->arrival_ns, instance->n_ranks);

    if (arrival.first_ns < 0) {
        return refuse(CLV_INVALID, "an arrival time is missing or negative", reason_p);
    }
    if (instance->order_ns != NULL &&
        clv_sched_span(instance->order_ns, instance->n_ranks).first_ns < 0) {
        return refuse(CLV_INVALID, "an order time is negative", reason_p);
    }
    if ((arrival.last_ns - arrival.first_ns) / instance->round_ns > CLV_SCHED_MAX_SPREAD) {
        return refuse(CLV_OVERFLOW, "arrivals are spread over more than 2^30 rounds", reason_p);
    }
    *reason_p = "";
    return CLV_OK;
}

clv_status_t clv_instance_check(const clv_instance_t *instance, const char **reason_p)
{
    clv_status_t status = check_frame(instance, reason_p);
    if (status != CLV_OK) {
        return status;
    }
    if (instance->round_ns <= 0) {
        return refuse(CLV_INVALID, "the round length must be positive", reason_p);
    }
    if (instance->arrival_ns == NULL) {
        return refuse(CLV_INVALID, "an arrival time is missing or negative", reason_p);
    }
    return check_times(instance, reason_p);
}
