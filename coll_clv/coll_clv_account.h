/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Times of calls and iterations, for the summary and the MPI_T variables.
 *
 * Units: ns. Errors: none. Memory: the component's. Threads: any, on several communicators at once.
 */
#ifndef COLL_CLV_ACCOUNT_H
#define COLL_CLV_ACCOUNT_H

#include "coll_clv/coll_clv_call.h"
#include "coll_clv/coll_clv_group.h"

BEGIN_C_DECLS

/* Accounts for a call that has ended; took_ns below 0: not known. */
void coll_clv_account(const coll_clv_call_t *call, const clv_pap_call_t *numbered,
                      const coll_clv_node_plan_t *node_plan, int64_t took_ns);

END_C_DECLS

#endif
