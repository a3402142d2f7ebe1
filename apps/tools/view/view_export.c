/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls for other tools (see view.h): JSON lines, a clv-trace of one stream, Chrome's trace format.
 */
#include "apps/tools/view/view.h"

#include <string.h>

#include "apps/cli/cli_json.h"
#include "apps/trace/trace.h"
#include "util/util_alloc.h"

const char view_exports[] = "jsonl, trace, chrome, otf2";

/* The word of a call's choice or reason, from the list in the head; "" for none. */
static void put_word(FILE *file, const char *key, const char *list, int number)
{
    int length = 0;
    const char *word = clv_clva_word(list, number, &length);

    if (word != NULL) {
        fprintf(file, ",\"%s\":\"%.*s\"", key, length, word);
    }
}

static const clv_clva_head_t *head_of(const view_t *view, int32_t rank)
{
    return &view->nodes[view->node_of[rank]].head;
}

/* ---- every call of every rank ---------------------------------------------------------------- */

typedef void (*put_t)(FILE *file, const view_t *view, const view_comm_t *comm, int32_t call,
                      int32_t rank, const clv_numbers_rank_t *numbers, bool is_last);

static void put_call(FILE *file, const view_t *view, const view_comm_t *comm, int32_t call,
                     clv_numbers_rank_t *ranks, put_t put)
{
    const size_t first = (size_t) call * (size_t) comm->n_ranks;
    clv_numbers_call_t numbers;

    view_numbers(comm, call, ranks, &numbers);
    for (int32_t r = 0; r < comm->n_ranks; r++) {
        if (comm->arrival_ns[first + (size_t) r] != CLV_NUMBERS_NO_TIME) {
            put(file, view, comm, call, r, &ranks[r], numbers.last_rank == r);
        }
    }
}

/* Returns the exit status: 1 if memory is short. */
static int put_calls(FILE *file, const view_t *view, put_t put)
{
    for (int32_t k = 0; k < view->n_comms; k++) {
        const view_comm_t *comm = &view->comms[k];
        clv_numbers_rank_t *ranks = clv_alloc((size_t) comm->n_ranks, sizeof *ranks);

        if (ranks == NULL) {
            fprintf(stderr, "clv-view: out of memory\n");
            return 1;
        }
        for (int32_t i = 0; i < comm->n_calls; i++) {
            put_call(file, view, comm, i, ranks, put);
        }
        clv_free(ranks);
    }
    return 0;
}

/* ---- a line per call and rank ---------------------------------------------------------------- */

static void put_cell(FILE *file, const view_t *view, const view_comm_t *comm, int32_t call,
                     int32_t rank, const clv_numbers_rank_t *numbers, bool is_last)
{
    const size_t cell = (size_t) call * (size_t) comm->n_ranks + (size_t) rank;
    const int32_t world = comm->members[rank];

    fprintf(file,
            "{\"stream\":%d,\"call\":%u,\"rank\":%d,\"world\":%d,\"arrival_ns\":%lld,"
            "\"exit_ns\":%lld,\"bound_ns\":%d,\"lateness_ns\":%lld,\"own_ns\":%lld,"
            "\"inherited_ns\":%lld,\"wait_ns\":%lld",
            (int) comm->stream[call], (unsigned) comm->number[call], (int) rank, (int) world,
            (long long) comm->arrival_ns[cell], (long long) comm->exit_ns[cell],
            (int) comm->bound_ns[cell], (long long) numbers->lateness_ns,
            (long long) numbers->own_ns, (long long) numbers->inherited_ns,
            (long long) numbers->wait_ns);
    if (comm->predicted_ns[cell] != CLV_CLVA_NO_FORECAST) {
        fprintf(file, ",\"predicted_ns\":%u", (unsigned) comm->predicted_ns[cell]);
    }
    if (comm->choice[call] != CLV_CLVA_NOT_OURS) {
        put_word(file, "choice", head_of(view, world)->choices, comm->choice[call]);
        put_word(file, "reason", head_of(view, world)->reasons, comm->reason[call]);
    }
    fprintf(file, ",\"last\":%d}\n", is_last);
}

static int put_lines(FILE *file, const view_t *view, int32_t stream)
{
    (void) stream;
    return put_calls(file, view, put_cell);
}

/* ---- clv-trace 1 ----------------------------------------------------------------------------- */

static void put_about(FILE *file, const view_t *view, int32_t stream)
{
    const view_stream_t *one = &view->streams[stream];
    char number[32];

    char name[CLV_CLVA_CALL_NAME_BYTES];

    clv_clva_call_name(&one->key, name, sizeof name);
    clv_trace_write_about(file, "collective", name);
    (void) snprintf(number, sizeof number, "%lld", (long long) one->key.bytes);
    clv_trace_write_about(file, "bytes", number);
    (void) snprintf(number, sizeof number, "%d", (int) one->key.root);
    clv_trace_write_about(file, "root", number);
    (void) snprintf(number, sizeof number, "%lld", (long long) view->worst_bound_ns);
    clv_trace_write_about(file, "clock-bound-ns", number);
}

static int put_trace(FILE *file, const view_t *view, int32_t stream)
{
    if (stream < 0 && view->n_streams > 1) {
        fprintf(stderr, "clv-view: a trace is one stream: name it with --stream\n");
        return 2;
    }
    if (!view->has_time || view->n_streams == 0) {
        fprintf(stderr, "clv-view: a trace needs calls on one clock\n");
        return 2;
    }
    stream = stream < 0 ? 0 : stream;
    const view_comm_t *comm = &view->comms[view->streams[stream].comm];
    clv_trace_write_head(file, comm->n_ranks);
    put_about(file, view, stream);
    for (int32_t i = 0; i < comm->n_calls; i++) {
        const size_t first = (size_t) i * (size_t) comm->n_ranks;
        if (comm->stream[i] == stream && view_is_whole(comm, i)) {
            clv_trace_write_call(file, comm->n_ranks, comm->number[i], comm->arrival_ns + first,
                                 comm->exit_ns + first);
        }
    }
    return 0;
}

/* ---- Chrome ---------------------------------------------------------------------------------- */

static void put_names(FILE *file, const view_t *view)
{
    for (int32_t i = 0; i < view->n_nodes; i++) {
        char name[sizeof view->nodes[i].head.host + 32];
        (void) snprintf(name, sizeof name, "node %d %s", (int) i, view->nodes[i].head.host);
        fprintf(file,
                "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":", (int) i);
        clv_json_put_text(file, name);
        fputs("}},\n", file);
    }
}

/* Calls with a request overlap others: written as a pair of events beside the rank's own. */
static void put_pair(FILE *file, const view_t *view, const view_comm_t *comm, int32_t call,
                     int32_t rank, const char *name)
{
    const size_t cell = (size_t) call * (size_t) comm->n_ranks + (size_t) rank;
    const int32_t world = comm->members[rank];

    for (int end = 0; end < 2; end++) {
        const int64_t at_ns = end ? comm->exit_ns[cell] : comm->arrival_ns[cell];
        fprintf(file,
                "{\"ph\":\"%s\",\"cat\":\"%s\",\"name\":\"%s\",\"id\":\"%d.%u.%d\",\"pid\":%d,"
                "\"tid\":%d,\"ts\":%.3f},\n",
                end ? "e" : "b", clv_clva_hows[comm->how].name, name, (int) comm->stream[call],
                (unsigned) comm->number[call], (int) world, (int) view->node_of[world], (int) world,
                (double) at_ns / 1e3);
    }
}

/* Writes one complete event; the wait for later ranks is one nested in it. */
static void put_event(FILE *file, const view_t *view, const view_comm_t *comm, int32_t call,
                      int32_t rank, const clv_numbers_rank_t *numbers, bool is_last)
{
    const size_t cell = (size_t) call * (size_t) comm->n_ranks + (size_t) rank;
    const int32_t world = comm->members[rank];
    const double begin_us = (double) comm->arrival_ns[cell] / 1e3;
    const double long_us = (double) (comm->exit_ns[cell] - comm->arrival_ns[cell]) / 1e3;
    char name[CLV_CLVA_CALL_NAME_BYTES];

    (void) is_last;
    clv_clva_call_name(&view->streams[comm->stream[call]].key, name, sizeof name);
    if (comm->how != CLV_CLVA_HOW_BLOCKING) {
        put_pair(file, view, comm, call, rank, name);
        return;
    }
    fprintf(file,
            "{\"ph\":\"X\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,"
            "\"args\":{\"call\":%u,\"stream\":%d}},\n",
            name, (int) view->node_of[world], (int) world, begin_us, long_us,
            (unsigned) comm->number[call], (int) comm->stream[call]);
    if (numbers->wait_ns > 0) {
        fprintf(
            file,
            "{\"ph\":\"X\",\"name\":\"wait\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f},\n",
            (int) view->node_of[world], (int) world, begin_us, (double) numbers->wait_ns / 1e3);
    }
}

static int put_chrome(FILE *file, const view_t *view, int32_t stream)
{
    int status;

    (void) stream;
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", file);
    put_names(file, view);
    status = put_calls(file, view, put_event);
    fputs("{\"ph\":\"M\",\"name\":\"clv-view\",\"pid\":0}]}\n", file);
    return status;
}

/* Writes what applies to all following lines. */
static void put_opening(FILE *file, const view_t *view)
{
    clv_json_t json = clv_json_begin(file, "clv-view", "recording");

    clv_json_text(&json, "recorded_program", view_any_head(view)->program);
    clv_json_text(&json, "job", view_any_head(view)->job);
    clv_json_whole(&json, "ranks", view->n_ranks);
    clv_json_end(&json);
}

int view_export(FILE *file, const view_t *view, const char *format, int32_t stream,
                const char *folder)
{
    if (strcmp(format, "jsonl") == 0) {
        put_opening(file, view);
        return put_lines(file, view, stream);
    }
    if (strcmp(format, "trace") == 0) {
        return put_trace(file, view, stream);
    }
    if (strcmp(format, "chrome") == 0) {
        return put_chrome(file, view, stream);
    }
    if (strcmp(format, "otf2") == 0) {
        return view_export_otf2(view, folder);
    }
    fprintf(stderr, "clv-view: --export %s: one of %s\n", format, view_exports);
    return 2;
}
