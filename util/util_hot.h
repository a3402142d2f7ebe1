/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The path of a call. After milliseconds of the program's own work none of clv's memory is in the
 * caches, so the cost of a call is the number of places in memory that it touches, code included.
 * CLV_HOT places functions side by side in the library (one or two pages instead of ten); CLV_COLD
 * keeps rarely used code out of them. The other macros prefetch a cache line without waiting.
 *
 * Units: none.
 * Errors: none.
 * Memory: none.
 * Threads: safe.
 */
#ifndef CLV_UTIL_HOT_H
#define CLV_UTIL_HOT_H

#if defined(__GNUC__)
#define CLV_HOT                       __attribute__((hot))
#define CLV_COLD                      __attribute__((cold, noinline))
#define CLV_PREFETCH(address, writes) __builtin_prefetch(address, writes)
#else
#define CLV_HOT
#define CLV_COLD
#define CLV_PREFETCH(address, writes) ((void) (address))
#endif

static inline void clv_fetch_to_read(const void *address)
{
    CLV_PREFETCH(address, 0);
}

static inline void clv_fetch_to_write(const void *address)
{
    CLV_PREFETCH(address, 1);
}

#endif
