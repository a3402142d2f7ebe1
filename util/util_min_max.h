/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The smaller and the larger of two int64, mostly the earlier and the later of two times, and what
 * sorts them.
 *
 * Units: the caller's.
 * Errors: none.
 * Memory: none.
 * Threads: safe.
 */
#ifndef CLV_UTIL_MIN_MAX_H
#define CLV_UTIL_MIN_MAX_H

#include <stdint.h>

static inline int64_t clv_smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t clv_larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* -1, 0 or 1, as qsort wants it. */
static inline int clv_compare(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

/* sorted[0 .. n_sorted - 1] rises; there is room for one more, which may be value itself. For few
 * values, as a median needs. */
static inline void clv_insert_sorted(int64_t *sorted, int32_t n_sorted, int64_t value)
{
    int32_t place = n_sorted;
    while (place > 0 && sorted[place - 1] > value) {
        sorted[place] = sorted[place - 1];
        place--;
    }
    sorted[place] = value;
}

#endif
