/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Plans that look at no arrivals: the previous function, and the forced pipeline. Private to
 * what_if/.
 *
 * Units: bytes. Errors: those of clv_plan_make. Memory: the cache's. Threads: as the cache.
 */
#ifndef CLV_WHAT_IF_FIXED_H
#define CLV_WHAT_IF_FIXED_H

#include "apps/what_if/what_if.h"

/* zeros: as many as the communicator has ranks. The plan is valid until the cache's next use. */
clv_status_t clv_what_if_fixed_plan(const clv_what_if_run_t *run, const clv_what_if_call_t *call,
                                    int is_pipeline, const int64_t *zeros, clv_plan_cache_t *plans,
                                    const clv_plan_t **plan_p) CLV_MUST_CHECK;

#endif
