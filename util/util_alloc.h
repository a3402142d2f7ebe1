/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The one way to the heap. A test can replace the allocator to walk out-of-memory at every site.
 *
 * clv_alloc returns zeroed memory for n_items objects of item_bytes each, or NULL (also when the
 * product overflows, or is 0). clv_alloc_unset leaves the contents open, for large arrays that are
 * written before they are read: zeroing takes a tenth of the time to make a plan. clv_alloc_line
 * gives one zeroed object that begins with a cache line, for what each call looks at. clv_free
 * takes NULL.
 *
 * Units: bytes.
 * Errors: NULL: no memory, a product that overflows, or 0 bytes.
 * Memory: what is given is the caller's until clv_free.
 * Threads: the hook is set while no other thread runs; everything else is safe.
 */
#ifndef CLV_UTIL_ALLOC_H
#define CLV_UTIL_ALLOC_H

#include <stddef.h>

#define CLV_LINE_BYTES 64

void *clv_alloc(size_t n_items, size_t item_bytes);
void *clv_alloc_unset(size_t n_items, size_t item_bytes);
void *clv_alloc_line(size_t n_bytes);
void clv_free(void *memory);

/* Called before each allocation; a non-zero return makes that allocation fail. NULL removes it. */
typedef int (*clv_alloc_hook_t)(void *context, size_t n_bytes);
void clv_alloc_set_hook(clv_alloc_hook_t hook, void *context);

#endif
