/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-correct-mpi: items from each process to each, in little memory: in turn with every other one,
 * a chunk at a time. A chunk that is not full is the last.
 */
#include "apps/tools/replay/replay.h"

#define CHUNK_BYTES 32768
#define TAG         1

typedef struct chunk {
    char bytes[CHUNK_BYTES];
    int n;
} chunk_t;

static void fill(const replay_stream_t *stream, chunk_t *chunk, int most)
{
    chunk->n = 0;
    while (chunk->n < most &&
           stream->give(stream->context, chunk->bytes + (size_t) chunk->n * stream->item_bytes)) {
        chunk->n++;
    }
}

static void empty(const replay_stream_t *stream, const chunk_t *chunk, int from)
{
    for (int i = 0; i < chunk->n; i++) {
        stream->take(stream->context, from, chunk->bytes + (size_t) i * stream->item_bytes);
    }
}

static void run_pair(const replay_stream_t *stream, int to, int from)
{
    static chunk_t out, in;
    const int most = (int) (CHUNK_BYTES / stream->item_bytes);
    int has_sent = 0, has_got = 0;
    while (!has_sent || !has_got) {
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        MPI_Status statuses[2];
        const int is_getting = !has_got;
        if (is_getting) {
            MPI_Irecv(in.bytes, CHUNK_BYTES, MPI_BYTE, from, TAG, replay.values, &requests[0]);
        }
        if (!has_sent) {
            fill(stream, &out, most);
            has_sent = out.n < most;
            MPI_Isend(out.bytes, (int) ((size_t) out.n * stream->item_bytes), MPI_BYTE, to, TAG,
                      replay.values, &requests[1]);
        }
        MPI_Waitall(2, requests, statuses);
        if (is_getting) {
            int n_bytes;
            MPI_Get_count(&statuses[0], MPI_BYTE, &n_bytes);
            in.n = n_bytes / (int) stream->item_bytes;
            has_got = in.n < most;
            empty(stream, &in, from);
        }
    }
}

void replay_run_stream(const replay_stream_t *stream)
{
    for (int step = 0; step < replay.size; step++) {
        const int to = (replay.rank + step) % replay.size;
        const int from = (replay.rank - step + replay.size) % replay.size;
        stream->begin(stream->context, to);
        run_pair(stream, to, from);
    }
}
