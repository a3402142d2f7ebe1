/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What clv-bench-compare prints: the table of medians with tests and intervals, ratios in pairs,
 * and the medians as JSON lines (docs/guide/json.md).
 *
 * Units: in JSON ns, in tables ms, of clocks us. One thread.
 */
#ifndef CLV_COMPARE_TABLE_H
#define CLV_COMPARE_TABLE_H

#include "apps/bench/compare/bench_results.h"
#include "apps/bench/measure/bench_stats.h"

/* How p is found. */
typedef struct clv_compare_test {
    const char *name; /* of --test */
    const char *meaning;
    /* NaN where there are too few values. */
    double (*p_value)(const clv_result_group_t *group, const clv_result_group_t *base,
                      clv_stats_tail_t tail);
    int is_two_sided; /* there is no other form of it */
} clv_compare_test_t;

/* Ends with a NULL name; the first is what is used by default. */
extern const clv_compare_test_t clv_compare_tests[];
const clv_compare_test_t *clv_compare_test_find(const char *name);

typedef struct clv_compare {
    const clv_result_set_t *set;
    const char *metric;
    const char *baseline; /* algorithm, or label where there are several; NULL: the first */
    const char *paired;   /* NULL, "table" or "csv" */
    double level;         /* of the intervals */
    const clv_compare_test_t *test; /* NULL: the first */
    int is_two_sided;               /* "differs" instead of "is better" */
    int has_labels; /* the same algorithm under two labels is compared with itself */
} clv_compare_t;

/* What values are divided by for tables: ms, clocks in us. */
double clv_compare_unit(const clv_compare_t *compare);

/* On standard output. CLV_NO_MEMORY. */
clv_status_t clv_compare_print(const clv_compare_t *compare) CLV_MUST_CHECK;

/* Appends to the file, "-" is standard output. CLV_INVALID, and one line in reason. */
clv_status_t clv_compare_json(const clv_compare_t *compare, const char *path, char *reason,
                              size_t reason_bytes) CLV_MUST_CHECK;

#endif
