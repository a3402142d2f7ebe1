/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The collectives that clv-bench measures, as one table: how to call each, blocking and
 * nonblocking, its buffer sizes, and how to check its result.
 *
 * What: every element of every input is a function of (rank, position, iteration), small enough
 * that no sum rounds or overflows. Each result is compared element by element with an independent
 * computation.
 * Not: timing, algorithms. Only public MPI, any library, any version from 3.0 on.
 * Units: `count` elements per rank and, where the collective has blocks, per block.
 */
#ifndef CLV_BENCH_COLLECTIVES_H
#define CLV_BENCH_COLLECTIVES_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum clv_element { CLV_INT32, CLV_INT64, CLV_FLOAT, CLV_DOUBLE } clv_element_t;
typedef enum clv_operation { CLV_SUM, CLV_MAX, CLV_MIN } clv_operation_t;

/* One call: its communicator and buffers. The buffers hold send_items and recv_items elements. */
typedef struct clv_bench_call {
    MPI_Comm comm;
    int rank;
    int n_ranks;
    int root;
    int count;
    clv_element_t element;
    clv_operation_t operation;
    int64_t iteration;
    void *send;
    void *recv;
    const int64_t *delay_ns; /* of all ranks in this iteration; for the bound only */
    int *recv_counts;        /* n_ranks times count, for reduce_scatter */
} clv_bench_call_t;

typedef struct clv_collective {
    const char *name;
    bool has_root;
    int (*run)(const clv_bench_call_t *call);
    int (*start)(const clv_bench_call_t *call, MPI_Request *request_p);
    size_t (*send_items)(const clv_bench_call_t *call);
    size_t (*recv_items)(const clv_bench_call_t *call);
    bool (*is_valid)(const clv_bench_call_t *call); /* checked after the call, on every rank */
} clv_collective_t;

/* Ends with a NULL name. */
extern const clv_collective_t clv_collectives[];
const clv_collective_t *clv_collective_find(const char *name);

typedef struct clv_element_kind {
    const char *name;
    MPI_Datatype type;
    size_t size;
} clv_element_kind_t;

/* Name, MPI datatype and size of an element; MPI name of an operation. */
clv_element_kind_t clv_element_kind(clv_element_t element);
MPI_Op clv_operation_op(clv_operation_t operation);
bool clv_element_find(const char *name, clv_element_t *element_p);       /* false if unknown */
bool clv_operation_find(const char *name, clv_operation_t *operation_p); /* false if unknown */
const char *clv_operation_name(clv_operation_t operation);

/* Writes this iteration's input into send, and rubbish into recv. */
void clv_bench_fill(const clv_collective_t *collective, const clv_bench_call_t *call);

/* Reduce algorithms that no library has, over public MPI: a ring (reduce-scatter, then gather), the
 * same in groups of up to eight and of two (bench_radix.h), and the bound: only the last rank to
 * arrive (other than the root) sends its vector to the root. */
int clv_bench_reduce_ring(const clv_bench_call_t *call);
int clv_bench_reduce_radix_k(const clv_bench_call_t *call);
int clv_bench_reduce_butterfly(const clv_bench_call_t *call);
int clv_bench_reduce_bound(const clv_bench_call_t *call);
/* bench_own.c */
int clv_bench_allreduce_bound(const clv_bench_call_t *call);
int clv_bench_bcast_bound(const clv_bench_call_t *call);

#endif
