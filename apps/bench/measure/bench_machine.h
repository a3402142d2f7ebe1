/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What of a machine decides how fast a call is ("MPI Benchmarking Revisited", section 5): the
 * processor and its frequency, who sets that, its cache, its networks, how this program was
 * compiled. As keys of a JSON line. And its caches, cold: before each call a buffer as large as the
 * last level's is written (section 5.6); not a flush of instructions or of the TLB.
 *
 * Units: Hz and bytes, told by the keys.
 * Errors: what a machine does not tell is 0 or empty; CLV_NO_MEMORY.
 * Memory: one buffer, from open to close.
 * Threads: one.
 */
#ifndef CLV_BENCH_MACHINE_H
#define CLV_BENCH_MACHINE_H

#include <stddef.h>

#include "apps/cli/cli_json.h"
#include "util/util_status.h"

/* Reads below root, "" for this machine: another folder in tests. */
void clv_bench_machine_json(clv_json_t *json, const char *root);

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
