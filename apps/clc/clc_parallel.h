/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pieces of work that do not depend on each other, on several threads.
 *
 * Units: pieces counted from 0.
 * Errors: none: without memory or threads for more, the caller does all of it.
 * Memory: none is left.
 * Threads: any caller; work runs on several threads at once, each piece on one.
 */
#ifndef CLV_CLC_PARALLEL_H
#define CLV_CLC_PARALLEL_H

#include <stddef.h>
#include <stdint.h>

/* Runs work(context, i) for i from 0 to n - 1 on several threads; fewer, down to the caller alone,
 * where there is no memory for more. Returns when all is done. */
void clv_clc_parallel(int32_t n_threads, uint32_t n, void (*work)(void *context, uint32_t i),
                      void *context);

#endif
