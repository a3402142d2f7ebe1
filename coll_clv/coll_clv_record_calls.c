/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The recorder's wrappers, one row each, and their installation on a communicator and removal (see
 * coll_clv_record.h).
 */
#include "coll_clv/coll_clv_record.h"

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/info/info.h"
#include "ompi/request/request.h"

#include "util/util_alloc.h"
#include "util/util_hot.h"
#include "util/util_time.h"

/* A call made inside a recorded call is not recorded: it is part of that call. */
static _Thread_local int depth;

/* ---- the table ------------------------------------------------------------------------------- */

/* Words that the parameter lists of the rows share. COMM and PASS, at the end of each list, differ
 * between blocking, nonblocking and persistent functions. */
#define COUNT   coll_clv_count_t
#define COUNTS  coll_clv_counts_t
#define DISPS   coll_clv_disps_t
#define TYPE    struct ompi_datatype_t *
#define FUNC    struct ompi_op_t *
#define AT_ROOT (ompi_comm_rank(comm) == root)

/* parameters, arguments: as in MPI's function. root, count, type: the part of a vector that is the
 * same on all ranks. saved: the module that the wrapper calls. */
/* clang-format off */
/*     code, name, (parameters), (arguments), root, count, type */
#define RECORD_MAP(XX)                                                                             \
    XX(REDUCE, reduce,                                                                             \
       (const void *sbuf, void *rbuf, COUNT count, TYPE type, FUNC op, int root, COMM),            \
       (sbuf, rbuf, count, type, op, root, PASS), root, count, type)                               \
    XX(ALLREDUCE, allreduce,                                                                       \
       (const void *sbuf, void *rbuf, COUNT count, TYPE type, FUNC op, COMM),                      \
       (sbuf, rbuf, count, type, op, PASS), -1, count, type)                                       \
    XX(BCAST, bcast, (void *buf, COUNT count, TYPE type, int root, COMM),                          \
       (buf, count, type, root, PASS), root, count, type)                                          \
    XX(BARRIER, barrier, (COMM), (PASS), -1, 0, NULL)                                              \
    XX(ALLTOALL, alltoall,                                                                         \
       (const void *sbuf, COUNT scount, TYPE stype, void *rbuf, COUNT rcount, TYPE rtype, COMM),   \
       (sbuf, scount, stype, rbuf, rcount, rtype, PASS), -1, rcount, rtype)                        \
    XX(ALLTOALLV, alltoallv,                                                                       \
       (const void *sbuf, COUNTS scounts, DISPS sdisps, TYPE stype, void *rbuf, COUNTS rcounts,    \
        DISPS rdisps, TYPE rtype, COMM),                                                           \
       (sbuf, scounts, sdisps, stype, rbuf, rcounts, rdisps, rtype, PASS), -1, 0, NULL)            \
    XX(ALLGATHER, allgather,                                                                       \
       (const void *sbuf, COUNT scount, TYPE stype, void *rbuf, COUNT rcount, TYPE rtype, COMM),   \
       (sbuf, scount, stype, rbuf, rcount, rtype, PASS), -1, rcount, rtype)                        \
    XX(ALLGATHERV, allgatherv,                                                                     \
       (const void *sbuf, COUNT scount, TYPE stype, void *rbuf, COUNTS rcounts, DISPS disps,       \
        TYPE rtype, COMM),                                                                         \
       (sbuf, scount, stype, rbuf, rcounts, disps, rtype, PASS), -1, 0, NULL)                      \
    XX(GATHER, gather,                                                                             \
       (const void *sbuf, COUNT scount, TYPE stype, void *rbuf, COUNT rcount, TYPE rtype,          \
        int root, COMM),                                                                           \
       (sbuf, scount, stype, rbuf, rcount, rtype, root, PASS),                                     \
       root, AT_ROOT ? rcount : scount, AT_ROOT ? rtype : stype)                                   \
    XX(GATHERV, gatherv,                                                                           \
       (const void *sbuf, COUNT scount, TYPE stype, void *rbuf, COUNTS rcounts, DISPS disps,       \
        TYPE rtype, int root, COMM),                                                               \
       (sbuf, scount, stype, rbuf, rcounts, disps, rtype, root, PASS), root, 0, NULL)              \
    XX(SCATTER, scatter,                                                                           \
       (const void *sbuf, COUNT scount, TYPE stype, void *rbuf, COUNT rcount, TYPE rtype,          \
        int root, COMM),                                                                           \
       (sbuf, scount, stype, rbuf, rcount, rtype, root, PASS),                                     \
       root, AT_ROOT ? scount : rcount, AT_ROOT ? stype : rtype)                                   \
    XX(SCATTERV, scatterv,                                                                         \
       (const void *sbuf, COUNTS scounts, DISPS disps, TYPE stype, void *rbuf, COUNT rcount,       \
        TYPE rtype, int root, COMM),                                                               \
       (sbuf, scounts, disps, stype, rbuf, rcount, rtype, root, PASS), root, 0, NULL)              \
    XX(REDUCE_SCATTER, reduce_scatter,                                                             \
       (const void *sbuf, void *rbuf, COUNTS rcounts, TYPE type, FUNC op, COMM),                   \
       (sbuf, rbuf, rcounts, type, op, PASS), -1, 0, NULL)                                         \
    XX(REDUCE_SCATTER_BLOCK, reduce_scatter_block,                                                 \
       (const void *sbuf, void *rbuf, COUNT rcount, TYPE type, FUNC op, COMM),                     \
       (sbuf, rbuf, rcount, type, op, PASS), -1, rcount, type)                                     \
    XX(SCAN, scan, (const void *sbuf, void *rbuf, COUNT count, TYPE type, FUNC op, COMM),          \
       (sbuf, rbuf, count, type, op, PASS), -1, count, type)                                       \
    XX(EXSCAN, exscan, (const void *sbuf, void *rbuf, COUNT count, TYPE type, FUNC op, COMM),      \
       (sbuf, rbuf, count, type, op, PASS), -1, count, type)
/* clang-format on */

#define WRAPPER(code, name, parameters, arguments, root_of, count_of, type_of)                     \
    static CLV_HOT int record_##name parameters                                                    \
    {                                                                                              \
        coll_clv_module_t *mine = (coll_clv_module_t *) module;                                    \
        mca_coll_base_module_t *saved = mine->record->recorded.name##_module;                      \
        const coll_clv_ran_t outer = mine->ran; /* a call within one of ours */                    \
        const int64_t arrival_ns = clv_local_now_ns();                                             \
        int rc;                                                                                    \
                                                                                                   \
        mine->ran = &mine->super == saved ? left_alone : nothing_ran;                              \
        depth++;                                                                                   \
        rc = mine->record->recorded.name arguments;                                                \
        depth--;                                                                                   \
        end(mine, comm,                                                                            \
            &(coll_clv_ended_t){.op = CLV_CLVA_OP_##code,                                          \
                                .arrival_ns = arrival_ns,                                          \
                                .exit_ns = clv_local_now_ns(),                                     \
                                .root = root_of,                                                   \
                                .count = (size_t) (count_of),                                      \
                                .dtype = type_of});                                                \
        mine->ran = outer;                                                                         \
        return rc;                                                                                 \
    }

static bool is_wanted(const coll_clv_module_t *module, clv_clva_op_t op)
{
    const int32_t ops = module->config.record_ops;

    return 0 != module->config.record && (0 == ops || 0 != (ops >> op & 1));
}

static const coll_clv_ran_t nothing_ran = {.choice = CLV_CLVA_NOT_OURS,
                                           .predicted_ns = CLV_CLVA_NO_FORECAST};
/* One of our functions leaves no record of a call only if the call is too small to plan. */
static const coll_clv_ran_t left_alone = {.choice = CLV_ALGORITHM_PREVIOUS,
                                          .reason = CLV_REASON_TOO_SMALL,
                                          .predicted_ns = CLV_CLVA_NO_FORECAST};

/* The number counts every call on the communicator, nested or not, so that ranks agree on it. */
static CLV_HOT void end(coll_clv_module_t *module, struct ompi_communicator_t *comm,
                        const coll_clv_ended_t *ended)
{
    if (coll_clv_record_is_on && 0 == depth) {
        coll_clv_record_call(module, comm, ended);
    }
    module->record->recording.next_number++;
}

#define COMM struct ompi_communicator_t *comm, mca_coll_base_module_t *module
#define PASS comm, saved
RECORD_MAP(WRAPPER)
#undef COMM
#undef PASS

/* ---- with a request -------------------------------------------------------------------------- */

/* slot: name of the function. made: the call's kind. n: its counter. then: what to do with the
 * request. */
#define REQUEST_WRAPPER(slot, code, parameters, arguments, root_of, count_of, type_of, made, n,    \
                        then)                                                                      \
    static int record_##slot parameters                                                            \
    {                                                                                              \
        coll_clv_module_t *mine = (coll_clv_module_t *) module;                                    \
        mca_coll_base_module_t *saved = mine->record->recorded.slot##_module;                      \
        const int64_t arrival_ns = clv_local_now_ns();                                             \
        int rc;                                                                                    \
                                                                                                   \
        depth++;                                                                                   \
        rc = mine->record->recorded.slot arguments;                                                \
        depth--;                                                                                   \
        if (OMPI_SUCCESS == rc && 0 == depth) {                                                    \
            coll_clv_count(&mca_coll_clv_component.counters.n, 1);                                 \
            then(mine, comm, *request,                                                             \
                 &(coll_clv_ended_t){.op = CLV_CLVA_OP_##code,                                     \
                                     .how = CLV_CLVA_HOW_##made,                                   \
                                     .arrival_ns = arrival_ns,                                     \
                                     .root = root_of,                                              \
                                     .count = (size_t) (count_of),                                 \
                                     .dtype = type_of});                                           \
        }                                                                                          \
        return rc;                                                                                 \
    }

static void begun(coll_clv_module_t *module, struct ompi_communicator_t *comm,
                  struct ompi_request_t *request, const coll_clv_ended_t *call)
{
    if (coll_clv_record_is_on && is_wanted(module, call->op)) {
        coll_clv_requests_begun(module, comm, request, call);
    }
}

static void made(coll_clv_module_t *module, struct ompi_communicator_t *comm,
                 struct ompi_request_t *request, const coll_clv_ended_t *call)
{
    if (coll_clv_record_is_on && is_wanted(module, call->op)) {
        coll_clv_requests_made(module, comm, request, call);
    }
}

#define PASS comm, request, saved
#define COMM                                                                                       \
    struct ompi_communicator_t *comm, ompi_request_t **request, mca_coll_base_module_t *module
#define NONBLOCKING(code, name, parameters, arguments, root, count, type)                          \
    REQUEST_WRAPPER(i##name, code, parameters, arguments, root, count, type, NONBLOCKING,          \
                    nonblocking, begun)
RECORD_MAP(NONBLOCKING)
#undef NONBLOCKING
#undef COMM
#undef PASS

#define PASS comm, info, request, saved
#define COMM                                                                                       \
    struct ompi_communicator_t *comm, struct ompi_info_t *info, ompi_request_t **request,          \
        mca_coll_base_module_t *module
#define PERSISTENT(code, name, parameters, arguments, root, count, type)                           \
    REQUEST_WRAPPER(name##_init, code, parameters, arguments, root, count, type, PERSISTENT,       \
                    persistent, made)
RECORD_MAP(PERSISTENT)
#undef PERSISTENT
#undef COMM
#undef PASS

/* ---- on and off a communicator --------------------------------------------------------------- */

/* For the summary, calls with a request are counted even if they are not recorded. */
static bool is_counted(const coll_clv_module_t *module, clv_clva_op_t op)
{
    return 0 != (mca_coll_clv_component.params.print & CLV_PRINT_SUMMARY) || is_wanted(module, op);
}

void coll_clv_record_offer(coll_clv_module_t *module)
{
    if (0 == module->config.record &&
        0 == (mca_coll_clv_component.params.print & CLV_PRINT_SUMMARY)) {
        return;
    }
    module->record = clv_alloc_line(sizeof *module->record);
    if (NULL == module->record) {
        return; /* this rank's calls here are not recorded; at the start it tells the others */
    }
#define OFFER(code, name, parameters, arguments, root, count, type)                                \
    if (is_wanted(module, CLV_CLVA_OP_##code)) {                                                   \
        module->super.coll_##name = record_##name;                                                 \
    }                                                                                              \
    if (is_counted(module, CLV_CLVA_OP_##code)) {                                                  \
        module->super.coll_i##name = record_i##name;                                               \
        module->super.coll_##name##_init = record_##name##_init;                                   \
    }
    RECORD_MAP(OFFER)
#undef OFFER
}

/* What a wrapper calls: our function where the module has one, else the installed one. */
static void keep_ours(coll_clv_module_t *module)
{
    const uint32_t ours = (uint32_t) module->config.collectives | module->watched;
    coll_clv_recorded_t *recorded = &module->record->recorded;

#define KEEP_OURS(to, code, name, mpi, goal, root, op, counts, result, bytes, least)               \
    if (0 != (ours >> CLV_COLLECTIVE_##code & 1)) {                                                \
        recorded->name = mca_coll_clv_##name;                                                      \
        recorded->name##_module = &module->super;                                                  \
    }
    CLV_COLLECTIVE_MAP(KEEP_OURS, )
#undef KEEP_OURS
    if (NULL != module->barrier_module) {
        recorded->barrier = mca_coll_clv_barrier;
        recorded->barrier_module = &module->super;
    }
}

static void keep_previous(coll_clv_module_t *module, struct ompi_communicator_t *comm)
{
    coll_clv_recorded_t *recorded = &module->record->recorded;
    mca_coll_base_module_t *base = &module->super;

#define KEEP_SLOT(is_ours, slot)                                                                   \
    if (is_ours && NULL == recorded->slot) {                                                       \
        COLL_CLV_COMPAT_GET(comm, slot, recorded->slot, recorded->slot##_module);                  \
        if (NULL == recorded->slot || NULL == recorded->slot##_module) {                           \
            recorded->slot##_module = NULL;                                                        \
            base->coll_##slot = NULL; /* nothing to wrap */                                        \
        } else {                                                                                   \
            OBJ_RETAIN(recorded->slot##_module);                                                   \
        }                                                                                          \
    }                                                                                              \
    if (is_ours && NULL != base->coll_##slot) {                                                    \
        COLL_CLV_COMPAT_SET(comm, slot, base->coll_##slot, base);                                  \
    }
#define KEEP(code, name, parameters, arguments, root, count, type)                                 \
    KEEP_SLOT(is_wanted(module, CLV_CLVA_OP_##code), name)                                         \
    KEEP_SLOT(is_counted(module, CLV_CLVA_OP_##code), i##name)                                     \
    KEEP_SLOT(is_counted(module, CLV_CLVA_OP_##code), name##_init)
    RECORD_MAP(KEEP)
#undef KEEP
#undef KEEP_SLOT
    (void) base;
}

void coll_clv_record_enable(coll_clv_module_t *module, struct ompi_communicator_t *comm)
{
    if (0 != module->config.record && MPI_COMM_WORLD == comm) {
        coll_clv_record_start(comm, &module->config, NULL != module->record);
    }
    if (NULL == module->record) {
        return;
    }
    keep_ours(module);
    keep_previous(module, comm);
}

void coll_clv_record_disable(coll_clv_module_t *module, struct ompi_communicator_t *comm)
{
    const coll_clv_recorded_t *recorded;
    const mca_coll_base_module_t *base = &module->super;

    if (NULL == module->record) {
        return;
    }
    recorded = &module->record->recorded;
#define PUT_BACK_SLOT(slot)                                                                        \
    if (base == comm->c_coll->coll_##slot##_module && NULL != recorded->slot##_module &&           \
        base != recorded->slot##_module) {                                                         \
        COLL_CLV_COMPAT_SET(comm, slot, recorded->slot, recorded->slot##_module);                  \
    }
#define PUT_BACK(code, name, parameters, arguments, root, count, type)                             \
    PUT_BACK_SLOT(name)                                                                            \
    PUT_BACK_SLOT(i##name)                                                                         \
    PUT_BACK_SLOT(name##_init)
    RECORD_MAP(PUT_BACK)
#undef PUT_BACK
#undef PUT_BACK_SLOT
}

void coll_clv_record_free(coll_clv_module_t *module)
{
    if (NULL == module->record) {
        return;
    }
#define LET_GO_SLOT(slot)                                                                          \
    if (NULL != module->record->recorded.slot##_module &&                                          \
        &module->super != module->record->recorded.slot##_module) {                                \
        OBJ_RELEASE(module->record->recorded.slot##_module);                                       \
    }
#define LET_GO(code, name, parameters, arguments, root, count, type)                               \
    LET_GO_SLOT(name)                                                                              \
    LET_GO_SLOT(i##name)                                                                           \
    LET_GO_SLOT(name##_init)
    RECORD_MAP(LET_GO)
#undef LET_GO
#undef LET_GO_SLOT
    clv_free(module->record);
    module->record = NULL;
}
