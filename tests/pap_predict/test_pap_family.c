/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two hosts that know each other by one address only, of IPv4 or of IPv6: they connect and have
 * forecasts. Without such an address on this machine there is nothing to test.
 */
#include "pap_predict/pap_process.h"
#include "tests/support/pap_job.h"
#include "tests/support/test.h"
#include "util/util_alloc.h"
#include "util/util_time.h"

/* The loopback's address of this family; 0: it has none. */
static int loopback(uint8_t family, clv_net_address_t *address)
{
    clv_net_address_t *all = NULL;
    int32_t n = 0;
    int is_found = 0;
    if (clv_net_interface_list("lo", &all, &n) != CLV_OK) {
        return 0;
    }
    for (int32_t i = 0; i < n && !is_found; i++) {
        is_found = all[i].family == family;
        *address = all[i];
    }
    clv_free(all);
    return is_found;
}

static int have_forecast(pair_t *pair)
{
    const clv_pap_stream_key_t key = {.total_bytes = 4096};
    const clv_pap_forecast_t *forecasts[2];
    clv_pap_call_t calls[2];
    clv_status_t status[2];
    for (int i = 0; i < 2; i++) {
        clv_pap_call_begin(pair->group[i], &key, clv_local_now_ns(), &calls[i]);
    }
    pair_ask(pair, calls, status, forecasts);
    for (int i = 0; i < 2; i++) {
        clv_pap_call_end(pair->group[i], &calls[i], 1, NULL, 0, clv_local_now_ns());
    }
    assert_int_not_equal(status[0], CLV_AGAIN);
    assert_int_equal(status[0], status[1]);
    return status[0] == CLV_OK;
}

static void connect_by(uint8_t family)
{
    pair_t pair;
    clv_net_address_t address;
    clv_pap_counters_t counters;
    const int64_t until_ns = clv_local_now_ns() + 120 * CLV_NS_PER_S;
    int64_t n_without = 0;
    if (!loopback(family, &address)) {
        print_message("# skipped: this machine has no such address\n");
        return;
    }
    assert_int_equal(pair_open(&pair, 0, 60 * CLV_NS_PER_S), CLV_OK);
    for (int i = 0; i < 2; i++) {
        assert_true(pair.pap[i]->server.n_addresses >= 1);
        pair.pap[i]->server.n_addresses = 1;
        pair.pap[i]->server.addresses[0] = address;
    }
    assert_int_equal(pair_create(&pair), CLV_OK);
    assert_int_equal(pair_attach(&pair), CLV_OK);
    assert_int_equal(pair_activate(&pair), CLV_OK);
    while (!have_forecast(&pair)) {
        assert_true(clv_local_now_ns() < until_ns); /* the clocks need a few exchanges */
        n_without++;
    }
    clv_pap_read_counters(pair.pap[1], &counters);
    assert_true(counters.sent_bytes > 0);
    assert_int_equal(counters.lost_groups, 0);
    /* The first call has no forecast in any case; later ones lack it only behind invalid sets. */
    assert_int_equal(counters.invalid_record_sets > 0, n_without > 1);
    assert_true(counters.invalid_record_sets < n_without);
    pair_free(&pair);
    pair_close(&pair);
}

static void hosts_connect_by_ipv4(void **state)
{
    (void) state;
    connect_by(4);
}

static void hosts_connect_by_ipv6(void **state)
{
    (void) state;
    connect_by(6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_connect_by_ipv4),
        cmocka_unit_test(hosts_connect_by_ipv6),
    };
    return clv_run_tests(tests);
}
