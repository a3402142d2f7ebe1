/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Guards around what the component takes from the heap, so that a write beyond a block is found in
 * an ordinary run. A program that links this has its own malloc and calloc; what others take is
 * left as it is.
 *
 * Threads: any.
 */
#ifndef CLV_TESTS_GUARDED_HEAP_H
#define CLV_TESTS_GUARDED_HEAP_H

/* From here on. The component must be loaded; 0: it is not. */
int guarded_heap_begin(void);

/* Blocks that were written beyond their ends, each counted once. */
long guarded_heap_overruns(void);

/* Blocks that had guards at any time. */
long guarded_heap_blocks(void);

#endif
