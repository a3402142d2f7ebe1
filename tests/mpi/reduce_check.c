/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Types, operations and one checked reduce.
 */
#include "tests/mpi/reduce_check.h"

#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUARD_BYTES 64
#define PATTERN     0xa5

/* --- predefined types --- */

typedef float complex float_complex;
typedef double complex double_complex;
typedef long double long_double;

#define SCALAR_MAP(XX)                                                                             \
    XX(MPI_INT8_T, int8_t, RC_INTEGER)                                                             \
    XX(MPI_INT16_T, int16_t, RC_INTEGER)                                                           \
    XX(MPI_INT32_T, int32_t, RC_INTEGER)                                                           \
    XX(MPI_INT64_T, int64_t, RC_INTEGER)                                                           \
    XX(MPI_UINT8_T, uint8_t, RC_INTEGER)                                                           \
    XX(MPI_UINT16_T, uint16_t, RC_INTEGER)                                                         \
    XX(MPI_UINT32_T, uint32_t, RC_INTEGER)                                                         \
    XX(MPI_UINT64_T, uint64_t, RC_INTEGER)                                                         \
    XX(MPI_INT, int, RC_INTEGER)                                                                   \
    XX(MPI_LONG, long, RC_INTEGER)                                                                 \
    XX(MPI_AINT, MPI_Aint, RC_INTEGER)                                                             \
    XX(MPI_FLOAT, float, RC_FLOATING)                                                              \
    XX(MPI_DOUBLE, double, RC_FLOATING)                                                            \
    XX(MPI_C_FLOAT_COMPLEX, float_complex, RC_COMPLEX)                                             \
    XX(MPI_C_DOUBLE_COMPLEX, double_complex, RC_COMPLEX)                                           \
    XX(MPI_C_BOOL, bool, RC_LOGICAL)                                                               \
    XX(MPI_BYTE, uint8_t, RC_BYTE)

#define PAIR_MAP(XX)                                                                               \
    XX(MPI_FLOAT_INT, float)                                                                       \
    XX(MPI_DOUBLE_INT, double)                                                                     \
    XX(MPI_LONG_INT, long)                                                                         \
    XX(MPI_2INT, int)                                                                              \
    XX(MPI_SHORT_INT, short)

#define SCALAR_SET(mpi, c, kind)                                                                   \
    static void set_##mpi(const rc_type_t *type, char *element, int64_t value, int index)          \
    {                                                                                              \
        (void) type;                                                                               \
        (void) index;                                                                              \
        *(c *) (void *) element = (c) value;                                                       \
    }
#define PAIR_SET(mpi, c)                                                                           \
    typedef struct pair_##mpi {                                                                    \
        c value;                                                                                   \
        int index;                                                                                 \
    } pair_##mpi##_t;                                                                              \
    static void set_##mpi(const rc_type_t *type, char *element, int64_t value, int index)          \
    {                                                                                              \
        pair_##mpi##_t *pair = (void *) element;                                                   \
        (void) type;                                                                               \
        pair->value = (c) value;                                                                   \
        pair->index = index;                                                                       \
    }
SCALAR_MAP(SCALAR_SET)
PAIR_MAP(PAIR_SET)

/* An x87 number has 10 bytes of value in 16. */
static void set_long_double(const rc_type_t *type, char *element, int64_t value, int index)
{
    long double number = (long double) value;

    (void) index;
    memcpy(element, &number, (size_t) type->pieces[0].n_bytes);
}

#if defined(__x86_64__)
#define LONG_DOUBLE_BYTES 10
#else
#define LONG_DOUBLE_BYTES ((int) sizeof(long double))
#endif

#define SCALAR_ROW(mpi, c, kind) {#mpi, mpi, kind, 1, {{0, (int) sizeof(c)}}, set_##mpi},
#define PAIR_ROW(mpi, c)                                                                           \
    {#mpi,                                                                                         \
     mpi,                                                                                          \
     RC_PAIR,                                                                                      \
     2,                                                                                            \
     {{0, (int) sizeof(c)}, {offsetof(pair_##mpi##_t, index), (int) sizeof(int)}},                 \
     set_##mpi},
rc_type_t rc_types[] = {SCALAR_MAP(SCALAR_ROW) PAIR_MAP(PAIR_ROW){"MPI_LONG_DOUBLE",
                                                                  MPI_LONG_DOUBLE,
                                                                  RC_FLOATING,
                                                                  1,
                                                                  {{0, LONG_DOUBLE_BYTES}},
                                                                  set_long_double},
                        {.name = NULL}};

/* --- predefined operations --- */

static int64_t small(int rank, int64_t i)
{
    return (rank * 7 + i * 3) % 2;
}

static int64_t few_twos(int rank, int64_t i)
{
    return rank < 16 && (rank + i) % 4 == 0 ? 2 : 1; /* at most 2^4 */
}

static int64_t mixed(int rank, int64_t i)
{
    return (rank * 31 + i * 17) % 101;
}

static int64_t mostly_true(int rank, int64_t i)
{
    return (rank + i) % 5 != 0;
}

static int64_t bits(int rank, int64_t i)
{
    return (int64_t) (((uint64_t) rank * 2654435761u + (uint64_t) i * 40503u) >> 7 & 0x7f);
}

rc_op_t rc_ops[] = {
    {"MPI_SUM", MPI_SUM, RC_INTEGER | RC_FLOATING | RC_COMPLEX, small},
    {"MPI_PROD", MPI_PROD, RC_INTEGER | RC_FLOATING | RC_COMPLEX, few_twos},
    {"MPI_MIN", MPI_MIN, RC_INTEGER | RC_FLOATING, mixed},
    {"MPI_MAX", MPI_MAX, RC_INTEGER | RC_FLOATING, mixed},
    {"MPI_LAND", MPI_LAND, RC_INTEGER | RC_LOGICAL, mostly_true},
    {"MPI_LOR", MPI_LOR, RC_INTEGER | RC_LOGICAL, small},
    {"MPI_LXOR", MPI_LXOR, RC_INTEGER | RC_LOGICAL, small},
    {"MPI_BAND", MPI_BAND, RC_INTEGER | RC_BYTE, bits},
    {"MPI_BOR", MPI_BOR, RC_INTEGER | RC_BYTE, bits},
    {"MPI_BXOR", MPI_BXOR, RC_INTEGER | RC_BYTE, bits},
    {"MPI_MINLOC", MPI_MINLOC, RC_PAIR, mixed},
    {"MPI_MAXLOC", MPI_MAXLOC, RC_PAIR, mixed},
    {.name = NULL},
};

/* --- derived types: a few int32 per element, at odd places --- */

static void set_derived(const rc_type_t *type, char *element, int64_t value, int index)
{
    (void) index;
    for (int k = 0; k < type->n_pieces; k++) {
        int32_t number = (int32_t) (value + k);
        memcpy(element + type->pieces[k].offset, &number, sizeof number);
    }
}

/* The fields in the order of use: offsets of the ints, then lower bound and extent. */
typedef struct derived_row {
    const char *name;
    int n_ints;
    int offsets[RC_MAX_PIECES];
    int lb, extent;
} derived_row_t;

static const derived_row_t derived_rows[] = {
    {"contiguous", 2, {0, 4}, 0, 8},
    {"leading gap", 1, {12}, 0, 16},
    {"leading gap that is no part of it", 2, {400, 408}, 400, 12},
    {"strided with gaps", 3, {0, 12, 24}, 0, 40},
    {"data before the address", 2, {-20, -8}, -20, 16},
    {"lower bound above the data", 2, {4, 8}, 20, 24},
    {"elements interleaved", 2, {0, 40000}, 0, 4},
    {"no data at all", 0, {0}, 0, 4},
    {"backwards: negative extent", 2, {0, 4}, 0, -8},
};
#define N_DERIVED ((int) (sizeof derived_rows / sizeof derived_rows[0]))

rc_type_t rc_derived[N_DERIVED + 1];
MPI_Op rc_user_sum = MPI_OP_NULL;
MPI_Op rc_user_affine = MPI_OP_NULL;
rc_type_t rc_affine;

static void build_derived(rc_type_t *type, const derived_row_t *row)
{
    MPI_Datatype plain;
    MPI_Aint displacements[RC_MAX_PIECES];
    int lengths[RC_MAX_PIECES];

    *type = (rc_type_t){.name = row->name, .kind = RC_DERIVED, .set = set_derived};
    type->n_pieces = row->n_ints;
    for (int k = 0; k < row->n_ints; k++) {
        type->pieces[k] = (rc_piece_t){row->offsets[k], (int) sizeof(int32_t)};
        displacements[k] = row->offsets[k];
        lengths[k] = 1;
    }
    MPI_Type_create_hindexed(row->n_ints, lengths, displacements, MPI_INT32_T, &plain);
    MPI_Type_create_resized(plain, row->lb, row->extent, &type->type);
    MPI_Type_commit(&type->type);
    MPI_Type_free(&plain);
}

static const rc_type_t *derived_of(MPI_Datatype type)
{
    for (int i = 0; i < N_DERIVED; i++) {
        if (rc_derived[i].type == type) {
            return &rc_derived[i];
        }
    }
    return NULL;
}

/* Adds int by int, touching nothing between them. */
static void user_sum(void *in, void *inout, int *count, MPI_Datatype *mpi_type)
{
    static const rc_type_t plain_int = {.n_pieces = 1, .pieces = {{0, 4}}};
    const rc_type_t *type = derived_of(*mpi_type);
    MPI_Aint lb, extent;

    MPI_Type_get_extent(*mpi_type, &lb, &extent);
    type = type != NULL ? type : &plain_int;
    for (int i = 0; i < *count; i++) {
        for (int k = 0; k < type->n_pieces; k++) {
            int32_t *a = (void *) ((char *) in + i * extent + type->pieces[k].offset);
            int32_t *b = (void *) ((char *) inout + i * extent + type->pieces[k].offset);
            *b += *a;
        }
    }
}

/* (a, b) after (c, d) is (a c, a d + b), all modulo 2^32: associative, not commutative. */
static void user_affine(void *in, void *inout, int *count, MPI_Datatype *mpi_type)
{
    const uint32_t *first = in;
    uint32_t *second = inout;

    (void) mpi_type;
    for (int i = 0; i < *count; i++, first += 2, second += 2) {
        second[1] = first[0] * second[1] + first[1];
        second[0] = first[0] * second[0];
    }
}

static void set_affine(const rc_type_t *type, char *element, int64_t value, int index)
{
    uint32_t *map = (void *) element;

    (void) type;
    map[0] = (uint32_t) (2 * value + 3);
    map[1] = (uint32_t) (index * 5 + 1);
}

void rc_build_tables(void)
{
    for (int i = 0; i < N_DERIVED; i++) {
        build_derived(&rc_derived[i], &derived_rows[i]);
    }
    rc_affine = (rc_type_t){.name = "affine maps",
                            .kind = RC_DERIVED,
                            .n_pieces = 1,
                            .pieces = {{0, 8}},
                            .set = set_affine};
    MPI_Type_contiguous(2, MPI_UINT32_T, &rc_affine.type);
    MPI_Type_commit(&rc_affine.type);
    MPI_Op_create(user_sum, 1, &rc_user_sum);
    MPI_Op_create(user_affine, 0, &rc_user_affine);
}

void rc_free_tables(void)
{
    for (int i = 0; i < N_DERIVED; i++) {
        MPI_Type_free(&rc_derived[i].type);
    }
    MPI_Type_free(&rc_affine.type);
    MPI_Op_free(&rc_user_sum);
    MPI_Op_free(&rc_user_affine);
}

/* --- a vector of elements inside guarded memory --- */

typedef struct vector {
    const rc_type_t *type;
    int count;
    MPI_Aint extent;
    size_t n_bytes; /* with guards */
    char *memory;
    char *base; /* what MPI is given */
} vector_t;

static vector_t vector_make(const rc_type_t *type, int count)
{
    vector_t v = {.type = type, .count = count};
    MPI_Aint lb, true_lb, true_extent, walk, lowest;

    MPI_Type_get_extent(type->type, &lb, &v.extent);
    MPI_Type_get_true_extent(type->type, &true_lb, &true_extent);
    walk = (MPI_Aint) (count - 1) * v.extent;
    lowest = true_lb + (walk < 0 ? walk : 0);
    v.n_bytes = 2 * GUARD_BYTES + (size_t) (true_extent + (walk < 0 ? -walk : walk));
    v.memory = malloc(v.n_bytes);
    if (v.memory == NULL) {
        fprintf(stderr, "# no memory for the test\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
        exit(2);
    }
    memset(v.memory, PATTERN, v.n_bytes);
    v.base = v.memory + GUARD_BYTES - lowest;
    return v;
}

static void vector_fill(vector_t *v, int64_t (*value)(int, int64_t), int rank)
{
    for (int64_t i = 0; i < v->count; i++) {
        v->type->set(v->type, v->base + i * v->extent, value(rank, i), rank);
    }
}

/* Where the same values, ignoring padding, and everything around them untouched is asked for. */
static int pieces_equal(const vector_t *a, const vector_t *b)
{
    for (int64_t i = 0; i < a->count; i++) {
        for (int k = 0; k < a->type->n_pieces; k++) {
            ptrdiff_t at = i * a->extent + a->type->pieces[k].offset;
            if (memcmp(a->base + at, b->base + at, (size_t) a->type->pieces[k].n_bytes) != 0) {
                return 0;
            }
        }
    }
    return memcmp(a->memory, b->memory, GUARD_BYTES) == 0 &&
           memcmp(a->memory + a->n_bytes - GUARD_BYTES, b->memory + b->n_bytes - GUARD_BYTES,
                  GUARD_BYTES) == 0;
}

static int vectors_equal(const vector_t *a, const vector_t *b)
{
    return memcmp(a->memory, b->memory, a->n_bytes) == 0 ||
           (a->type->kind != RC_DERIVED && pieces_equal(a, b));
}

/* rank 0 op rank 1 op ... : MPI_Reduce_local computes in op inout into inout. */
static vector_t expected(const rc_type_t *type, MPI_Op op, int64_t (*value)(int, int64_t),
                         int count, int n_ranks)
{
    vector_t sum = vector_make(type, count);
    vector_t one = vector_make(type, count);

    vector_fill(&sum, value, n_ranks - 1);
    for (int p = n_ranks - 2; p >= 0; p--) {
        vector_fill(&one, value, p);
        MPI_Reduce_local(one.base, sum.base, count, type->type, op);
    }
    free(one.memory);
    return sum;
}

static int complain(const char *what, const rc_type_t *type, int count, int root, int in_place,
                    MPI_Comm comm)
{
    int rank, size;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    printf("# WRONG: %s: type %s, count %d, root %d%s, rank %d of %d\n", what, type->name, count,
           root, in_place ? " in place" : "", rank, size);
    fflush(stdout);
    return 1;
}

static int check_root(const rc_type_t *type, MPI_Op op, int64_t (*value)(int, int64_t), int count,
                      int root, int in_place, MPI_Comm comm, vector_t *sbuf)
{
    int n_ranks, rc, same;
    vector_t rbuf = vector_make(type, count), want;

    MPI_Comm_size(comm, &n_ranks);
    if (in_place) {
        vector_fill(&rbuf, value, root);
    }
    rc = rc_reduce(in_place ? MPI_IN_PLACE : sbuf->base, rbuf.base, count, type->type, op, root,
                   comm);
    want = expected(type, op, value, count, n_ranks);
    same = vectors_equal(&want, &rbuf);
    free(want.memory);
    free(rbuf.memory);
    if (rc != MPI_SUCCESS) {
        return complain("an error at the root", type, count, root, in_place, comm);
    }
    return same ? 0 : complain("the result", type, count, root, in_place, comm);
}

int rc_check(const rc_type_t *type, MPI_Op op, int64_t (*value)(int, int64_t), int count, int root,
             int in_place, MPI_Comm comm)
{
    int rank, wrong = 0;
    vector_t sbuf = vector_make(type, count), before = vector_make(type, count);

    value = value != NULL ? value : small;
    MPI_Comm_rank(comm, &rank);
    vector_fill(&sbuf, value, rank);
    vector_fill(&before, value, rank);
    if (rank == root) {
        wrong = check_root(type, op, value, count, root, in_place, comm, &sbuf);
    } else if (rc_reduce(sbuf.base, NULL, count, type->type, op, root, comm) != MPI_SUCCESS) {
        wrong = complain("an error", type, count, root, in_place, comm);
    }
    if (memcmp(before.memory, sbuf.memory, sbuf.n_bytes) != 0) {
        wrong |= complain("the send buffer was written", type, count, root, in_place, comm);
    }
    free(sbuf.memory);
    free(before.memory);
    return wrong;
}
