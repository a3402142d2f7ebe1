/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One method running over one group: what the algorithms share. Internal to the module.
 *
 * Algorithms use virtual ranks: the reference is 0, and the others follow it around the ring, so
 * any rank can be the reference.
 */
#ifndef CLV_CS_RUN_H
#define CLV_CS_RUN_H

#include <stdbool.h>

#include "clocksync/methods/cs_pair.h"

typedef struct cs_run {
    const clv_cs_group_t *group;
    const clv_cs_method_t *method;
    const clv_cs_clock_t *clock; /* NULL: none */
    const clv_cs_model_t *start; /* at the reference: its clock's model; NULL: it has no time */
    uint64_t time_source;        /* for prop */
    clv_cs_fit_t fit;            /* out, if the status is CLV_OK */
    int64_t n_pings;             /* out */
} cs_run_t;

/* Each returns the status of this rank's own clock. Trouble of its partner is in the partner's
 * status. */
clv_status_t clv_cs_run_star(cs_run_t *run) CLV_MUST_CHECK;    /* cs_star.c: SKaMPI */
clv_status_t clv_cs_run_jk(cs_run_t *run) CLV_MUST_CHECK;      /* cs_star.c */
clv_status_t clv_cs_run_tree_up(cs_run_t *run) CLV_MUST_CHECK; /* cs_up.c: Netgauge, HCA2, HCA */
clv_status_t clv_cs_run_hca3(cs_run_t *run) CLV_MUST_CHECK;    /* cs_down.c */
clv_status_t clv_cs_run_prop(cs_run_t *run) CLV_MUST_CHECK;    /* cs_down.c */

static inline int32_t cs_virtual_rank(const cs_run_t *run)
{
    const clv_cs_group_t *group = run->group;
    return (group->rank - group->reference + group->n_ranks) % group->n_ranks;
}

static inline int32_t cs_index_of(const cs_run_t *run, int32_t virtual_rank)
{
    return (int32_t) (((int64_t) virtual_rank + run->group->reference) % run->group->n_ranks);
}

static inline cs_pair_t cs_pair_with(const cs_run_t *run, int32_t virtual_rank)
{
    return clv_cs_pair(run->group, run->clock, run->method, cs_index_of(run, virtual_rank));
}

/* The largest power of two that is at most n >= 1. */
static inline int32_t cs_power_below(int32_t n)
{
    int32_t power = 1;
    while (power <= n / 2) {
        power *= 2;
    }
    return power;
}

/* The reference measures nothing: its clock is the global one, if it has one. */
static inline clv_status_t cs_start(cs_run_t *run)
{
    if (run->clock == NULL || run->start == NULL) {
        return CLV_UNSUPPORTED;
    }
    run->fit = (clv_cs_fit_t){.model = *run->start, .r_squared = 1.0, .is_consistent = true};
    return CLV_OK;
}

/* Learns from virtual rank reference. */
static inline clv_status_t cs_learn_from(cs_run_t *run, int32_t reference)
{
    cs_pair_t pair = cs_pair_with(run, reference);
    const clv_status_t status = run->clock != NULL ? clv_cs_pair_learn(&pair, &run->fit)
                                                   : clv_cs_pair_done(&pair, CLV_UNSUPPORTED);
    run->n_pings += pair.n_pings;
    return status;
}

#endif
