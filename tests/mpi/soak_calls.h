/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The calls of a soak: every collective of MPI-3, blocking and nonblocking, each with its check.
 *
 * What: soak_operations, a table to draw from; and what a thread of the program holds.
 * Not: which calls, when, and on which communicator (tests/mpi/soak.c).
 *
 * Units: vectors are whole numbers (long long), so that every sum is exact.
 * Errors: an operation returns 0 when the result is wrong; MPI's own errors end the job.
 * Memory: the thread's vectors, of max_count + 1 items, belong to soak.c.
 * Threads: each with a soak_t of its own.
 */
#ifndef CLV_SOAK_CALLS_H
#define CLV_SOAK_CALLS_H

#include <mpi.h>
#include <pthread.h>

#define SOAK_PARTS     4  /* communicators of a thread beside its world */
#define SOAK_MAX_RANKS 64 /* of a job */
#define SOAK_MIXED     8192

typedef struct soak {
    MPI_Comm world; /* of this thread */
    MPI_Comm ring;  /* the same ranks; each hears its left neighbour and tells its right one */
    MPI_Comm part[SOAK_PARTS];
    pthread_t self;
    int rank;                  /* of the world */
    unsigned long long shared; /* the state of the draws that all ranks make alike */
    unsigned long long own;
    long long *in, *out;
    long long mixed_in[SOAK_MIXED], mixed_out[SOAK_MIXED]; /* of reduces inside other calls */
    long long n_done, n_wrong;
    long long step; /* written by this thread, read by the watchdog */
    const char *doing;
    int doing_count, doing_ranks, doing_root, doing_open;
} soak_t;

/* A call that all ranks of comm make. Nonblocking ones are begun, then the thread's world reduces,
 * then they end. */
typedef struct soak_call {
    MPI_Comm comm;
    int rank, n_ranks, root, count;
    int is_open; /* nonblocking */
    MPI_Request request;
} soak_call_t;

typedef struct soak_operation {
    const char *name;
    int weight;                                  /* of the draw */
    int on_ring;                                 /* its communicator is the ring */
    int (*run)(soak_t *soak, soak_call_t *call); /* 1: right */
} soak_operation_t;

extern const soak_operation_t soak_operations[];
extern const int soak_n_operations;

/* The input of a rank of this number, and an output that is wrong. */
void soak_fill(soak_t *soak, int rank, int count);

#endif
