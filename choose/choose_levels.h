/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The trial of two levels of communicators against the previous function, for one collective and
 * size class. Blocks of calls alternate; what is compared is the time from call to call.
 *
 *      two levels | previous | two levels | previous | two levels |
 *       (learn)                          lost?                  lost or won
 *
 * What: whose turn a call is, medians of the newest two blocks, the verdict. Ranks measure their
 * own times; with the slowest rank's medians for all, they reach one verdict.
 * Not: agreeing on them, nor running calls (coll_clv/coll_clv_levels.h).
 *
 * Units: ns on any clock.
 * Errors: none.
 * Memory: the caller's; all zero at first.
 * Threads: one per trial.
 * PURE. Cost: a store per call; two sorts of ten numbers, twice.
 */
#ifndef CLV_CHOOSE_LEVELS_H
#define CLV_CHOOSE_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

#include "choose/choose_policy.h"
#include "util/util_min_max.h"

#define CLV_LEVELS_BLOCK (CLV_POLICY_CHANGE_CALLS + CLV_POLICY_BLOCK_CALLS)

enum { CLV_LEVELS_USED, CLV_LEVELS_UNUSED, CLV_LEVELS_WAYS };

typedef enum clv_levels_verdict {
    CLV_LEVELS_OPEN,
    CLV_LEVELS_WON,
    CLV_LEVELS_LOST
} clv_levels_verdict_t;

typedef struct clv_levels_trial {
    int32_t n_calls;
    clv_levels_verdict_t verdict;
    int64_t newest_ns; /* arrival of the newest call */
    int64_t iteration_ns[CLV_LEVELS_WAYS][CLV_POLICY_BLOCK_CALLS];
} clv_levels_trial_t;

/* CLV_LEVELS_USED or UNUSED: how this call runs, counted from 0. */
static inline int clv_levels_way(int32_t call)
{
    return call / CLV_LEVELS_BLOCK % CLV_LEVELS_WAYS;
}

/* Whether two pairs of blocks are complete, so that the next verdict is the last. */
static inline bool clv_levels_is_last(const clv_levels_trial_t *trial)
{
    return trial->n_calls > 5 * CLV_LEVELS_BLOCK;
}

/* A call begins. True: ranks now agree on the medians, and clv_levels_judge comes before
 * clv_levels_way(trial->n_calls - 1). */
static inline bool clv_levels_begin(clv_levels_trial_t *trial, int64_t now_ns)
{
    const int32_t last = trial->n_calls - 1, at = last % CLV_LEVELS_BLOCK - CLV_POLICY_CHANGE_CALLS;

    if (last >= CLV_LEVELS_BLOCK && at >= 0) {
        trial->iteration_ns[clv_levels_way(last)][at] = now_ns - trial->newest_ns;
    }
    trial->newest_ns = now_ns;
    trial->n_calls++;
    return last == 3 * CLV_LEVELS_BLOCK - 1 || last == 5 * CLV_LEVELS_BLOCK - 1;
}

static inline int64_t clv_levels_median(int64_t *values)
{
    for (int32_t i = 1; i < CLV_POLICY_BLOCK_CALLS; i++) {
        clv_insert_sorted(values, i, values[i]);
    }
    return values[CLV_POLICY_BLOCK_CALLS / 2];
}

/* One lost pair of blocks loses, two won ones win. */
static inline void clv_levels_judge(clv_levels_trial_t *trial,
                                    const int64_t median_ns[CLV_LEVELS_WAYS])
{
    if (median_ns[CLV_LEVELS_USED] > median_ns[CLV_LEVELS_UNUSED]) {
        trial->verdict = CLV_LEVELS_LOST;
    } else if (clv_levels_is_last(trial)) {
        trial->verdict = CLV_LEVELS_WON;
    }
}

#endif
