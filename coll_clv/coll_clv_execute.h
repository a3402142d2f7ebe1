/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs one rank's steps of a plan over the PML: the executor of the schedule module with Open MPI's
 * messages, datatypes and operations behind its table.
 *
 * What: a collective of any goal (schedule.h) by steps that every rank took from the same plan.
 * Segment s of N is the run of elements [s * q + min(s, r), ...) with q = count / N, r = count % N:
 * the same everywhere, never empty because N <= count. For reduce_scatter, whose result is a block
 * of count / P elements, each block is cut in this way into N / P segments.
 * Not: which plan, and whether at all. Commutative operations only; intra-communicators only.
 *
 * Memory of a rank, in segments: the receive window, and on a rank without a whole result one more
 * for each segment it receives, at worst one vector. Segments are sent from where they are, without
 * a copy: a contribution that meets no other leaves from the user's buffer; one that does is
 * combined into the received segment and leaves from there. Ranks with a whole result (the root of
 * a reduce, all of allreduce and bcast) combine into rbuf and send from there; the block of a
 * reduce_scatter is copied to rbuf when everything else is done, so it may overlap the input. Kept
 * between calls up to COLL_CLV_SCRATCH_KEEP_BYTES.
 *
 * Processors: with mpi_yield_when_idle, which mpirun sets where a host has more ranks than
 * processors, and where clv finds that (coll_clv_processors.h), a rank offers its processor to
 * others after each segment that it has sent to a rank of its own host
 * (docs/decisions/0007-executor.md).
 *
 * Threads: one execution per scratch at a time, as one collective per communicator at a time.
 */
#ifndef COLL_CLV_EXECUTE_H
#define COLL_CLV_EXECUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schedule/schedule.h"

struct ompi_communicator_t;
struct ompi_datatype_t;
struct ompi_op_t;

/* Windows of the executor, in segments; reasons: docs/decisions/0007-executor.md. With the credit
 * rule, an absent root finds at most COLL_CLV_SYNC_EVERY segments from each sender. */
#define COLL_CLV_RECV_WINDOW   16
#define COLL_CLV_SOURCE_WINDOW 8 /* of these from one rank */
#define COLL_CLV_SEND_WINDOW   4
#define COLL_CLV_SYNC_EVERY    64

#define COLL_CLV_SCRATCH_KEEP_BYTES ((size_t) 64 << 20)

/* Memory that outlives a call; all zero at first; one per module. */
typedef struct coll_clv_scratch {
    void *buffers; /* segments under way */
    void *tables;  /* counters of the executor */
    size_t buffer_bytes;
    size_t table_bytes;
    bool has_opened;              /* ahead was opened, in the first call */
    bool yields;                  /* a rank that sends inside its host yields, as waits do */
    struct coll_clv_ahead *ahead; /* credit; NULL: only synchronous sends bound what is ahead */
} coll_clv_scratch_t;

void coll_clv_scratch_free(coll_clv_scratch_t *scratch);
/* Frees its memory, except for the credit, which MPI_Comm_free still needs. The communicator runs
 * no plan any more. */
void coll_clv_scratch_drop(coll_clv_scratch_t *scratch);

/* One call: its plan, and the arguments of MPI's function for the goal. */
typedef struct coll_clv_job {
    const clv_step_t *steps; /* of this rank */
    int64_t n_steps;
    int32_t n_segments; /* 1 .. count; of reduce_scatter a multiple of n_ranks */
    clv_goal_t goal;
    clv_exec_policy_t policy; /* the same on all ranks */
    bool is_decoupled; /* as far as known no rank waits for this one's messages: no yielding */
    bool yields;       /* ranks of this host share processors */
    int root;          /* of reduce and bcast */
    int tag;           /* of the collective; messages of two collectives never match */
    /* This rank's contribution, never written; MPI_IN_PLACE at the root of a reduce and, on any
     * rank, in allreduce and reduce_scatter: it is in rbuf then. Not used by bcast. */
    const void *sbuf;
    /* The result: at the root of a reduce, on every rank of an allreduce, this rank's block in
     * reduce_scatter, the vector itself in bcast. Otherwise not used. */
    void *rbuf;
    void **lent_p; /* the caller's heap block that holds rbuf; NULL: rbuf is not in one. If a
                    * request has failed, *lent_p becomes NULL: the block is freed with the last
                    * request */
    size_t
        count; /* elements of the vector; in reduce_scatter of all blocks, a multiple of n_ranks */
    struct ompi_datatype_t *dtype;
    struct ompi_op_t *op; /* not used by bcast */
    struct ompi_communicator_t *comm;
    struct coll_clv_nap *nap; /* the wait, which is told of messages that move; NULL: none */
    /* Whether a call on comm has failed on another rank, which then ends this one, too. Called
     * while nothing moves, and until comm is freed; may be NULL. */
    bool (*is_broken)(const void *context);
    const void *context;
} coll_clv_job_t;

/* Runs the job and blocks until this rank's part is done. OMPI_SUCCESS; OMPI_ERR_BAD_PARAM or
 * OMPI_ERR_OUT_OF_RESOURCE (both before the first message); or the error of a request, of the
 * communicator or of another rank: then open requests were cancelled or waited for. */
int coll_clv_execute_steps(const coll_clv_job_t *job, coll_clv_scratch_t *scratch);

#endif
