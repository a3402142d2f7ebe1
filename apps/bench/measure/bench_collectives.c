/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of collectives, their inputs and the check of their results; see the header.
 */
#include "apps/bench/measure/bench_collectives.h"

#include <string.h>

#define PERIOD      61 /* period of the inputs; prime: no block size divides it */
#define VALUE_RANGE 16 /* inputs are smaller: a float holds sums of 4096 of them exactly */
#define RUBBISH     0x5a

/* ---- elements ---- */

static const char *const element_names[] = {"int32", "int64", "float", "double"};
static const char *const operation_names[] = {"sum", "max", "min"};

clv_element_kind_t clv_element_kind(clv_element_t element)
{
    const MPI_Datatype types[] = {MPI_INT32_T, MPI_INT64_T, MPI_FLOAT, MPI_DOUBLE};
    static const size_t sizes[] = {4, 8, 4, 8};
    const clv_element_kind_t kind = {element_names[element], types[element], sizes[element]};

    return kind;
}

MPI_Op clv_operation_op(clv_operation_t operation)
{
    const MPI_Op ops[] = {MPI_SUM, MPI_MAX, MPI_MIN};

    return ops[operation];
}

const char *clv_operation_name(clv_operation_t operation)
{
    return operation_names[operation];
}

static int find_name(const char *name, const char *const *names, int n_names)
{
    for (int i = 0; i < n_names; i++) {
        if (!strcmp(name, names[i])) {
            return i;
        }
    }
    return -1;
}

bool clv_element_find(const char *name, clv_element_t *element_p)
{
    const int found = find_name(name, element_names, 4);

    if (found >= 0) {
        *element_p = (clv_element_t) found;
    }
    return found >= 0;
}

bool clv_operation_find(const char *name, clv_operation_t *operation_p)
{
    const int found = find_name(name, operation_names, 3);

    if (found >= 0) {
        *operation_p = (clv_operation_t) found;
    }
    return found >= 0;
}

static void store(const clv_bench_call_t *call, void *buffer, size_t index, int value)
{
    switch (call->element) {
    case CLV_INT32:
        ((int32_t *) buffer)[index] = value;
        break;
    case CLV_INT64:
        ((int64_t *) buffer)[index] = value;
        break;
    case CLV_FLOAT:
        ((float *) buffer)[index] = (float) value;
        break;
    default:
        ((double *) buffer)[index] = value;
        break;
    }
}

static double load(const clv_bench_call_t *call, const void *buffer, size_t index)
{
    switch (call->element) {
    case CLV_INT32:
        return ((const int32_t *) buffer)[index];
    case CLV_INT64:
        return (double) ((const int64_t *) buffer)[index];
    case CLV_FLOAT:
        return (double) ((const float *) buffer)[index];
    default:
        return ((const double *) buffer)[index];
    }
}

/* ---- inputs and expected results ---- */

static int input(int rank, size_t position, int64_t iteration)
{
    const uint64_t p = position % PERIOD;

    return (int) (((uint64_t) rank * 7 + p * p + (uint64_t) iteration * 5) % VALUE_RANGE);
}

static int combine(clv_operation_t operation, int a, int b)
{
    switch (operation) {
    case CLV_MAX:
        return a > b ? a : b;
    case CLV_MIN:
        return a < b ? a : b;
    default:
        return a + b;
    }
}

/* One period of the combined inputs of the first n_ranks ranks. */
static void combined_period(const clv_bench_call_t *call, int n_ranks, int *period)
{
    for (size_t p = 0; p < PERIOD; p++) {
        period[p] = input(0, p, call->iteration);
        for (int r = 1; r < n_ranks; r++) {
            period[p] = combine(call->operation, period[p], input(r, p, call->iteration));
        }
    }
}

/* Compares n items of recv, starting at recv_from, with the periodic values, starting at
 * position. */
static bool matches(const clv_bench_call_t *call, size_t recv_from, size_t n_items,
                    const int *period, size_t position)
{
    for (size_t i = 0; i < n_items; i++) {
        if (load(call, call->recv, recv_from + i) != (double) period[(position + i) % PERIOD]) {
            return false;
        }
    }
    return true;
}

static void rank_period(const clv_bench_call_t *call, int rank, int *period)
{
    for (size_t p = 0; p < PERIOD; p++) {
        period[p] = input(rank, p, call->iteration);
    }
}

static bool has_inputs_of(const clv_bench_call_t *call, int n_ranks)
{
    int period[PERIOD];
    combined_period(call, n_ranks, period);
    return matches(call, 0, (size_t) call->count, period, 0);
}

static bool has_all_inputs(const clv_bench_call_t *call)
{
    return has_inputs_of(call, call->n_ranks);
}

static bool has_inputs_up_to_mine(const clv_bench_call_t *call)
{
    return has_inputs_of(call, call->rank + 1);
}

/* False on rank 0, whose result of an exclusive scan is undefined. */
static bool has_inputs_before_mine(const clv_bench_call_t *call)
{
    return call->rank == 0 || has_inputs_of(call, call->rank);
}

static bool root_has_all_inputs(const clv_bench_call_t *call)
{
    return call->rank != call->root || has_all_inputs(call);
}

static bool has_own_block(const clv_bench_call_t *call)
{
    int period[PERIOD];
    combined_period(call, call->n_ranks, period);
    return matches(call, 0, (size_t) call->count, period,
                   (size_t) call->rank * (size_t) call->count);
}

static bool has_root_vector(const clv_bench_call_t *call)
{
    int period[PERIOD];
    rank_period(call, call->root, period);
    return matches(call, 0, (size_t) call->count, period, 0);
}

/* Whether block r of recv is rank r's data, starting at position, for all r. */
static bool has_blocks(const clv_bench_call_t *call, size_t position)
{
    int period[PERIOD];
    const size_t count = (size_t) call->count;

    for (int r = 0; r < call->n_ranks; r++) {
        rank_period(call, r, period);
        if (!matches(call, (size_t) r * count, count, period, position)) {
            return false;
        }
    }
    return true;
}

static bool has_gathered(const clv_bench_call_t *call)
{
    return has_blocks(call, 0);
}

static bool root_has_gathered(const clv_bench_call_t *call)
{
    return call->rank != call->root || has_blocks(call, 0);
}

static bool has_exchanged(const clv_bench_call_t *call)
{
    return has_blocks(call, (size_t) call->rank * (size_t) call->count);
}

static bool nothing_to_check(const clv_bench_call_t *call)
{
    (void) call;
    return true;
}

/* ---- sizes ---- */

static size_t one_vector(const clv_bench_call_t *call)
{
    return (size_t) call->count;
}

static size_t one_block_each(const clv_bench_call_t *call)
{
    return (size_t) call->count * (size_t) call->n_ranks;
}

static size_t nothing(const clv_bench_call_t *call)
{
    (void) call;
    return 0;
}

/* Copies the first period over the rest, doubling each time: filling must not take processor time
 * that other ranks need for their calls. */
static void repeat_period(void *buffer, size_t n_bytes, size_t period_bytes)
{
    char *bytes = buffer;

    for (size_t filled = period_bytes; filled < n_bytes;) {
        const size_t more = filled < n_bytes - filled ? filled : n_bytes - filled;
        memcpy(bytes + filled, bytes, more);
        filled += more;
    }
}

void clv_bench_fill(const clv_collective_t *collective, const clv_bench_call_t *call)
{
    const size_t n_send = collective->send_items(call);
    const size_t n_recv = collective->recv_items(call);

    if (n_recv) {
        memset(call->recv, RUBBISH, n_recv * clv_element_kind(call->element).size);
    }
    for (size_t i = 0; i < n_send && i < PERIOD; i++) {
        store(call, call->send, i, input(call->rank, i, call->iteration));
    }
    repeat_period(call->send, n_send * clv_element_kind(call->element).size,
                  PERIOD * clv_element_kind(call->element).size);
    if (collective == clv_collective_find("bcast") && call->rank == call->root) {
        memcpy(call->recv, call->send, n_send * clv_element_kind(call->element).size);
    }
}

/* ---- the calls ---- */

#define TYPE(call) (clv_element_kind((call)->element).type)
#define OP(call)   (clv_operation_op((call)->operation))

/* Defines the blocking and the nonblocking form of a call from the same arguments. */
#define CALLS(name, Name, Iname, ...)                                                              \
    static int run_##name(const clv_bench_call_t *c)                                               \
    {                                                                                              \
        return Name(__VA_ARGS__);                                                                  \
    }                                                                                              \
    static int start_##name(const clv_bench_call_t *c, MPI_Request *request_p)                     \
    {                                                                                              \
        return Iname(__VA_ARGS__, request_p);                                                      \
    }

CALLS(reduce, MPI_Reduce, MPI_Ireduce, c->send, c->recv, c->count, TYPE(c), OP(c), c->root, c->comm)
CALLS(allreduce, MPI_Allreduce, MPI_Iallreduce, c->send, c->recv, c->count, TYPE(c), OP(c), c->comm)
CALLS(bcast, MPI_Bcast, MPI_Ibcast, c->recv, c->count, TYPE(c), c->root, c->comm)
CALLS(barrier, MPI_Barrier, MPI_Ibarrier, c->comm)
CALLS(alltoall, MPI_Alltoall, MPI_Ialltoall, c->send, c->count, TYPE(c), c->recv, c->count, TYPE(c),
      c->comm)
CALLS(allgather, MPI_Allgather, MPI_Iallgather, c->send, c->count, TYPE(c), c->recv, c->count,
      TYPE(c), c->comm)
CALLS(gather, MPI_Gather, MPI_Igather, c->send, c->count, TYPE(c), c->recv, c->count, TYPE(c),
      c->root, c->comm)
CALLS(scan, MPI_Scan, MPI_Iscan, c->send, c->recv, c->count, TYPE(c), OP(c), c->comm)
CALLS(exscan, MPI_Exscan, MPI_Iexscan, c->send, c->recv, c->count, TYPE(c), OP(c), c->comm)
CALLS(reduce_scatter, MPI_Reduce_scatter, MPI_Ireduce_scatter, c->send, c->recv, c->recv_counts,
      TYPE(c), OP(c), c->comm)

/* clang-format off */
/* clang-format off */
#define ROW(name, has_root, send, recv, valid)                                                     \
    {#name, has_root, run_##name, start_##name, send, recv, valid}
/* clang-format on */
/* clang-format on */
const clv_collective_t clv_collectives[] = {
    ROW(reduce, true, one_vector, one_vector, root_has_all_inputs),
    ROW(allreduce, false, one_vector, one_vector, has_all_inputs),
    ROW(bcast, true, one_vector, one_vector, has_root_vector),
    ROW(barrier, false, nothing, nothing, nothing_to_check),
    ROW(alltoall, false, one_block_each, one_block_each, has_exchanged),
    ROW(allgather, false, one_vector, one_block_each, has_gathered),
    ROW(gather, true, one_vector, one_block_each, root_has_gathered),
    ROW(reduce_scatter, false, one_block_each, one_vector, has_own_block),
    ROW(scan, false, one_vector, one_vector, has_inputs_up_to_mine),
    ROW(exscan, false, one_vector, one_vector, has_inputs_before_mine),
    {NULL, false, NULL, NULL, NULL, NULL, NULL},
};

const clv_collective_t *clv_collective_find(const char *name)
{
    for (const clv_collective_t *row = clv_collectives; row->name; row++) {
        if (!strcmp(row->name, name)) {
            return row;
        }
    }
    return NULL;
}
