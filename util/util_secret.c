/* SPDX-License-Identifier: BSD-3-Clause
 * See util_secret.h.
 */
#include "util/util_secret.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE_BYTES 4096
#define N_CELLS    (PAGE_BYTES / CLV_SECRET_BYTES)

/* A free cell points to the next one. */
typedef struct cell {
    struct cell *next;
    unsigned char rest[CLV_SECRET_BYTES - sizeof(struct cell *)];
} cell_t;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static cell_t *free_cells;

static void add_page(void)
{
    cell_t *cells =
        mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (cells == MAP_FAILED) {
        return;
    }
    (void) madvise(cells, PAGE_BYTES, MADV_DONTDUMP);
    for (int i = 0; i < N_CELLS; i++) {
        cells[i].next = free_cells;
        free_cells = &cells[i];
    }
}

void *clv_secret_new(void)
{
    (void) pthread_mutex_lock(&mutex);
    if (free_cells == NULL) {
        add_page();
    }
    cell_t *cell = free_cells;
    if (cell != NULL) {
        free_cells = cell->next;
        cell->next = NULL;
    }
    (void) pthread_mutex_unlock(&mutex);
    return cell;
}

void clv_secret_free(void *secret)
{
    cell_t *cell = secret;
    if (cell == NULL) {
        return;
    }
    explicit_bzero(cell, sizeof *cell);
    (void) pthread_mutex_lock(&mutex);
    cell->next = free_cells;
    free_cells = cell;
    (void) pthread_mutex_unlock(&mutex);
}
