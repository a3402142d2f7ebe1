/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The wire: what goes in comes out, and nothing malformed is taken.
 */
#include "pap_predict/agree/pap_agree.h"
#include "pap_predict/agree/pap_wire.h"
#include "tests/sim/cs_random.h"
#include "tests/support/test.h"

#define N_RANKS 7

static cs_random_t generator;
static unsigned char bytes[4096];

static clv_pap_record_t random_record(void)
{
    return (clv_pap_record_t){
        .arrival_ns = cs_random_range(&generator, -CLV_PAP_MAX_TIME_NS, CLV_PAP_MAX_TIME_NS),
        .previous_arrival_ns = cs_random_range(&generator, 0, CLV_PAP_MAX_TIME_NS),
        .previous_exit_ns = cs_random_range(&generator, -CLV_PAP_MAX_TIME_NS, 0),
        .clock_error_ns = (uint32_t) cs_random_u64(&generator),
        .latency_ns = (uint32_t) cs_random_u64(&generator),
        .previous_choice = (int32_t) cs_random_u64(&generator),
        .previous_hash = (uint32_t) cs_random_u64(&generator),
        .flags = (uint32_t) cs_random_range(&generator, 0, CLV_PAP_RECORD_FLAGS),
    };
}

static void assert_record_equal(const clv_pap_record_t *a, const clv_pap_record_t *b)
{
    assert_int_equal(a->arrival_ns, b->arrival_ns);
    assert_int_equal(a->previous_arrival_ns, b->previous_arrival_ns);
    assert_int_equal(a->previous_exit_ns, b->previous_exit_ns);
    assert_int_equal(a->clock_error_ns, b->clock_error_ns);
    assert_int_equal(a->latency_ns, b->latency_ns);
    assert_int_equal(a->previous_choice, b->previous_choice);
    assert_int_equal(a->previous_hash, b->previous_hash);
    assert_int_equal(a->flags, b->flags);
}

static void records_come_back(void **state)
{
    (void) state;
    for (int round = 0; round < 500; round++) {
        clv_pap_record_t records[N_RANKS];
        clv_pap_message_t message;
        int32_t n_records = (int32_t) cs_random_range(&generator, 1, N_RANKS);
        int32_t slot = (int32_t) cs_random_range(&generator, 0, CLV_PAP_MAX_STREAMS - 1);
        uint32_t generation = (uint32_t) cs_random_u64(&generator);
        int64_t sequence = cs_random_range(&generator, 0, CLV_PAP_MAX_SEQUENCE - 1);
        for (int32_t i = 0; i < n_records; i++) {
            records[i] = random_record();
        }
        size_t n = clv_pap_wire_put_records(bytes, CLV_PAP_WIRE_UP, slot, generation, sequence,
                                            records, n_records);
        assert_int_equal(n, 24 + 48 * (size_t) n_records);
        assert_int_equal(clv_pap_wire_decode(bytes, n, N_RANKS, &message), CLV_OK);
        assert_int_equal(message.kind, CLV_PAP_WIRE_UP);
        assert_int_equal(message.slot, slot);
        assert_int_equal(message.generation, generation);
        assert_int_equal(message.sequence, sequence);
        assert_int_equal(message.n_items, n_records);
        for (int32_t i = 0; i < n_records; i++) {
            clv_pap_record_t got;
            clv_pap_wire_get_record(&message, i, &got);
            assert_record_equal(&got, &records[i]);
        }
    }
}

static void counts_and_bare_messages_come_back(void **state)
{
    (void) state;
    int64_t counts[CLV_PAP_MAX_STREAMS];
    clv_pap_message_t message;
    for (int i = 0; i < CLV_PAP_MAX_STREAMS; i++) {
        counts[i] = cs_random_range(&generator, 0, CLV_PAP_MAX_SEQUENCE - 1);
    }
    size_t n = clv_pap_wire_put_counts(bytes, CLV_PAP_WIRE_LOST, CLV_PAP_LOST_LEFT, counts);
    assert_int_equal(clv_pap_wire_decode(bytes, n, N_RANKS, &message), CLV_OK);
    assert_int_equal(message.reason, CLV_PAP_LOST_LEFT);
    for (int i = 0; i < CLV_PAP_MAX_STREAMS; i++) {
        assert_int_equal(clv_pap_wire_get_count(&message, i), counts[i]);
    }
    n = clv_pap_wire_put_bare(bytes, CLV_PAP_WIRE_GIVE_UP, CLV_PAP_LOST_DISAGREE);
    assert_int_equal(n, CLV_PAP_WIRE_HEADER_BYTES);
    assert_int_equal(clv_pap_wire_decode(bytes, n, N_RANKS, &message), CLV_OK);
    assert_int_equal(message.reason, CLV_PAP_LOST_DISAGREE);
    n = clv_pap_wire_put_slot(bytes, CLV_PAP_WIRE_VOID, 5, 1234);
    assert_int_equal(n, CLV_PAP_WIRE_HEADER_BYTES);
    assert_int_equal(clv_pap_wire_decode(bytes, n, N_RANKS, &message), CLV_OK);
    assert_int_equal(message.slot, 5);
    assert_int_equal(message.sequence, 1234);
    n = clv_pap_wire_put_slot(bytes, CLV_PAP_WIRE_ASK, CLV_PAP_MAX_STREAMS, 1);
    assert_int_equal(clv_pap_wire_decode(bytes, n, N_RANKS, &message), CLV_PROTOCOL);
    n = clv_pap_wire_put_slot(bytes, CLV_PAP_WIRE_VOID, 1, -1);
    assert_int_equal(clv_pap_wire_decode(bytes, n, N_RANKS, &message), CLV_PROTOCOL);
}

static size_t put_down(void)
{
    clv_pap_record_t records[N_RANKS];
    for (int i = 0; i < N_RANKS; i++) {
        records[i] = random_record();
    }
    return clv_pap_wire_put_records(bytes, CLV_PAP_WIRE_DOWN, 3, 1, 9, records, N_RANKS);
}

static clv_status_t decode_with(size_t n, size_t at, unsigned char value)
{
    clv_pap_message_t message;
    unsigned char keep = bytes[at];
    bytes[at] = value;
    clv_status_t status = clv_pap_wire_decode(bytes, n, N_RANKS, &message);
    bytes[at] = keep;
    return status;
}

static void malformed_bytes_are_refused(void **state)
{
    (void) state;
    clv_pap_message_t message;
    size_t n = put_down();
    assert_int_equal(clv_pap_wire_decode(bytes, n, N_RANKS, &message), CLV_OK);
    for (size_t shorter = 0; shorter < n; shorter++) {
        assert_int_equal(clv_pap_wire_decode(bytes, shorter, N_RANKS, &message), CLV_PROTOCOL);
    }
    assert_int_equal(clv_pap_wire_decode(bytes, n + 1, N_RANKS, &message), CLV_PROTOCOL);
    assert_int_equal(clv_pap_wire_decode(bytes, n, N_RANKS + 1, &message), CLV_PROTOCOL);
    assert_int_equal(clv_pap_wire_decode(bytes, n, N_RANKS - 1, &message), CLV_PROTOCOL);
    assert_int_equal(decode_with(n, 4, 0), CLV_PROTOCOL); /* kind */
    assert_int_equal(decode_with(n, 4, 7), CLV_PROTOCOL);
    assert_int_equal(decode_with(n, 4, CLV_PAP_WIRE_HELLO), CLV_PROTOCOL);  /* other item size */
    assert_int_equal(decode_with(n, 5, CLV_PAP_MAX_STREAMS), CLV_PROTOCOL); /* slot */
    assert_int_equal(decode_with(n, 6, 1), CLV_PROTOCOL);                   /* reason */
    assert_int_equal(decode_with(n, 12, N_RANKS - 1), CLV_PROTOCOL);        /* items */
    assert_int_equal(decode_with(n, 23, 0x80), CLV_PROTOCOL);               /* sequence < 0 */
    assert_int_equal(decode_with(n, 22, 1), CLV_PROTOCOL);                  /* sequence 2^48 */
    assert_int_equal(decode_with(n, 24 + 7, 0x7f), CLV_PROTOCOL);           /* arrival */
    assert_int_equal(decode_with(n, 24 + 15, 0x7f), CLV_PROTOCOL);          /* previous arrival */
    assert_int_equal(decode_with(n, 24 + 23, 0x7f), CLV_PROTOCOL);          /* previous exit */
    assert_int_equal(decode_with(n, 24 + 40, 0x10), CLV_PROTOCOL);          /* flags */
}

static void wrong_reasons_and_counts_are_refused(void **state)
{
    (void) state;
    int64_t counts[CLV_PAP_MAX_STREAMS] = {0};
    size_t n = clv_pap_wire_put_counts(bytes, CLV_PAP_WIRE_HELLO, 0, counts);
    assert_int_equal(decode_with(n, 4, CLV_PAP_WIRE_HELLO), CLV_OK);
    assert_int_equal(decode_with(n, 6, 1), CLV_PROTOCOL);
    assert_int_equal(decode_with(n, 5, 1), CLV_PROTOCOL);
    assert_int_equal(decode_with(n, 24 + 7, 0x80), CLV_PROTOCOL);
    assert_int_equal(decode_with(n, 4, CLV_PAP_WIRE_LOST), CLV_PROTOCOL); /* reason 0 */
    n = clv_pap_wire_put_bare(bytes, CLV_PAP_WIRE_GIVE_UP, CLV_PAP_LOST_LAST);
    assert_int_equal(decode_with(n, 6, CLV_PAP_LOST_LAST + 1), CLV_PROTOCOL);
    assert_int_equal(decode_with(n, 4, CLV_PAP_WIRE_BYE), CLV_PROTOCOL);
    n = clv_pap_wire_put_bare(bytes, CLV_PAP_WIRE_BYE, 0);
    assert_int_equal(decode_with(n, 4, CLV_PAP_WIRE_BYE), CLV_OK);
}

static void the_longest_message_is_known(void **state)
{
    (void) state;
    assert_int_equal(clv_pap_wire_max_bytes(1), 24 + 128);
    assert_int_equal(clv_pap_wire_max_bytes(1024), 24 + 48 * 1024);
}

static void names_are_there(void **state)
{
    (void) state;
    assert_string_equal(clv_pap_lost_text(0), "unknown");
    assert_string_equal(clv_pap_lost_text(CLV_PAP_LOST_REQUESTED), "a host asked for it");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_back),
        cmocka_unit_test(counts_and_bare_messages_come_back),
        cmocka_unit_test(malformed_bytes_are_refused),
        cmocka_unit_test(wrong_reasons_and_counts_are_refused),
        cmocka_unit_test(the_longest_message_is_known),
        cmocka_unit_test(names_are_there),
    };
    cs_random_seed_from_environment(&generator);
    return clv_run_tests(tests);
}
