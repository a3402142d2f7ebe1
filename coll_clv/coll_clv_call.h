/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A call of any collective that clv takes over: its arguments, and the one path of all calls.
 *
 * What: coll_clv_call, which each collective's file calls with MPI's arguments; and the functions
 * that such a file (coll_clv_<name>.c) provides. The rest of a collective is its row in
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

/* The arguments of MPI's function, and what follows from them. */
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
    int64_t total_bytes; /* set by coll_clv_call, as is is_fixed */
    bool is_fixed;       /* coll_clv_reproducible asks for the same plan every time */
} coll_clv_call_t;

/* Runs the call by plan, by an algorithm, or by the function before us. Returns MPI's error
 * codes. */
int coll_clv_call(coll_clv_call_t *call);

/* Whether this rank tells what its communicator does. */
static inline bool coll_clv_tells(const coll_clv_call_t *call)
{
    return 0 == ompi_comm_rank(call->comm) && !call->module->is_silent;
}

/* Bytes of a rank's vector, packed. */
static inline int64_t coll_clv_total_bytes(coll_clv_count_t count,
                                           const struct ompi_datatype_t *dtype)
{
    size_t element_bytes = 0;

    ompi_datatype_type_size(dtype, &element_bytes);
    return (int64_t) (element_bytes * (size_t) count);
}

/* Whether auto leaves this call alone because it is small, as most calls of most programs are. Such
 * a call is counted, and then the function before us runs. Few instructions: such a call may take
 * half a microsecond. The wait of every call that is not nested begins here. */
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
        (NULL != op && !ompi_op_is_commute(op))) { /* not left alone: the reason is another one */
        return false;
    }
    coll_clv_compare_note(&module->compare, (int32_t) collective, root, (int64_t) count,
                          total_bytes);
    coll_clv_count(&mca_coll_clv_component.alone[collective], 1);
    return true;
}

/* Whether this thread is inside a call of ours. The function before us may call other collectives
 * on the same communicator or on parts of it. Those go to the previous functions, so that it runs
 * as without us and no call is numbered inside another. All ranks of such a call are inside the
 * outer one, so all take the same way. A thread-local variable costs ten times as much as a global
 * one. */
extern _Thread_local bool coll_clv_is_inside;
static inline bool *coll_clv_inside(void)
{
    return mca_coll_clv_component.is_threaded ? &coll_clv_is_inside
                                              : &mca_coll_clv_component.is_inside;
}

/* Enters a call. Returns whether it is nested in one of ours, for coll_clv_leave. */
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

/* What a collective's file provides besides the module's function: the run of the function before
 * us. */
#define COLL_CLV_COLLECTIVE_FUNCTIONS(to, code, name, mpi, goal, root, op, counts, result, bytes,  \
                                      least)                                                       \
    int coll_clv_##name##_previous(const coll_clv_call_t *call);
CLV_COLLECTIVE_MAP(COLL_CLV_COLLECTIVE_FUNCTIONS, )
#undef COLL_CLV_COLLECTIVE_FUNCTIONS

/* coll_clv_bcast.c: runs the job of a call over the packed bytes of the vector. The copy of a
 * vector with gaps takes memory of the vector's size. */
int coll_clv_execute_packed(const coll_clv_call_t *call, coll_clv_job_t *job);

/* Algorithms that make no plan if forced, coll_clv_run_<function>: the column "how" of
 * CLV_ALGORITHM_MAP. */
int coll_clv_run_previous(const coll_clv_call_t *call);
int coll_clv_run_binomial(const coll_clv_call_t *call);
int coll_clv_run_rabenseifner(const coll_clv_call_t *call);
/* coll_clv_ring.c: commutative operations; any count, root and number of ranks. Takes scratch of
 * two chunks of count / n_ranks elements, and 2 (n_ranks - 1) messages one after the other. */
int coll_clv_run_ring(const coll_clv_call_t *call);
int coll_clv_run_two_levels(const coll_clv_call_t *call); /* coll_clv_levels.h */

/* At verbosity 10, rank 0 logs a line when a call of this shape takes another algorithm, or for
 * another reason, than the last one. At verbosity 30, every rank logs every call. Costs nothing
 * below 10. */
void coll_clv_tell(const coll_clv_call_t *call, int algorithm, int reason);

END_C_DECLS

#endif
