/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What allreduce_cases tests: MPI_Allreduce, by whatever component was chosen, as if it were a
 * reduce to a root. The other ranks compare what they get with the root's result, bit for bit as it
 * is packed, and pass MPI_IN_PLACE now and then; a difference ends the program.
 */
#include "tests/mpi/reduce_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const int rc_bears_odd_types = 0;

/* A result buffer for who has none. */
typedef struct room {
    char *memory;
    char *base; /* what MPI is given */
    MPI_Aint lowest;
    size_t n_bytes;
} room_t;

static room_t make_room(int count, MPI_Datatype type)
{
    MPI_Aint lb, extent, true_lb, true_extent;
    room_t room = {0};

    MPI_Type_get_extent(type, &lb, &extent);
    MPI_Type_get_true_extent(type, &true_lb, &true_extent);
    room.lowest = true_lb;
    room.n_bytes = (size_t) (true_extent + (count > 0 ? count - 1 : 0) * extent);
    room.memory = calloc(room.n_bytes + 1, 1);
    room.base = room.memory - true_lb;
    return room;
}

/* All that the type carries of the vector. */
static char *pack(const void *vector, int count, MPI_Datatype type, MPI_Comm comm, int *n_bytes_p)
{
    int at = 0, size;
    char *packed;

    MPI_Pack_size(count, type, comm, &size);
    packed = calloc((size_t) size + 1, 1);
    MPI_Pack(vector, count, type, packed, size, &at, comm);
    *n_bytes_p = at;
    return packed;
}

/* x87 numbers have bytes that mean nothing. */
static int is_comparable(MPI_Datatype type)
{
    return type != MPI_LONG_DOUBLE && type != MPI_LONG_DOUBLE_INT &&
           type != MPI_C_LONG_DOUBLE_COMPLEX;
}

static void compare(const void *vector, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    int rank, n_bytes, differ;
    char *mine = pack(vector, count, type, comm, &n_bytes), *theirs = malloc((size_t) n_bytes + 1);

    MPI_Comm_rank(comm, &rank);
    memcpy(theirs, mine, (size_t) n_bytes);
    MPI_Bcast(theirs, n_bytes, MPI_BYTE, root, comm);
    differ = memcmp(mine, theirs, (size_t) n_bytes) != 0;
    if (differ && is_comparable(type)) {
        printf("# WRONG: rank %d has other bits than rank %d, %d elements\n", rank, root, count);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    free(theirs);
    free(mine);
}

int rc_reduce(const void *sbuf, void *rbuf, int count, MPI_Datatype type, MPI_Op op, int root,
              MPI_Comm comm)
{
    room_t room = make_room(count, type);
    int rank, rc;

    MPI_Comm_rank(comm, &rank);
    if (rank != root) {
        const int in_place = count > 0 && sbuf != NULL && (count + rank) % 2 == 0;
        rbuf = room.base;
        if (in_place) {
            memcpy(room.memory, (const char *) sbuf + room.lowest, room.n_bytes);
            sbuf = MPI_IN_PLACE;
        }
    }
    rc = MPI_Allreduce(sbuf, rbuf, count, type, op, comm);
    compare(rbuf, count, type, root, comm);
    free(room.memory);
    return rc;
}

void rc_end_thread(void) {}
