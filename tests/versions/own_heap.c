/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Blocks of the heap by who asked for them (see own_heap.h): an open table of addresses. When it
 * is full, what more is asked for counts for good: nothing is passed over in silence.
 */
#define _GNU_SOURCE
#include "tests/versions/own_heap.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_PLACES ((size_t) 1 << 16)

void *__libc_malloc(size_t n_bytes);
void *__libc_calloc(size_t n_items, size_t item_bytes);
void *__libc_realloc(void *memory, size_t n_bytes);
void *__libc_memalign(size_t alignment, size_t n_bytes);
void __libc_free(void *memory);

/* Code that asks for memory, and for whom. */
typedef struct code {
    uintptr_t from;
    uintptr_t n_bytes;
    own_heap_t whose;
} code_t;

typedef struct place {
    void *memory;
    own_heap_t whose;
} place_t;

/* What Open MPI's lists of descriptors and its memory for early messages grow by. */
static const char *const pools[] = {"opal_free_list_grow_st", "mca_allocator_bucket_alloc",
                                    "mca_allocator_bucket_alloc_align"};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static code_t codes[1 + sizeof pools / sizeof pools[0]];
static int n_codes;
static place_t places[N_PLACES];
static size_t n_used;
static long bytes_now[N_OWN_HEAPS];

static void add_code(uintptr_t from, uintptr_t n_bytes, own_heap_t whose)
{
    codes[n_codes] = (code_t){.from = from, .n_bytes = n_bytes, .whose = whose};
    n_codes++;
}

static int find_code(struct dl_phdr_info *info, size_t n_bytes, void *context)
{
    (void) n_bytes;
    (void) context;
    if (strstr(info->dlpi_name, "mca_coll_clv") == NULL) {
        return 0;
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X) != 0) {
            add_code(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, info->dlpi_phdr[i].p_memsz,
                     OWN_HEAP_OURS);
        }
    }
    return 1;
}

static void find_pool(const char *name)
{
    void *function = dlsym(RTLD_DEFAULT, name), *symbol = NULL;
    Dl_info info;

    if (function != NULL && dladdr1(function, &info, &symbol, RTLD_DL_SYMENT) != 0 &&
        symbol != NULL) {
        add_code((uintptr_t) function, ((const ElfW(Sym) *) symbol)->st_size, OWN_HEAP_POOLS);
    }
}

void own_heap_begin(void)
{
    for (size_t i = 0; i < sizeof pools / sizeof pools[0]; i++) {
        find_pool(pools[i]);
    }
    (void) dl_iterate_phdr(find_code, NULL);
}

long own_heap_bytes(own_heap_t whose)
{
    pthread_mutex_lock(&lock);
    const long n_bytes = bytes_now[whose];
    pthread_mutex_unlock(&lock);
    return n_bytes;
}

/* ---- the table ------------------------------------------------------------------------------- */

static size_t home_of(const void *memory)
{
    return (size_t) (((uintptr_t) memory >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 48) % N_PLACES;
}

/* Where it is, or where it would go. */
static size_t place_of(const void *memory)
{
    size_t at = home_of(memory);

    while (places[at].memory != NULL && places[at].memory != memory) {
        at = (at + 1) % N_PLACES;
    }
    return at;
}

static void note(void *memory, const void *caller)
{
    int i = 0;

    while (i < n_codes && (uintptr_t) caller - codes[i].from >= codes[i].n_bytes) {
        i++;
    }
    if (memory == NULL || i == n_codes) {
        return;
    }
    pthread_mutex_lock(&lock);
    bytes_now[codes[i].whose] += (long) malloc_usable_size(memory);
    if (n_used < N_PLACES / 2) {
        places[place_of(memory)] = (place_t){.memory = memory, .whose = codes[i].whose};
        n_used++;
    }
    pthread_mutex_unlock(&lock);
}

/* Those behind it move up, so that no search ends too early. */
static void close_gap(size_t gap)
{
    for (size_t at = (gap + 1) % N_PLACES; places[at].memory != NULL; at = (at + 1) % N_PLACES) {
        const size_t distance = (at - home_of(places[at].memory) + N_PLACES) % N_PLACES;
        if (distance >= (at - gap + N_PLACES) % N_PLACES) {
            places[gap] = places[at];
            gap = at;
        }
    }
    places[gap].memory = NULL;
}

static void forget(void *memory)
{
    if (memory == NULL || n_codes == 0) {
        return;
    }
    pthread_mutex_lock(&lock);
    const size_t at = place_of(memory);
    if (places[at].memory != NULL) {
        bytes_now[places[at].whose] -= (long) malloc_usable_size(memory);
        n_used--;
        close_gap(at);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- the heap -------------------------------------------------------------------------------- */

void *malloc(size_t n_bytes)
{
    void *memory = __libc_malloc(n_bytes);
    note(memory, __builtin_return_address(0));
    return memory;
}

void *calloc(size_t n_items, size_t item_bytes)
{
    void *memory = __libc_calloc(n_items, item_bytes);
    note(memory, __builtin_return_address(0));
    return memory;
}

void *realloc(void *memory, size_t n_bytes)
{
    forget(memory);
    memory = __libc_realloc(memory, n_bytes);
    note(memory, __builtin_return_address(0));
    return memory;
}

void *memalign(size_t alignment, size_t n_bytes)
{
    void *memory = __libc_memalign(alignment, n_bytes);
    note(memory, __builtin_return_address(0));
    return memory;
}

void *aligned_alloc(size_t alignment, size_t n_bytes)
{
    void *memory = __libc_memalign(alignment, n_bytes);
    note(memory, __builtin_return_address(0));
    return memory;
}

int posix_memalign(void **memory_p, size_t alignment, size_t n_bytes)
{
    void *memory = __libc_memalign(alignment, n_bytes);
    note(memory, __builtin_return_address(0));
    if (memory != NULL) {
        *memory_p = memory;
    }
    return memory == NULL ? ENOMEM : 0;
}

void free(void *memory)
{
    forget(memory);
    __libc_free(memory);
}
