/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See plan_mutants.h.
 */
#include "tests/support/plan_mutants.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/random_instance.h"
#include "tests/support/random_plan.h"

static clv_send_t *any_send(const clv_plan_t *plan, uint64_t *state)
{
    return &plan->sends[clv_random_between(state, 0, plan->n_sends - 1)];
}

static uint16_t any_number(uint64_t *state, int32_t n)
{
    return (uint16_t) clv_random_between(state, 0, n);
}

static void other_sender(clv_plan_t *plan, uint64_t *state)
{
    any_send(plan, state)->sender = any_number(state, plan->n_ranks);
}

static void other_receiver(clv_plan_t *plan, uint64_t *state)
{
    any_send(plan, state)->receiver = any_number(state, plan->n_ranks);
}

static void other_segment(clv_plan_t *plan, uint64_t *state)
{
    any_send(plan, state)->segment = any_number(state, plan->n_segments);
}

static void other_kind(clv_plan_t *plan, uint64_t *state)
{
    clv_send_t *send = any_send(plan, state);
    send->kind = (uint16_t) (send->kind == CLV_MOVE ? CLV_COPY : any_number(state, 2));
}

static void other_round(clv_plan_t *plan, uint64_t *state)
{
    any_send(plan, state)->round += (int32_t) clv_random_between(state, -1, 1);
}

static void other_goal(clv_plan_t *plan, uint64_t *state)
{
    plan->goal = (clv_goal_t) clv_random_between(state, 0, CLV_N_GOALS - 1);
}

static void other_root(clv_plan_t *plan, uint64_t *state)
{
    plan->root = any_number(state, plan->n_ranks - 1);
}

static void without_a_send(clv_plan_t *plan, uint64_t *state)
{
    clv_send_t *send = any_send(plan, state);
    memmove(send, send + 1, (size_t) (plan->sends + plan->n_sends - send - 1) * sizeof *send);
    plan->n_sends--;
}

static void a_send_twice(clv_plan_t *plan, uint64_t *state)
{
    const int32_t round = plan->sends[plan->n_sends - 1].round;
    plan->sends[plan->n_sends - 1] = *any_send(plan, state);
    plan->sends[plan->n_sends - 1].round = round;
}

static void two_in_the_other_order(clv_plan_t *plan, uint64_t *state)
{
    clv_send_t *one = any_send(plan, state), *other = any_send(plan, state);
    const clv_send_t saved = *one;
    *one = *other;
    *other = saved;
    const int32_t round = one->round;
    one->round = other->round;
    other->round = round;
}

static void all_in_one_round(clv_plan_t *plan, uint64_t *state)
{
    clv_send_t *send = any_send(plan, state);
    if (send > plan->sends) {
        send->round = send[-1].round;
    }
}

void clv_plan_mutate(clv_plan_t *plan, uint64_t *state)
{
    static void (*const changes[])(clv_plan_t *, uint64_t *) = {
        other_sender,   other_receiver,  other_segment, other_kind, other_round,
        other_goal,     other_root,      a_send_twice,  other_kind, two_in_the_other_order,
        without_a_send, all_in_one_round};
    for (int64_t n = clv_random_between(state, 1, 3); n > 0 && plan->n_sends > 0; n--) {
        changes[clv_random_between(state, 0, sizeof changes / sizeof *changes - 1)](plan, state);
    }
    plan->n_rounds = plan->n_sends > 0 ? plan->sends[plan->n_sends - 1].round + 1 : 0;
}

int clv_mutants_judge(clv_mutants_t *mutants, const clv_plan_t *plan)
{
    char reason[200];
    const int right = clv_plan_is_right(plan);
    const int valid = clv_plan_validate(plan, reason, sizeof reason) == CLV_OK;

    mutants->n++;
    mutants->n_wrong += !right;
    mutants->n_refused_though_right += right && !valid;
    return right || !valid;
}

void clv_mutants_add(clv_mutants_t *sum, const clv_mutants_t *more)
{
    sum->n += more->n;
    sum->n_wrong += more->n_wrong;
    sum->n_refused_though_right += more->n_refused_though_right;
}

void clv_mutants_print(const clv_mutants_t *mutants, const char *what)
{
    printf("# mutants of %s: %lld, %lld of them wrong, %lld right ones refused\n", what,
           (long long) mutants->n, (long long) mutants->n_wrong,
           (long long) mutants->n_refused_though_right);
}
