/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Walks the table; knows kinds, not options. See cli_options.h.
 */
#include "apps/cli/cli_options.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "apps/cli/cli_file.h"
#include "util/util_limit.h"
#include "util/util_text.h"
#include "util/util_version.h"

enum { MAX_OPTIONS = 64, FIRST_LONG = 256, HELP = 128, VERSION = 129, EXIT_WRONG = 2 };

/* Of the last command line: whether it gave the row at the same place. */
static const clv_option_t *last_rows;
static bool is_given[MAX_OPTIONS];

static void *field_of(const clv_option_t *row, void *fields)
{
    return (char *) fields + row->offset;
}

/* ---- one value ---- */

static bool read_number(const clv_option_t *row, const char *text, double *number_p)
{
    char *end = NULL;
    const bool is_real = row->kind == CLV_OPTION_REAL;

    errno = 0;
    *number_p = strtod(text, &end);
    return end != text && *end == '\0' && errno == 0 && *number_p >= row->least &&
           *number_p <= row->most && (is_real || floor(*number_p) >= *number_p);
}

static bool store_number(const clv_option_t *row, const char *text, void *field)
{
    double number;

    if (!read_number(row, text, &number)) {
        return false;
    }
    if (row->kind == CLV_OPTION_REAL) {
        *(double *) field = number;
    } else if (row->kind == CLV_OPTION_WHOLE32) {
        *(int32_t *) field = (int32_t) number;
    } else {
        *(int64_t *) field = (int64_t) number;
    }
    return true;
}

static bool refuse(const clv_option_t *row, const char *text, const char *must, char *reason,
                   size_t reason_bytes)
{
    snprintf(reason, reason_bytes, "--%s must be %s, not '%s'", row->name, must, text);
    return false;
}

static bool store(const clv_option_t *row, const char *text, void *fields, char *reason,
                  size_t reason_bytes)
{
    void *field = field_of(row, fields);
    char must[96];

    if (row->kind == CLV_OPTION_FLAG) {
        *(bool *) field = true;
    } else if (row->kind == CLV_OPTION_TEXT) {
        *(const char **) field = text;
    } else if (row->kind == CLV_OPTION_TAKE) {
        const char *wanted = row->take(fields, text);
        return wanted == NULL || refuse(row, text, wanted, reason, reason_bytes);
    } else if (!store_number(row, text, field)) {
        snprintf(must, sizeof must, "%s%.15g to %.15g",
                 row->kind == CLV_OPTION_REAL ? "" : "a whole number, ", row->least, row->most);
        return refuse(row, text, must, reason, reason_bytes);
    }
    return true;
}

/* ---- getopt's tables ---- */

typedef struct table {
    struct option names[MAX_OPTIONS + 3];
    char letters[2 * MAX_OPTIONS + 4];
} table_t;

static void make_table(const clv_option_t *rows, table_t *table)
{
    size_t n = 0;
    char *letter = table->letters;

    *letter++ = ':'; /* report a missing value apart from an unknown option; print nothing */
    *letter++ = 'h';
    for (; n < MAX_OPTIONS && rows[n].name != NULL; n++) {
        const bool takes_value = rows[n].kind != CLV_OPTION_FLAG;
        table->names[n] = (struct option){rows[n].name, takes_value, NULL, FIRST_LONG + (int) n};
        if (rows[n].letter != '\0') {
            *letter++ = rows[n].letter;
            *letter = ':';
            letter += takes_value;
        }
    }
    *letter = '\0';
    table->names[n] = (struct option){"help", no_argument, NULL, HELP};
    table->names[n + 1] = (struct option){"version", no_argument, NULL, VERSION};
    table->names[n + 2] = (struct option){NULL, 0, NULL, 0};
}

static const clv_option_t *row_of(const clv_option_t *rows, int option)
{
    if (option >= FIRST_LONG) {
        return &rows[option - FIRST_LONG];
    }
    for (; rows->name != NULL; rows++) {
        if (rows->letter != '\0' && rows->letter == option) {
            return rows;
        }
    }
    return NULL;
}

/* Explains why getopt refused the argument that it just read. */
static clv_asked_t explain(int option, const char *argument, char *reason, size_t reason_bytes)
{
    if (option == ':') {
        snprintf(reason, reason_bytes, "%s needs a value", argument);
    } else if (optopt >= HELP) {
        snprintf(reason, reason_bytes, "%.*s takes no value", (int) strcspn(argument, "="),
                 argument);
    } else {
        snprintf(reason, reason_bytes, "unknown option '%s' (--help lists them)", argument);
    }
    return CLV_ASKED_WRONG;
}

/* ---- a command line ---- */

static clv_asked_t set_presets(const clv_option_t *rows, void *fields, char *reason,
                               size_t reason_bytes)
{
    for (; rows->name != NULL; rows++) {
        if (rows->preset != NULL && !store(rows, rows->preset, fields, reason, reason_bytes)) {
            return CLV_ASKED_WRONG;
        }
    }
    return CLV_ASKED_RUN;
}

static clv_asked_t take_options(const clv_option_t *rows, int argc, char **argv, void *fields,
                                char *reason, size_t reason_bytes)
{
    table_t table;
    int option;

    make_table(rows, &table);
    last_rows = rows;
    memset(is_given, 0, sizeof is_given);
    opterr = 0;
    optind = 0; /* restarts getopt */
    while ((option = getopt_long(argc, argv, table.letters, table.names, NULL)) != -1) {
        const clv_option_t *row = row_of(rows, option);
        if (option == HELP || (option == 'h' && row == NULL)) {
            return CLV_ASKED_HELP;
        }
        if (option == VERSION) {
            return CLV_ASKED_VERSION;
        }
        if (row == NULL) {
            return explain(option, argv[optind - 1], reason, reason_bytes);
        }
        if (!store(row, optarg, fields, reason, reason_bytes)) {
            return CLV_ASKED_WRONG;
        }
        is_given[row - rows] = true;
    }
    return CLV_ASKED_RUN;
}

static bool gave(const char *name)
{
    for (size_t i = 0; i < MAX_OPTIONS && last_rows != NULL && last_rows[i].name != NULL; i++) {
        if (is_given[i] && strcmp(last_rows[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

const char *clv_options_given(const char *const *names)
{
    while (*names != NULL && !gave(*names)) {
        names++;
    }
    return *names;
}

clv_asked_t clv_options_parse(const clv_program_t *program, int argc, char **argv, void *fields,
                              int *first_p, char *reason, size_t reason_bytes)
{
    clv_asked_t asked = set_presets(program->options, fields, reason, reason_bytes);

    if (asked == CLV_ASKED_RUN) {
        asked = take_options(program->options, argc, argv, fields, reason, reason_bytes);
    }
    if (asked == CLV_ASKED_RUN && !program->takes_operands && optind < argc) {
        snprintf(reason, reason_bytes, "unknown argument '%s' (--help lists all)", argv[optind]);
        asked = CLV_ASKED_WRONG;
    }
    if (first_p != NULL) {
        *first_p = optind;
    }
    return asked;
}

/* ---- what a user sees ---- */

bool clv_speaks_for_all(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                        "SLURM_PROCID"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *rank = getenv(names[i]);
        if (rank != NULL) {
            return strcmp(rank, "0") == 0;
        }
    }
    return true;
}

void clv_tell_for_all(const char *program, const char *reason)
{
    const struct timespec moment = {.tv_sec = 1};
    char line[1200]; /* a value that was given may hold any bytes */

    if (clv_speaks_for_all()) {
        snprintf(line, sizeof line, "%s", reason);
        clv_text_make_plain(line);
        fprintf(stderr, "%s: %s\n", program, line);
    } else {
        (void) nanosleep(&moment, NULL);
    }
}

int clv_options_wrong(const clv_program_t *program, const char *reason)
{
    clv_tell_for_all(program->name, reason);
    return EXIT_WRONG;
}

/* Opens /dev/null in place of a closed standard stream. Otherwise the next file opened would get
 * its descriptor, and with it the stream's output. */
static void guard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            const int other = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
            if (other >= 0 && other != fd) {
                (void) close(other);
            }
        }
    }
}

int clv_options_main(const clv_program_t *program, int argc, char **argv, void *fields,
                     int *first_p)
{
    char reason[512];
    clv_limit_as_errors(); /* for the files that it writes */
    guard_streams();
    const clv_asked_t asked =
        clv_options_parse(program, argc, argv, fields, first_p, reason, sizeof reason);

    if (asked == CLV_ASKED_WRONG) {
        return clv_options_wrong(program, reason);
    }
    if (asked == CLV_ASKED_HELP && clv_speaks_for_all()) {
        clv_options_help(program, stdout);
    } else if (asked == CLV_ASKED_VERSION && clv_speaks_for_all()) {
        printf("%s (clv) %s\n", program->name, CLV_VERSION);
    }
    return asked == CLV_ASKED_RUN ? -1 : clv_output_end(program, 0);
}

static const char *value_word(const clv_option_t *row)
{
    return row->kind == CLV_OPTION_FLAG   ? ""
           : row->value != NULL           ? row->value
           : row->kind == CLV_OPTION_TEXT ? "TEXT"
                                          : "N";
}

/* The lines of a meaning share one column. */
static void print_row(FILE *out, const clv_option_t *row)
{
    char name[64];
    const char *line = row->meaning;

    snprintf(name, sizeof name, "%s%c%s--%s%s%s", row->letter ? "-" : "",
             row->letter ? row->letter : ' ', row->letter ? ", " : "", row->name,
             row->kind == CLV_OPTION_FLAG ? "" : " ", value_word(row));
    fprintf(out, " %s%-24s %-10s ", row->letter ? " " : "", name, row->preset ? row->preset : "");
    for (const char *end = strchr(line, '\n'); end != NULL; end = strchr(line, '\n')) {
        fprintf(out, "%.*s\n%-38s", (int) (end - line), line, "");
        line = end + 1;
    }
    fprintf(out, "%s\n", line);
}

void clv_options_help(const clv_program_t *program, FILE *out)
{
    fprintf(out, "usage: %s\n", program->usage);
    for (const clv_option_t *row = program->options; row->name != NULL; row++) {
        print_row(out, row);
    }
    if (program->more != NULL) {
        program->more(out);
    }
}
