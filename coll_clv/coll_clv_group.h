/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One communicator's share in the prediction: cards, calibration, boards and the plans made
 * beside them.
 *
 * What: joins pap_predict (boards) and schedule (plans) to a communicator. Set up inside the first
 * eligible call, by collectives of the communicator itself; until then nothing exists.
 * Not: eligibility, and running a plan.
 *
 * Every rank or none: setup ends with the same answer on every rank; a group that exists, exists
 * everywhere.
 *
 * Threads: as MPI demands of a communicator, one call at a time; several communicators at once.
 * Memory per communicator: clv_pap_group_t's table, COLL_CLV_BLIND_PLANS lists of steps, and on each
 * node's leader COLL_CLV_CACHE_BYTES of plans.
 */
#ifndef COLL_CLV_GROUP_H
#define COLL_CLV_GROUP_H

#include "ompi_config.h"

#include "mpi.h"
#include "ompi/communicator/communicator.h"

#include "choose/choose.h"
#include "coll_clv/coll_clv_tables.h"
#include "pap_predict/pap_predict.h"
#include "schedule/schedule.h"

/* Ranks times segments of the largest plan: bounds plan time and the node's table. */
#define COLL_CLV_MAX_CELLS 65536

/* A background connection that is not up after so long is lost. */
#define COLL_CLV_CONNECT_NS INT64_C(10000000000)

/* Blind plans kept (forced plans before the first board). */
#define COLL_CLV_BLIND_PLANS 4

/* Rank-equal settings, checked to be equal when the group is set up. */
typedef struct coll_clv_settings {
    clv_pap_options_t pap;
    int32_t forced;        /* a coll_clv_choice_t, or -1 */
    int32_t exchange;      /* 0: no group, blind plans only */
    int64_t round_ns;      /* 0: measured */
    int64_t segment_bytes; /* 0: chosen */
} coll_clv_settings_t;

/* What a call has to do. steps are this rank's, valid until coll_clv_group_end. */
typedef struct coll_clv_order {
    coll_clv_decision_t decision;
    const clv_step_t *steps;
    int64_t n_steps;
    const clv_pap_board_t *board; /* NULL: none for this call; valid until coll_clv_group_end */
    int made_ahead; /* the background thread had made the plan before we asked */
    int64_t lookup_ns; /* from the arrival until all this was known; 0 without the exchange */
} coll_clv_order_t;

typedef struct coll_clv_group coll_clv_group_t;

/* Collective over comm, inside a call that all its ranks have entered. On OMPI_SUCCESS *group_p is
 * a group on every rank. Without the exchange (parameter, no interface, a rank that could not
 * attach, unequal settings) the group only makes blind plans; then *why_p is the reason, else
 * COLL_CLV_FIT. */
int coll_clv_group_setup(struct ompi_communicator_t *comm, const coll_clv_settings_t *settings,
                         coll_clv_group_t **group_p, int *why_p);
void coll_clv_group_free(coll_clv_group_t *group);

/* The call of this key: waits for its board (making MPI progress), then says what to do. The
 * only failures are this process's own and must be returned to the caller of MPI. */
int coll_clv_group_begin(coll_clv_group_t *group, const clv_pap_stream_key_t *key,
                         clv_pap_call_t *call, coll_clv_order_t *order);
void coll_clv_group_end(coll_clv_group_t *group, clv_pap_call_t *call,
                        const coll_clv_order_t *order);

/* The pap_predict group, or NULL; for the hint and for printing. */
clv_pap_group_t *coll_clv_group_pap(coll_clv_group_t *group);
/* The plan of an order again, for printing: the caller's to free, NULL when there is none. */
clv_plan_t *coll_clv_group_plan(coll_clv_group_t *group, const clv_pap_stream_key_t *key,
                                const coll_clv_order_t *order);

/* The process's channel: counters, gauges, and the end (component close). */
void coll_clv_process_counters(clv_pap_counters_t *counters);
/* The newest group's clock, and how good predictions were. Any thread at any time; a lock that is
 * held for the length of such a look, no system call. */
void coll_clv_process_gauges(coll_clv_gauges_t *gauges);
/* The plan caches of all groups, now. Any thread at any time; no lock. */
void coll_clv_process_cache(coll_clv_cache_t *cache);
void coll_clv_process_close(void);

#endif
