/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Converts the collectives of one node of a liballprof trace to a .clva file in memory (see
 * view.h), so that everything after it is the same. Times are by rank 0's clock already.
 */
#include "apps/tools/view/view.h"

#include <string.h>

#include "util/util_alloc.h"
#include "util/util_min_max.h"

#define HEAD_BYTES (CLV_CLVA_HEAD_BYTES + 4096) /* plus the parts written once */
#define MOST_CALLS 8192                         /* per record */

typedef struct writer {
    const clv_allprof_t *trace;
    unsigned char *bytes;
    size_t used, size;
    clv_clva_stream_t *streams; /* per rank */
    int32_t n_streams;
    clv_clva_call_t *calls; /* per record */
    int64_t n_calls;
} writer_t;

static uint8_t op_of(int32_t op)
{
    uint8_t at = 0;

    while (strcmp(clv_clva_ops[at].name, clv_allprof_ops[op].name) != 0) {
        at++; /* all are present */
    }
    return at;
}

/* The number of the call's stream; writes a new stream. -1: there are too many. */
static int32_t stream_of(writer_t *writer, int32_t rank, const clv_allprof_call_t *call)
{
    const uint8_t op = op_of(call->op);
    const clv_clva_stream_t key = {.op = op,
                                   .type = CLV_CLVA_TYPE_OTHER,
                                   .stream = (uint16_t) writer->n_streams,
                                   .element_bytes = 1,
                                   .comm = 1,
                                   .bytes = clv_clva_ops[op].equal_bytes ? call->bytes : 0,
                                   .root = clv_clva_ops[op].has_root ? call->root : -1};

    for (int32_t i = 0; i < writer->n_streams; i++) {
        const clv_clva_stream_t *other = &writer->streams[i];
        if (other->op == op && other->bytes == key.bytes && other->root == key.root) {
            return i;
        }
    }
    if (writer->n_streams == CLV_CLVA_MAX_STREAMS - 1) {
        return -1;
    }
    writer->streams[writer->n_streams] = key;
    writer->used +=
        clv_clva_put_stream(writer->bytes + writer->used, writer->size - writer->used, rank, &key);
    return writer->n_streams++;
}

static void put_calls(writer_t *writer, int32_t rank, int32_t *n)
{
    if (*n > 0) {
        writer->used += clv_clva_put_calls(writer->bytes + writer->used,
                                           writer->size - writer->used, rank, writer->calls, *n);
    }
    writer->n_calls += *n;
    *n = 0;
}

static void put_rank(writer_t *writer, int32_t at)
{
    const clv_allprof_rank_t *rank = &writer->trace->ranks[at];
    int64_t n_dropped = 0;
    int32_t n = 0;

    writer->n_streams = 0;
    for (int64_t i = 0; i < rank->n_calls; i++) {
        const clv_allprof_call_t *call = &rank->calls[i];
        const int32_t stream = stream_of(writer, at, call);
        n_dropped += stream < 0;
        if (stream >= 0) {
            writer->calls[n++] =
                (clv_clva_call_t){.kind = CLV_CLVA_CALLS,
                                  .choice = CLV_CLVA_NOT_OURS,
                                  .stream = (uint16_t) stream,
                                  .arrival_ns = clv_allprof_global(rank, call->begin_ns),
                                  .exit_ns = clv_allprof_global(rank, call->end_ns),
                                  .number = (uint32_t) i,
                                  .predicted_ns = CLV_CLVA_NO_FORECAST};
        }
        if (n == MOST_CALLS) {
            put_calls(writer, at, &n);
        }
    }
    put_calls(writer, at, &n);
    writer->used += clv_clva_put_dropped(writer->bytes + writer->used, writer->size - writer->used,
                                         at, n_dropped);
}

static void put_head(writer_t *writer, const char *folder, int32_t node, const int32_t *ranks,
                     int32_t n_ranks)
{
    const clv_allprof_t *trace = writer->trace;
    const clv_clva_comm_t world = {.id = 1, .n_ranks = trace->n_ranks, .name = "MPI_COMM_WORLD"};
    const clv_clva_clock_t clock = {.from_ns = -CLV_ALLPROF_MAX_NS,
                                    .error_ns = CLV_ALLPROF_BOUND_NS};
    clv_clva_head_t head = {.clva = CLV_CLVA_VERSION,
                            .job = "liballprof",
                            .node = node,
                            .n_nodes = trace->n_nodes,
                            .n_ranks = trace->n_ranks,
                            .n_local = n_ranks,
                            .started_unix_s = trace->started_unix_s,
                            .every = 1};
    unsigned char *bytes = writer->bytes;

    (void) snprintf(head.host, sizeof head.host, "%s", trace->ranks[ranks[0]].host);
    (void) snprintf(head.program, sizeof head.program, "%.200s", folder);
    size_t used = clv_clva_put_head((char *) bytes, writer->size, &head);
    used += clv_clva_put_local(bytes + used, writer->size - used, ranks, n_ranks);
    used += clv_clva_put_comm(bytes + used, writer->size - used, &world);
    used += clv_clva_put_clock(bytes + used, writer->size - used, &clock);
    writer->used = used;
}

/* Lists the ranks of a node. *size_p: room for their records, at worst with a stream for each
 * call. */
static int32_t list_ranks(const clv_allprof_t *trace, int32_t node, int32_t *ranks, size_t *size_p)
{
    int32_t n = 0;

    *size_p = HEAD_BYTES;
    for (int32_t i = 0; i < trace->n_ranks; i++) {
        const clv_allprof_rank_t *rank = &trace->ranks[i];
        if (rank->node == node) {
            ranks[n++] = i;
            *size_p += 256 + (size_t) rank->n_calls * CLV_CLVA_SLOT_BYTES * 3;
        }
    }
    return n;
}

unsigned char *view_allprof_node(const clv_allprof_t *trace, const char *folder, int32_t node,
                                 size_t *n_bytes_p)
{
    writer_t writer = {.trace = trace,
                       .streams = clv_alloc(CLV_CLVA_MAX_STREAMS, sizeof *writer.streams),
                       .calls = clv_alloc(MOST_CALLS, sizeof *writer.calls)};
    int32_t *ranks = clv_alloc((size_t) trace->n_ranks, sizeof *ranks);

    if (ranks != NULL && writer.streams != NULL && writer.calls != NULL) {
        const int32_t n = list_ranks(trace, node, ranks, &writer.size);
        writer.bytes = clv_alloc_unset(writer.size, 1);
        if (writer.bytes != NULL) {
            put_head(&writer, folder, node, ranks, n);
            for (int32_t i = 0; i < n; i++) {
                put_rank(&writer, ranks[i]);
            }
            writer.used += clv_clva_put_end(writer.bytes + writer.used, writer.size - writer.used,
                                            writer.n_calls, 0);
        }
    }
    clv_free(ranks);
    clv_free(writer.streams);
    clv_free(writer.calls);
    *n_bytes_p = writer.used;
    return writer.bytes;
}
