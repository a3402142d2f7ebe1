/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Key tables: what the ranks give at the end of a call is what whoever completes the stream's next
 * forecast is told, on every host; nothing where there was no call before; each stream has its own.
 *
 * The node plans of each forecast is the key table that came with it. A forecast of version v
 * follows the records of the stream's v-th sampled call, so its key table is that of the call
 * before that one.
 */
#include "tests/sim/cs_random.h"
#include "tests/support/pap_job.h"
#include "tests/support/test.h"
#include "util/util_time.h"

#define N_STREAMS 3
#define N_CALLS   60

static cs_random_t generator;

typedef struct stream {
    int64_t calls;
    int64_t sampled[N_CALLS + 1]; /* call number of the record behind each version, from 1 */
} stream_t;

static size_t copy_key_table(void *context, const clv_pap_stream_key_t *key,
                             const clv_pap_forecast_t *forecast, const clv_pap_progress_t *progress,
                             const void *key_table, void *memory, void *node_plans,
                             size_t node_plans_bytes)
{
    (void) progress;
    (void) context, (void) key, (void) forecast, (void) memory;
    memcpy(node_plans, key_table, node_plans_bytes);
    return node_plans_bytes;
}

/* What is given at the end of a call: no byte of it zero. */
static void fill_key_table(unsigned char *key_table, size_t n_bytes, int stream, int64_t number)
{
    for (size_t i = 0; i < n_bytes; i++) {
        key_table[i] = (unsigned char) (1 + (number * 7 + stream * 83 + (int64_t) i) % 255);
    }
}

static void check_key_table(const stream_t *stream, int index, const clv_pap_forecast_t *forecast,
                            const unsigned char *found, size_t n_bytes)
{
    unsigned char expected[CLV_PAP_KEY_TABLE_BYTES] = {0};
    const int64_t sampled = stream->sampled[forecast->version];
    if (sampled > 0) {
        fill_key_table(expected, n_bytes, index, sampled - 1);
    }
    assert_memory_equal(found, expected, n_bytes);
}

/* Returns how many of the two had a key table to look at. */
static int one_call(pair_t *pair, stream_t *stream, int index)
{
    const clv_pap_stream_key_t key = {.total_bytes = 1000 + index};
    const size_t n_bytes = pair->hooks.key_table_bytes;
    const clv_pap_forecast_t *forecasts[2];
    unsigned char key_table[CLV_PAP_KEY_TABLE_BYTES];
    clv_pap_call_t calls[2];
    clv_status_t status[2];
    int n_seen = 0;
    for (int i = 0; i < 2; i++) {
        clv_pap_call_begin(pair->group[i], &key, clv_local_now_ns(), &calls[i]);
    }
    if (calls[0].sampled) {
        stream->sampled[calls[0].forecast_version + 1] = stream->calls;
    }
    pair_ask(pair, calls, status, forecasts);
    fill_key_table(key_table, n_bytes, index, stream->calls++);
    for (int i = 0; i < 2; i++) {
        const void *node_plans;
        size_t found_bytes;
        if (status[i] == CLV_OK && clv_pap_call_forecast(pair->group[i], &calls[i], &forecasts[i],
                                                         &node_plans, &found_bytes) == CLV_OK) {
            assert_int_equal(found_bytes, n_bytes);
            check_key_table(stream, index, forecasts[i], node_plans, n_bytes);
            n_seen++;
        }
        clv_pap_call_end(pair->group[i], &calls[i], 1, key_table, n_bytes, clv_local_now_ns());
    }
    return n_seen;
}

static void live(int one_host)
{
    const size_t n_bytes = (size_t) cs_random_range(&generator, 1, CLV_PAP_KEY_TABLE_BYTES);
    stream_t streams[N_STREAMS] = {{0}};
    pair_t pair;
    int n_seen = 0;
    assert_int_equal(pair_open(&pair, one_host, 60 * CLV_NS_PER_S), CLV_OK);
    pair.hooks = (clv_pap_hooks_t){
        .make = copy_key_table, .node_plans_bytes = n_bytes, .key_table_bytes = n_bytes};
    assert_int_equal(pair_create(&pair), CLV_OK);
    assert_int_equal(pair_attach(&pair), CLV_OK);
    assert_int_equal(pair_activate(&pair), CLV_OK);
    for (int call = 0; call < N_STREAMS * N_CALLS; call++) {
        const int index = call % N_STREAMS;
        n_seen += one_call(&pair, &streams[index], index);
    }
    printf("# %d calls saw a key table of %zu bytes\n", n_seen, n_bytes);
    assert_true(n_seen > 0);
    pair_free(&pair);
    pair_close(&pair);
}

static void key_tables_reach_the_leader_of_one_host(void **state)
{
    (void) state;
    live(1);
}

static void key_tables_reach_the_leaders_of_two_hosts(void **state)
{
    (void) state;
    live(0);
}

static void a_key_table_has_a_limit(void **state)
{
    (void) state;
    pair_t pair;
    assert_int_equal(pair_open(&pair, 1, 60 * CLV_NS_PER_S), CLV_OK);
    pair.hooks.key_table_bytes = CLV_PAP_KEY_TABLE_BYTES + 1;
    assert_int_equal(pair_create(&pair), CLV_INVALID);
    pair_free(&pair);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(key_tables_reach_the_leader_of_one_host),
        cmocka_unit_test(key_tables_reach_the_leaders_of_two_hosts),
        cmocka_unit_test(a_key_table_has_a_limit),
    };
    (void) cs_random_seed_from_environment(&generator);
    return clv_run_tests(tests);
}
