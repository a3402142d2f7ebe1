/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The only way to the heap. A test can replace the allocator to fail each allocation in turn.
 *
 * clv_alloc returns zeroed memory for n_items objects of item_bytes each, or NULL (also when the
 * product overflows, or is 0). clv_alloc_unset leaves the contents undefined, for large arrays that
 * are written before they are read: zeroing takes a tenth of the time to make a plan.
 * clv_alloc_line gives one zeroed object aligned to a cache line, for data that each call reads.
 * clv_free takes NULL.
 *
 * A process may keep a spare, which supplies memory when the heap has none, so that the background
 * thread can finish the work that other hosts depend on. Once the spare is in use,
 * clv_alloc_is_short says so, and code that can do without memory does.
 *
 * Units: bytes.
 * Errors: NULL: no memory, a product that overflows, or 0 bytes.
 * Memory: an allocation is the caller's until clv_free. The spare is address space until it is
 * touched, and memory taken from it is not used again.
 * Threads: the hook is set, and the spare dropped, while no other thread runs. A spare may be
 * added, from one thread at a time, while others allocate. Everything else is safe.
 */
#ifndef CLV_UTIL_ALLOC_H
#define CLV_UTIL_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

#define CLV_LINE_BYTES 64

void *clv_alloc(size_t n_items, size_t item_bytes);
void *clv_alloc_unset(size_t n_items, size_t item_bytes);
void *clv_alloc_line(size_t n_bytes);
void clv_free(void *memory);

/* Keeps a spare of n_bytes, unless there is one. On failure there is none. */
void clv_alloc_keep_spare(size_t n_bytes);
void clv_alloc_drop_spare(void); /* one that was touched stays */
bool clv_alloc_is_short(void);   /* it has been touched */

/* Called before each allocation; a non-zero return makes that allocation fail, CLV_ALLOC_NO_HEAP
 * only what would come from the heap. NULL removes it. */
#define CLV_ALLOC_NO_HEAP 2
typedef int (*clv_alloc_hook_t)(void *context, size_t n_bytes);
void clv_alloc_set_hook(clv_alloc_hook_t hook, void *context);

#endif
