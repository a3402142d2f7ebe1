/* SPDX-License-Identifier: BSD-3-Clause
 * See soak.h.
 */
#include "tests/mpi/soak.h"

#include <stdio.h>

/* What rank contributes at index i in step `step`. */
static long long term(long long step, int rank, int i)
{
    return (step * 31 + (long long) rank * 7 + i) % 1009;
}

static long long sum_of_terms(long long step, int n_ranks, int i)
{
    long long sum = 0;

    for (int rank = 0; rank < n_ranks; rank++) {
        sum += term(step, rank, i);
    }
    return sum;
}

void soak_fill(soak_t *soak, int rank, int count)
{
    for (int i = 0; i < count; i++) {
        soak->in[i] = term(soak->step, rank, i);
        soak->out[i] = -1;
    }
}

/* Whether out[0 .. count) are the sums over the first n_ranks ranks, from index first on; some are
 * looked at. */
static int are_sums(const soak_t *soak, const long long *out, int n_ranks, int first, int count)
{
    for (int i = 0; i < count; i += 1 + count / 97) {
        if (out[i] != sum_of_terms(soak->step, n_ranks, first + i)) {
            return 0;
        }
    }
    return 1;
}

/* Whether out[0 .. count) is what rank has from index first on; its two ends are looked at. */
static int is_block(const soak_t *soak, const long long *out, int rank, int first, int count)
{
    return count == 0 || (out[0] == term(soak->step, rank, first) &&
                          out[count - 1] == term(soak->step, rank, first + count - 1));
}

/* ---- nonblocking ones ------------------------------------------------------------------------ */

/* A reduce of the world while another call is open. */
static void reduce_between(soak_t *soak)
{
    const int root = 0;
    int rank, n_ranks;

    MPI_Comm_rank(soak->world, &rank);
    MPI_Comm_size(soak->world, &n_ranks);
    for (int i = 0; i < SOAK_MIXED; i++) {
        soak->mixed_in[i] = term(soak->step, rank, i);
    }
    MPI_Reduce(soak->mixed_in, soak->mixed_out, SOAK_MIXED, MPI_LONG_LONG, MPI_SUM, root,
               soak->world);
    if (rank == root && !are_sums(soak, soak->mixed_out, n_ranks, 0, SOAK_MIXED)) {
        soak->n_wrong++;
        printf("soak: WRONG MPI_Reduce while %s is open\n", soak->doing);
    }
    soak->n_done++;
}

static void end_call(soak_t *soak, soak_call_t *call)
{
    if (call->is_open) {
        reduce_between(soak);
        MPI_Wait(&call->request, MPI_STATUS_IGNORE);
    }
}

/* MPI_Name, or MPI_Iname and its end. */
#define CALL(Name, name, ...)                                                                      \
    do {                                                                                           \
        if (call->is_open) {                                                                       \
            MPI_I##name(__VA_ARGS__, &call->request);                                              \
        } else {                                                                                   \
            MPI_##Name(__VA_ARGS__);                                                               \
        }                                                                                          \
        end_call(soak, call);                                                                      \
    } while (0)

/* ---- whole vectors --------------------------------------------------------------------------- */

static int do_reduce(soak_t *soak, soak_call_t *call)
{
    CALL(Reduce, reduce, soak->in, soak->out, call->count, MPI_LONG_LONG, MPI_SUM, call->root,
         call->comm);
    return call->rank != call->root || are_sums(soak, soak->out, call->n_ranks, 0, call->count);
}

static int do_reduce_in_place(soak_t *soak, soak_call_t *call)
{
    const int is_root = call->rank == call->root;

    CALL(Reduce, reduce, is_root ? MPI_IN_PLACE : soak->in, soak->in, call->count, MPI_LONG_LONG,
         MPI_SUM, call->root, call->comm);
    return !is_root || are_sums(soak, soak->in, call->n_ranks, 0, call->count);
}

/* An MPI_Allreduce of old: what found the stall that this program looks for. */
static int do_reduces_and_bcast(soak_t *soak, soak_call_t *call)
{
    for (int again = 0; again < 3; again++) {
        MPI_Reduce(soak->in, soak->out, call->count, MPI_LONG_LONG, MPI_SUM, call->root,
                   call->comm);
    }
    MPI_Bcast(soak->out, call->count, MPI_LONG_LONG, call->root, call->comm);
    return are_sums(soak, soak->out, call->n_ranks, 0, call->count);
}

static int do_allreduce(soak_t *soak, soak_call_t *call)
{
    CALL(Allreduce, allreduce, soak->in, soak->out, call->count, MPI_LONG_LONG, MPI_SUM,
         call->comm);
    return are_sums(soak, soak->out, call->n_ranks, 0, call->count);
}

static int do_bcast(soak_t *soak, soak_call_t *call)
{
    CALL(Bcast, bcast, soak->in, call->count, MPI_LONG_LONG, call->root, call->comm);
    return is_block(soak, soak->in, call->root, 0, call->count);
}

static int do_barrier(soak_t *soak, soak_call_t *call)
{
    CALL(Barrier, barrier, call->comm);
    return 1;
}

static int do_scan(soak_t *soak, soak_call_t *call)
{
    CALL(Scan, scan, soak->in, soak->out, call->count, MPI_LONG_LONG, MPI_SUM, call->comm);
    return are_sums(soak, soak->out, call->rank + 1, 0, call->count);
}

static int do_exscan(soak_t *soak, soak_call_t *call)
{
    CALL(Exscan, exscan, soak->in, soak->out, call->count, MPI_LONG_LONG, MPI_SUM, call->comm);
    return call->rank == 0 || are_sums(soak, soak->out, call->rank, 0, call->count);
}

/* ---- a block for each rank ------------------------------------------------------------------- */

static int block_of(const soak_call_t *call)
{
    return call->count / call->n_ranks;
}

static int do_reduce_scatter_block(soak_t *soak, soak_call_t *call)
{
    const int block = block_of(call);

    CALL(Reduce_scatter_block, reduce_scatter_block, soak->in, soak->out, block, MPI_LONG_LONG,
         MPI_SUM, call->comm);
    return are_sums(soak, soak->out, call->n_ranks, call->rank * block, block);
}

static int do_alltoall(soak_t *soak, soak_call_t *call)
{
    const int block = block_of(call);
    int is_right = 1;

    CALL(Alltoall, alltoall, soak->in, block, MPI_LONG_LONG, soak->out, block, MPI_LONG_LONG,
         call->comm);
    for (int rank = 0; rank < call->n_ranks; rank++) {
        is_right &= is_block(soak, soak->out + rank * block, rank, call->rank * block, block);
    }
    return is_right;
}

static int do_allgather(soak_t *soak, soak_call_t *call)
{
    const int block = block_of(call);
    int is_right = 1;

    CALL(Allgather, allgather, soak->in, block, MPI_LONG_LONG, soak->out, block, MPI_LONG_LONG,
         call->comm);
    for (int rank = 0; rank < call->n_ranks; rank++) {
        is_right &= is_block(soak, soak->out + rank * block, rank, 0, block);
    }
    return is_right;
}

static int do_gather(soak_t *soak, soak_call_t *call)
{
    const int block = block_of(call);
    int is_right = 1;

    CALL(Gather, gather, soak->in, block, MPI_LONG_LONG, soak->out, block, MPI_LONG_LONG,
         call->root, call->comm);
    for (int rank = 0; call->rank == call->root && rank < call->n_ranks; rank++) {
        is_right &= is_block(soak, soak->out + rank * block, rank, 0, block);
    }
    return is_right;
}

static int do_scatter(soak_t *soak, soak_call_t *call)
{
    const int block = block_of(call);

    CALL(Scatter, scatter, soak->in, block, MPI_LONG_LONG, soak->out, block, MPI_LONG_LONG,
         call->root, call->comm);
    return is_block(soak, soak->out, call->root, call->rank * block, block);
}

/* ---- a piece of another length for each rank ------------------------------------------------- */

/* Piece number n lies where block number n would, and is as long, half or a quarter as long. */
typedef struct pieces {
    int count[SOAK_MAX_RANKS], at[SOAK_MAX_RANKS];
} pieces_t;

/* shift: 0, or which rank sends or receives them all, so that both ends know the same length. */
static pieces_t cut(const soak_call_t *call, int shift, int item_bytes)
{
    pieces_t pieces = {{0}, {0}};

    for (int rank = 0; rank < call->n_ranks; rank++) {
        pieces.count[rank] = block_of(call) >> (rank + shift) % 3;
        pieces.at[rank] = rank * block_of(call) * item_bytes;
    }
    return pieces;
}

static int do_reduce_scatter(soak_t *soak, soak_call_t *call)
{
    const pieces_t pieces = cut(call, 0, 1);
    int first = 0;

    CALL(Reduce_scatter, reduce_scatter, soak->in, soak->out, pieces.count, MPI_LONG_LONG, MPI_SUM,
         call->comm);
    for (int rank = 0; rank < call->rank; rank++) {
        first += pieces.count[rank];
    }
    return are_sums(soak, soak->out, call->n_ranks, first, pieces.count[call->rank]);
}

static int do_gatherv(soak_t *soak, soak_call_t *call)
{
    const pieces_t pieces = cut(call, 0, 1);
    int is_right = 1;

    CALL(Gatherv, gatherv, soak->in, pieces.count[call->rank], MPI_LONG_LONG, soak->out,
         pieces.count, pieces.at, MPI_LONG_LONG, call->root, call->comm);
    for (int rank = 0; call->rank == call->root && rank < call->n_ranks; rank++) {
        is_right &= is_block(soak, soak->out + pieces.at[rank], rank, 0, pieces.count[rank]);
    }
    return is_right;
}

static int do_allgatherv(soak_t *soak, soak_call_t *call)
{
    const pieces_t pieces = cut(call, 0, 1);
    int is_right = 1;

    CALL(Allgatherv, allgatherv, soak->in, pieces.count[call->rank], MPI_LONG_LONG, soak->out,
         pieces.count, pieces.at, MPI_LONG_LONG, call->comm);
    for (int rank = 0; rank < call->n_ranks; rank++) {
        is_right &= is_block(soak, soak->out + pieces.at[rank], rank, 0, pieces.count[rank]);
    }
    return is_right;
}

static int do_scatterv(soak_t *soak, soak_call_t *call)
{
    const pieces_t pieces = cut(call, 0, 1);
    const int count = pieces.count[call->rank];

    CALL(Scatterv, scatterv, soak->in, pieces.count, pieces.at, MPI_LONG_LONG, soak->out, count,
         MPI_LONG_LONG, call->root, call->comm);
    return is_block(soak, soak->out, call->root, pieces.at[call->rank], count);
}

/* Piece number r of rank s is as long as piece number s of rank r. */
static int have_exchanged(const soak_t *soak, const soak_call_t *call, const pieces_t *pieces)
{
    const int block = block_of(call);
    int is_right = 1;

    for (int rank = 0; rank < call->n_ranks; rank++) {
        is_right &=
            is_block(soak, soak->out + rank * block, rank, call->rank * block, pieces->count[rank]);
    }
    return is_right;
}

static int do_alltoallv(soak_t *soak, soak_call_t *call)
{
    const pieces_t pieces = cut(call, call->rank, 1);

    CALL(Alltoallv, alltoallv, soak->in, pieces.count, pieces.at, MPI_LONG_LONG, soak->out,
         pieces.count, pieces.at, MPI_LONG_LONG, call->comm);
    return have_exchanged(soak, call, &pieces);
}

static int do_alltoallw(soak_t *soak, soak_call_t *call)
{
    const pieces_t pieces = cut(call, call->rank, (int) sizeof *soak->in);
    MPI_Datatype types[SOAK_MAX_RANKS];

    for (int rank = 0; rank < call->n_ranks; rank++) {
        types[rank] = MPI_LONG_LONG;
    }
    CALL(Alltoallw, alltoallw, soak->in, pieces.count, pieces.at, types, soak->out, pieces.count,
         pieces.at, types, call->comm);
    return have_exchanged(soak, call, &pieces);
}

/* ---- neighbours: each rank hears the one to its left ----------------------------------------- */

static int has_heard(const soak_t *soak, const soak_call_t *call)
{
    const int left = (call->rank + call->n_ranks - 1) % call->n_ranks;

    return is_block(soak, soak->out, left, 0, call->count);
}

static int do_neighbor_allgather(soak_t *soak, soak_call_t *call)
{
    CALL(Neighbor_allgather, neighbor_allgather, soak->in, call->count, MPI_LONG_LONG, soak->out,
         call->count, MPI_LONG_LONG, call->comm);
    return has_heard(soak, call);
}

static int do_neighbor_allgatherv(soak_t *soak, soak_call_t *call)
{
    const int at = 0;

    CALL(Neighbor_allgatherv, neighbor_allgatherv, soak->in, call->count, MPI_LONG_LONG, soak->out,
         &call->count, &at, MPI_LONG_LONG, call->comm);
    return has_heard(soak, call);
}

static int do_neighbor_alltoall(soak_t *soak, soak_call_t *call)
{
    CALL(Neighbor_alltoall, neighbor_alltoall, soak->in, call->count, MPI_LONG_LONG, soak->out,
         call->count, MPI_LONG_LONG, call->comm);
    return has_heard(soak, call);
}

static int do_neighbor_alltoallv(soak_t *soak, soak_call_t *call)
{
    const int at = 0;

    CALL(Neighbor_alltoallv, neighbor_alltoallv, soak->in, &call->count, &at, MPI_LONG_LONG,
         soak->out, &call->count, &at, MPI_LONG_LONG, call->comm);
    return has_heard(soak, call);
}

static int do_neighbor_alltoallw(soak_t *soak, soak_call_t *call)
{
    const MPI_Aint at = 0;
    const MPI_Datatype type = MPI_LONG_LONG;

    CALL(Neighbor_alltoallw, neighbor_alltoallw, soak->in, &call->count, &at, &type, soak->out,
         &call->count, &at, &type, call->comm);
    return has_heard(soak, call);
}

/* Reduces are half of it. */
const soak_operation_t soak_operations[] = {
    {"MPI_Reduce", 12, 0, do_reduce},
    {"MPI_Reduce in place", 5, 0, do_reduce_in_place},
    {"three MPI_Reduces and MPI_Bcast", 5, 0, do_reduces_and_bcast},
    {"MPI_Allreduce", 3, 0, do_allreduce},
    {"MPI_Bcast", 2, 0, do_bcast},
    {"MPI_Barrier", 1, 0, do_barrier},
    {"MPI_Scan", 1, 0, do_scan},
    {"MPI_Exscan", 1, 0, do_exscan},
    {"MPI_Reduce_scatter_block", 1, 0, do_reduce_scatter_block},
    {"MPI_Reduce_scatter", 1, 0, do_reduce_scatter},
    {"MPI_Alltoall", 1, 0, do_alltoall},
    {"MPI_Alltoallv", 1, 0, do_alltoallv},
    {"MPI_Alltoallw", 1, 0, do_alltoallw},
    {"MPI_Allgather", 1, 0, do_allgather},
    {"MPI_Allgatherv", 1, 0, do_allgatherv},
    {"MPI_Gather", 1, 0, do_gather},
    {"MPI_Gatherv", 1, 0, do_gatherv},
    {"MPI_Scatter", 1, 0, do_scatter},
    {"MPI_Scatterv", 1, 0, do_scatterv},
    {"MPI_Neighbor_allgather", 1, 1, do_neighbor_allgather},
    {"MPI_Neighbor_allgatherv", 1, 1, do_neighbor_allgatherv},
    {"MPI_Neighbor_alltoall", 1, 1, do_neighbor_alltoall},
    {"MPI_Neighbor_alltoallv", 1, 1, do_neighbor_alltoallv},
    {"MPI_Neighbor_alltoallw", 1, 1, do_neighbor_alltoallw},
};
const int soak_n_operations = (int) (sizeof soak_operations / sizeof soak_operations[0]);
