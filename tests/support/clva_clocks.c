/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prints the recorded allreduces of a job on two clocks: each host's own, and the global one (HCA3,
 * Fig. 10).
 *
 * usage: clva_clocks FIRST LAST FILE.clva ...      the files of all nodes
 *
 * JSON lines: `interval`, for each rank and call from FIRST to LAST on each clock: `arrival_ns` and
 * `exit_ns`, relative to the first arrival of all; `seen`, for each of these calls on each clock:
 * `spread_ns`, from the first to the last arrival, and `whole`: whether the last arrival is before
 * the first exit, as it must be in an allreduce.
 * Exit: 0; 2 a file cannot be read, or no call was recorded by all ranks.
 */
#include <stdio.h>
#include <stdlib.h>

#include "apps/cli/cli_json.h"
#include "record/record_clva.h"
#include "util/util_min_max.h"

#define MAX_RANKS 64
#define MAX_CALLS 256
#define MAX_LINES 4096

enum { LOCAL, GLOBAL, N_CLOCKS };
static const char *const clock_names[N_CLOCKS] = {"local", "global"};

typedef struct interval {
    int is_there;
    int64_t arrival_ns[N_CLOCKS], exit_ns[N_CLOCKS];
} interval_t;

static interval_t seen[MAX_CALLS][MAX_RANKS];
static int64_t first_call, n_calls, n_ranks;

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "clva_clocks: %s: %s\n", what, why);
    exit(2);
}

/* ---- reading ---- */

/* One node's file, its clock lines, and the streams of its ranks that are allreduces. */
typedef struct node {
    unsigned char *bytes;
    size_t n_bytes, at;
    clv_clva_clock_t clocks[MAX_LINES];
    int n_clocks;
    unsigned char is_allreduce[MAX_RANKS][CLV_CLVA_MAX_STREAMS];
} node_t;

static void read_file(node_t *node, const char *path)
{
    FILE *file = fopen(path, "rb");
    long n_bytes = -1;

    if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
        n_bytes = ftell(file);
        rewind(file);
    }
    node->bytes = n_bytes > 0 ? malloc((size_t) n_bytes) : NULL;
    if (node->bytes == NULL || fread(node->bytes, 1, (size_t) n_bytes, file) != (size_t) n_bytes) {
        fail(path, "cannot be read");
    }
    node->n_bytes = (size_t) n_bytes;
    fclose(file);
}

static void open_node(node_t *node, const char *path)
{
    clv_clva_head_t head;

    read_file(node, path);
    if (clv_clva_get_head(node->bytes, node->n_bytes, &head, &node->at) != CLV_OK ||
        head.n_ranks > MAX_RANKS) {
        fail(path, "no file of the recorder, or of more than 64 ranks");
    }
    n_ranks = head.n_ranks;
}

static int next_record(node_t *node, clv_clva_record_t *record)
{
    size_t used = 0;
    const int is_good = node->at < node->n_bytes &&
                        clv_clva_get_record(node->bytes + node->at, node->n_bytes - node->at,
                                            n_ranks, record, &used) == CLV_OK;

    node->at += used;
    return is_good;
}

/* A clock line may come after the calls that it applies to. */
static void gather_lines(node_t *node)
{
    const size_t begin = node->at;
    clv_clva_record_t record;

    while (next_record(node, &record)) {
        if (record.kind == CLV_CLVA_CLOCK && node->n_clocks < MAX_LINES) {
            node->clocks[node->n_clocks++] = record.clock;
        } else if (record.kind == CLV_CLVA_STREAM) {
            node->is_allreduce[record.rank][record.stream.stream % CLV_CLVA_MAX_STREAMS] =
                record.stream.op == CLV_CLVA_OP_ALLREDUCE &&
                record.stream.how == CLV_CLVA_HOW_BLOCKING;
        }
    }
    node->at = begin;
}

/* By the newest line valid at that time, or the first. */
static int64_t global_of(const node_t *node, int64_t local_ns)
{
    const clv_clva_clock_t *clock = &node->clocks[0];
    int64_t error_ns;

    for (int i = 1; i < node->n_clocks && node->clocks[i].from_ns <= local_ns; i++) {
        clock = &node->clocks[i];
    }
    return clv_clva_global(clock, local_ns, &error_ns);
}

static void take_call(const node_t *node, int32_t rank, const clv_clva_call_t *call)
{
    const int64_t at = (int64_t) call->number - first_call;

    if (at >= 0 && at < n_calls && node->is_allreduce[rank][call->stream % CLV_CLVA_MAX_STREAMS]) {
        seen[at][rank] =
            (interval_t){.is_there = 1,
                         .arrival_ns = {call->arrival_ns, global_of(node, call->arrival_ns)},
                         .exit_ns = {call->exit_ns, global_of(node, call->exit_ns)}};
    }
}

static void read_node(const char *path)
{
    static node_t node;
    clv_clva_record_t record;
    clv_clva_call_t call;

    node = (node_t){.n_clocks = 0};
    open_node(&node, path);
    gather_lines(&node);
    if (node.n_clocks == 0) {
        fail(path, "has no global clock");
    }
    while (next_record(&node, &record)) {
        for (int32_t i = 0; record.kind == CLV_CLVA_CALLS && i < record.n; i++) {
            if (clv_clva_get_call(&record, i, &call) == CLV_OK) {
                take_call(&node, record.rank, &call);
            }
        }
    }
    free(node.bytes);
}

/* ---- output ---- */

static int is_whole(int64_t at)
{
    for (int64_t r = 0; r < n_ranks; r++) {
        if (!seen[at][r].is_there) {
            return 0;
        }
    }
    return 1;
}

/* The first arrival of all calls, as the origin, to keep times small. */
static int64_t begin_of(int clock)
{
    int64_t begin_ns = INT64_MAX;

    for (int64_t c = 0; c < n_calls; c++) {
        for (int64_t r = 0; r < n_ranks && is_whole(c); r++) {
            begin_ns = clv_smaller(begin_ns, seen[c][r].arrival_ns[clock]);
        }
    }
    return begin_ns;
}

static clv_json_t begin_line(const char *record, int clock, int64_t at)
{
    clv_json_t json = clv_json_begin(stdout, "clva_clocks", record);

    clv_json_text(&json, "clock", clock_names[clock]);
    clv_json_whole(&json, "call", first_call + at);
    return json;
}

static void tell_call(int clock, int64_t at, int64_t begin_ns)
{
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN, exit_ns = INT64_MAX;
    clv_json_t json;

    for (int64_t r = 0; r < n_ranks; r++) {
        const interval_t *is = &seen[at][r];
        json = begin_line("interval", clock, at);
        clv_json_whole(&json, "rank", r);
        clv_json_whole(&json, "arrival_ns", is->arrival_ns[clock] - begin_ns);
        clv_json_whole(&json, "exit_ns", is->exit_ns[clock] - begin_ns);
        clv_json_end(&json);
        first_ns = clv_smaller(first_ns, is->arrival_ns[clock]);
        last_ns = clv_larger(last_ns, is->arrival_ns[clock]);
        exit_ns = clv_smaller(exit_ns, is->exit_ns[clock]);
    }
    json = begin_line("seen", clock, at);
    clv_json_whole(&json, "spread_ns", last_ns - first_ns);
    clv_json_whole(&json, "whole", last_ns < exit_ns);
    clv_json_end(&json);
}

int main(int argc, char **argv)
{
    int n_reported = 0;

    if (argc < 4 || atoll(argv[2]) < atoll(argv[1])) {
        fail("usage", "clva_clocks FIRST LAST FILE.clva ...");
    }
    first_call = atoll(argv[1]);
    n_calls = clv_smaller(atoll(argv[2]) - first_call + 1, MAX_CALLS);
    for (int i = 3; i < argc; i++) {
        read_node(argv[i]);
    }
    for (int clock = LOCAL; clock < N_CLOCKS; clock++) {
        const int64_t begin_ns = begin_of(clock);
        for (int64_t c = 0; c < n_calls; c++) {
            if (is_whole(c)) {
                tell_call(clock, c, begin_ns);
                n_reported++;
            }
        }
    }
    if (n_reported == 0) {
        fail("calls", "none that all ranks recorded");
    }
    return 0;
}
