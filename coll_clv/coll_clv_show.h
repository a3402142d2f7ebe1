/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The output of coll_clv_print on rank 0: each forecast once, its plan, and the cost of links.
 *
 * Errors: none. Memory: none is kept. Threads: as MPI demands of a communicator, one call at a
 * time.
 */
#ifndef COLL_CLV_SHOW_H
#define COLL_CLV_SHOW_H

#include "coll_clv/coll_clv_call.h"
#include "coll_clv/coll_clv_group.h"

BEGIN_C_DECLS

void coll_clv_show(const coll_clv_call_t *call, const clv_pap_stream_key_t *key,
                   const coll_clv_node_plan_t *node_plan);
void coll_clv_show_links(const coll_clv_call_t *call);

/* The name of this process's PML ("ob1", "ucx"); Open MPI's own string. */
const char *coll_clv_pml_name(void);

END_C_DECLS

#endif
