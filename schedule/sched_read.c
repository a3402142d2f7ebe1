/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parser of the golden format: one table of the keys in their mandatory order.
 */
#include "schedule/sched_read.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "schedule/sched_goal.h"
#include "schedule/sched_plan.h"
#include "util/util_alloc.h"

typedef struct reader {
    const char *at;
    const char *end;
    const char *line_end;
    clv_parsed_t *parsed;
    clv_parse_error_t *error;
    bool has_schedule;
    clv_builder_t tuples;
} reader_t;

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static clv_status_t
refuse(reader_t *reader, clv_status_t status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void) vsnprintf(reader->error->reason, sizeof reader->error->reason, format, arguments);
    va_end(arguments);
    return status;
}

/* ---- words and numbers of a line ------------------------------------------------------------- */

/* Accepts Windows line ends and tabs. */
static bool is_blank(char letter)
{
    return letter == ' ' || letter == '\t' || letter == '\r';
}

static size_t next_word(reader_t *reader, const char **word_p)
{
    while (reader->at < reader->line_end && is_blank(*reader->at)) {
        reader->at++;
    }
    *word_p = reader->at;
    while (reader->at < reader->line_end && !is_blank(*reader->at)) {
        reader->at++;
    }
    return (size_t) (reader->at - *word_p);
}

static bool is_word(const char *word, size_t length, const char *text)
{
    return strlen(text) == length && memcmp(word, text, length) == 0;
}

/* A decimal number in [low, high]. Nothing is skipped, rounded or wrapped around. */
static clv_status_t read_number(reader_t *reader, int64_t low, int64_t high, int64_t *number_p)
{
    const char *word;
    size_t length = next_word(reader, &word);
    size_t k = length > 0 && word[0] == '-';
    int64_t number = 0;

    if (k == length) {
        return refuse(reader, CLV_INVALID, "a number is missing");
    }
    for (int negative = (int) k; k < length; k++) {
        int64_t digit = word[k] - '0';
        if (digit < 0 || digit > 9) {
            return refuse(reader, CLV_INVALID, "not a decimal number");
        }
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, negative ? -digit : digit, &number)) {
            return refuse(reader, CLV_OVERFLOW, "a number does not fit 64 bits");
        }
    }
    if (number < low || number > high) {
        return refuse(reader, CLV_LIMIT, "%lld is outside %lld .. %lld", (long long) number,
                      (long long) low, (long long) high);
    }
    *number_p = number;
    return CLV_OK;
}

static clv_status_t read_int(reader_t *reader, int64_t low, int64_t high, int32_t *int_p)
{
    int64_t number = 0;
    clv_status_t status = read_number(reader, low, high, &number);
    if (status == CLV_OK) {
        *int_p = (int32_t) number;
    }
    return status;
}

static clv_status_t read_times(reader_t *reader, int64_t **times_p)
{
    int64_t *times_ns = clv_alloc((size_t) reader->parsed->instance.n_ranks, sizeof *times_ns);
    if (times_ns == NULL) {
        return refuse(reader, CLV_NO_MEMORY, "out of memory");
    }
    *times_p = times_ns;
    for (int32_t p = 0; p < reader->parsed->instance.n_ranks; p++) {
        clv_status_t status = read_number(reader, 0, INT64_MAX, &times_ns[p]);
        if (status != CLV_OK) {
            return status;
        }
    }
    return CLV_OK;
}

/* ---- one function per key -------------------------------------------------------------------- */

static clv_status_t read_ranks(reader_t *reader)
{
    return read_int(reader, 1, CLV_SCHED_MAX_RANKS, &reader->parsed->instance.n_ranks);
}

static clv_status_t read_segments(reader_t *reader)
{
    return read_int(reader, 1, CLV_SCHED_MAX_SEGMENTS, &reader->parsed->instance.n_segments);
}

static clv_status_t read_root(reader_t *reader)
{
    return read_int(reader, 0, reader->parsed->instance.n_ranks - 1,
                    &reader->parsed->instance.root);
}

static clv_status_t read_goal(reader_t *reader)
{
    const char *word;
    size_t length = next_word(reader, &word);
    char name[24] = "";
    if (length < sizeof name) {
        memcpy(name, word, length);
    }
    if (clv_goal_find(name, &reader->parsed->instance.goal) != CLV_OK) {
        return refuse(reader, CLV_INVALID, "no such goal");
    }
    return CLV_OK;
}

static clv_status_t read_round(reader_t *reader)
{
    return read_number(reader, 1, INT64_MAX, &reader->parsed->instance.round_ns);
}

static clv_status_t read_arrival(reader_t *reader)
{
    const char *reason;
    clv_status_t status = read_times(reader, &reader->parsed->arrival_ns);
    reader->parsed->instance.arrival_ns = reader->parsed->arrival_ns;
    if (status == CLV_OK) {
        status = clv_instance_check(&reader->parsed->instance, &reason);
        if (status != CLV_OK) {
            return refuse(reader, status, "%s", reason);
        }
    }
    return status;
}

static clv_status_t read_order(reader_t *reader)
{
    clv_status_t status = read_times(reader, &reader->parsed->order_ns);
    reader->parsed->instance.order_ns = reader->parsed->order_ns;
    return status;
}

static clv_status_t read_place(reader_t *reader)
{
    const int32_t n_ranks = reader->parsed->instance.n_ranks;
    int32_t *place = clv_alloc((size_t) n_ranks, sizeof *place);
    if (place == NULL) {
        return refuse(reader, CLV_NO_MEMORY, "out of memory");
    }
    reader->parsed->place = place;
    reader->parsed->instance.place = place;
    for (int32_t p = 0; p < n_ranks; p++) {
        clv_status_t status = read_int(reader, 0, n_ranks - 1, &place[p]);
        if (status != CLV_OK) {
            return status;
        }
    }
    return CLV_OK;
}

static clv_status_t read_sends(reader_t *reader)
{
    return read_number(reader, 0, INT64_MAX, &reader->parsed->n_sends);
}

static clv_status_t read_last_round(reader_t *reader)
{
    return read_number(reader, -1, INT32_MAX, &reader->parsed->last_round);
}

static clv_status_t read_hash(reader_t *reader)
{
    const char *word;
    uint64_t hash = 0;
    if (next_word(reader, &word) != 16) {
        return refuse(reader, CLV_INVALID, "the hash has not 16 digits");
    }
    for (int k = 0; k < 16; k++) {
        static const char digits[] = "0123456789abcdef";
        const char *digit = memchr(digits, word[k], 16);
        if (digit == NULL) {
            return refuse(reader, CLV_INVALID, "the hash is not hexadecimal");
        }
        hash = hash << 4 | (uint64_t) (digit - digits);
    }
    reader->parsed->has_hash = true;
    reader->parsed->hash = hash;
    return CLV_OK;
}

static clv_status_t read_schedule(reader_t *reader)
{
    reader->has_schedule = true;
    return CLV_OK;
}

/* ---- lines ----------------------------------------------------------------------------------- */

typedef struct golden_key {
    const char *name;
    bool required;
    clv_status_t (*read)(reader_t *reader);
} golden_key_t;

static const golden_key_t keys[] = {
    {"P", true, read_ranks},       {"N", true, read_segments},
    {"root", true, read_root},     {"goal", false, read_goal},
    {"d", true, read_round},       {"arrival", true, read_arrival},
    {"order", false, read_order},  {"place", false, read_place},
    {"sends", false, read_sends},  {"last_round", false, read_last_round},
    {"fnv1a64", false, read_hash}, {"schedule", false, read_schedule},
};
enum { N_KEYS = sizeof keys / sizeof *keys };

static bool next_line(reader_t *reader)
{
    if (reader->at >= reader->end) {
        return false;
    }
    const char *newline = memchr(reader->at, '\n', (size_t) (reader->end - reader->at));
    reader->line_end = newline == NULL ? reader->end : newline;
    reader->error->line++;
    return true;
}

static clv_status_t end_line(reader_t *reader)
{
    const char *word;
    if (next_word(reader, &word) != 0) {
        return refuse(reader, CLV_INVALID, "something follows the last value");
    }
    reader->at = reader->line_end + (reader->line_end < reader->end);
    return CLV_OK;
}

/* The word "copy", or nothing; anything else is left to end_line. */
static clv_send_kind_t read_kind(reader_t *reader)
{
    const char *const before = reader->at, *word;
    size_t length = next_word(reader, &word);
    if (is_word(word, length, "copy")) {
        return CLV_COPY;
    }
    reader->at = before;
    return CLV_MOVE;
}

/* After `schedule`: one send per tuple. */
static clv_status_t read_tuple(reader_t *reader)
{
    const clv_instance_t *instance = &reader->parsed->instance;
    const int64_t high[4] = {INT32_MAX - 1, instance->n_ranks - 1, instance->n_ranks - 1,
                             instance->n_segments - 1};
    int32_t number[4];
    for (int k = 0; k < 4; k++) {
        clv_status_t status = read_int(reader, 0, high[k], &number[k]);
        if (status != CLV_OK) {
            return status;
        }
    }
    if (clv_builder_reserve(&reader->tuples, 1) != CLV_OK) {
        return refuse(reader, CLV_NO_MEMORY, "out of memory");
    }
    reader->tuples.sends[reader->tuples.n_sends++] =
        clv_send_of(number[0], number[1], number[2], number[3], read_kind(reader));
    return CLV_OK;
}

/* Reads the key that the line begins with, at or after *next_p; required keys cannot be skipped. */
static clv_status_t read_key(reader_t *reader, int *next_p)
{
    const char *word;
    size_t length = next_word(reader, &word);
    for (int k = *next_p; k < N_KEYS; k++) {
        if (is_word(word, length, keys[k].name)) {
            *next_p = k + 1;
            return keys[k].read(reader);
        }
        if (keys[k].required) {
            return refuse(reader, CLV_INVALID, "expected '%s'", keys[k].name);
        }
    }
    return refuse(reader, CLV_INVALID, "unexpected '%.*s'", length > 20 ? 20 : (int) length, word);
}

static clv_status_t read_lines(reader_t *reader)
{
    int next = 0;
    while (next_line(reader)) {
        clv_status_t status = next < N_KEYS ? read_key(reader, &next) : read_tuple(reader);
        if (status == CLV_OK) {
            status = end_line(reader);
        }
        if (status != CLV_OK) {
            return status;
        }
    }
    if (next < N_KEYS && keys[next].required) {
        reader->error->line++;
        return refuse(reader, CLV_INVALID, "expected '%s', found the end", keys[next].name);
    }
    return CLV_OK;
}

clv_status_t clv_instance_parse(const char *text, size_t n_bytes, clv_parsed_t *parsed_p,
                                clv_parse_error_t *error_p)
{
    clv_parsed_t parsed = {.n_sends = -1, .last_round = -1};
    reader_t reader = {
        .at = text, .end = text + n_bytes, .line_end = text, .parsed = &parsed, .error = error_p};

    *error_p = (clv_parse_error_t){0};
    clv_status_t status = read_lines(&reader);
    if (status == CLV_OK && reader.has_schedule) {
        status = clv_builder_finish(&reader.tuples, &parsed.instance, &parsed.plan);
    }
    clv_builder_drop(&reader.tuples);
    if (status != CLV_OK) {
        clv_parsed_free(&parsed);
        return status;
    }
    *parsed_p = parsed;
    return CLV_OK;
}

void clv_parsed_free(clv_parsed_t *parsed)
{
    clv_plan_free(parsed->plan);
    clv_free(parsed->place);
    clv_free(parsed->order_ns);
    clv_free(parsed->arrival_ns);
    *parsed = (clv_parsed_t){0};
}
