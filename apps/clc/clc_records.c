/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Clock records: flat JSON objects, one per line.
 */
#include "apps/clc/clc_records.h"

#include <stdbool.h>
#include <string.h>

#include "util/util_alloc.h"

typedef struct cursor {
    const char *at, *end; /* of one line */
} cursor_t;

/* XX(name) */
#define NUMBER_MAP(XX) XX(clv_clock) XX(local_ns) XX(offset_ns) XX(bound_ns) XX(round_trip_ns)
#define TEXT_MAP(XX)   XX(host) XX(boot_id) XX(time_namespace) XX(clock)

/* The fields of one line: 0 and "" if absent. */
typedef struct fields {
#define FIELD(name) int64_t name;
    NUMBER_MAP(FIELD)
#undef FIELD
#define FIELD(name) char name[CLV_CLC_NAME_BYTES];
    TEXT_MAP(FIELD)
#undef FIELD
    bool has_local;
} fields_t;

static void skip_blanks(cursor_t *cursor)
{
    while (cursor->at < cursor->end && strchr(" \t\r", *cursor->at) && *cursor->at) {
        cursor->at++;
    }
}

static bool take(cursor_t *cursor, char wanted)
{
    skip_blanks(cursor);
    if (cursor->at < cursor->end && *cursor->at == wanted) {
        cursor->at++;
        return true;
    }
    return false;
}

/* Reads a string without decoding escapes, which names of hosts and boots never have. Cuts long
 * ones. */
static bool take_string(cursor_t *cursor, char *text)
{
    size_t n = 0;
    if (!take(cursor, '"')) {
        return false;
    }
    for (; cursor->at < cursor->end && *cursor->at != '"'; cursor->at++) {
        if (*cursor->at == '\\' && ++cursor->at == cursor->end) {
            return false;
        }
        if (n + 1 < CLV_CLC_NAME_BYTES) {
            text[n++] = *cursor->at;
        }
    }
    text[n] = '\0';
    return take(cursor, '"');
}

/* Digit by digit: strtod would read beyond the end of the text. Integers keep all their digits. */
static bool take_number(cursor_t *cursor, int64_t *number)
{
    skip_blanks(cursor);
    const bool is_negative = take(cursor, '-');
    int64_t value = 0;
    int n_digits = 0;
    for (; cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9'; cursor->at++) {
        if (++n_digits > 18) {
            return false;
        }
        value = 10 * value + (*cursor->at - '0');
    }
    if (n_digits > 0 && cursor->at < cursor->end && *cursor->at == '.') {
        cursor->at++;
        value += cursor->at < cursor->end && *cursor->at >= '5' && *cursor->at <= '9';
        while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9') {
            cursor->at++;
        }
    }
    *number = is_negative ? -value : value;
    return n_digits > 0;
}

static int64_t *number_of(fields_t *fields, const char *key)
{
#define FIELD(name)                                                                                \
    if (!strcmp(key, #name)) {                                                                     \
        return &fields->name;                                                                      \
    }
    NUMBER_MAP(FIELD)
#undef FIELD
    return NULL;
}

static char *text_of(fields_t *fields, const char *key)
{
#define FIELD(name)                                                                                \
    if (!strcmp(key, #name)) {                                                                     \
        return fields->name;                                                                       \
    }
    TEXT_MAP(FIELD)
#undef FIELD
    return NULL;
}

static bool take_word(cursor_t *cursor)
{
    const char *first = cursor->at;
    while (cursor->at < cursor->end && *cursor->at >= 'a' && *cursor->at <= 'z') {
        cursor->at++;
    }
    return cursor->at > first;
}

static bool take_value(cursor_t *cursor, const char *key, fields_t *fields)
{
    char other[CLV_CLC_NAME_BYTES];
    int64_t number;
    skip_blanks(cursor);
    if (cursor->at < cursor->end && *cursor->at == '"') {
        char *text = text_of(fields, key);
        return take_string(cursor, text ? text : other);
    }
    if (cursor->at < cursor->end && *cursor->at >= 'a' && *cursor->at <= 'z') {
        return take_word(cursor);
    }
    if (!take_number(cursor, &number)) {
        return false;
    }
    int64_t *own = number_of(fields, key);
    if (own) {
        *own = number;
        fields->has_local |= own == &fields->local_ns;
    }
    return true;
}

/* Reads a flat object with nothing after it. */
static bool take_object(cursor_t *cursor, fields_t *fields)
{
    char key[CLV_CLC_NAME_BYTES];
    if (!take(cursor, '{')) {
        return false;
    }
    while (!take(cursor, '}')) {
        if (!take_string(cursor, key) || !take(cursor, ':') || !take_value(cursor, key, fields)) {
            return false;
        }
        if (!take(cursor, ',')) {
            if (!take(cursor, '}')) {
                return false;
            }
            break;
        }
    }
    skip_blanks(cursor);
    return cursor->at == cursor->end;
}

/* ---- what the lines mean ---- */

static clv_status_t grow(void **array, int64_t n, int64_t *n_slots, size_t item_bytes)
{
    if (n < *n_slots) {
        return CLV_OK;
    }
    const int64_t wanted = 2 * n + 16;
    void *larger = clv_alloc((size_t) wanted, item_bytes);
    if (!larger) {
        return CLV_NO_MEMORY;
    }
    if (n > 0) {
        memcpy(larger, *array, (size_t) n * item_bytes);
    }
    clv_free(*array);
    *array = larger;
    *n_slots = wanted;
    return CLV_OK;
}

static bool is_same(const clv_clc_source_t *source, const fields_t *fields)
{
    return !strcmp(source->host, fields->host) && !strcmp(source->boot_id, fields->boot_id) &&
           !strcmp(source->time_namespace, fields->time_namespace) &&
           !strcmp(source->clock, fields->clock);
}

static clv_status_t open_source(clv_clc_sources_t *sources, const fields_t *fields,
                                int64_t *current)
{
    for (*current = 0; *current < sources->n_sources; (*current)++) {
        if (is_same(&sources->sources[*current], fields)) {
            break;
        }
    }
    if (*current == sources->n_sources) {
        void *array = sources->sources;
        const clv_status_t status =
            grow(&array, sources->n_sources, &sources->n_slots, sizeof *sources->sources);
        if (status != CLV_OK) {
            return status;
        }
        sources->sources = array;
        clv_clc_source_t *source = &sources->sources[sources->n_sources++];
        memcpy(source->host, fields->host, sizeof source->host);
        memcpy(source->boot_id, fields->boot_id, sizeof source->boot_id);
        memcpy(source->time_namespace, fields->time_namespace, sizeof source->time_namespace);
        memcpy(source->clock, fields->clock, sizeof source->clock);
    }
    clv_clc_source_t *source = &sources->sources[*current];
    const int64_t trip = fields->round_trip_ns;
    if (trip > 0 && (source->round_trip_ns == 0 || trip < source->round_trip_ns)) {
        source->round_trip_ns = trip;
    }
    return CLV_OK;
}

static clv_status_t add_point(clv_clc_source_t *source, const fields_t *fields)
{
    void *array = source->points;
    const clv_status_t status =
        grow(&array, source->n_points, &source->n_slots, sizeof *source->points);
    if (status == CLV_OK) {
        source->points = array;
        source->points[source->n_points++] =
            (clv_clc_point_t){fields->local_ns, fields->offset_ns, fields->bound_ns};
    }
    return status;
}

static clv_status_t take_line(clv_clc_sources_t *sources, cursor_t *cursor, int64_t *current,
                              const char **reason)
{
    fields_t fields = {0};
    skip_blanks(cursor);
    if (cursor->at == cursor->end) {
        return CLV_OK;
    }
    *reason = "not a flat JSON object";
    if (!take_object(cursor, &fields)) {
        return CLV_PROTOCOL;
    }
    if (fields.clv_clock != 0) {
        *reason = "a version this program does not know";
        return fields.clv_clock == 1 ? open_source(sources, &fields, current) : CLV_PROTOCOL;
    }
    if (!fields.has_local) {
        return CLV_OK;
    }
    *reason = "a point before the header of its clock";
    return *current < 0 ? CLV_PROTOCOL : add_point(&sources->sources[*current], &fields);
}

clv_status_t clv_clc_records_read(clv_clc_sources_t *sources, const char *text, size_t n_bytes,
                                  const char **reason, int64_t *line)
{
    const char *end = text + n_bytes;
    int64_t current = -1;
    for (*line = 1; text < end; (*line)++) {
        const char *newline = memchr(text, '\n', (size_t) (end - text));
        cursor_t cursor = {text, newline ? newline : end};
        const clv_status_t status = take_line(sources, &cursor, &current, reason);
        if (status != CLV_OK) {
            *reason = status == CLV_NO_MEMORY ? "out of memory" : *reason;
            return status;
        }
        text = newline ? newline + 1 : end;
    }
    for (int64_t i = 0; i < sources->n_sources; i++) {
        clv_clc_source_t *source = &sources->sources[i];
        source->n_points = clv_clc_points_sort(source->points, source->n_points);
    }
    return CLV_OK;
}

void clv_clc_records_free(clv_clc_sources_t *sources)
{
    for (int64_t i = 0; i < sources->n_sources; i++) {
        clv_free(sources->sources[i].points);
    }
    clv_free(sources->sources);
    *sources = (clv_clc_sources_t){0};
}
