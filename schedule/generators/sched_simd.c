/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Processor detection, once per plan: a few loads, since the compiler fills its table at start-up.
 */
#include "schedule/generators/sched_simd.h"

#include <stdbool.h>

static const char *const level_names[] = {
#define CLV_SIMD_TEXT(name, text) text,
    CLV_SIMD_MAP(CLV_SIMD_TEXT)
#undef CLV_SIMD_TEXT
};

static int forced = -1;

#if CLV_SIMD_X86
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2");
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
}
#else
#define has_avx2()   0
#define has_avx512() 0
#endif

static clv_simd_t best_level(void)
{
    return has_avx512() ? CLV_SIMD_AVX512 : has_avx2() ? CLV_SIMD_AVX2 : CLV_SIMD_PLAIN;
}

clv_simd_t clv_simd_level(void)
{
    return forced >= 0 ? (clv_simd_t) forced : best_level();
}

const char *clv_simd_name(clv_simd_t level)
{
    return level_names[level];
}

clv_status_t clv_simd_force(clv_simd_t level)
{
    if (level > best_level()) {
        return CLV_UNSUPPORTED;
    }
    forced = (int) level;
    return CLV_OK;
}

void clv_simd_force_none(void)
{
    forced = -1;
}
