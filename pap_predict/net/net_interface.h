/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which addresses of this host the channel uses, IPv4 and IPv6, and which of a peer's to try.
 *
 * Not: sockets. Costs one getifaddrs per communicator.
 *
 * Units: addresses in network byte order; ports in the host's.
 * Errors: CLV_UNSUPPORTED: no address fits; CLV_INVALID: a family that is not IP; CLV_SYSTEM;
 *   CLV_NO_MEMORY.
 * Memory: a list is the caller's to free (clv_free); other arrays are the caller's.
 * Threads: safe.
 */
#ifndef CLV_NET_INTERFACE_H
#define CLV_NET_INTERFACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "util/util_status.h"

#define CLV_NET_MAX_ADDRESSES 1024 /* of a host: every rank tells them to all */

typedef struct clv_net_address {
    uint8_t family;      /* 4 or 6 */
    uint8_t prefix_bits; /* of its network; 0 where unknown (a peer's) */
    unsigned char bytes[16];
} clv_net_address_t;

/* The addresses that the name stands for, of interfaces that are up: an interface's name, an
 * address ("10.0.0.5", "fd00::5") or a network ("10.0.0.0/24"). NULL: of every one that is not a
 * loopback, or the loopback's if there is no other. Link-local IPv6 is left out: its scope means
 * nothing to the peer. In the kernel's order; more than CLV_NET_MAX_ADDRESSES are left out, said in
 * the log. CLV_UNSUPPORTED: none fits, said once in the log with the names there are. */
clv_status_t clv_net_interface_list(const char *name, clv_net_address_t **addresses_p,
                                    int32_t *n_addresses_p) CLV_MUST_CHECK;

/* How promising a peer's address is from here: 2 same network, 1 same family, 0 out of reach. */
int clv_net_interface_score(const clv_net_address_t *own, int32_t n_own,
                            const clv_net_address_t *peer);

/* Non-zero if address is one of own: a connection to it would stay on this host. */
bool clv_net_interface_is_own(const clv_net_address_t *own, int32_t n_own,
                              const clv_net_address_t *address);

/* To and from the form the kernel wants; IPv4 mapped into IPv6 counts as IPv4. */
socklen_t clv_net_address_to_sockaddr(const clv_net_address_t *address, uint16_t port,
                                      struct sockaddr_storage *sockaddr);
clv_status_t clv_net_address_from_sockaddr(const struct sockaddr *sockaddr,
                                           clv_net_address_t *address_p) CLV_MUST_CHECK;

#endif
