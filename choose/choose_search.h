/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The candidates for one forecast: each kind of plan in a few segment counts, made or estimated
 * fast, estimated and scored. PURE and private to the decider.
 *
 * Not: the choice among them (choose.c). Cost: a plan per candidate that could still win; where
 * ranks share hosts only its fast estimate.
 */
#ifndef CLV_CHOOSE_SEARCH_H
#define CLV_CHOOSE_SEARCH_H

#include <stdbool.h>

#include "choose/choose.h"
#include "schedule/sched_fast_estimate.h"
#include "schedule/sched_host_order.h"

/* One decision under way: its input, and the best candidates so far. */
typedef struct clv_choose_search {
    const clv_choose_config_t *config;
    const clv_pap_stream_key_t *key;
    const int64_t *order_ns;      /* predicted arrivals */
    int64_t *clipped_ns;          /* clipped by CLIP_SIGMAS sigma */
    int64_t *eased_ns;            /* clipped by one sigma */
    int64_t *times;               /* equal arrivals, then the two clipped ones */
    clv_choose_state_t *state;    /* NULL: no experience */
    int32_t forced;               /* an algorithm, or CLV_ALGORITHM_AUTO */
    clv_plan_cache_t *plans;      /* NULL: plans are not cached */
    clv_host_order_t *host_order; /* where ranks share places, for all candidates; or NULL */
    int32_t start;                /* segment count at which the search begins */
    int64_t limit_ns;             /* of the guard (choose_guard.h); 0: none */
    int64_t trusted_ns;           /* the same for plans that may be trusted with more */
    int32_t late_rank;            /* plans are compared by its time (choose_late.h); -1: none */
    int64_t best_score;           /* of all; -1: none */
    clv_choose_decision_t best;
    int64_t score[CLV_N_ALGORITHMS]; /* of the best candidate of each; -1: none */
    clv_choose_decision_t found[CLV_N_ALGORITHMS];
} clv_choose_search_t;

/* What a candidate is judged by: where ranks share places, the fast estimate of its plan if there
 * is one; else the plan. The other is NULL. */
typedef struct clv_choose_subject {
    const clv_fast_estimate_t *fast;
    const clv_plan_t *plan;
} clv_choose_subject_t;

/* Estimates the candidate for these arrivals. Errors as of clv_plan_estimate. */
clv_status_t clv_choose_search_estimate(const clv_choose_search_t *search,
                                        const clv_choose_subject_t *subject,
                                        const int64_t *arrival_ns,
                                        clv_estimate_t *estimate_p) CLV_MUST_CHECK;

/* Opens a search over a forecast's arrivals (forecast NULL: all equal); close it. state NULL: no
 * experience. plans NULL: plans are not cached. CLV_NO_MEMORY. */
clv_status_t clv_choose_search_open(const clv_choose_config_t *config,
                                    const clv_pap_stream_key_t *key,
                                    const clv_pap_forecast_t *forecast, clv_choose_state_t *state,
                                    clv_plan_cache_t *plans,
                                    clv_choose_search_t *search) CLV_MUST_CHECK;
void clv_choose_search_close(clv_choose_search_t *search);

/* Whether every candidate is cheap to make and estimate: few ranks times segments, and no link
 * shared by ranks. */
bool clv_choose_search_is_cheap(const clv_choose_config_t *config, const clv_pap_stream_key_t *key);

/* Tries all allowed candidates. Afterwards best is the best one, and found has the best of each
 * algorithm that could win, that runs or is tried, or that needs no arrival times. Fails only with
 * CLV_NO_MEMORY. */
clv_status_t clv_choose_search_plans(clv_choose_search_t *search,
                                     const clv_pap_forecast_t *forecast) CLV_MUST_CHECK;

/* Makes the plan of a decision: one for the caller to free, or one of the cache. */
clv_status_t clv_choose_search_make(const clv_choose_search_t *search,
                                    const clv_choose_decision_t *decision,
                                    clv_plan_t **plan_p) CLV_MUST_CHECK;
clv_status_t clv_choose_search_keep(const clv_choose_search_t *search,
                                    const clv_choose_decision_t *decision,
                                    const clv_plan_t **plan_p) CLV_MUST_CHECK;

#endif
