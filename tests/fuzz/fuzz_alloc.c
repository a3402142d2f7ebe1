/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The heap of a fuzz target, in place of util/util_alloc.c: one piece of memory, given out from its
 * beginning to its end and emptied after each input.
 *
 * Why: a target makes up to a hundred tables an input, and the sanitizer's own heap takes ten times
 * as long for them as the decoder for the bytes. It sees no less here: memory between two objects,
 * of freed ones and of those not given out yet is poisoned, and no address is used twice within an
 * input. What is not freed at the end of an input ends the program, without a search for leaks.
 * Memory: HEAP_BYTES of addresses, pages as inputs need them. Beyond them an allocation fails.
 * Threads: one.
 */
#include "util/util_alloc.h"

#include <sanitizer/asan_interface.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/fuzz/fuzz_alloc.h"

#define HEAP_BYTES ((size_t) 256 << 20)
#define GAP_BYTES  CLV_LINE_BYTES /* before each object; its size is in there */

static char *heap;
static size_t used; /* of the heap: all behind it is poisoned */
static size_t n_given;
static clv_alloc_hook_t alloc_hook;
static void *alloc_hook_context;

void clv_alloc_set_hook(clv_alloc_hook_t hook, void *context)
{
    alloc_hook = hook;
    alloc_hook_context = context;
}

static void begin(void)
{
    heap = mmap(NULL, HEAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (heap == MAP_FAILED) {
        abort();
    }
    ASAN_POISON_MEMORY_REGION(heap, HEAP_BYTES);
}

/* The size of an object, in the poisoned gap before it. */
__attribute__((no_sanitize("address"))) static size_t *size_of(void *memory)
{
    return (size_t *) ((char *) memory - sizeof(size_t));
}

__attribute__((no_sanitize("address"))) static void put_size(void *memory, size_t n_bytes)
{
    *size_of(memory) = n_bytes;
}

__attribute__((no_sanitize("address"))) static size_t get_size(void *memory)
{
    return *size_of(memory);
}

void *clv_alloc_unset(size_t n_items, size_t item_bytes)
{
    if (n_items == 0 || item_bytes == 0 || n_items > HEAP_BYTES / item_bytes) {
        return NULL;
    }
    const size_t n_bytes = n_items * item_bytes;
    const size_t whole = (n_bytes + CLV_LINE_BYTES - 1) / CLV_LINE_BYTES * CLV_LINE_BYTES;
    if ((alloc_hook != NULL && alloc_hook(alloc_hook_context, n_bytes) != 0) ||
        whole + 2 * GAP_BYTES > HEAP_BYTES - used) {
        return NULL;
    }
    if (heap == NULL) {
        begin();
    }
    char *memory = heap + used + GAP_BYTES;
    ASAN_UNPOISON_MEMORY_REGION(memory, n_bytes);
    put_size(memory, n_bytes);
    used += GAP_BYTES + whole;
    n_given++;
    return memory;
}

void *clv_alloc(size_t n_items, size_t item_bytes)
{
    void *memory = clv_alloc_unset(n_items, item_bytes);

    return memory == NULL ? NULL : memset(memory, 0, n_items * item_bytes);
}

void *clv_alloc_line(size_t n_bytes)
{
    return clv_alloc(1, n_bytes);
}

void clv_free(void *memory)
{
    if (memory == NULL) {
        return;
    }
    if (__asan_address_is_poisoned(memory)) {
        abort(); /* freed twice, or never given */
    }
    ASAN_POISON_MEMORY_REGION(memory, get_size(memory));
    n_given--;
}

void clv_fuzz_alloc_end(void)
{
    if (n_given != 0) {
        abort(); /* something is left */
    }
    used = 0;
}
