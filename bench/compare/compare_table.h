/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What clv-bench-compare prints: the table of medians with tests and intervals, ratios in pairs,
 * and the medians as JSON lines (docs/guide/json.md).
 *
 * Units: in JSON ns, in tables ms, of clocks us. One thread.
 */
#ifndef CLV_COMPARE_TABLE_H
#define CLV_COMPARE_TABLE_H

#include "bench/compare/bench_results.h"

typedef struct clv_compare {
    const clv_result_set_t *set;
    const char *metric;
    const char *baseline; /* algorithm, or label where there are several; NULL: the first */
    const char *paired;   /* NULL, "table" or "csv" */
    double level;         /* of the intervals */
    int has_labels;       /* the same algorithm under two labels is compared with itself */
} clv_compare_t;

/* On standard output. CLV_NO_MEMORY. */
clv_status_t clv_compare_print(const clv_compare_t *compare) CLV_MUST_CHECK;

/* Appends to the file, "-" is standard output. CLV_INVALID, and one line in reason. */
clv_status_t clv_compare_json(const clv_compare_t *compare, const char *path, char *reason,
                              size_t reason_bytes) CLV_MUST_CHECK;

#endif
