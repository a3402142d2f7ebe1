/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether clv can run a call: by its operation, type and size, and by the communicator's ranks.
 * Every answer is the same on all ranks.
 *
 * Errors: a reason of choose_reasons.h; CLV_FIT: none. Memory: none.
 * Threads: as MPI demands of a communicator, one call at a time.
 */
#ifndef COLL_CLV_FIT_H
#define COLL_CLV_FIT_H

#include "coll_clv/coll_clv_call.h"

BEGIN_C_DECLS

/* Whether coll_clv_reproducible asks for one order; plans combine in an order that follows
 * arrivals. */
bool coll_clv_must_keep_order(const coll_clv_call_t *call);

/* The smallest vector that auto plans, in bytes. */
int64_t coll_clv_least_bytes(const clv_choose_config_t *config, int32_t collective);

/* Sets module->alone_below from its config; 0 if every call must be reported. */
void coll_clv_set_alone_below(coll_clv_module_t *module);

/* The reason why no plan can be made; the reason why the forced algorithm, which makes none, cannot
 * run. */
int coll_clv_unfit_for_plans(const coll_clv_call_t *call, int32_t forced);
int coll_clv_unfit_for_own(const coll_clv_call_t *call, int32_t forced);

/* Whether all ranks have this component with the same parameters. Answered once per communicator,
 * together with devices and shared processors. Collective the first time. */
bool coll_clv_call_peers_are_equal(const coll_clv_call_t *call);

END_C_DECLS

#endif
