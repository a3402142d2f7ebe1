/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes the rings of a node into its file (see record_drain.h).
 */
#include "record/record_drain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/util_alloc.h"
#include "util/util_bytes.h"
#include "util/util_limit.h"
#include "util/util_log.h"
#include "util/util_min_max.h"

#define BUFFER_BYTES CLV_CLVA_RECORD_BYTES
#define BATCH_CALLS  1024 /* of one rank in one record */
#define MIB          (INT64_C(1) << 20)
#define SMALL_BYTES  (MIB / 16) /* of the file, kept for records other than calls */
#define MAX_EVERY    (INT64_C(1) << 32)

/* The first period. It doubles from round to round: clocks improve in a job's first seconds. */
#define FIRST_PERIOD_NS (CLV_DRAIN_PERIOD_NS / 16)

struct clv_drain {
    int fd;             /* -1: there was never a file */
    atomic_int is_over; /* no more is written */
    int is_last;        /* the last round: written at once */
    int32_t n_ranks;
    int32_t *ranks;
    uint64_t *n_dropped; /* per rank, as the file says */
    clv_clva_clock_t clock;
    int64_t due_ns, period_ns; /* of rounds; shorter at first */
    int64_t n_calls, thread_ns;
    int64_t every;              /* a power of two */
    int64_t max_bytes, n_bytes; /* of the file */
    size_t used;                /* of the buffer */
    unsigned char *buffer;      /* being filled */
    unsigned char *out;         /* being written */
    atomic_size_t n_out;        /* bytes of out to write; 0: the writer is done */
    unsigned char buffers[2][BUFFER_BYTES];
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
    drain->period_ns = FIRST_PERIOD_NS;
    drain->buffer = drain->buffers[0];
    drain->out = drain->buffers[1];
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

/* Returns 0, or the errno that ends the file here. */
static int write_out(clv_drain_t *drain, size_t n_out)
{
    clv_limit_guard_t guard;
    size_t done = 0;
    int error = 0;

    clv_limit_begin(&guard);
    while (done < n_out && error == 0) {
        const ssize_t n = write(drain->fd, drain->out + done, n_out - done);
        error = n < 0 && errno != EINTR ? errno : 0;
        done += n > 0 ? (size_t) n : 0;
    }
    clv_limit_end(&guard);
    if (error != 0) {
        atomic_store_explicit(&drain->is_over, 1, memory_order_relaxed);
    }
    return error;
}

void clv_drain_write(void *context)
{
    clv_drain_t *drain = context;
    const size_t n_out = atomic_load_explicit(&drain->n_out, memory_order_acquire);
    const int error =
        atomic_load_explicit(&drain->is_over, memory_order_relaxed) ? 0 : write_out(drain, n_out);
    char text[200];

    if (error != 0) {
        clv_limit_text(error, text, sizeof text);
        clv_log(CLV_LOG_ERROR, "recording of arrivals ends here: %s", text);
    }
    atomic_store_explicit(&drain->n_out, 0, memory_order_release);
}

/* Hands the filled buffer to the writer, unless the writer is still busy with the one before. */
static void hand_over(clv_drain_t *drain)
{
    unsigned char *written = drain->out;

    if (drain->used == 0 || atomic_load_explicit(&drain->n_out, memory_order_acquire) > 0) {
        return;
    }
    drain->out = drain->buffer;
    drain->buffer = written;
    drain->n_bytes += (int64_t) drain->used;
    atomic_store_explicit(&drain->n_out, drain->used, memory_order_release);
    drain->used = 0;
    if (drain->is_last) {
        clv_drain_write(drain);
    }
}

/* Whether n_bytes more fit into the buffer, which is handed over first if necessary. */
static bool has_room(clv_drain_t *drain, size_t n_bytes)
{
    if (drain->used + n_bytes > BUFFER_BYTES) {
        hand_over(drain);
    }
    return drain->used + n_bytes <= BUFFER_BYTES;
}

static unsigned char *room(clv_drain_t *drain)
{
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
    drain->n_bytes = (int64_t) drain->used;
    memcpy(drain->out, drain->buffer, drain->used);
    const int error = write_out(drain, drain->used);
    drain->used = 0;
    errno = error;
    return error == 0 ? CLV_OK : CLV_SYSTEM;
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
    drain->max_bytes = clv_smaller(head->max_mib * MIB, clv_limit_file_bytes());
    drain->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (drain->fd < 0) {
        return CLV_SYSTEM;
    }
    const clv_status_t status = write_head(drain, head);
    if (status != CLV_OK) {
        const int error = errno;
        (void) unlink(path); /* a truncated head is unreadable */
        errno = error;
    }
    return status;
}

/* ---- thinning out ---------------------------------------------------------------------------- */

/* Bytes of the file that may be used while one call in `every` is kept: 1/2, 3/4, 7/8 ... of it. */
static int64_t allowed(const clv_drain_t *drain)
{
    return drain->max_bytes - SMALL_BYTES - drain->max_bytes / (2 * drain->every);
}

/* Keeps half as many calls, again and again, until n_bytes more of them are allowed. */
static void thin_out(clv_drain_t *drain, size_t n_bytes)
{
    while (drain->n_bytes + (int64_t) (drain->used + n_bytes) > allowed(drain) &&
           drain->every < MAX_EVERY && has_room(drain, 16)) {
        drain->every *= 2;
        drain->used += clv_clva_put_every(room(drain), 16, drain->every);
    }
}

/* Whether n_bytes more fit into the file. SMALL_BYTES stay free for the small records that say how
 * the recording went. */
static bool has_left(const clv_drain_t *drain, size_t n_bytes)
{
    return drain->n_bytes + (int64_t) (drain->used + n_bytes) <= drain->max_bytes - SMALL_BYTES;
}

/* ---- taking from a ring: returns the slots taken, 0 if the buffer has no room ---------------- */

/* Closes a record of n calls if the file has room. They are in the buffer already, behind its
 * head. */
static void close_calls(clv_drain_t *drain, int32_t rank, int32_t n)
{
    const size_t n_bytes = CLV_CLVA_CALLS_AT + (size_t) n * CLV_CLVA_SLOT_BYTES;

    if (n > 0 && has_left(drain, n_bytes)) {
        drain->used += clv_clva_close_calls(room(drain), n_bytes, rank, n);
        drain->n_calls += n;
    }
}

/* Takes calls up to the first slot that is not one. Keeps every call whose number `every`
 * divides. */
static uint64_t take_calls(clv_drain_t *drain, int32_t rank, const clv_ring_t *ring, uint64_t at,
                           uint64_t n)
{
    const uint64_t rest = (uint64_t) (drain->every - 1);
    clv_clva_call_t call;
    uint64_t i = 0;
    int32_t n_kept = 0;

    if (!has_room(drain, CLV_CLVA_CALLS_AT + BATCH_CALLS * CLV_CLVA_SLOT_BYTES)) {
        return 0;
    }
    unsigned char *to = room(drain) + CLV_CLVA_CALLS_AT;
    for (; i < n && n_kept < BATCH_CALLS; i++) {
        memcpy(&call, clv_ring_slot(ring, at + i), sizeof call);
        if (call.kind != CLV_CLVA_CALLS) {
            break;
        }
        memcpy(to + (size_t) n_kept * CLV_CLVA_SLOT_BYTES, &call, sizeof call);
        n_kept += (call.number & rest) == 0;
    }
    close_calls(drain, rank, n_kept);
    return i;
}

static uint64_t take_stream(clv_drain_t *drain, int32_t rank, const clv_ring_t *ring, uint64_t at)
{
    const size_t n_bytes = 16 + CLV_CLVA_SLOT_BYTES;
    clv_clva_stream_t stream;

    memcpy(&stream, clv_ring_slot(ring, at), sizeof stream);
    if (!has_room(drain, n_bytes)) {
        return 0;
    }
    if (has_left(drain, n_bytes)) {
        drain->used += clv_clva_put_stream(room(drain), n_bytes, rank, &stream);
    }
    return 1;
}

/* Converts the members in place from the host's byte order to the file's. */
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
        return n; /* garbage from another process */
    }
    const uint64_t n_slots = clv_drain_comm_slots(head.n_listed);
    const size_t n_bytes = 32 + CLV_CLVA_NAME_BYTES + 4 * (size_t) head.n_listed;
    if (!has_room(drain, n_bytes)) {
        return 0;
    }
    for (uint64_t i = 0; i < n_slots; i++) {
        memcpy(drain->comm + i * CLV_CLVA_SLOT_BYTES, clv_ring_slot(ring, at + i),
               CLV_CLVA_SLOT_BYTES);
    }
    comm = (clv_clva_comm_t){.id = head.id, .n_ranks = head.n_ranks, .n_listed = head.n_listed};
    memcpy(comm.name, drain->comm + CLV_CLVA_SLOT_BYTES, CLV_CLVA_NAME_BYTES - 1);
    set_members(drain, &comm);
    if (has_left(drain, n_bytes)) {
        drain->used += clv_clva_put_comm(room(drain), n_bytes, &comm);
    }
    return n_slots;
}

static uint64_t take_cost(clv_drain_t *drain, const clv_ring_t *ring, uint64_t at, uint64_t n)
{
    const size_t n_bytes = CLV_CLVA_COST_BYTES;
    clv_clva_cost_t cost;

    if (n < 2) {
        return n; /* garbage from another process */
    }
    if (!has_room(drain, n_bytes)) {
        return 0;
    }
    memcpy(&cost, clv_ring_slot(ring, at), CLV_CLVA_SLOT_BYTES);
    memcpy((char *) &cost + CLV_CLVA_SLOT_BYTES, clv_ring_slot(ring, at + 1), CLV_CLVA_SLOT_BYTES);
    if (has_left(drain, n_bytes)) {
        drain->used += clv_clva_put_cost(room(drain), n_bytes, &cost);
    }
    return 2;
}

/* EARLY or WAITS: a slot is a record. */
static uint64_t take_look(clv_drain_t *drain, int32_t rank, const clv_ring_t *ring, uint64_t at)
{
    const size_t n_bytes = 40;
    union {
        clv_clva_early_t early;
        clv_clva_waits_t waits;
    } look;

    memcpy(&look, clv_ring_slot(ring, at), sizeof look);
    if (!has_room(drain, n_bytes)) {
        return 0;
    }
    if (has_left(drain, n_bytes)) {
        drain->used += look.early.kind == CLV_CLVA_EARLY
                           ? clv_clva_put_early(room(drain), n_bytes, rank, &look.early)
                           : clv_clva_put_waits(room(drain), n_bytes, rank, &look.waits);
    }
    return 1;
}

/* Takes what begins at slot at. */
static uint64_t take_slots(clv_drain_t *drain, int32_t rank, const clv_ring_t *ring, uint64_t at,
                           uint64_t n)
{
    switch (*clv_ring_slot(ring, at)) {
    case CLV_CLVA_CALLS:
        thin_out(drain, BATCH_CALLS * CLV_CLVA_SLOT_BYTES);
        return take_calls(drain, rank, ring, at, n);
    case CLV_CLVA_STREAM:
        return take_stream(drain, rank, ring, at);
    case CLV_CLVA_COMM:
        return take_comm(drain, ring, at, n);
    case CLV_CLVA_COST:
        return take_cost(drain, ring, at, n);
    case CLV_CLVA_EARLY:
    case CLV_CLVA_WAITS:
        return take_look(drain, rank, ring, at);
    default: /* garbage from another process */
        return n;
    }
}

/* Returns 1 if everything that waited was taken. */
static bool take_ring(clv_drain_t *drain, int32_t local, clv_ring_t *ring)
{
    uint64_t at = 0;
    const uint64_t n = clv_ring_waiting(ring, &at);
    uint64_t done = 0, taken = n;

    while (done < n && taken > 0) {
        taken = take_slots(drain, drain->ranks[local], ring, at + done, n - done);
        done += taken;
    }
    clv_ring_release(ring, done);
    return done == n;
}

static void note_dropped(clv_drain_t *drain, int32_t local, const clv_ring_t *ring)
{
    const uint64_t n_dropped = atomic_load_explicit(&ring->n_dropped, memory_order_relaxed);

    if (n_dropped != drain->n_dropped[local] && has_room(drain, 24)) {
        drain->n_dropped[local] = n_dropped;
        drain->used += clv_clva_put_dropped(room(drain), 24, drain->ranks[local],
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
    if ((clock.from_ns != 0 && memcmp(&clock, &drain->clock, sizeof clock) == 0) ||
        !has_room(drain, 56)) {
        return;
    }
    clock.from_ns = now_ns;
    drain->clock = clock;
    drain->used += clv_clva_put_clock(room(drain), 56, &clock);
}

/* CPU time of the calling thread. */
static int64_t cpu_ns(void)
{
    struct timespec used;

    (void) clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (int64_t) used.tv_sec * 1000000000 + used.tv_nsec;
}

static clv_ring_t *ring_of(unsigned char *memory, size_t ring_bytes, int32_t local)
{
    return (clv_ring_t *) (void *) (memory + (size_t) local * ring_bytes);
}

/* Whether a ring is half full. Its rank wakes this thread then; ranks also wake it for other
 * reasons. */
static bool is_urgent(const clv_drain_t *drain, unsigned char *memory, size_t ring_bytes)
{
    uint64_t first;

    for (int32_t i = 0; i < drain->n_ranks; i++) {
        if (clv_ring_waiting(ring_of(memory, ring_bytes, i), &first) >= CLV_RING_SLOTS / 2) {
            return true;
        }
    }
    return false;
}

/* Returns 1 if everything that waited was taken. */
static bool take_rings(clv_drain_t *drain, unsigned char *memory, size_t ring_bytes)
{
    bool is_all = true;

    for (int32_t i = 0; i < drain->n_ranks; i++) {
        clv_ring_t *ring = ring_of(memory, ring_bytes, i);
        is_all &= take_ring(drain, i, ring);
        note_dropped(drain, i, ring);
    }
    return is_all;
}

int64_t clv_drain_tend(void *context, unsigned char *memory, size_t ring_bytes,
                       const clv_cs_model_t *clock, int64_t now_ns, int is_last)
{
    clv_drain_t *drain = context;

    if (drain->fd < 0 || atomic_load_explicit(&drain->is_over, memory_order_relaxed)) {
        return INT64_MAX;
    }
    if (!is_last && now_ns < drain->due_ns && !is_urgent(drain, memory, ring_bytes)) {
        return drain->due_ns;
    }
    drain->is_last = is_last;
    if (is_last) {
        clv_drain_write(drain); /* the rest of the previous round */
    }
    note_clock(drain, clock, now_ns);
    const bool is_all = take_rings(drain, memory, ring_bytes);
    if (!is_last) {
        drain->thread_ns = cpu_ns();
    } else if (has_room(drain, 24)) {
        drain->used += clv_clva_put_end(room(drain), 24, drain->n_calls, drain->thread_ns);
    }
    hand_over(drain);
    drain->due_ns = is_all ? now_ns + drain->period_ns : now_ns;
    drain->period_ns = clv_smaller(2 * drain->period_ns, CLV_DRAIN_PERIOD_NS);
    return drain->due_ns;
}
