/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which vector instructions the fast generators use: the best that this processor has, chosen at
 * run time. Every level gives the same plans; a test or a benchmark can ask for a lower one.
 *
 * Units: none.
 * Errors: CLV_UNSUPPORTED.
 * Memory: none.
 * Threads: safe to read; call clv_simd_force from one thread while no plan is being made.
 */
#ifndef CLV_SCHED_SIMD_H
#define CLV_SCHED_SIMD_H

#include "util/util_status.h"

/* May be given to the compiler as 0. */
#ifndef CLV_SIMD_X86
#if defined(__x86_64__) && defined(__GNUC__)
#define CLV_SIMD_X86 1
#else
#define CLV_SIMD_X86 0
#endif
#endif

/* XX(name, text, target attribute) in rising order. */
#define CLV_SIMD_MAP(XX)                                                                           \
    XX(PLAIN, "plain")                                                                             \
    XX(AVX2, "avx2")                                                                               \
    XX(AVX512, "avx512")

typedef enum clv_simd {
#define CLV_SIMD_ENUM(name, text) CLV_SIMD_##name,
    CLV_SIMD_MAP(CLV_SIMD_ENUM)
#undef CLV_SIMD_ENUM
        CLV_N_SIMD
} clv_simd_t;

/* The level in use, and its name. */
clv_simd_t clv_simd_level(void);
const char *clv_simd_name(clv_simd_t level);

/* Uses this level from now on; CLV_UNSUPPORTED if the processor has not got it. */
clv_status_t clv_simd_force(clv_simd_t level);
void clv_simd_force_none(void);

#endif
