/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The properties of a machine that affect the speed of a call ("MPI Benchmarking Revisited",
 * section 5), as keys of a JSON line: processor, frequency and its governor, cache, networks, and
 * how this program was compiled. Also cold caches: before each call, a buffer of the size of the
 * last level is written (section 5.6). This flushes neither instructions nor the TLB.
 *
 * Units: Hz and bytes, as the keys say.
 * Errors: unknown properties are 0 or empty; CLV_NO_MEMORY.
 * Memory: one buffer, from open to close.
 * Threads: one.
 */
#ifndef CLV_BENCH_MACHINE_H
#define CLV_BENCH_MACHINE_H

#include <stddef.h>

#include "apps/cli/cli_json.h"
#include "util/util_status.h"

/* Reads below root: "" for this machine, another folder in tests. */
void clv_bench_machine_json(clv_json_t *json, const char *root);

typedef struct clv_bench_cache {
    char *buffer; /* NULL: caches stay warm from filling the call's buffers */
    size_t n_bytes;
    unsigned char turn;
} clv_bench_cache_t;

/* Size of this machine's last level; 32 MiB if unknown. */
size_t clv_bench_cache_bytes(void);

clv_status_t clv_bench_cache_open(clv_bench_cache_t *cache) CLV_MUST_CHECK;
void clv_bench_cache_close(clv_bench_cache_t *cache);
/* Does nothing if it is not open. */
void clv_bench_cache_cool(clv_bench_cache_t *cache);

#endif
