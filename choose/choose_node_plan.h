/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sheet: what lies beside a board in the node's table. A decision, and the steps of the ranks
 * of this node, made by the background thread before any of them asks.
 *
 * Layout: the header, an index of n_listed + 1 offsets in rank order, then the steps. A sheet
 * whose steps did not fit has n_listed 0: the ranks then make the plan themselves, from the same
 * board and decision. PURE: no Open MPI here.
 */
#ifndef COLL_CLV_SHEET_H
#define COLL_CLV_SHEET_H

#include <stddef.h>
#include <stdint.h>

#include "choose/choose.h"
#include "schedule/schedule.h"

typedef struct coll_clv_sheet {
    int32_t status;   /* CLV_OK, or CLV_NO_MEMORY: this node could not decide */
    int32_t n_listed; /* ranks with steps */
    coll_clv_decision_t decision;
    int64_t first[];  /* n_listed + 1 indices of steps, which follow the index */
} coll_clv_sheet_t;

/* Bytes of a sheet that lists n_listed ranks with n_steps steps in all. */
size_t coll_clv_sheet_bytes(int32_t n_listed, int64_t n_steps);

/* Writes the steps of ranks[0 .. n_ranks_listed) (increasing) of the plan; returns the bytes used.
 * plan NULL: a sheet without steps. */
size_t coll_clv_sheet_write(coll_clv_sheet_t *sheet, size_t capacity,
                            const coll_clv_decision_t *decision, const clv_plan_t *plan,
                            const int32_t *ranks, int32_t n_ranks_listed);

/* The steps of the index-th listed rank; NULL when the sheet has none. */
const clv_step_t *coll_clv_sheet_steps(const coll_clv_sheet_t *sheet, int32_t index,
                                       int64_t *n_steps_p);

#endif
