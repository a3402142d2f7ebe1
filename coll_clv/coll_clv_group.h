/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One communicator's part in the prediction: forecasts, and the plans made beside them.
 *
 * What: connects pap_predict (forecasts) and choose (plans) to a communicator. It is set up inside
 * an eligible call, by collective exchanges (coll_clv_gather.h), as soon as such calls have carried
 * enough bytes to be worth it (docs/decisions/0006). Until then a local group plans alone, for
 * equal arrivals and by built-in costs, and nothing else exists.
 * Not: eligibility, and running a plan.
 *
 * Threads: as MPI demands of a communicator, one call at a time; several communicators at once.
 * The background thread uses only the chooser of a group.
 * Memory per communicator: clv_pap_group_t's table, COLL_CLV_KEPT_NODE_PLANS lists of steps, and on
 * each host's leader CLV_CHOOSE_CACHE_BYTES of plans.
 */
#ifndef COLL_CLV_GROUP_H
#define COLL_CLV_GROUP_H

#include <stdbool.h>

#include "ompi_config.h"

#include "mpi.h"
#include "ompi/communicator/communicator.h"

#include "choose/choose.h"
#include "pap_predict/pap_predict.h"
#include "schedule/schedule.h"

struct coll_clv_params; /* coll_clv.h */

/* Plans that are kept for calls without a forecast. */
#define COLL_CLV_KEPT_NODE_PLANS 64

/* What a call has to run. steps are this rank's, valid until coll_clv_group_end. */
typedef struct coll_clv_node_plan {
    clv_choose_decision_t decision;
    const clv_step_t *steps;
    int64_t n_steps;
    const clv_pap_forecast_t
        *forecast;     /* NULL: none for this call; valid until coll_clv_group_end */
    bool is_fixed;     /* not part of any stream */
    bool made_ahead;   /* the background thread had made the plan before the call */
    int64_t lookup_ns; /* from the arrival until the plan was known; 0 without the exchange */
} coll_clv_node_plan_t;

typedef struct coll_clv_group coll_clv_group_t;

/* Collective over comm, inside a call that all its ranks have entered. On OMPI_SUCCESS, *group_p is
 * a group on every rank. If there is no exchange (parameter, no interface, a rank that could not
 * attach, unequal parameters), the group only makes plans without a forecast, and *why_p is the
 * reason; else it is CLV_FIT. config: rank-equal parameters, n_ranks and max_cells; its cost is
 * measured and agreed here. params: of this process, for its listener. vector_bytes: of the call,
 * which set-up makes a tenth or a little more longer (coll_clv_calibrate.h). */
int coll_clv_group_setup(struct ompi_communicator_t *comm, const clv_choose_config_t *config,
                         const struct coll_clv_params *params, int64_t vector_bytes,
                         coll_clv_group_t **group_p, int *why_p);
/* A local group: nothing is exchanged or measured. NULL: no memory. */
coll_clv_group_t *coll_clv_group_local(struct ompi_communicator_t *comm,
                                       const clv_choose_config_t *config);
/* Of NULL: true. */
bool coll_clv_group_is_local(const coll_clv_group_t *group);
/* Before free, while the communicator works: sends neighbours what they may lack. False: do not
 * free now; Open MPI does when it ends the communicator. NULL is fine. */
bool coll_clv_group_settle(coll_clv_group_t *group);
void coll_clv_group_free(coll_clv_group_t *group);
/* Frees the group after its communicator has failed: clv_pap_group_abandon. */
void coll_clv_group_abandon(coll_clv_group_t *group);

/* A call of this rank has failed midway. Peers never get the rest of its messages, and messages
 * that it did not receive would match the next call. So no later call of this communicator
 * succeeds, and all ranks are told (pap_predict.h). NULL is fine. Returns whether this is the first
 * time. */
bool coll_clv_group_break(coll_clv_group_t *group);
/* Whether any rank has broken the group; every wait checks it. Fits coll_clv_job_t; NULL is
 * fine. */
bool coll_clv_group_is_broken(const void *group);

/* Prefetches the memory that a call touches, some time before coll_clv_group_begin. */
void coll_clv_group_fetch(const coll_clv_group_t *group);

/* Begins the call of this key: waits for its forecast (making MPI progress), then says what to run.
 * fixed: the plan must not depend on forecasts or measurements (clv_choose_fixed), so the call is
 * not numbered. Fails only if this process fails or Open MPI knows of a failure
 * (coll_clv_failure.h). The error must be returned to the caller of MPI, and the call has no
 * coll_clv_group_end. */
int coll_clv_group_begin(coll_clv_group_t *group, const clv_pap_stream_key_t *key, bool fixed,
                         clv_pap_call_t *call, coll_clv_node_plan_t *node_plan);
/* How long the call took on this rank since its begin, ns; -1: a fixed call, which is not timed. */
int64_t coll_clv_group_end(coll_clv_group_t *group, clv_pap_call_t *call,
                           const coll_clv_node_plan_t *node_plan);

/* The pap_predict group, or NULL; for the hint and for printing. */
clv_pap_group_t *coll_clv_group_pap(coll_clv_group_t *group);
/* The parameters, with what was measured on the communicator. */
const clv_choose_config_t *coll_clv_group_config(const coll_clv_group_t *group);
/* Makes the plan of a node plan again, for printing. The caller frees it; NULL: there is none. */
clv_plan_t *coll_clv_group_plan(coll_clv_group_t *group, const clv_pap_stream_key_t *key,
                                const coll_clv_node_plan_t *node_plan);

#endif
