/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How much this process's TCP connections take while their other end does not read: for the
 * what-if, which must know how much travels before its receiver comes.
 *
 *      sender's buffer | wire | window that the receiver offers
 *
 * What: a look at the connection of this process that has sent most. Nothing is sent, nothing set.
 * Not: whose connection it is. In an MPI program that moves vectors over TCP it is MPI's.
 *
 * Units: bytes.
 * Errors: none: where there is no such connection, or the kernel does not say (before Linux 5.4),
 *   there is nothing to be seen.
 * Memory: none.
 * Threads: safe.
 * Cost: two system calls a descriptor of the process.
 */
#ifndef CLV_RECORD_EARLY_H
#define CLV_RECORD_EARLY_H

#include "record/record_clva.h"

#define CLV_EARLY_LEAST_SENT (INT64_C(1) << 20) /* less says nothing of a connection */

/* 1: *early_p is a slot for a ring, of a connection that has sent CLV_EARLY_LEAST_SENT at least. */
int clv_early_look(clv_clva_early_t *early_p);

#endif
