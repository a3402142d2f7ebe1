/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Makes the .clva files of a fictitious job with known times: a pattern's arrivals
 * (apps/trace/trace_make.h) on nodes whose clocks differ by an hour and drift.
 *
 * usage: clva-make FOLDER NODES RANKS_PER_NODE CALLS [PATTERN [TRUTH [BYTES [PS [STREAMS [OP]]]]]]
 *
 * One stream, MPI_Allreduce of 4096 bytes, or OP (reduce) of BYTES with root 0. PATTERN: one-late.
 * TRUTH: the same times as a clv-trace. PS: the cost of a byte, as if measured by clv; each rank
 * then also has measured a connection. STREAMS: number of streams without calls that each rank
 * alone has and records before that one. The bound of the clock lines is 500 ns.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "record/record_clva.h"
#include "apps/trace/trace_make.h"

#define NS_PER_HOUR INT64_C(3600000000000)
#define BATCH       1000

static unsigned char bytes[CLV_CLVA_RECORD_BYTES];
static clv_clva_cost_t cost = {.latency_ns = 70000, .gap_ns = 90000};
static int32_t n_unused;
static clv_clva_stream_t stream = {.op = CLV_CLVA_OP_ALLREDUCE,
                                   .type = CLV_CLVA_TYPE_FLOAT,
                                   .element_bytes = 8,
                                   .comm = 1,
                                   .bytes = 4096,
                                   .root = -1};

static void put(FILE *file, size_t n_bytes)
{
    if (n_bytes == 0 || fwrite(bytes, 1, n_bytes, file) != n_bytes) {
        perror("clva-make");
        exit(1);
    }
}

static clv_clva_clock_t clock_of(int32_t node)
{
    return (clv_clva_clock_t){.from_ns = 1,
                              .origin_ns = node * NS_PER_HOUR,
                              .offset_ns = node * NS_PER_HOUR,
                              .slope = node * 1e-5,
                              .error_ns = node > 0 ? 500 : 0};
}

/* The local time that the node's line maps to a global one, to 1 ns. */
static int64_t local_of(const clv_clva_clock_t *clock, int64_t global_ns)
{
    int64_t error_ns, local_ns = global_ns + clock->offset_ns;

    for (int i = 0; i < 5; i++) {
        local_ns += global_ns - clv_clva_global(clock, local_ns, &error_ns);
    }
    return local_ns;
}

static void put_unused(FILE *file, int32_t rank)
{
    clv_clva_stream_t other = stream;

    for (int32_t i = 0; i < n_unused; i++) {
        other.stream = (uint16_t) (i + 1);
        other.bytes = 1 + i + (int64_t) rank * n_unused;
        put(file, clv_clva_put_stream(bytes, sizeof bytes, rank, &other));
    }
}

static void put_rank(FILE *file, const clv_trace_t *trace, const clv_clva_clock_t *clock,
                     int32_t rank)
{
    static clv_clva_call_t calls[BATCH];
    int32_t n = 0;

    put_unused(file, rank);
    put(file, clv_clva_put_stream(bytes, sizeof bytes, rank, &stream));
    if (cost.byte_ps > 0) { /* a measured network: each rank's other end takes more */
        put(file, clv_clva_put_early(bytes, sizeof bytes, rank,
                                     &(clv_clva_early_t){.sent_bytes = 2 << 20,
                                                         .window_bytes = (rank + 1) << 20,
                                                         .buffer_bytes = 1 << 20}));
    }
    for (int32_t i = 0; i < trace->n_calls; i++) {
        calls[n++] =
            (clv_clva_call_t){.choice = CLV_CLVA_NOT_OURS,
                              .number = (uint32_t) i,
                              .predicted_ns = CLV_CLVA_NO_FORECAST,
                              .arrival_ns = local_of(clock, clv_trace_arrivals(trace, i)[rank]),
                              .exit_ns = local_of(clock, clv_trace_exits(trace, i)[rank])};
        if (n == BATCH || i + 1 == trace->n_calls) {
            put(file, clv_clva_put_calls(bytes, sizeof bytes, rank, calls, n));
            n = 0;
        }
    }
}

static void put_network(FILE *file, const clv_clva_clock_t *clock)
{
    put(file, clv_clva_put_clock(bytes, sizeof bytes, clock));
    if (cost.byte_ps > 0) {
        put(file, clv_clva_put_cost(bytes, sizeof bytes, &cost));
    }
}

static void make_node(const char *folder, const clv_trace_t *trace, int32_t node, int32_t n_nodes)
{
    const int32_t n_local = trace->n_ranks / n_nodes;
    const clv_clva_clock_t clock = clock_of(node);
    const clv_clva_comm_t comm = {.id = 1, .n_ranks = trace->n_ranks, .name = "MPI_COMM_WORLD"};
    clv_clva_head_t head = {.clva = CLV_CLVA_VERSION,
                            .job = "made",
                            .program = "clva-make",
                            .node = node,
                            .n_nodes = n_nodes,
                            .n_ranks = trace->n_ranks,
                            .n_local = n_local,
                            .every = 1};
    int32_t *ranks = calloc((size_t) n_local, sizeof *ranks);
    char path[1024];
    FILE *file;

    (void) snprintf(head.host, sizeof head.host, "host%d", (int) node);
    (void) snprintf(path, sizeof path, "%s/made.%d.clva", folder, (int) node);
    file = fopen(path, "w");
    if (ranks == NULL || file == NULL) {
        perror(path);
        exit(1);
    }
    for (int32_t i = 0; i < n_local; i++) {
        ranks[i] = node * n_local + i;
    }
    put(file, clv_clva_put_head((char *) bytes, sizeof bytes, &head));
    put(file, clv_clva_put_local(bytes, sizeof bytes, ranks, n_local));
    put(file, clv_clva_put_comm(bytes, sizeof bytes, &comm));
    put_network(file, &clock);
    for (int32_t i = 0; i < n_local; i++) {
        put_rank(file, trace, &clock, ranks[i]);
    }
    put(file, clv_clva_put_end(bytes, sizeof bytes, (int64_t) trace->n_calls * n_local, 0));
    free(ranks);
    if (fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    clv_pattern_t pattern = {.amount_ns = 20000000, .jitter = 0.01, .seed = 1};
    clv_trace_t trace = {0};
    char reason[256];

    if (argc < 5) {
        fprintf(stderr, "usage: clva-make FOLDER NODES RANKS_PER_NODE CALLS [PATTERN [TRUTH "
                        "[BYTES [PS [STREAMS [OP]]]]]]\n");
        return 2;
    }
    const int32_t n_nodes = atoi(argv[2]);
    pattern.n_ranks = n_nodes * atoi(argv[3]);
    if (clv_pattern_parse(argc > 5 ? argv[5] : "one-late", &pattern, reason, sizeof reason) !=
            CLV_OK ||
        clv_trace_make(&pattern, CLV_TRACE_COUPLE_ALLREDUCE, atoi(argv[4]), &trace) != CLV_OK) {
        fprintf(stderr, "clva-make: not that pattern, or too much\n");
        return 2;
    }
    if (argc > 7) {
        for (stream.op = 0;
             strcmp(clv_clva_ops[stream.op].name, argc > 10 ? argv[10] : "reduce");) {
            stream.op++;
        }
        stream.root = clv_clva_ops[stream.op].has_root ? 0 : -1;
        stream.bytes = atoll(argv[7]);
        cost.byte_ps = argc > 8 ? atoll(argv[8]) : 0;
        n_unused = argc > 9 ? atoi(argv[9]) : 0;
    }
    (void) mkdir(argv[1], 0777);
    for (int32_t node = 0; node < n_nodes; node++) {
        make_node(argv[1], &trace, node, n_nodes);
    }
    FILE *truth = argc > 6 ? fopen(argv[6], "w") : NULL;
    if (truth != NULL && (clv_trace_write(truth, &trace) != CLV_OK || fclose(truth) != 0)) {
        perror(argv[6]);
        return 1;
    }
    clv_trace_clear(&trace);
    clv_pattern_free(&pattern);
    return 0;
}
