/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of the goals of plans (see sched_goal.h).
 */
#include "schedule/sched_goal.h"

#include <string.h>

static const char *const names[CLV_N_GOALS] = {
#define CLV_GOAL_NAME(goal, name, meaning) name,
    CLV_GOAL_MAP(CLV_GOAL_NAME)
#undef CLV_GOAL_NAME
};

static bool is_goal(clv_goal_t goal)
{
    return (unsigned) goal < CLV_N_GOALS;
}

const char *clv_goal_name(clv_goal_t goal)
{
    return is_goal(goal) ? names[goal] : "unknown";
}

clv_status_t clv_goal_find(const char *name, clv_goal_t *goal_p)
{
    for (int goal = 0; goal < CLV_N_GOALS; goal++) {
        if (strcmp(names[goal], name) == 0) {
            *goal_p = (clv_goal_t) goal;
            return CLV_OK;
        }
    }
    return CLV_INVALID;
}

bool clv_goal_fits(clv_goal_t goal, int32_t n_ranks, int32_t n_segments)
{
    return is_goal(goal) && (goal != CLV_GOAL_REDUCE_SCATTER || n_segments % n_ranks == 0);
}

bool clv_goal_wants(const clv_plan_t *plan, int32_t rank, int32_t segment)
{
    switch (plan->goal) {
    case CLV_GOAL_REDUCE:
        return rank == plan->root;
    case CLV_GOAL_REDUCE_SCATTER:
        return rank == clv_goal_owner(plan->n_ranks, plan->n_segments, segment);
    default:
        return true;
    }
}
