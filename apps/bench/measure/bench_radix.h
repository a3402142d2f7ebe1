/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Radix-K and the butterfly: a reduce-scatter in groups, one digit of the rank after the other,
 * then a gather.
 *
 *   48 ranks = 8 x 3 x 2      digit by digit, least first: a group is the ranks that differ in it
 *   piece = the whole vector
 *   for each digit            every member keeps its k-th of the piece and gets it from the others
 *   at the end                every rank has the sum of its 48th and sends it to the root
 *
 * Baseline reduces of the Clairvoyant paper's comparison (its reference 13), as described there: no
 * segments, group sizes from a list of preferred ones. With groups of two it is the butterfly. Over
 * public MPI, for clv-bench on a network and clv-sim in a simulated one. Not for operations that do
 * not commute. Memory: one piece and the requests, per call.
 */
#ifndef CLV_BENCH_RADIX_H
#define CLV_BENCH_RADIX_H

#include <mpi.h>
#include <stddef.h>

/* The largest preferred group: a member has as many flows at a time. */
#define CLV_RADIX_K         8
#define CLV_RADIX_BUTTERFLY 2

typedef struct clv_radix {
    MPI_Comm comm;
    int rank;
    int n_ranks;
    int root;
    int largest_group; /* as above; a larger prime number of ranks is one group */
    int count;
    MPI_Datatype type;
    size_t item; /* bytes per element */
    MPI_Op operation;
    void *vector; /* this rank's input, overwritten */
    void *sum;    /* at the root: result */
} clv_radix_t;

/* Returns an MPI error code. MPI_ERR_NO_MEM on any rank: the call was not collective, so give
 * up. */
int clv_radix_reduce(const clv_radix_t *radix);

#endif
