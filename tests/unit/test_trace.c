/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Traces: the ones in tests/data are what their first line says, and malformed ones are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "trace/trace.h"
#include "util/util_alloc.h"

static FILE *open_data(const char *name)
{
    char path[4096];
    const char *top = getenv("CLV_TOP");
    snprintf(path, sizeof path, "%s/tests/data/traces/%s.txt", top != NULL ? top : ".", name);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        fail_msg("%s: cannot open", path);
    }
    return file;
}

static void committed_traces_come_from_their_seeds(void **state)
{
    (void) state;
    for (int i = 0; clv_trace_made[i].name != NULL; i++) {
        clv_trace_t read;
        clv_trace_t made;
        int line;
        const char *reason;
        char name[32] = "";
        int n_ranks = 0;
        int n_calls = 0;
        unsigned long long seed = 0;
        FILE *file = open_data(clv_trace_made[i].name);
        assert_int_equal(fscanf(file,
                                "# clv-predict --make %31s --ranks %d --calls %d --seed %llu\n",
                                name, &n_ranks, &n_calls, &seed),
                         4);
        assert_string_equal(name, clv_trace_made[i].name);
        assert_int_equal(clv_trace_read(file, &read, &line, &reason), CLV_OK);
        assert_int_equal(clv_trace_make(name, n_ranks, n_calls, seed, &made), CLV_OK);
        assert_int_equal(read.n_calls, made.n_calls);
        size_t n_cells = (size_t) n_calls * (size_t) n_ranks;
        assert_memory_equal(read.arrival_ns, made.arrival_ns, n_cells * sizeof(int64_t));
        assert_memory_equal(read.exit_ns, made.exit_ns, n_cells * sizeof(int64_t));
        clv_trace_clear(&read);
        clv_trace_clear(&made);
        fclose(file);
    }
}

static const struct bad {
    const char *text;
    int line;
    const char *reason;
} bad_traces[] = {
    {"", 1, "no calls"},
    {"trace\n", 1, "expected \"clv-trace 1\""},
    {"clv-trace 1\ncall 0 | 1 | 2\n", 2, "expected \"ranks N\""},
    {"clv-trace 1\nranks 0\n", 2, "the number of ranks is out of range"},
    {"clv-trace 1\nranks x\n", 2, "a number is missing"},
    {"clv-trace 1\nranks 99999999\n", 2, "the number of ranks is out of range"},
    {"clv-trace 1\nranks 1\n", 3, "no calls"},
    {"clv-trace 1\n#\nranks 1\nfoo\n", 4, "expected \"call\""},
    {"clv-trace 1\nranks 2\ncall 0 | 1 2 3 4\n", 3, "expected |"},
    {"clv-trace 1\nranks 2\ncall 0 | 1 | 3 4\n", 3, "a number is missing"},
    {"clv-trace 1\nranks 2\ncall 0 | 1 2 | 3 4 5\n", 3, "more numbers than ranks"},
    {"clv-trace 1\nranks 1\ncall 0 | 5 | 4\n", 3, "a rank leaves before it arrives"},
    {"clv-trace 1\nranks 1\ncall 0 | 99999999999999999999 | 4\n", 3, "a number is out of range"},
    {"clv-trace 1\nranks 1\ncall 3 | 1 | 2\ncall 3 | 3 | 4\n", 4, "call numbers must ascend"},
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

static void what_is_written_can_be_read(void **state)
{
    (void) state;
    clv_trace_t made;
    clv_trace_t read;
    int line;
    const char *reason;
    assert_int_equal(clv_trace_make("uniform", 3, 200, 5, &made), CLV_OK);
    FILE *file = text_file("");
    clv_trace_write(file, &made);
    rewind(file);
    assert_int_equal(clv_trace_read(file, &read, &line, &reason), CLV_OK);
    assert_memory_equal(read.exit_ns, made.exit_ns, 600 * sizeof(int64_t));
    fclose(file);
    clv_trace_clear(&made);
    clv_trace_clear(&read);
    assert_int_equal(clv_trace_make("none", 3, 200, 5, &made), CLV_INVALID);
    assert_int_equal(clv_trace_make("uniform", 0, 200, 5, &made), CLV_INVALID);
    assert_int_equal(clv_trace_make("uniform", 3, 0, 5, &made), CLV_INVALID);
}

static int fail_all(void *context, size_t n_bytes)
{
    (void) context;
    (void) n_bytes;
    return 1;
}

static void no_memory_is_told(void **state)
{
    (void) state;
    clv_trace_t trace;
    int line;
    const char *reason;
    FILE *file = text_file("clv-trace 1\nranks 1\ncall 0 | 1 | 2\n");
    clv_alloc_set_hook(fail_all, NULL);
    clv_status_t made = clv_trace_make("uniform", 3, 2, 5, &trace);
    clv_status_t read = clv_trace_read(file, &trace, &line, &reason);
    clv_alloc_set_hook(NULL, NULL);
    assert_int_equal(made, CLV_NO_MEMORY);
    assert_int_equal(read, CLV_NO_MEMORY);
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(committed_traces_come_from_their_seeds),
        cmocka_unit_test(malformed_traces_are_refused_with_their_line),
        cmocka_unit_test(what_is_written_can_be_read),
        cmocka_unit_test(no_memory_is_told),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
