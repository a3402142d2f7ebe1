/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A recorder for OTF2, for users whose distribution has no Score-P, and for clv-correct's tests:
 *
 *     mpirun -x LD_PRELOAD=.../otf2_recorder.so -x CLV_OTF2_DIR=/tmp/trace ... PROGRAM
 *
 * writes CLV_OTF2_DIR/traces.otf2 with Score-P's events for messages and collectives, stamps by
 * each host's CLOCK_MONOTONIC, clock offsets measured at MPI_Init and MPI_Finalize (and at every
 * CLV_OTF2_SYNC-th barrier of the world), and the boot and time namespace of each host's clock.
 *
 * CLV_OTF2_TRUTH=1 adds the attribute true_ns (CLOCK_REALTIME; emulated hosts share it).
 * CLV_OTF2_CLOCKS=PREFIX writes the clock data of clv's component to PREFIX.<host>.jsonl.
 * CLV_OTF2_DRIFT_PPM, _WANDER_US, _PERIOD_S, _EPOCH_S (equal on all ranks) distort the clocks.
 *
 * Not: threads, Fortran, persistent requests, one-sided and file operations; those are not
 * recorded, and clv-correct lists messages and collectives that are then incomplete. One thread,
 * the program's.
 */
#include "tests/support/otf2_recorder.h"

#include <otf2/OTF2_MPI_Collectives.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/tools/otf2/otf2_create.h"

/* clang-format off */
#define REGION_MAP(XX)                                                                             \
    XX(Init) XX(Finalize) XX(Send) XX(Recv) XX(Isend) XX(Irecv) XX(Sendrecv) XX(Wait)              \
    XX(Waitall) XX(Waitany) XX(Waitsome) XX(Test) XX(Testall) XX(Testany) XX(Testsome)             \
    XX(Barrier) XX(Bcast) XX(Reduce) XX(Allreduce) XX(Gather) XX(Gatherv) XX(Scatter)              \
    XX(Scatterv) XX(Allgather) XX(Allgatherv) XX(Alltoall) XX(Alltoallv) XX(Scan) XX(Exscan)       \
    XX(Reduce_scatter) XX(Reduce_scatter_block) XX(Comm_split) XX(Comm_dup) XX(Comm_create)        \
    XX(Comm_free)
/* clang-format on */

enum {
#define REGION(name) R_##name,
    REGION_MAP(REGION)
#undef REGION
        N_REGIONS
};

static const char *const region_names[] = {
#define REGION(name) "MPI_" #name,
    REGION_MAP(REGION)
#undef REGION
};

typedef struct known_comm {
    int id, n_ranks, *ranks; /* ranks of the world; kept by rank 0 of the communicator */
} known_comm_t;

typedef struct open_request {
    MPI_Request request;
    int is_receive, comm;
    uint64_t id;
} open_request_t;

static struct {
    OTF2_Archive *archive;
    OTF2_EvtWriter *writer;
    OTF2_AttributeList *attributes;
    int rank, n_ranks, is_on, has_truth, sync_every, n_barriers, keyval;
    uint64_t n_events, first_ns, n_requests;
    known_comm_t *comms;
    int n_comms, n_made;
    open_request_t *open;
    int n_open, n_slots;
} rec;

/* ---- one event ---- */

static uint64_t stamp(void)
{
    int64_t truth_ns;
    const uint64_t now = recorder_now_and_truth(&truth_ns);
    if (rec.has_truth) {
        OTF2_AttributeList_AddInt64(rec.attributes, 0, truth_ns);
    }
    rec.n_events++;
    return now;
}

#define EVENT(kind, ...) OTF2_EvtWriter_##kind(rec.writer, rec.attributes, stamp(), __VA_ARGS__)

static void enter(int region)
{
    EVENT(Enter, (uint32_t) region);
}

static void leave(int region)
{
    EVENT(Leave, (uint32_t) region);
    recorder_sample_clock();
}

static uint64_t bytes(int count, MPI_Datatype type)
{
    int size = 0;
    PMPI_Type_size(type, &size);
    return (uint64_t) count * (uint64_t) size;
}

static uint64_t sum(const int *counts, MPI_Datatype type, int n)
{
    uint64_t total = 0;
    for (int i = 0; i < n; i++) {
        total += bytes(counts[i], type);
    }
    return total;
}

/* ---- communicators: each has a number, equal on its ranks; -1: created by an unknown call ---- */

static int comm_id(MPI_Comm comm)
{
    int *id, is_there = 0;
    if (comm == MPI_COMM_WORLD) {
        return 0;
    }
    PMPI_Comm_get_attr(comm, rec.keyval, &id, &is_there);
    return is_there ? *id : -1;
}

static int rank_in(MPI_Comm comm)
{
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}

static int size_of(MPI_Comm comm)
{
    int size = 0;
    PMPI_Comm_size(comm, &size);
    return size;
}

static void keep_ranks(MPI_Comm comm, int id)
{
    const int n = size_of(comm);
    int *own = malloc(sizeof *own * (size_t) n), *ranks = malloc(sizeof *ranks * (size_t) n);
    known_comm_t *larger = realloc(rec.comms, sizeof *rec.comms * (size_t) (rec.n_comms + 1));
    MPI_Group group, world;
    if (!own || !ranks || !larger) {
        PMPI_Abort(MPI_COMM_WORLD, 1);
        abort(); /* never reached, but only MPI knows that */
    }
    rec.comms = larger;
    for (int i = 0; i < n; i++) {
        own[i] = i;
    }
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(group, n, own, world, ranks);
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    rec.comms[rec.n_comms++] = (known_comm_t){id, n, ranks};
    free(own);
}

static void adopt(MPI_Comm comm)
{
    int is_inter = 0;
    if (!rec.is_on || comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &is_inter) || is_inter) {
        return;
    }
    int *id = malloc(sizeof *id);
    if (!id) {
        return;
    }
    *id = 1 + rec.rank + rec.n_ranks * rec.n_made++;
    PMPI_Bcast(id, 1, MPI_INT, 0, comm);
    PMPI_Comm_set_attr(comm, rec.keyval, id);
    if (rank_in(comm) == 0) {
        keep_ranks(comm, *id);
    }
}

/* ---- requests ---- */

static void open_request(MPI_Request request, int is_receive, MPI_Comm comm, uint64_t id)
{
    if (rec.n_open == rec.n_slots) {
        const int n = 2 * rec.n_slots + 64;
        open_request_t *larger = realloc(rec.open, sizeof *larger * (size_t) n);
        if (!larger) {
            return;
        }
        rec.open = larger;
        rec.n_slots = n;
    }
    rec.open[rec.n_open++] = (open_request_t){request, is_receive, comm_id(comm), id};
}

static void write_receive(int region, int comm, const MPI_Status *status, uint64_t id)
{
    int n = 0, is_cancelled = 0;
    PMPI_Test_cancelled(status, &is_cancelled);
    PMPI_Get_count(status, MPI_BYTE, &n);
    if (comm < 0 || is_cancelled || status->MPI_SOURCE < 0) {
        return;
    }
    if (region == R_Recv) {
        EVENT(MpiRecv, (uint32_t) status->MPI_SOURCE, (uint32_t) comm, (uint32_t) status->MPI_TAG,
              (uint64_t) n);
    } else {
        EVENT(MpiIrecv, (uint32_t) status->MPI_SOURCE, (uint32_t) comm, (uint32_t) status->MPI_TAG,
              (uint64_t) n, id);
    }
}

static void close_request(MPI_Request request, const MPI_Status *status)
{
    for (int i = 0; i < rec.n_open; i++) {
        const open_request_t found = rec.open[i];
        if (found.request == request) {
            rec.open[i] = rec.open[--rec.n_open];
            if (found.is_receive) {
                write_receive(R_Irecv, found.comm, status, found.id);
            } else {
                EVENT(MpiIsendComplete, found.id);
            }
            return;
        }
    }
}

/* A copy of requests before a call that overwrites them, and room for its statuses. */
typedef struct waiting {
    MPI_Request *requests;
    MPI_Status *statuses;
} waiting_t;

static waiting_t wait_begin(int region, int n, const MPI_Request *requests)
{
    const size_t slots = n > 0 ? (size_t) n : 1;
    waiting_t waiting = {malloc(slots * sizeof(MPI_Request)), calloc(slots, sizeof(MPI_Status))};
    if (!waiting.requests || !waiting.statuses) {
        PMPI_Abort(MPI_COMM_WORLD, 1);
        abort();
    }
    memcpy(waiting.requests, requests, (size_t) n * sizeof *requests);
    enter(region);
    return waiting;
}

static void wait_end(int region, waiting_t *waiting, int n, MPI_Status *statuses, int is_ignored)
{
    leave(region);
    if (!is_ignored && n > 0) {
        memcpy(statuses, waiting->statuses, (size_t) n * sizeof *statuses);
    }
    free(waiting->requests);
    free(waiting->statuses);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    if (!rec.is_on) {
        return PMPI_Wait(request, status);
    }
    waiting_t waiting = wait_begin(R_Wait, 1, request);
    const int answer = PMPI_Wait(request, waiting.statuses);
    close_request(waiting.requests[0], waiting.statuses);
    wait_end(R_Wait, &waiting, 1, status, status == MPI_STATUS_IGNORE);
    return answer;
}

int MPI_Waitall(int n, MPI_Request requests[], MPI_Status statuses[])
{
    if (!rec.is_on || n == 0) {
        return PMPI_Waitall(n, requests, statuses);
    }
    waiting_t waiting = wait_begin(R_Waitall, n, requests);
    const int answer = PMPI_Waitall(n, requests, waiting.statuses);
    for (int i = 0; i < n; i++) {
        close_request(waiting.requests[i], &waiting.statuses[i]);
    }
    wait_end(R_Waitall, &waiting, n, statuses, statuses == MPI_STATUSES_IGNORE);
    return answer;
}

int MPI_Waitany(int n, MPI_Request requests[], int *index, MPI_Status *status)
{
    if (!rec.is_on || n == 0) {
        return PMPI_Waitany(n, requests, index, status);
    }
    waiting_t waiting = wait_begin(R_Waitany, n, requests);
    const int answer = PMPI_Waitany(n, requests, index, waiting.statuses);
    if (*index != MPI_UNDEFINED) {
        close_request(waiting.requests[*index], waiting.statuses);
    }
    wait_end(R_Waitany, &waiting, 1, status, status == MPI_STATUS_IGNORE);
    return answer;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    if (!rec.is_on) {
        return PMPI_Test(request, flag, status);
    }
    waiting_t waiting = wait_begin(R_Test, 1, request);
    const int answer = PMPI_Test(request, flag, waiting.statuses);
    if (*flag) {
        close_request(waiting.requests[0], waiting.statuses);
    }
    wait_end(R_Test, &waiting, 1, status, status == MPI_STATUS_IGNORE || !*flag);
    return answer;
}

int MPI_Testall(int n, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    if (!rec.is_on || n == 0) {
        return PMPI_Testall(n, requests, flag, statuses);
    }
    waiting_t waiting = wait_begin(R_Testall, n, requests);
    const int answer = PMPI_Testall(n, requests, flag, waiting.statuses);
    for (int i = 0; i < n && *flag; i++) {
        close_request(waiting.requests[i], &waiting.statuses[i]);
    }
    wait_end(R_Testall, &waiting, n, statuses, statuses == MPI_STATUSES_IGNORE || !*flag);
    return answer;
}

int MPI_Testany(int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    if (!rec.is_on || n == 0) {
        return PMPI_Testany(n, requests, index, flag, status);
    }
    waiting_t waiting = wait_begin(R_Testany, n, requests);
    const int answer = PMPI_Testany(n, requests, index, flag, waiting.statuses);
    if (*flag && *index != MPI_UNDEFINED) {
        close_request(waiting.requests[*index], waiting.statuses);
    }
    wait_end(R_Testany, &waiting, 1, status, status == MPI_STATUS_IGNORE || !*flag);
    return answer;
}

static void close_some(const waiting_t *waiting, int n_done, const int *indices)
{
    for (int i = 0; n_done != MPI_UNDEFINED && i < n_done; i++) {
        close_request(waiting->requests[indices[i]], &waiting->statuses[i]);
    }
}

int MPI_Waitsome(int n, MPI_Request requests[], int *n_done, int indices[], MPI_Status statuses[])
{
    if (!rec.is_on || n == 0) {
        return PMPI_Waitsome(n, requests, n_done, indices, statuses);
    }
    waiting_t waiting = wait_begin(R_Waitsome, n, requests);
    const int answer = PMPI_Waitsome(n, requests, n_done, indices, waiting.statuses);
    close_some(&waiting, *n_done, indices);
    wait_end(R_Waitsome, &waiting, *n_done == MPI_UNDEFINED ? 0 : *n_done, statuses,
             statuses == MPI_STATUSES_IGNORE);
    return answer;
}

int MPI_Testsome(int n, MPI_Request requests[], int *n_done, int indices[], MPI_Status statuses[])
{
    if (!rec.is_on || n == 0) {
        return PMPI_Testsome(n, requests, n_done, indices, statuses);
    }
    waiting_t waiting = wait_begin(R_Testsome, n, requests);
    const int answer = PMPI_Testsome(n, requests, n_done, indices, waiting.statuses);
    close_some(&waiting, *n_done, indices);
    wait_end(R_Testsome, &waiting, *n_done == MPI_UNDEFINED ? 0 : *n_done, statuses,
             statuses == MPI_STATUSES_IGNORE);
    return answer;
}

/* ---- messages ---- */

static void write_send(int target, MPI_Comm comm, int tag, uint64_t n_bytes)
{
    const int id = comm_id(comm);
    if (id >= 0 && target != MPI_PROC_NULL) {
        EVENT(MpiSend, (uint32_t) target, (uint32_t) id, (uint32_t) tag, n_bytes);
    }
}

#define SEND(NAME)                                                                                 \
    int MPI_##NAME(const void *data, int n, MPI_Datatype type, int target, int tag, MPI_Comm comm) \
    {                                                                                              \
        if (!rec.is_on) {                                                                          \
            return PMPI_##NAME(data, n, type, target, tag, comm);                                  \
        }                                                                                          \
        enter(R_Send);                                                                             \
        write_send(target, comm, tag, bytes(n, type));                                             \
        const int answer = PMPI_##NAME(data, n, type, target, tag, comm);                          \
        leave(R_Send);                                                                             \
        return answer;                                                                             \
    }
SEND(Send)
SEND(Ssend)
SEND(Rsend)

#define ISEND(NAME)                                                                                \
    int MPI_##NAME(const void *data, int n, MPI_Datatype type, int target, int tag, MPI_Comm comm, \
                   MPI_Request *request)                                                           \
    {                                                                                              \
        const int id = rec.is_on ? comm_id(comm) : -1;                                             \
        if (id < 0 || target == MPI_PROC_NULL) {                                                   \
            return PMPI_##NAME(data, n, type, target, tag, comm, request);                         \
        }                                                                                          \
        enter(R_Isend);                                                                            \
        const uint64_t own = ++rec.n_requests;                                                     \
        EVENT(MpiIsend, (uint32_t) target, (uint32_t) id, (uint32_t) tag, bytes(n, type), own);    \
        const int answer = PMPI_##NAME(data, n, type, target, tag, comm, request);                 \
        open_request(*request, 0, comm, own);                                                      \
        leave(R_Isend);                                                                            \
        return answer;                                                                             \
    }
ISEND(Isend)
ISEND(Issend)
ISEND(Irsend)

int MPI_Recv(void *data, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    MPI_Status own;
    if (!rec.is_on || source == MPI_PROC_NULL) {
        return PMPI_Recv(data, n, type, source, tag, comm, status);
    }
    enter(R_Recv);
    const int answer = PMPI_Recv(data, n, type, source, tag, comm, &own);
    write_receive(R_Recv, comm_id(comm), &own, 0);
    leave(R_Recv);
    if (status != MPI_STATUS_IGNORE) {
        *status = own;
    }
    return answer;
}

int MPI_Irecv(void *data, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    const int id = rec.is_on ? comm_id(comm) : -1;
    if (id < 0 || source == MPI_PROC_NULL) {
        return PMPI_Irecv(data, n, type, source, tag, comm, request);
    }
    enter(R_Irecv);
    const uint64_t own = ++rec.n_requests;
    const int answer = PMPI_Irecv(data, n, type, source, tag, comm, request);
    EVENT(MpiIrecvRequest, own);
    open_request(*request, 1, comm, own);
    leave(R_Irecv);
    return answer;
}

int MPI_Sendrecv(const void *out, int n, MPI_Datatype type, int target, int tag, void *in, int m,
                 MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Status own;
    if (!rec.is_on) {
        return PMPI_Sendrecv(out, n, type, target, tag, in, m, in_type, source, in_tag, comm,
                             status);
    }
    enter(R_Sendrecv);
    write_send(target, comm, tag, bytes(n, type));
    const int answer =
        PMPI_Sendrecv(out, n, type, target, tag, in, m, in_type, source, in_tag, comm, &own);
    if (source != MPI_PROC_NULL) {
        write_receive(R_Recv, comm_id(comm), &own, 0);
    }
    leave(R_Sendrecv);
    if (status != MPI_STATUS_IGNORE) {
        *status = own;
    }
    return answer;
}

/* ---- collectives ---- */

#define NO_ROOT OTF2_COLLECTIVE_ROOT_NONE

static void begin_collective(int region)
{
    enter(region);
    OTF2_EvtWriter_MpiCollectiveBegin(rec.writer, rec.attributes, stamp());
}

static void end_collective(int region, OTF2_CollectiveOp op, MPI_Comm comm, uint32_t root,
                           uint64_t sent, uint64_t received)
{
    const int id = comm_id(comm);
    if (id >= 0) {
        EVENT(MpiCollectiveEnd, op, (uint32_t) id, root, sent, received);
    }
    leave(region);
}

/* NAME(parameters) calls with arguments; OP is its name in OTF2; then root, bytes sent and
 * received. */
#define COLLECTIVE(NAME, PARAMETERS, ARGUMENTS, OP, ROOT, SENT, RECEIVED)                          \
    int MPI_##NAME PARAMETERS                                                                      \
    {                                                                                              \
        if (!rec.is_on) {                                                                          \
            return PMPI_##NAME ARGUMENTS;                                                          \
        }                                                                                          \
        begin_collective(R_##NAME);                                                                \
        const int answer = PMPI_##NAME ARGUMENTS;                                                  \
        end_collective(R_##NAME, OTF2_COLLECTIVE_OP_##OP, comm, (uint32_t) (ROOT), SENT,           \
                       RECEIVED);                                                                  \
        return answer;                                                                             \
    }
#define IS_ROOT (rank_in(comm) == root)
#define N_RANKS ((uint64_t) size_of(comm))

COLLECTIVE(Bcast, (void *data, int n, MPI_Datatype type, int root, MPI_Comm comm),
           (data, n, type, root, comm), BCAST, root, IS_ROOT ? bytes(n, type) : 0, bytes(n, type))
COLLECTIVE(Reduce,
           (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, int root,
            MPI_Comm comm),
           (in, out, n, type, op, root, comm), REDUCE, root, bytes(n, type),
           IS_ROOT ? bytes(n, type) : 0)
COLLECTIVE(Allreduce,
           (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (in, out, n, type, op, comm), ALLREDUCE, NO_ROOT, bytes(n, type), bytes(n, type))
COLLECTIVE(Scan, (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (in, out, n, type, op, comm), SCAN, NO_ROOT, bytes(n, type), bytes(n, type))
COLLECTIVE(Exscan, (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (in, out, n, type, op, comm), EXSCAN, NO_ROOT, bytes(n, type), bytes(n, type))
COLLECTIVE(Reduce_scatter_block,
           (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (in, out, n, type, op, comm), REDUCE_SCATTER_BLOCK, NO_ROOT, N_RANKS *bytes(n, type),
           bytes(n, type))
COLLECTIVE(Reduce_scatter,
           (const void *in, void *out, const int n[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (in, out, n, type, op, comm), REDUCE_SCATTER, NO_ROOT, sum(n, type, size_of(comm)),
           bytes(n[rank_in(comm)], type))
COLLECTIVE(Gather,
           (const void *in, int n, MPI_Datatype type, void *out, int m, MPI_Datatype out_type,
            int root, MPI_Comm comm),
           (in, n, type, out, m, out_type, root, comm), GATHER, root,
           in == MPI_IN_PLACE ? bytes(m, out_type) : bytes(n, type),
           IS_ROOT ? N_RANKS *bytes(m, out_type) : 0)
COLLECTIVE(Gatherv,
           (const void *in, int n, MPI_Datatype type, void *out, const int m[], const int at[],
            MPI_Datatype out_type, int root, MPI_Comm comm),
           (in, n, type, out, m, at, out_type, root, comm), GATHERV, root,
           in == MPI_IN_PLACE ? bytes(m[rank_in(comm)], out_type) : bytes(n, type),
           IS_ROOT ? sum(m, out_type, size_of(comm)) : 0)
COLLECTIVE(Scatter,
           (const void *in, int n, MPI_Datatype type, void *out, int m, MPI_Datatype out_type,
            int root, MPI_Comm comm),
           (in, n, type, out, m, out_type, root, comm), SCATTER, root,
           IS_ROOT ? N_RANKS *bytes(n, type) : 0,
           out == MPI_IN_PLACE ? bytes(n, type) : bytes(m, out_type))
COLLECTIVE(Scatterv,
           (const void *in, const int n[], const int at[], MPI_Datatype type, void *out, int m,
            MPI_Datatype out_type, int root, MPI_Comm comm),
           (in, n, at, type, out, m, out_type, root, comm), SCATTERV, root,
           IS_ROOT ? sum(n, type, size_of(comm)) : 0,
           out == MPI_IN_PLACE ? bytes(n[rank_in(comm)], type) : bytes(m, out_type))
COLLECTIVE(Allgather,
           (const void *in, int n, MPI_Datatype type, void *out, int m, MPI_Datatype out_type,
            MPI_Comm comm),
           (in, n, type, out, m, out_type, comm), ALLGATHER, NO_ROOT,
           in == MPI_IN_PLACE ? bytes(m, out_type) : bytes(n, type), N_RANKS *bytes(m, out_type))
COLLECTIVE(Allgatherv,
           (const void *in, int n, MPI_Datatype type, void *out, const int m[], const int at[],
            MPI_Datatype out_type, MPI_Comm comm),
           (in, n, type, out, m, at, out_type, comm), ALLGATHERV, NO_ROOT,
           in == MPI_IN_PLACE ? bytes(m[rank_in(comm)], out_type) : bytes(n, type),
           sum(m, out_type, size_of(comm)))
COLLECTIVE(Alltoall,
           (const void *in, int n, MPI_Datatype type, void *out, int m, MPI_Datatype out_type,
            MPI_Comm comm),
           (in, n, type, out, m, out_type, comm), ALLTOALL, NO_ROOT,
           N_RANKS *(in == MPI_IN_PLACE ? bytes(m, out_type) : bytes(n, type)),
           N_RANKS *bytes(m, out_type))
COLLECTIVE(Alltoallv,
           (const void *in, const int n[], const int at[], MPI_Datatype type, void *out,
            const int m[], const int out_at[], MPI_Datatype out_type, MPI_Comm comm),
           (in, n, at, type, out, m, out_at, out_type, comm), ALLTOALLV, NO_ROOT,
           in == MPI_IN_PLACE ? sum(m, out_type, size_of(comm)) : sum(n, type, size_of(comm)),
           sum(m, out_type, size_of(comm)))

int MPI_Barrier(MPI_Comm comm)
{
    if (!rec.is_on) {
        return PMPI_Barrier(comm);
    }
    if (comm == MPI_COMM_WORLD && rec.sync_every > 0 && ++rec.n_barriers % rec.sync_every == 0) {
        recorder_measure_offsets();
    }
    begin_collective(R_Barrier);
    const int answer = PMPI_Barrier(comm);
    end_collective(R_Barrier, OTF2_COLLECTIVE_OP_BARRIER, comm, NO_ROOT, 0, 0);
    return answer;
}

/* Creating a communicator waits for all ranks of its parent. */
#define CREATION(NAME, PARAMETERS, ARGUMENTS)                                                      \
    int MPI_##NAME PARAMETERS                                                                      \
    {                                                                                              \
        if (!rec.is_on) {                                                                          \
            return PMPI_##NAME ARGUMENTS;                                                          \
        }                                                                                          \
        begin_collective(R_##NAME);                                                                \
        const int answer = PMPI_##NAME ARGUMENTS;                                                  \
        end_collective(R_##NAME, OTF2_COLLECTIVE_OP_CREATE_HANDLE, comm, NO_ROOT, 0, 0);           \
        adopt(*made);                                                                              \
        return answer;                                                                             \
    }
CREATION(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made), (comm, color, key, made))
CREATION(Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made))
CREATION(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made))

/* ---- begin and end ---- */

static void open_archive(void)
{
    static MPI_Comm own;
    const char *folder = getenv("CLV_OTF2_DIR");
    PMPI_Comm_dup(MPI_COMM_WORLD, &own);
    rec.archive = clv_otf2_create(folder ? folder : "clv-trace", "traces", CLV_OTF2_EVENT_CHUNK,
                                  CLV_OTF2_DEFINITION_CHUNK, OTF2_COMPRESSION_NONE);
    if (!rec.archive) {
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    OTF2_Archive_SetCreator(rec.archive, "clv's recorder");
    OTF2_MPI_Archive_SetCollectiveCallbacks(rec.archive, own, MPI_COMM_NULL);
    OTF2_Archive_OpenEvtFiles(rec.archive);
    rec.writer = OTF2_Archive_GetEvtWriter(rec.archive, (uint64_t) rec.rank);
    rec.attributes = OTF2_AttributeList_New();
}

/* A barrier represents the synchronisation of MPI_Init and MPI_Finalize. */
static void meet(int region)
{
    begin_collective(region);
    PMPI_Barrier(MPI_COMM_WORLD);
    end_collective(region, OTF2_COLLECTIVE_OP_BARRIER, MPI_COMM_WORLD, NO_ROOT, 0, 0);
}

static void begin(void)
{
    PMPI_Comm_rank(MPI_COMM_WORLD, &rec.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &rec.n_ranks);
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &rec.keyval, NULL);
    rec.has_truth = recorder_number("CLV_OTF2_TRUTH", 0) > 0;
    rec.sync_every = (int) recorder_number("CLV_OTF2_SYNC", 0);
    recorder_clock_open(rec.rank, rec.n_ranks);
    open_archive();
    recorder_measure_offsets();
    rec.first_ns = recorder_now();
    rec.is_on = 1;
    meet(R_Init);
}

int MPI_Init(int *argc, char ***argv)
{
    const int answer = PMPI_Init(argc, argv);
    begin();
    return answer;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    const int answer = PMPI_Init_thread(argc, argv, required, provided);
    begin();
    return answer;
}

/* ---- definitions, by rank 0 ---- */

#define NAME_BYTES 64
#define TAG_COMMS  31003

typedef struct place {
    char host[NAME_BYTES], boot[NAME_BYTES], space[NAME_BYTES];
    uint64_t n_events;
} place_t;

static uint32_t n_strings;

static uint32_t text(OTF2_GlobalDefWriter *writer, const char *string)
{
    OTF2_GlobalDefWriter_WriteString(writer, n_strings, string);
    return n_strings++;
}

static void define_regions(OTF2_GlobalDefWriter *writer, uint32_t empty)
{
    for (uint32_t r = 0; r < N_REGIONS; r++) {
        const uint32_t name = text(writer, region_names[r]);
        OTF2_GlobalDefWriter_WriteRegion(writer, r, name, name, empty,
                                         r >= R_Barrier ? OTF2_REGION_ROLE_COLL_ALL2ALL
                                                        : OTF2_REGION_ROLE_POINT2POINT,
                                         OTF2_PARADIGM_MPI, OTF2_REGION_FLAG_NONE, empty, 0, 0);
    }
    OTF2_GlobalDefWriter_WriteAttribute(writer, 0, text(writer, "true_ns"),
                                        text(writer, "CLOCK_REALTIME of hosts that share it"),
                                        OTF2_TYPE_INT64);
}

static void define_host(OTF2_GlobalDefWriter *writer, uint32_t ref, const place_t *place,
                        const uint32_t *names)
{
    const char *values[] = {place->boot, place->space, "monotonic"};
    OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, ref, text(writer, place->host), names[3], 0);
    for (int i = 0; i < 3; i++) {
        const OTF2_AttributeValue value = {.stringRef = text(writer, values[i])};
        OTF2_GlobalDefWriter_WriteSystemTreeNodeProperty(writer, ref, names[i], OTF2_TYPE_STRING,
                                                         value);
    }
}

static void define_places(OTF2_GlobalDefWriter *writer, const place_t *places)
{
    const uint32_t names[] = {text(writer, "CLV::BOOT_ID"), text(writer, "CLV::TIME_NAMESPACE"),
                              text(writer, "CLV::CLOCK"), text(writer, "node")};
    const uint32_t machine = text(writer, "machine"), thread = text(writer, "Master thread");
    OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, 0, machine, machine,
                                             OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    for (int p = 0; p < rec.n_ranks; p++) {
        char name[NAME_BYTES];
        int first = 0;
        while (strcmp(places[first].host, places[p].host)) {
            first++;
        }
        if (first == p) {
            define_host(writer, 1 + (uint32_t) p, &places[p], names);
        }
        snprintf(name, sizeof name, "MPI Rank %d", p);
        OTF2_GlobalDefWriter_WriteLocationGroup(
            writer, (uint32_t) p, text(writer, name), OTF2_LOCATION_GROUP_TYPE_PROCESS,
            1 + (uint32_t) first, OTF2_UNDEFINED_LOCATION_GROUP);
        OTF2_GlobalDefWriter_WriteLocation(writer, (uint64_t) p, thread,
                                           OTF2_LOCATION_TYPE_CPU_THREAD, places[p].n_events,
                                           (uint32_t) p);
    }
}

static void define_comm(OTF2_GlobalDefWriter *writer, uint32_t ref, uint32_t name, int n,
                        const int *ranks)
{
    uint64_t *members = calloc((size_t) n + 1, sizeof *members);
    for (int i = 0; members && i < n; i++) {
        members[i] = ranks ? (uint64_t) ranks[i] : (uint64_t) i;
    }
    if (members && ref == 0) {
        OTF2_GlobalDefWriter_WriteGroup(writer, 0, name, OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                        OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, (uint32_t) n,
                                        members);
    }
    OTF2_GlobalDefWriter_WriteGroup(writer, 1 + ref, name, OTF2_GROUP_TYPE_COMM_GROUP,
                                    OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, (uint32_t) n, members);
    OTF2_GlobalDefWriter_WriteComm(writer, ref, name, 1 + ref, OTF2_UNDEFINED_COMM,
                                   OTF2_COMM_FLAG_NONE);
    free(members);
}

/* Rank 0 of each communicator describes it; the world's rank 0 writes all definitions. */
static void define_comms_of(OTF2_GlobalDefWriter *writer, int rank, uint32_t empty)
{
    int n_comms = rec.n_comms;
    if (rank > 0) {
        PMPI_Recv(&n_comms, 1, MPI_INT, rank, TAG_COMMS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < n_comms; i++) {
        known_comm_t comm = rank > 0 ? (known_comm_t){0} : rec.comms[i];
        if (rank > 0) {
            int head[2];
            PMPI_Recv(head, 2, MPI_INT, rank, TAG_COMMS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            comm = (known_comm_t){head[0], head[1], calloc((size_t) head[1] + 1, sizeof(int))};
            PMPI_Recv(comm.ranks, comm.n_ranks, MPI_INT, rank, TAG_COMMS, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE);
        }
        define_comm(writer, (uint32_t) comm.id, empty, comm.n_ranks, comm.ranks);
        if (rank > 0) {
            free(comm.ranks);
        }
    }
}

static void send_comms(void)
{
    PMPI_Send(&rec.n_comms, 1, MPI_INT, 0, TAG_COMMS, MPI_COMM_WORLD);
    for (int i = 0; i < rec.n_comms; i++) {
        const int head[] = {rec.comms[i].id, rec.comms[i].n_ranks};
        PMPI_Send(head, 2, MPI_INT, 0, TAG_COMMS, MPI_COMM_WORLD);
        PMPI_Send(rec.comms[i].ranks, head[1], MPI_INT, 0, TAG_COMMS, MPI_COMM_WORLD);
    }
}

static void define(const place_t *places)
{
    OTF2_GlobalDefWriter *writer = OTF2_Archive_GetGlobalDefWriter(rec.archive);
    OTF2_GlobalDefWriter_WriteClockProperties(writer, 1000000000, rec.first_ns,
                                              recorder_now() - rec.first_ns + 1,
                                              OTF2_UNDEFINED_TIMESTAMP);
    const uint32_t empty = text(writer, "");
    define_regions(writer, empty);
    define_places(writer, places);
    define_comm(writer, 0, text(writer, "MPI_COMM_WORLD"), rec.n_ranks, NULL);
    for (int rank = 0; rank < rec.n_ranks; rank++) {
        define_comms_of(writer, rank, empty);
    }
    OTF2_Archive_CloseGlobalDefWriter(rec.archive, writer);
}

static void close_files(void)
{
    OTF2_Archive_CloseEvtWriter(rec.archive, rec.writer);
    OTF2_Archive_CloseEvtFiles(rec.archive);
    OTF2_Archive_OpenDefFiles(rec.archive);
    OTF2_DefWriter *writer = OTF2_Archive_GetDefWriter(rec.archive, (uint64_t) rec.rank);
    recorder_write_offsets(writer);
    OTF2_Archive_CloseDefWriter(rec.archive, writer);
    OTF2_Archive_CloseDefFiles(rec.archive);
}

int MPI_Finalize(void)
{
    place_t own = {.host = ""};
    place_t *places = calloc((size_t) rec.n_ranks, sizeof *places);
    meet(R_Finalize);
    rec.is_on = 0;
    recorder_measure_offsets();
    close_files();
    gethostname(own.host, sizeof own.host - 1);
    recorder_boot_id(own.boot, sizeof own.boot);
    recorder_time_namespace(own.space, sizeof own.space);
    own.n_events = rec.n_events;
    PMPI_Gather(&own, sizeof own, MPI_BYTE, places, sizeof own, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rec.rank == 0) {
        define(places);
    } else {
        send_comms();
    }
    PMPI_Barrier(MPI_COMM_WORLD);
    OTF2_Archive_Close(rec.archive);
    recorder_clock_close();
    free(places);
    return PMPI_Finalize();
}
