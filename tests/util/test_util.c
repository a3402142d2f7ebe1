/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The util module: names of status codes, levels of the log and its one sink, the allocation hook.
 */
#include "tests/support/random_instance.h"
#include "tests/support/test.h"
#include "util/util_alloc.h"
#include "util/util_divide.h"
#include "util/util_hash.h"
#include "util/util_log.h"
#include "util/util_near.h"
#include "util/util_status.h"
#include "util/util_text.h"

typedef struct heard {
    int n_lines;
    clv_log_level_t level;
    char line[2000];
} heard_t;

static void hear(void *context, clv_log_level_t level, const char *line)
{
    heard_t *heard = context;
    heard->n_lines++;
    heard->level = level;
    (void) strncpy(heard->line, line, sizeof heard->line - 1);
}

static void every_status_has_a_text(void **state)
{
    (void) state;
#define CHECK(name, value, text) assert_string_equal(clv_status_text(CLV_##name), text);
    CLV_STATUS_MAP(CHECK)
#undef CHECK
    assert_string_equal(clv_status_text((clv_status_t) -77), "unknown");
}

static void the_log_is_silent_without_a_sink(void **state)
{
    (void) state;
    clv_log_set_sink(NULL, NULL, CLV_LOG_DEBUG);
    assert_false(clv_log_wants(CLV_LOG_ERROR));
    clv_log(CLV_LOG_ERROR, "nobody hears %d", 1);
}

static void the_sink_hears_what_its_level_lets_through(void **state)
{
    heard_t heard = {0, CLV_LOG_DEBUG, ""};
    (void) state;
    clv_log_set_sink(hear, &heard, CLV_LOG_INFO);
    assert_true(clv_log_wants(CLV_LOG_INFO));
    assert_false(clv_log_wants(CLV_LOG_DEBUG));
    clv_log(CLV_LOG_DEBUG, "too fine");
    assert_int_equal(heard.n_lines, 0);
    clv_log(CLV_LOG_ERROR, "lost %s after %d ns", "peer", 12);
    assert_int_equal(heard.n_lines, 1);
    assert_int_equal(heard.level, CLV_LOG_ERROR);
    assert_string_equal(heard.line, "lost peer after 12 ns");
    clv_log_set_sink(NULL, NULL, CLV_LOG_ERROR);
}

static void a_long_line_is_cut_not_overrun(void **state)
{
    static char text[5000];
    heard_t heard = {0, CLV_LOG_DEBUG, ""};
    (void) state;
    memset(text, 'x', sizeof text - 1);
    clv_log_set_sink(hear, &heard, CLV_LOG_DEBUG);
    clv_log(CLV_LOG_INFO, "%s", text);
    assert_int_equal(heard.n_lines, 1);
    assert_true(strlen(heard.line) > 80 && strlen(heard.line) < sizeof text - 1);
    clv_log_set_sink(NULL, NULL, CLV_LOG_ERROR);
}

static int refuse_second(void *context, size_t n_bytes)
{
    int *n_calls = context;
    (void) n_bytes;
    return ++*n_calls == 2;
}

static void memory_is_zeroed_and_refused_where_it_must_be(void **state)
{
    int n_calls = 0;
    int64_t *first = clv_alloc(4, sizeof *first);
    (void) state;
    assert_non_null(first);
    assert_int_equal(first[0] | first[1] | first[2] | first[3], 0);
    clv_free(first);
    clv_free(NULL);
    assert_null(clv_alloc(0, 8));
    assert_null(clv_alloc(SIZE_MAX / 4, 8));
    assert_null(clv_alloc_unset(SIZE_MAX / 4, 8));
    assert_null(clv_alloc_line(0));
    assert_null(clv_alloc_line(SIZE_MAX));
    clv_alloc_set_hook(refuse_second, &n_calls);
    first = clv_alloc(1, 1);
    assert_non_null(first);
    assert_null(clv_alloc(1, 1));
    n_calls = 1;
    assert_null(clv_alloc_unset(1, 1));
    n_calls = 1;
    assert_null(clv_alloc_line(1));
    clv_alloc_set_hook(NULL, NULL);
    clv_free(first);
}

static int refuse_heap(void *context, size_t n_bytes)
{
    (void) context;
    (void) n_bytes;
    return CLV_ALLOC_NO_HEAP;
}

static void what_the_heap_has_not_comes_from_the_spare(void **state)
{
    enum { SPARE = 4096 };
    unsigned char *parts[3];
    (void) state;
    clv_alloc_set_hook(refuse_heap, NULL);
    assert_null(clv_alloc(1, 1)); /* there is none yet */
    clv_alloc_keep_spare(SPARE);
    assert_false(clv_alloc_is_short());
    assert_null(clv_alloc(1, SPARE + 1));
    assert_false(clv_alloc_is_short());
    parts[0] = clv_alloc(3, 5);
    parts[1] = clv_alloc_line(65);
    parts[2] = clv_alloc_unset(1, 1000);
    for (int i = 0; i < 3; i++) {
        assert_non_null(parts[i]);
        assert_int_equal((uintptr_t) parts[i] % CLV_LINE_BYTES, 0);
        assert_int_equal(parts[i][0], 0);
        memset(parts[i], 0xff, i == 0 ? 15 : i == 1 ? 65 : 1000);
    }
    assert_true(clv_alloc_is_short());
    assert_int_equal(parts[0][0] & parts[0][14] & parts[1][64], 0xff);
    assert_null(clv_alloc(1, SPARE - 1000));
    clv_alloc_set_hook(NULL, NULL);
    for (int i = 0; i < 3; i++) {
        clv_free(parts[i]); /* goes nowhere */
    }
    clv_free(clv_alloc(1, SPARE)); /* the heap's */
    clv_alloc_drop_spare();
    assert_true(clv_alloc_is_short());
}

static void lines_begin_where_cache_lines_do(void **state)
{
    (void) state;
    for (size_t n_bytes = 1; n_bytes < 5 * CLV_LINE_BYTES; n_bytes += 7) {
        unsigned char *line = clv_alloc_line(n_bytes), any = 0;
        assert_non_null(line);
        assert_int_equal((uintptr_t) line % CLV_LINE_BYTES, 0);
        for (size_t i = 0; i < n_bytes; i++) {
            any |= line[i];
            line[i] = 0xff; /* for whoever gets this memory next */
        }
        assert_int_equal(any, 0);
        clv_free(line);
    }
}

/* Published values of FNV-1a, 64 bits. */
static void the_hash_is_the_published_one(void **state)
{
    (void) state;
    assert_true(clv_fnv1a64(CLV_FNV1A64_BASIS, "", 0) == UINT64_C(0xcbf29ce484222325));
    assert_true(clv_fnv1a64(CLV_FNV1A64_BASIS, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(clv_fnv1a64(CLV_FNV1A64_BASIS, "foobar", 6) == UINT64_C(0x85944171f73967e8));
    assert_true(clv_fnv1a64_u32(CLV_FNV1A64_BASIS, UINT32_C(0x64636261)) ==
                clv_fnv1a64(CLV_FNV1A64_BASIS, "abcd", 4));
}

/* A number of up to 63 bits, of each length as often. */
static int64_t draw_number(uint64_t *state)
{
    return clv_random_between(state, 0, INT64_MAX - 1) >> clv_random_between(state, 0, 62);
}

/* Quotients where they step, at both ends of the range, and anywhere. */
static void many_are_divided_by_one_as_by_division(void **unused)
{
    uint64_t state = 20211204;

    (void) unused;
    for (int k = 0; k < 200000; k++) {
        const int64_t by = k < 4096 ? k + 1 : draw_number(&state) + (k % 2 == 0);
        const clv_divisor_t divisor = clv_divisor_of(by > 0 ? by : INT64_MAX);
        const int64_t whole = INT64_MAX / divisor.by * divisor.by;
        const int64_t step = draw_number(&state) / divisor.by * divisor.by;
        const int64_t numbers[] = {0,     1,         step,      step - (step > 0),
                                   whole, whole - 1, INT64_MAX, draw_number(&state)};
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            assert_true(clv_divide(numbers[i], divisor) == numbers[i] / divisor.by);
        }
    }
}

/* The first byte's range, the second's, the length; and what lies just beside each. */
static void letters_are_those_of_rfc_3629(void **unused)
{
    static const struct {
        const char *text;
        size_t n_bytes;
    } cases[] = {{"", 0},
                 {"a", 1},
                 {"\x7f", 1},
                 {"\x80", 0},
                 {"\xc1\xbf", 0},
                 {"\xc2\x80", 2},
                 {"\xdf\xbf", 2},
                 {"\xc2", 0},
                 {"\xc2"
                  "a",
                  0},
                 {"\xe0\x9f\xbf", 0},
                 {"\xe0\xa0\x80", 3},
                 {"\xed\x9f\xbf", 3},
                 {"\xed\xa0\x80", 0},
                 {"\xee\x80\x80", 3},
                 {"\xef\xbf\xbf", 3},
                 {"\xe2\x82", 0},
                 {"\xf0\x8f\xbf\xbf", 0},
                 {"\xf0\x90\x80\x80", 4},
                 {"\xf4\x8f\xbf\xbf", 4},
                 {"\xf4\x90\x80\x80", 0},
                 {"\xf5\x80\x80\x80", 0},
                 {"\xf0\x90\x80", 0},
                 {"\xff", 0}};

    (void) unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(clv_text_letter_bytes(cases[i].text), cases[i].n_bytes);
    }
}

static void a_name_is_plain_for_a_terminal(void **unused)
{
    char name[] = "a\x1b[1m\n\xff"
                  "b \xc2\x9b \xc3\xbc\xc3";

    (void) unused;
    clv_text_make_plain(name);
    assert_string_equal(name, "a [1m ?b   \xc3\xbc?");
    char cut[] = "xx\xe2\x82\xac";
    clv_text_cut(cut, 4);
    assert_string_equal(cut, "xx");
    clv_text_cut(cut, 4);
    assert_string_equal(cut, "xx");
    clv_text_cut(cut, 1);
    assert_string_equal(cut, "x");
}

static void who_misspells_a_name_is_told_the_nearest(void **state)
{
    static const char *const names[] = {"reduce_algorithm", "segment_bytes", "min_ranks",
                                        "record",           "record_ops",    "verbose"};
    const struct {
        const char *word, *nearest;
    } rows[] = {{"segmnt_bytes", "segment_bytes"}, /* left out */
                {"verbosee", "verbose"},           /* added */
                {"min_renks", "min_ranks"},        /* another */
                {"rceord", "record"},              /* swapped */
                {"record_op", "record_ops"},       /* not the other that begins so */
                {"Verbose", "verbose"},            /* */
                {"algorithm", "reduce_algorithm"}, /* a part */
                {"segment", "segment_bytes"},      /* */
                {"record_operations", "record"},   /* more than a name */
                {"min_rnaks_", "min_ranks"},       /* two at once */
                {"ops", "record_ops"},             /* */
                {"fastest", NULL},                 /* nothing like it */
                {"r", NULL},                       /* too short to mean anything */
                {"", NULL}};
    char longest[2 * CLV_NEAR_BYTES];
    const char *const too_long[] = {longest};

    (void) state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *found =
            clv_near(rows[i].word, strlen(rows[i].word), names, sizeof names / sizeof *names);
        if (rows[i].nearest == NULL) {
            assert_null(found);
        } else {
            assert_string_equal(found, rows[i].nearest);
        }
    }
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_null(clv_near(longest, strlen(longest), names, sizeof names / sizeof *names));
    assert_null(clv_near("aaaa", 4, too_long, 1));
    assert_string_equal(clv_near("min_ranks=3", 9, names, 3), "min_ranks"); /* no more of it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_text),
        cmocka_unit_test(the_log_is_silent_without_a_sink),
        cmocka_unit_test(the_sink_hears_what_its_level_lets_through),
        cmocka_unit_test(a_long_line_is_cut_not_overrun),
        cmocka_unit_test(memory_is_zeroed_and_refused_where_it_must_be),
        cmocka_unit_test(what_the_heap_has_not_comes_from_the_spare),
        cmocka_unit_test(lines_begin_where_cache_lines_do),
        cmocka_unit_test(the_hash_is_the_published_one),
        cmocka_unit_test(many_are_divided_by_one_as_by_division),
        cmocka_unit_test(letters_are_those_of_rfc_3629),
        cmocka_unit_test(a_name_is_plain_for_a_terminal),
        cmocka_unit_test(who_misspells_a_name_is_told_the_nearest),
    };
    return clv_run_tests(tests);
}
