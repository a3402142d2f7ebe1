/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The group of a call: a local one until the communicator has carried enough bytes for a set-up,
 * then its own; and the end of a call on a failed communicator.
 *
 * Errors: Open MPI's codes. Memory: the module's.
 * Threads: as MPI demands of a communicator, one call at a time.
 */
#ifndef COLL_CLV_CALL_GROUP_H
#define COLL_CLV_CALL_GROUP_H

#include "coll_clv/coll_clv_call.h"

BEGIN_C_DECLS

/* Sets module->group. Collective in the call that sets the group up, which is the same on all
 * ranks. */
int coll_clv_find_group(const coll_clv_call_t *call);

/* Bytes that a communicator's calls carry before it is set up: coll_clv_setup_bytes, in proportion
 * to its ranks where they are many. */
int64_t coll_clv_setup_enough(const clv_choose_config_t *config);

/* Returns the error to give the caller of a call that failed with rc. */
int coll_clv_fail(const coll_clv_call_t *call, int rc);

END_C_DECLS

#endif
