/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Times of calls and iterations (see coll_clv_account.h).
 */
#include "coll_clv/coll_clv_account.h"

#include "util/util_min_max.h"

static void count_time(clv_collective_t collective, int32_t algorithm, int64_t took_ns)
{
    coll_clv_times_t *times = &mca_coll_clv_component.times[collective];

    if (0 > took_ns) {
        return;
    }
    if (CLV_ALGORITHM_PREVIOUS == algorithm) {
        times->previous_calls++;
        times->previous_ns += (unsigned long long) took_ns;
    } else {
        times->planned_calls++;
        times->planned_ns += (unsigned long long) took_ns;
    }
}

/* Keeps the iteration time over the first calls and over the newest ones: whether clv has
 * helped. */
static void count_iteration(clv_collective_t collective, int64_t arrival_ns)
{
    coll_clv_times_t *times = &mca_coll_clv_component.times[collective];
    coll_clv_iterations_t *iterations = &mca_coll_clv_component.iterations[collective];
    const int64_t at = iterations->n_calls++,
                  n = at < COLL_CLV_ITERATION_CALLS ? at : COLL_CLV_ITERATION_CALLS;
    const int64_t first_ns = iterations->arrival_ns[(at - n) % (COLL_CLV_ITERATION_CALLS + 1)];

    iterations->arrival_ns[at % (COLL_CLV_ITERATION_CALLS + 1)] = arrival_ns;
    if (0 < n) {
        /* With two threads, the call that ends later may have begun earlier. */
        times->newest_pace_ns = (unsigned long long) (clv_larger(arrival_ns - first_ns, 0) / n);
    }
    if (COLL_CLV_ITERATION_CALLS >= at) {
        times->first_pace_ns = times->newest_pace_ns;
    }
}

static void count_span(int64_t arrival_ns, int64_t exit_ns)
{
    coll_clv_component_t *component = &mca_coll_clv_component;

    if (0 == component->first_ns) {
        component->first_ns = arrival_ns;
    }
    component->last_ns = clv_larger(component->last_ns, exit_ns);
}

/* The lock: threads that call on different communicators share these counters. */
void coll_clv_account(const coll_clv_call_t *call, const clv_pap_call_t *numbered,
                      const coll_clv_node_plan_t *node_plan, int64_t took_ns)
{
    if (call->module->is_level) { /* the whole call is accounted for */
        return;
    }
    pthread_mutex_lock(&mca_coll_clv_component.account);
    count_time(call->collective, node_plan->decision.algorithm, took_ns);
    if (!node_plan->is_fixed) {
        count_iteration(call->collective, numbered->arrival_ns);
        count_span(numbered->arrival_ns, numbered->arrival_ns + took_ns);
    }
    pthread_mutex_unlock(&mca_coll_clv_component.account);
}
