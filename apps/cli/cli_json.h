/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The JSON that clv's programs write (docs/guide/json.md): one flat object per line with unique
 * keys. Values are strings, numbers, true, false, null and lists of numbers.
 *
 * Every line opens with program, record, version, time and host; keys end in their unit: _ns,
 * _bytes, _percent, _ppm. Not: a reader, nested objects.
 * Units: none of its own; times are ns.
 * Errors: the stream's; the caller asks ferror.
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
    bool has_value; /* the next item needs a comma */
} clv_json_t;

/* Writes a quoted string. It is valid JSON for any bytes (those that are not UTF-8 become U+FFFD),
 * and in HTML it cannot end a script. */
void clv_json_put_text(FILE *out, const char *text);

/* Opens a line with program, kind of record, version, time and host. */
clv_json_t clv_json_begin(FILE *out, const char *program, const char *record);
void clv_json_end(clv_json_t *json);

void clv_json_text(clv_json_t *json, const char *key, const char *text);
void clv_json_number(clv_json_t *json, const char *key, double number); /* null if not finite */
void clv_json_whole(clv_json_t *json, const char *key, int64_t number);
void clv_json_flag(clv_json_t *json, const char *key, bool is_true);

/* A list: begin, items, end. decimals: as many as the value is precise to. */
void clv_json_list_begin(clv_json_t *json, const char *key);
void clv_json_item(clv_json_t *json, double number, int decimals);
void clv_json_list_end(clv_json_t *json);

#endif
