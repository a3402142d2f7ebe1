/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Clairvoyant without skipping idle rounds, for comparison only: it shows the gain of section 5.1
 * of the paper (its Figs. 7 and 8). It is in no table, since no program should use it.
 *
 * Units: as schedule/schedule.h.
 * Errors: as clv_plan_make; not for instances with long gaps.
 * Memory: the plan is the caller's, freed by clv_plan_free.
 * Threads: safe.
 */
#ifndef CLV_SCHED_BUSY_H
#define CLV_SCHED_BUSY_H

#include "schedule/schedule.h"

/* The same plans as "linear". */
clv_status_t clv_sched_busy_generate(const clv_instance_t *instance, clv_plan_t **plan_p);

#endif
