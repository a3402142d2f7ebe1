/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command line that all programs share, and the JSON that they all write.
 */
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/cli/cli_file.h"
#include "apps/cli/cli_json.h"
#include "apps/cli/cli_options.h"
#include "tests/support/test.h"
#include "util/util_alloc.h"

typedef struct fields {
    const char *file;
    double part;
    int64_t calls;
    int32_t ranks;
    bool is_quiet;
    int n_colours;
} fields_t;

static const char *take_colour(void *fields, const char *text)
{
    ((fields_t *) fields)->n_colours++;
    return strcmp(text, "red") == 0 || strcmp(text, "blue") == 0 ? NULL : "red or blue";
}

static const clv_option_t rows[] = {
    CLV_ROW_TEXT("file", offsetof(fields_t, file), "FILE", NULL, "a file"),
    CLV_ROW_REAL("part", offsetof(fields_t, part), 0, 1, "0.5", "a part"),
    CLV_ROW_WHOLE("calls", offsetof(fields_t, calls), 1, 1000, "30", "calls"),
    CLV_ROW_WHOLE32("ranks", offsetof(fields_t, ranks), 2, 64, "8", "ranks\nof a node"),
    CLV_ROW_FLAG("quiet", offsetof(fields_t, is_quiet), "say nothing"),
    CLV_ROW_TAKE("colour", take_colour, "NAME", NULL, "red or blue"),
    CLV_ROWS_END,
};
static clv_program_t program = {"tool", "tool [options]", rows, NULL, 1};

static fields_t fields;
static char reason[256];
static int first;

/* A line of words, as a shell cuts it. */
static clv_asked_t parse(const char *line)
{
    static char text[256];
    static char *argv[32];
    int argc = 0;

    memset(&fields, 0, sizeof fields);
    reason[0] = '\0';
    snprintf(text, sizeof text, "tool %s", line);
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    argv[argc] = NULL;
    return clv_options_parse(&program, argc, argv, &fields, &first, reason, sizeof reason);
}

static void values_stand_behind_a_blank_or_an_equals_sign(void **state)
{
    (void) state;
    assert_int_equal(parse(""), CLV_ASKED_RUN);
    assert_true(fields.file == NULL && fields.calls == 30 && fields.ranks == 8 && !fields.is_quiet);
    assert_int_equal(parse("--file=a=b --part 0.25 one --calls=7 --ranks 9 --quiet two"),
                     CLV_ASKED_RUN);
    assert_string_equal(fields.file, "a=b");
    assert_true(fields.part > 0.2 && fields.part < 0.3);
    assert_true(fields.calls == 7 && fields.ranks == 9 && fields.is_quiet == 1 && first == 8);
    assert_int_equal(parse("--colour red --colour=blue -- --quiet"), CLV_ASKED_RUN);
    assert_true(fields.n_colours == 2 && !fields.is_quiet);
}

static void it_is_known_what_was_given(void **state)
{
    static const char *const names[] = {"part", "calls", "quiet", NULL};
    (void) state;
    assert_int_equal(parse("--ranks 9 --quiet --calls=30"), CLV_ASKED_RUN);
    assert_string_equal(clv_options_given(names), "calls"); /* the first of the names */
    assert_int_equal(parse("--ranks 9"), CLV_ASKED_RUN);
    assert_null(clv_options_given(names));
}

static void help_and_version_are_asked_for(void **state)
{
    (void) state;
    assert_int_equal(parse("--help"), CLV_ASKED_HELP);
    assert_int_equal(parse("-h"), CLV_ASKED_HELP);
    assert_int_equal(parse("--quiet --version"), CLV_ASKED_VERSION);
    assert_int_equal(parse("--file --version"), CLV_ASKED_RUN);
    assert_string_equal(fields.file, "--version");
}

static void says(const char *line, const char *expected)
{
    assert_int_equal(parse(line), CLV_ASKED_WRONG);
    assert_string_equal(reason, expected);
}

static void what_is_wrong_is_one_line(void **state)
{
    (void) state;
    says("--what", "unknown option '--what' (--help lists them)");
    says("--what=x", "unknown option '--what=x' (--help lists them)");
    says("-x", "unknown option '-x' (--help lists them)");
    says("--calls", "--calls needs a value");
    says("--quiet=yes", "--quiet takes no value");
    says("--help=me", "--help takes no value");
    says("--calls=0", "--calls must be a whole number, 1 to 1000, not '0'");
    says("--calls 2.5", "--calls must be a whole number, 1 to 1000, not '2.5'");
    says("--ranks nan", "--ranks must be a whole number, 2 to 64, not 'nan'");
    says("--part 1.5x", "--part must be 0 to 1, not '1.5x'");
    says("--colour green", "--colour must be red or blue, not 'green'");
    program.takes_operands = 0;
    says("--quiet here", "unknown argument 'here' (--help lists all)");
    program.takes_operands = 1;
}

/* What a function writes. */
static const char *written(void (*write)(FILE *out))
{
    static char text[2048];
    FILE *out = tmpfile();

    assert_non_null(out);
    write(out);
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    fclose(out);
    return text;
}

static void write_help(FILE *out)
{
    clv_options_help(&program, out);
}

static void the_help_has_every_row(void **state)
{
    const char *help = written(write_help);

    (void) state;
    assert_non_null(strstr(help, "usage: tool [options]\n"));
    for (const clv_option_t *row = rows; row->name != NULL; row++) {
        assert_non_null(strstr(help, row->name));
    }
    assert_non_null(strstr(help, "ranks\n                                      of a node\n"));
}

static void one_rank_speaks_for_all(void **state)
{
    (void) state;
    unsetenv("PMIX_RANK");
    unsetenv("PMI_RANK");
    unsetenv("SLURM_PROCID");
    unsetenv("OMPI_COMM_WORLD_RANK");
    assert_true(clv_speaks_for_all());
    setenv("SLURM_PROCID", "3", 1);
    assert_false(clv_speaks_for_all());
    setenv("PMIX_RANK", "0", 1);
    assert_true(clv_speaks_for_all());
}

static void write_line(FILE *out)
{
    clv_json_t json = clv_json_begin(out, "tool", "test");

    clv_json_text(&json, "text", "a\"b\\c\td");
    clv_json_number(&json, "number", 0.1);
    clv_json_number(&json, "nothing", NAN);
    clv_json_whole(&json, "whole", INT64_C(9007199254740993));
    clv_json_flag(&json, "yes", 2);
    clv_json_list_begin(&json, "empty");
    clv_json_list_end(&json);
    clv_json_list_begin(&json, "list_ns");
    clv_json_item(&json, 1.26, 1);
    clv_json_item(&json, INFINITY, 1);
    clv_json_item(&json, 3, 0);
    clv_json_list_end(&json);
    clv_json_flag(&json, "no", 0);
    clv_json_end(&json);
}

static void a_line_is_flat_and_escaped(void **state)
{
    const char *line = written(write_line);

    (void) state;
    assert_ptr_equal(line,
                     strstr(line, "{\"program\":\"tool\",\"record\":\"test\",\"version\":\""));
    assert_non_null(strstr(line, "\",\"time\":\"20"));
    assert_non_null(strstr(line, "Z\",\"host\":\""));
    assert_non_null(strstr(line,
                           "\",\"text\":\"a\\\"b\\\\c\\u0009d\",\"number\":0.1,\"nothing\":null,"
                           "\"whole\":9007199254740993,\"yes\":true,\"empty\":[],"
                           "\"list_ns\":[1.3,null,3],\"no\":false}\n"));
}

static void write_names(FILE *out)
{
    clv_json_put_text(out, "\xff\xfe no utf-8 \xc3"); /* no letter at all, one that is cut */
    clv_json_put_text(out, "\xed\xa0\x80\xc0\xaf");   /* half a pair, a slash in two bytes */
    clv_json_put_text(out, "</script>\x7f\n");
    clv_json_put_text(out, "gr\xc3\xb6\xc3\x9f"
                           "e \xe2\x82\xac \xf0\x9f\x98\x80");
}

/* Valid, whatever bytes it has, and no end of a script in HTML. */
static void a_text_of_any_bytes_is_utf_8(void **state)
{
    (void) state;
#define BAD "\xef\xbf\xbd"
    assert_string_equal(written(write_names),
                        "\"" BAD BAD " no utf-8 " BAD "\"\"" BAD BAD BAD BAD BAD "\""
                        "\"\\u003c/script>\x7f\\u000a\""
                        "\"gr\xc3\xb6\xc3\x9f"
                        "e \xe2\x82\xac \xf0\x9f\x98\x80\"");
#undef BAD
}

static void only_files_are_read(void **state)
{
    char folder[] = "/tmp/clv-cli-XXXXXX", path[64];
    const char *cause = NULL;
    size_t n_bytes = 0;

    (void) state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/name", folder);
    assert_null(clv_file_read(folder, &n_bytes, &cause));
    assert_string_equal(cause, "a folder, not a file");
    assert_null(clv_file_read(path, &n_bytes, &cause));
    assert_string_equal(cause, "No such file or directory");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_null(clv_file_read(path, &n_bytes, &cause)); /* at once, though nobody writes to it */
    assert_null(clv_file_open(path, &cause));
    assert_string_equal(cause, "a FIFO or a device, not a file");
    assert_int_equal(unlink(path), 0);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_true(fputs("a line\n", out) >= 0 && fclose(out) == 0);
    char *bytes = clv_file_read(path, &n_bytes, &cause);
    assert_non_null(bytes);
    assert_int_equal(n_bytes, 7);
    assert_memory_equal(bytes, "a line\n", 7);
    clv_free(bytes);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_stand_behind_a_blank_or_an_equals_sign),
        cmocka_unit_test(it_is_known_what_was_given),
        cmocka_unit_test(help_and_version_are_asked_for),
        cmocka_unit_test(what_is_wrong_is_one_line),
        cmocka_unit_test(the_help_has_every_row),
        cmocka_unit_test(one_rank_speaks_for_all),
        cmocka_unit_test(a_line_is_flat_and_escaped),
        cmocka_unit_test(a_text_of_any_bytes_is_utf_8),
        cmocka_unit_test(only_files_are_read),
    };
    return clv_run_tests(tests);
}
