/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Mutated plans, and counts of the validator's results: it must reject every plan that is wrong by
 * the oracle of random_plan.h.
 *
 * Reproducible from the state. Thread-safe on distinct arguments.
 */
#ifndef CLV_TESTS_PLAN_MUTANTS_H
#define CLV_TESTS_PLAN_MUTANTS_H

#include <stdint.h>

#include "schedule/schedule.h"

typedef struct clv_mutants {
    int64_t n, n_wrong, n_refused_though_right;
} clv_mutants_t;

/* Makes one to three changes: a send's ends, segment, kind or round, a send removed or repeated,
 * two sends exchanged, the plan's goal or root. A plan without sends is unchanged. */
void clv_plan_mutate(clv_plan_t *plan, uint64_t *state);

/* Asks the oracle and the validator, and counts; returns 0 if a wrong plan was accepted. */
int clv_mutants_judge(clv_mutants_t *mutants, const clv_plan_t *plan);
void clv_mutants_add(clv_mutants_t *sum, const clv_mutants_t *more);
/* "# mutants of WHAT: ..." */
void clv_mutants_print(const clv_mutants_t *mutants, const char *what);

#endif
