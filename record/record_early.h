/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How many bytes this process's TCP connections accept while their other end does not read. The
 * what-if needs it to know how much travels before the receiver arrives.
 *
 *      sender's buffer | wire | window that the receiver offers
 *
 * What: looks at the connection of this process that has sent most; sends and sets nothing.
 * Not: the owner of the connection. In an MPI program that sends vectors over TCP, MPI owns it.
 *
 * Units: bytes.
 * Errors: none: without such a connection, or on a kernel before Linux 5.4, the answer is 0.
 * Memory: none.
 * Threads: safe.
 * Cost: two system calls per descriptor of the process.
 */
#ifndef CLV_RECORD_EARLY_H
#define CLV_RECORD_EARLY_H

#include <stdbool.h>

#include "record/record_clva.h"

#define CLV_EARLY_LEAST_SENT (INT64_C(1) << 20) /* less says nothing of a connection */

/* 1: *early_p is a slot for a ring, of a connection that has sent CLV_EARLY_LEAST_SENT at least. */
bool clv_early_look(clv_clva_early_t *early_p);

#endif
