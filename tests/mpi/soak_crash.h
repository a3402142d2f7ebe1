/* SPDX-License-Identifier: BSD-3-Clause
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
#ifndef CLV_SOAK_CRASH_H
#define CLV_SOAK_CRASH_H

#include <mpi.h>

#include "tests/mpi/soak_calls.h"

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

#endif
