/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rings of a node into its file (see record_drain.h).
 */
#include "record/record_drain.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/util_alloc.h"
#include "util/util_bytes.h"
#include "util/util_log.h"
#include "util/util_min_max.h"

#define BUFFER_BYTES CLV_CLVA_RECORD_BYTES
#define BATCH_CALLS  1024 /* of one rank in one record */
#define MIB          (INT64_C(1) << 20)
#define SMALL_BYTES  (MIB / 16) /* of the file, for what is no call */
#define MAX_EVERY    (INT64_C(1) << 32)

struct clv_drain {
    int fd; /* -1: no file, or no more */
    int32_t n_ranks;
    int32_t *ranks;
    uint64_t *n_dropped; /* of each, as the file says */
    clv_clva_clock_t clock;
    int64_t n_calls, thread_ns;
    int64_t every;
    int64_t max_bytes, n_bytes; /* of the file */
    size_t used;                /* of the buffer */
    clv_clva_call_t batch[BATCH_CALLS];
    unsigned char buffer[BUFFER_BYTES];
    unsigned char comm[CLV_CLVA_SLOT_BYTES * 2 + 8 * CLV_CLVA_MAX_RANKS];
};

clv_status_t clv_drain_create(clv_drain_t **drain_p)
{
    clv_drain_t *drain = clv_alloc(1, sizeof *drain);

    if (drain == NULL) {
        return CLV_NO_MEMORY;
    }
    drain->fd = -1;
    drain->every = 1;
    *drain_p = drain;
    return CLV_OK;
}

void clv_drain_free(clv_drain_t *drain)
{
    if (drain != NULL) {
        if (drain->fd >= 0) {
            (void) close(drain->fd);
        }
        clv_free(drain->ranks);
        clv_free(drain->n_dropped);
        clv_free(drain);
    }
}

/* ---- the file -------------------------------------------------------------------------------- */

static void give_up(clv_drain_t *drain)
{
    clv_log(CLV_LOG_ERROR, "recording of arrivals ends here: %s", strerror(errno));
    (void) close(drain->fd);
    drain->fd = -1;
}

static void flush(clv_drain_t *drain)
{
    size_t done = 0;

    while (drain->fd >= 0 && done < drain->used) {
        const ssize_t n = write(drain->fd, drain->buffer + done, drain->used - done);
        if (n < 0 && errno != EINTR) {
            give_up(drain);
        }
        done += n > 0 ? (size_t) n : 0;
    }
    drain->n_bytes += (int64_t) drain->used;
    drain->used = 0;
}

/* Room for one more record. */
static unsigned char *room(clv_drain_t *drain, size_t n_bytes)
{
    if (drain->used + n_bytes > BUFFER_BYTES) {
        flush(drain);
    }
    return drain->buffer + drain->used;
}

static clv_status_t write_head(clv_drain_t *drain, const clv_clva_head_t *head)
{
    drain->used = clv_clva_put_head((char *) drain->buffer, BUFFER_BYTES, head);
    if (drain->used == 0) {
        return CLV_LIMIT;
    }
    drain->used += clv_clva_put_local(drain->buffer + drain->used, BUFFER_BYTES - drain->used,
                                      drain->ranks, drain->n_ranks);
    flush(drain);
    return drain->fd >= 0 ? CLV_OK : CLV_SYSTEM;
}

clv_status_t clv_drain_open(clv_drain_t *drain, const char *path, const clv_clva_head_t *head,
                            const int32_t *ranks, int32_t n)
{
    drain->ranks = clv_alloc((size_t) n, sizeof *drain->ranks);
    drain->n_dropped = clv_alloc((size_t) n, sizeof *drain->n_dropped);
    if (drain->ranks == NULL || drain->n_dropped == NULL) {
        return CLV_NO_MEMORY;
    }
    memcpy(drain->ranks, ranks, (size_t) n * sizeof *ranks);
    drain->n_ranks = n;
    drain->max_bytes = head->max_mib * MIB;
    drain->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return drain->fd >= 0 ? write_head(drain, head) : CLV_SYSTEM;
}

/* ---- less and less --------------------------------------------------------------------------- */

/* How much of the file's room may be used while every so manieth call is kept: 1/2, 3/4, 7/8 ... */
static int64_t allowed(const clv_drain_t *drain)
{
    return drain->max_bytes - SMALL_BYTES - drain->max_bytes / (2 * drain->every);
}

/* Before n_bytes more of calls. */
static void thin_out(clv_drain_t *drain, size_t n_bytes)
{
    while (drain->n_bytes + (int64_t) (drain->used + n_bytes) > allowed(drain) &&
           drain->every < MAX_EVERY) {
        drain->every *= 2;
        drain->used += clv_clva_put_every(room(drain, 16), 16, drain->every);
    }
}

/* Room in the file; what says how it went is small and always there. */
static int has_left(const clv_drain_t *drain, size_t n_bytes)
{
    return drain->n_bytes + (int64_t) (drain->used + n_bytes) <= drain->max_bytes - SMALL_BYTES;
}

/* ---- what waits in a ring -------------------------------------------------------------------- */

/* The calls of a batch that are kept. */
static void write_calls(clv_drain_t *drain, int32_t rank, int32_t n)
{
    const size_t n_bytes = 16 + (size_t) n * CLV_CLVA_SLOT_BYTES;

    if (n > 0 && has_left(drain, n_bytes)) {
        drain->used += clv_clva_put_calls(room(drain, n_bytes), n_bytes, rank, drain->batch, n);
        drain->n_calls += n;
    }
}

static uint64_t take_calls(clv_drain_t *drain, int32_t rank, const clv_ring_t *ring, uint64_t at,
                           uint64_t n)
{
    uint64_t i = 0;
    int32_t n_kept = 0;

    thin_out(drain, BATCH_CALLS * CLV_CLVA_SLOT_BYTES);
    for (; i < n && n_kept < BATCH_CALLS && *clv_ring_slot(ring, at + i) == CLV_CLVA_CALLS; i++) {
        memcpy(&drain->batch[n_kept], clv_ring_slot(ring, at + i), CLV_CLVA_SLOT_BYTES);
        n_kept += drain->batch[n_kept].number % (uint64_t) drain->every == 0;
    }
    write_calls(drain, rank, n_kept);
    return i;
}

static uint64_t take_stream(clv_drain_t *drain, int32_t rank, const clv_ring_t *ring, uint64_t at)
{
    const size_t n_bytes = 16 + CLV_CLVA_SLOT_BYTES;
    clv_clva_stream_t stream;

    memcpy(&stream, clv_ring_slot(ring, at), sizeof stream);
    if (has_left(drain, n_bytes)) {
        drain->used += clv_clva_put_stream(room(drain, n_bytes), n_bytes, rank, &stream);
    }
    return 1;
}

/* Members in the machine's order become those of the file in their place. */
static void set_members(clv_drain_t *drain, clv_clva_comm_t *comm)
{
    unsigned char *members = drain->comm + CLV_CLVA_SLOT_BYTES + CLV_CLVA_NAME_BYTES;
    uint32_t rank;

    for (size_t i = 0; i < (size_t) comm->n_listed; i++) {
        memcpy(&rank, members + 4 * i, sizeof rank);
        clv_put_u32(members + 4 * i, rank);
    }
    comm->members = members;
}

static uint64_t take_comm(clv_drain_t *drain, const clv_ring_t *ring, uint64_t at, uint64_t n)
{
    clv_drain_comm_t head;
    clv_clva_comm_t comm;

    memcpy(&head, clv_ring_slot(ring, at), sizeof head);
    if (head.n_listed < 0 || head.n_listed > CLV_DRAIN_MAX_LISTED ||
        clv_drain_comm_slots(head.n_listed) > n) {
        return n; /* nonsense of another process */
    }
    const uint64_t n_slots = clv_drain_comm_slots(head.n_listed);
    for (uint64_t i = 0; i < n_slots; i++) {
        memcpy(drain->comm + i * CLV_CLVA_SLOT_BYTES, clv_ring_slot(ring, at + i),
               CLV_CLVA_SLOT_BYTES);
    }
    comm = (clv_clva_comm_t){.id = head.id, .n_ranks = head.n_ranks, .n_listed = head.n_listed};
    memcpy(comm.name, drain->comm + CLV_CLVA_SLOT_BYTES, CLV_CLVA_NAME_BYTES - 1);
    set_members(drain, &comm);
    const size_t n_bytes = 32 + CLV_CLVA_NAME_BYTES + 4 * (size_t) comm.n_listed;
    if (has_left(drain, n_bytes)) {
        drain->used += clv_clva_put_comm(room(drain, n_bytes), n_bytes, &comm);
    }
    return n_slots;
}

static uint64_t take_ring(clv_drain_t *drain, int32_t local, clv_ring_t *ring)
{
    const int32_t rank = drain->ranks[local];
    uint64_t at = 0;
    const uint64_t n = clv_ring_waiting(ring, &at);
    uint64_t done = 0;

    while (done < n) {
        switch (*clv_ring_slot(ring, at + done)) {
        case CLV_CLVA_CALLS:
            done += take_calls(drain, rank, ring, at + done, n - done);
            break;
        case CLV_CLVA_STREAM:
            done += take_stream(drain, rank, ring, at + done);
            break;
        case CLV_CLVA_COMM:
            done += take_comm(drain, ring, at + done, n - done);
            break;
        default: /* nonsense of another process */
            done = n;
        }
    }
    clv_ring_release(ring, n);
    return n;
}

static void note_dropped(clv_drain_t *drain, int32_t local, const clv_ring_t *ring)
{
    const uint64_t n_dropped = atomic_load_explicit(&ring->n_dropped, memory_order_relaxed);

    if (n_dropped != drain->n_dropped[local]) {
        drain->n_dropped[local] = n_dropped;
        drain->used += clv_clva_put_dropped(room(drain, 24), 24, drain->ranks[local],
                                            (int64_t) (n_dropped & INT64_MAX));
    }
}

/* ---- a round --------------------------------------------------------------------------------- */

static void note_clock(clv_drain_t *drain, const clv_cs_model_t *model, int64_t now_ns)
{
    clv_clva_clock_t clock = {.from_ns = drain->clock.from_ns};

    if (model == NULL) {
        return;
    }
    clock.origin_ns = model->origin_ns;
    clock.offset_ns = model->offset_ns;
    clock.slope = model->slope;
    clock.error_ns = model->error_ns;
    clock.error_ppb = model->error_ppb;
    if (clock.from_ns != 0 && memcmp(&clock, &drain->clock, sizeof clock) == 0) {
        return;
    }
    clock.from_ns = now_ns;
    drain->clock = clock;
    drain->used += clv_clva_put_clock(room(drain, 56), 56, &clock);
}

/* Of the thread that runs this. */
static int64_t cpu_ns(void)
{
    struct timespec used;

    (void) clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (int64_t) used.tv_sec * 1000000000 + used.tv_nsec;
}

int64_t clv_drain_tend(void *context, unsigned char *memory, size_t ring_bytes,
                       const clv_cs_model_t *clock, int64_t now_ns, int is_last)
{
    clv_drain_t *drain = context;

    if (drain->fd < 0) {
        return INT64_MAX;
    }
    note_clock(drain, clock, now_ns);
    for (int32_t i = 0; i < drain->n_ranks; i++) {
        clv_ring_t *ring = (clv_ring_t *) (void *) (memory + (size_t) i * ring_bytes);
        (void) take_ring(drain, i, ring);
        note_dropped(drain, i, ring);
    }
    if (is_last) {
        drain->used += clv_clva_put_end(room(drain, 24), 24, drain->n_calls, drain->thread_ns);
    } else {
        drain->thread_ns = cpu_ns();
    }
    flush(drain);
    return now_ns + CLV_DRAIN_PERIOD_NS;
}
