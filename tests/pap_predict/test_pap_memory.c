/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The channel without memory: the n-th allocation fails, for every n until none is left to fail,
 * alone or with all that follow. Both ranks then have the same forecasts, or both go without;
 * nothing hangs, and no descriptor, thread or (under the address sanitizer) byte is left. Only
 * where no connection can be made any more may a host that was cut off at the wrong moment say
 * CLV_LOST (docs/design/protocol.md, what cannot be solved): its call fails, and does not guess.
 */
#include <stdatomic.h>

#include "tests/support/pap_job.h"
#include "tests/support/test.h"
#include "util/util_alloc.h"
#include "util/util_time.h"

#define N_CALLS 6

/* Threads of ours allocate, too. */
typedef struct famine {
    atomic_int left; /* allocations that still succeed */
    int is_single;   /* only one fails */
} famine_t;

static int fail_at(void *context, size_t n_bytes)
{
    famine_t *famine = context;
    (void) n_bytes;
    const int left = atomic_fetch_sub(&famine->left, 1);
    return famine->is_single ? left == 0 : left <= 0;
}

/* Returns whether the next call may be made. */
static int make_call(pair_t *pair, int may_be_lost)
{
    const clv_pap_stream_key_t key = {.total_bytes = 4096};
    const clv_pap_forecast_t *forecasts[2] = {NULL, NULL};
    clv_pap_call_t calls[2];
    clv_status_t status[2];
    for (int i = 0; i < 2; i++) {
        clv_pap_call_begin(pair->group[i], &key, clv_local_now_ns(), &calls[i]);
    }
    pair_ask(pair, calls, status, forecasts);
    assert_true(status[0] != CLV_AGAIN && status[1] != CLV_AGAIN);
    if (may_be_lost && (status[0] == CLV_LOST || status[1] == CLV_LOST)) {
        return 0;
    }
    assert_int_equal(status[0], status[1]);
    if (status[0] == CLV_OK) {
        assert_int_equal(forecasts[0]->hash, forecasts[1]->hash);
    }
    for (int i = 0; i < 2; i++) {
        clv_pap_call_end(pair->group[i], &calls[i], 1, NULL, 0, clv_local_now_ns());
    }
    return 1;
}

/* A whole life. Returns whether it came to the calls. */
static int live(int one_host, int is_single)
{
    pair_t pair;
    const int64_t timeout_ns = is_single ? 60 * CLV_NS_PER_S : CLV_NS_PER_S;
    const int lives = pair_open(&pair, one_host, timeout_ns) == CLV_OK &&
                      pair_create(&pair) == CLV_OK && pair_attach(&pair) == CLV_OK &&
                      pair_activate(&pair) == CLV_OK;
    for (int call = 0; lives && call < N_CALLS && make_call(&pair, !is_single); call++) {
    }
    pair_free(&pair);
    pair_close(&pair);
    return lives;
}

/* A life without any connection takes 4 s to give up: a sample of those. */
static int step(int is_single, int n_lived)
{
    return is_single || n_lived == 0 ? 1 : 6;
}

static void walk(int one_host, int is_single)
{
    const int32_t n_fds = job_count_fds();
    int n = 0, n_lived = 0, is_over = 0;
    for (; !is_over; n += step(is_single, n_lived)) {
        famine_t famine = {.is_single = is_single};
        atomic_init(&famine.left, n);
        clv_alloc_set_hook(fail_at, &famine);
        n_lived += live(one_host, is_single);
        clv_alloc_set_hook(NULL, NULL);
        is_over = atomic_load(&famine.left) >= 0;
        assert_int_equal(job_count_fds(), n_fds);
        assert_int_equal(job_keeps_thread(), 0);
        assert_true(n < 1000);
    }
    printf("# to %d allocations; %d of the lives came to the calls\n", n - 1, n_lived);
    assert_true(n > 10);
    assert_true(n_lived > 0);
}

static void one_failure_on_one_host(void **state)
{
    (void) state;
    walk(1, 1);
}

static void one_failure_between_hosts(void **state)
{
    (void) state;
    walk(0, 1);
}

static void no_memory_any_more_on_one_host(void **state)
{
    (void) state;
    walk(1, 0);
}

static void no_memory_any_more_between_hosts(void **state)
{
    (void) state;
    walk(0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_failure_on_one_host),
        cmocka_unit_test(one_failure_between_hosts),
        cmocka_unit_test(no_memory_any_more_on_one_host),
        cmocka_unit_test(no_memory_any_more_between_hosts),
    };
    return clv_run_tests(tests);
}
