/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Zeroed allocation with a hook for tests, and a spare.
 */
#include "util/util_alloc.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static clv_alloc_hook_t alloc_hook;
static void *alloc_hook_context;

void clv_alloc_set_hook(clv_alloc_hook_t hook, void *context)
{
    alloc_hook = hook;
    alloc_hook_context = context;
}

typedef enum source { SOURCE_NONE, SOURCE_SPARE, SOURCE_HEAP } source_t;

static source_t source_of(size_t n_items, size_t item_bytes)
{
    if (n_items == 0 || item_bytes == 0 || n_items > SIZE_MAX / item_bytes) {
        return SOURCE_NONE;
    }
    const int refused =
        alloc_hook == NULL ? 0 : alloc_hook(alloc_hook_context, n_items * item_bytes);
    return refused == 0 ? SOURCE_HEAP : refused == CLV_ALLOC_NO_HEAP ? SOURCE_SPARE : SOURCE_NONE;
}

/* ---- the spare ------------------------------------------------------------------------------- */

static unsigned char *spare;
static atomic_size_t spare_bytes; /* 0 until the spare is there */
static atomic_size_t spare_used;

void clv_alloc_keep_spare(size_t n_bytes)
{
    void *memory = atomic_load(&spare_bytes) > 0
                       ? MAP_FAILED
                       : mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) {
        spare = memory;
        atomic_store(&spare_bytes, n_bytes);
    }
}

void clv_alloc_drop_spare(void)
{
    if (atomic_load(&spare_bytes) > 0 && !clv_alloc_is_short()) {
        (void) munmap(spare, atomic_exchange(&spare_bytes, 0));
    }
}

bool clv_alloc_is_short(void)
{
    return atomic_load_explicit(&spare_used, memory_order_relaxed) != 0;
}

static size_t whole_lines(size_t n_bytes)
{
    return (n_bytes + CLV_LINE_BYTES - 1) / CLV_LINE_BYTES * CLV_LINE_BYTES;
}

/* Returns zeroed memory that starts a cache line, NULL if too little is left. No byte is handed out
 * twice. */
static void *from_spare(size_t n_bytes)
{
    const size_t there = atomic_load(&spare_bytes);
    size_t used = atomic_load(&spare_used);
    do {
        if (n_bytes > there || there - used < n_bytes + CLV_LINE_BYTES) {
            return NULL;
        }
    } while (!atomic_compare_exchange_weak(&spare_used, &used, used + whole_lines(n_bytes)));
    return spare + used;
}

static bool is_spare(const void *memory)
{
    const size_t there = atomic_load_explicit(&spare_bytes, memory_order_acquire);

    return there > 0 && (uintptr_t) memory - (uintptr_t) spare < there;
}

/* ---- allocation ------------------------------------------------------------------------------ */

/* Memory from the heap or, if it gave none, from the spare. */
static void *or_spare(void *memory, source_t source, size_t n_bytes)
{
    return memory != NULL || source == SOURCE_NONE ? memory : from_spare(n_bytes);
}

void *clv_alloc(size_t n_items, size_t item_bytes)
{
    const source_t source = source_of(n_items, item_bytes);
    void *memory = source == SOURCE_HEAP ? calloc(n_items, item_bytes) : NULL;
    return or_spare(memory, source, n_items * item_bytes);
}

void *clv_alloc_unset(size_t n_items, size_t item_bytes)
{
    const source_t source = source_of(n_items, item_bytes);
    void *memory = source == SOURCE_HEAP ? malloc(n_items * item_bytes) : NULL;
    return or_spare(memory, source, n_items * item_bytes);
}

void *clv_alloc_line(size_t n_bytes)
{
    const size_t whole = whole_lines(n_bytes);
    const source_t source = whole < n_bytes ? SOURCE_NONE : source_of(1, n_bytes);
    void *memory = source == SOURCE_HEAP ? aligned_alloc(CLV_LINE_BYTES, whole) : NULL;
    memory = or_spare(memory, source, whole);
    return memory == NULL ? NULL : memset(memory, 0, n_bytes);
}

void clv_free(void *memory)
{
    if (!is_spare(memory)) {
        free(memory);
    }
}
