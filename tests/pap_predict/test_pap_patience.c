/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Patience: a rank whose neighbour does not come goes on without forecasts, after no more than it
 * was told to wait; when the neighbour comes, it is told the same of each call, and then both learn
 * again. Threads and connections are real; the protocol in all its ways is in tests/sim.
 */
#include "tests/support/pap_job.h"
#include "tests/support/test.h"
#include "util/util_time.h"

#define N_CALLS     200
#define PATIENCE_NS (3 * CLV_NS_PER_MS)

static const clv_pap_stream_key_t key = {.total_bytes = 1000};

static clv_status_t one_call(pair_t *pair, int rank, uint32_t *hash_p)
{
    const clv_pap_forecast_t *forecast = NULL;
    const void *node_plans;
    size_t n_bytes;
    clv_pap_call_t call;
    clv_status_t status = CLV_AGAIN;
    const int64_t until_ns = clv_local_now_ns() + 120 * CLV_NS_PER_S; /* ends a hang */
    clv_pap_call_begin(pair->group[rank], &key, clv_local_now_ns(), &call);
    while (status == CLV_AGAIN && clv_local_now_ns() < until_ns) {
        status = clv_pap_call_forecast(pair->group[rank], &call, &forecast, &node_plans, &n_bytes);
        job_sleep_ns(50 * CLV_NS_PER_US);
    }
    *hash_p = status == CLV_OK ? forecast->hash : 0;
    clv_pap_call_end(pair->group[rank], &call, 1, NULL, 0, clv_local_now_ns());
    return status;
}

static clv_pap_counters_t counters_of(const pair_t *pair)
{
    clv_pap_counters_t counters;
    clv_pap_read_counters(pair->pap[0], &counters);
    return counters;
}

static int64_t count_void(const pair_t *pair)
{
    return counters_of(pair).void_record_sets;
}

/* Who is alone waits PATIENCE_NS for each set that never comes, and then no more. */
static void assert_waits_are_counted(const pair_t *pair, const clv_pap_counters_t *before)
{
    const clv_pap_counters_t now = counters_of(pair);
    const int64_t longest_ns = clv_pap_longest_wait_ns(pair->pap[0]);

    assert_true(now.forecast_waits > before->forecast_waits);
    assert_true(longest_ns >= PATIENCE_NS);
    assert_true(longest_ns <= now.forecast_wait_ns);
    assert_true(longest_ns >= (now.forecast_wait_ns - before->forecast_wait_ns) /
                                  (now.forecast_waits - before->forecast_waits));
}

static void learn_together(pair_t *pair)
{
    for (int i = 0, n_ok = 0; n_ok < 3; i++) {
        clv_pap_call_t calls[2];
        clv_status_t status[2];
        const clv_pap_forecast_t *forecasts[2];
        assert_true(i < 10000);
        for (int rank = 0; rank < 2; rank++) {
            clv_pap_call_begin(pair->group[rank], &key, clv_local_now_ns(), &calls[rank]);
        }
        pair_ask(pair, calls, status, forecasts);
        assert_int_equal(status[0], status[1]);
        n_ok += status[0] == CLV_OK;
        job_sleep_ns(CLV_NS_PER_MS);
        for (int rank = 0; rank < 2; rank++) {
            clv_pap_call_end(pair->group[rank], &calls[rank], 1, NULL, 0, clv_local_now_ns());
        }
    }
}

static void who_is_alone_goes_on(void **state)
{
    (void) state;
    for (int one_host = 0; one_host < 2; one_host++) {
        uint32_t hash[N_CALLS];
        clv_status_t status[N_CALLS];
        pair_t pair;
        int n_without = 0;
        assert_int_equal(pair_open(&pair, one_host, 60 * CLV_NS_PER_S), CLV_OK);
        pair_set_patience(&pair, PATIENCE_NS);
        assert_int_equal(pair_create(&pair), CLV_OK);
        assert_int_equal(pair_attach(&pair), CLV_OK);
        assert_int_equal(pair_activate(&pair), CLV_OK);
        learn_together(&pair);
        const int64_t n_void = count_void(&pair);
        const clv_pap_counters_t before = counters_of(&pair);
        for (int i = 0; i < N_CALLS; i++) {
            status[i] = one_call(&pair, 0, &hash[i]);
            n_without += status[i] == CLV_NONE;
        }
        assert_true(n_without > N_CALLS / 2);
        assert_true(count_void(&pair) > n_void);
        assert_true(count_void(&pair) - n_void < 10); /* twice as far each time */
        assert_waits_are_counted(&pair, &before);
        for (int i = 0; i < N_CALLS; i++) {
            uint32_t own_hash;
            assert_int_equal(one_call(&pair, 1, &own_hash), status[i]);
            assert_int_equal(own_hash, hash[i]);
        }
        learn_together(&pair);
        pair_free(&pair);
        pair_close(&pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_alone_goes_on),
    };
    return clv_run_tests(tests);
}
