/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where a waiting call is (see coll_clv_wait.h).
 */
#include "coll_clv/coll_clv_wait.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "util/util_hot.h"
#include "util/util_log.h"
#include "util/util_time.h"

#define WORDS_BYTES 512

static atomic_int stall_seconds = 60;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const coll_clv_wait_t *shown; /* under the lock, as is all it points to except turns */

void coll_clv_wait_set_stall(int seconds)
{
    atomic_store(&stall_seconds, seconds);
}

static void tell(const coll_clv_wait_ops_t *ops, void *context, int64_t waited_ns)
{
    char words[WORDS_BYTES] = "";

    ops->words(context, words, sizeof words);
    clv_log(CLV_LOG_ERROR, "waiting for %lld s: %s", (long long) (waited_ns / CLV_NS_PER_S), words);
}

CLV_COLD void coll_clv_wait_look(coll_clv_wait_t *wait, const coll_clv_wait_ops_t *ops,
                                 void *context)
{
    const int64_t now_ns = clv_local_now_ns();
    const int64_t stall_ns = atomic_load(&stall_seconds) * CLV_NS_PER_S;
    coll_clv_where_t where = {0};

    ops->where(context, &where);
    pthread_mutex_lock(&lock);
    if (0 == wait->since_ns || 0 != memcmp(&where, &wait->where, sizeof where)) {
        wait->since_ns = now_ns;
        wait->where = where;
    }
    wait->is_shown = true;
    shown = wait;
    pthread_mutex_unlock(&lock);
    if (stall_ns > 0 && !wait->has_reported && now_ns - wait->since_ns >= stall_ns) {
        wait->has_reported = true;
        tell(ops, context, now_ns - wait->since_ns);
    }
}

void coll_clv_wait_unshow(coll_clv_wait_t *wait)
{
    pthread_mutex_lock(&lock);
    if (shown == wait) {
        shown = NULL;
    }
    pthread_mutex_unlock(&lock);
    wait->is_shown = false;
}

void coll_clv_wait_read(coll_clv_where_t *where_p)
{
    *where_p = (coll_clv_where_t){0};
    pthread_mutex_lock(&lock);
    if (NULL != shown) {
        *where_p = shown->where;
        where_p->ns = clv_local_now_ns() - shown->since_ns;
    }
    pthread_mutex_unlock(&lock);
}
