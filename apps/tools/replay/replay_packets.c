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
    int *ranks;         /* that may have one, and how many */
    bool *is_listed;    /* by rank */
    int n_ranks;
    packet_t *leaving, *spare;
    MPI_Request next; /* the packet that arrives next */
    MPI_Status status;
    bool has_come; /* ... and has not been taken */
    replay_stamp_t stamps[PACKET_STAMPS];
} packets = {.next = MPI_REQUEST_NULL};

static void expect_packet(void)
{
    MPI_Irecv(packets.stamps, (int) sizeof packets.stamps, MPI_BYTE, MPI_ANY_SOURCE, TAG,
              replay.stamps, &packets.next);
}

bool replay_open_packets(void)
{
    const size_t n = (size_t) replay.size;
    if (packets.next != MPI_REQUEST_NULL) {
        return true;
    }
    packets.filling = clv_alloc(n, sizeof *packets.filling);
    packets.ranks = clv_alloc(n, sizeof *packets.ranks);
    packets.is_listed = clv_alloc(n, sizeof *packets.is_listed);
    if (!packets.filling || !packets.ranks || !packets.is_listed) {
        replay_close_packets();
        return false;
    }
    expect_packet();
    return true;
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
    while (packets.n_ranks > 0) {
        const int rank = packets.ranks[--packets.n_ranks];
        packets.is_listed[rank] = false;
        post(rank);
    }
    replay_reclaim();
}

void replay_put(int rank, const replay_stamp_t *stamp)
{
    if (!packets.filling[rank]) {
        packets.filling[rank] = new_packet();
    }
    if (!packets.is_listed[rank]) {
        packets.is_listed[rank] = true;
        packets.ranks[packets.n_ranks++] = rank;
    }
    packet_t *packet = packets.filling[rank];
    packet->stamps[packet->n++] = *stamp;
    if (packet->n == PACKET_STAMPS) {
        post(rank);
    }
}

bool replay_look(void)
{
    int has_come;
    MPI_Testall(1, &packets.next, &has_come, &packets.status);
    packets.has_come = has_come;
    return has_come;
}

bool replay_take(void (*take)(const replay_stamp_t *stamp))
{
    bool has_any = false;
    for (;;) {
        int has_come = packets.has_come, n_bytes;
        if (!has_come) {
            MPI_Test(&packets.next, &has_come, &packets.status);
        }
        if (!has_come) {
            return has_any;
        }
        MPI_Get_count(&packets.status, MPI_BYTE, &n_bytes);
        const int n = n_bytes / (int) sizeof(replay_stamp_t);
        for (int i = 0; i < n; i++) {
            take(&packets.stamps[i]);
        }
        replay.n_taken += n;
        has_any = true;
        packets.has_come = false;
        expect_packet();
    }
}

void replay_close_packets(void)
{
    if (packets.next != MPI_REQUEST_NULL) { /* an empty packet ends the receive */
        MPI_Send(NULL, 0, MPI_BYTE, replay.rank, TAG, replay.stamps);
        MPI_Wait(&packets.next, MPI_STATUS_IGNORE);
    }
    while (packets.leaving) {
        replay_reclaim();
    }
    while (packets.spare) {
        packet_t *next = packets.spare->next;
        clv_free(packets.spare);
        packets.spare = next;
    }
    clv_free(packets.filling);
    clv_free(packets.ranks);
    clv_free(packets.is_listed);
    packets.filling = NULL;
    packets.ranks = NULL;
    packets.is_listed = NULL;
}

/* ---- items from every process to every other that gets any, in little memory: in turn with each
 * other process, a chunk at a time. A chunk that is not full is the last. */

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

static void run_pair(const replay_stream_t *stream, int to, int from, bool has_sent, bool has_got)
{
    static chunk_t out, in;
    const int most = (int) (CHUNK_BYTES / stream->item_bytes);
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

/* Which processes get items from us, and from which we get some. */
static void find_partners(const replay_stream_t *stream, char *gives, char *gets)
{
    static chunk_t first;
    for (int to = 0; to < replay.size; to++) {
        stream->begin(stream->context, to);
        fill(stream, &first, 1);
        gives[to] = (char) first.n;
    }
    MPI_Alltoall(gives, 1, MPI_CHAR, gets, 1, MPI_CHAR, replay.values);
}

void replay_run_stream(const replay_stream_t *stream)
{
    char *gives = clv_alloc((size_t) replay.size, 2);
    if (!gives) {
        replay_give_up("out of memory for an exchange");
    }
    char *gets = gives + replay.size;
    find_partners(stream, gives, gets);
    for (int step = 0; step < replay.size; step++) {
        const int to = (replay.rank + step) % replay.size;
        const int from = (replay.rank - step + replay.size) % replay.size;
        if (gives[to] || gets[from]) {
            stream->begin(stream->context, to);
            run_pair(stream, to, from, !gives[to], !gets[from]);
        }
    }
    clv_free(gives);
}
