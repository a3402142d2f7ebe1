/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One rank's streams: numbers, slots, records and the forecasts of its calls, with a store by hand.
 */
#include "pap_predict/agree/pap_stream.h"
#include "tests/sim/cs_random.h"
#include "tests/support/test.h"

static cs_random_t generator;

/* Forecasts of every slot up to a version; all alike but for what a test sets. */
typedef struct store {
    int unsure;
    int64_t void_version;
    int64_t n_versions[CLV_PAP_MAX_STREAMS];
    int64_t end;
    clv_pap_forecast_t forecast;
} store_t;

static const clv_pap_forecast_t *find(void *context, int32_t slot, int64_t version)
{
    store_t *store = context;
    store->forecast.version = version;
    store->forecast.hash = (uint32_t) version + 1;
    return version <= store->n_versions[slot] ? &store->forecast : NULL;
}

static int64_t n_versions(void *context, int32_t slot)
{
    (void) slot;
    return ((store_t *) context)->end;
}

static bool is_void(void *context, int32_t slot, int64_t version)
{
    (void) slot;
    return ((store_t *) context)->void_version == version;
}

static bool is_unsure(void *context)
{
    return ((store_t *) context)->unsure;
}

static const clv_pap_store_ops_t store_ops = {find, n_versions, is_void, is_unsure};

static store_t new_store(int32_t sample_every)
{
    return (store_t){.end = INT64_MAX,
                     .forecast = {.n_record_sets = 3, .sample_every = sample_every}};
}

static clv_pap_stream_key_t key_of(int64_t bytes)
{
    return (clv_pap_stream_key_t){.root = 1, .total_bytes = bytes};
}

static clv_status_t ask(clv_pap_streams_t *streams, clv_pap_call_t *call, store_t *store,
                        const clv_pap_forecast_t **forecast_p)
{
    return clv_pap_streams_forecast(streams, call, &store_ops, store, forecast_p);
}

/* A whole call whose forecasts are all there; returns whether it gave a record. */
static int run_call(clv_pap_streams_t *streams, store_t *store, int64_t bytes, clv_pap_call_t *call,
                    clv_pap_local_record_t *given)
{
    const clv_pap_forecast_t *forecast;
    clv_pap_stream_key_t key = key_of(bytes);
    int gave = clv_pap_streams_begin(streams, &key, 1000, call, given);
    store->n_versions[call->stream] = INT64_MAX;
    store->forecast.generation = streams->slot[call->stream].generation;
    clv_status_t status = ask(streams, call, store, &forecast);
    assert_true(status == CLV_OK || status == CLV_NONE);
    clv_pap_streams_end(streams, call, 5, 1500);
    return gave;
}

static void every_kth_call_gives_a_record(void **state)
{
    (void) state;
    clv_pap_streams_t streams;
    clv_pap_call_t call;
    clv_pap_local_record_t given;
    store_t store = new_store(4);
    int64_t sequence = 0;
    clv_pap_streams_init(&streams);
    for (int64_t number = 0; number < 41; number++) {
        int sampled = number == 0 || number % 4 == 1; /* 0, then 1 + 4 k */
        assert_int_equal(run_call(&streams, &store, 64, &call, &given), sampled);
        assert_int_equal(call.number, number);
        assert_int_equal(call.sampled, sampled);
        if (sampled) {
            assert_int_equal(given.sequence, sequence++);
            assert_int_equal((given.flags & CLV_PAP_RECORD_PREVIOUS) != 0, number > 0);
        }
    }
}

static void a_sampled_call_waits_for_the_set_before(void **state)
{
    (void) state;
    clv_pap_streams_t streams;
    clv_pap_call_t call;
    clv_pap_local_record_t given;
    const clv_pap_forecast_t *forecast = NULL;
    clv_pap_stream_key_t key = key_of(64);
    store_t store = new_store(2);
    clv_pap_streams_init(&streams);
    assert_true(clv_pap_streams_begin(&streams, &key, 0, &call, &given));
    assert_int_equal(ask(&streams, &call, &store, &forecast), CLV_NONE); /* no wait at the first */
    clv_pap_streams_end(&streams, &call, 0, 0);
    assert_true(clv_pap_streams_begin(&streams, &key, 0, &call, &given));
    assert_int_equal(call.forecast_version, 1);
    assert_int_equal(ask(&streams, &call, &store, &forecast), CLV_AGAIN);
    store.n_versions[0] = 1;
    assert_int_equal(ask(&streams, &call, &store, &forecast), CLV_OK);
    assert_int_equal(ask(&streams, &call, &store, &forecast), CLV_OK); /* as often as one likes */
    clv_pap_streams_end(&streams, &call, 0, 0);
    assert_false(clv_pap_streams_begin(&streams, &key, 0, &call, &given));
    assert_int_equal(ask(&streams, &call, &store, &forecast), CLV_OK);
    assert_int_equal(forecast->version, 1);
    clv_pap_streams_end(&streams, &call, 0, 0);
    assert_true(clv_pap_streams_begin(&streams, &key, 0, &call, &given));
    assert_int_equal(ask(&streams, &call, &store, &forecast), CLV_AGAIN);
    store.end = 1;
    store.unsure = 1; /* the others may have it: neither with nor without is right */
    assert_int_equal(ask(&streams, &call, &store, &forecast), CLV_LOST);
    store.unsure = 0;
    assert_int_equal(ask(&streams, &call, &store, &forecast), CLV_NONE);
    clv_pap_streams_end(&streams, &call, 0, 0);
    for (int i = 0; i < 20; i++) { /* and none ever after, and no records */
        assert_false(clv_pap_streams_begin(&streams, &key, 0, &call, &given));
        assert_int_equal(ask(&streams, &call, &store, &forecast), CLV_NONE);
        clv_pap_streams_end(&streams, &call, 0, 0);
    }
}

/* A void forecast is none, for its calls alone; the next sample is twice as far away. */
static void what_is_void_is_none(void **state)
{
    (void) state;
    clv_pap_streams_t streams;
    clv_pap_call_t call;
    clv_pap_local_record_t given;
    const clv_pap_forecast_t *forecast = NULL;
    clv_pap_stream_key_t key = key_of(64);
    store_t store = new_store(3);
    clv_pap_streams_init(&streams);
    run_call(&streams, &store, 64, &call, &given);
    run_call(&streams, &store, 64, &call, &given); /* version 1: K = 3 */
    store.n_versions[0] = 1;
    for (int64_t number = 2; number < 12; number++) {
        const int sampled = number == 4 || number == 10; /* 6 calls further */
        assert_int_equal(clv_pap_streams_begin(&streams, &key, 0, &call, &given), sampled);
        if (number == 4) {
            assert_int_equal(ask(&streams, &call, &store, &forecast), CLV_AGAIN);
            assert_int_equal(call.awaited_version, 2);
            store.void_version = 2;
        }
        if (number == 10) {
            store.n_versions[0] = 3;
        }
        assert_int_equal(ask(&streams, &call, &store, &forecast),
                         number >= 4 && number < 10 ? CLV_NONE : CLV_OK);
        assert_int_equal(call.awaited_version, 0);
        clv_pap_streams_end(&streams, &call, 0, 0);
    }
    assert_int_equal(call.held_version, 3);
}

static void forecasts_without_record_sets_are_none(void **state)
{
    (void) state;
    clv_pap_streams_t streams;
    clv_pap_call_t call;
    clv_pap_local_record_t given;
    const clv_pap_forecast_t *forecast = NULL;
    clv_pap_stream_key_t key = key_of(64);
    store_t store = new_store(1);
    clv_pap_streams_init(&streams);
    run_call(&streams, &store, 64, &call, &given);
    store.forecast.n_record_sets = 0;
    assert_true(clv_pap_streams_begin(&streams, &key, 0, &call, &given));
    assert_int_equal(ask(&streams, &call, &store, &forecast), CLV_NONE);
    store.forecast.n_record_sets = 1;
    store.forecast.generation = 9; /* of another stream in this slot */
    assert_int_equal(ask(&streams, &call, &store, &forecast), CLV_NONE);
}

/* An oracle: keys by their last use. */
static void slots_go_to_the_least_recently_used(void **state)
{
    (void) state;
    clv_pap_streams_t streams;
    clv_pap_call_t call;
    clv_pap_local_record_t given;
    store_t store = new_store(1);
    int64_t last_use[24];
    int64_t slot_key[CLV_PAP_MAX_STREAMS];
    memset(last_use, -1, sizeof last_use);
    memset(slot_key, -1, sizeof slot_key);
    clv_pap_streams_init(&streams);
    for (int64_t now = 0; now < 5000; now++) {
        int64_t key = cs_random_range(&generator, 0, 23);
        int expected = -1;
        for (int slot = 0; slot < CLV_PAP_MAX_STREAMS; slot++) {
            expected = slot_key[slot] == key ? slot : expected;
        }
        for (int slot = 0; slot < CLV_PAP_MAX_STREAMS && expected < 0; slot++) {
            expected = slot_key[slot] < 0 ? slot : expected;
        }
        if (expected < 0) {
            expected = 0;
            for (int slot = 1; slot < CLV_PAP_MAX_STREAMS; slot++) {
                expected =
                    last_use[slot_key[slot]] < last_use[slot_key[expected]] ? slot : expected;
            }
        }
        run_call(&streams, &store, key, &call, &given);
        assert_int_equal(call.stream, expected);
        slot_key[expected] = key;
        last_use[key] = now;
    }
}

static void round_robin_over_too_many_streams_gives_no_records(void **state)
{
    (void) state;
    clv_pap_streams_t streams;
    clv_pap_call_t call;
    clv_pap_local_record_t given;
    store_t store = new_store(1);
    int n_records = 0;
    clv_pap_streams_init(&streams);
    for (int i = 0; i < 1700; i++) {
        n_records += run_call(&streams, &store, i % 17, &call, &given);
    }
    assert_int_equal(n_records, 16); /* of the slots' first streams, once each */
}

static void a_recycled_slot_goes_on_counting(void **state)
{
    (void) state;
    clv_pap_streams_t streams;
    clv_pap_call_t call;
    clv_pap_local_record_t given;
    const clv_pap_forecast_t *forecast;
    clv_pap_stream_key_t late = key_of(99);
    store_t store = new_store(1);
    clv_pap_streams_init(&streams);
    for (int i = 0; i < 32; i++) {
        run_call(&streams, &store, i / 2, &call, &given);
    }
    store.n_versions[0] = 1; /* the old stream's last record set is not complete */
    assert_false(clv_pap_streams_begin(&streams, &late, 0, &call, &given));
    assert_int_equal(call.stream, 0);
    assert_int_equal(ask(&streams, &call, &store, &forecast), CLV_NONE); /* and does not wait */
    clv_pap_streams_end(&streams, &call, 0, 0);
    assert_true(clv_pap_streams_begin(&streams, &late, 0, &call, &given));
    assert_int_equal(given.generation, 1);
    assert_int_equal(given.sequence, 2);
    assert_int_equal(ask(&streams, &call, &store, &forecast), CLV_AGAIN);
    store.n_versions[0] = 2;
    assert_int_equal(ask(&streams, &call, &store, &forecast), CLV_NONE);
    assert_int_equal(streams.slot[0].next_sample, 2);
}

static void a_hint_gives_the_record_early(void **state)
{
    (void) state;
    clv_pap_streams_t streams;
    clv_pap_call_t call;
    clv_pap_local_record_t given;
    const clv_pap_forecast_t *forecast;
    clv_pap_stream_key_t key = key_of(64);
    store_t store = new_store(1);
    clv_pap_streams_init(&streams);
    assert_false(clv_pap_streams_hint(&streams, 0, 10, &given)); /* no stream yet */
    run_call(&streams, &store, 64, &call, &given);
    assert_false(clv_pap_streams_hint(&streams, 2000, -1, &given));
    assert_false(clv_pap_streams_hint(&streams, 2000, INT64_MAX, &given));
    assert_true(clv_pap_streams_hint(&streams, 2000, 700, &given));
    assert_int_equal(given.arrival_ns, 2700);
    assert_int_equal(given.lead_ns, 700);
    assert_int_equal(given.sequence, 1);
    assert_int_equal(given.flags, CLV_PAP_RECORD_ANNOUNCED | CLV_PAP_RECORD_PREVIOUS);
    assert_false(clv_pap_streams_hint(&streams, 2000, 900, &given)); /* the first one counts */
    store.n_versions[0] = 1;
    store.forecast.announced = 1;
    assert_false(clv_pap_streams_begin(&streams, &key, 2701, &call, &given));
    assert_true(call.sampled);
    assert_int_equal(ask(&streams, &call, &store, &forecast),
                     CLV_AGAIN); /* for the announcements */
    store.n_versions[0] = 2;
    assert_int_equal(ask(&streams, &call, &store, &forecast), CLV_OK);
    assert_int_equal(forecast->version, 2);
}

static void a_hint_that_is_not_waited_for_is_noted(void **state)
{
    (void) state;
    clv_pap_streams_t streams;
    clv_pap_call_t call;
    clv_pap_local_record_t given;
    clv_pap_stream_key_t key = key_of(64);
    store_t store = new_store(1);
    clv_pap_streams_init(&streams);
    store.n_versions[0] = 9;
    store.forecast.hints_ignored = 1;
    run_call(&streams, &store, 64, &call, &given);
    run_call(&streams, &store, 64, &call, &given);
    assert_int_equal(given.lead_ns, 0); /* nothing was said */
    assert_int_equal(clv_pap_streams_hint(&streams, 2000, 900, &given), CLV_PAP_HEARD_NOTED);
    assert_int_equal(clv_pap_streams_hint(&streams, 2100, 500, &given), CLV_PAP_HEARD_NOT);
    assert_true(clv_pap_streams_begin(&streams, &key, 2700, &call, &given));
    assert_int_equal(given.arrival_ns, 2700);
    assert_int_equal(given.lead_ns, 700); /* from the word to the deed */
    assert_int_equal(given.flags & CLV_PAP_RECORD_ANNOUNCED, 0);
}

static void a_hint_between_samples_does_nothing(void **state)
{
    (void) state;
    clv_pap_streams_t streams;
    clv_pap_call_t call;
    clv_pap_local_record_t given;
    store_t store = new_store(5);
    clv_pap_streams_init(&streams);
    run_call(&streams, &store, 64, &call, &given);
    run_call(&streams, &store, 64, &call, &given);
    assert_false(clv_pap_streams_hint(&streams, 0, 10, &given));
}

static void records_are_in_global_time(void **state)
{
    (void) state;
    clv_cs_model_t model = {.offset_ns = 1000, .error_ns = 30};
    clv_pap_local_record_t given = {.arrival_ns = 5000,
                                    .previous_arrival_ns = 3000,
                                    .previous_exit_ns = 4000,
                                    .previous_choice = 2,
                                    .previous_hash = 9,
                                    .flags = CLV_PAP_RECORD_PREVIOUS};
    clv_pap_record_t record;
    clv_pap_local_to_record(&given, &model, 77, &record);
    assert_int_equal(record.arrival_ns, 4000);
    assert_int_equal(record.previous_arrival_ns, 2000);
    assert_int_equal(record.previous_exit_ns, 3000);
    assert_int_equal(record.clock_error_ns, 30);
    assert_int_equal(record.latency_ns, 77);
    assert_int_equal(record.flags, CLV_PAP_RECORD_PREVIOUS);
    clv_pap_local_to_record(&given, NULL, 77, &record);
    assert_int_equal(record.flags, CLV_PAP_RECORD_PREVIOUS | CLV_PAP_RECORD_INVALID);
    assert_int_equal(record.previous_choice, 2);
    given.arrival_ns = INT64_MAX / 2; /* a broken clock harms nobody */
    clv_pap_local_to_record(&given, &model, 77, &record);
    assert_null(clv_pap_record_problem(&record));
    assert_true((record.flags & CLV_PAP_RECORD_INVALID) != 0);
    model.error_ns = INT64_MAX / 4;
    given.arrival_ns = 5000;
    clv_pap_local_to_record(&given, &model, 77, &record);
    assert_int_equal(record.clock_error_ns, UINT32_MAX);
}

static void one_differing_call_shows_in_every_later_record(void **state)
{
    (void) state;
    clv_pap_streams_t streams[2];
    clv_pap_call_t call;
    clv_pap_local_record_t given[2];
    store_t store = new_store(7);
    for (int i = 0; i < 2; i++) {
        clv_pap_streams_init(&streams[i]);
        for (int n = 0; n < 30; n++) {
            run_call(&streams[i], &store, 64, &call, &given[i]);
            if (n == 17 && i == 1) {
                clv_pap_streams_end(&streams[i], &call, 6, 1500); /* something else */
            }
        }
        assert_int_equal(given[i].sequence, 5);
    }
    assert_int_not_equal(given[0].previous_hash, given[1].previous_hash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kth_call_gives_a_record),
        cmocka_unit_test(a_sampled_call_waits_for_the_set_before),
        cmocka_unit_test(what_is_void_is_none),
        cmocka_unit_test(forecasts_without_record_sets_are_none),
        cmocka_unit_test(slots_go_to_the_least_recently_used),
        cmocka_unit_test(round_robin_over_too_many_streams_gives_no_records),
        cmocka_unit_test(a_recycled_slot_goes_on_counting),
        cmocka_unit_test(a_hint_gives_the_record_early),
        cmocka_unit_test(a_hint_that_is_not_waited_for_is_noted),
        cmocka_unit_test(a_hint_between_samples_does_nothing),
        cmocka_unit_test(records_are_in_global_time),
        cmocka_unit_test(one_differing_call_shows_in_every_later_record),
    };
    cs_random_seed_from_environment(&generator);
    return clv_run_tests(tests);
}
