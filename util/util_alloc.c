/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Zeroed allocation with a hook for tests.
 */
#include "util/util_alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static clv_alloc_hook_t alloc_hook;
static void *alloc_hook_context;

void clv_alloc_set_hook(clv_alloc_hook_t hook, void *context)
{
    alloc_hook = hook;
    alloc_hook_context = context;
}

static int may_have(size_t n_items, size_t item_bytes)
{
    if (n_items == 0 || item_bytes == 0 || n_items > SIZE_MAX / item_bytes) {
        return 0;
    }
    return alloc_hook == NULL || alloc_hook(alloc_hook_context, n_items * item_bytes) == 0;
}

void *clv_alloc(size_t n_items, size_t item_bytes)
{
    return may_have(n_items, item_bytes) ? calloc(n_items, item_bytes) : NULL;
}

void *clv_alloc_unset(size_t n_items, size_t item_bytes)
{
    return may_have(n_items, item_bytes) ? malloc(n_items * item_bytes) : NULL;
}

void *clv_alloc_line(size_t n_bytes)
{
    const size_t whole = (n_bytes + CLV_LINE_BYTES - 1) / CLV_LINE_BYTES * CLV_LINE_BYTES;
    void *memory =
        whole >= n_bytes && may_have(1, n_bytes) ? aligned_alloc(CLV_LINE_BYTES, whole) : NULL;
    return memory == NULL ? NULL : memset(memory, 0, n_bytes);
}

void clv_free(void *memory)
{
    free(memory);
}
