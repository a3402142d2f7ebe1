/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of the soak share: its calls, what it tells of a crash, and threads that lose the
 * processor.
 */
#ifndef CLV_SOAK_H
#define CLV_SOAK_H

#include <mpi.h>
#include <pthread.h>

/* ---- soak_calls.c
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

/* ---- soak_crash.c
 *
 * What a soak tells when it is ended by a signal: the signal, the address, the registers and the
 * stack; where each thread is; each of its communicators as Open MPI has it at that moment
 * (references, context, flags, point-to-point and collective part), and which communicators were
 * made and freed last, by whom. Every line begins with "soak: CRASH".
 *
 * Not: the stacks of the other threads, which the script takes while the process waits.
 *
 * Needs: Open MPI's internal headers, for the fields of a communicator.
 * Units: ms since soak_crash_watch.
 * Errors: none; what cannot be read is told as such.
 * Memory: static.
 * Threads: soak_crash_note from any.
 */

/* From here on, in the process of this rank. After telling, what Open MPI does about a signal. */
void soak_crash_watch(const soak_t *soaks, int n_threads, int rank);

typedef enum soak_event {
    SOAK_MAKES, /* before the call: of the communicator that is split */
    SOAK_MADE,
    SOAK_FREES,
    SOAK_FREED,
} soak_event_t;

/* That a thread makes or frees a communicator. */
void soak_crash_note(const soak_t *soak, soak_event_t event, MPI_Comm comm);

/* Takes the point-to-point part away from a communicator: its next call must crash. */
void soak_crash_break(MPI_Comm comm);

/* ---- soak_preempt.c
 *
 * Threads that lose the processor at any place: a timer of each thread's own processor time, whose
 * handler sleeps now and then. What two threads do wrong only when one of them stands still between
 * two certain instructions, which on a busy machine takes days, is then seen in minutes.
 *
 * Not: anything that a kernel could not do to a program.
 *
 * Units: us.
 * Errors: a thread without a timer runs as ever.
 * Memory: none.
 * Threads: each for itself.
 */

/* Before the first thread begins: a thread that has run for every_us sleeps, one time in four, up
 * to most_us. 0: nothing happens, ever. */
void soak_preempt_open(int every_us, int most_us);

/* From here on, for the calling thread. */
void soak_preempt_begin(unsigned long long seed);

#endif
