/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text traces of liballprof (collprof), as in the ATLAHS collection: a folder with one file per
 * rank. Each MPI call is one line, with begin and end by the rank's clock. PURE: no MPI.
 *
 *      # collprof 0.9 output file
 *      # host: n3
 *      # Init clockdiff: -1856.5                       us to add for the clock of rank 0
 *      MPI_Allreduce:BEGIN:SEND:RECEIVE:COUNT:TYPE,SIZE,EXTENT:OP:COMM,RANK,RANKS:END     us
 *      # Finalize clockdiff: -1817.4
 *      MPI_Finalize:BEGIN:-
 *
 * What: blocking collectives of communicators of all ranks. Collectives of smaller communicators
 * are only counted, since the format does not name their members. Other functions, messages
 * included, are skipped.
 * Limits: 65,536 ranks, a line of 1 MiB, 2^26 calls of a rank, offsets within an hour, and 2^59 ns
 * from the first stamp of all to the last.
 *
 * Units: ns from the first stamp of all ranks.
 * Errors: one line with file and line in reason.
 * Memory: 40 bytes per call; freed by clv_allprof_free, also after a failure.
 * Threads: safe on distinct objects.
 */
#ifndef CLV_TRACE_ALLPROF_H
#define CLV_TRACE_ALLPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/util_status.h"

#define CLV_ALLPROF_MAX_RANKS 65536
#define CLV_ALLPROF_MAX_LINE  (1 << 20)
#define CLV_ALLPROF_MAX_CALLS (INT64_C(1) << 26)
#define CLV_ALLPROF_MAX_NS    (INT64_C(1) << 59)
#define CLV_ALLPROF_BOUND_NS  1000 /* resolution of its stamps; its offsets have no bound */

/* XX(function, name, field of the count, whether it has a root). The root precedes the
 * communicator. */
/* clang-format off */
#define CLV_ALLPROF_OP_MAP(XX)                                                                     \
    XX(MPI_Barrier,              "barrier",              0, false)                                 \
    XX(MPI_Bcast,                "bcast",                3, true)                                  \
    XX(MPI_Reduce,               "reduce",               4, true)                                  \
    XX(MPI_Allreduce,            "allreduce",            4, false)                                 \
    XX(MPI_Allgather,            "allgather",            3, false)                                 \
    XX(MPI_Allgatherv,           "allgatherv",           0, false)                                 \
    XX(MPI_Alltoall,             "alltoall",             3, false)                                 \
    XX(MPI_Alltoallv,            "alltoallv",            0, false)                                 \
    XX(MPI_Gather,               "gather",               3, true)                                  \
    XX(MPI_Gatherv,              "gatherv",              0, true)                                  \
    XX(MPI_Scatter,              "scatter",              3, true)                                  \
    XX(MPI_Scatterv,             "scatterv",             0, true)                                  \
    XX(MPI_Reduce_scatter,       "reduce_scatter",       0, false)                                 \
    XX(MPI_Reduce_scatter_block, "reduce_scatter_block", 4, false)                                 \
    XX(MPI_Scan,                 "scan",                 4, false)                                 \
    XX(MPI_Exscan,               "exscan",               4, false)
/* clang-format on */

typedef enum clv_allprof_op {
#define CLV_ALLPROF_ENUM(function, name, count, root) CLV_ALLPROF_##function,
    CLV_ALLPROF_OP_MAP(CLV_ALLPROF_ENUM)
#undef CLV_ALLPROF_ENUM
        CLV_ALLPROF_N_OPS
} clv_allprof_op_t;

typedef struct clv_allprof_row {
    const char *function, *name;
    int count_at;
    bool has_root;
} clv_allprof_row_t;

extern const clv_allprof_row_t clv_allprof_ops[CLV_ALLPROF_N_OPS];

typedef struct clv_allprof_call {
    int64_t begin_ns, end_ns; /* by the rank's clock */
    int64_t bytes;            /* 0 if the format does not give it */
    int32_t root;             /* -1: none */
    int32_t op;               /* clv_allprof_op_t */
} clv_allprof_call_t;

/* An offset is how far the clock of rank 0 is ahead of the rank's. */
typedef struct clv_allprof_rank {
    char *path, host[64];
    int32_t n_ranks; /* as its communicators say; 0: unknown */
    int32_t node;    /* equal for ranks of one host */
    int64_t init_ns, finalize_ns, init_offset_ns, finalize_offset_ns;
    int64_t n_calls, max_calls;
    clv_allprof_call_t *calls;
} clv_allprof_rank_t;

typedef struct clv_allprof {
    int32_t n_ranks, n_nodes;
    clv_allprof_rank_t *ranks;
    int64_t started_unix_s;
    int64_t n_other_comms; /* calls left out: communicators that lack ranks */
} clv_allprof_t;

/* Whether the folder has files of that format. */
bool clv_allprof_is_there(const char *folder);

/* CLV_PROTOCOL: malformed; CLV_SYSTEM: cannot be read; CLV_NO_MEMORY. */
clv_status_t clv_allprof_read(const char *folder, clv_allprof_t *trace, char *reason,
                              size_t size) CLV_MUST_CHECK;
void clv_allprof_free(clv_allprof_t *trace);

/* Counts collectives of an operation that some rank left before a rank it waits for had arrived: by
 * the hosts' own clocks or, if is_global, by that of rank 0. Not for scans. n_calls_p: how many
 * there are in all. */
int64_t clv_allprof_reversed(const clv_allprof_t *trace, int32_t op, bool is_global,
                             int64_t *n_calls_p);
/* Converts to the clock of rank 0, interpolating the offset linearly between init and finalize. */
int64_t clv_allprof_global(const clv_allprof_rank_t *rank, int64_t local_ns);
/* Converts back, to within 1 ns. */
int64_t clv_allprof_local(const clv_allprof_rank_t *rank, int64_t global_ns);

#endif
