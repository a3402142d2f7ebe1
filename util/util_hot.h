/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The way of a call. After milliseconds of the program's own work nothing of ours is in the caches,
 * and what a call then pays is how many places of memory it touches, code included. Functions
 * marked CLV_HOT lie side by side in the library (one or two pages instead of ten), and what such a
 * call seldom needs is kept out of them by CLV_COLD. The others ask for a cache line that will be
 * needed soon, and do not wait for it.
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
