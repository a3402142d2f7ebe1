/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How a communicator's group is set up, and its state afterwards. For coll_clv_setup.c and
 * coll_clv_group.c; the recorder is set up by the same steps.
 *
 * Every rank or none: setup ends with the same answer on every rank; a group that exists, exists
 * everywhere. Three steps: an allgather of endpoint records (coll_clv_gather.h); calibration,
 * unless all endpoint records say that the costs of these links are known; an allgather of reports.
 * If a step fails on one rank, all ranks still take all steps.
 */
#ifndef COLL_CLV_SETUP_H
#define COLL_CLV_SETUP_H

#include <stdbool.h>

#include "choose/choose_node_plan.h"
#include "coll_clv/coll_clv_relay.h"
#include "coll_clv/coll_clv_group.h"
#include "coll_clv/coll_clv_process.h"
#include "util/util_alloc.h"

/* A rank that has waited this long for a forecast asks all ranks to go without. With hints it may
 * wait twice, and asking takes an exchange: below 10 ms in all. */
#define COLL_CLV_PATIENCE_NS INT64_C(4000000)

/* How a call without a forecast is planned: by the model, forced or not; by clv_choose_fixed; by
 * the stream's newest sticky decision (clv_choose_is_sticky). */
typedef enum kept_rule { KEPT_BLIND, KEPT_FIXED, KEPT_STICKY } kept_rule_t;

/* What such calls run. */
typedef struct kept_node_plan {
    clv_pap_stream_key_t key;
    clv_choose_decision_t decision;
    bool is_set;
    kept_rule_t rule;
    clv_step_t *steps; /* NULL: the previous function */
    int64_t n_steps;
} kept_node_plan_t;

/* The plan keys of a stream's calls so far, and its newest sticky decision with its key. */
typedef struct stream_keys {
    _Alignas(CLV_LINE_BYTES) uint32_t generation;
    clv_choose_keys_t keys;
    bool is_sticky;
    clv_pap_stream_key_t held_key;
    clv_choose_decision_t held;
} stream_keys_t;

/* Opens the background channel with config and params, for recording or not, unless it is open. */
clv_status_t coll_clv_setup_channel(const clv_choose_config_t *config,
                                    const struct coll_clv_params *params, bool records,
                                    clv_pap_t **pap_p);
/* Gathers what does not fit into the endpoint records, if there is any; endpoints, stride: as of
 * clv_pap_group_attach. The caller frees *more_p; NULL: there is none. *has_memory_p: the same on
 * all ranks. */
int coll_clv_setup_gather_more(struct ompi_communicator_t *comm, const clv_pap_group_t *pap,
                               const unsigned char *endpoints, size_t stride,
                               unsigned char **more_p, bool *has_memory_p);

/* What each call reads comes first, in one cache line; then each stream has its own. */
struct coll_clv_group {
    struct ompi_communicator_t *comm; /* whose module has this group */
    coll_clv_clock_t clock; /* with the group of pap_predict; pap NULL: without the exchange */
    int32_t host_index;     /* of this rank among its host's ranks */
    int32_t last_stream;    /* the stream used last */
    bool is_broken;         /* a call has failed here, so every later one fails */
    clv_step_t
        *own_steps; /* of a plan that this rank had to make itself; freed at the end of the call */
    _Alignas(CLV_LINE_BYTES) stream_keys_t streams[CLV_PAP_MAX_STREAMS];
    int why; /* why there is no exchange: a clv_reason_t, else CLV_FIT */
    /* Once the group is active, only the background thread uses the plan cache. The thread that
     * calls MPI makes its few own plans without a cache. */
    clv_chooser_t chooser;
    coll_clv_relay_t relay;
    int32_t rank;
    int32_t *place; /* of each rank; chooser.config has it if links are shared */
    kept_node_plan_t kept[COLL_CLV_KEPT_NODE_PLANS];
    int32_t next_kept;
};

#endif
