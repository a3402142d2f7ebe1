/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cold caches: before each call a buffer as large as the last level's cache is written, as "MPI
 * Benchmarking Revisited" (section 5.6) does it.
 *
 * Not: a flush of instructions or of the TLB.
 * Units: bytes. Errors: CLV_NO_MEMORY. Memory: one buffer, from open to close. Threads: one.
 */
#ifndef CLV_BENCH_CACHE_H
#define CLV_BENCH_CACHE_H

#include <stddef.h>

#include "util/util_status.h"

typedef struct clv_bench_cache {
    char *buffer; /* NULL: caches are left as filling the call's buffers leaves them, warm */
    size_t n_bytes;
    unsigned char turn;
} clv_bench_cache_t;

/* Of the machine; a guess of 32 MiB where it does not say. */
size_t clv_bench_cache_bytes(void);

clv_status_t clv_bench_cache_open(clv_bench_cache_t *cache) CLV_MUST_CHECK;
void clv_bench_cache_close(clv_bench_cache_t *cache);
/* Nothing when it is not open. */
void clv_bench_cache_cool(clv_bench_cache_t *cache);

#endif
