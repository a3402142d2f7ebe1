/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The one dialect of JSON that clv's programs write (docs/guide/json.md): a flat object a line,
 * keys unique; values are texts, numbers, true, false, null and lists of numbers.
 *
 * Every line opens with program, record, version, time and host; keys end in their unit: _ns,
 * _bytes, _percent, _ppm. Not: a reader, nested objects.
 * Units: none of its own; times are ns.
 * Errors: those of the stream, for the caller to ask ferror.
 * Memory: nothing is allocated; the stream is the caller's.
 * Threads: one per stream.
 */
#ifndef CLV_CLI_JSON_H
#define CLV_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct clv_json {
    FILE *out;
    bool has_value; /* what comes next needs a comma */
} clv_json_t;

/* A text in its quotes: valid JSON whatever bytes it has (those that are no UTF-8 become U+FFFD),
 * and no end of a script where it stands in HTML. */
void clv_json_put_text(FILE *out, const char *text);

/* Opens a line: who wrote it, what kind of line it is, version, time and host. */
clv_json_t clv_json_begin(FILE *out, const char *program, const char *record);
void clv_json_end(clv_json_t *json);

void clv_json_text(clv_json_t *json, const char *key, const char *text);
void clv_json_number(clv_json_t *json, const char *key, double number); /* not finite: null */
void clv_json_whole(clv_json_t *json, const char *key, int64_t number);
void clv_json_flag(clv_json_t *json, const char *key, bool is_true);

/* A list: begin, items, end. Decimals are those that a value is worth writing with. */
void clv_json_list_begin(clv_json_t *json, const char *key);
void clv_json_item(clv_json_t *json, double number, int decimals);
void clv_json_list_end(clv_json_t *json);

#endif
