/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How many calls a mean must be made of until it is normally distributed: means of samples of
 * measured calls, and Shapiro and Wilk's test of them ("MPI Benchmarking Revisited", section 5.1
 * and Fig. 13).
 *
 * What: of all usable calls of a group, unfiltered, samples are drawn with replacement, as many for
 * each asked number of calls. Not: a rule for other machines: the number is that of these calls.
 *
 * Units: in JSON ns, in tables ms, of clocks us; the fraction of normal samples that such a test
 * calls normal is 95 %.
 * Errors: CLV_INVALID with one line in reason, CLV_NO_MEMORY.
 * Memory: none is kept.
 * Threads: one.
 */
#ifndef CLV_COMPARE_MEANS_H
#define CLV_COMPARE_MEANS_H

#include "apps/bench/compare/compare_table.h"

#define CLV_MEANS_SIZES 16
#define CLV_MEANS_DRAWN 500 /* of each size, as in the paper */

/* What is asked for: numbers of calls, each a mean's. */
typedef struct clv_means {
    int32_t n_sizes; /* 0: nothing is asked for */
    int32_t calls[CLV_MEANS_SIZES];
    uint64_t seed;
} clv_means_t;

/* "10,30,500": NULL, or what it should have been. */
const char *clv_means_read(clv_means_t *means, const char *text);

/* A table on standard output, and, unless path is NULL, lines appended to that file ("-": standard
 * output in place of the table). */
clv_status_t clv_means_tell(const clv_means_t *means, const clv_compare_t *compare,
                            const char *path, char *reason, size_t reason_bytes) CLV_MUST_CHECK;

#endif
