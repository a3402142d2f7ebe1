/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The start of a round by one datagram to all: every rank starts when it hears it.
 *
 * What: a group of IP multicast that all ranks join on one network, found by trying those of the
 * first rank; it sends, and hears itself as the others do. One message instead of a tree of them:
 * how far apart ranks start is what the network and the kernels make of it.
 * Not: repeated. A datagram that is lost is told to the caller. IPv4; one hop.
 * Units: local ns. Errors: CLV_UNSUPPORTED where no network carries it to all ranks.
 * Memory: none but a socket. Threads: one per process.
 */
#ifndef CLV_BENCH_MULTICAST_H
#define CLV_BENCH_MULTICAST_H

#include <mpi.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#include "util/util_status.h"

typedef struct clv_bench_multicast {
    int socket; /* 0: not open */
    int is_sender;
    int is_spinning;          /* waits with its processor */
    struct sockaddr_in group; /* address and port */
    uint64_t key;             /* of this job's datagrams */
    uint64_t number;          /* of the last start */
    char network[IF_NAMESIZE];
} clv_bench_multicast_t;

/* The first network of rank 0 from which every rank hears rank 0. is_spinning is set before.
 * Collective, and so is the answer: CLV_UNSUPPORTED with a reason. */
clv_status_t clv_bench_multicast_open(MPI_Comm comm, clv_bench_multicast_t *multicast, char *reason,
                                      size_t reason_bytes) CLV_MUST_CHECK;
/* Waits for the next start, which the sender gives after pause_ns: others are then waiting. Returns
 * whether it was heard. Collective; ranks come together to it. */
int clv_bench_multicast_start(clv_bench_multicast_t *multicast, int64_t pause_ns);
void clv_bench_multicast_close(clv_bench_multicast_t *multicast);

#endif
