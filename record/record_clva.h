/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The .clva file: the record of one node, as bytes (docs/guide/arrivals.md). PURE: no file, no MPI,
 * no threads, no clock.
 *
 *      {"clva":1,"job":"...","node":0,"n_nodes":2,"n_ranks":32, ...}\n      one line, the head
 *      kind, length, payload                                                record
 *      kind, length, payload                                                record ...
 *
 * What: the tables of operations, kinds and head fields; head and records to bytes and back. Times
 * are on the node's own clock; its clock records convert them to global ones.
 * Not: recording (record_ring.h, record_drain.h), nor the meaning of the times (trace_numbers.h). A
 * reader skips kinds that it does not know; a change that it must not skip raises the version.
 *
 * Units: ns, bytes; ranks are those of MPI_COMM_WORLD unless said otherwise.
 * Errors: CLV_INVALID, CLV_LIMIT; from the decoders CLV_PROTOCOL, and CLV_AGAIN where bytes end too
 *   early.
 * Memory: none; a decoded record points into the bytes that it was decoded from.
 * Threads: safe.
 */
#ifndef CLV_TRACE_CLVA_H
#define CLV_TRACE_CLVA_H

#include <stddef.h>
#include <stdint.h>

#include "util/util_status.h"

#define CLV_CLVA_VERSION      2
#define CLV_CLVA_HEAD_BYTES   8192      /* of the head line, its newline included, at most */
#define CLV_CLVA_RECORD_BYTES (1 << 19) /* of a record, kind and length included, at most */
#define CLV_CLVA_NAME_BYTES   64
#define CLV_CLVA_MAX_RANKS    65536
#define CLV_CLVA_MAX_STREAMS  4096 /* of a rank, one less; calls of others are dropped */
#define CLV_CLVA_MAX_NS       (INT64_C(1) << 60) /* of a time, either sign */
#define CLV_CLVA_NO_FORECAST  UINT32_MAX         /* predicted_ns: there was none */
#define CLV_CLVA_NOT_OURS     255                /* choice: clv does not plan this collective */

/* The operations that are recorded; numbers are in files: append only.
 * root: it has one. equal: its bytes are the same on all ranks; else a stream has 0 of them. */
/* clang-format off */
/*     code                  name                   root equal */
#define CLV_CLVA_OP_MAP(XX)                                                                        \
    XX(REDUCE,               reduce,                1,   1)                                        \
    XX(ALLREDUCE,            allreduce,             0,   1)                                        \
    XX(BCAST,                bcast,                 1,   1)                                        \
    XX(BARRIER,              barrier,               0,   1)                                        \
    XX(ALLTOALL,             alltoall,              0,   1)                                        \
    XX(ALLTOALLV,            alltoallv,             0,   0)                                        \
    XX(ALLGATHER,            allgather,             0,   1)                                        \
    XX(ALLGATHERV,           allgatherv,            0,   0)                                        \
    XX(GATHER,               gather,                1,   1)                                        \
    XX(GATHERV,              gatherv,               1,   0)                                        \
    XX(SCATTER,              scatter,               1,   1)                                        \
    XX(SCATTERV,             scatterv,              1,   0)                                        \
    XX(REDUCE_SCATTER,       reduce_scatter,        0,   0)                                        \
    XX(REDUCE_SCATTER_BLOCK, reduce_scatter_block,  0,   1)                                        \
    XX(SCAN,                 scan,                  0,   1)                                        \
    XX(EXSCAN,               exscan,                0,   1)

/* How a call is made; numbers are in files: append only, the first is 0. A call with a request
 * lasts from its start until its rank saw it complete; between the two the rank need not be in MPI.
 * prefix, suffix: of its operation's name. */
#define CLV_CLVA_HOW_MAP(XX)                                                                       \
    XX(BLOCKING,    blocking,    "",  "")                                                          \
    XX(NONBLOCKING, nonblocking, "i", "")                                                          \
    XX(PERSISTENT,  persistent,  "",  "_init")

/* What the elements of a vector are. */
#define CLV_CLVA_TYPE_MAP(XX)                                                                      \
    XX(NONE,    none)                                                                              \
    XX(INTEGER, integer)                                                                           \
    XX(FLOAT,   float)                                                                             \
    XX(COMPLEX, complex)                                                                           \
    XX(OTHER,   other)

/* Kinds of records; numbers are in files: append only, the first is 1. */
#define CLV_CLVA_KIND_MAP(XX)                                                                      \
    XX(CALLS)   /* calls of one rank */                                                            \
    XX(STREAM)  /* meaning of a stream number of one rank */                                       \
    XX(COMM)    /* a communicator and its members */                                               \
    XX(LOCAL)   /* the ranks of this node */                                                       \
    XX(CLOCK)   /* a line from local to global time */                                             \
    XX(DROPPED) /* how many calls of a rank found its ring full, so far */                         \
    XX(EVERY)   /* from here on only every Nth call is kept */                              \
    XX(END)     /* the recorder has ended as it should */                                          \
    XX(COST)    /* cost of a message, measured by the ranks of a communicator */           \
    XX(EARLY)   /* capacity of a rank's connection while its other end does not read */ \
    XX(WAITS)   /* a rank's waiting in calls so far, and what of it was asleep */

/* Fields of the head: TEXT with the bytes it has room for, NUMBER. */
#define CLV_CLVA_HEAD_MAP(TEXT, NUMBER)                                                            \
    NUMBER(clva)           /* version of the format */                                             \
    TEXT(job, 64)          /* the same in all files of a job */                                    \
    NUMBER(node)           /* 0 .. n_nodes - 1 */                                                  \
    NUMBER(n_nodes)                                                                                \
    NUMBER(n_ranks)        /* of MPI_COMM_WORLD */                                                 \
    NUMBER(n_local)        /* of this node */                                                      \
    TEXT(host, 256)                                                                                \
    TEXT(boot_id, 64)      /* of the host's kernel, its time namespace, and the clock that stamps  \
                              are of, for clv-correct --clocks */                                  \
    TEXT(time_namespace, 64)                                                                       \
    TEXT(clock, 16)                                                                                \
    TEXT(program, 256)                                                                             \
    NUMBER(started_unix_s)                                                                         \
    TEXT(clv, 32)          /* versions */                                                          \
    TEXT(mpi, 128)                                                                                 \
    TEXT(ops, 256)         /* parameters of the recorder */                                        \
    NUMBER(min_bytes)                                                                              \
    NUMBER(every)                                                                                  \
    NUMBER(max_mib)                                                                                \
    TEXT(parameters, 1024) /* those that decide what runs and were set: name=value, by commas */   \
    TEXT(choices, 512)     /* words of a call's choice, by commas */                               \
    TEXT(reasons, 1024)    /* and of its reason */
/* clang-format on */

typedef enum clv_clva_op {
#define CLV_CLVA_OP_ENUM(code, name, root, equal) CLV_CLVA_OP_##code,
    CLV_CLVA_OP_MAP(CLV_CLVA_OP_ENUM)
#undef CLV_CLVA_OP_ENUM
        CLV_CLVA_N_OPS
} clv_clva_op_t;

typedef struct clv_clva_op_row {
    const char *name;
    int has_root;
    int equal_bytes;
} clv_clva_op_row_t;

extern const clv_clva_op_row_t clv_clva_ops[CLV_CLVA_N_OPS];

typedef enum clv_clva_how {
#define CLV_CLVA_HOW_ENUM(code, name, prefix, suffix) CLV_CLVA_HOW_##code,
    CLV_CLVA_HOW_MAP(CLV_CLVA_HOW_ENUM)
#undef CLV_CLVA_HOW_ENUM
        CLV_CLVA_N_HOWS
} clv_clva_how_t;

typedef struct clv_clva_how_row {
    const char *name, *prefix, *suffix;
} clv_clva_how_row_t;

extern const clv_clva_how_row_t clv_clva_hows[CLV_CLVA_N_HOWS];

typedef enum clv_clva_type {
#define CLV_CLVA_TYPE_ENUM(code, name) CLV_CLVA_TYPE_##code,
    CLV_CLVA_TYPE_MAP(CLV_CLVA_TYPE_ENUM)
#undef CLV_CLVA_TYPE_ENUM
        CLV_CLVA_N_TYPES
} clv_clva_type_t;

extern const char *const clv_clva_types[CLV_CLVA_N_TYPES];

typedef enum clv_clva_kind {
    CLV_CLVA_NO_KIND,
#define CLV_CLVA_KIND_ENUM(code) CLV_CLVA_##code,
    CLV_CLVA_KIND_MAP(CLV_CLVA_KIND_ENUM)
#undef CLV_CLVA_KIND_ENUM
} clv_clva_kind_t;

typedef struct clv_clva_head {
#define CLV_CLVA_TEXT_FIELD(name, n_bytes) char name[n_bytes];
#define CLV_CLVA_NUMBER_FIELD(name)        int64_t name;
    CLV_CLVA_HEAD_MAP(CLV_CLVA_TEXT_FIELD, CLV_CLVA_NUMBER_FIELD)
#undef CLV_CLVA_TEXT_FIELD
#undef CLV_CLVA_NUMBER_FIELD
} clv_clva_head_t;

/* One call of one rank: 32 bytes in memory and in the file. number counts the recorded operations
 * that were called on the communicator, so it is the same on all its ranks. predicted_ns: the
 * forecast's arrival, relative to its first rank, or CLV_CLVA_NO_FORECAST. */
typedef struct clv_clva_call {
    uint8_t kind; /* CLV_CLVA_CALLS, in a ring */
    uint8_t choice;
    uint8_t reason;
    uint8_t unused;
    uint16_t stream;
    uint16_t unused_too;
    int64_t arrival_ns;
    int64_t exit_ns;
    uint32_t number; /* wraps */
    uint32_t predicted_ns;
} clv_clva_call_t;

/* What a rank's stream is; as long as a call. root: in the communicator; -1: none. Calls are
 * numbered on their communicator; those that have a request, in their stream. */
typedef struct clv_clva_stream {
    uint8_t kind; /* CLV_CLVA_STREAM, in a ring */
    uint8_t op;
    uint8_t type;
    uint8_t how;
    uint16_t stream;
    uint16_t element_bytes; /* 65535: that or more */
    uint64_t comm;
    int64_t bytes; /* of a rank's vector, packed; 0 where ranks may differ */
    int32_t root;
    uint32_t request; /* persistent: which of the communicator's, from 0; else 0 */
} clv_clva_stream_t;

#define CLV_CLVA_SLOT_BYTES 32
_Static_assert(sizeof(clv_clva_call_t) == CLV_CLVA_SLOT_BYTES, "a call is a slot");
_Static_assert(sizeof(clv_clva_stream_t) == CLV_CLVA_SLOT_BYTES, "a stream is a slot");

/* members: n_listed little-endian numbers of 4 bytes, by rank of the communicator; none listed:
 * rank i is rank i of MPI_COMM_WORLD. */
typedef struct clv_clva_comm {
    uint64_t id; /* the same on all its ranks and in all files */
    int32_t n_ranks;
    int32_t n_listed; /* 0 or n_ranks */
    char name[CLV_CLVA_NAME_BYTES];
    const unsigned char *members;
} clv_clva_comm_t;

/* In force from local time from_ns on:
 *      global = local - offset_ns - slope * (local - origin_ns)
 * wrong by no more than error_ns + error_ppb * |local - origin_ns| / 10^9. */
typedef struct clv_clva_clock {
    int64_t from_ns, origin_ns, offset_ns;
    double slope; /* within 1/100 of 0 */
    int64_t error_ns, error_ppb;
} clv_clva_clock_t;

/* Costs of a message between nodes, of one inside a node, and of combining a byte; the gap between
 * messages; the largest message that leaves without its receiver, between nodes and inside one. 0:
 * not measured. In a ring two slots. */
typedef struct clv_clva_cost {
    uint8_t kind; /* CLV_CLVA_COST, in a ring */
    uint8_t unused[7];
    int64_t latency_ns, byte_ps;
    int64_t near_latency_ns, near_byte_ps;
    int64_t combine_ps, gap_ns;
    uint32_t early_bytes, near_early_bytes; /* the largest message that leaves so */
} clv_clva_cost_t;
_Static_assert(sizeof(clv_clva_cost_t) == 2 * CLV_CLVA_SLOT_BYTES, "a cost is two slots");
#define CLV_CLVA_COST_BYTES 72 /* of its record */

/* The rank's TCP connection that had sent most: bytes sent, the window that its other end offered,
 * its own buffer. */
typedef struct clv_clva_early {
    uint8_t kind; /* CLV_CLVA_EARLY, in a ring */
    uint8_t unused[7];
    int64_t sent_bytes, window_bytes, buffer_bytes;
} clv_clva_early_t;
_Static_assert(sizeof(clv_clva_early_t) == CLV_CLVA_SLOT_BYTES, "such a look is a slot");

/* A rank's waiting with coll_clv_wait yield or sleep, since MPI_Init; calls that may have woken
 * late. */
typedef struct clv_clva_waits {
    uint8_t kind; /* CLV_CLVA_WAITS, in a ring */
    uint8_t unused[7];
    int64_t waited_ns, asleep_ns, n_late;
} clv_clva_waits_t;
_Static_assert(sizeof(clv_clva_waits_t) == CLV_CLVA_SLOT_BYTES, "a rank's waits are a slot");

/* A decoded record; its kind says which fields are set. */
typedef struct clv_clva_record {
    clv_clva_kind_t kind;       /* or a number that is not known here */
    int32_t rank;               /* CALLS, STREAM, DROPPED, EARLY, WAITS */
    int32_t n;                  /* CALLS, LOCAL: how many */
    const unsigned char *bytes; /* CALLS, LOCAL: for the functions below */
    clv_clva_stream_t stream;
    clv_clva_comm_t comm;
    clv_clva_clock_t clock;
    clv_clva_cost_t cost;
    clv_clva_early_t early;
    clv_clva_waits_t waits;
    int64_t number;    /* DROPPED, EVERY; of END the calls in this file */
    int64_t thread_ns; /* END: CPU time of the background thread, until its last round */
} clv_clva_record_t;

/* ---- to bytes: each returns how many it wrote, 0: size is too small ---- */

size_t clv_clva_put_head(char *text, size_t size, const clv_clva_head_t *head);
size_t clv_clva_put_calls(unsigned char *bytes, size_t size, int32_t rank,
                          const clv_clva_call_t *calls, int32_t n);
/* The same where the calls stand already, as a ring has them, CLV_CLVA_CALLS_AT from bytes on: so a
 * writer copies each only once, and most machines have nothing to turn. */
#define CLV_CLVA_CALLS_AT 16
size_t clv_clva_close_calls(unsigned char *bytes, size_t size, int32_t rank, int32_t n);
size_t clv_clva_put_stream(unsigned char *bytes, size_t size, int32_t rank,
                           const clv_clva_stream_t *stream);
size_t clv_clva_put_comm(unsigned char *bytes, size_t size, const clv_clva_comm_t *comm);
size_t clv_clva_put_local(unsigned char *bytes, size_t size, const int32_t *ranks, int32_t n);
size_t clv_clva_put_clock(unsigned char *bytes, size_t size, const clv_clva_clock_t *clock);
size_t clv_clva_put_cost(unsigned char *bytes, size_t size, const clv_clva_cost_t *cost);
size_t clv_clva_put_early(unsigned char *bytes, size_t size, int32_t rank,
                          const clv_clva_early_t *early);
size_t clv_clva_put_waits(unsigned char *bytes, size_t size, int32_t rank,
                          const clv_clva_waits_t *waits);
size_t clv_clva_put_dropped(unsigned char *bytes, size_t size, int32_t rank, int64_t n_dropped);
size_t clv_clva_put_every(unsigned char *bytes, size_t size, int64_t every);
size_t clv_clva_put_end(unsigned char *bytes, size_t size, int64_t n_calls, int64_t thread_ns);

/* ---- and back ---- */

/* The head line at the begin of bytes; *used_p is what it takes. CLV_AGAIN: there is no newline
 * yet, and there may be one. CLV_PROTOCOL: no head; CLV_UNSUPPORTED: of a newer version
 * (head_p->clva says which). Missing fields are empty or 0; unknown fields are skipped. */
clv_status_t clv_clva_get_head(const void *bytes, size_t n_bytes, clv_clva_head_t *head_p,
                               size_t *used_p) CLV_MUST_CHECK;

/* One record; n_ranks as the head says. CLV_AGAIN: bytes end within it; CLV_PROTOCOL: it cannot be
 * one, and what follows cannot be found. */
clv_status_t clv_clva_get_record(const unsigned char *bytes, size_t n_bytes, int64_t n_ranks,
                                 clv_clva_record_t *record_p, size_t *used_p) CLV_MUST_CHECK;
/* Call i of CALLS, i < n. CLV_PROTOCOL: impossible times or an impossible stream. */
clv_status_t clv_clva_get_call(const clv_clva_record_t *record, int32_t i,
                               clv_clva_call_t *call_p) CLV_MUST_CHECK;
/* Rank i of LOCAL (i < n) or of COMM (i < n_ranks). */
int32_t clv_clva_get_local(const clv_clva_record_t *record, int32_t i);
int32_t clv_clva_get_member(const clv_clva_comm_t *comm, int32_t i);

/* ---- names ---- */

/* "unknown" for a number that is none. */
const char *clv_clva_op_name(int op);
/* As MPI calls it: "reduce", "ireduce", "reduce_init". */
void clv_clva_call_name(const clv_clva_stream_t *stream, char *name, size_t size);
#define CLV_CLVA_CALL_NAME_BYTES 32
/* A list of names (util_list.h). */
clv_status_t clv_clva_read_ops(const char *list, uint32_t *bits_p) CLV_MUST_CHECK;
void clv_clva_print_ops(char *text, size_t size, uint32_t bits);
/* Word number of a list of words by commas; its length in *length_p, NULL when there is none. */
const char *clv_clva_word(const char *list, int number, int *length_p);

/* Global time of a local one, and the bound of its error. */
int64_t clv_clva_global(const clv_clva_clock_t *clock, int64_t local_ns, int64_t *error_ns_p);

#endif
