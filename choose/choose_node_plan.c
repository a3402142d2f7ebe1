/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes and reads the sheet beside a board (see coll_clv_sheet.h).
 */
#include "choose/choose_node_plan.h"

#include "util/util_hot.h"

size_t coll_clv_sheet_bytes(int32_t n_listed, int64_t n_steps)
{
    return sizeof(coll_clv_sheet_t) + ((size_t) n_listed + 1) * sizeof(int64_t) +
           (size_t) n_steps * sizeof(clv_step_t);
}

static int64_t count_listed(const clv_plan_t *plan, const int32_t *ranks, int32_t n_ranks_listed)
{
    int64_t n_steps = 0;

    for (int32_t i = 0; i < n_ranks_listed; i++) {
        n_steps += clv_plan_count_steps(plan, ranks[i]);
    }
    return n_steps;
}

static clv_step_t *steps_of(coll_clv_sheet_t *sheet)
{
    return (clv_step_t *) (void *) &sheet->first[sheet->n_listed + 1];
}

size_t coll_clv_sheet_write(coll_clv_sheet_t *sheet, size_t capacity,
                            const coll_clv_decision_t *decision, const clv_plan_t *plan,
                            const int32_t *ranks, int32_t n_ranks_listed)
{
    int64_t n_steps = NULL == plan ? 0 : count_listed(plan, ranks, n_ranks_listed);

    sheet->status = CLV_OK;
    sheet->decision = *decision;
    sheet->n_listed = 0;
    sheet->first[0] = 0;
    if (NULL == plan || coll_clv_sheet_bytes(n_ranks_listed, n_steps) > capacity) {
        return coll_clv_sheet_bytes(0, 0);
    }
    sheet->n_listed = n_ranks_listed;
    for (int32_t i = 0; i < n_ranks_listed; i++) {
        clv_plan_copy_steps(plan, ranks[i], steps_of(sheet) + sheet->first[i]);
        sheet->first[i + 1] = sheet->first[i] + clv_plan_count_steps(plan, ranks[i]);
    }
    return coll_clv_sheet_bytes(n_ranks_listed, n_steps);
}

CLV_HOT const clv_step_t *coll_clv_sheet_steps(const coll_clv_sheet_t *sheet, int32_t index,
                                               int64_t *n_steps_p)
{
    if (index < 0 || index >= sheet->n_listed) {
        return NULL;
    }
    *n_steps_p = sheet->first[index + 1] - sheet->first[index];
    return (const clv_step_t *) (const void *) &sheet->first[sheet->n_listed + 1] +
           sheet->first[index];
}
