/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The state of the process: the thread, the server of its connections, counters, and the leaders
 * that it runs. Private to the pap_predict module.
 *
 * Lock: clv_net_thread_lock(pap->thread) guards everything here but the counters.
 */
#ifndef CLV_PAP_PROCESS_H
#define CLV_PAP_PROCESS_H

#include <stdatomic.h>
#include <stdint.h>

#include "pap_predict/net/net_listen.h"
#include "util/util_alloc.h"
#include "pap_predict/pap_predict.h"
#include "pap_predict/net/net_thread.h"

typedef struct clv_pap_leader clv_pap_leader_t; /* pap_leader.h */

/* Wakes the thread of another process; shared by all groups that it leads. */
typedef struct clv_pap_bell {
    struct clv_pap_bell *next;
    int fd;
    int32_t n_users;
    uint64_t device, inode; /* of the pipe */
} clv_pap_bell_t;

typedef enum clv_pap_counter {
#define CLV_PAP_COUNTER_ENUM(name) CLV_PAP_COUNT_##name,
    CLV_PAP_COUNTER_MAP(CLV_PAP_COUNTER_ENUM)
#undef CLV_PAP_COUNTER_ENUM
        CLV_PAP_N_COUNTERS
} clv_pap_counter_t;

#define CLV_PAP_INTERFACE_BYTES 64 /* longer than an IPv6 address/bits */

struct clv_pap {
    _Alignas(CLV_LINE_BYTES) _Atomic int64_t counters[CLV_PAP_N_COUNTERS]; /* used by each call */
    clv_pap_options_t options;
    char interface[CLV_PAP_INTERFACE_BYTES];
    uint32_t pretend_host; /* tests: see clv_pap_pretend_host */
    clv_net_thread_t *thread;
    clv_pap_leader_t *leaders;
    int32_t n_placed_for; /* largest number of ranks that the thread was placed beside */
    clv_net_server_t server;
    clv_pap_bell_t *bells;           /* of other processes' threads */
    _Atomic int32_t n_troubled;      /* leaders that use the relay, or may */
    _Atomic int64_t longest_wait_ns; /* of a call for its forecast */
};

static inline void clv_pap_count(clv_pap_t *pap, clv_pap_counter_t counter, int64_t more)
{
    (void) atomic_fetch_add_explicit(&pap->counters[counter], more, memory_order_relaxed);
}

/* For tests: ranks with different numbers act as on different hosts. Before group_create. */
void clv_pap_pretend_host(clv_pap_t *pap, uint32_t host);

/* Opens descriptor fd of process pid, which must be a pipe. Both under the lock. */
clv_status_t clv_pap_bell_acquire(clv_pap_t *pap, uint32_t pid, uint32_t fd,
                                  clv_pap_bell_t **bell_p) CLV_MUST_CHECK;
void clv_pap_bell_release(clv_pap_t *pap, clv_pap_bell_t *bell); /* NULL is fine */

#endif
