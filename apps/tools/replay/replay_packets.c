/* SPDX-License-Identifier: BSD-3-Clause
 *
 * clv-correct-mpi: the transport between processes. Stamps of the forward pass, several per packet
 * between two processes; a packet leaves when it is full or its sender must wait. And items from
 * every process to every other, if their order does not matter.
 */
#include <string.h>

#include "apps/tools/replay/replay.h"
#include "util/util_alloc.h"

#define TAG           1
#define PACKET_STAMPS 128

typedef struct packet {
    struct packet *next;
    MPI_Request request;
    int n;
    replay_stamp_t stamps[PACKET_STAMPS];
} packet_t;

static struct {
    packet_t **filling; /* by rank */
    packet_t *leaving, *spare;
} packets;

bool replay_open_packets(void)
{
    if (!packets.filling) {
        packets.filling = clv_alloc((size_t) replay.size, sizeof *packets.filling);
    }
    return packets.filling != NULL;
}

static packet_t *new_packet(void)
{
    packet_t *packet = packets.spare;
    if (packet) {
        packets.spare = packet->next;
    } else {
        packet = clv_alloc(1, sizeof *packet);
    }
    if (!packet) {
        replay_give_up("out of memory for packets");
    }
    packet->n = 0;
    return packet;
}

void replay_reclaim(void)
{
    for (packet_t **at = &packets.leaving; *at;) {
        packet_t *packet = *at;
        int has_left;
        MPI_Test(&packet->request, &has_left, MPI_STATUS_IGNORE);
        if (has_left) {
            *at = packet->next;
            packet->next = packets.spare;
            packets.spare = packet;
        } else {
            at = &packet->next;
        }
    }
}

static void post(int rank)
{
    packet_t *packet = packets.filling[rank];
    if (packet) {
        MPI_Isend(packet->stamps, (int) ((size_t) packet->n * sizeof(replay_stamp_t)), MPI_BYTE,
                  rank, TAG, replay.stamps, &packet->request);
        replay.n_sent += packet->n;
        packet->next = packets.leaving;
        packets.leaving = packet;
        packets.filling[rank] = NULL;
    }
}

void replay_post(void)
{
    for (int r = 0; r < replay.size; r++) {
        post(r);
    }
    replay_reclaim();
}

void replay_put(int rank, const replay_stamp_t *stamp)
{
    if (!packets.filling[rank]) {
        packets.filling[rank] = new_packet();
    }
    packet_t *packet = packets.filling[rank];
    packet->stamps[packet->n++] = *stamp;
    if (packet->n == PACKET_STAMPS) {
        post(rank);
    }
}

bool replay_take(void (*take)(const replay_stamp_t *stamp))
{
    replay_stamp_t stamps[PACKET_STAMPS];
    bool has_any = false;
    for (;;) {
        int is_there, n_bytes;
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, TAG, replay.stamps, &is_there, &status);
        if (!is_there) {
            return has_any;
        }
        MPI_Recv(stamps, (int) sizeof stamps, MPI_BYTE, status.MPI_SOURCE, TAG, replay.stamps,
                 &status);
        MPI_Get_count(&status, MPI_BYTE, &n_bytes);
        const size_t n = (size_t) n_bytes / sizeof(replay_stamp_t);
        for (size_t i = 0; i < n; i++) {
            take(&stamps[i]);
        }
        replay.n_taken += (int64_t) n;
        has_any = true;
    }
}

void replay_close_packets(void)
{
    while (packets.leaving) {
        replay_reclaim();
    }
    while (packets.spare) {
        packet_t *next = packets.spare->next;
        clv_free(packets.spare);
        packets.spare = next;
    }
    clv_free(packets.filling);
    packets.filling = NULL;
}

/* ---- items from every process to every other, in little memory: in turn with each other process,
 * a chunk at a time. A chunk that is not full is the last. */

#define CHUNK_BYTES 32768

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
    bool has_sent = false, has_got = false;
    while (!has_sent || !has_got) {
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        MPI_Status statuses[2];
        const bool is_getting = !has_got;
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
