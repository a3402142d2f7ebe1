/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A call of any collective that clv takes over: its arguments, and the one path of all calls.
 *
 * What: coll_clv_call, which each collective's file calls with MPI's arguments; and what such a
 * file (coll_clv_<name>.c) provides. The rest of a collective is its row in
 * choose/choose_collectives.h.
 * Threads: as MPI demands of a communicator, one call at a time; several communicators at once.
 */
#ifndef COLL_CLV_CALL_H
#define COLL_CLV_CALL_H

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/op/op.h"

#include "coll_clv/coll_clv.h"
#include "coll_clv/coll_clv_sleep.h"

BEGIN_C_DECLS

/* MPI's arguments, which travel together, and what follows from them. */
typedef struct coll_clv_call {
    clv_collective_t collective;
    int root; /* 0 where there is none */
    const void *sbuf;
    void *rbuf;
    coll_clv_count_t count;
    struct ompi_datatype_t *dtype;
    struct ompi_op_t *op; /* NULL where there is none */
    struct ompi_communicator_t *comm;
    coll_clv_module_t *module;
    int64_t total_bytes; /* set by coll_clv_call, as is */
    bool is_fixed;       /* coll_clv_reproducible asks for a plan that is always the same */
} coll_clv_call_t;

/* Runs the call by plan, algorithm or the function before us. MPI's error codes. */
int coll_clv_call(coll_clv_call_t *call);

/* Of a rank's vector, packed. */
static inline int64_t coll_clv_total_bytes(coll_clv_count_t count,
                                           const struct ompi_datatype_t *dtype)
{
    size_t element_bytes = 0;

    ompi_datatype_type_size(dtype, &element_bytes);
    return (int64_t) (element_bytes * (size_t) count);
}

/* Whether this is a call that auto leaves alone for its size, as most calls of most programs are:
 * it is counted, and the function before us is all that is left to do. Few instructions, as such a
 * call may take half a microsecond. Every call that is not nested begins to wait here. */
static inline bool coll_clv_is_left_alone(coll_clv_module_t *module, clv_collective_t collective,
                                          coll_clv_count_t count,
                                          const struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                          int root)
{
    const int64_t total_bytes = coll_clv_total_bytes(count, dtype);

    if (NULL != module->waits) {
        coll_clv_sleep_begin(module->waits, (int32_t) collective, total_bytes);
    }
    if (total_bytes >= module->alone_below[collective] ||
        (NULL != op && !ompi_op_is_commute(op))) { /* another reason then */
        return false;
    }
    coll_clv_compare_note(&module->compare, (int32_t) collective, root, (int64_t) count,
                          total_bytes);
    coll_clv_count(&mca_coll_clv_component.alone[collective], 1);
    return true;
}

/* Whether this thread is in a call of ours. The function before us may make others, of the same
 * communicator or of parts of it: they are its own and go to whatever was there before, so that it
 * runs as it would without us, and no call is numbered within another. All ranks of such a call are
 * in the one that makes it, so all go the same way. A variable of the thread costs ten times what
 * one of the process does. */
extern _Thread_local bool coll_clv_is_inside;
static inline bool *coll_clv_inside(void)
{
    return mca_coll_clv_component.is_threaded ? &coll_clv_is_inside
                                              : &mca_coll_clv_component.is_inside;
}

/* Returns whether the call is made within one of ours, for coll_clv_leave. */
static inline bool coll_clv_enter(void)
{
    bool *inside = coll_clv_inside();
    const bool is_nested = *inside;

    *inside = true;
    return is_nested;
}

static inline int coll_clv_leave(const coll_clv_module_t *module, bool is_nested, int rc)
{
    if (NULL != module->waits && !is_nested) {
        coll_clv_sleep_end();
    }
    *coll_clv_inside() = is_nested;
    return rc;
}

/* What a collective's file provides beside the function of the module: the one before us. */
#define COLL_CLV_COLLECTIVE_FUNCTIONS(to, code, name, mpi, goal, root, op, counts, result, bytes,  \
                                      least)                                                       \
    int coll_clv_##name##_previous(const coll_clv_call_t *call);
CLV_COLLECTIVE_MAP(COLL_CLV_COLLECTIVE_FUNCTIONS, )
#undef COLL_CLV_COLLECTIVE_FUNCTIONS

/* coll_clv_bcast.c: runs a job of the call's, but for what it moves, over the vector's packed
 * bytes. The copy of a vector with gaps takes its own size in memory. */
int coll_clv_execute_packed(const coll_clv_call_t *call, coll_clv_job_t *job);

/* The algorithms that make no plan where they are forced, coll_clv_run_<function>: the column "how"
 * of CLV_ALGORITHM_MAP. */
int coll_clv_run_previous(const coll_clv_call_t *call);
int coll_clv_run_binomial(const coll_clv_call_t *call);
int coll_clv_run_rabenseifner(const coll_clv_call_t *call);
/* coll_clv_ring.c: commutative operations, any count, root and number of ranks. Two chunks of
 * count / n_ranks elements of scratch; 2 (n_ranks - 1) messages one after the other. */
int coll_clv_run_ring(const coll_clv_call_t *call);

/* A line to the user at verbosity 10 whenever a call of this shape takes another algorithm or for
 * another reason than the last one (rank 0 tells), and for each call on each rank at 30. Free
 * when coll_clv_verbose is below 10. */
void coll_clv_tell(const coll_clv_call_t *call, int algorithm, int reason);

END_C_DECLS

#endif
