/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two ranks in one process, on one or on two pretended nodes, so that making and freeing a group is
 * a few hundred microseconds. For tests; one thread.
 *
 * Each step answers the first failure of either rank and goes no further, as a job would by its
 * allreduce; pair_free and pair_close take whatever there is.
 */
#ifndef TESTS_PAP_PAIR_H
#define TESTS_PAP_PAIR_H

#include "pap_predict/pap_predict.h"

typedef struct pair {
    clv_pap_t *pap[2];
    clv_pap_group_t *group[2];
    clv_pap_hooks_t hooks; /* 100 bytes of node plans; may be changed before pair_create */
    unsigned char endpoints[2 * CLV_PAP_ENDPOINT_BYTES];
} pair_t;

/* A link that is not there for connect_timeout_ns is lost, and who has lost its neighbour lingers a
 * minute: a busy machine may take seconds. */
clv_status_t pair_open(pair_t *pair, int one_node, int64_t connect_timeout_ns);
void pair_set_patience(pair_t *pair, int64_t patience_ns); /* before pair_create */
clv_status_t pair_create(pair_t *pair);
clv_status_t pair_attach(pair_t *pair);
clv_status_t pair_activate(pair_t *pair);
/* Both ranks, which have begun their calls, ask until both know, or 2 minutes are over
 * (CLV_AGAIN). */
void pair_ask(pair_t *pair, clv_pap_call_t calls[2], clv_status_t status[2],
              const clv_pap_forecast_t *forecasts[2]);
void pair_free(pair_t *pair);
void pair_close(pair_t *pair);

#endif
