/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One checked reduce: buffers with guards, values that are known on every rank, the expected result
 * from MPI_Reduce_local over all contributions. Used by the programs reduce_cases (MPI_Reduce) and
 * execute_cases (the executor called directly).
 *
 * Not thread-safe are the tables; rc_check is, once they are built.
 */
#ifndef CLV_TESTS_REDUCE_CHECK_H
#define CLV_TESTS_REDUCE_CHECK_H

#include <mpi.h>
#include <stdint.h>

#define RC_MAX_PIECES 4

/* Which operations make sense for a type. */
enum {
    RC_INTEGER = 1,
    RC_FLOATING = 2,
    RC_COMPLEX = 4,
    RC_PAIR = 8,
    RC_LOGICAL = 16,
    RC_BYTE = 32,
    RC_DERIVED = 64
};

/* The bytes of an element that carry its value; the rest is padding or a gap. */
typedef struct rc_piece {
    MPI_Aint offset;
    int n_bytes;
} rc_piece_t;

typedef struct rc_type {
    const char *name;
    MPI_Datatype type;
    int kind;
    int n_pieces;
    rc_piece_t pieces[RC_MAX_PIECES];
    /* Puts the value into the element; index is a pair's second half. */
    void (*set)(const struct rc_type *type, char *element, int64_t value, int index);
} rc_type_t;

typedef struct rc_op {
    const char *name;
    MPI_Op op;
    int kinds; /* of types */
    /* The contribution of a rank at an element, chosen so that no type overflows with 64 ranks. */
    int64_t (*value)(int rank, int64_t i);
} rc_op_t;

extern rc_type_t rc_types[];   /* ends with name NULL */
extern rc_op_t rc_ops[];       /* predefined; ends with name NULL */
extern rc_type_t rc_derived[]; /* derived; ends with name NULL */
extern MPI_Op rc_user_sum;     /* commutative, on rc_derived and MPI_INT */
extern MPI_Op rc_user_affine;  /* NOT commutative: composes x -> a x + b, on 2 x uint32 */
extern rc_type_t rc_affine;    /* its type */

void rc_build_tables(void);
void rc_free_tables(void);

/* What is under test: MPI_Reduce, or the executor. */
int rc_reduce(const void *sbuf, void *rbuf, int count, MPI_Datatype type, MPI_Op op, int root,
              MPI_Comm comm);

/* Whether what is under test bears elements that lie backwards (negative extent) and types that
 * differ from rank to rank with the same signature: stock Open MPI 4.1.4 does not. */
extern const int rc_bears_odd_types;

/* Ends this thread's use of rc_reduce. */
void rc_end_thread(void);

/* Does one reduce and returns the number of things that were wrong on this rank (0 or 1), after
 * saying which. value NULL: small numbers. */
int rc_check(const rc_type_t *type, MPI_Op op, int64_t (*value)(int rank, int64_t i), int count,
             int root, int in_place, MPI_Comm comm);

#endif
