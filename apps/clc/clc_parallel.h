/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs independent pieces of work on several threads.
 *
 * Units: pieces counted from 0.
 * Errors: none; if memory or threads are short, the caller does all of it.
 * Memory: all is freed on return.
 * Threads: any caller; work runs on several threads at once, each piece on one.
 */
#ifndef CLV_CLC_PARALLEL_H
#define CLV_CLC_PARALLEL_H

#include <stddef.h>
#include <stdint.h>

/* Runs work(context, i) for i from 0 to n - 1 on several threads; on fewer, down to the caller
 * alone, if memory is short. Returns when all pieces are done. */
void clv_clc_parallel(int32_t n_threads, uint32_t n, void (*work)(void *context, uint32_t i),
                      void *context);

#endif
