/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The .clva file: what is written can be read; what cannot be right is refused; what ends early is
 * told from what is wrong.
 */
#include "tests/support/test.h"
#include "record/record_clva.h"
#include "util/util_bytes.h"

static clv_clva_head_t some_head(void)
{
    return (clv_clva_head_t){.clva = CLV_CLVA_VERSION,
                             .job = "a \"job\"\\ with\tthings",
                             .node = 1,
                             .n_nodes = 2,
                             .n_ranks = 5,
                             .n_local = 2,
                             .host = "here",
                             .started_unix_s = 1700000000,
                             .every = 3,
                             .max_mib = 64,
                             .choices = "previous,pipeline,",
                             .reasons = "forced,"};
}

static void a_head_comes_back(void **state)
{
    const clv_clva_head_t head = some_head();
    clv_clva_head_t again;
    char text[CLV_CLVA_HEAD_BYTES];
    size_t used = 0;
    const size_t n_bytes = clv_clva_put_head(text, sizeof text, &head);

    (void) state;
    assert_true(n_bytes > 0);
    assert_int_equal(text[n_bytes - 1], '\n');
    assert_int_equal(clv_clva_get_head(text, n_bytes, &again, &used), CLV_OK);
    assert_int_equal(used, n_bytes);
    assert_string_equal(again.job, "a \"job\"\\ with things");
    assert_string_equal(again.choices, head.choices);
    assert_int_equal(again.n_ranks, 5);
    assert_int_equal(again.started_unix_s, 1700000000);
    for (size_t n = 0; n < n_bytes; n++) { /* a file that is just being made */
        assert_int_equal(clv_clva_get_head(text, n, &again, &used), CLV_AGAIN);
        assert_int_equal(clv_clva_put_head(text + n, n, &head), n < n_bytes ? 0 : n_bytes);
        assert_true(clv_clva_put_head(text, sizeof text, &head) == n_bytes);
    }
}

static void the_longest_head_fits(void **state)
{
    clv_clva_head_t head = some_head();
    char text[CLV_CLVA_HEAD_BYTES];

    (void) state;
#define FILL(name, n_bytes) memset(head.name, '"', (n_bytes) -1);
#define LARGE(name)         head.name = -CLV_CLVA_MAX_NS;
    CLV_CLVA_HEAD_MAP(FILL, LARGE)
#undef FILL
#undef LARGE
    assert_true(clv_clva_put_head(text, sizeof text, &head) > 6000);
}

static const struct bad_head {
    const char *text;
    clv_status_t status;
} bad_heads[] = {
    {"something else\n", CLV_PROTOCOL},
    {"{}\n", CLV_PROTOCOL},
    {"{\"clva\":1}\n", CLV_PROTOCOL},
    {"{\"clva\":3,\"n_ranks\":-5}\n", CLV_UNSUPPORTED},
    {"{\"clva\":0,\"n_ranks\":1,\"n_local\":1,\"n_nodes\":1}\n", CLV_PROTOCOL},
    {"{\"clva\":1,\"n_ranks\":1,\"n_local\":1,\"n_nodes\":1}\n", CLV_OK},
    {"{\"clva\":1,\"n_ranks\":1,\"n_local\":1,\"n_nodes\":1,\"new\":\"x\",\"newer\":-7}\n", CLV_OK},
    {"{\"clva\":1,\"n_ranks\":1,\"n_local\":1,\"n_nodes\":1,\"new\":[1]}\n", CLV_PROTOCOL},
    {"{\"clva\":1,\"n_ranks\":1,\"n_local\":1,\"n_nodes\":1\n", CLV_PROTOCOL},
    {"{\"clva\":1,\"n_ranks\":1,\"n_local\":2,\"n_nodes\":1}\n", CLV_PROTOCOL},
    {"{\"clva\":1,\"n_ranks\":65537,\"n_local\":1,\"n_nodes\":1}\n", CLV_PROTOCOL},
    {"{\"clva\":1,\"n_ranks\":99999999999999999999,\"n_local\":1,\"n_nodes\":1}\n", CLV_PROTOCOL},
    {"{\"clva\":1,\"n_ranks\":2,\"n_local\":1,\"n_nodes\":1,\"node\":1}\n", CLV_PROTOCOL},
};

static void heads_are_checked(void **state)
{
    static char endless[CLV_CLVA_HEAD_BYTES] = "{\"clva\":1,\"job\":\"";
    clv_clva_head_t head;
    size_t used;

    (void) state;
    for (size_t i = 0; i < sizeof bad_heads / sizeof bad_heads[0]; i++) {
        const char *text = bad_heads[i].text;
        assert_int_equal(clv_clva_get_head(text, strlen(text), &head, &used), bad_heads[i].status);
    }
    memset(endless + strlen(endless), 'x', sizeof endless - strlen(endless));
    assert_int_equal(clv_clva_get_head(endless, sizeof endless - 1, &head, &used), CLV_AGAIN);
    assert_int_equal(clv_clva_get_head(endless, sizeof endless, &head, &used), CLV_PROTOCOL);
}

static const clv_clva_early_t an_early = {
    .sent_bytes = INT64_C(1) << 42, .window_bytes = 77, .buffer_bytes = 78};

static const clv_clva_waits_t some_waits = {
    .waited_ns = CLV_CLVA_MAX_NS, .asleep_ns = 77, .n_late = 3};

static const clv_clva_cost_t a_cost = {
    .latency_ns = 50, .byte_ps = 20, .combine_ps = 3, .gap_ns = 9, .early_bytes = 8192};

/* One of each kind, one after the other; returns how many bytes. */
static size_t put_all(unsigned char *bytes, size_t size)
{
    static const unsigned char members[12] = {4, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0};
    const clv_clva_call_t calls[2] = {{.choice = CLV_CLVA_NOT_OURS,
                                       .stream = 7,
                                       .arrival_ns = -5,
                                       .exit_ns = 12,
                                       .number = 4000000000U,
                                       .predicted_ns = CLV_CLVA_NO_FORECAST},
                                      {.choice = 1, .reason = 2, .arrival_ns = 3, .exit_ns = 3}};
    const clv_clva_stream_t stream = {.op = CLV_CLVA_OP_BCAST,
                                      .type = CLV_CLVA_TYPE_FLOAT,
                                      .how = CLV_CLVA_HOW_PERSISTENT,
                                      .request = 4000000000U,
                                      .stream = 4095,
                                      .element_bytes = 8,
                                      .comm = 0xfedcba9876543210,
                                      .bytes = INT64_C(1) << 40,
                                      .root = -1};
    const clv_clva_comm_t comm = {
        .id = 99, .n_ranks = 3, .n_listed = 3, .name = "three", .members = members};
    const clv_clva_clock_t clock = {.from_ns = 10,
                                    .origin_ns = 1000,
                                    .offset_ns = 50,
                                    .slope = 1e-3,
                                    .error_ns = 7,
                                    .error_ppb = 1000000};
    size_t n = 0;

    n += clv_clva_put_local(bytes + n, size - n, (const int32_t[]){1, 3}, 2);
    n += clv_clva_put_comm(bytes + n, size - n, &comm);
    n += clv_clva_put_stream(bytes + n, size - n, 3, &stream);
    n += clv_clva_put_calls(bytes + n, size - n, 4, calls, 2);
    n += clv_clva_put_clock(bytes + n, size - n, &clock);
    n += clv_clva_put_dropped(bytes + n, size - n, 2, 17);
    n += clv_clva_put_every(bytes + n, size - n, 4);
    n += clv_clva_put_cost(bytes + n, size - n, &a_cost);
    n += clv_clva_put_early(bytes + n, size - n, 1, &an_early);
    n += clv_clva_put_waits(bytes + n, size - n, 2, &some_waits);
    return n + clv_clva_put_end(bytes + n, size - n, 2, 5);
}

static void check_stream(const clv_clva_record_t *record)
{
    assert_int_equal(record->rank, 3);
    assert_int_equal(record->stream.stream, 4095);
    assert_int_equal(record->stream.element_bytes, 8);
    assert_int_equal(record->stream.root, -1);
    assert_int_equal(record->stream.how, CLV_CLVA_HOW_PERSISTENT);
    assert_int_equal(record->stream.request, 4000000000U);
    assert_true(record->stream.comm == 0xfedcba9876543210);
    assert_int_equal(record->stream.bytes, INT64_C(1) << 40);
}

static void check_early(const clv_clva_record_t *record)
{
    assert_int_equal(record->rank, 1);
    assert_int_equal(record->early.sent_bytes, an_early.sent_bytes);
    assert_int_equal(record->early.window_bytes, an_early.window_bytes);
    assert_int_equal(record->early.buffer_bytes, an_early.buffer_bytes);
}

static void check_waits(const clv_clva_record_t *record)
{
    assert_int_equal(record->rank, 2);
    assert_int_equal(record->waits.waited_ns, some_waits.waited_ns);
    assert_int_equal(record->waits.asleep_ns, some_waits.asleep_ns);
    assert_int_equal(record->waits.n_late, some_waits.n_late);
}

static void check_cost(const clv_clva_cost_t *cost)
{
    assert_int_equal(cost->latency_ns, 50);
    assert_int_equal(cost->byte_ps, 20);
    assert_int_equal(cost->near_byte_ps, 0);
    assert_int_equal(cost->combine_ps, 3);
    assert_int_equal(cost->gap_ns, 9);
    assert_int_equal(cost->early_bytes, 8192);
}

static void check_calls(const clv_clva_record_t *record)
{
    clv_clva_call_t call;

    assert_int_equal(record->n, 2);
    assert_int_equal(clv_clva_get_call(record, 0, &call), CLV_OK);
    assert_int_equal(call.arrival_ns, -5);
    assert_int_equal(call.number, 4000000000U);
    assert_int_equal(call.stream, 7);
    assert_int_equal(call.choice, CLV_CLVA_NOT_OURS);
    assert_int_equal(clv_clva_get_call(record, 1, &call), CLV_OK);
    assert_int_equal(call.reason, 2);
}

static void check_record(const clv_clva_record_t *record)
{
    switch (record->kind) {
    case CLV_CLVA_LOCAL:
        assert_int_equal(record->n, 2);
        assert_int_equal(clv_clva_get_local(record, 1), 3);
        break;
    case CLV_CLVA_COMM:
        assert_int_equal(record->comm.id, 99);
        assert_string_equal(record->comm.name, "three");
        assert_int_equal(clv_clva_get_member(&record->comm, 0), 4);
        assert_int_equal(clv_clva_get_member(&record->comm, 2), 2);
        break;
    case CLV_CLVA_STREAM:
        check_stream(record);
        break;
    case CLV_CLVA_CALLS:
        check_calls(record);
        break;
    case CLV_CLVA_CLOCK:
        assert_int_equal(record->clock.error_ppb, 1000000);
        break;
    case CLV_CLVA_COST:
        check_cost(&record->cost);
        break;
    case CLV_CLVA_EARLY:
        check_early(record);
        break;
    case CLV_CLVA_WAITS:
        check_waits(record);
        break;
    default:
        assert_int_equal(record->number, record->kind == CLV_CLVA_DROPPED ? 17
                                         : record->kind == CLV_CLVA_EVERY ? 4
                                                                          : 2);
    }
}

static void records_come_back(void **state)
{
    static const int kinds[] = {4, 3, 2, 1, 5, 6, 7, 9, 10, 11, 8};
    unsigned char bytes[1024];
    const size_t n_bytes = put_all(bytes, sizeof bytes);
    size_t at = 0, used = 0, unused;
    int n = 0;

    (void) state;
    for (; at < n_bytes; at += used, n++) {
        clv_clva_record_t record;
        assert_int_equal(clv_clva_get_record(bytes + at, n_bytes - at, 5, &record, &used), CLV_OK);
        assert_int_equal(record.kind, kinds[n]);
        check_record(&record);
        for (size_t cut = 0; cut < used; cut++) { /* a tail that is not all there */
            assert_int_equal(clv_clva_get_record(bytes + at, cut, 5, &record, &unused), CLV_AGAIN);
        }
    }
    assert_int_equal(n, 11);
}

static void nothing_is_written_beyond_its_room(void **state)
{
    unsigned char bytes[1024];
    const size_t n_bytes = put_all(bytes, sizeof bytes);

    (void) state;
    for (size_t size = 0; size < n_bytes; size++) {
        memset(bytes, 0xee, sizeof bytes);
        (void) put_all(bytes, size);
        assert_int_equal(bytes[size], 0xee);
    }
}

/* Where a number of a record stands and what it must not be. */
static const struct bad_record {
    clv_clva_kind_t kind;
    size_t at;
    uint32_t number;
} bad_records[] = {
    {CLV_CLVA_CALLS, 0, 0},          /* kind */
    {CLV_CLVA_CALLS, 0, 65536},      /* kind */
    {CLV_CLVA_CALLS, 4, 73},         /* length */
    {CLV_CLVA_CALLS, 4, 0xfffffff8}, /* length */
    {CLV_CLVA_CALLS, 8, 5},          /* rank */
    {CLV_CLVA_CALLS, 12, 3},         /* count */
    {CLV_CLVA_CALLS, 12, 0x08000002},
    {CLV_CLVA_STREAM, 8, 5},
    {CLV_CLVA_STREAM, 16, 0x00001002}, /* operation */
    {CLV_CLVA_STREAM, 16, 0x03000002}, /* how it is made */
    {CLV_CLVA_STREAM, 20, 4096},       /* its number */
    {CLV_CLVA_STREAM, 36, 0x80000000}, /* bytes below 0 */
    {CLV_CLVA_STREAM, 40, 65536},      /* root */
    {CLV_CLVA_COMM, 16, 0},            /* ranks */
    {CLV_CLVA_COMM, 16, 6},            /* more than there are */
    {CLV_CLVA_COMM, 20, 2},            /* not all listed */
    {CLV_CLVA_COMM, 84, 0xffffffff},   /* a name without an end */
    {CLV_CLVA_COMM, 88, 5},            /* a member that is not there */
    {CLV_CLVA_LOCAL, 8, 0},
    {CLV_CLVA_LOCAL, 8, 4},
    {CLV_CLVA_LOCAL, 12, 5},
    {CLV_CLVA_CLOCK, 12, 0x70000000},
    {CLV_CLVA_CLOCK, 36, 0x7ff80000}, /* no number */
    {CLV_CLVA_CLOCK, 44, 0x80000000},
    {CLV_CLVA_CLOCK, 52, 1},
    {CLV_CLVA_DROPPED, 20, 0x80000000},
    {CLV_CLVA_EVERY, 8, 0},
    {CLV_CLVA_END, 20, 0x80000000},
    {CLV_CLVA_COST, 12, 0x80000000},
    {CLV_CLVA_COST, 44, 1025}, /* no such long time */
    {CLV_CLVA_COST, 52, 1025},
    {CLV_CLVA_EARLY, 8, 5},           /* rank */
    {CLV_CLVA_EARLY, 20, 0x80000000}, /* bytes below 0 */
    {CLV_CLVA_EARLY, 28, 0x80000000},
    {CLV_CLVA_EARLY, 36, 1025}, /* no such large buffer */
    {CLV_CLVA_WAITS, 8, 5},
    {CLV_CLVA_WAITS, 20, 0x20000000}, /* no such long time */
    {CLV_CLVA_WAITS, 28, 0x80000000},
    {CLV_CLVA_WAITS, 36, 0x80000000},
};

static void records_are_checked(void **state)
{
    unsigned char bytes[1024];
    clv_clva_record_t record;
    size_t used;

    (void) state;
    for (size_t i = 0; i < sizeof bad_records / sizeof bad_records[0]; i++) {
        const size_t n_bytes = put_all(bytes, sizeof bytes);
        size_t at = 0;
        while (clv_get_u32(bytes + at) != (uint32_t) bad_records[i].kind) {
            at += 8 + clv_get_u32(bytes + at + 4);
        }
        assert_int_equal(clv_clva_get_record(bytes + at, n_bytes - at, 5, &record, &used), CLV_OK);
        clv_put_u32(bytes + at + bad_records[i].at, bad_records[i].number);
        assert_int_equal(clv_clva_get_record(bytes + at, n_bytes - at, 5, &record, &used),
                         CLV_PROTOCOL);
    }
}

/* What it costs to send one message after the other came later, and last what leaves early. */
static void costs_of_older_recorders_are_read(void **state)
{
    unsigned char bytes[CLV_CLVA_COST_BYTES];
    clv_clva_record_t record;
    size_t used;
    const size_t n_bytes = clv_clva_put_cost(bytes, sizeof bytes, &a_cost);

    (void) state;
    assert_int_equal(n_bytes, CLV_CLVA_COST_BYTES);
    clv_put_u32(bytes + 4, (uint32_t) n_bytes - 24);
    assert_int_equal(clv_clva_get_record(bytes, n_bytes - 16, 5, &record, &used), CLV_OK);
    assert_int_equal(record.cost.gap_ns, 9);
    assert_int_equal(record.cost.early_bytes, 0);
    clv_put_u32(bytes + 4, (uint32_t) n_bytes - 32);
    assert_int_equal(clv_clva_get_record(bytes, n_bytes - 24, 5, &record, &used), CLV_OK);
    assert_int_equal(record.cost.combine_ps, 3);
    assert_int_equal(record.cost.gap_ns, 0);
}

static void calls_are_checked(void **state)
{
    unsigned char bytes[256];
    const clv_clva_call_t bad[] = {{.arrival_ns = 5, .exit_ns = 4},
                                   {.exit_ns = CLV_CLVA_MAX_NS + 1},
                                   {.arrival_ns = -CLV_CLVA_MAX_NS - 1},
                                   {.stream = CLV_CLVA_MAX_STREAMS}};
    clv_clva_record_t record;
    clv_clva_call_t call;
    size_t used;
    const size_t n_bytes = clv_clva_put_calls(bytes, sizeof bytes, 0, bad, 4);

    (void) state;
    assert_int_equal(clv_clva_get_record(bytes, n_bytes, 1, &record, &used), CLV_OK);
    for (int32_t i = 0; i < 4; i++) {
        assert_int_equal(clv_clva_get_call(&record, i, &call), CLV_PROTOCOL);
    }
}

/* Newer recorders may have more to say; whoever cannot read it goes on behind it. */
static void unknown_kinds_are_passed_over(void **state)
{
    unsigned char bytes[24] = {0};
    clv_clva_record_t record;
    size_t used;

    (void) state;
    clv_put_u32(bytes, 77);
    clv_put_u32(bytes + 4, 16);
    assert_int_equal(clv_clva_get_record(bytes, sizeof bytes, 1, &record, &used), CLV_OK);
    assert_int_equal(used, 24);
    assert_int_equal(record.kind, 77);
}

static void a_clock_maps_and_bounds(void **state)
{
    const clv_clva_clock_t clock = {
        .origin_ns = 1000000000, .offset_ns = 50, .slope = 1e-6, .error_ns = 7, .error_ppb = 1000};
    int64_t error_ns;

    (void) state;
    assert_int_equal(clv_clva_global(&clock, 1000000000, &error_ns), 999999950);
    assert_int_equal(error_ns, 7);
    assert_int_equal(clv_clva_global(&clock, 3000000000, &error_ns), 3000000000 - 50 - 2000);
    assert_int_equal(error_ns, 7 + 2000);
    assert_int_equal(clv_clva_global(&clock, 0, &error_ns), -50 + 1000);
    assert_int_equal(error_ns, 7 + 1000);
}

static void words_are_found_by_number(void **state)
{
    int length = 0;

    (void) state;
    assert_memory_equal(clv_clva_word("one,two,", 1, &length), "two", 3);
    assert_int_equal(length, 3);
    assert_null(clv_clva_word("one,two,", 2, &length));
    assert_null(clv_clva_word("one,two,", 3, &length));
    assert_null(clv_clva_word("", 0, &length));
    assert_null(clv_clva_word("one", 255, &length));
}

static void calls_are_named_as_mpi_does(void **state)
{
    static const char *const names[CLV_CLVA_N_HOWS] = {"scan", "iscan", "scan_init"};
    char name[CLV_CLVA_CALL_NAME_BYTES];

    (void) state;
    for (int how = 0; how < CLV_CLVA_N_HOWS; how++) {
        const clv_clva_stream_t stream = {.op = CLV_CLVA_OP_SCAN, .how = (uint8_t) how};
        clv_clva_call_name(&stream, name, sizeof name);
        assert_string_equal(name, names[how]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_comes_back),
        cmocka_unit_test(the_longest_head_fits),
        cmocka_unit_test(heads_are_checked),
        cmocka_unit_test(records_come_back),
        cmocka_unit_test(nothing_is_written_beyond_its_room),
        cmocka_unit_test(records_are_checked),
        cmocka_unit_test(costs_of_older_recorders_are_read),
        cmocka_unit_test(calls_are_checked),
        cmocka_unit_test(unknown_kinds_are_passed_over),
        cmocka_unit_test(a_clock_maps_and_bounds),
        cmocka_unit_test(words_are_found_by_number),
        cmocka_unit_test(calls_are_named_as_mpi_does),
    };
    return clv_run_tests(tests);
}
