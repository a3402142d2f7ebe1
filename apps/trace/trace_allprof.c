/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading liballprof's text (see trace_allprof.h). The input is not trusted: numbers have ranges,
 * lines a maximum length, and each rank must have its file.
 */
#include "apps/trace/trace_allprof.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/trace/trace.h"
#include "util/util_alloc.h"
#include "util/util_min_max.h"
#include "util/util_text.h"

#define MAX_FIELDS    24                 /* further ones are ignored */
#define MAX_STAMP_NS  (INT64_C(1) << 62) /* the year 2116 */
#define MAX_OFFSET_NS INT64_C(3600000000000)
#define MAX_NUMBER    (INT64_C(1) << 40)
#define MAX_BYTES     (INT64_C(1) << 54)

const clv_allprof_row_t clv_allprof_ops[CLV_ALLPROF_N_OPS] = {
#define OP_ROW(function, name, count, root) {#function, name, count, root},
    CLV_ALLPROF_OP_MAP(OP_ROW)
#undef OP_ROW
};

typedef struct reader {
    clv_allprof_t *trace;
    clv_allprof_rank_t *rank; /* of the file being read */
    int32_t number;
    bool has_init, has_init_offset, has_finalize_offset;
    char *text;
    char *fields[MAX_FIELDS];
    int n_fields;
} reader_t;

/* ---- numbers --------------------------------------------------------------------------------- */

/* Reads a whole number, possibly negative, that ends at a comma or at the end. False: not a
 * number. */
static bool get_whole(const char *text, int64_t most, int64_t *number_p)
{
    const bool is_negative = *text == '-';
    int64_t number = 0;

    text += is_negative;
    if (*text < '0' || *text > '9') {
        return false;
    }
    for (; *text >= '0' && *text <= '9'; text++) {
        if (number > (most - (*text - '0')) / 10) {
            return false;
        }
        number = 10 * number + (*text - '0');
    }
    *number_p = is_negative ? -number : number;
    return *text == '\0' || *text == ',';
}

/* Converts microseconds with a fraction to ns. Digits beyond ns are dropped. */
static bool get_us(const char *text, int64_t most_ns, int64_t *ns_p)
{
    char whole[24];
    const size_t n = strcspn(text, ".");
    int64_t us, ns = 0;

    if (n >= sizeof whole) {
        return false;
    }
    memcpy(whole, text, n);
    whole[n] = '\0';
    if (!get_whole(whole, most_ns / 1000 - 1, &us)) {
        return false;
    }
    text += n + (text[n] == '.');
    for (int scale = 100; *text >= '0' && *text <= '9'; text++, scale /= 10) {
        ns += scale * (*text - '0');
    }
    *ns_p = 1000 * us + (whole[0] == '-' ? -ns : ns);
    return *text == '\0';
}

/* Reads part number `at` of "1,2,3", from 0. */
static bool get_part(const char *text, int at, int64_t *number_p)
{
    for (; at > 0; at--) {
        text = strchr(text, ',');
        if (text == NULL) {
            return false;
        }
        text++;
    }
    return get_whole(text, INT64_MAX - 10, number_p);
}

/* ---- a call ---------------------------------------------------------------------------------- */

static int op_of(const char *function)
{
    int op = 0;

    while (op < CLV_ALLPROF_N_OPS && strcmp(clv_allprof_ops[op].function, function) != 0) {
        op++;
    }
    return op;
}

/* 1: a communicator of all ranks; 0: another one; -1: not a communicator. */
static int is_world(reader_t *reader, const char *text)
{
    clv_allprof_rank_t *rank = reader->rank;
    int64_t own, n_ranks;

    if (!get_part(text, 1, &own) || !get_part(text, 2, &n_ranks) || own < 0 || own >= n_ranks ||
        n_ranks > CLV_ALLPROF_MAX_RANKS) {
        return -1;
    }
    rank->n_ranks = (int32_t) clv_larger(rank->n_ranks, n_ranks);
    return n_ranks == reader->trace->n_ranks && own == reader->number;
}

static clv_status_t add_call(clv_allprof_rank_t *rank, const clv_allprof_call_t *call,
                             const char **reason_p)
{
    if (rank->n_calls == rank->max_calls) {
        const int64_t max = rank->max_calls == 0 ? 1024 : 2 * rank->max_calls;
        clv_allprof_call_t *calls =
            max > CLV_ALLPROF_MAX_CALLS ? NULL : clv_alloc_unset((size_t) max, sizeof *calls);
        if (calls == NULL) {
            *reason_p = max > CLV_ALLPROF_MAX_CALLS ? "too many calls" : "out of memory";
            return max > CLV_ALLPROF_MAX_CALLS ? CLV_PROTOCOL : CLV_NO_MEMORY;
        }
        if (rank->n_calls > 0) {
            memcpy(calls, rank->calls, (size_t) rank->n_calls * sizeof *calls);
        }
        clv_free(rank->calls);
        rank->calls = calls;
        rank->max_calls = max;
    }
    rank->calls[rank->n_calls++] = *call;
    return CLV_OK;
}

/* Reads count, type and root. Returns NULL, or what is wrong. */
static const char *get_arguments(const reader_t *reader, int op, int comm_at,
                                 clv_allprof_call_t *call)
{
    const clv_allprof_row_t *row = &clv_allprof_ops[op];
    char *const *fields = reader->fields;
    int64_t count = 0, size = 0, root = -1;

    if (row->count_at > 0 &&
        (row->count_at + 1 >= comm_at || !get_whole(fields[row->count_at], MAX_NUMBER, &count) ||
         count < 0 || !get_part(fields[row->count_at + 1], 1, &size) || size < 0 ||
         (count > 0 && size > MAX_BYTES / count))) {
        return "no such count and type";
    }
    if (row->has_root && (!get_whole(fields[comm_at - 1], INT32_MAX, &root) || root < 0 ||
                          root >= reader->trace->n_ranks)) {
        return "no such root";
    }
    call->bytes = count * size;
    call->root = (int32_t) root;
    call->op = op;
    return NULL;
}

static clv_status_t take_op(reader_t *reader, int op, const clv_allprof_call_t *times,
                            const char **reason_p)
{
    const int comm_at = reader->n_fields - 2;
    clv_allprof_call_t call = *times;

    if (comm_at < 2) {
        *reason_p = "fields are missing";
        return CLV_PROTOCOL;
    }
    const int world = is_world(reader, reader->fields[comm_at]);
    if (world <= 0) {
        reader->trace->n_other_comms += world == 0;
        *reason_p = "no such communicator";
        return world == 0 ? CLV_OK : CLV_PROTOCOL;
    }
    *reason_p = get_arguments(reader, op, comm_at, &call);
    return *reason_p != NULL ? CLV_PROTOCOL : add_call(reader->rank, &call, reason_p);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void split(reader_t *reader)
{
    char *at = reader->text;

    for (reader->n_fields = 0; at != NULL && reader->n_fields < MAX_FIELDS;) {
        reader->fields[reader->n_fields++] = at;
        at = strchr(at, ':');
        if (at != NULL) {
            *at++ = '\0';
        }
    }
    if (at != NULL) { /* of arrays: the last parts count */
        char *last = strrchr(at, ':'), *end = last == NULL ? at : last + 1;
        reader->fields[MAX_FIELDS - 1] = end;
    }
}

/* Reads "Init clockdiff: -1.5" and "host: n3"; ignores other comments. */
static const char *take_comment(reader_t *reader, char *text)
{
    clv_allprof_rank_t *rank = reader->rank;
    const char *value = strstr(text, ": ");
    int64_t us_ns;

    if (value == NULL) {
        return NULL;
    }
    value += 2;
    if (strncmp(text, "host: ", 6) == 0) {
        (void) snprintf(rank->host, sizeof rank->host, "%s", value);
        clv_text_make_plain(rank->host);
    }
    const bool is_init = strncmp(text, "Init clockdiff: ", 16) == 0;
    if (!is_init && strncmp(text, "Finalize clockdiff: ", 20) != 0) {
        return NULL;
    }
    if (!get_us(value, MAX_OFFSET_NS, &us_ns)) {
        return "no such clock offset, or one beyond an hour";
    }
    *(is_init ? &rank->init_offset_ns : &rank->finalize_offset_ns) = us_ns;
    *(is_init ? &reader->has_init_offset : &reader->has_finalize_offset) = true;
    return NULL;
}

static clv_status_t take_call(reader_t *reader, const char **reason_p)
{
    clv_allprof_rank_t *rank = reader->rank;
    clv_allprof_call_t times = {0};
    const bool is_init = strncmp(reader->text, "MPI_Init", 8) == 0;
    const bool is_finalize = strncmp(reader->text, "MPI_Finalize", 12) == 0;
    const int64_t before_ns = rank->n_calls > 0 ? rank->calls[rank->n_calls - 1].end_ns : 0;

    split(reader);
    *reason_p = "no such time";
    if (reader->n_fields < 3 ||
        (!is_init && !get_us(reader->fields[1], MAX_STAMP_NS, &times.begin_ns)) ||
        (!is_finalize &&
         !get_us(reader->fields[reader->n_fields - 1], MAX_STAMP_NS, &times.end_ns))) {
        return CLV_PROTOCOL;
    }
    if (is_init || is_finalize) {
        *(is_init ? &rank->init_ns : &rank->finalize_ns) = is_init ? times.end_ns : times.begin_ns;
        reader->has_init |= is_init;
        return CLV_OK;
    }
    *reason_p = "a call ends before it begins";
    if (times.begin_ns < 0 || times.end_ns < times.begin_ns) {
        return CLV_PROTOCOL;
    }
    *reason_p = "a call begins before the one above has ended";
    if (times.begin_ns < before_ns) {
        return CLV_PROTOCOL;
    }
    const int op = op_of(reader->text);
    return op == CLV_ALLPROF_N_OPS ? CLV_OK : take_op(reader, op, &times, reason_p);
}

static clv_status_t take_line(reader_t *reader, const char **reason_p)
{
    size_t n = strlen(reader->text);

    if (n == 0 || reader->text[n - 1] != '\n') {
        *reason_p =
            n + 1 == CLV_ALLPROF_MAX_LINE ? "line too long" : "the line is cut, or has a zero byte";
        return CLV_PROTOCOL;
    }
    while (n > 0 && strchr("\r\n ", reader->text[n - 1]) != NULL) {
        reader->text[--n] = '\0';
    }
    if (n == 0) {
        return CLV_OK;
    }
    if (reader->text[0] == '#') {
        *reason_p = take_comment(reader, reader->text + 1 + strspn(reader->text + 1, " "));
        return *reason_p == NULL ? CLV_OK : CLV_PROTOCOL;
    }
    *reason_p = "expected an MPI call";
    return strncmp(reader->text, "MPI_", 4) == 0 ? take_call(reader, reason_p) : CLV_PROTOCOL;
}

static clv_status_t read_lines(reader_t *reader, FILE *file, int64_t *line_p, const char **reason_p)
{
    clv_status_t status = CLV_OK;

    while (status == CLV_OK && fgets(reader->text, CLV_ALLPROF_MAX_LINE, file) != NULL) {
        ++*line_p;
        status = take_line(reader, reason_p);
    }
    if (status == CLV_OK && ferror(file)) {
        *reason_p = strerror(errno);
        return CLV_SYSTEM;
    }
    if (status == CLV_OK && (!reader->has_init || reader->rank->finalize_ns == 0 ||
                             !reader->has_init_offset || !reader->has_finalize_offset)) {
        *reason_p = "cut: the file has no MPI_Init and MPI_Finalize with their clockdiff";
        return CLV_PROTOCOL;
    }
    return status;
}

static clv_status_t read_rank(reader_t *reader, int32_t number, char *reason, size_t size)
{
    const char *why = NULL;
    int64_t line = 0;
    clv_status_t status = CLV_SYSTEM;

    *reader = (reader_t){.trace = reader->trace, .text = reader->text, .number = number};
    reader->rank = &reader->trace->ranks[number];
    FILE *file = clv_trace_open(reader->rank->path, &why);
    if (file != NULL) {
        status = read_lines(reader, file, &line, &why);
        (void) fclose(file);
    }
    if (status != CLV_OK) {
        (void) snprintf(reason, size, "%s, line %lld: %s", reader->rank->path, (long long) line,
                        why);
    }
    return status;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The number before the file extension, or -1. */
static int32_t number_of(const char *name)
{
    const char *end = strrchr(name, '.'), *at = end;
    int64_t number = -1;
    char digits[8] = "";

    if (end == NULL || (strcmp(end, ".txt") != 0 && strcmp(end, ".dat") != 0)) {
        return -1;
    }
    while (at > name && at[-1] >= '0' && at[-1] <= '9') {
        at--;
    }
    if (at == end || end - at >= (int) sizeof digits) {
        return -1;
    }
    memcpy(digits, at, (size_t) (end - at));
    return get_whole(digits, CLV_ALLPROF_MAX_RANKS - 1, &number) ? (int32_t) number : -1;
}

static char *path_of(const char *folder, const char *name)
{
    const size_t n = strlen(folder) + strlen(name) + 2;
    char *path = clv_alloc(n, 1);

    if (path != NULL) {
        (void) snprintf(path, n, "%s/%s", folder, name);
    }
    return path;
}

static bool has_head(const char *path)
{
    const char *why;
    char line[256] = "";
    FILE *file = clv_trace_open(path, &why);
    const bool has_line = file != NULL && fgets(line, sizeof line, file) != NULL;

    if (file != NULL) {
        (void) fclose(file);
    }
    return has_line && line[0] == '#' && strstr(line, "prof ") != NULL &&
           strstr(line, " output file") != NULL;
}

/* Returns the path of the next file of that format, for clv_free. NULL: no more, or no memory. */
static char *next_file(DIR *folder, const char *name, int32_t *number_p)
{
    const struct dirent *entry;

    while ((entry = readdir(folder)) != NULL) {
        *number_p = number_of(entry->d_name);
        char *path = *number_p < 0 ? NULL : path_of(name, entry->d_name);
        if (path != NULL && has_head(path)) {
            return path;
        }
        clv_free(path);
    }
    return NULL;
}

bool clv_allprof_is_there(const char *name)
{
    DIR *folder = opendir(name);
    int32_t number;
    char *path = folder == NULL ? NULL : next_file(folder, name, &number);

    if (folder != NULL) {
        (void) closedir(folder);
    }
    clv_free(path);
    return path != NULL;
}

static clv_status_t fail(char *reason, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static clv_status_t fail(char *reason, size_t size, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void) vsnprintf(reason, size, format, arguments);
    va_end(arguments);
    return CLV_PROTOCOL;
}

static clv_status_t find_files(const char *name, clv_allprof_t *trace, char *reason, size_t size)
{
    DIR *folder = opendir(name);
    clv_status_t status = CLV_OK;
    int32_t number;
    char *path;

    if (folder == NULL) {
        (void) fail(reason, size, "%s: %s", name, strerror(errno));
        return CLV_SYSTEM;
    }
    while (status == CLV_OK && (path = next_file(folder, name, &number)) != NULL) {
        if (trace->ranks[number].path != NULL) {
            status = fail(reason, size, "%s: rank %d has two files", path, (int) number);
            clv_free(path);
        } else {
            trace->ranks[number].path = path;
            trace->n_ranks++;
        }
    }
    (void) closedir(folder);
    for (int32_t i = 0; i < trace->n_ranks && status == CLV_OK; i++) {
        if (trace->ranks[i].path == NULL) {
            status = fail(reason, size, "%s: the file of rank %d is missing", name, (int) i);
        }
    }
    return status == CLV_OK && trace->n_ranks == 0
               ? fail(reason, size, "%s: no liballprof files in it", name)
               : status;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Checks that a rank's collectives agree with those of the others, one by one. */
static clv_status_t compare(const clv_allprof_t *trace, const clv_allprof_rank_t *rank,
                            char *reason, size_t size)
{
    const clv_allprof_rank_t *first = &trace->ranks[0];
    const int64_t n = clv_smaller(first->n_calls, rank->n_calls);
    int64_t i = 0;

    if (rank->n_ranks > trace->n_ranks) {
        return fail(reason, size, "%s: of %d ranks, but the folder has %d files", rank->path,
                    (int) rank->n_ranks, (int) trace->n_ranks);
    }
    while (i < n && first->calls[i].op == rank->calls[i].op &&
           first->calls[i].root == rank->calls[i].root) {
        i++;
    }
    return i < n || rank->n_calls != first->n_calls
               ? fail(reason, size,
                      "%s: collective %lld is another than that of rank 0, or missing", rank->path,
                      (long long) i + 1)
               : CLV_OK;
}

static void find_nodes(clv_allprof_t *trace)
{
    for (int32_t i = 0; i < trace->n_ranks; i++) {
        int32_t k = trace->ranks[i].host[0] == '\0' ? i : 0;
        while (strcmp(trace->ranks[k].host, trace->ranks[i].host) != 0) {
            k++;
        }
        trace->ranks[i].node = k < i ? trace->ranks[k].node : trace->n_nodes++;
    }
}

static clv_status_t set_base(clv_allprof_t *trace, char *reason, size_t size)
{
    int64_t first_ns = INT64_MAX, last_ns = 0;

    for (int32_t i = 0; i < trace->n_ranks; i++) {
        first_ns = clv_smaller(first_ns, trace->ranks[i].init_ns);
        last_ns = clv_larger(last_ns, trace->ranks[i].finalize_ns);
    }
    for (int32_t i = 0; i < trace->n_ranks; i++) {
        clv_allprof_rank_t *rank = &trace->ranks[i];
        const clv_allprof_call_t *end = rank->calls + (rank->n_calls > 0 ? rank->n_calls - 1 : 0);
        if (last_ns - first_ns > CLV_ALLPROF_MAX_NS || rank->finalize_ns < rank->init_ns ||
            (rank->n_calls > 0 &&
             (rank->calls->begin_ns < first_ns || end->end_ns > rank->finalize_ns))) {
            return fail(reason, size, "%s: times outside MPI_Init to MPI_Finalize, or 18 years",
                        rank->path);
        }
        rank->init_ns -= first_ns;
        rank->finalize_ns -= first_ns;
        for (int64_t k = 0; k < rank->n_calls; k++) {
            rank->calls[k].begin_ns -= first_ns;
            rank->calls[k].end_ns -= first_ns;
        }
    }
    trace->started_unix_s = first_ns / 1000000000;
    return CLV_OK;
}

clv_status_t clv_allprof_read(const char *folder, clv_allprof_t *trace, char *reason, size_t size)
{
    reader_t reader = {.trace = trace};
    clv_status_t status = CLV_NO_MEMORY;

    *trace = (clv_allprof_t){.ranks = clv_alloc(CLV_ALLPROF_MAX_RANKS, sizeof *trace->ranks)};
    reader.text = clv_alloc_unset(CLV_ALLPROF_MAX_LINE, 1);
    (void) snprintf(reason, size, "out of memory");
    if (trace->ranks != NULL && reader.text != NULL) {
        status = find_files(folder, trace, reason, size);
    }
    for (int32_t i = 0; i < trace->n_ranks && status == CLV_OK; i++) {
        status = read_rank(&reader, i, reason, size);
    }
    clv_free(reader.text);
    for (int32_t i = 0; i < trace->n_ranks && status == CLV_OK; i++) {
        status = compare(trace, &trace->ranks[i], reason, size);
    }
    if (status == CLV_OK) {
        find_nodes(trace);
        status = set_base(trace, reason, size);
    }
    return status;
}

void clv_allprof_free(clv_allprof_t *trace)
{
    for (int32_t i = 0; trace->ranks != NULL && i < CLV_ALLPROF_MAX_RANKS; i++) {
        clv_free(trace->ranks[i].path);
        clv_free(trace->ranks[i].calls);
    }
    clv_free(trace->ranks);
    *trace = (clv_allprof_t){0};
}

int64_t clv_allprof_global(const clv_allprof_rank_t *rank, int64_t local_ns)
{
    const double length = (double) (rank->finalize_ns - rank->init_ns);
    const double part = length > 0 ? (double) (local_ns - rank->init_ns) / length : 0;
    const double change = (double) (rank->finalize_offset_ns - rank->init_offset_ns);

    return local_ns + rank->init_offset_ns + (int64_t) (part * change);
}

/* Offsets change by far less than time does, so each step leaves a small part of the error. */
int64_t clv_allprof_local(const clv_allprof_rank_t *rank, int64_t global_ns)
{
    enum { STEPS = 8 };
    int64_t local_ns = global_ns - rank->init_offset_ns;

    for (int i = 0; i < STEPS; i++) {
        local_ns -= clv_allprof_global(rank, local_ns) - global_ns;
    }
    return local_ns;
}

/* gives: whether the rank sends data to others; takes: whether it receives any. In a rooted
 * operation, only the root does so in one of the two directions. */
static bool gives(const clv_allprof_call_t *call, int32_t rank)
{
    const bool from_root = call->op == CLV_ALLPROF_MPI_Bcast ||
                           call->op == CLV_ALLPROF_MPI_Scatter ||
                           call->op == CLV_ALLPROF_MPI_Scatterv;

    return !from_root || rank == call->root;
}

static bool takes(const clv_allprof_call_t *call, int32_t rank)
{
    const bool to_root = call->op == CLV_ALLPROF_MPI_Reduce || call->op == CLV_ALLPROF_MPI_Gather ||
                         call->op == CLV_ALLPROF_MPI_Gatherv;

    return !to_root || rank == call->root;
}

int64_t clv_allprof_reversed(const clv_allprof_t *trace, int32_t op, bool is_global,
                             int64_t *n_calls_p)
{
    int64_t n = 0;

    *n_calls_p = 0;
    for (int64_t i = 0; i < trace->ranks[0].n_calls; i++) {
        int64_t last_ns = INT64_MIN, first_ns = INT64_MAX;
        if (trace->ranks[0].calls[i].op != op) {
            continue;
        }
        ++*n_calls_p;
        for (int32_t r = 0; r < trace->n_ranks; r++) {
            const clv_allprof_rank_t *rank = &trace->ranks[r];
            const clv_allprof_call_t *call = &rank->calls[i];
            const int64_t begin_ns =
                is_global ? clv_allprof_global(rank, call->begin_ns) : call->begin_ns;
            const int64_t end_ns =
                is_global ? clv_allprof_global(rank, call->end_ns) : call->end_ns;
            last_ns = gives(call, r) ? clv_larger(last_ns, begin_ns) : last_ns;
            first_ns = takes(call, r) ? clv_smaller(first_ns, end_ns) : first_ns;
        }
        n += last_ns > first_ns && op != CLV_ALLPROF_MPI_Scan && op != CLV_ALLPROF_MPI_Exscan;
    }
    return n;
}
