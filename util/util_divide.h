/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Division of many numbers by one: a multiplication each, exactly what `/` gives.
 *
 * With m = 2^(63 + L) / by, rounded up, and 2^L the first power of two that is not below `by`,
 * n * m / 2^(63 + L) is too large by less than 1 / by for every n below 2^63.
 *
 * Units: the caller's.
 * Errors: none.
 * Memory: none.
 * Threads: safe.
 */
#ifndef CLV_UTIL_DIVIDE_H
#define CLV_UTIL_DIVIDE_H

#include <stdint.h>

typedef struct clv_divisor {
    int64_t by;
    uint64_t factor;
    int shift;
} clv_divisor_t;

#ifdef __SIZEOF_INT128__

__extension__ typedef unsigned __int128 clv_uint128_t;

/* by > 0. */
static inline clv_divisor_t clv_divisor_of(int64_t by)
{
    int shift = 0;

    while (shift < 63 && INT64_C(1) << shift < by) {
        shift++;
    }
    const clv_uint128_t power = (clv_uint128_t) 1 << (63 + shift);
    return (clv_divisor_t){by, (uint64_t) ((power + (uint64_t) by - 1) / (uint64_t) by), shift};
}

/* n >= 0. */
static inline int64_t clv_divide(int64_t n, clv_divisor_t divisor)
{
    const clv_uint128_t product = (clv_uint128_t) ((uint64_t) n << 1) * divisor.factor;
    return (int64_t) ((uint64_t) (product >> 64) >> divisor.shift);
}

#else

static inline clv_divisor_t clv_divisor_of(int64_t by)
{
    return (clv_divisor_t){by, 0, 0};
}

static inline int64_t clv_divide(int64_t n, clv_divisor_t divisor)
{
    return n / divisor.by;
}

#endif

#endif
