/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parallel work: each thread takes the next piece.
 */
#include "apps/clc/clc_parallel.h"

#include <pthread.h>

#include "util/util_alloc.h"

typedef struct crew {
    void (*work)(void *context, uint32_t i);
    void *context;
    uint32_t n, next;
} crew_t;

static void *crew_main(void *argument)
{
    crew_t *crew = argument;
    for (;;) {
        const uint32_t i = __atomic_fetch_add(&crew->next, 1, __ATOMIC_RELAXED);
        if (i >= crew->n) {
            return NULL;
        }
        crew->work(crew->context, i);
    }
}

void clv_clc_parallel(int32_t n_threads, uint32_t n, void (*work)(void *context, uint32_t i),
                      void *context)
{
    crew_t crew = {work, context, n, 0};
    const size_t n_more = n_threads > 1 ? (size_t) n_threads - 1 : 0;
    pthread_t *threads = n_more > 0 ? clv_alloc(n_more, sizeof *threads) : NULL;
    size_t n_started = 0;
    while (threads && n_started < n_more &&
           !pthread_create(&threads[n_started], NULL, crew_main, &crew)) {
        n_started++;
    }
    crew_main(&crew);
    while (n_started > 0) {
        pthread_join(threads[--n_started], NULL);
    }
    clv_free(threads);
}
