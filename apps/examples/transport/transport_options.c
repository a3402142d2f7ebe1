/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Walks the option table; knows kinds, not options.
 */
#include "apps/examples/transport/transport.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum kind { WHOLE, REAL, FLAG, TEXT };

typedef struct row {
    enum kind kind;
    const char *name;
    size_t offset;
    double preset, least, most;
    const char *meaning;
} row_t;

static const row_t rows[] = {
#define ROW(kind, name, preset, least, most, meaning)                                              \
    {kind, #name, offsetof(transport_options_t, name), preset, least, most, meaning},
    TRANSPORT_OPTION_MAP(ROW)
#undef ROW
};
#define N_ROWS (sizeof rows / sizeof rows[0])

static char problem[160];

static void store_text(const row_t *row, const char *text, transport_options_t *options)
{
    *(const char **) (void *) ((char *) options + row->offset) = text;
}

static void store(const row_t *row, double value, transport_options_t *options)
{
    char *field = (char *) options + row->offset;
    if (row->kind == TEXT) {
        store_text(row, NULL, options);
    } else if (row->kind == REAL) {
        *(double *) (void *) field = value;
    } else {
        *(int64_t *) (void *) field = (int64_t) value;
    }
}

static char dash_is_underscore(char letter)
{
    return letter == '-' ? '_' : letter;
}

/* Up to a '=' or the end. */
static int same_name(const char *given, const char *name)
{
    while (*name != '\0' && dash_is_underscore(*given) == *name) {
        given++;
        name++;
    }
    return *name == '\0' && (*given == '\0' || *given == '=');
}

static const row_t *find_row(const char *argument)
{
    for (size_t i = 0; i < N_ROWS; i++) {
        if (argument[0] == '-' && argument[1] == '-' && same_name(argument + 2, rows[i].name)) {
            return &rows[i];
        }
    }
    return NULL;
}

static const char *take_text(const row_t *row, const char *text, transport_options_t *options)
{
    if (text == NULL || text[0] == '\0') {
        (void) snprintf(problem, sizeof problem, "--%s wants a file", row->name);
        return problem;
    }
    store_text(row, text, options);
    return NULL;
}

static const char *take_value(const row_t *row, const char *text, transport_options_t *options)
{
    char *end = NULL;
    if (row->kind == TEXT) {
        return take_text(row, text, options);
    }
    const double value = text == NULL ? NAN : strtod(text, &end);
    const int is_number = text != NULL && end != text && *end == '\0';
    const int is_whole = row->kind == REAL || floor(value) == value;
    if (!is_number || !is_whole || !(value >= row->least && value <= row->most)) {
        (void) snprintf(problem, sizeof problem, "--%s wants a %snumber from %g to %g, not \"%s\"",
                        row->name, row->kind == WHOLE ? "whole " : "", row->least, row->most,
                        text == NULL ? "" : text);
        return problem;
    }
    store(row, value, options);
    return NULL;
}

const char *transport_options_parse(int argc, char **argv, transport_options_t *options)
{
    const char *wrong = NULL;
    for (size_t i = 0; i < N_ROWS; i++) {
        store(&rows[i], rows[i].preset, options);
    }
    for (int i = 1; i < argc && wrong == NULL; i++) {
        const row_t *row = find_row(argv[i]);
        if (row == NULL) {
            (void) snprintf(problem, sizeof problem, "no such option: %s", argv[i]);
            wrong = problem;
        } else if (strchr(argv[i], '=') != NULL) {
            wrong = take_value(row, strchr(argv[i], '=') + 1, options);
        } else if (row->kind == FLAG) {
            store(row, 1.0, options);
        } else {
            i++;
            wrong = take_value(row, i < argc ? argv[i] : NULL, options);
        }
    }
    return wrong;
}

void transport_options_help(FILE *out)
{
    static const char *const kinds[] = {"N", "X", "", "F"};
    for (size_t i = 0; i < N_ROWS; i++) {
        const row_t *row = &rows[i];
        (void) fprintf(out, "  --%-12s %-1s  %s", row->name, kinds[row->kind], row->meaning);
        if (row->kind == WHOLE || row->kind == REAL) {
            (void) fprintf(out, " (%g .. %g; %g)", row->least, row->most, row->preset);
        }
        (void) fprintf(out, "\n");
    }
}
