/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See bench_cache.h.
 */
#include "apps/bench/measure/bench_cache.h"

#include <string.h>
#include <unistd.h>

#include "util/util_alloc.h"

#define GUESSED_BYTES ((size_t) 32 << 20)

size_t clv_bench_cache_bytes(void)
{
    static const int levels[] = {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE,
                                 _SC_LEVEL2_CACHE_SIZE};

    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        const long n_bytes = sysconf(levels[i]);
        if (n_bytes > 0) {
            return (size_t) n_bytes;
        }
    }
    return GUESSED_BYTES;
}

clv_status_t clv_bench_cache_open(clv_bench_cache_t *cache)
{
    cache->n_bytes = clv_bench_cache_bytes();
    cache->buffer = clv_alloc(cache->n_bytes, 1);
    return cache->buffer ? CLV_OK : CLV_NO_MEMORY;
}

void clv_bench_cache_close(clv_bench_cache_t *cache)
{
    clv_free(cache->buffer);
    cache->buffer = NULL;
}

void clv_bench_cache_cool(clv_bench_cache_t *cache)
{
    if (cache->buffer) {
        memset(cache->buffer, ++cache->turn, cache->n_bytes);
        __asm__ volatile("" : : "r"(cache->buffer) : "memory"); /* it is written, read or not */
    }
}
