/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Broadcasts of random lengths from random roots, each rank with a datatype of its own for the same
 * data: ints side by side, several in one element, with gaps, from a place below the address. Now
 * and then a reduce or an allreduce between, and any rank late. What is in the gaps must stay.
 * Usage: bcast_cases [CALLS [SEED]]. The last line is that of reduce_cases.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MAX_INTS = 60000, STRIDE = 3, ROOM = STRIDE * MAX_INTS + 16, OFFSET = 5, UNTOUCHED = -9 };
enum { BEYOND = 1000 }; /* so many places behind the data are looked at, too */

typedef enum shape { SIDE_BY_SIDE, FOUR_IN_ONE, WITH_GAPS, BELOW, N_SHAPES } shape_t;

static int rank, size;
static int32_t room[ROOM];

static uint64_t draw(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static int below(uint64_t *state, int n)
{
    return (int) (draw(state) % (uint64_t) n);
}

/* Where number i of a call is. */
static size_t place(shape_t shape, int i)
{
    return (size_t) (shape == WITH_GAPS ? STRIDE * i : i) + OFFSET;
}

/* The places of a call that are filled before and looked at afterwards. */
static size_t n_places(shape_t shape, int n_ints)
{
    const size_t n = place(shape, n_ints) + BEYOND;
    return n < ROOM ? n : ROOM;
}

static int32_t value(int call, int root, int i)
{
    return (int32_t) (call * 1009 + root * 31 + i);
}

/* The datatype of a shape, and how many of it are n_ints. */
static MPI_Datatype type_of(shape_t shape, int n_ints, int *count_p)
{
    int length = 1, at = OFFSET;
    MPI_Datatype type, gapped;

    *count_p = n_ints;
    if (shape == FOUR_IN_ONE && n_ints % 4 == 0) {
        MPI_Type_contiguous(4, MPI_INT32_T, &type);
        *count_p = n_ints / 4;
    } else if (shape == WITH_GAPS) {
        MPI_Type_contiguous(1, MPI_INT32_T, &gapped);
        MPI_Type_create_resized(gapped, 0, STRIDE * (MPI_Aint) sizeof(int32_t), &type);
        MPI_Type_free(&gapped);
    } else if (shape == BELOW) {
        MPI_Type_create_indexed_block(1, length, &at, MPI_INT32_T, &gapped);
        MPI_Type_create_resized(gapped, OFFSET * (MPI_Aint) sizeof(int32_t), sizeof(int32_t),
                                &type);
        MPI_Type_free(&gapped);
    } else {
        MPI_Type_dup(MPI_INT32_T, &type);
    }
    MPI_Type_commit(&type);
    return type;
}

static int is_right(shape_t shape, int call, int root, int n_ints)
{
    const size_t n = n_places(shape, n_ints);
    int next = 0;

    for (size_t k = 0; k < n; k++) {
        const int is_data = next < n_ints && place(shape, next) == k;
        if (room[k] != (is_data ? value(call, root, next) : UNTOUCHED)) {
            printf("# WRONG: rank %d, call %d, root %d, %d ints, shape %d: place %zu has %d\n",
                   rank, call, root, n_ints, (int) shape, k, (int) room[k]);
            return 0;
        }
        next += is_data;
    }
    return 1;
}

static int broadcast(int call, int root, int n_ints, shape_t shape, MPI_Comm comm)
{
    int32_t *buffer = shape == BELOW ? room : room + OFFSET;
    const size_t n = n_places(shape, n_ints);
    int count, comm_rank;
    MPI_Datatype type = type_of(shape, n_ints, &count);

    MPI_Comm_rank(comm, &comm_rank);
    for (size_t k = 0; k < n; k++) {
        room[k] = UNTOUCHED;
    }
    for (int i = 0; i < n_ints && comm_rank == root; i++) {
        room[place(shape, i)] = value(call, root, i);
    }
    MPI_Bcast(buffer, count, type, root, comm);
    MPI_Type_free(&type);
    return is_right(shape, call, root, n_ints);
}

static int sum_between(int all, int root, MPI_Comm comm)
{
    static int64_t own[20000], sum[20000];
    int comm_rank, comm_size, right = 1;

    MPI_Comm_rank(comm, &comm_rank);
    MPI_Comm_size(comm, &comm_size);
    for (int i = 0; i < 20000; i++) {
        own[i] = comm_rank + i;
    }
    if (all) {
        MPI_Allreduce(own, sum, 20000, MPI_INT64_T, MPI_SUM, comm);
    } else {
        MPI_Reduce(own, sum, 20000, MPI_INT64_T, MPI_SUM, root, comm);
    }
    for (int64_t i = 0; i < 20000 && (all || comm_rank == root); i++) {
        right &= sum[i] == (int64_t) comm_size * (comm_size - 1) / 2 + i * comm_size;
    }
    return right;
}

/* shared: drawn alike on all ranks; own: what only this rank does. */
static int one_call(int call, uint64_t *shared, uint64_t *own, MPI_Comm comm)
{
    static const int lengths[] = {0, 1, 3, 4, 100, 4096, 20000, MAX_INTS};
    const int is_known = below(shared, 3) == 0;
    const int n_known = lengths[below(shared, 8)], n_drawn = below(shared, MAX_INTS);
    const struct timespec late = {.tv_nsec = below(own, 4) == 0 ? 300000 : 0};
    const int between = below(shared, 4);
    int comm_size, root;

    MPI_Comm_size(comm, &comm_size);
    root = below(shared, comm_size);
    nanosleep(&late, NULL);
    return (between > 1 || sum_between(between, root, comm)) &
           broadcast(call, root, is_known ? n_known : n_drawn, (shape_t) below(own, N_SHAPES),
                     comm);
}

int main(int argc, char **argv)
{
    const int n_calls = argc > 1 ? atoi(argv[1]) : 200;
    uint64_t shared = argc > 2 ? strtoull(argv[2], NULL, 0) : 1, own;
    int n_wrong = 0, all_wrong = 0;
    MPI_Comm half;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    own = shared * 1000 + (uint64_t) rank;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    for (int call = 0; call < n_calls; call++) {
        n_wrong += !one_call(call, &shared, &own, call % 5 == 4 ? half : MPI_COMM_WORLD);
    }
    MPI_Comm_free(&half);
    MPI_Reduce(&n_wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && all_wrong == 0) {
        printf("# reduce_cases: all right\n");
    }
    MPI_Finalize();
    return 0;
}
