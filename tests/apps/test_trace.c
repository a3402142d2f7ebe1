/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Traces: what is written can be read, and what is malformed is refused, each with its line.
 */
#include "tests/support/test.h"
#include "apps/trace/trace.h"
#include "util/util_alloc.h"

static const struct bad {
    const char *text;
    int line;
    const char *reason;
} bad_traces[] = {
    {"", 1, "no calls"},
    {"trace\n", 1, "expected \"clv-trace 1\""},
    {"clv-trace 1\ncall 0 | 1 | 2\n", 2, "expected \"ranks N\""},
    {"clv-trace 2\nranks 1\n", 1, "a version of the format that is not known here"},
    {"clv-trace 10\n", 1, "a version of the format that is not known here"},
    {"clv-trace 1 now\n", 1, "expected \"clv-trace 1\""},
    {"clv-trace\n", 1, "expected \"clv-trace 1\""},
    {"clv-trace 1\nranks 0\n", 2, "the number of ranks is out of range"},
    {"clv-trace 1\nranks 2 3\n", 2, "expected \"ranks N\""},
    {"clv-trace 1\nabout a b\nranks 2\n", 2, "expected \"ranks N\""},
    {"clv-trace 1\nranks x\n", 2, "a number is missing"},
    {"clv-trace 1\nranks 99999999\n", 2, "the number of ranks is out of range"},
    {"clv-trace 1\nranks 1\n", 3, "no calls"},
    {"clv-trace 1\n#\nranks 1\nfoo\n", 4, "expected \"call\""},
    {"clv-trace 1\nranks 2\ncall 0 | 1 2 3 4\n", 3, "expected |"},
    {"clv-trace 1\nranks 2\ncall 0 | 1 | 3 4\n", 3, "a number is missing"},
    {"clv-trace 1\nranks 2\ncall 0 | 1 2 | 3 4 5\n", 3, "more numbers than ranks"},
    {"clv-trace 1\nranks 1\ncall 0 | 5 | 4\n", 3, "a rank leaves before it arrives"},
    {"clv-trace 1\nranks 1\ncall 0 | 99999999999999999999 | 4\n", 3, "a number is out of range"},
    {"clv-trace 1\nranks 1\ncall 0 | -1152921504606846977 | 4\n", 3, "a number is out of range"},
    {"clv-trace 1\nranks 1\ncall 0 | 10000000000000000001 | 4\n", 3, "a number is out of range"},
    {"clv-trace 1\nranks 1\ncall -1 | 1 | 4\n", 3, "call numbers must ascend"},
    {"clv-trace 1\nranks 1\ncall 0 | - 1 | 4\n", 3, "a number is missing"},
    {"clv-trace 1\nranks 1\ncall 0 | 1x | 4\n", 3, "expected |"},
    {"clv-trace 1\nranks 1\ncall 3 | 1 | 2\ncall 3 | 3 | 4\n", 4, "call numbers must ascend"},
    {"clv-trace 1\nranks 1\ncall 3 | 1 | 2\nabout a b\n", 4, "expected \"call\""},
};

static FILE *text_file(const char *text)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    fputs(text, file);
    rewind(file);
    return file;
}

static void malformed_traces_are_refused_with_their_line(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof bad_traces / sizeof *bad_traces; i++) {
        clv_trace_t trace;
        int line = 0;
        const char *reason = NULL;
        FILE *file = text_file(bad_traces[i].text);
        assert_int_equal(clv_trace_read(file, &trace, &line, &reason), CLV_PROTOCOL);
        assert_string_equal(reason, bad_traces[i].reason);
        assert_int_equal(line, bad_traces[i].line);
        fclose(file);
    }
}

/* A zero byte would hide the rest of its line. */
static void zero_bytes_are_refused(void **state)
{
    static const char text[] = "clv-trace 1\nranks 1\ncall 0 | 1 | 2\0 3 4\n";
    clv_trace_t trace;
    int line;
    const char *reason;
    FILE *file = fmemopen((void *) (uintptr_t) text, sizeof text - 1, "r");

    (void) state;
    assert_int_equal(clv_trace_read(file, &trace, &line, &reason), CLV_PROTOCOL);
    assert_string_equal(reason, "a zero byte");
    assert_int_equal(line, 3);
    fclose(file);
}

static void endless_lines_are_refused(void **state)
{
    clv_trace_t trace;
    int line;
    const char *reason;
    FILE *file = text_file("clv-trace 1\n#");

    (void) state;
    fseek(file, 0, SEEK_END);
    for (int i = 0; i < CLV_TRACE_MAX_LINE; i++) {
        fputc('x', file);
    }
    rewind(file);
    assert_int_equal(clv_trace_read(file, &trace, &line, &reason), CLV_PROTOCOL);
    assert_string_equal(reason, "line too long");
    assert_int_equal(line, 2);
    fclose(file);
}

/* As many calls as the limit allows, and one more. */
static void calls_have_a_limit(void **state)
{
    clv_trace_t trace;
    int line;
    const char *reason;
    FILE *file = text_file("clv-trace 1\nranks 1\n");

    (void) state;
    fseek(file, 0, SEEK_END);
    for (int i = 0; i < CLV_TRACE_MAX_CALLS; i++) {
        fprintf(file, "call %d|1|2\n", i);
    }
    rewind(file);
    assert_int_equal(clv_trace_read(file, &trace, &line, &reason), CLV_OK);
    assert_int_equal(trace.n_calls, CLV_TRACE_MAX_CALLS);
    clv_trace_clear(&trace);
    fprintf(file, "call %d|1|2\n", CLV_TRACE_MAX_CALLS);
    rewind(file);
    assert_int_equal(clv_trace_read(file, &trace, &line, &reason), CLV_PROTOCOL);
    assert_string_equal(reason, "too many calls");
    fclose(file);
    assert_int_equal(clv_trace_max_calls(CLV_TRACE_MAX_RANKS), 2048);
    trace = (clv_trace_t){.n_ranks = CLV_TRACE_MAX_RANKS};
    assert_int_equal(clv_trace_reserve(&trace, 2049), CLV_LIMIT);
    assert_int_equal(clv_trace_reserve(&trace, 0), CLV_INVALID);
}

/* Comments, empty lines, what the trace is about, ends of lines as elsewhere, none at the end. */
static void what_is_no_call_is_passed_over(void **state)
{
    clv_trace_t trace;
    int line;
    const char *reason;
    FILE *file = text_file("# made by hand\n\nclv-trace 1\r\nranks 2\nabout collective allreduce\n"
                           "about program a name with words\n\n\tcall 4 |1 -2| 3 4\r\n#\n"
                           "call  9 | 5 6 | 7 8");

    (void) state;
    assert_int_equal(clv_trace_read(file, &trace, &line, &reason), CLV_OK);
    assert_int_equal(trace.n_calls, 2);
    assert_int_equal(trace.number[1], 9);
    assert_int_equal(clv_trace_arrivals(&trace, 0)[1], -2);
    assert_int_equal(clv_trace_exits(&trace, 1)[0], 7);
    clv_trace_clear(&trace);
    fclose(file);
}

static void what_is_written_can_be_read(void **state)
{
    static const int64_t number[] = {3, CLV_TRACE_MAX_NS};
    static const int64_t arrival_ns[] = {-CLV_TRACE_MAX_NS, 0, 17, CLV_TRACE_MAX_NS};
    static const int64_t exit_ns[] = {-1, 0, CLV_TRACE_MAX_NS, CLV_TRACE_MAX_NS};
    clv_trace_t trace;
    int line;
    const char *reason;
    FILE *file = text_file("");

    (void) state;
    clv_trace_write_head(file, 2);
    clv_trace_write_about(file, "collective", "reduce");
    clv_trace_write_call(file, 2, number[0], arrival_ns, exit_ns);
    clv_trace_write_call(file, 2, number[1], arrival_ns + 2, exit_ns + 2);
    rewind(file);
    assert_int_equal(clv_trace_read(file, &trace, &line, &reason), CLV_OK);
    assert_int_equal(trace.n_calls, 2);
    assert_memory_equal(trace.number, number, sizeof number);
    assert_memory_equal(trace.arrival_ns, arrival_ns, sizeof arrival_ns);
    assert_memory_equal(trace.exit_ns, exit_ns, sizeof exit_ns);
    fclose(file);
    file = fopen("/dev/full", "w");
    assert_non_null(file);
    assert_int_equal(clv_trace_write(file, &trace), CLV_SYSTEM);
    fclose(file);
    clv_trace_clear(&trace);
}

static int fail_one(void *context, size_t n_bytes)
{
    int *countdown = context;

    (void) n_bytes;
    return (*countdown)-- == 0;
}

/* The reader fails at each allocation in turn, and leaves nothing behind. */
static void no_memory_is_reported(void **state)
{
    clv_status_t status = CLV_NO_MEMORY;
    clv_trace_t trace;
    int line, n_failed = -1;
    const char *reason;
    FILE *file = text_file("clv-trace 1\nranks 1\ncall 0 | 1 | 2\ncall 1 | 1 | 2\n");

    (void) state;
    while (status == CLV_NO_MEMORY) {
        int countdown = ++n_failed;
        rewind(file);
        clv_alloc_set_hook(fail_one, &countdown);
        status = clv_trace_read(file, &trace, &line, &reason);
        clv_alloc_set_hook(NULL, NULL);
    }
    assert_int_equal(status, CLV_OK);
    assert_int_equal(n_failed, 7); /* the line, and three arrays for one call and for two */
    clv_trace_clear(&trace);
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malformed_traces_are_refused_with_their_line),
        cmocka_unit_test(zero_bytes_are_refused),
        cmocka_unit_test(endless_lines_are_refused),
        cmocka_unit_test(calls_have_a_limit),
        cmocka_unit_test(what_is_no_call_is_passed_over),
        cmocka_unit_test(what_is_written_can_be_read),
        cmocka_unit_test(no_memory_is_reported),
    };
    return clv_run_tests(tests);
}
