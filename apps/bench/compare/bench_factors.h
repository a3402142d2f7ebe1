/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Factors that a comparison varies: each command once for every combination of their values
 * ("MPI Benchmarking Revisited", section 5, and its full factorial designs of section 6).
 *
 * Units: none.
 * Errors: what a text must be; CLV_LIMIT for more combinations than there is room for.
 * Memory: the texts that are made are the factors', freed by clv_factors_free.
 * Threads: one.
 */
#ifndef CLV_BENCH_FACTORS_H
#define CLV_BENCH_FACTORS_H

#include "apps/bench/compare/bench_runs.h"

#define CLV_FACTORS 8

typedef struct clv_factors {
    const char *text[CLV_FACTORS]; /* "cache=warm,cold" */
    int n_factors;
    char *made[2 * CLV_RUNS_COMMANDS]; /* labels and commands of the last crossing */
    int n_made;
} clv_factors_t;

/* Takes "NAME=VALUE,VALUE[,...]". NULL, or what it must be. */
const char *clv_factors_add(clv_factors_t *factors, const char *text);

/* Replaces each command by one for every combination. %NAME% in a command stands for the value;
 * where it does not occur, "--NAME VALUE" is put behind the command. Labels get NAME.VALUE.
 * CLV_LIMIT, CLV_NO_MEMORY, with one line in reason. */
clv_status_t clv_factors_cross(clv_factors_t *factors, clv_runs_t *runs, char *reason,
                               size_t reason_bytes) CLV_MUST_CHECK;
void clv_factors_free(clv_factors_t *factors);

#endif
