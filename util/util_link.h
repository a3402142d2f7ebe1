/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A link: blocking messages between numbered peers, as a table of functions. The clock algorithms
 * run over it; a simulated network (tests), plain MPI (tools) and sockets implement it.
 *
 * Messages between one pair arrive in order. recv takes exactly n_bytes from peer.
 *
 * Units: bytes, ns.
 * Errors: CLV_TIMEOUT after timeout_ns (> 0), CLV_LOST when the peer is gone, CLV_PROTOCOL when the
 *   message has another length.
 * Memory: data is the caller's, during the call.
 * Threads: one at a time per link.
 */
#ifndef CLV_UTIL_LINK_H
#define CLV_UTIL_LINK_H

#include <stddef.h>
#include <stdint.h>

#include "util/util_status.h"

typedef struct clv_link_ops {
    clv_status_t (*send)(void *link, int peer, const void *data, size_t n_bytes);
    clv_status_t (*recv)(void *link, int peer, void *data, size_t n_bytes, int64_t timeout_ns);
} clv_link_ops_t;

#endif
