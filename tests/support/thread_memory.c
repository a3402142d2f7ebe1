/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Denies memory to the background thread: preloaded, it refuses allocations of threads named "clv"
 * on one host. At the end of the process: "thread_memory: refused N".
 *
 *   CLV_SHORT_HOST=h2 CLV_SHORT_AFTER=4
 *
 * AFTER: seconds from the first allocation on. Only with the GNU C library.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

void *__libc_malloc(size_t n_bytes);
void *__libc_calloc(size_t n_items, size_t item_bytes);
void *__libc_realloc(void *memory, size_t n_bytes);
void *__libc_memalign(size_t alignment, size_t n_bytes);

static _Atomic time_t begins_s;
static atomic_int is_here; /* 1: this host, -1: another one */
static atomic_long n_refused;

__attribute__((constructor)) static void set_up(void)
{
    const char *wanted = getenv("CLV_SHORT_HOST"), *after = getenv("CLV_SHORT_AFTER");
    char host[64] = "";

    (void) gethostname(host, sizeof host - 1);
    begins_s = time(NULL) + (after == NULL ? 0 : atoi(after));
    is_here = wanted != NULL && strcmp(wanted, host) == 0 ? 1 : -1;
}

__attribute__((destructor)) static void tell(void)
{
    if (n_refused > 0) {
        (void) fprintf(stderr, "thread_memory: refused %ld\n", n_refused);
    }
}

static int is_refused(void)
{
    static __thread int is_thread; /* 1: ours, -1: another one */
    char name[16] = "";

    if (is_here != 1 || time(NULL) < begins_s) {
        return 0;
    }
    if (is_thread == 0) {
        (void) prctl(PR_GET_NAME, name);
        is_thread = strcmp(name, "clv") == 0 ? 1 : -1;
    }
    if (is_thread == 1) {
        (void) atomic_fetch_add(&n_refused, 1);
        errno = ENOMEM;
    }
    return is_thread == 1;
}

void *malloc(size_t n_bytes)
{
    return is_refused() ? NULL : __libc_malloc(n_bytes);
}

void *calloc(size_t n_items, size_t item_bytes)
{
    return is_refused() ? NULL : __libc_calloc(n_items, item_bytes);
}

void *realloc(void *memory, size_t n_bytes)
{
    return is_refused() ? NULL : __libc_realloc(memory, n_bytes);
}

void *aligned_alloc(size_t alignment, size_t n_bytes)
{
    return is_refused() ? NULL : __libc_memalign(alignment, n_bytes);
}
