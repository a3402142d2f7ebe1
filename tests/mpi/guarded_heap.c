/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Blocks of the component with guards at both ends (see guarded_heap.h), in a list.
 */
#include "tests/mpi/guarded_heap.h"

#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD_BYTES = 256, GUARD = 0xc7 }; /* keeps malloc's alignment, and that of a cache line */

void *__libc_malloc(size_t n_bytes);
void *__libc_calloc(size_t n_items, size_t item_bytes);
void *__libc_realloc(void *memory, size_t n_bytes);
void __libc_free(void *memory);

typedef struct block {
    struct block *next;
    size_t n_bytes;
    int is_overrun;
} block_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uintptr_t code_begin, code_end;
static block_t *blocks;
static long n_overruns, n_blocks;

static int find_component(struct dl_phdr_info *info, size_t n_bytes, void *context)
{
    (void) n_bytes;
    (void) context;
    if (strstr(info->dlpi_name, "mca_coll_clv") == NULL) {
        return 0;
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X) != 0) {
            code_begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            code_end = code_begin + info->dlpi_phdr[i].p_memsz;
        }
    }
    return 1;
}

int guarded_heap_begin(void)
{
    return dl_iterate_phdr(find_component, NULL);
}

/* block_t, guard, what the caller has, guard. */
static unsigned char *memory_of(block_t *block)
{
    return (unsigned char *) block + GUARD_BYTES;
}

static int is_whole(const unsigned char *guard, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) {
        if (guard[i] != GUARD) {
            return 0;
        }
    }
    return 1;
}

static void look_at(block_t *block)
{
    const unsigned char *memory = memory_of(block);

    if (!block->is_overrun &&
        (!is_whole((const unsigned char *) (block + 1), GUARD_BYTES - sizeof *block) ||
         !is_whole(memory + block->n_bytes, GUARD_BYTES))) {
        block->is_overrun = 1;
        n_overruns++;
    }
}

static void *take(size_t n_bytes, int clears)
{
    block_t *block = __libc_malloc(n_bytes + 2 * GUARD_BYTES);

    if (block == NULL) {
        return NULL;
    }
    memset(block, GUARD, GUARD_BYTES);
    memset(memory_of(block) + n_bytes, GUARD, GUARD_BYTES);
    if (clears) {
        memset(memory_of(block), 0, n_bytes);
    }
    pthread_mutex_lock(&lock);
    *block = (block_t){.next = blocks, .n_bytes = n_bytes};
    blocks = block;
    n_blocks++;
    pthread_mutex_unlock(&lock);
    return memory_of(block);
}

/* Takes it out of the list; NULL: it has no guards. */
static block_t *give(const void *memory)
{
    block_t *found = NULL;

    pthread_mutex_lock(&lock);
    for (block_t **at = &blocks; *at != NULL && found == NULL; at = &(*at)->next) {
        if (memory_of(*at) == memory) {
            found = *at;
            *at = found->next;
            look_at(found);
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

long guarded_heap_overruns(void)
{
    pthread_mutex_lock(&lock);
    for (block_t *block = blocks; block != NULL; block = block->next) {
        look_at(block);
    }
    const long n = n_overruns;
    pthread_mutex_unlock(&lock);
    return n;
}

long guarded_heap_blocks(void)
{
    return n_blocks;
}

/* ---- in place of the C library's ------------------------------------------------------------- */

static int is_component(const void *caller)
{
    return (uintptr_t) caller >= code_begin && (uintptr_t) caller < code_end;
}

void *malloc(size_t n_bytes)
{
    return is_component(__builtin_return_address(0)) ? take(n_bytes, 0) : __libc_malloc(n_bytes);
}

void *calloc(size_t n_items, size_t item_bytes)
{
    if (!is_component(__builtin_return_address(0))) {
        return __libc_calloc(n_items, item_bytes);
    }
    return item_bytes > 0 && n_items > SIZE_MAX / 2 / item_bytes ? NULL
                                                                 : take(n_items * item_bytes, 1);
}

void free(void *memory)
{
    block_t *block = blocks == NULL || memory == NULL ? NULL : give(memory);

    __libc_free(block == NULL ? memory : (void *) block);
}
