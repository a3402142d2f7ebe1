/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads a trace that is not trusted: lines have a maximum length, numbers a range, and memory grows
 * with the calls in the file, not with the number it announces. See trace.h.
 */
#include "apps/trace/trace.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "util/util_alloc.h"

#define FIRST_LINE_ROOM 4096
#define BLANKS          " \t\r"

typedef struct reader {
    FILE *file;
    char *text; /* the line, without its newline */
    size_t length;
    size_t room;
    clv_trace_t trace;
    bool has_header;
} reader_t;

/* ---- words: each returns NULL or what is wrong, and moves *text behind what it took ---------- */

static const char *get_number(const char **text, int64_t *number_p)
{
    const char *at = *text + strspn(*text, BLANKS);
    bool is_negative = *at == '-';
    int64_t number = 0;

    at += is_negative;
    if (*at < '0' || *at > '9') {
        return "a number is missing";
    }
    for (; *at >= '0' && *at <= '9'; at++) {
        /* At more than a tenth of the limit, one more digit could overflow the type. */
        number = number > CLV_TRACE_MAX_NS / 10 ? CLV_TRACE_MAX_NS + 1 : 10 * number + (*at - '0');
        if (number > CLV_TRACE_MAX_NS) {
            return "a number is out of range";
        }
    }
    *text = at;
    *number_p = is_negative ? -number : number;
    return NULL;
}

static bool skip_word(const char **text, const char *word)
{
    const char *at = *text + strspn(*text, BLANKS);
    size_t length = strlen(word);

    if (strncmp(at, word, length) != 0) {
        return false;
    }
    *text = at + length;
    return true;
}

static const char *get_end(const char *text, const char *otherwise)
{
    return text[strspn(text, BLANKS)] == '\0' ? NULL : otherwise;
}

static const char *get_times(const char **text, int32_t n_ranks, int64_t *times_ns)
{
    const char *problem = skip_word(text, "|") ? NULL : "expected |";

    for (int32_t rank = 0; problem == NULL && rank < n_ranks; rank++) {
        problem = get_number(text, &times_ns[rank]);
    }
    return problem;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static const char *get_version(const char *text)
{
    int64_t version = 0;

    if (!skip_word(&text, "clv-trace ") || get_number(&text, &version) != NULL) {
        return "expected \"clv-trace 1\"";
    }
    return version == CLV_TRACE_VERSION ? get_end(text, "expected \"clv-trace 1\"")
                                        : "a version of the format that is not known here";
}

static const char *get_ranks(const char *text, clv_trace_t *trace)
{
    int64_t n_ranks = 0;
    const char *problem = skip_word(&text, "ranks ") ? NULL : "expected \"ranks N\"";

    if (problem == NULL) {
        problem = get_number(&text, &n_ranks);
    }
    if (problem == NULL && (n_ranks < 1 || n_ranks > CLV_TRACE_MAX_RANKS)) {
        problem = "the number of ranks is out of range";
    }
    if (problem == NULL) {
        problem = get_end(text, "expected \"ranks N\"");
    }
    if (problem == NULL) {
        trace->n_ranks = (int32_t) n_ranks;
    }
    return problem;
}

/* The next row is already reserved. */
static const char *get_call(const char *text, clv_trace_t *trace)
{
    int32_t call = trace->n_calls;
    const int64_t *arrival_ns = clv_trace_arrivals(trace, call);
    const int64_t *exit_ns = clv_trace_exits(trace, call);
    const char *problem = get_number(&text, &trace->number[call]);

    if (problem == NULL && trace->number[call] <= (call == 0 ? -1 : trace->number[call - 1])) {
        problem = "call numbers must ascend";
    }
    if (problem == NULL) {
        problem = get_times(&text, trace->n_ranks, clv_trace_arrivals(trace, call));
    }
    if (problem == NULL) {
        problem = get_times(&text, trace->n_ranks, clv_trace_exits(trace, call));
    }
    for (int32_t rank = 0; problem == NULL && rank < trace->n_ranks; rank++) {
        problem = exit_ns[rank] < arrival_ns[rank] ? "a rank leaves before it arrives" : NULL;
    }
    if (problem == NULL) {
        problem = get_end(text, "more numbers than ranks");
    }
    trace->n_calls += problem == NULL;
    return problem;
}

static clv_status_t make_room(clv_trace_t *trace, const char **reason_p)
{
    int32_t most = clv_trace_max_calls(trace->n_ranks);
    int32_t wanted = trace->n_calls == 0 ? 1 : 2 * trace->n_calls;

    if (trace->n_calls < trace->max_calls) {
        return CLV_OK;
    }
    if (trace->n_calls == most) {
        *reason_p = "too many calls";
        return CLV_LIMIT;
    }
    return clv_trace_reserve(trace, wanted < most ? wanted : most);
}

static clv_status_t take_line(reader_t *reader, const char **reason_p)
{
    const char *text = reader->text;
    clv_trace_t *trace = &reader->trace;
    clv_status_t status = CLV_OK;

    if (text[0] == '#' || get_end(text, "") == NULL) {
        return CLV_OK;
    }
    if (!reader->has_header) {
        *reason_p = get_version(text);
        reader->has_header = true;
    } else if (trace->n_ranks == 0) {
        *reason_p = get_ranks(text, trace);
    } else if (skip_word(&text, "call ")) {
        status = make_room(trace, reason_p);
        *reason_p = status == CLV_OK ? get_call(text, trace) : *reason_p;
    } else if (trace->n_calls > 0 || !skip_word(&text, "about ")) {
        *reason_p = "expected \"call\"";
    }
    return *reason_p == NULL ? status : CLV_PROTOCOL;
}

/* ---- the file -------------------------------------------------------------------------------- */

static clv_status_t put_byte(reader_t *reader, char byte)
{
    if (reader->length == reader->room) {
        size_t room = reader->room == 0 ? FIRST_LINE_ROOM : 2 * reader->room;
        char *text = clv_alloc(room, 1);
        if (text == NULL) {
            return CLV_NO_MEMORY;
        }
        if (reader->length > 0) {
            memcpy(text, reader->text, reader->length);
        }
        clv_free(reader->text);
        reader->text = text;
        reader->room = room;
    }
    reader->text[reader->length++] = byte;
    return CLV_OK;
}

/* CLV_NONE: end of file. */
static clv_status_t next_line(reader_t *reader, const char **reason_p)
{
    clv_status_t status = CLV_OK;
    int byte;

    reader->length = 0;
    while ((byte = getc(reader->file)) != EOF && byte != '\n' && status == CLV_OK) {
        if (byte == '\0' || reader->length == CLV_TRACE_MAX_LINE) {
            *reason_p = byte == '\0' ? "a zero byte" : "line too long";
            return CLV_PROTOCOL;
        }
        status = put_byte(reader, (char) byte);
    }
    if (status == CLV_OK && ferror(reader->file)) {
        status = CLV_SYSTEM;
    }
    if (status == CLV_OK && byte == EOF && reader->length == 0) {
        return CLV_NONE;
    }
    return status == CLV_OK ? put_byte(reader, '\0') : status;
}

/* A pipe made by a shell has a writer; a named FIFO may never get one. */
FILE *clv_trace_open(const char *path, const char **reason_p)
{
    struct stat status;
    FILE *file = NULL;

    if (stat(path, &status) == 0 && S_ISFIFO(status.st_mode) && strncmp(path, "/dev/fd/", 8) != 0 &&
        strncmp(path, "/proc/", 6) != 0) {
        *reason_p = "a FIFO: hand it in as standard input";
        return NULL;
    }
    file = fopen(path, "r");
    if (file == NULL) {
        *reason_p = strerror(errno);
    }
    return file;
}

clv_status_t clv_trace_read(FILE *file, clv_trace_t *trace, int *line_p, const char **reason_p)
{
    reader_t reader = {.file = file};
    clv_status_t status = CLV_OK;

    *line_p = 0;
    *reason_p = NULL;
    while (status == CLV_OK) {
        ++*line_p;
        status = next_line(&reader, reason_p);
        if (status == CLV_OK) {
            status = take_line(&reader, reason_p);
        }
    }
    clv_free(reader.text);
    if (status == CLV_NONE && reader.trace.n_calls == 0) {
        *reason_p = "no calls";
        status = CLV_PROTOCOL;
    }
    if (status != CLV_NONE) {
        clv_trace_clear(&reader.trace);
        return status;
    }
    *trace = reader.trace;
    return CLV_OK;
}
