/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The largest message that leaves without its receiver: up to which size a nonblocking send
 * completes while the receiver has posted nothing and is not in MPI. Below it a rank can leave its
 * segments behind and go on; above it, it must wait for the receiver to come (rendezvous). Each
 * transport has its own limit, and some have none, so clv measures it.
 *
 * One rank sends a message of each size, of powers of two from 4 to 32 KiB, to another one, which
 * sleeps. After twice the time that these 60 KiB take, and a millisecond, it checks which of them
 * are complete. Then both meet, and the receiver takes them. Larger messages are not tried:
 * segments need be no larger for a message's fixed cost to be small.
 */
#ifndef COLL_CLV_EARLY_H
#define COLL_CLV_EARLY_H

#include <stdbool.h>
#include <stdint.h>

struct ompi_communicator_t;

#define COLL_CLV_EARLY_BYTES (4096 + 8192 + 16384 + 32768)

/* Input of a measurement, in which many pairs may measure at once. A rank without a pair has the
 * sender and receiver of another pair, or -1. */
typedef struct coll_clv_early {
    struct ompi_communicator_t *comm;
    int sender, receiver;        /* ranks of the pair; -1: there is none */
    char *buffer;                /* COLL_CLV_EARLY_BYTES */
    int64_t latency_ns, byte_ps; /* of a message between them, as measured */
    bool gave_up; /* after an error: Open MPI may still use the buffer; nobody frees it */
} coll_clv_early_t;

/* Collective over the communicator, ranks without a pair included. *bytes_p: the largest size that
 * leaves early, 0 if not even the smallest does, -1 on ranks that do not send. OMPI_SUCCESS or the
 * error of the PML. */
int coll_clv_early_measure(coll_clv_early_t *early, int64_t *bytes_p);

#endif
